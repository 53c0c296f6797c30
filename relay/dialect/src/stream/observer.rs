//! Observes the events of an answer while it is read, whatever its dialect.

use crate::neutral::{Answer, Event, Finish, JsonEnd};
use crate::stream::facts::{AnswerSpec, End, Facts, Progress};
use crate::stream::restoring::Restoring;
use crate::stream::sse;
use bytes::BytesMut;
use shared::Usage;

/// Reads one provider's answer and emits neutral events.
pub(crate) trait Reader: std::fmt::Debug + Send {
    /// Reads one event of the stream.
    fn event(&mut self, event: &sse::Event<'_>, observer: &mut Observer<'_>) -> Option<End>;

    /// Reads the body of a 200 that is one JSON document. It is valid UTF-8.
    fn whole(&mut self, body: &str, observer: &mut Observer<'_>) -> End;

    /// Reads bytes of the body as they came, for an error outside of events.
    fn beside(&mut self, _bytes: &[u8]) -> Option<End> {
        None
    }

    /// What kind of end it is if the body ends here.
    fn end_of_body(&mut self, facts: &Facts) -> End;

    /// How many bytes are held.
    fn held(&self) -> usize {
        0
    }
}

/// Writes an answer in a client's dialect.
pub(crate) trait Writer: std::fmt::Debug + Send {
    /// Writes an event. `facts` already include it.
    fn event(&mut self, event: &Event<'_>, facts: &Facts, out: &mut BytesMut);

    /// Writes what is still missing once the answer is whole, except the terminator.
    fn tail(&mut self, facts: &Facts, out: &mut BytesMut);

    /// Writes the terminator.
    fn terminator(&mut self, facts: &Facts, out: &mut BytesMut);

    /// Writes a whole answer as one JSON body.
    fn whole(&self, answer: &Answer, facts: &Facts) -> Vec<u8>;

    /// How many bytes are held back.
    fn held(&self) -> usize {
        0
    }

    /// How many events were written, if the dialect numbers them; else 0.
    fn sequence(&self) -> u64 {
        0
    }

    /// Whether the answer went on in a way that this dialect cannot express truthfully.
    fn is_broken(&self) -> bool {
        false
    }
}

/// Where events go.
pub(crate) enum Sink<'a> {
    /// To a client's stream.
    Stream(&'a mut dyn Writer, &'a mut BytesMut),
    /// Into a whole answer.
    Whole(&'a mut Answer),
    /// Nowhere: the payload itself is passed through.
    Nowhere,
}

/// The most tool calls that an answer may have. No real answer has so many, and each call costs
/// memory.
const MOST_CALLS: usize = 4096;

/// What is known about an answer while it is read.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) facts: Facts,
    /// Finds the end of the arguments of each call, in the order of the calls' numbers.
    calls: Vec<JsonEnd>,
    told_finished: bool,
    pub(crate) restoring: Restoring,
    /// Content was emitted that every dialect can express.
    said: bool,
}

impl Observed {
    /// Whether a finish reason has come that nothing has taken back.
    pub(crate) const fn has_finished(&self) -> bool {
        self.told_finished
    }

    /// Judges `end`: an end that the provider calls proper may be none. `translated`: the client
    /// speaks another dialect than the provider.
    pub(crate) fn judged(&self, end: End, translated: bool) -> End {
        if end != End::Proper {
            return end;
        }
        // Without a finish reason nothing proves that a call is whole. A call without any arguments
        // may still be whole.
        if self.facts.finish.is_none() && self.calls.iter().any(JsonEnd::is_open) {
            return End::Cut;
        }
        if translated && self.facts.content && !self.said && !self.facts.refused {
            return End::Broken("nothing in it has words in the client's dialect");
        }
        end
    }

    pub(crate) const fn has_too_many_calls(&self) -> bool {
        self.calls.len() > MOST_CALLS
    }
}

/// Notes the facts of each event before it goes to the client.
pub(crate) struct Observer<'a> {
    observed: &'a mut Observed,
    sink: Sink<'a>,
    /// Whether this provider event held content.
    content: bool,
    finished: bool,
}

impl std::fmt::Debug for Observer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

impl<'a> Observer<'a> {
    pub(crate) const fn new(observed: &'a mut Observed, sink: Sink<'a>) -> Self {
        Self { observed, sink, content: false, finished: false }
    }

    /// What is known so far.
    pub(crate) const fn facts(&mut self) -> &mut Facts {
        &mut self.observed.facts
    }

    /// Notes an event and hands it on to the sink.
    pub(crate) fn emit(&mut self, event: &Event<'_>) {
        self.note(event);
        if self.observed.restoring.is_idle() {
            self.write(event);
        } else if let Some(event) = self.observed.restoring.restored(event) {
            self.write(&event);
        }
    }

    fn write(&mut self, event: &Event<'_>) {
        match &mut self.sink {
            Sink::Stream(writer, out) => writer.event(event, &self.observed.facts, out),
            Sink::Whole(answer) => answer.add(event),
            Sink::Nowhere => {}
        }
    }

    /// Notes content that no other dialect can express, such as work of a provider's own tool.
    pub(crate) fn activity(&mut self) {
        self.content = true;
        self.observed.facts.content = true;
        self.observed.facts.answered = true;
        self.take_back();
    }

    /// Token counts as far as they are known now.
    pub(crate) const fn usage(&mut self, usage: Usage) {
        self.observed.facts.usage = usage;
    }

    /// Ends one provider event and counts it. Returns whether it held content.
    pub(crate) const fn close(self, progress: &mut Progress) -> bool {
        let kind = if self.content { &mut progress.tokens } else { &mut progress.pings };
        *kind = kind.saturating_add(1);
        let told = &mut self.observed.told_finished;
        if self.content && *told {
            // The answer goes on, so that was no finish reason, and the rest may still break.
            *told = false;
            progress.finished = false;
        }
        if self.finished && !*told {
            *told = true;
            progress.finished = self.observed.facts.believes_finish();
        }
        self.content
    }

    /// Cancels a finish reason after which content came: it was none.
    fn take_back(&mut self) {
        self.finished = false;
        self.observed.facts.finish = None;
    }

    fn note(&mut self, event: &Event<'_>) {
        if event.is_content() {
            self.content = true;
            self.observed.said = true;
            self.observed.facts.content = true;
            self.observed.facts.answered |= !matches!(event, Event::Reasoning(_));
            self.take_back();
        }
        let Observed { facts, calls, .. } = &mut *self.observed;
        let bytes = match event {
            Event::Text(text) | Event::Reasoning(text) => text.len(),
            Event::Refusal(text) => {
                facts.refused = true;
                text.len()
            }
            Event::Call { name, custom, .. } => {
                facts.tool_open = true;
                calls.push(JsonEnd::new(*custom));
                name.len()
            }
            Event::Arguments { call, json } => {
                facts.tool_open = true;
                if let Some(end) = calls.get_mut(*call) {
                    end.feed(json.escaped());
                }
                json.len()
            }
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
        facts.text_bytes = facts.text_bytes.saturating_add(bytes);
    }
}

/// The end of an answer that has gone over its limit; `None`: it has not.
pub(crate) fn over(spec: &AnswerSpec, held: usize, observed: &Observed) -> Option<End> {
    let limit = spec.max_answer;
    (held > limit || observed.has_too_many_calls()).then_some(End::TooLarge { limit })
}
