//! What is kept of a ladder: its users' last 60 seconds, who carried them, its curve.

use super::counts::stream_broke;
use super::counts::{Counts, quantile_ms};
use super::curve::{Curve, PastMinute, STEP};
use super::minute::{OfLadder, Running, StepMinute};
use super::ring::{Ring, Slot, per_second, rate};
use super::rung::{lost_nano, nano};
use super::waits::Waits;
use super::{At, Ticket};
use record::{AttemptEnd, RequestEnd, millis};
use shared::admin::board::{LadderSpark, Users};
use shared::{AttemptKind, AttemptOutcome, Cause, PassedOver, RequestOutcome, TokenVerdict};
use std::collections::BTreeMap;

/// A slot of the window in milliseconds, and how many: 60 s.
const SLOT: u64 = 3_000;
const SLOTS: usize = 20;

/// How a ladder was lately.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LadderNumbers {
    /// What its users had.
    pub users: Users,
    /// The last 15 minutes.
    pub spark: LadderSpark,
    /// The number of the step that runs.
    pub step: u64,
    /// What each of its rungs did, by the rung's number.
    pub steps: Vec<(usize, StepNumbers)>,
    /// The share of requests that had a hedge.
    pub hedge_share: Option<f64>,
    /// The share of hedged requests whose hedge won.
    pub hedge_win_share: Option<f64>,
    /// How often the hedge and the retry budget were empty.
    pub refused: (u64, u64),
}

/// What one rung did for one ladder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepNumbers {
    /// The share of answers that it gave.
    pub share: Option<f64>,
    /// The share of requests that it was called for first.
    pub first_share: Option<f64>,
    /// What its attempts cost.
    pub cost_nps: u64,
    /// Requests that passed it over, by reason.
    pub passed: BTreeMap<PassedOver, u64>,
}

#[derive(Debug, Default)]
struct Window {
    ended: u32,
    ok: u32,
    failed: u32,
    broken: u32,
    late: u32,
    gone: u32,
    rescued: u32,
    last_resort: u32,
    hedged: u32,
    hedge_won: u32,
    refused: (u64, u64),
    cost: u64,
    counts: Counts,
}

impl Slot for Window {
    fn clear(&mut self) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        *self = Self { counts, ..Self::default() };
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct StepWindow {
    answered: u32,
    first: u32,
    cost: u64,
    passed: [u32; PassedOver::ALL.len()],
}

impl Slot for StepWindow {
    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[derive(Debug)]
struct StepLive {
    rung: usize,
    window: Ring<StepWindow>,
    minute: Running,
}

#[derive(Debug)]
pub(super) struct LadderLive {
    window: Ring<Window>,
    curve: Curve,
    waits: Waits,
    steps: Vec<StepLive>,
    minute: Running,
    late_ms: Option<u64>,
    /// What the budgets had refused when that was last read.
    refused: Option<(u64, u64)>,
}

impl Default for LadderLive {
    fn default() -> Self {
        Self {
            window: Ring::new(SLOTS, SLOT),
            curve: Curve::default(),
            waits: Waits::default(),
            steps: Vec::new(),
            minute: Running::default(),
            late_ms: None,
            refused: None,
        }
    }
}

impl LadderLive {
    /// It has these rungs, among others that it may have had.
    pub(super) fn learn(&mut self, rungs: &[usize]) {
        for &rung in rungs {
            if self.step(rung).is_none() {
                let window = Ring::new(SLOTS, SLOT);
                self.steps.push(StepLive { rung, window, minute: Running::default() });
            }
        }
    }

    fn step(&mut self, rung: usize) -> Option<&mut StepLive> {
        self.steps.iter_mut().find(|step| step.rung == rung)
    }

    pub(super) fn began(&mut self, now: At) -> Ticket {
        self.waits.enter(now)
    }

    pub(super) fn committed(&mut self, ticket: Ticket) {
        self.waits.token(ticket);
    }

