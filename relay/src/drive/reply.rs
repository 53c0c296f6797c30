//! What a driver hands to the server: a stream's head, or a whole answer.

use crate::dialect::client_error::{ClientError, error_body};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use shared::Dialect;
use std::time::Duration;

/// The longest wait that a client is told: SDKs sleep on it without asking.
const LONGEST_RETRY_AFTER: u64 = 60;

/// The relay's own response headers.
pub(super) const RUNG: HeaderName = HeaderName::from_static("x-belay-rung");
pub(super) const ATTEMPTS: HeaderName = HeaderName::from_static("x-belay-attempts");
pub(super) const HEDGED: HeaderName = HeaderName::from_static("x-belay-hedged");
pub(super) const TTFT_MS: HeaderName = HeaderName::from_static("x-belay-ttft-ms");
/// The request's id, under every name that an SDK looks for it: OpenAI's, Anthropic's.
const REQUEST_IDS: [HeaderName; 3] = [
    HeaderName::from_static("x-belay-request-id"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("request-id"),
];
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The head of a stream; its status is 200.
#[derive(Debug)]
pub struct Head {
    /// Its headers.
    pub headers: HeaderMap,
}

/// A whole answer: JSON, an answer or an error.
#[derive(Debug)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// What the server is to send next.
#[derive(Debug)]
pub enum Out {
    /// The head of a stream.
    Head(Head),
    /// Bytes of the stream.
    Bytes(Bytes),
    /// A whole answer; nothing follows.
    Answer(Reply),
}

/// Headers that every event stream has.
pub(super) fn stream_headers(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    let no_cache = HeaderValue::from_static("no-cache, no-transform");
    headers.insert(header::CACHE_CONTROL, no_cache);
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
}

/// Sets `name` to a value that is known to be plain text.
pub(super) fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Sets the headers that carry the request's id.
pub fn set_id(headers: &mut HeaderMap, id: &str) {
    for name in REQUEST_IDS {
        set(headers, name, id);
    }
}

/// An error as a whole answer.
///
/// The relay has tried already, so SDKs are told not to; only where it knows
/// when asking again is worth while do they hear that time instead.
#[must_use]
pub fn error_reply(to: Dialect, error: &ClientError<'_>, retry_after: Option<Duration>) -> Reply {
    let ClientError { status, request_id, .. } = *error;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    set_id(&mut headers, request_id);
    match retry_after.filter(|_| matches!(status, 429 | 503)) {
        Some(wait) => {
            let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let seconds = millis.div_ceil(1000).clamp(1, LONGEST_RETRY_AFTER);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            if millis > LONGEST_RETRY_AFTER.saturating_mul(1000) {
                // An SDK would sleep on it only to be told the same again.
                set(&mut headers, SHOULD_RETRY, "false");
            }
        }
        None => set(&mut headers, SHOULD_RETRY, "false"),
    }
    Reply { status, headers, body: error_body(to, error).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sdk_comes_back_only_where_that_can_help() {
        let told = |status, wait: Option<u64>| {
            let error = ClientError {
                message: "m",
                kind: "k",
                param: None,
                code: None,
                status,
                request_id: "req_1",
                belay: None,
            };
            let wait = wait.map(Duration::from_millis);
            let headers = error_reply(Dialect::OpenaiChat, &error, wait).headers;
            let text = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            (text(header::RETRY_AFTER), text(SHOULD_RETRY))
        };
        let seconds = |text: &str| Some(text.to_owned());
        let no = || Some("false".to_owned());
        assert_eq!(told(429, Some(1)), (seconds("1"), None));
        assert_eq!(told(503, Some(60_000)), (seconds("60"), None));
        assert_eq!(told(429, Some(60_001)), (seconds("60"), no()), "it would be too early");
        assert_eq!(told(429, None), (None, no()));
        assert_eq!(told(502, Some(1)), (None, no()));
    }
}
