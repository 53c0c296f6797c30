//! A provider's base URL: checked by hand, since what may not stand in it
//! (keys, user-info) matters more than the rest of the grammar.

use super::report::shown;
use super::tree::Value;
use std::net::{IpAddr, Ipv6Addr};

/// Ends of a URL that the relay adds by itself.
const ENDPOINTS: &[&str] = &[
    "/chat/completions",
    "/completions",
    "/responses",
    "/messages",
    "/models",
    "/embeddings",
    "/moderations",
];

/// Parts of the names of a query's parameters that hold a secret: addresses are logged.
const SECRETS: &[&str] = &["key", "token", "secret", "sig", "pass", "auth", "code", "cred"];

/// Reads a base URL, without trailing slashes. A placeholder on a mistake.
pub(super) fn read(value: &Value<'_>) -> String {
    let Some(text) = value.text() else { return String::new() };
    match check(text) {
        Ok(Checked { url, plain }) => {
            if plain {
                let text = "http to another machine carries the key and the prompts in the clear";
                value.warn(text, "use https");
            }
            url
        }
        Err((text, fix)) => {
            value.error(text, fix);
            String::new()
        }
    }
}

/// A URL that passed.
#[derive(Debug, PartialEq, Eq)]
struct Checked {
    url: String,
    /// Unencrypted, and to another machine.
    plain: bool,
}

/// The messages never repeat more than scheme and host: user-info and query
/// are where keys are put.
fn check(text: &str) -> Result<Checked, (String, String)> {
    let wrong = |text: &str, fix: &str| Err((text.to_owned(), fix.to_owned()));
    let example = "write such as \"https://api.example.com/v1\"";
    let Some((scheme, rest)) = text.split_once("://") else {
        return wrong("is no URL", example);
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "https" && scheme != "http" {
        return wrong("must begin with https:// or http://", example);
    }
    if rest.contains('#') {
        return wrong("has a fragment ('#…')", "leave out '#' and what follows");
    }
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, q)| (rest, Some(q)));
    if let Some((text, fix)) = query.and_then(wrong_query) {
        return wrong(text, fix);
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if authority.contains('@') {
        return wrong("has user-info ('…@')", "leave it out; a key belongs into api_key");
    }
    let Some(local) = host(authority) else {
        let text = format!("'{}' is no host, or no host and port", shown(authority));
        return Err((text, example.to_owned()));
    };
    let path = path.trim_end_matches('/');
    let plain = path.replacen("{model}", "model", 1);
    if !plain.chars().all(|c| c.is_ascii_alphanumeric() || "-._~%!$&'()*+,;=:@/".contains(c)) {
        return wrong("has a path with characters that a URL cannot hold", "percent-encode them");
    }
    if let Some(end) = ENDPOINTS.iter().find(|end| path.ends_with(*end)) {
        return Err((format!("ends in {end}"), format!("leave {end} out: the relay adds it")));
    }
    let query = query.filter(|query| !query.is_empty());
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let url = format!("{scheme}://{}{path}{query}", authority.to_ascii_lowercase());
    Ok(Checked { url, plain: scheme == "http" && !local })
}

/// What is wrong with a query, and what to do. Azure wants an `api-version` there.
fn wrong_query(query: &str) -> Option<(&'static str, &'static str)> {
    if !query.chars().all(|c| c.is_ascii_alphanumeric() || "-._~%&=+,:".contains(c)) {
        return Some(("has a query with characters that a URL cannot hold", "percent-encode them"));
    }
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    let mut names = names.map(str::to_ascii_lowercase);
    let is_secret = |name: String| SECRETS.iter().any(|secret| name.contains(secret));
    names.any(is_secret).then_some((
        "has a query whose name says that it holds a key",
        "leave it out; a key belongs into api_key or headers",
    ))
}

/// Whether `host[:port]` means this machine; `None` if it is no such thing.
fn host(authority: &str) -> Option<bool> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (inside, after) = rest.split_once(']')?;
        let ip: Ipv6Addr = inside.parse().ok()?;
        let port = if after.is_empty() { None } else { Some(after.strip_prefix(':')?) };
        (Some(IpAddr::V6(ip)), port)
    } else {
        let (name, port) = match authority.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (authority, None),
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if name.is_empty() || !name.chars().all(fits) {
            return None;
        }
        let lower = name.to_ascii_lowercase();
        if lower == "localhost" || lower.ends_with(".localhost") {
            return port_fits(port).then_some(true);
        }
        (name.parse().ok(), port)
    };
    let local = host.is_some_and(|ip: IpAddr| ip.to_canonical().is_loopback());
    port_fits(port).then_some(local)
}

fn port_fits(port: Option<&str>) -> bool {
    port.is_none_or(|port| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_urls_lose_their_trailing_slash_and_know_whether_they_are_plain() {
        for (text, url, plain) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1", false),
            ("HTTPS://API.openai.com/V1//", "https://api.openai.com/V1", false),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000", false),
            ("http://[::1]:8000/", "http://[::1]:8000", false),
            ("http://localhost", "http://localhost", false),
            (
                "https://A.example/openai/deployments/{model}/?api-version=2026-10-01",
                "https://a.example/openai/deployments/{model}?api-version=2026-10-01",
                false,
            ),
            ("https://a.example?", "https://a.example", false),
            ("http://vllm:8000/v1", "http://vllm:8000/v1", true),
            ("http://10.0.0.7/v1", "http://10.0.0.7/v1", true),
            ("http://localhost.evil.example", "http://localhost.evil.example", true),
        ] {
            assert_eq!(check(text), Ok(Checked { url: url.to_owned(), plain }), "{text}");
        }
    }

    #[test]
    fn bad_urls_are_refused_and_their_secrets_not_repeated() {
        for bad in [
            "api.openai.com/v1",
            "ftp://a.example",
            "https://",
            "https:///v1",
            "https://sk-hunter2@a.example",
            "https://user:sk-hunter2@a.example/v1",
            "https://a.example/v1?key=sk-hunter2",
            "https://a.example/v1?api-version=1&Subscription-Key=sk-hunter2",
            "https://a.example/v1?access_token=sk-hunter2",
            "https://a.example/v1?a=<sk-hunter2>",
            "https://a.example/{model}/{model}",
            "https://a.example/{other}",
            "https://a.example/v1#sk-hunter2",
            "https://a.example:0",
            "https://a.example:+80",
            "https://a.example:70000",
            "https://[::1",
            "https://[zz]",
            "https://a b/v1",
            "https://bücher.example",
            "https://a.example/ä",
            "https://a.example/v1/chat/completions/",
        ] {
            let (text, fix) = check(bad).expect_err(bad);
            assert!(!text.contains("hunter2") && !fix.contains("hunter2"), "{bad}: {text}");
        }
    }
}
