//! Extra headers for a provider's calls.

use super::Env;
use super::report::shown;
use super::secret;
use super::tree::Value;
use toml::de::DeValue;

/// What the relay writes itself; a second one would break the framing or the
/// streaming.
const OURS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What carries keys, which do not belong in the config file.
const SECRET: &[&str] =
    &["api-key", "authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key"];

/// Reads a table of headers, names in lower case, in file order.
///
/// A value is a string, or `{ env = … }` or `{ file = … }` as in `api_key`.
pub(super) fn read(value: &Value<'_>, has_key: bool, env: &dyn Env) -> Vec<(String, String)> {
    let Some(table) = value.table() else { return Vec::new() };
    let mut headers: Vec<(String, String)> = Vec::new();
    for (written, value) in table.entries() {
        let name = written.to_ascii_lowercase();
        if let Some((text, fix)) = bad_name(&name, has_key) {
            value.report.error(&value.key_at(), text, fix);
        } else if headers.iter().any(|(earlier, _)| *earlier == name) {
            let text = format!("the header '{name}' stands here twice");
            value.report.error(&value.key_at(), text, "case makes no difference: take one out");
        }
        if let Some(text) = header_value(&value, &name, env) {
            headers.push((name, text));
        }
    }
    headers
}

fn bad_name(name: &str, has_key: bool) -> Option<(String, &'static str)> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) {
        return Some((format!("'{}' is no header name", shown(name)), "use letters, digits and -"));
    }
    if OURS.contains(&name) {
        return Some((format!("the relay writes the header '{name}' itself"), "take it out"));
    }
    if name == "authorization" && has_key {
        let text = "api_key writes this header already".to_owned();
        return Some((text, "keep one of the two"));
    }
    None
}

fn header_value(value: &Value<'_>, name: &str, env: &dyn Env) -> Option<String> {
    if !matches!(value.raw, DeValue::String(_) | DeValue::Table(_)) {
        value.wrong("a string", "write it in quotes, or write { env = \"NAME\" }");
        return None;
    }
    if SECRET.contains(&name) || value.raw.is_table() {
        return secret::read(value, env).map(|secret| secret.expose().to_owned());
    }
    let text = value.text()?;
    // The value is not repeated: it may be a key after all.
    if text.trim() != text || !text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        value.error("holds what a header cannot carry", "use plain ASCII, no blanks at the ends");
        return None;
    }
    Some(text.to_owned())
}
