//! What is kept of a rung: the last 30 seconds, its curve, its last good and bad ends.

use super::counts::stream_broke;
use super::counts::{Counts, millis, quantile_ms};
use super::curve::{Curve, PastMinute, STEP};
use super::ring::{Ring, Slot, per_second, rate};
use super::waits::Waits;
use super::{At, Ticket};
use record::AttemptEnd;
use shared::admin::board::{LastFault, RungNow, RungSpark};
use shared::{AttemptOutcome, Cause, TokenVerdict, UnixMillis};

/// A slot of the window in milliseconds, and how many: 30 s.
const SLOT: u64 = 3_000;
const SLOTS: usize = 10;
/// The longest text of a fault, in characters.
const FAULT_CHARS: usize = 160;

/// What an attempt cost, as far as that is known.
pub(super) fn nano(end: &AttemptEnd) -> u64 {
    end.cost.ok().and_then(|cost| u64::try_from(cost.0).ok()).unwrap_or(0)
}

/// What it cost if it lost its race, which is money for nothing.
pub(super) fn lost_nano(end: &AttemptEnd) -> u64 {
    if end.cause == Some(Cause::LostRace) { nano(end) } else { 0 }
}

/// Whether the rung, not the client or a rival, ended it badly.
const fn is_fault(outcome: AttemptOutcome) -> bool {
    use AttemptOutcome as O;
    !matches!(outcome, O::Ok | O::Empty | O::Refused | O::Cancelled | O::Deadline | O::Interrupted)
        && !matches!(outcome, O::BadRequest | O::ContextExceeded | O::Invalid)
}

/// How a rung was lately.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RungNumbers {
    /// The last 30 seconds; its mark and reference are for the board to say.
    pub now: RungNow,
    /// The last 15 minutes.
    pub spark: RungSpark,
    /// The number of the step that runs.
    pub step: u64,
    /// The last proper end.
    pub last_ok_at: Option<UnixMillis>,
    /// The last failure.
    pub last_fault: Option<LastFault>,
}

#[derive(Debug, Default)]
struct Window {
    dialled: u32,
    good: u32,
    slow: u32,
    bad: u32,
    other: u32,
    /// Streams that broke after a first token, which has been counted already.
    broken: u32,
    outcomes: [u32; AttemptOutcome::ALL.len()],
    cost: u64,
    lost: u64,
    counts: Counts,
}

impl Slot for Window {
    fn clear(&mut self) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        *self = Self { counts, ..Self::default() };
    }
}

#[derive(Debug)]
pub(super) struct RungLive {
    window: Ring<Window>,
    curve: Curve,
    waits: Waits,
    last_ok_at: Option<UnixMillis>,
    last_fault: Option<LastFault>,
}

impl Default for RungLive {
    fn default() -> Self {
        Self {
            window: Ring::new(SLOTS, SLOT),
            curve: Curve::default(),
            waits: Waits::default(),
            last_ok_at: None,
            last_fault: None,
        }
    }
}

impl RungLive {
    pub(super) fn dialled(&mut self, now: At) -> Ticket {
        if let Some(slot) = self.window.at(now) {
            slot.dialled += 1;
        }
        self.waits.enter(now)
    }

    pub(super) fn token(&mut self, now: At, ticket: Ticket, ttft: u64, verdict: TokenVerdict) {
        self.waits.token(ticket);
        if let Some(slot) = self.window.at(now) {
            slot.counts.token(ttft);
        }
        if let Some((_, counts)) = self.curve.at(now) {
            counts.token(ttft);
        }
        self.count(now, Some(verdict));
    }

    /// Returns whether it had brought a token: then [`token`](Self::token) was called for it.
    pub(super) fn ended(&mut self, now: At, ticket: Ticket, end: &AttemptEnd) -> bool {
        let waited = self.waits.leave(ticket).map(|since| now.saturating_sub(since));
        let had_token = waited.is_none();
        if let Some(waited) = waited {
            let was_cut =
                matches!(end.outcome, AttemptOutcome::Cancelled | AttemptOutcome::TtftTimeout);
            if was_cut {
                if let Some(slot) = self.window.at(now) {
                    slot.counts.cut(waited);
                }
                if let Some((_, counts)) = self.curve.at(now) {
                    counts.cut(waited);
                }
            }
            self.count(now, end.verdict);
        }
        let broke = had_token && stream_broke(end);
        if let Some(slot) = self.window.at(now) {
            let outcome = AttemptOutcome::ALL.iter().position(|one| *one == end.outcome);
            if let Some(count) = outcome.and_then(|index| slot.outcomes.get_mut(index)) {
                *count += 1;
            }
            slot.broken += u32::from(broke);
            slot.cost = slot.cost.saturating_add(nano(end));
            slot.lost = slot.lost.saturating_add(lost_nano(end));
        }
        if let Some((step, _)) = self.curve.at(now) {
            step.bad += u32::from(broke);
            step.cost = step.cost.saturating_add(nano(end));
        }
        self.remember(end);
        had_token
    }

