//! Reads one upstream answer and puts it into the client's dialect.
//!
//! The reader takes the bytes of an attempt and returns what they mean: how many tokens, whether
//! the answer is finished, how it ended. It writes the client's bytes to `out`. It keeps back what
//! belongs to the ending, so that finish reason, usage, stamp and terminator can leave in one
//! write.
//!
//! If both sides speak the same dialect, the payloads pass through. Otherwise they are read into
//! neutral events and written from them.
//!
//! It never decides anything. Others decide whether the bytes in `out` are sent, and what an end
//! means for the ladder.

use crate::common::spots::{Found, Spot, edit};
use crate::endpoint::Endpoint;
use crate::errors::classify;
use crate::neutral::{Answer, Names};
use crate::stream::observer::{Observed, Observer, Sink};
use crate::stream::sse::{Decoder, Event, Item};
use crate::stream::transform::Transform;
use crate::stream::translate::Translate;
use crate::{DONE, table};
use bytes::BytesMut;
use serde::de::IgnoredAny;
use shared::Dialect;

pub use crate::stream::facts::{AnswerSpec, End, Facts, Form, Progress};

/// Reads one answer.
#[derive(Debug)]
pub struct AnswerReader {
    from: Dialect,
    max_event: usize,
    max_answer: usize,
    decoder: Decoder,
    transform: Box<dyn Transform>,
    /// The places of tool names in a payload that passes through; `None`: the transform restores
    /// them.
    names_at: Option<&'static Spot>,
    /// The provider sends errors outside of events.
    speaks_beside: bool,
    spec: AnswerSpec,
    /// The names that the rung got for the client's tools, if payloads pass through.
    names: Names,
    /// The answer as one JSON body, once it has been written.
    whole: Option<Vec<u8>>,
    ended: bool,
}

impl AnswerReader {
    /// A reader for one attempt.
    #[must_use]
    pub fn new(spec: AnswerSpec) -> Self {
        let (provider, client) = (table::spec(spec.from), table::client(spec.to));
        let transform: Box<dyn Transform> = if spec.from == spec.to {
            client.pass_through(spec)
        } else {
            Box::new(Translate::new(spec, provider.reader(&spec), client.writer(&spec)))
        };
        Self {
            from: spec.from,
            max_event: spec.max_event,
            max_answer: spec.max_answer,
            decoder: Decoder::new(spec.max_event),
            transform,
            names_at: client.answer_names().filter(|_| spec.from == spec.to),
            speaks_beside: provider.has_errors_beside_events(),
            spec,
            names: Names::default(),
            whole: None,
            ended: false,
        }
    }

    /// A reader for one attempt at `endpoint`.
    #[must_use]
    pub fn at(endpoint: Endpoint, spec: AnswerSpec) -> Self {
        let own = table::owner(endpoint).filter(|_| endpoint != Endpoint::Answer);
        match own {
            None => Self::new(spec),
            Some(dialect) => {
                let transform = table::client(dialect).pass_through_at(endpoint, spec);
                Self { transform, ..Self::new(spec) }
            }
        }
    }

    /// Restores the client's own names of its tools in the answer.
    #[must_use]
    pub fn restoring(mut self, names: Names) -> Self {
        self.restore(names);
        self
    }

    /// The same as [`Self::restoring`], for a request that was written after its reader was made.
    pub fn restore(&mut self, names: Names) {
        match self.names_at {
            Some(_) => self.names = names,
            None => self.transform.restore(&names),
        }
    }