    pub(super) const fn waiting(&self) -> u64 {
        self.waits.waiting()
    }

    pub(super) fn forget(&mut self, ticket: Ticket) {
        self.waits.leave(ticket);
    }

    pub(super) fn first(&mut self, now: At, rung: usize) {
        let Some(step) = self.step(rung) else { return };
        step.minute.step.first += 1;
        if let Some(slot) = step.window.at(now) {
            slot.first += 1;
        }
    }

    pub(super) fn token(&mut self, rung: usize, ttft: u64, verdict: TokenVerdict) {
        if let Some(step) = self.step(rung) {
            step.minute.counts.token(ttft);
            count(&mut step.minute.step, Some(verdict));
        }
    }

    pub(super) fn attempt(&mut self, now: At, end: &AttemptEnd, had_token: bool) {
        let cost = nano(end);
        let tokens = (end.usage.input.unwrap_or(0), end.usage.output.unwrap_or(0));
        if let Some(step) = self.step(end.start.place) {
            let outcome = AttemptOutcome::ALL.iter().position(|one| *one == end.outcome);
            if let Some(count) = outcome.and_then(|index| step.minute.attempts.get_mut(index)) {
                *count += 1;
            }
            let minute = &mut step.minute.step;
            if had_token {
                minute.bad += u64::from(stream_broke(end));
            } else {
                count(minute, end.verdict);
            }
            minute.input_tokens = minute.input_tokens.saturating_add(tokens.0);
            minute.output_tokens = minute.output_tokens.saturating_add(tokens.1);
            minute.cost = minute.cost.saturating_add(cost);
            minute.lost = minute.lost.saturating_add(lost_nano(end));
            if let Some(slot) = step.window.at(now) {
                slot.cost = slot.cost.saturating_add(cost);
            }
        }
        let minute = &mut self.minute.ladder;
        minute.input_tokens = minute.input_tokens.saturating_add(tokens.0);
        minute.output_tokens = minute.output_tokens.saturating_add(tokens.1);
        minute.cost = minute.cost.saturating_add(cost);
        if let Some(slot) = self.window.at(now) {
            slot.cost = slot.cost.saturating_add(cost);
        }
        if let Some((step, _)) = self.curve.at(now) {
            step.cost = step.cost.saturating_add(cost);
        }
    }

    pub(super) fn ended(&mut self, now: At, ticket: Ticket, end: &RequestEnd) {
        self.waits.leave(ticket);
        let fate = Fate::of(end, self.late_ms);
        self.count_request(now, end, &fate);
        let minute = &mut self.minute;
        let outcome = RequestOutcome::ALL.iter().position(|one| *one == end.outcome);
        if let Some(count) = outcome.and_then(|index| minute.requests.get_mut(index)) {
            *count += 1;
        }
        minute.ladder.ok += u64::from(fate.ok);
        minute.ladder.failed += u64::from(fate.failed);
        minute.ladder.broken += u64::from(fate.broken);
        minute.ladder.late += u64::from(fate.late);
        minute.ladder.gone += u64::from(fate.gone);
        minute.ladder.rescued += u64::from(fate.rescued);
        minute.ladder.last_resort += u64::from(fate.last_resort);
        fate.time(end, &mut minute.counts);
        if let Some(step) = end.answer().and_then(|attempt| self.step(attempt.start.place)) {
            step.minute.step.answered += 1;
            if let Some(slot) = step.window.at(now) {
                slot.answered += 1;
            }
        }
        for passed in &end.passed_over {
            let Some(index) = PassedOver::ALL.iter().position(|one| *one == passed.reason) else {
                continue;
            };
            let Some(step) = self.step(passed.place) else { continue };
            if let Some(count) = step.minute.passed.get_mut(index) {
                *count += 1;
            }
            if let Some(count) = step.window.at(now).and_then(|slot| slot.passed.get_mut(index)) {
                *count += 1;
            }
        }
    }

