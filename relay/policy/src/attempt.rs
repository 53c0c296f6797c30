//! One upstream call, as the walk sees it.

use crate::breaker::Ticket;
use crate::index::{AttemptId, RungIndex};
use crate::input::Answer;
use crate::ladder::RungSpec;
use crate::time::Time;
use shared::{AttemptKind, AttemptOutcome, Cause};
use std::sync::Arc;
use std::time::Duration;

/// How an attempt ended, with the details.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) outcome: AttemptOutcome,
    pub(crate) cause: Option<Cause>,
    /// The wait that the provider asked for.
    pub(crate) retry_after: Option<Duration>,
    /// The clock that ran out.
    pub(crate) clock: Option<Duration>,
    /// The refusal may be about the request instead of our account.
    pub(crate) suspected: bool,
    /// The ending is no evidence about the rung.
    pub(crate) excused: bool,
}

impl From<AttemptOutcome> for End {
    fn from(outcome: AttemptOutcome) -> Self {
        Self {
            outcome,
            cause: None,
            retry_after: None,
            clock: None,
            suspected: false,
            excused: false,
        }
    }
}

impl End {
    pub(crate) fn cancelled(cause: Cause) -> Self {
        Self { cause: Some(cause), ..AttemptOutcome::Cancelled.into() }
    }
}

/// One upstream call's progress.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) id: AttemptId,
    pub(crate) rung: RungIndex,
    /// Its rung's limits when it was dialled: a reload does not change them.
    pub(crate) spec: Arc<RungSpec>,
    pub(crate) kind: AttemptKind,
    /// Its reports to the breaker carry this ticket.
    pub(crate) ticket: Ticket,
    /// The mark passed while it was silent.
    pub(crate) slow: bool,
    /// Whether the quiet stream was reported to its rung.
    pub(crate) quiet: bool,
    /// The soft clock passed, but no other rung was usable, or the budget had no token.
    pub(crate) soft_waived: bool,
    /// Its rung has opened, but no other rung was usable: checked again at this time.
    pub(crate) look_again: Option<Time>,
    /// When it was dialled, plus the time for which the relay was blocked since then.
    pub(crate) dialled: Time,
    /// Whether its call has gone out; until then no clock of it runs.
    pub(crate) sent: bool,
    /// The relay was blocked while it ran.
    pub(crate) stood_still: bool,
    /// Sent without the relay's own fields.
    pub(crate) plain: bool,
    /// Repeated without the relay's own fields: its error was not about the request.
    pub(crate) repeated: bool,
    /// Repeated on a new connection, because its reused connection was dead.
    pub(crate) stale: bool,
    /// Another rung may accept what was refused: the relay's translation of the request, or a
    /// feature that only this rung lacks.
    pub(crate) elsewhere: bool,
    /// Its refusal may be about the request instead of our account.
    pub(crate) suspected: bool,
    pub(crate) first_token: Option<Time>,
    /// The last content, for the second clock; shifted while the client does not read.
    pub(crate) last_sign_of_life: Time,
    /// When the finish reason came, and what the answer consisted of.
    pub(crate) finished: Option<(Time, Answer)>,
    /// The first clock does not cut it before this time, because no other rung is usable.
    pub(crate) ttft_waived: Option<Time>,
    /// The provider's status, where it was not 200.
    pub(crate) status: Option<u16>,
    pub(crate) outcome: Option<AttemptOutcome>,
}

impl Attempt {
    pub(crate) fn new(
        id: AttemptId,
        rung: RungIndex,
        spec: Arc<RungSpec>,
        kind: AttemptKind,
        ticket: Ticket,
        dialled: Time,
        plain: bool,
    ) -> Self {
        Self {
            id,
            rung,
            spec,
            kind,
            ticket,
            slow: false,
            quiet: false,
            soft_waived: false,
            look_again: None,
            dialled,
            sent: true,
            stood_still: false,
            plain,
            first_token: None,
            last_sign_of_life: dialled,
            finished: None,
            ttft_waived: None,
            repeated: false,
            stale: false,
            elsewhere: false,
            suspected: false,
            status: None,
            outcome: None,
        }
    }

    /// Content came. It cancels a finish reason that came before: the clocks run again.
    pub(crate) const fn note_content(&mut self, now: Time) {
        self.last_sign_of_life = now;
        self.finished = None;
    }

    /// The relay was blocked for `span` until `until`: no clock of this attempt ran meanwhile.
    pub(crate) fn skip(&mut self, span: Duration, until: Time) {
        let later = |at: Time| if at < until { at.plus(span).min(until) } else { at };
        self.stood_still |= self.dialled < until;
        self.dialled = later(self.dialled);
        self.last_sign_of_life = later(self.last_sign_of_life);
    }

    pub(crate) const fn in_flight(&self) -> bool {
        self.outcome.is_none()
    }
}
