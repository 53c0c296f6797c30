//! One attempt in flight: its upstream call, its reader, and what is held back.

use super::checking::Checking;
use super::composing::Composing;
use super::held::Held;
use super::in_force::Rung;
use super::log::AttemptLog;
use super::reading::{News, Reading};
use crate::dialect::answer::AnswerReader;
use crate::dialect::provider_error::ProviderError;
use crate::dialect::schema::{Checked, Schema};
use crate::live;
use crate::policy::{Answer, AttemptId, Break, Ending, NoHead};
use crate::provider::{Call, Said};
use crate::wall;
use bytes::BytesMut;
use std::sync::Arc;
use std::task::{Context, Poll};

/// An answer that does not follow its schema. For the model's ears alone.
pub(super) struct Wrong {
    pub(super) answer: String,
    pub(super) problem: String,
}

impl std::fmt::Debug for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrong").finish_non_exhaustive()
    }
}

/// One attempt, from its dial to the end of the request.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) id: AttemptId,
    pub(super) rung: Arc<Rung>,
    /// What is to be sent, until it is.
    pub(super) composing: Option<Composing>,
    /// `None` before it is sent, and once the attempt has ended.
    pub(super) call: Option<Call>,
    pub(super) reader: AnswerReader,
    /// What it said before it was committed.
    pub(super) held: BytesMut,
    /// How much may be held back.
    pub(super) max_held: usize,
    /// Counts what has come and was not passed on.
    pub(super) counted_held: Held,
    /// How much all requests together may hold.
    pub(super) most_held: usize,
    /// Whether the relay added a field to the request on its own.
    pub(super) added: bool,
    pub(super) error: Option<ProviderError>,
    /// What its answer must follow, where the relay checks that.
    pub(super) schema: Option<Arc<Schema>>,
    /// The check that goes on.
    pub(super) checking: Option<(Checking, Answer)>,
    /// The answer that did not, and why.
    pub(super) wrong: Option<Arc<Wrong>>,
    /// It came to its proper end and was passed over: the walk may come back to it.
    pub(super) may_answer: bool,
    pub(super) log: AttemptLog,
    /// Its place among those that wait for a first token; `None` once it has ended.
    pub(super) seat: Option<live::Ticket>,
    /// Its first token has been counted.
    pub(super) counted: bool,
}

impl Line {
    /// What the provider says next; its client's bytes go to `out`, or are held back. `quotes`
    /// tells whether given words stand in the request; asked only of a provider's error.
    pub(super) fn poll_news(
        &mut self,
        cx: &mut Context<'_>,
        out: Option<&mut BytesMut>,
        quotes: &dyn Fn(&str) -> bool,
    ) -> Poll<News> {
        if self.checking.is_some() {
            return self.poll_checked(cx);
        }
        if let Some(composing) = &mut self.composing {
            let Poll::Ready((call, left_out, names)) = composing.poll_call(cx, &self.rung) else {
                return Poll::Pending;
            };
            let was_aside = composing.is_aside();
            self.reader.restore(names);
            (self.composing, self.call, self.log.left_out) = (None, Some(call), left_out);
            if was_aside {
                self.log.dialled = wall::now();
                return Poll::Ready(News { sent: true, ..News::default() });
            }
        }
        let Some(call) = &mut self.call else { return Poll::Pending };
        let Poll::Ready(said) = call.poll_said(cx) else { return Poll::Pending };
        let committed = out.is_some();
        if let Said::Bytes(bytes) | Said::Whole(bytes) = &said {
            self.log.bytes = self.log.bytes.saturating_add(bytes.len() as u64);
            if !committed && !self.counted_held.grow(bytes.len(), self.most_held) {
                return Poll::Ready(self.no_room());
            }
        }
        let sink = out.unwrap_or(&mut self.held);
        let mut reading = Reading {
            reader: &mut self.reader,
            rung: &self.rung,
            added: self.added,
            log: &mut self.log,
            error: &mut self.error,
            quotes,
        };
        let mut news = reading.read(said, sink);
        if !committed && self.held.len() > self.max_held && news.ended.is_none() {
            self.log.detail = Some(format!("more than {} bytes held back", self.max_held));
            news.ended = Some(Ending::Broken(Break::TooLarge));
        }
        if let Some(Ending::Proper(answer)) = news.ended
            && let Some(checking) = self.check()
        {
            // What it found is told by the next news.
            self.checking = Some((checking, answer));
            news.ended = None;
        }
        Poll::Ready(news)
    }

    /// All requests together hold as much as they may: that is no fault of the provider's.
    fn no_room(&mut self) -> News {
        self.log.detail = Some("server.max_in_flight_bytes are in flight already".to_owned());
        News { ended: Some(Ending::NoHead(NoHead::OwnFault)), ..News::default() }
    }

    /// Begins to check the whole answer, where the relay checks this one's.
    fn check(&mut self) -> Option<Checking> {
        let (schema, facts) = (self.schema.as_ref()?, self.reader.facts());
        if facts.refused || facts.length {
            return None;
        }
        Some(Checking::start(schema, self.reader.text()?))
    }

    fn poll_checked(&mut self, cx: &mut Context<'_>) -> Poll<News> {
        let Some((checking, _)) = &mut self.checking else { return Poll::Pending };
        let Poll::Ready((checked, text)) = checking.poll(cx) else { return Poll::Pending };
        let Some((_, mut answer)) = self.checking.take() else { return Poll::Pending };
        match checked {
            Checked::Fine => {}
            Checked::Wrong(problem) => {
                self.log.detail = Some("the answer does not follow its JSON schema".to_owned());
                self.wrong = Some(Arc::new(Wrong { answer: text, problem }));
                answer.invalid = true;
            }
            Checked::TooMuchWork => {
                self.log.detail =
                    Some("not checked against its JSON schema: too much work".to_owned());
            }
        }
        Poll::Ready(News { ended: Some(Ending::Proper(answer)), ..News::default() })
    }

    /// Gives back what an attempt that can no longer be the answer still holds.
    pub(super) fn let_go(&mut self) {
        if self.composing.is_none() && self.call.is_none() && !self.may_answer {
            self.held = BytesMut::new();
            self.counted_held.let_go();
        }
    }
}