    fn count_request(&mut self, now: At, end: &RequestEnd, fate: &Fate) {
        if let Some(slot) = self.window.at(now) {
            slot.ended += 1;
            slot.ok += u32::from(fate.ok);
            slot.failed += u32::from(fate.failed);
            slot.broken += u32::from(fate.broken);
            slot.late += u32::from(fate.late);
            slot.gone += u32::from(fate.gone);
            slot.rescued += u32::from(fate.rescued);
            slot.last_resort += u32::from(fate.last_resort);
            slot.hedged += u32::from(end.hedged);
            slot.hedge_won += u32::from(fate.hedge_won);
            fate.time(end, &mut slot.counts);
        }
        if let Some((step, counts)) = self.curve.at(now) {
            step.calls += 1;
            step.bad += u32::from(fate.failed || fate.broken);
            fate.time(end, counts);
        }
    }

    pub(super) fn standing(&mut self, now: At, late_ms: Option<u64>, refused: (u64, u64)) {
        self.late_ms = late_ms;
        let before = self.refused.replace(refused).unwrap_or(refused);
        if let Some(slot) = self.window.at(now) {
            slot.refused.0 += refused.0.saturating_sub(before.0);
            slot.refused.1 += refused.1.saturating_sub(before.1);
        }
    }

    pub(super) fn recall(&mut self, now: At, minutes: &[PastMinute]) {
        self.curve.recall(now, minutes);
    }

    pub(super) fn seen(&mut self, now: At) -> LadderNumbers {
        let mut sum = Window::default();
        let span = self.window.span(now);
        for slot in self.window.slots(now) {
            sum.ended += slot.ended;
            sum.ok += slot.ok;
            sum.failed += slot.failed;
            sum.broken += slot.broken;
            sum.late += slot.late;
            sum.gone += slot.gone;
            sum.rescued += slot.rescued;
            sum.last_resort += slot.last_resort;
            sum.hedged += slot.hedged;
            sum.hedge_won += slot.hedge_won;
            sum.refused.0 += slot.refused.0;
            sum.refused.1 += slot.refused.1;
            sum.cost = sum.cost.saturating_add(slot.cost);
            sum.counts.add(&slot.counts);
        }
        LadderNumbers {
            users: self.users(now, &sum, span),
            spark: self.spark(now),
            step: self.curve.number(now),
            steps: self.step_numbers(now, span),
            hedge_share: share(sum.hedged, sum.ended),
            hedge_win_share: share(sum.hedge_won, sum.hedged),
            refused: sum.refused,
        }
    }

    fn users(&self, now: At, sum: &Window, span: u64) -> Users {
        let hist = sum.counts.hist();
        Users {
            rps: per_second(u64::from(sum.ended), span),
            ok: u64::from(sum.ok),
            failed: u64::from(sum.failed),
            broken: u64::from(sum.broken),
            late: u64::from(sum.late),
            late_ms: self.late_ms,
            gone: u64::from(sum.gone),
            rescued: u64::from(sum.rescued),
            last_resort: u64::from(sum.last_resort),
            ttft_p50_ms: quantile_ms(&hist, 0.5),
            ttft_p95_ms: quantile_ms(&hist, 0.95),
            hist,
            waiting: self.waits.waiting(),
            oldest_wait_ms: self.waits.oldest(now),
            streaming: self.waits.streaming(),
            cost_nps: rate(sum.cost, span),
        }
    }

    fn spark(&mut self, now: At) -> LadderSpark {
        let steps = self.curve.steps(now);
        let last = steps.len().saturating_sub(1);
        // The step that runs is as long as it has run.
        let length = |index: usize| if index == last { (now % STEP).max(1) } else { STEP };
        let each = || steps.iter().enumerate();
        LadderSpark {
            step_ms: STEP,
            rps: each().map(|(i, (s, _))| per_second(u64::from(s.calls), length(i))).collect(),
            failed: steps.iter().map(|(step, _)| step.bad).collect(),
            p95_ms: steps.iter().map(|(_, p95)| *p95).collect(),
            cost_nps: each().map(|(i, (step, _))| rate(step.cost, length(i))).collect(),
        }
    }

