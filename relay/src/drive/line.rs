//! One attempt in flight: its upstream call, its reader, and what is held back.

use super::in_force::Rung;
use super::log::AttemptLog;
use super::reading::{News, Reading};
use crate::dialect::answer::AnswerReader;
use crate::dialect::provider_error::ProviderError;
use crate::dialect::schema::Schema;
use crate::live;
use crate::policy::{AttemptId, Break, Ending};
use crate::provider::{Call, Said};
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
    /// `None` once the attempt has ended.
    pub(super) call: Option<Call>,
    pub(super) reader: AnswerReader,
    /// What it said before it was committed.
    pub(super) held: BytesMut,
    /// How much may be held back.
    pub(super) max_held: usize,
    /// Whether the relay added a field to the request on its own.
    pub(super) added: bool,
    pub(super) error: Option<ProviderError>,
    /// What its answer must follow, where the relay checks that.
    pub(super) schema: Option<Arc<Schema>>,
    /// The answer that did not, and why.
    pub(super) wrong: Option<Wrong>,
    /// It came to its proper end and was passed over: the walk may come back to it.
    pub(super) may_answer: bool,
    pub(super) log: AttemptLog,
    /// Its place among those that wait for a first token; `None` once it has ended.
    pub(super) seat: Option<live::Ticket>,
    /// Its first token has been counted.
    pub(super) counted: bool,
}

impl Line {
    /// What the provider says next; its client's bytes go to `out`, or are held back.
    pub(super) fn poll_news(
        &mut self,
        cx: &mut Context<'_>,
        out: Option<&mut BytesMut>,
    ) -> Poll<News> {
        let Some(call) = &mut self.call else { return Poll::Pending };
        let Poll::Ready(said) = call.poll_said(cx) else { return Poll::Pending };
        if let Said::Bytes(bytes) = &said {
            self.log.bytes = self.log.bytes.saturating_add(bytes.len() as u64);
        }
        let committed = out.is_some();
        let sink = out.unwrap_or(&mut self.held);
        let mut reading = Reading {
            reader: &mut self.reader,
            rung: &self.rung,
            added: self.added,
            log: &mut self.log,
            error: &mut self.error,
            schema: self.schema.as_deref(),
            wrong: &mut self.wrong,
        };
        let mut news = reading.read(said, sink);
        if !committed && self.held.len() > self.max_held && news.ended.is_none() {
            self.log.detail = Some(format!("more than {} bytes held back", self.max_held));
            news.ended = Some(Ending::Broken(Break::TooLarge));
        }
        Poll::Ready(news)
    }

    /// Gives back what an attempt that can no longer be the answer still holds.
    pub(super) fn let_go(&mut self) {
        if self.call.is_none() && !self.may_answer {
            self.held = BytesMut::new();
        }
    }
}
