//! A request on its way to a rung: put into the rung's words, at once where it is small, else
//! on the work pool, and then sent.
//!
//! While it is composed on the work pool nothing has been sent, and no clock of the attempt runs: the
//! walk knows such requests ([`Need::sent_later`]), and gets an input when the call goes out.
//!
//! [`Need::sent_later`]: policy::Need::sent_later

use super::checking::Wrong;
use super::in_force::{Ladder, Rung};
use super::work_pool::{SMALL, WorkPool};
use crate::provider::{Ask, Call};
use dialect::neutral::{Again, Degrade, Names, Target, Unsupported, Upstream};
use dialect::request::{ClientRequest, Endpoint};
use http::HeaderMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// What is composed, and for which rung.
pub(super) struct Composition {
    pub(super) request: Arc<ClientRequest>,
    pub(super) ladder: Arc<Ladder>,
    pub(super) rung: Arc<Rung>,
    /// The variant of the ladder's system prompt.
    pub(super) prompt: Option<usize>,
    pub(super) ask_usage: bool,
    pub(super) degrade: Degrade,
    /// An answer of the rung's that did not follow its schema.
    pub(super) again: Option<Arc<Wrong>>,
}

/// How it is sent.
pub(super) struct Manner {
    /// What is called.
    pub(super) endpoint: Endpoint,
    /// Headers of the client's that go along.
    pub(super) along: HeaderMap,
    /// The most bytes that an answer in one body may have.
    pub(super) max_answer: usize,
    /// On a connection of its own and never again.
    pub(super) once: bool,
    /// What is made less of, in words for the journal.
    pub(super) degraded: Vec<&'static str>,
}

/// Whether a request of this size is composed on the work pool.
pub(super) const fn is_large(size: usize) -> bool {
    size >= SMALL
}

impl Composition {
    fn compose(&self) -> Result<Upstream, Unsupported> {
        let prompts = &self.ladder.prompts;
        let again = self.again.as_ref();
        let target = Target {
            model: &self.rung.model,
            max_output: self.rung.spec.max_output,
            ask_usage: self.ask_usage,
            system: self.prompt.and_then(|prompt| prompts.get(prompt)?.text(self.rung.index)),
            degrade: self.degrade,
            again: again.map(|wrong| Again { answer: &wrong.answer, problem: &wrong.problem }),
        };
        self.request.upstream(self.rung.provider.dialect(), &target)
    }

    /// Begins to compose it.
    pub(super) fn start(self, manner: Manner) -> Composing {
        let again = self.again.as_ref().map_or(0, |wrong| wrong.answer.len());
        let size = self.request.size().saturating_add(again);
        let state = if is_large(size) {
            State::OnPool(WorkPool::Bulk.run(size, move || self.compose()))
        } else {
            State::Done(Some(self.compose()))
        };
        Composing { state, manner }
    }
}

enum State {
    Done(Option<Result<Upstream, Unsupported>>),
    OnPool(oneshot::Receiver<Result<Upstream, Unsupported>>),
}

/// A request that is being composed.
pub(super) struct Composing {
    state: State,
    manner: Manner,
}

/// Without the request.
impl std::fmt::Debug for Composing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Composing").finish_non_exhaustive()
    }
}

impl Composing {
    /// Whether it takes time in which others run.
    pub(super) const fn is_large(&self) -> bool {
        matches!(self.state, State::OnPool(_))
    }

    /// The call, what was left out for the rung, and the rung's names of the tools; once.
    pub(super) fn poll_call(
        &mut self,
        cx: &mut Context<'_>,
        rung: &Rung,
    ) -> Poll<(Call, Vec<&'static str>, Names)> {
        let composed = match &mut self.state {
            State::Done(done) => done.take(),
            State::OnPool(told) => match Pin::new(told).poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(told) => told.ok(),
            },
        };
        let manner = &mut self.manner;
        Poll::Ready(match composed {
            Some(Ok(upstream)) => {
                let ask = Ask {
                    endpoint: manner.endpoint,
                    model: &rung.model,
                    body: upstream.body.into(),
                    along: &manner.along,
                    max_answer: manner.max_answer,
                    once: manner.once,
                };
                let mut left_out = std::mem::take(&mut manner.degraded);
                left_out.extend(upstream.left_out);
                (rung.provider.call(ask), left_out, upstream.names)
            }
            // The plan leaves out rungs for which the request cannot be written: this should not happen.
            Some(Err(unable)) => (Call::unable(&unable.field), Vec::new(), Names::default()),
            None => {
                let call = Call::own_fault("the relay failed to compose the request");
                (call, Vec::new(), Names::default())
            }
        })
    }
}
