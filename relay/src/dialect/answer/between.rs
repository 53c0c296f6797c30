//! An answer on its way from one dialect to another.

use super::hearing::{Hearing, Reader, Sink, Writer, over};
use super::{AnswerSpec, End, Facts, Form, Heard, Telling};
use crate::dialect::neutral::Answer;
use crate::dialect::sse::Event;
use bytes::BytesMut;

/// Reads one dialect and writes another.
#[derive(Debug)]
pub(super) struct Between {
    spec: AnswerSpec,
    reader: Box<dyn Reader>,
    writer: Box<dyn Writer>,
    answer: Answer,
    facts: Facts,
    told_finished: bool,
}

impl Between {
    pub(super) fn new(spec: AnswerSpec) -> Self {
        Self {
            spec,
            reader: super::reader(&spec),
            writer: super::writer(&spec),
            answer: Answer::default(),
            facts: Facts::default(),
            told_finished: false,
        }
    }

    fn hear(
        &mut self,
        out: &mut BytesMut,
        heard: &mut Heard,
        read: impl FnOnce(&mut dyn Reader, &mut Hearing<'_>) -> Option<End>,
    ) -> Option<End> {
        let sink = match self.spec.form {
            Form::Stream => Sink::Stream(&mut *self.writer, out),
            Form::Whole => Sink::Whole(&mut self.answer),
        };
        let mut hearing = Hearing::new(&mut self.facts, sink);
        let end = read(&mut *self.reader, &mut hearing);
        hearing.close(&mut self.told_finished, heard);
        end.or_else(|| over(&self.spec, self.held()))
    }
}

impl Telling for Between {
    fn event(&mut self, event: &Event<'_>, out: &mut BytesMut, heard: &mut Heard) -> Option<End> {
        heard.events = heard.events.saturating_add(1);
        self.hear(out, heard, |reader, hearing| reader.event(event, hearing))
    }

    fn whole(&mut self, body: &[u8], out: &mut BytesMut, heard: &mut Heard) -> End {
        let text = String::from_utf8_lossy(body);
        heard.events = 1;
        let end = self.hear(out, heard, |reader, hearing| Some(reader.whole(&text, hearing)));
        end.unwrap_or(End::Proper)
    }

    fn beside(&mut self, bytes: &[u8]) -> Option<End> {
        self.reader.beside(bytes)
    }

    fn end_of_body(&mut self) -> End {
        self.reader.end_of_body(&self.facts)
    }

    fn take_tail(&mut self) -> BytesMut {
        let mut tail = BytesMut::new();
        self.writer.tail(&self.facts, &mut tail);
        tail
    }

    fn take_terminator(&mut self) -> BytesMut {
        let mut terminator = BytesMut::new();
        self.writer.terminator(&self.facts, &mut terminator);
        terminator
    }

    fn take_whole(&mut self) -> Vec<u8> {
        let answer = std::mem::take(&mut self.answer);
        self.writer.whole(&answer, &self.facts)
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    fn held(&self) -> usize {
        self.answer.held().saturating_add(self.writer.held())
    }

    fn sequence(&self) -> u64 {
        self.writer.sequence()
    }
}
