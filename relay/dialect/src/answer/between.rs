//! An answer on its way from one dialect to another.

use super::hearing::{Hearing, Listening, Reader, Sink, Writer, over};
use super::restoring::Restoring;
use super::{AnswerSpec, End, Facts, Form, Heard, Telling};
use crate::neutral::{Answer, Names};
use crate::sse::Event;
use bytes::BytesMut;

/// Reads one dialect and writes another.
#[derive(Debug)]
pub(super) struct Between {
    spec: AnswerSpec,
    reader: Box<dyn Reader>,
    writer: Box<dyn Writer>,
    answer: Answer,
    listening: Listening,
}

impl Between {
    pub(super) fn new(spec: AnswerSpec) -> Self {
        Self {
            spec,
            reader: super::reader(&spec),
            writer: super::writer(&spec),
            answer: Answer::default(),
            listening: Listening::default(),
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
        let mut hearing = Hearing::new(&mut self.listening, sink);
        let end = read(&mut *self.reader, &mut hearing);
        hearing.close(heard);
        if self.writer.is_broken() {
            return Some(End::Broken("arguments of a tool call that had ended"));
        }
        let end = end.map(|end| self.listening.judged(end, true));
        end.or_else(|| over(&self.spec, self.held(), &self.listening))
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
        let end = self.reader.end_of_body(&self.listening.facts);
        self.listening.judged(end, true)
    }

    fn take_tail(&mut self) -> BytesMut {
        let mut tail = BytesMut::new();
        self.writer.tail(&self.listening.facts, &mut tail);
        tail
    }

    fn take_terminator(&mut self) -> BytesMut {
        let mut terminator = BytesMut::new();
        self.writer.terminator(&self.listening.facts, &mut terminator);
        terminator
    }

    fn take_whole(&mut self) -> Vec<u8> {
        let answer = std::mem::take(&mut self.answer);
        self.writer.whole(&answer, &self.listening.facts)
    }

    fn facts(&self) -> &Facts {
        &self.listening.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.listening.facts
    }

    fn restore(&mut self, names: &Names) {
        self.listening.restoring = Restoring::new(names.clone());
    }

    fn held(&self) -> usize {
        let answer = self.answer.held().saturating_add(self.writer.held());
        let restoring = self.listening.restoring.held();
        answer.saturating_add(self.reader.held()).saturating_add(restoring)
    }

    fn sequence(&self) -> u64 {
        self.writer.sequence()
    }
}
