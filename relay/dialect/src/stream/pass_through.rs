//! Passes answers through if both sides speak Anthropic messages or both OpenAI responses: payloads
//! stay as they are, and their content is only observed.

use crate::common::json::{members, raw_members, word};
use crate::stream::facts::{AnswerSpec, End, Facts, Form, Progress};
use crate::stream::frame;
use crate::stream::observer::{Observed, Observer, Reader, Sink, Writer, over};
use crate::stream::replay::Replayed;
use crate::stream::sse::Event;
use crate::stream::transform::Transform;
use bytes::BytesMut;
use serde_json::value::RawValue;

/// Puts a whole answer together from the events of a stream.
pub(crate) trait Collect: std::fmt::Debug + Send {
    /// Adds an event.
    fn event(&mut self, event: &str, is_last: bool);

    /// Takes the answer as one JSON body.
    fn take(&mut self) -> Vec<u8>;

    /// How many bytes are held.
    fn held(&self) -> usize;
}

/// What a dialect with named events provides for passing them through.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) reader: Box<dyn Reader>,
    /// Writes a terminator that the provider left out.
    pub(crate) writer: Box<dyn Writer>,
    pub(crate) collect: Box<dyn Collect>,
    /// Whether the dialect has events of this type.
    pub(crate) is_event: fn(&str) -> bool,
    /// The type of the first event.
    pub(crate) start: &'static str,
    /// Turns a whole answer into the events of a stream.
    pub(crate) replay: fn(&str) -> Replayed,
}

/// Observes one dialect and passes it on.
#[derive(Debug)]
pub(crate) struct PassThrough {
    spec: AnswerSpec,
    parts: Parts,
    observed: Observed,
    passed: u64,
    begun: bool,
    /// Framed events that are kept back for the ending.
    tail: BytesMut,
    terminator: BytesMut,
    /// An answer that came as one body, if the client wants that form.
    whole: Option<Vec<u8>>,
}

raw_members! {
    /// The member of an event that is read.
    Members {
        kind: "type",
    }
}

impl PassThrough {
    pub(crate) fn new(spec: AnswerSpec, parts: Parts) -> Self {
        Self {
            spec,
            parts,
            observed: Observed::default(),
            passed: 0,
            begun: false,
            tail: BytesMut::new(),
            terminator: BytesMut::new(),
            whole: None,
        }
    }

    fn pass_on(&mut self, event: &Event<'_>, content: bool, is_last: bool, out: &mut BytesMut) {
        let text = String::from_utf8_lossy(event.data);
        if self.spec.form == Form::Whole {
            self.parts.collect.event(&text, is_last);
            return;
        }
        let raw: Option<&RawValue> = serde_json::from_str(&text).ok();
        // The name is the type: some providers leave out the event names that SDKs need.
        let name = word(members::<Members<'_>>(raw).kind);
        if !(self.parts.is_event)(name) {
            // An event without a type is not one of the dialect's, and may hold something private.
            self.observed.facts.drop_one();
            return;
        }
        if name == self.parts.start && std::mem::replace(&mut self.begun, true) {
            // Some proxies send it twice, and an SDK's helper fails on the second one.
            self.observed.facts.repaired = self.observed.facts.repaired.saturating_add(1);
            return;
        }
        let to = if is_last {
            &mut self.terminator
        } else if content {
            // Content after the finish reason: what was kept back was not the ending.
            out.extend_from_slice(&self.tail);
            self.tail.clear();
            out
        } else if self.observed.has_finished() {
            if self.tail.len().saturating_add(text.len()) > self.spec.max_event {
                self.observed.facts.drop_one();
                return;
            }
            &mut self.tail
        } else {
            out
        };
        frame::named(name, &text, to);
        self.passed = self.passed.saturating_add(1);
    }
}

impl Transform for PassThrough {
    fn event(
        &mut self,
        event: &Event<'_>,
        out: &mut BytesMut,
        progress: &mut Progress,
    ) -> Option<End> {
        progress.events = progress.events.saturating_add(1);
        let dropped = self.observed.facts.dropped;
        let mut observer = Observer::new(&mut self.observed, Sink::Nowhere);
        let end = self.parts.reader.event(event, &mut observer);
        let content = observer.close(progress);
        let end = end.map(|end| self.observed.judged(end, false));
        let is_read = self.observed.facts.dropped == dropped;
        if is_read && matches!(end, None | Some(End::Proper)) {
            self.pass_on(event, content, end.is_some(), out);
        }
        end.or_else(|| over(&self.spec, self.held(), &self.observed))
    }

    fn whole(&mut self, body: &[u8], out: &mut BytesMut, progress: &mut Progress) -> End {
        let text = String::from_utf8_lossy(body);
        progress.events = 1;
        let mut observer = Observer::new(&mut self.observed, Sink::Nowhere);
        let end = self.parts.reader.whole(&text, &mut observer);
        observer.close(progress);
        match self.spec.form {
            // Nothing is written of a body that is no answer: another attempt's may follow.
            Form::Stream if end != End::Proper => {}
            Form::Stream => {
                let replayed = (self.parts.replay)(&text);
                out.extend_from_slice(&replayed.out);
                self.tail = replayed.tail;
                self.terminator = replayed.terminator;
            }
            Form::Whole => self.whole = Some(body.to_vec()),
        }
        end
    }

    fn end_of_body(&mut self) -> End {
        let end = self.parts.reader.end_of_body(&self.observed.facts);
        self.observed.judged(end, false)
    }

    fn take_tail(&mut self) -> BytesMut {
        std::mem::take(&mut self.tail)
    }

    fn take_terminator(&mut self) -> BytesMut {
        let mut terminator = std::mem::take(&mut self.terminator);
        if terminator.is_empty() {
            self.parts.writer.terminator(&self.observed.facts, &mut terminator);
        }
        terminator
    }

    fn take_whole(&mut self) -> Vec<u8> {
        self.whole.take().unwrap_or_else(|| self.parts.collect.take())
    }

    fn facts(&self) -> &Facts {
        &self.observed.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.observed.facts
    }

    fn held(&self) -> usize {
        let whole = self.whole.as_ref().map_or(0, Vec::len);
        self.tail
            .len()
            .saturating_add(whole)
            .saturating_add(self.parts.collect.held())
            .saturating_add(self.parts.writer.held())
            .saturating_add(self.parts.reader.held())
    }

    fn sequence(&self) -> u64 {
        self.passed
    }
}
