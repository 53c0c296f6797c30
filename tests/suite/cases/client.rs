//! A client of each dialect: what it sends, and how it reads what it gets.
//!
//! Streams are read as strictly as the vendors' own clients do, and by nothing that
//! the relay is made of.

mod chat;
mod messages;
mod responses;
mod said;

pub(crate) use said::{Call, Said};

use serde_json::{Value, json};
use tests::client::request;
use tests::{Answer, End, Exchange, Relay, openai};

/// Whose client it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Chat,
    Messages,
    Responses,
}

/// All of them.
pub(crate) const CLIENTS: [Client; 3] = [Client::Chat, Client::Messages, Client::Responses];

impl Client {
    const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Messages => "/v1/messages",
            Self::Responses => "/v1/responses",
        }
    }

    /// A request for one JSON answer, of ladder `chat`.
    pub(crate) fn whole_request(self) -> Value {
        match self {
            Self::Chat => openai::ask_whole("chat"),
            Self::Messages => json!({
                "model": "chat",
                "max_tokens": 256,
                "messages": [{"role": "user", "content": "Say something."}],
            }),
            // Stored answers are side effects: such a request would not be sent twice.
            Self::Responses => json!({"model": "chat", "input": "Say something.", "store": false}),
        }
    }

    /// A request for a stream, of ladder `chat`; with usage, where that must be asked for.
    pub(crate) fn request(self) -> Value {
        let mut more = json!({"stream": true});
        if self == Self::Chat {
            more["stream_options"] = json!({"include_usage": true});
        }
        openai::with(self.whole_request(), &more)
    }

    pub(crate) async fn open_with(
        self,
        relay: &Relay,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Exchange {
        let body = body.to_string();
        let bytes = request(relay.address(), "POST", self.path(), headers, Some(body.as_bytes()));
        Exchange::start(relay.address(), &bytes).await
    }

    /// Asks for a stream; reading is up to the test.
    pub(crate) async fn open(self, relay: &Relay) -> Exchange {
        self.open_with(relay, &[], &self.request()).await
    }

    /// Asks for a stream and reads all of it.
    pub(crate) async fn ask(self, relay: &Relay) -> Answer {
        self.open(relay).await.finish().await
    }

    /// Asks for one JSON answer.
    pub(crate) async fn ask_whole(self, relay: &Relay) -> Answer {
        self.open_with(relay, &[], &self.whole_request()).await.finish().await
    }

    /// What a 200 says, a stream or one JSON body.
    #[track_caller]
    pub(crate) fn read(self, answer: &Answer) -> Said {
        assert_eq!(answer.status, 200, "{self:?}: {}", answer.body_text());
        assert_eq!(answer.end, End::Proper, "{self:?}: {}", answer.body_text());
        let kind = answer.header("content-type").unwrap_or_default();
        let is_stream = kind.starts_with("text/event-stream");
        match self {
            Self::Chat if is_stream => chat::stream(answer),
            Self::Messages if is_stream => messages::stream(answer),
            Self::Responses if is_stream => responses::stream(answer),
            Self::Chat => chat::whole(&answer.json()),
            Self::Messages => messages::whole(&answer.json()),
            Self::Responses => responses::whole(&answer.json()),
        }
    }

    /// Fails unless this is a whole answer, however it ended; gives what it says.
    #[track_caller]
    pub(crate) fn read_whole(self, answer: &Answer) -> Said {
        let said = self.read(answer);
        assert_eq!(said.error, None, "{self:?}: {}", answer.body_text());
        assert!(said.complete, "{self:?}: no proper end: {}", answer.body_text());
        // Some chat providers give no role at all.
        let starts = if self == Self::Chat { said.starts.max(1) } else { said.starts };
        assert_eq!(starts, 1, "{self:?}: {}", answer.body_text());
        said
    }

    /// Fails unless this is a whole answer with this text that ended by itself.
    #[track_caller]
    pub(crate) fn assert_good(self, answer: &Answer, words: &str) -> Said {
        let said = self.read_whole(answer);
        assert_eq!(said.text, words, "{self:?}: {}", answer.body_text());
        assert_eq!(said.finish.as_deref(), Some(self.stop()), "{self:?}: {}", answer.body_text());
        said
    }

    /// Fails unless this is a stream that broke after `words`; gives its error.
    #[track_caller]
    pub(crate) fn assert_broken(self, answer: &Answer, words: &str) -> Value {
        let said = self.read(answer);
        assert_eq!(said.text, words, "{self:?}: {}", answer.body_text());
        assert!(!said.complete, "{self:?}: no made-up end: {}", answer.body_text());
        assert_eq!(said.finish, None, "{self:?}: no made-up finish: {}", answer.body_text());
        let mut events = answer.events();
        if self == Self::Responses {
            let failed = events.pop().expect("the second word for it");
            assert_eq!(failed.event.as_deref(), Some("response.failed"));
        }
        let last = events.pop().expect("an error event");
        let data: Value = serde_json::from_str(&last.data.expect("data")).expect("JSON");
        let name = if self == Self::Chat { None } else { Some("error") };
        assert_eq!(last.event.as_deref(), name, "{self:?}: {}", answer.body_text());
        self.assert_error_shape(&data);
        data["error"].clone()
    }

    /// Fails unless this is an HTTP error in this client's shape; gives its object.
    #[track_caller]
    pub(crate) fn assert_error(self, answer: &Answer, status: u16) -> Value {
        assert_eq!(answer.status, status, "{self:?}: {}", answer.body_text());
        assert_eq!(answer.end, End::Proper);
        let kind = answer.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json"), "content type {kind:?}");
        let length: usize = answer.header("content-length").expect("a length").parse().unwrap();
        assert_eq!(length, answer.body.len());
        let body = answer.json();
        if self == Self::Responses {
            // The event is flat, the body is not.
            Self::Chat.assert_error_shape(&body);
        } else {
            self.assert_error_shape(&body);
        }
        body["error"].clone()
    }

    #[track_caller]
    fn assert_error_shape(self, body: &Value) {
        let error = &body["error"];
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        assert!(error["type"].is_string(), "{body}");
        match self {
            Self::Chat => {
                let object = error.as_object().expect("an object");
                assert!(object.contains_key("param") && object.contains_key("code"), "{body}");
            }
            Self::Messages => {
                assert_eq!(body["type"], "error", "{body}");
                assert!(body["request_id"].is_string(), "{body}");
            }
            Self::Responses => {
                assert_eq!(body["type"], "error", "{body}");
                assert_eq!(body["message"], error["message"], "{body}");
            }
        }
    }

    /// Its word for an answer that ended by itself.
    pub(crate) const fn stop(self) -> &'static str {
        match self {
            Self::Chat => "stop",
            Self::Messages => "end_turn",
            Self::Responses => "completed",
        }
    }

    /// Its word for an answer that waits for its tools.
    pub(crate) const fn tools(self) -> &'static str {
        match self {
            Self::Chat => "tool_calls",
            Self::Messages => "tool_use",
            Self::Responses => "completed",
        }
    }

    /// Its word for an answer that was filtered.
    pub(crate) const fn filtered(self) -> &'static str {
        match self {
            Self::Chat => "content_filter",
            Self::Messages => "refusal",
            Self::Responses => "incomplete content_filter",
        }
    }
}
