//! Anthropic messages and OpenAI responses on both sides: payloads pass through as
//! they are, and what they say is only listened to.

use super::hearing::{Hearing, Listening, Reader, Sink, Writer, over};
use super::retold;
use super::{AnswerSpec, End, Facts, Form, Heard, Telling};
use crate::fields::{self, Fields, push_array};
use crate::json::{is_filled_array, members, place, raw_members, word};
use crate::sse::Event;
use crate::{anthropic_messages, frame};
use bytes::BytesMut;
use serde_json::value::RawValue;
use shared::Dialect;
use std::collections::BTreeMap;

/// Listens to one dialect and passes it on.
#[derive(Debug)]
pub(super) struct Through {
    spec: AnswerSpec,
    reader: Box<dyn Reader>,
    /// For an ending that the provider left out.
    writer: Box<dyn Writer>,
    listening: Listening,
    passed: u64,
    begun: bool,
    /// Framed events that are kept back for the ending.
    tail: BytesMut,
    terminator: BytesMut,
    body: Body,
}

/// Where a whole answer grows.
#[derive(Debug)]
enum Body {
    /// Out of a message's events.
    Message(Box<anthropic_messages::Aggregate>),
    /// A response stands whole in its last event; some leave its output out, so the items
    /// are kept as they come.
    Response { body: Vec<u8>, items: BTreeMap<u64, String>, held: usize },
}

raw_members! {
    /// The members of an event that are looked at.
    Members {
        kind: "type",
        response: "response",
        item: "item",
        output_index: "output_index",
    }
}

/// What an item costs in memory beside its text.
const ITEM: usize = 96;

impl Body {
    const fn response(body: Vec<u8>) -> Self {
        Self::Response { body, items: BTreeMap::new(), held: 0 }
    }
}

/// A response with the items that came before it, where its own output is empty.
fn with_output(response: &str, items: &BTreeMap<u64, String>) -> Vec<u8> {
    let fields: Fields = serde_json::from_str(response).unwrap_or_default();
    let is_empty = fields.text("output").is_none_or(|output| !is_filled_array(output));
    if !is_empty || items.is_empty() || fields.is_empty() {
        return response.into();
    }
    let mut writer = fields::Writer::new(Vec::new());
    for (key, value) in fields.iter().filter(|(key, _)| *key != "output") {
        writer.raw(key, value.get());
    }
    push_array(items.values().map(String::as_str), writer.key("output"));
    writer.finish()
}

impl Through {
    pub(super) fn new(spec: AnswerSpec) -> Self {
        let body = match spec.to {
            Dialect::AnthropicMessages => Body::Message(Box::default()),
            _ => Body::response(Vec::new()),
        };
        Self {
            spec,
            reader: super::reader(&spec),
            writer: super::writer(&spec),
            listening: Listening::default(),
            passed: 0,
            begun: false,
            tail: BytesMut::new(),
            terminator: BytesMut::new(),
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
        // The type, since some leave out the names that SDKs go by.
        let name = word(members::<Members<'_>>(raw).kind);
        let is_event = match self.spec.to {
            Dialect::OpenaiResponses => name.starts_with("response."),
            _ => !name.is_empty(),
        };
        if !is_event {
            // What has no type is no event of the dialect, and may say what is nobody's business.
            self.listening.facts.drop_one();
            return;
        }
        let is_start = matches!(name, "message_start" | "response.created");
        if is_start && std::mem::replace(&mut self.begun, true) {
            // Proxies say it twice, and an SDK's helper chokes on it.
            self.listening.facts.repaired = self.listening.facts.repaired.saturating_add(1);
            return;
        }
        let to = if is_last {
            &mut self.terminator
        } else if content {
            // Content after the finish reason: what was kept back was no ending.
            out.extend_from_slice(&self.tail);
            self.tail.clear();
            out
        } else if self.listening.has_finished() {
            if self.tail.len().saturating_add(text.len()) > self.spec.max_event {
                self.listening.facts.drop_one();
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
            Body::Response { body, items, held } => {
                let event: Members<'_> = members(serde_json::from_str(text).ok());
                if is_last {
                    let response = event.response.map(RawValue::get).unwrap_or_default();
                    *body = with_output(response, items);
                } else if word(event.kind) == "response.output_item.done"
                    && let Some(item) = event.item
                {
                    *held = held.saturating_add(item.get().len()).saturating_add(ITEM);
                    items.insert(
                        place(event.output_index).unwrap_or_default(),
                        item.get().to_owned(),
                    );
                }
            }
        }
    }
}

impl Telling for Through {
    fn event(&mut self, event: &Event<'_>, out: &mut BytesMut, heard: &mut Heard) -> Option<End> {
        heard.events = heard.events.saturating_add(1);
        let dropped = self.listening.facts.dropped;
        let mut hearing = Hearing::new(&mut self.listening, Sink::Nowhere);
        let end = self.reader.event(event, &mut hearing);
        let content = hearing.close(heard);
        let end = end.map(|end| self.listening.judged(end, false));
        let is_read = self.listening.facts.dropped == dropped;
        if is_read && matches!(end, None | Some(End::Proper)) {
            self.pass_on(event, content, end.is_some(), out);
        }
        end.or_else(|| over(&self.spec, self.held(), &self.listening))
    }

    fn whole(&mut self, body: &[u8], out: &mut BytesMut, heard: &mut Heard) -> End {
        let text = String::from_utf8_lossy(body);
        heard.events = 1;
        let mut hearing = Hearing::new(&mut self.listening, Sink::Nowhere);
        let end = self.reader.whole(&text, &mut hearing);
        hearing.close(heard);
        match self.spec.form {
            // What is no answer leaves nothing behind: another may follow.
            Form::Stream if end != End::Proper => {}
            Form::Stream => {
                let retold = match self.spec.to {
                    Dialect::AnthropicMessages => retold::message(&text),
                    _ => retold::response(&text),
                };
                out.extend_from_slice(&retold.out);
                self.tail = retold.tail;
                self.terminator = retold.terminator;
            }
            Form::Whole => self.body = Body::response(body.to_vec()),
        }
        end
    }

    fn end_of_body(&mut self) -> End {
        let end = self.reader.end_of_body(&self.listening.facts);
        self.listening.judged(end, false)
    }

    fn take_tail(&mut self) -> BytesMut {
        std::mem::take(&mut self.tail)
    }

    fn take_terminator(&mut self) -> BytesMut {
        let mut terminator = std::mem::take(&mut self.terminator);
        if terminator.is_empty() {
            self.writer.terminator(&self.listening.facts, &mut terminator);
        }
        terminator
    }

    fn take_whole(&mut self) -> Vec<u8> {
        match &mut self.body {
            Body::Message(message) => message.take(),
            Body::Response { body, .. } => std::mem::take(body),
        }
    }

    fn facts(&self) -> &Facts {
        &self.listening.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.listening.facts
    }

    fn held(&self) -> usize {
        let body = match &self.body {
            Body::Message(message) => message.held(),
            Body::Response { body, held, .. } => body.len().saturating_add(*held),
        };
        self.tail
            .len()
            .saturating_add(body)
            .saturating_add(self.writer.held())
            .saturating_add(self.reader.held())
    }

    fn sequence(&self) -> u64 {
        self.passed
    }
}
