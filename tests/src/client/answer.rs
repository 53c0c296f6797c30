//! A whole answer, and the questions that tests ask of it.

use super::exchange::End;
use super::http::Head;
use super::sse::{self, Event};
use serde_json::Value;
use std::time::{Duration, Instant};

/// One read from the socket.
#[derive(Debug, Clone, Copy)]
pub struct Read {
    /// When it came, after the request was sent.
    pub at: Duration,
    /// How much of the decoded body was there then.
    pub end: usize,
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its head.
    pub head: Head,
    /// The body, unchunked.
    pub body: Vec<u8>,
    /// The reads it came in.
    pub reads: Vec<Read>,
    /// How it ended.
    pub end: End,
    /// When the head was there, after the request was sent.
    pub head_at: Duration,
    /// When it ended, after the request was sent.
    pub end_at: Duration,
    /// When the request was sent.
    pub sent_at: Instant,
}

impl Answer {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// The relay's id of the request.
    #[must_use]
    pub fn id(&self) -> String {
        self.header("x-belay-request-id").expect("every answer has a request id").to_owned()
    }

    /// The body as text.
    #[must_use]
    pub fn body_text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the relay writes UTF-8")
    }

    /// The body as one JSON value.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.body_text()))
    }

    /// The stream's events, comments included.
    #[track_caller]
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        sse::events(&self.body, &self.reads)
    }

    /// The chunks: every data event but the terminator.
    #[track_caller]
    #[must_use]
    pub fn chunks(&self) -> Vec<Value> {
        sse::chunks(&self.events())
    }

    /// When the first piece of text came, after the request was sent.
    #[track_caller]
    #[must_use]
    pub fn first_token_at(&self) -> Option<Duration> {
        let events = self.events();
        let has_text = |event: &&Event| !sse::text(std::slice::from_ref(*event)).is_empty();
        events.iter().find(has_text).map(|event| event.at)
    }

    /// The answer's text, of a stream or of one JSON body.
    #[track_caller]
    #[must_use]
    pub fn text(&self) -> String {
        if self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            sse::text(&self.events())
        } else {
            let content = &self.json()["choices"][0]["message"]["content"];
            content.as_str().unwrap_or_default().to_owned()
        }
    }

    /// Whether the terminator was seen.
    #[track_caller]
    #[must_use]
    pub fn saw_done(&self) -> bool {
        self.events().iter().any(|event| event.data.as_deref() == Some("[DONE]"))
    }

    /// Every finish reason, in order.
    #[track_caller]
    #[must_use]
    pub fn finish_reasons(&self) -> Vec<String> {
        self.chunks()
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str().map(str::to_owned))
            .collect()
    }

    /// How many chunks gave a role.
    #[track_caller]
    #[must_use]
    pub fn roles(&self) -> usize {
        let is_role = |chunk: &&Value| chunk["choices"][0]["delta"]["role"].is_string();
        self.chunks().iter().filter(is_role).count()
    }

    /// The error object, of a JSON body or in the stream.
    #[track_caller]
    #[must_use]
    pub fn error_object(&self) -> Option<Value> {
        if self.status == 200 {
            self.chunks().iter().find_map(|chunk| chunk.get("error").cloned())
        } else {
            self.json().get("error").cloned()
        }
    }

    /// How often the relay gave a sign of life.
    #[track_caller]
    #[must_use]
    pub fn beats(&self) -> usize {
        let of = |event: &Event| event.beats + usize::from(event.event.as_deref() == Some("ping"));
        self.events().iter().map(of).sum()
    }

    /// What the relay stamped into its last event.
    #[track_caller]
    #[must_use]
    pub fn stamp(&self) -> Option<Value> {
        self.events().iter().find_map(|event| {
            let stamp = event.comment.as_deref()?.strip_prefix("belay ")?;
            Some(serde_json::from_str(stamp).expect("a stamp is JSON"))
        })
    }

    /// What was tried, as `rung outcome`, by the error's `belay` key.
    #[track_caller]
    #[must_use]
    pub fn tried(&self) -> Vec<String> {
        let error = self.error_object().expect("an error");
        let tried = error["belay"]["tried"].as_array().expect("`tried` in `belay`").clone();
        tried
            .iter()
            .map(|one| {
                let word = |key: &str| one[key].as_str().expect("a word").to_owned();
                format!("{} {}", word("rung"), word("outcome"))
            })
            .collect()
    }

    /// Fails unless this is a whole, good stream with this text.
    #[track_caller]
    pub fn assert_good(&self, words: &str) {
        assert_eq!(self.status, 200, "{}", self.body_text());
        assert_eq!(self.text(), words, "{}", self.body_text());
        assert_eq!(self.error_object(), None);
        assert_eq!(self.finish_reasons(), ["stop"], "{}", self.body_text());
        assert!(self.saw_done(), "no terminator: {}", self.body_text());
        assert_eq!(self.end, End::Proper);
    }

    /// Fails unless this is an HTTP error in the OpenAI shape; gives its object.
    #[track_caller]
    pub fn assert_error(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body_text());
        assert_eq!(self.end, End::Proper);
        let kind = self.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json"), "content type {kind:?}");
        let error = self.error_object().expect("an error object");
        assert_error_shape(&error);
        error
    }

    /// Fails unless this is a stream that broke after `words`; gives the error object.
    #[track_caller]
    pub fn assert_broken(&self, words: &str) -> Value {
        assert_eq!(self.status, 200, "{}", self.body_text());
        assert_eq!(self.text(), words, "{}", self.body_text());
        assert_eq!(self.end, End::Proper, "the body ends properly after an error event");
        assert!(!self.saw_done(), "no terminator after a failure: {}", self.body_text());
        assert!(self.finish_reasons().is_empty(), "no made-up finish reason");
        let events = self.events();
        let last = events.last().expect("an error event");
        assert_eq!(last.event, None, "an error event has no name in this dialect");
        let data = last.data.as_deref().expect("the stream ends with its error event");
        let data: Value = serde_json::from_str(data).expect("an error event is JSON");
        let error = data.get("error").expect("the stream ends with its error event").clone();
        assert_error_shape(&error);
        error
    }
}

#[track_caller]
fn assert_error_shape(error: &Value) {
    assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "message: {error}");
    assert!(error["type"].is_string(), "type: {error}");
    let object = error.as_object().expect("an object");
    assert!(object.contains_key("param"), "param: {error}");
    assert!(object.contains_key("code"), "code: {error}");
}
