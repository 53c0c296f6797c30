//! The address of a call, and the headers that its dialect wants.

use dialect::request::Endpoint;
use dialect::table::address;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use shared::Dialect;
use std::str::FromStr;

/// Stands in a base URL, or in the path of an endpoint, for the model's name.
const MODEL: &str = "{model}";

/// The same in a URL. Azure has a path for each deployment.
const MODEL_IN_URL: &str = "%7Bmodel%7D";

/// The address below which a provider is called. The vendors whose own clients take an address
/// without a version get theirs added where the path is empty.
pub(super) fn base(dialect: Dialect, base_url: &str) -> Result<Url, <Url as FromStr>::Err> {
    let mut url = Url::parse(base_url)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let version = if path.is_empty() { address(dialect).version } else { "" };
    url.set_path(&format!("{path}{version}"));
    Ok(url)
}

/// The address for a call of `model`. A query of the base URL, such as Azure's
/// `api-version`, stays at its end.
pub(super) fn url_for(dialect: Dialect, base: &Url, endpoint: Endpoint, model: &str) -> Url {
    let address = address(dialect);
    let end = address.path(endpoint).unwrap_or_default();
    let mut url = base.clone();
    let path = format!("{}{end}", base.path().trim_end_matches('/')).replace(MODEL, MODEL_IN_URL);
    if path.contains(MODEL_IN_URL) {
        let model = encoded(model.strip_prefix(address.model_prefix).unwrap_or(model));
        url.set_path(&path.replace(MODEL_IN_URL, &model));
    } else {
        url.set_path(&path);
    }
    if let Some((key, value)) = address.query {
        url.query_pairs_mut().append_pair(key, value);
    }
    url
}

/// A name as one segment of a path.
fn encoded(name: &str) -> String {
    let Ok(mut url) = Url::parse("http://h") else { return String::new() };
    if let Ok(mut path) = url.path_segments_mut() {
        path.push(name);
    }
    url.path().trim_start_matches('/').to_owned()
}

/// Headers that a dialect always has.
pub(super) fn headers(dialect: Dialect) -> HeaderMap {
    let pairs = address(dialect).headers.iter();
    let header = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    pairs.map(header).collect()
}

/// The header that carries `key`.
pub(super) fn credential(dialect: Dialect, key: &str) -> (HeaderName, String) {
    let (name, before) = address(dialect).credential;
    (HeaderName::from_static(name), format!("{before}{key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_its_address() {
        for (dialect, base, model, expected) in [
            (Dialect::OpenaiChat, "http://h/v1", "m", "http://h/v1/chat/completions"),
            (Dialect::OpenaiChat, "http://h", "m", "http://h/chat/completions"),
            (Dialect::OpenaiResponses, "http://h/v1", "m", "http://h/v1/responses"),
            (Dialect::AnthropicMessages, "http://h", "m", "http://h/v1/messages"),
            (Dialect::AnthropicMessages, "http://h/v1", "m", "http://h/v1/messages"),
            (Dialect::AnthropicMessages, "http://h/anthropic", "m", "http://h/anthropic/messages"),
            (
                Dialect::Gemini,
                "http://h",
                "gemini-3",
                "http://h/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
            ),
            (
                Dialect::Gemini,
                "http://h/v1beta",
                "models/a b?c",
                "http://h/v1beta/models/a%20b%3Fc:streamGenerateContent?alt=sse",
            ),
        ] {
            let base = super::base(dialect, base).unwrap();
            assert_eq!(url_for(dialect, &base, Endpoint::Answer, model).as_str(), expected);
        }
    }

    #[test]
    fn f3_every_endpoint_has_its_address() {
        for (endpoint, end) in [
            (Endpoint::Answer, "chat/completions"),
            (Endpoint::Completions, "completions"),
            (Endpoint::Embeddings, "embeddings"),
            (Endpoint::Moderations, "moderations"),
        ] {
            let base = base(Dialect::OpenaiChat, "http://h/v1").unwrap();
            let url = url_for(Dialect::OpenaiChat, &base, endpoint, "m");
            assert_eq!(url.as_str(), format!("http://h/v1/{end}"));
        }
        let base = base(Dialect::AnthropicMessages, "http://h").unwrap();
        let url = url_for(Dialect::AnthropicMessages, &base, Endpoint::CountTokens, "m");
        assert_eq!(url.as_str(), "http://h/v1/messages/count_tokens");
    }

    #[test]
    fn f5_azures_addresses_have_a_query_and_a_path_for_each_deployment() {
        for (base, endpoint, expected) in [
            (
                "https://h/openai/deployments/gpt?api-version=2026-10-01",
                Endpoint::Answer,
                "https://h/openai/deployments/gpt/chat/completions?api-version=2026-10-01",
            ),
            (
                "https://h/openai/deployments/{model}/?api-version=1&x=2",
                Endpoint::Embeddings,
                "https://h/openai/deployments/my%20model%2F1/embeddings?api-version=1&x=2",
            ),
            (
                "https://h/openai/v1?api-version=preview",
                Endpoint::Completions,
                "https://h/openai/v1/completions?api-version=preview",
            ),
        ] {
            let base = super::base(Dialect::OpenaiChat, base).unwrap();
            let url = url_for(Dialect::OpenaiChat, &base, endpoint, "my model/1");
            assert_eq!(url.as_str(), expected);
        }
    }

    #[test]
    fn no_key_stands_in_an_address() {
        for dialect in Dialect::ALL {
            let (name, value) = credential(*dialect, "KEY");
            assert!(value.ends_with("KEY"), "{dialect}: {name}");
        }
    }
}