    fn step_numbers(&mut self, now: At, span: u64) -> Vec<(usize, StepNumbers)> {
        let sums: Vec<_> = self.steps.iter_mut().map(|step| (step.rung, step.sum(now))).collect();
        let answered: u32 = sums.iter().map(|(_, sum)| sum.answered).sum();
        let first: u32 = sums.iter().map(|(_, sum)| sum.first).sum();
        let seen = |(rung, sum): (usize, StepWindow)| {
            let passed = PassedOver::ALL.iter().zip(sum.passed).filter(|(_, count)| *count > 0);
            let seen = StepNumbers {
                share: share(sum.answered, answered),
                first_share: share(sum.first, first),
                cost_nps: rate(sum.cost, span),
                passed: passed.map(|(reason, count)| (*reason, u64::from(count))).collect(),
            };
            (rung, seen)
        };
        sums.into_iter().map(seen).collect()
    }

    pub(super) fn take_minute(&mut self) -> OfLadder {
        let steps = self.steps.iter_mut();
        let steps = steps.filter_map(|step| Some((step.rung, step.minute.take_step()?)));
        (self.minute.take_ladder(), steps.collect())
    }
}

impl StepLive {
    fn sum(&mut self, now: At) -> StepWindow {
        let mut sum = StepWindow::default();
        for slot in self.window.slots(now) {
            sum.answered += slot.answered;
            sum.first += slot.first;
            sum.cost = sum.cost.saturating_add(slot.cost);
            let passed = sum.passed.iter_mut().zip(slot.passed);
            passed.for_each(|(sum, count)| *sum += count);
        }
        sum
    }
}

/// What a request was to its user.
struct Fate {
    ok: bool,
    failed: bool,
    broken: bool,
    late: bool,
    gone: bool,
    rescued: bool,
    hedge_won: bool,
    last_resort: bool,
}

impl Fate {
    fn of(end: &RequestEnd, late_ms: Option<u64>) -> Self {
        use RequestOutcome as O;
        let left = matches!(end.cause, Some(Cause::ClientGone | Cause::ClientStalled));
        let ok = matches!(end.outcome, O::Ok | O::Refused);
        let ended_badly = matches!(end.outcome, O::NoCandidate | O::Failed | O::Deadline)
            || (end.outcome == O::Cancelled && !left);
        let had_token = end.is_committed() || end.seen_ttft().is_some();
        let ttft = end.seen_ttft().map(millis);
        Self {
            ok,
            failed: ended_badly && !had_token,
            broken: ended_badly && had_token,
            late: ttft.zip(late_ms).is_some_and(|(ttft, late)| ttft > late),
            gone: end.outcome == O::Cancelled && left && !had_token,
            rescued: ok && end.answered.is_some_and(|attempt| attempt > 1),
            hedge_won: end.answer().is_some_and(|won| won.start.kind == AttemptKind::Hedge),
            last_resort: end.attempts.iter().any(|a| a.start.kind == AttemptKind::LastResort),
        }
    }

    /// A client that left before a token waited at least so long.
    fn time(&self, end: &RequestEnd, counts: &mut Counts) {
        match end.seen_ttft().map(millis) {
            Some(ttft) => counts.token(ttft),
            None if self.gone => counts.cut(end.latency.map_or(0, millis)),
            None => {}
        }
    }
}

fn count(minute: &mut StepMinute, verdict: Option<TokenVerdict>) {
    match verdict {
        Some(TokenVerdict::Good) => minute.good += 1,
        Some(TokenVerdict::Slow) => minute.slow += 1,
        Some(TokenVerdict::Bad) => minute.bad += 1,
        None => {}
    }
}

fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}