    /// Reads the bytes that one network read of an event stream gave.
    pub fn read(&mut self, bytes: &[u8], out: &mut BytesMut) -> Progress {
        let mut progress = Progress::default();
        if self.speaks_beside {
            // An error outside of events counts at its place among them, so each line is read
            // alone.
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                self.read_events(line, out, &mut progress);
                if !self.ended {
                    let end = self.transform.beside(line);
                    self.end(end, &mut progress);
                }
            }
        } else {
            self.read_events(bytes, out, &mut progress);
        }
        progress
    }

    fn read_events(&mut self, bytes: &[u8], out: &mut BytesMut, progress: &mut Progress) {
        let mut rest = bytes;
        while !self.ended {
            let Some(item) = self.decoder.next(&mut rest) else { break };
            let end = match item {
                Item::Comment => {
                    progress.pings = progress.pings.saturating_add(1);
                    None
                }
                Item::Event(event) => {
                    let own = own_names(self.names_at, &self.names, event.data);
                    let event = Event { data: own.as_deref().unwrap_or(event.data), ..event };
                    self.transform.event(&event, out, progress)
                }
                Item::TooLarge => Some(End::TooLarge { limit: self.max_event }),
            };
            self.end(end, progress);
        }
    }

    /// Tells the reader that the event stream's body has ended without a transport error.
    pub fn end_of_body(&mut self, out: &mut BytesMut) -> Progress {
        let mut progress = Progress::default();
        if self.ended {
            return progress;
        }
        let end = self.decoder.finish().and_then(|event| {
            if is_whole(&event) {
                let own = own_names(self.names_at, &self.names, event.data);
                let event = Event { data: own.as_deref().unwrap_or(event.data), ..event };
                self.transform.event(&event, out, &mut progress)
            } else {
                self.transform.facts_mut().drop_one();
                None
            }
        });
        let end = end.unwrap_or_else(|| self.transform.end_of_body());
        self.end(Some(end), &mut progress);
        progress
    }

    /// Reads the body of a 200 that is one JSON document.
    pub fn read_whole(&mut self, body: &[u8], out: &mut BytesMut) -> Progress {
        let mut progress = Progress::default();
        if !self.ended {
            let end = if body.len() > self.max_answer {
                End::TooLarge { limit: self.max_answer }
            } else {
                let own = own_names(self.names_at, &self.names, body);
                let before = out.len();
                let end = self.transform.whole(own.as_deref().unwrap_or(body), out, &mut progress);
                if end != End::Proper && self.spec.form == Form::Stream {
                    // Nothing of it was sent: another rung may still answer instead.
                    out.truncate(before);
                    (progress.tokens, progress.finished) = (0, false);
                }
                end
            };
            self.end(Some(end), &mut progress);
        }
        progress
    }

    /// Takes what was kept back for the ending of a stream: finish reason and usage. The stamp goes
    /// after it, and the terminator after that.
    pub fn take_tail(&mut self) -> BytesMut {
        self.transform.take_tail()
    }

    /// Takes what ends the client's stream. Only for the end of an answer that is whole.
    pub fn take_terminator(&mut self) -> BytesMut {
        self.transform.take_terminator()
    }

    /// Writes the answer as one JSON body; [`Self::take_whole`] takes it later.
    pub fn write_whole(&mut self) -> &[u8] {
        self.whole.get_or_insert_with(|| self.transform.take_whole())
    }

    /// Takes the answer as one JSON body.
    pub fn take_whole(&mut self) -> Vec<u8> {
        self.whole.take().unwrap_or_else(|| self.transform.take_whole())
    }

    /// The text of the first choice of an answer that is one JSON body; `None`: the answer has a
    /// tool call or a refusal.
    pub fn text(&mut self) -> Option<String> {
        let spec = AnswerSpec { from: self.spec.to, ..self.spec };
        let whole = String::from_utf8_lossy(self.write_whole());
        let mut answer = Answer::default();
        let mut observed = Observed::default();
        let mut observer = Observer::new(&mut observed, Sink::Whole(&mut answer));
        let _end = table::spec(spec.from).reader(&spec).whole(&whole, &mut observer);
        answer.is_plain_text().then(|| answer.text())
    }

    /// What the reader knows of the request and of the relay's limits.
    #[must_use]
    pub const fn spec(&self) -> &AnswerSpec {
        &self.spec
    }

    /// Whether the client speaks another dialect than the provider.
    #[must_use]
    pub fn translates(&self) -> bool {
        self.spec.from != self.spec.to
    }

    /// What is known so far.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        self.transform.facts()
    }

    /// How many bytes are held: the unfinished event, the ending that is kept back, the whole
    /// answer.
    #[must_use]
    pub fn held(&self) -> usize {
        self.decoder.held().saturating_add(self.transform.held())
    }

    /// How many events were written, if the client's dialect numbers them; else 0.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.transform.sequence()
    }

    fn end(&mut self, end: Option<End>, progress: &mut Progress) {
        let Some(mut end) = end else { return };
        if let End::Error(error) = &mut end {
            // The request is not known here. The caller that has it classifies the error again.
            classify(self.from, &[], None, error, &|_| false);
        }
        self.ended = true;
        progress.end = Some(end);
    }
}

/// The payload with the client's own tool names; `None`: no name has to be changed.
fn own_names(spot: Option<&Spot>, names: &Names, payload: &[u8]) -> Option<Vec<u8>> {
    let spot = spot.filter(|_| !names.is_empty())?;
    let text = String::from_utf8_lossy(payload);
    let own = edit(&text, spot, &mut |found| match found {
        Found::Name(told) => Some(names.own(told)?.name.clone()),
        Found::Id(_) => None,
    });
    own.map(String::into_bytes)
}

/// Whether the data of an event without a blank line after it is complete.
fn is_whole(event: &Event<'_>) -> bool {
    event.name == b"error"
        || event.data.trim_ascii() == DONE
        || serde_json::from_slice::<IgnoredAny>(event.data).is_ok()
}
