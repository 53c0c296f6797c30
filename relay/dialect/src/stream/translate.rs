//! Translates an answer from one dialect into another.

use crate::neutral::{Answer, Names};
use crate::stream::facts::{AnswerSpec, End, Facts, Form, Progress};
use crate::stream::observer::{Observed, Observer, Reader, Sink, Writer, over};
use crate::stream::restoring::Restoring;
use crate::stream::sse::Event;
use crate::stream::transform::Transform;
use bytes::BytesMut;

/// Reads one dialect and writes another.
#[derive(Debug)]
pub(crate) struct Translate {
    spec: AnswerSpec,
    reader: Box<dyn Reader>,
    writer: Box<dyn Writer>,
    answer: Answer,
    observed: Observed,
}

impl Translate {
    pub(crate) fn new(spec: AnswerSpec, reader: Box<dyn Reader>, writer: Box<dyn Writer>) -> Self {
        Self { spec, reader, writer, answer: Answer::default(), observed: Observed::default() }
    }

    fn observe(
        &mut self,
        out: &mut BytesMut,
        progress: &mut Progress,
        read: impl FnOnce(&mut dyn Reader, &mut Observer<'_>) -> Option<End>,
    ) -> Option<End> {
        let sink = match self.spec.form {
            Form::Stream => Sink::Stream(&mut *self.writer, out),
            Form::Whole => Sink::Whole(&mut self.answer),
        };
        let mut observer = Observer::new(&mut self.observed, sink);
        let end = read(&mut *self.reader, &mut observer);
        observer.close(progress);
        if self.writer.is_broken() {
            return Some(End::Broken("arguments of a tool call that had ended"));
        }
        let end = end.map(|end| self.observed.judged(end, true));
        end.or_else(|| over(&self.spec, self.held(), &self.observed))
    }
}

impl Transform for Translate {
    fn event(
        &mut self,
        event: &Event<'_>,
        out: &mut BytesMut,
        progress: &mut Progress,
    ) -> Option<End> {
        progress.events = progress.events.saturating_add(1);
        self.observe(out, progress, |reader, observer| reader.event(event, observer))
    }

    fn whole(&mut self, body: &[u8], out: &mut BytesMut, progress: &mut Progress) -> End {
        let text = String::from_utf8_lossy(body);
        progress.events = 1;
        let end =
            self.observe(out, progress, |reader, observer| Some(reader.whole(&text, observer)));
        end.unwrap_or(End::Proper)
    }

    fn beside(&mut self, bytes: &[u8]) -> Option<End> {
        self.reader.beside(bytes)
    }

    fn end_of_body(&mut self) -> End {
        let end = self.reader.end_of_body(&self.observed.facts);
        self.observed.judged(end, true)
    }

    fn take_tail(&mut self) -> BytesMut {
        let mut tail = BytesMut::new();
        self.writer.tail(&self.observed.facts, &mut tail);
        tail
    }

    fn take_terminator(&mut self) -> BytesMut {
        let mut terminator = BytesMut::new();
        self.writer.terminator(&self.observed.facts, &mut terminator);
        terminator
    }

    fn take_whole(&mut self) -> Vec<u8> {
        let answer = std::mem::take(&mut self.answer);
        self.writer.whole(&answer, &self.observed.facts)
    }

    fn facts(&self) -> &Facts {
        &self.observed.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.observed.facts
    }

    fn restore(&mut self, names: &Names) {
        self.observed.restoring = Restoring::new(names.clone());
    }

    fn held(&self) -> usize {
        let answer = self.answer.held().saturating_add(self.writer.held());
        let restoring = self.observed.restoring.held();
        answer.saturating_add(self.reader.held()).saturating_add(restoring)
    }

    fn sequence(&self) -> u64 {
        self.writer.sequence()
    }
}
