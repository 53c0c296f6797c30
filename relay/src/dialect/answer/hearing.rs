//! What is heard of an answer while it is read, whatever dialect it comes in.

use super::{AnswerSpec, End, Facts, Heard};
use crate::dialect::neutral::{Answer, Event, Finish};
use crate::dialect::sse;
use bytes::BytesMut;
use shared::Usage;

/// Reads one provider's answer, and tells it in the neutral words.
pub(in crate::dialect) trait Reader: std::fmt::Debug + Send {
    /// One event of the stream.
    fn event(&mut self, event: &sse::Event<'_>, hearing: &mut Hearing<'_>) -> Option<End>;

    /// A 200 whose body is one JSON document. Valid UTF-8.
    fn whole(&mut self, body: &str, hearing: &mut Hearing<'_>) -> End;

    /// Bytes of the body as they came, for what is said outside of events.
    fn beside(&mut self, _bytes: &[u8]) -> Option<End> {
        None
    }

    /// What it means that the body has ended here.
    fn end_of_body(&mut self, facts: &Facts) -> End;
}

/// Writes an answer in a client's dialect.
pub(in crate::dialect) trait Writer: std::fmt::Debug + Send {
    /// Writes what an event says. `facts` know of it already.
    fn event(&mut self, event: &Event<'_>, facts: &Facts, out: &mut BytesMut);

    /// Writes what is left to say once the answer is whole, but the terminator.
    fn tail(&mut self, facts: &Facts, out: &mut BytesMut);

    /// Writes the terminator.
    fn terminator(&mut self, facts: &Facts, out: &mut BytesMut);

    /// A whole answer as one JSON body.
    fn whole(&self, answer: &Answer, facts: &Facts) -> Vec<u8>;

    /// Bytes that are held back.
    fn held(&self) -> usize {
        0
    }

    /// Events that were written, where the dialect numbers them.
    fn sequence(&self) -> u64 {
        0
    }
}

/// Where events go.
pub(in crate::dialect) enum Sink<'a> {
    /// To a client's stream.
    Stream(&'a mut dyn Writer, &'a mut BytesMut),
    /// Into a whole answer.
    Whole(&'a mut Answer),
    /// Nowhere: the payload itself passes through.
    Nowhere,
}

/// Takes the facts out of events on their way to the client.
pub(in crate::dialect) struct Hearing<'a> {
    facts: &'a mut Facts,
    sink: Sink<'a>,
    /// What this provider event held.
    content: bool,
    finished: bool,
}

impl std::fmt::Debug for Hearing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hearing").finish_non_exhaustive()
    }
}

impl<'a> Hearing<'a> {
    pub(in crate::dialect) const fn new(facts: &'a mut Facts, sink: Sink<'a>) -> Self {
        Self { facts, sink, content: false, finished: false }
    }

    /// What is known so far.
    pub(in crate::dialect) const fn facts(&mut self) -> &mut Facts {
        self.facts
    }

    /// Takes in what was said.
    pub(in crate::dialect) fn say(&mut self, event: &Event<'_>) {
        self.note(event);
        match &mut self.sink {
            Sink::Stream(writer, out) => writer.event(event, self.facts, out),
            Sink::Whole(answer) => answer.add(event),
            Sink::Nowhere => {}
        }
    }

    /// Content came that no other dialect has a word for, such as a provider's own tool at work.
    pub(in crate::dialect) const fn activity(&mut self) {
        self.content = true;
        self.facts.content = true;
    }

    /// Token counts as far as they are known now.
    pub(in crate::dialect) const fn usage(&mut self, usage: Usage) {
        self.facts.usage = usage;
    }

    /// One provider event has been read: what it comes to.
    pub(in crate::dialect) const fn close(
        self,
        told_finished: &mut bool,
        heard: &mut Heard,
    ) -> bool {
        let kind = if self.content { &mut heard.tokens } else { &mut heard.pings };
        *kind = kind.saturating_add(1);
        if self.content && *told_finished {
            // It goes on: that was no finish reason, and what comes may still break.
            *told_finished = false;
            heard.finished = false;
        }
        if self.finished && !*told_finished {
            *told_finished = true;
            heard.finished = true;
        }
        self.content
    }

    fn note(&mut self, event: &Event<'_>) {
        let facts = &mut *self.facts;
        let bytes = match event {
            Event::Text(text) | Event::Reasoning(text) => text.len(),
            Event::Refusal(text) => {
                facts.refused = true;
                text.len()
            }
            Event::Call { name, .. } => {
                facts.tool_open = true;
                name.len()
            }
            Event::Arguments { json, .. } => json.len(),
            Event::Finish { finish, .. } => {
                self.finished = true;
                facts.tool_open = false;
                facts.refused |= matches!(finish, Finish::ContentFilter | Finish::Refusal);
                facts.length |= *finish == Finish::Length;
                facts.finish = Some(finish.as_str());
                0
            }
            Event::Begin { .. }
            | Event::Signature(_)
            | Event::Redacted(_)
            | Event::CallSignature { .. } => 0,
        };
        if event.is_content() {
            self.content = true;
            facts.content = true;
        }
        facts.text_bytes = facts.text_bytes.saturating_add(bytes);
    }
}

/// The limit that an answer may not go over, if it has.
pub(super) fn over(spec: &AnswerSpec, held: usize) -> Option<End> {
    (held > spec.max_answer).then_some(End::TooLarge { limit: spec.max_answer })
}
