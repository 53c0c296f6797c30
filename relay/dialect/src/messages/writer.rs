//! Writes the events of a message in the order that Anthropic's clients need.
//!
//! Blocks follow one another: one is stopped before the next one starts. If pieces of two tool
//! calls alternate, or text comes in the middle of a call, the events of the other block wait until
//! the open block is known to be whole.

use crate::messages::usage::write;
use crate::messages::words::{STOP, stop_reason};
use crate::neutral::{Answer, Event, Finish, JsonEnd, Signed, Text};
use crate::stream::facts::{AnswerSpec, Facts};
use crate::stream::frame;
use crate::stream::observer::Writer;
use bytes::{BufMut as _, BytesMut};
use shared::{Dialect, Usage};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

/// Writes a message's stream.
#[derive(Debug)]
pub(crate) struct MessagesWriter {
    from: Dialect,
    request: String,
    started: bool,
    /// The next block's index.
    next: usize,
    open: Option<Open>,
    /// Blocks after the open one, in the order of their beginnings.
    waiting: VecDeque<Waiting>,
    /// The place of each call that waits, counted from the first block that ever waited.
    places: HashMap<usize, usize>,
    flushed: usize,
    waiting_bytes: usize,
    is_broken: bool,
    finish: Option<Finish>,
    stop_sequence: Option<Text<'static>>,
    called: bool,
    /// A buffer for the JSON of an event.
    json: String,
}

/// A block that waits.
#[derive(Debug)]
struct Waiting {
    call: Option<usize>,
    events: Vec<Event<'static>>,
}

/// The block that is open.
#[derive(Debug)]
enum Open {
    Text,
    Thinking,
    /// With the number of the call, and the search for the end of its arguments' JSON.
    Call(usize, JsonEnd),
}

impl MessagesWriter {
    pub(crate) fn new(spec: &AnswerSpec) -> Self {
        Self {
            from: spec.from,
            request: spec.request.to_string(),
            started: false,
            next: 0,
            open: None,
            waiting: VecDeque::new(),
            places: HashMap::new(),
            flushed: 0,
            waiting_bytes: 0,
            is_broken: false,
            finish: None,
            stop_sequence: None,
            called: false,
            json: String::new(),
        }
    }