    pub(super) fn forget(&mut self, ticket: Ticket) {
        self.waits.leave(ticket);
    }

    fn remember(&mut self, end: &AttemptEnd) {
        if end.outcome == AttemptOutcome::Ok {
            self.last_ok_at = Some(end.ended_at());
        } else if is_fault(end.outcome) {
            let text = end.detail.as_ref();
            self.last_fault = Some(LastFault {
                at: end.ended_at(),
                outcome: end.outcome,
                status: end.status,
                code: None,
                text: text.map(|text| text.chars().take(FAULT_CHARS).collect()),
                redacted: false,
            });
        }
    }

    fn count(&mut self, now: At, verdict: Option<TokenVerdict>) {
        if let Some(slot) = self.window.at(now) {
            let count = match verdict {
                Some(TokenVerdict::Good) => &mut slot.good,
                Some(TokenVerdict::Slow) => &mut slot.slow,
                Some(TokenVerdict::Bad) => &mut slot.bad,
                None => &mut slot.other,
            };
            *count += 1;
        }
        if let Some((step, _)) = self.curve.at(now) {
            step.calls += 1;
            step.slow += u32::from(verdict == Some(TokenVerdict::Slow));
            step.bad += u32::from(verdict == Some(TokenVerdict::Bad));
        }
    }

    pub(super) fn recall(&mut self, now: At, minutes: &[PastMinute]) {
        self.curve.recall(now, minutes);
    }

    pub(super) fn seen(&mut self, now: At) -> RungNumbers {
        let steps = self.curve.steps(now);
        let spark = RungSpark {
            step_ms: STEP,
            calls: steps.iter().map(|(step, _)| step.calls).collect(),
            slow: steps.iter().map(|(step, _)| step.slow).collect(),
            bad: steps.iter().map(|(step, _)| step.bad).collect(),
            p95_ms: steps.iter().map(|(_, p95)| *p95).collect(),
        };
        RungNumbers {
            now: self.now(now),
            spark,
            step: self.curve.number(now),
            last_ok_at: self.last_ok_at,
            last_fault: self.last_fault.clone(),
        }
    }

    fn now(&mut self, now: At) -> RungNow {
        let mut sum = Window::default();
        let span = self.window.span(now);
        for slot in self.window.slots(now) {
            sum.dialled += slot.dialled;
            sum.good += slot.good;
            sum.slow += slot.slow;
            sum.bad += slot.bad;
            sum.other += slot.other;
            sum.broken += slot.broken;
            sum.cost = sum.cost.saturating_add(slot.cost);
            sum.lost = sum.lost.saturating_add(slot.lost);
            let outcomes = sum.outcomes.iter_mut().zip(&slot.outcomes);
            outcomes.for_each(|(sum, count)| *sum += count);
            sum.counts.add(&slot.counts);
        }
        let outcomes = AttemptOutcome::ALL.iter().zip(sum.outcomes);
        let occurred = outcomes.filter(|(_, count)| *count > 0);
        let hist = sum.counts.hist();
        let p95 = quantile_ms(&hist, 0.95);
        let at_least = p95.is_none().then(|| hist.at_least().map(millis)).flatten();
        RungNow {
            calls: u64::from(sum.good + sum.slow + sum.bad + sum.other),
            // An attempt counts once: one that broke in mid-stream was good before.
            good: u64::from(sum.good.saturating_sub(sum.broken)),
            slow: u64::from(sum.slow),
            bad: u64::from(sum.bad + sum.broken),
            other: u64::from(sum.other),
            outcomes: occurred.map(|(word, n)| (word.to_string(), u64::from(n))).collect(),
            rps: per_second(u64::from(sum.dialled), span),
            ttft_p50_ms: quantile_ms(&hist, 0.5),
            ttft_p95_ms: p95.or(at_least),
            ttft_at_least: at_least.is_some(),
            hist,
            gap_p95_ms: None,
            waiting: self.waits.waiting(),
            oldest_wait_ms: self.waits.oldest(now),
            streaming: self.waits.streaming(),
            cost_nps: rate(sum.cost, span),
            lost_nps: rate(sum.lost, span),
            mark_ms: None,
            ref_p95_ms: None,
            ref_n: None,
        }
    }
}
