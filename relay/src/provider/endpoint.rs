//! Where each dialect is called, and how it wants to be told who calls.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use reqwest::Url;
use shared::Dialect;

/// What Anthropic is called with where the client does not say. Required by it.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The address of a provider's endpoint. The two vendors whose own clients take an
/// address without a version get theirs added where the path is empty.
pub(super) fn url(dialect: Dialect, base_url: &str) -> Result<Url, String> {
    let parse = |text: &str| Url::parse(text).map_err(|error| error.to_string());
    let base = parse(base_url)?;
    let is_bare = base.path().trim_matches('/').is_empty();
    let version = match dialect {
        Dialect::AnthropicMessages if is_bare => "/v1",
        Dialect::Gemini if is_bare => "/v1beta",
        _ => "",
    };
    let end = match dialect {
        Dialect::OpenaiChat => "/chat/completions",
        Dialect::OpenaiResponses => "/responses",
        Dialect::AnthropicMessages => "/messages",
        Dialect::Gemini => "/models",
    };
    parse(&format!("{base_url}{version}{end}"))
}

/// The address for a call of `model`.
pub(super) fn url_for(dialect: Dialect, endpoint: &Url, model: &str) -> Url {
    let mut url = endpoint.clone();
    if dialect == Dialect::Gemini {
        // Some write the name as the list of models does.
        let model = model.strip_prefix("models/").unwrap_or(model);
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(&format!("{model}:streamGenerateContent"));
        }
        url.set_query(Some("alt=sse"));
    }
    url
}

/// Headers that a dialect always has.
pub(super) fn headers(dialect: Dialect) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if dialect == Dialect::AnthropicMessages {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        headers.insert(HeaderName::from_static("anthropic-version"), version);
    }
    headers
}

/// The header that carries `key`. Never in the address: those are logged.
pub(super) fn credential(dialect: Dialect, key: &str) -> (HeaderName, String) {
    match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            (header::AUTHORIZATION, format!("Bearer {key}"))
        }
        Dialect::AnthropicMessages => (HeaderName::from_static("x-api-key"), key.to_owned()),
        Dialect::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
    }
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
            let endpoint = url(dialect, base).unwrap();
            assert_eq!(url_for(dialect, &endpoint, model).as_str(), expected);
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
