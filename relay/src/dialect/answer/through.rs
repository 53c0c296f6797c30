//! Anthropic messages and OpenAI responses on both sides: payloads pass through as
//! they are, and what they say is only listened to.

use super::hearing::{Hearing, Reader, Sink, Writer, over};
use super::{AnswerSpec, End, Facts, Form, Heard, Telling};
use crate::dialect::json::{members, word};
use crate::dialect::sse::Event;
use crate::dialect::{anthropic_messages, frame};
use bytes::BytesMut;
use serde::Deserialize;
use serde_json::value::RawValue;
use shared::Dialect;

/// Listens to one dialect and passes it on.
#[derive(Debug)]
pub(super) struct Through {
    spec: AnswerSpec,
    reader: Box<dyn Reader>,
    /// For an answer that comes in one piece although a stream was asked for, and for an
    /// ending that the provider left out.
    writer: Box<dyn Writer>,
    facts: Facts,
    told_finished: bool,
    passed: u64,
    /// Framed events that are kept back for the ending.
    tail: BytesMut,
    terminator: BytesMut,
    /// The answer came in one piece and was told as a stream by the writer.
    told_whole: bool,
    body: Body,
}

/// Where a whole answer grows.
#[derive(Debug)]
enum Body {
    /// Out of a message's events.
    Message(Box<anthropic_messages::Aggregate>),
    /// A response stands whole in its last event.
    Response(Vec<u8>),
}

/// The members of an event that are looked at.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Members<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

impl Through {
    pub(super) fn new(spec: AnswerSpec) -> Self {
        let body = match spec.to {
            Dialect::AnthropicMessages => Body::Message(Box::default()),
            _ => Body::Response(Vec::new()),
        };
        Self {
            spec,
            reader: super::reader(&spec),
            writer: super::writer(&spec),
            facts: Facts::default(),
            told_finished: false,
            passed: 0,
            tail: BytesMut::new(),
            terminator: BytesMut::new(),
            told_whole: false,
            body,
        }
    }

    fn pass_on(&mut self, event: &Event<'_>, content: bool, is_last: bool, out: &mut BytesMut) {
        let text = String::from_utf8_lossy(event.data);
        if self.spec.form == Form::Whole {
            self.grow(&text, is_last);
            return;
        }
        let raw: Option<&RawValue> = serde_json::from_str(&text).ok();
        let own = std::str::from_utf8(event.name).unwrap_or_default();
        let name = if own.is_empty() {
            // Some leave out the names that SDKs go by.
            word(members::<Members<'_>>(raw).kind)
        } else {
            own
        };
        let to = if is_last {
            &mut self.terminator
        } else if content {
            // Content after the finish reason: what was kept back was no ending.
            out.extend_from_slice(&self.tail);
            self.tail.clear();
            out
        } else if self.told_finished {
            if self.tail.len().saturating_add(text.len()) > self.spec.max_event {
                self.facts.drop_one();
                return;
            }
            &mut self.tail
        } else {
            out
        };
        frame::named(name, &text, to);
        self.passed = self.passed.saturating_add(1);
    }

    fn grow(&mut self, text: &str, is_last: bool) {
        match &mut self.body {
            Body::Message(message) => message.absorb(text),
            Body::Response(body) if is_last => {
                let raw: Option<&RawValue> = serde_json::from_str(text).ok();
                let response = members::<Members<'_>>(raw).response;
                *body = response.map(|raw| raw.get().into()).unwrap_or_default();
            }
            Body::Response(_) => {}
        }
    }
}

impl Telling for Through {
    fn event(&mut self, event: &Event<'_>, out: &mut BytesMut, heard: &mut Heard) -> Option<End> {
        heard.events = heard.events.saturating_add(1);
        let dropped = self.facts.dropped;
        let mut hearing = Hearing::new(&mut self.facts, Sink::Nowhere);
        let end = self.reader.event(event, &mut hearing);
        let content = hearing.close(&mut self.told_finished, heard);
        let is_read = self.facts.dropped == dropped;
        if is_read && matches!(end, None | Some(End::Proper)) {
            self.pass_on(event, content, end.is_some(), out);
        }
        end.or_else(|| over(&self.spec, self.held()))
    }

    fn whole(&mut self, body: &[u8], out: &mut BytesMut, heard: &mut Heard) -> End {
        let text = String::from_utf8_lossy(body);
        heard.events = 1;
        let sink = match self.spec.form {
            Form::Stream => Sink::Stream(&mut *self.writer, out),
            Form::Whole => Sink::Nowhere,
        };
        let mut hearing = Hearing::new(&mut self.facts, sink);
        let end = self.reader.whole(&text, &mut hearing);
        hearing.close(&mut self.told_finished, heard);
        match self.spec.form {
            Form::Stream => self.told_whole = true,
            Form::Whole => self.body = Body::Response(body.to_vec()),
        }
        end
    }

    fn end_of_body(&mut self) -> End {
        self.reader.end_of_body(&self.facts)
    }

    fn take_tail(&mut self) -> BytesMut {
        let mut tail = std::mem::take(&mut self.tail);
        if self.told_whole {
            self.writer.tail(&self.facts, &mut tail);
        }
        tail
    }

    fn take_terminator(&mut self) -> BytesMut {
        let mut terminator = std::mem::take(&mut self.terminator);
        if terminator.is_empty() {
            self.writer.terminator(&self.facts, &mut terminator);
        }
        terminator
    }

    fn take_whole(&mut self) -> Vec<u8> {
        match &mut self.body {
            Body::Message(message) => message.take(),
            Body::Response(body) => std::mem::take(body),
        }
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    fn held(&self) -> usize {
        let body = match &self.body {
            Body::Message(message) => message.held(),
            Body::Response(body) => body.len(),
        };
        self.tail.len().saturating_add(body).saturating_add(self.writer.held())
    }

    fn sequence(&self) -> u64 {
        self.passed
    }
}