    fn start(&mut self, begin: Option<&Event<'_>>, facts: &Facts, out: &mut BytesMut) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let (id, model) = match begin {
            Some(Event::Begin { id, model }) => (id.escaped(), model.escaped()),
            _ => ("", ""),
        };
        let made = format!("msg_{}", self.request);
        let id = if id.is_empty() { &made } else { id };
        let usage = write(&Usage { output: Some(0), ..facts.usage });
        self.json.clear();
        let _ = write!(
            self.json,
            r#"{{"type":"message_start","message":{{"id":"{id}","type":"message","role":"assistant","model":"{model}","content":[],"stop_reason":null,"stop_sequence":null,"usage":{usage}}}}}"#
        );
        frame::named("message_start", &self.json, out);
    }

    /// The call whose block is open and not yet known to be whole.
    fn unfinished(&self) -> Option<usize> {
        match &self.open {
            Some(Open::Call(call, end)) if !end.is_reached() => Some(*call),
            _ => None,
        }
    }

    /// Keeps an event that belongs to a block after the open one.
    fn wait(&mut self, event: &Event<'_>) {
        let bytes = size_of::<Event<'_>>().saturating_add(event.bytes());
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes);
        let call = call_of(event);
        let place = call.and_then(|call| self.places.get(&call).copied());
        let place = place.map(|place| place.saturating_sub(self.flushed));
        let event = event.clone().into_owned();
        // Events that belong to no call share a block, if no other block came between them.
        let open_end = self.waiting.len().checked_sub(1).filter(|_| call.is_none());
        let goes_on =
            open_end.filter(|&at| self.waiting.get(at).is_some_and(|one| one.call.is_none()));
        match place.or(goes_on).and_then(|at| self.waiting.get_mut(at)) {
            Some(block) => block.events.push(event),
            None => {
                if let Some(call) = call {
                    self.places.insert(call, self.flushed.saturating_add(self.waiting.len()));
                }
                self.waiting.push_back(Waiting { call, events: vec![event] });
            }
        }
    }

    /// Writes the events that waited, one block after another, up to the next call that is not
    /// whole. With `is_last` it writes all of them.
    fn flush(&mut self, is_last: bool, out: &mut BytesMut) {
        while is_last || self.unfinished().is_none() {
            let Some(block) = self.waiting.pop_front() else { break };
            self.flushed = self.flushed.saturating_add(1);
            if let Some(call) = block.call {
                self.places.remove(&call);
            }
            for event in &block.events {
                let bytes = size_of::<Event<'_>>().saturating_add(event.bytes());
                self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes);
                self.put(event, out);
            }
        }
    }

    /// Whether an event brings arguments for a call that is neither open nor waiting: its block was
    /// stopped before.
    fn is_late(&self, event: &Event<'_>) -> bool {
        let Event::Arguments { call, .. } = event else { return false };
        let is_open = matches!(&self.open, Some(Open::Call(open, _)) if open == call);
        !is_open && !self.places.contains_key(call)
    }

    fn put(&mut self, event: &Event<'_>, out: &mut BytesMut) {
        match event {
            Event::Text(text) | Event::Refusal(text) => {
                if !matches!(self.open, Some(Open::Text)) {
                    self.open(Open::Text, r#"{"type":"text","text":""}"#, out);
                }
                self.delta(r#"{"type":"text_delta","text":"#, text.escaped(), out);
            }
            Event::Reasoning(text) => {
                self.think(out);
                self.delta(r#"{"type":"thinking_delta","thinking":"#, text.escaped(), out);
            }
            Event::Signature(proof) => {
                self.think(out);
                let proof = Signed::write(Dialect::AnthropicMessages, self.from, proof.escaped());
                self.delta(r#"{"type":"signature_delta","signature":"#, &proof, out);
                self.close(out);
            }
            Event::Redacted(data) | Event::CallSignature { signature: data, .. } => {
                let data = Signed::write(Dialect::AnthropicMessages, self.from, data.escaped());
                let block = format!(r#"{{"type":"redacted_thinking","data":"{data}"}}"#);
                self.open(Open::Thinking, &block, out);
                self.close(out);
            }
            Event::Call { call, id, name, custom } => {
                self.called = true;
                let made = format!("call_{}_{call}", self.request);
                let id = if id.is_empty() { &made } else { id.escaped() };
                let name = name.escaped();
                let block =
                    format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#);
                self.open(Open::Call(*call, JsonEnd::new(*custom)), &block, out);
            }
            Event::Arguments { json, .. } => {
                if let Some(Open::Call(_, end)) = &mut self.open {
                    end.feed(json.escaped());
                }
                self.delta(r#"{"type":"input_json_delta","partial_json":"#, json.escaped(), out);
            }
            Event::Begin { .. } | Event::Finish { .. } => {}
        }
    }

    fn think(&mut self, out: &mut BytesMut) {
        if !matches!(self.open, Some(Open::Thinking)) {
            self.open(Open::Thinking, r#"{"type":"thinking","thinking":"","signature":""}"#, out);
        }
    }

    fn open(&mut self, kind: Open, block: &str, out: &mut BytesMut) {
        self.close(out);
        self.json.clear();
        let index = self.next;
        let _ = write!(
            self.json,
            r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
        );
        frame::named("content_block_start", &self.json, out);
        self.next += 1;
        self.open = Some(kind);
    }

    fn close(&mut self, out: &mut BytesMut) {
        if self.open.take().is_none() {
            return;
        }
        let index = self.next.saturating_sub(1);
        self.json.clear();
        let _ = write!(self.json, r#"{{"type":"content_block_stop","index":{index}}}"#);
        frame::named("content_block_stop", &self.json, out);
    }

    /// Writes a delta of the open block; `lead` is its JSON up to the value of its text.
    fn delta(&mut self, lead: &str, text: &str, out: &mut BytesMut) {
        const HEAD: &[u8] =
            b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":";
        out.reserve(HEAD.len() + lead.len() + text.len() + 32);
        out.put_slice(HEAD);
        let _ = write!(out, "{}", self.next.saturating_sub(1));
        out.put_slice(b",\"delta\":");
        out.put_slice(lead.as_bytes());
        out.put_u8(b'"');
        out.put_slice(text.as_bytes());
        out.put_slice(b"\"}}\n\n");
    }
}

impl Writer for MessagesWriter {
    fn event(&mut self, event: &Event<'_>, facts: &Facts, out: &mut BytesMut) {
        match event {
            Event::Begin { .. } => return self.start(Some(event), facts, out),
            Event::Finish { finish, stop_sequence } => {
                self.finish = Some(*finish);
                self.stop_sequence = stop_sequence.clone().map(Text::into_owned);
                return;
            }
            _ => self.start(None, facts, out),
        }
        if event.is_content() {
            self.finish = None;
        }
        let open = self.unfinished();
        let is_own =
            open.is_some() && open == call_of(event) && matches!(event, Event::Arguments { .. });
        if (open.is_some() || !self.waiting.is_empty()) && !is_own && !self.is_late(event) {
            self.wait(event);
        } else if self.is_late(event) {
            // White space changes nothing; anything else would make the call's arguments wrong.
            self.is_broken |= !is_blank(event);
            return;
        } else {
            self.put(event, out);
        }
        if open.is_some() && self.unfinished().is_none() {
            self.flush(false, out);
        }
    }

    fn tail(&mut self, facts: &Facts, out: &mut BytesMut) {
        self.start(None, facts, out);
        self.flush(true, out);
        self.close(out);
        let reason = stop_reason(self.finish, self.called, facts.refused);
        let stop_sequence = self.stop_sequence.as_ref();
        let stop_sequence = stop_sequence
            .map_or_else(|| "null".to_owned(), |text| format!("\"{}\"", text.escaped()));
        let usage = write(&facts.usage);
        self.json.clear();
        let _ = write!(
            self.json,
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":{stop_sequence}}},"usage":{usage}}}"#
        );
        frame::named("message_delta", &self.json, out);
    }

    fn terminator(&mut self, _facts: &Facts, out: &mut BytesMut) {
        out.put_slice(STOP);
    }

    fn whole(&self, answer: &Answer, facts: &Facts) -> Vec<u8> {
        crate::messages::write_whole::message(answer, facts, self.from, &self.request)
    }

    fn held(&self) -> usize {
        self.waiting_bytes
    }

    fn is_broken(&self) -> bool {
        self.is_broken
    }
}

/// The call that an event belongs to.
const fn call_of(event: &Event<'_>) -> Option<usize> {
    match event {
        Event::Call { call, .. }
        | Event::Arguments { call, .. }
        | Event::CallSignature { call, .. } => Some(*call),
        _ => None,
    }
}

fn is_blank(event: &Event<'_>) -> bool {
    matches!(event, Event::Arguments { json, .. } if json.decoded().trim().is_empty())
}
