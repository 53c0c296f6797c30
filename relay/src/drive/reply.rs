//! What a driver hands to the server: a stream's head, or a whole answer.

use bytes::Bytes;
use dialect::client_error::{ClientError, error_body};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use shared::Dialect;
use std::time::Duration;

/// The longest wait in a Retry-After.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);
/// The longest Retry-After of an interactive request: an SDK sleeps for it in silence.
const LONGEST_SLEEP: Duration = Duration::from_secs(5);

/// When asking again is worth while, for a client of a ladder that is `interactive` or not.
#[derive(Debug, Clone, Copy)]
pub struct AskAgain {
    /// From now.
    pub after: Duration,
    /// Whether the request is interactive.
    pub interactive: bool,
}

/// The relay's own response headers.
pub(super) const RUNG: HeaderName = HeaderName::from_static("x-belay-rung");
pub(super) const ATTEMPTS: HeaderName = HeaderName::from_static("x-belay-attempts");
pub(super) const HEDGED: HeaderName = HeaderName::from_static("x-belay-hedged");
pub(super) const TTFT_MS: HeaderName = HeaderName::from_static("x-belay-ttft-ms");
/// The request's id, under every name that an SDK reads: OpenAI's, Anthropic's.
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
/// The relay has retried already, so SDKs must not; only if it knows when a retry is worth while
/// do they get that time instead.
#[must_use]
pub fn error_reply(to: Dialect, error: &ClientError<'_>, ask_again: Option<AskAgain>) -> Reply {
    let ClientError { status, request_id, .. } = *error;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    set_id(&mut headers, request_id);
    let ask_again = ask_again.filter(|_| matches!(status, 429 | 503));
    if let Some(AskAgain { after, .. }) = ask_again {
        let told = after.clamp(Duration::from_secs(1), LONGEST_RETRY_AFTER);
        let seconds = told.as_secs().saturating_add(u64::from(told.subsec_nanos() > 0));
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    let may_sleep = ask_again.is_some_and(|AskAgain { after, interactive }| {
        after <= if interactive { LONGEST_SLEEP } else { LONGEST_RETRY_AFTER }
    });
    if !may_sleep {
        set(&mut headers, SHOULD_RETRY, "false");
    }
    Reply { status, headers, body: error_body(to, error).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sdk_comes_back_only_where_that_can_help() {
        let told_on = |interactive, status, wait: Option<u64>| {
            let error = ClientError {
                message: "m",
                kind: "k",
                param: None,
                code: None,
                status,
                request_id: "req_1",
                belay: None,
            };
            let again =
                wait.map(|wait| AskAgain { after: Duration::from_millis(wait), interactive });
            let headers = error_reply(Dialect::OpenaiChat, &error, again).headers;
            let text = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            (text(header::RETRY_AFTER), text(SHOULD_RETRY))
        };
        let told = |status, wait| told_on(false, status, wait);
        let seconds = |text: &str| Some(text.to_owned());
        let no = || Some("false".to_owned());
        assert_eq!(told(429, Some(1)), (seconds("1"), None));
        assert_eq!(told(503, Some(60_000)), (seconds("60"), None));
        assert_eq!(told(429, Some(60_001)), (seconds("60"), no()), "it would be too early");
        assert_eq!(told(429, None), (None, no()));
        assert_eq!(told(502, Some(1)), (None, no()));
        // For an interactive request an SDK may not sleep for long.
        assert_eq!(told_on(true, 503, Some(5_000)), (seconds("5"), None));
        assert_eq!(told_on(true, 429, Some(5_001)), (seconds("6"), no()));
    }
}
