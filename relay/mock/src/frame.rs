//! Events as bytes.

use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::Value;

/// An event without a name.
pub(super) fn unnamed(data: &Value) -> Bytes {
    Bytes::from(format!("data: {data}\n\n"))
}

/// An event that is named by its type, as those of Anthropic and of OpenAI's Responses are.
pub(super) fn named(data: &Value) -> Bytes {
    let mut text = String::new();
    if let Some(name) = data.get("type").and_then(Value::as_str) {
        let _ = writeln!(text, "event: {name}");
    }
    let _ = write!(text, "data: {data}\n\n");
    Bytes::from(text)
}

/// An event without a name whose lines end as Google's do.
pub(super) fn crlf(data: &Value) -> Bytes {
    Bytes::from(format!("data: {data}\r\n\r\n"))
}

/// A random id of this many letters.
pub(super) fn random(letters: usize) -> String {
    (0..letters).map(|_| fastrand::alphanumeric()).collect()
}
