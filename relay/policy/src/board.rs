//! What walks share: the health of every rung and the budgets of every ladder.
//!
//! A board is pure state. The shell keeps it behind a lock and lends it to a walk for one input; a
//! token after the first one never needs it. A walk reads which rungs are usable and reports what
//! happened. The board decides whether a breaker opens or closes, because only the board knows
//! which ladders would have no rung left.

mod account;
mod finishes;
mod reshape;
mod times;
mod usable;

pub use reshape::{Placed, places};

use crate::breaker::{Breaker, State, Ticket};
use crate::budget::Budget;
use crate::health::Health;
use crate::histogram::Counts;
use crate::index::{LadderIndex, RungIndex};
use crate::ladder::{Kind, LadderSpec, RungSpec, Size};
use crate::order::{Order, OrderInForce};
use crate::remembered::{Remembered, RememberedState};
use crate::table::{Verdict, row};
use crate::time::Time;
use crate::transition::{Evidence, Spared, Tip, Transition};
use crate::witness::Present;
use shared::{
    AttemptOutcome, Cause, OrderSource, OverrideMode, StreamVerdict, TokenVerdict, TransitionRule,
};
use std::sync::Arc;
use std::time::Duration;

/// An attempt that lost its race sooner than this is no evidence that no token comes. An attempt
/// without a mark on an opened rung is not cut sooner.
const A_CHANCE: Duration = Duration::from_secs(2);

/// The health of every rung, the budgets and the order of every ladder. A preview is planned on a
/// copy of it.
#[derive(Debug, Clone)]
pub struct Board {
    rungs: Vec<Health>,
    ladders: Vec<OrderInForce>,
    transitions: Vec<Transition>,
    /// Rungs with a change that must survive a restart.
    changed: Vec<RungIndex>,
    /// Ladders whose operator's order has ended by itself.
    ended_orders: Vec<LadderIndex>,
    /// When the first override or order ends by itself.
    next_expiry: Option<Time>,
    /// Requests so far, on all ladders.
    walks: u64,
    /// The number of the client whose request the board serves now.
    asking: u64,
    present: Present,
    rng: fastrand::Rng,
}

/// What is reported to the board when an attempt ends.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    /// The breaker's state at its dial.
    pub ticket: Ticket,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Why, where it was cancelled, or was the relay's own fault.
    pub cause: Option<Cause>,
    /// Whether a token had come.
    pub had_token: bool,
    /// Whether it had been counted as slow.
    pub slow: bool,
    /// Whether its stream had been silent for half of the inter-token clock.
    pub quiet: bool,
    /// When it was dialled.
    pub dialled: Time,
    /// The provider's status, where it was not 200.
    pub status: Option<u16>,
    /// The wait that the provider asked for.
    pub retry_after: Option<Duration>,
    /// What its time to first token depended on.
    pub size: Size,
    /// Whether its refusal may be about the request instead of our account.
    pub suspected: bool,
    /// The number of its walk.
    pub walk: u64,
    /// The number of the client whose request it is; 0 without configured clients.
    pub client: u64,
    /// It is no evidence about the rung, however it ended.
    pub excused: bool,
}

impl Report {
    /// An attempt's verdicts on its rung: one for the first token, one for the stream.
    pub(crate) fn verdicts(&self) -> (Option<TokenVerdict>, Option<StreamVerdict>) {
        let verdict = self.verdict();
        let paused = self.outcome == AttemptOutcome::Overloaded && self.retry_after.is_some();
        let token = if self.slow {
            Some(TokenVerdict::Slow)
        } else if self.had_token {
            Some(TokenVerdict::Good)
        } else {
            (verdict == Verdict::Bad && !paused).then_some(TokenVerdict::Bad)
        };
        let stream = match verdict {
            Verdict::Good if self.had_token => Some(StreamVerdict::Good),
            Verdict::StreamBad if self.had_token => Some(StreamVerdict::Bad),
            Verdict::Nothing | Verdict::Good | Verdict::Bad | Verdict::StreamBad => None,
        };
        (token, stream)
    }

    /// Its verdict on its rung.
    pub(crate) const fn verdict(&self) -> Verdict {
        if self.excused { Verdict::Nothing } else { row(self.outcome).verdict }
    }
}

impl Board {
    /// A board of rungs without any history; `rng` gives its jitter.
    #[must_use]
    pub fn new(rungs: Vec<RungSpec>, ladders: Vec<Arc<LadderSpec>>, rng: fastrand::Rng) -> Self {
        Self {
            rungs: rungs.into_iter().map(Health::new).collect(),
            ladders: ladders.into_iter().map(OrderInForce::new).collect(),
            transitions: Vec::new(),
            changed: Vec::new(),
            ended_orders: Vec::new(),
            next_expiry: None,
            walks: 0,
            asking: 0,
            present: Present::default(),
            rng,
        }
    }

    /// A rung's limits; `None` for an index that is not on the board.
    #[must_use]
    pub fn spec(&self, rung: RungIndex) -> Option<&RungSpec> {
        self.rungs.get(rung.0).map(|health| &*health.spec)
    }

    /// A rung's limits as an attempt that is dialled now keeps them.
    pub(crate) fn spec_at_dial(&self, rung: RungIndex) -> Arc<RungSpec> {
        self.rungs.get(rung.0).map(|health| Arc::clone(&health.spec)).unwrap_or_default()
    }

    /// How often `rung` has asked for a pause.
    #[must_use]
    pub fn holds_asked(&self, rung: RungIndex) -> u64 {
        self.rungs.get(rung.0).map(|health| health.holds_asked).unwrap_or_default()
    }

    /// Whether `rung` is closed, or forced so.
    #[must_use]
    pub fn is_closed(&self, rung: RungIndex) -> bool {
        self.rungs.get(rung.0).is_some_and(|health| {
            health.forced == OverrideMode::ForcedClosed || health.breaker.state() == State::Closed
        })
    }

    /// Whether `rung` is closed at full weight.
    #[must_use]
    pub fn is_full(&self, rung: RungIndex) -> bool {
        self.rungs.get(rung.0).is_some_and(|health| {
            health.forced == OverrideMode::ForcedClosed || health.breaker.is_full()
        })
    }

    /// A rung's breaker, with its state and weight.
    #[must_use]
    pub fn breaker(&self, rung: RungIndex) -> Option<&Breaker> {
        self.rungs.get(rung.0).map(|health| &health.breaker)
    }

    /// Puts the candidates in the order in which this request calls them. Weights, shedding,
    /// demotion and a missing probe only move a rung; they never remove it.
    pub(crate) fn order(
        &self,
        ladder: &LadderSpec,
        candidates: &mut Vec<RungIndex>,
        now: Time,
        rng: &mut fastrand::Rng,
    ) {
        const STARVING: Duration = Duration::from_secs(60);
        let mut front = Vec::new();
        let mut moved = Vec::new();
        let mut demoted = Vec::new();
        let mut starving = None;
        for &rung in candidates.iter() {
            let Some(health) = self.rungs.get(rung.0) else { continue };
            let weight = if self.is_closed(rung) && health.forced == OverrideMode::Auto {
                health.breaker.weight()
            } else {
                1.0
            };
            let shed = if ladder.shed { health.shed_share(now) } else { 0.0 };
            let hollow = health.hollow.share(now, self.asking);
            if starving.is_none() && self.starved(rung, now).is_some_and(|span| span >= STARVING) {
                starving = Some(rung);
            } else if health.forced == OverrideMode::Demoted {
                demoted.push(rung);
            } else if rng.f64() >= weight * (1.0 - shed) * (1.0 - hollow) {
                moved.push(rung);
            } else {
                front.push(rung);
            }
        }
        *candidates = starving.into_iter().chain(front).chain(moved).chain(demoted).collect();
    }

    /// A request came to `ladder`; returns its number.
    pub(crate) fn request(&mut self, ladder: LadderIndex) -> u64 {
        if let Some(ladder) = self.ladders.get_mut(ladder.0) {
            ladder.budget.request();
            for rung in &ladder.spec.rungs {
                if let Some(health) = self.rungs.get_mut(rung.0) {
                    health.breaker.note_request();
                }
            }
        }
        self.walks = self.walks.wrapping_add(1);
        self.walks
    }

    pub(crate) fn budget(&mut self, ladder: LadderIndex) -> Option<&mut Budget> {
        self.ladders.get_mut(ladder.0).map(|ladder| &mut ladder.budget)
    }

    /// Levels of a ladder's hedge and retry budgets.
    #[must_use]
    pub fn levels(&self, ladder: LadderIndex) -> Option<(f64, f64)> {
        self.ladders.get(ladder.0).map(|ladder| ladder.budget.levels())
    }

    /// How often a ladder's hedge and retry budgets have refused.
    #[must_use]
    pub fn refusals(&self, ladder: LadderIndex) -> Option<(u64, u64)> {
        let budget = &self.ladders.get(ladder.0)?.budget;
        Some((budget.refused_hedges, budget.refused_retries))
    }

    /// An attempt goes out to `rung`.
    pub(crate) fn dial(&mut self, rung: RungIndex, now: Time, size: Size) -> Ticket {
        self.settle(now);
        let Some(health) = self.rungs.get_mut(rung.0) else { return Ticket::default() };
        health.refresh(now, size.kind);
        if health.forced == OverrideMode::Auto || health.forced == OverrideMode::Demoted {
            let from = health.breaker.state();
            if let Some(why) = health.breaker.cool(now) {
                self.note(rung, now, from, why);
                self.rebase(rung, now);
            }
        }
        self.rungs.get_mut(rung.0).map(|health| health.breaker.dial(now)).unwrap_or_default()
    }

    /// An attempt on `rung` brought its first token.
    pub(crate) fn token(
        &mut self,
        rung: RungIndex,
        now: Time,
        dialled: Time,
        ticket: Ticket,
        slow: bool,
        size: Size,
    ) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        health.hold.token(dialled);
        health.witnesses.token(self.asking, dialled);
        health.token(now, now.since(dialled), size, ticket, slow);
        health.suspect = None;
        if frozen(health.forced) {
            return;
        }
        let from = health.breaker.state();
        let change = if slow {
            health.breaker.late_token(now, ticket);
            None
        } else {
            health.count_for_shedding(now, true);
            health.witnesses.word(now, self.asking, self.present, false);
            health.breaker.good(now, ticket)
        };
        if change == Some(TransitionRule::ProbesGood) && health.spec.breaker.open_ttft_p95.is_some()
        {
            // The slow probes on its way back must not open it again.
            health.forget_latest();
        }
        if let Some(why) = change {
            self.note(rung, now, from, why);
        }
        self.rebase(rung, now);
        self.check_p95(rung, now, size);
    }

    /// A rung that is only slower is not sick: its reference is raised. Not while it is open: if
    /// all its probes come after the mark, it opens again with each of them, and is judged after
    /// its cool-down.
    fn rebase(&mut self, rung: RungIndex, now: Time) {
        let away = self.breaker(rung).is_some_and(|breaker| breaker.away_since.is_some());
        if !away {
            return;
        }
        let alone = !self.has_somebody_away(rung, |other| other != rung);
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        let from = health.breaker.state();
        // If some calls hang and the others are as fast as usual, the reference does not rise: with
        // a few hanging calls, ten attempts can look like a slower rung.
        let hangs =
            health.breaker.is_opened_by_hanging() && health.answers_quickly(now, Kind::default());
        if !hangs && !matches!(from, State::Open { .. }) && health.rebase(now, alone) {
            self.note(rung, now, from, TransitionRule::Rebased);
        }
    }

    /// The mark passed while an attempt on `rung` was silent.
    pub(crate) fn slow(&mut self, rung: RungIndex, now: Time, ticket: Ticket, size: Size) {
        self.bad_token(rung, now, ticket, size, None);
    }

    /// An attempt on `rung` ended.
    pub(crate) fn ended(&mut self, rung: RungIndex, now: Time, report: &Report) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        let Report { ticket, outcome, cause, had_token, slow, dialled, retry_after, .. } = *report;
        let tip = Tip { outcome: Some(outcome), status: report.status };
        let asks_for_a_pause = match outcome {
            AttemptOutcome::RateLimited => true,
            AttemptOutcome::Overloaded => retry_after.is_some(),
            _ => false,
        };
        let Health { witnesses, hold, spec, .. } = health;
        let own =
            asks_for_a_pause.then(|| witnesses.own_hold(now, self.asking, self.present)).flatten();
        if let Some(own) = own {
            own.begin(now, dialled, retry_after, spec, &mut self.rng);
        } else if asks_for_a_pause {
            hold.begin(now, dialled, retry_after, spec, &mut self.rng);
            health.holds_asked += 1;
            if health.hold.is_news() {
                self.changed.push(rung);
            }
        }
        match outcome {
            AttemptOutcome::Empty | AttemptOutcome::Invalid => {
                health.hollow.count(now, self.asking, false);
            }
            AttemptOutcome::Ok | AttemptOutcome::Refused => {
                health.hollow.count(now, self.asking, true);
            }
            _ => {}
        }
        let verdict = report.verdict();
        let bad_before = !had_token && verdict == Verdict::Bad && !asks_for_a_pause;
        if !had_token && (bad_before || outcome == AttemptOutcome::Cancelled) {
            let explicit = bad_before && outcome != AttemptOutcome::TtftTimeout;
            if !explicit {
                health.cut(now, now.since(dialled), report.size, ticket);
            }
        }
        let lost = cause == Some(Cause::LostRace);
        if bad_before || (had_token && verdict == Verdict::StreamBad) {
            health.forget_returning();
        }
        if bad_before && !slow {
            self.bad_token(rung, now, ticket, report.size, Some(tip));
        }
        // A loser that was cut early had no time to bring a token.
        let had_a_chance = lost && now.since(dialled) >= A_CHANCE;
        if !had_token && (bad_before || had_a_chance) {
            self.silent(rung, now, report, tip);
        }
        if had_token {
            self.stream(rung, now, report, tip);
        }
        if outcome == AttemptOutcome::Auth && self.is_believed(rung, now, report) {
            self.hard_down(rung, now, report, tip);
        }
        if let Some(health) = self.rungs.get_mut(rung.0) {
            health.breaker.give_back(ticket);
        }
    }

    /// A stream of `rung` has been silent for half of its second clock.
    pub(crate) fn quiet(&mut self, rung: RungIndex, now: Time, ticket: Ticket) {
        let Some(health) = self.rungs.get_mut(rung.0).filter(|health| !frozen(health.forced))
        else {
            return;
        };
        health.witnesses.word(now, self.asking, self.present, true);
        if let Some(why) = health.breaker.stream_quiet(ticket) {
            self.try_to_open(rung, now, why, Tip::default());
        }
    }

    /// An attempt failed before its token, or passed its mark. `ended`: how it ended; `None`: it
    /// passed its mark.
    fn bad_token(
        &mut self,
        rung: RungIndex,
        now: Time,
        ticket: Ticket,
        size: Size,
        ended: Option<Tip>,
    ) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        if frozen(health.forced) {
            return;
        }
        health.count_for_shedding(now, false);
        health.witnesses.word(now, self.asking, self.present, true);
        let why = health.breaker.bad(now, ticket, ended.is_none());
        let why = why.filter(|why| {
            *why != TransitionRule::Hanging || health.answers_quickly(now, size.kind)
        });
        if let Some(why) = why {
            self.try_to_open(rung, now, why, ended.unwrap_or_default());
        }
    }

    fn silent(&mut self, rung: RungIndex, now: Time, report: &Report, tip: Tip) {
        let Some(health) = self.rungs.get_mut(rung.0).filter(|health| !frozen(health.forced))
        else {
            return;
        };
        let has_reference = health.has_reference(report.size.kind);
        if let Some(why) = health.breaker.silent(report.ticket, has_reference) {
            self.try_to_open(rung, now, why, tip);
        }
    }

    fn stream(&mut self, rung: RungIndex, now: Time, report: &Report, tip: Tip) {
        let Report { ticket, slow, quiet, .. } = *report;
        let Some(health) = self.rungs.get_mut(rung.0).filter(|health| !frozen(health.forced))
        else {
            return;
        };
        let from = health.breaker.state();
        match report.verdict() {
            Verdict::StreamBad => {
                health.witnesses.word(now, self.asking, self.present, true);
                if let Some(why) = health.breaker.stream_bad(now, ticket, slow, quiet) {
                    self.try_to_open(rung, now, why, tip);
                }
            }
            Verdict::Good => {
                if let Some(why) = health.breaker.stream_good(now, ticket) {
                    self.note(rung, now, from, why);
                }
            }
            Verdict::Bad | Verdict::Nothing => {}
        }
    }

    /// Opens the breaker, unless a ladder would be left without a rung that is closed, not held and
    /// not forced open: then it gets half the weight instead. The same if the rung is only late
    /// while a rung of its ladders is away: that is load, and opening would only move it.
    fn try_to_open(&mut self, rung: RungIndex, now: Time, why: TransitionRule, tip: Tip) {
        let reopening = why == TransitionRule::ProbeBad;
        // Outcomes of one client's requests close the rung to no other client.
        let agreed =
            self.rungs.get(rung.0).is_some_and(|health| health.witnesses.agree(now, self.present));
        if !agreed && !reopening && why != TransitionRule::SlowP95 {
            return;
        }
        let is_load = why != TransitionRule::BrokenRun && self.is_load(rung, now);
        let spared = !reopening && (is_load || self.is_needed(rung, now));
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        let from = health.breaker.state();
        if spared {
            health.breaker.spare(now);
            let spared = Spared { from: why, is_load };
            self.note_with(rung, now, from, TransitionRule::Spared, tip, Some(spared));
        } else {
            health.breaker.open(now, why, None, &mut self.rng);
            self.note_with(rung, now, from, why, tip, None);
        }
    }

    fn is_needed(&self, rung: RungIndex, now: Time) -> bool {
        let carries = |other: &RungIndex| {
            *other != rung && self.is_closed(*other) && self.usable_by_all(*other, now).is_ok()
        };
        let on_it = |ladder: &&OrderInForce| ladder.spec.rungs.contains(&rung);
        self.ladders.iter().filter(on_it).any(|ladder| !ladder.spec.rungs.iter().any(carries))
    }

    fn is_load(&self, rung: RungIndex, now: Time) -> bool {
        self.is_merely_slow(rung, now) && self.has_somebody_away(rung, |_| true)
    }

    /// Whether a rung on a ladder of `rung` is away, of those for which `counts` is true.
    fn has_somebody_away(&self, rung: RungIndex, counts: impl Fn(RungIndex) -> bool) -> bool {
        let is_away = |other: &RungIndex| counts(*other) && !self.is_full(*other);
        let on_it = |ladder: &&OrderInForce| ladder.spec.rungs.contains(&rung);
        self.ladders.iter().filter(on_it).any(|ladder| ladder.spec.rungs.iter().any(is_away))
    }

    /// Whether the bad attempts of `rung` are mostly late tokens.
    pub(crate) fn is_merely_slow(&self, rung: RungIndex, now: Time) -> bool {
        self.breaker(rung).is_some_and(|breaker| breaker.is_merely_slow(now))
    }

    /// Applies the configured limit on the p95, which is estimated by the method of Kaplan and
    /// Meier.
    fn check_p95(&mut self, rung: RungIndex, now: Time, size: Size) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        let Some(limit) = health.spec.breaker.open_ttft_p95 else { return };
        if health.breaker.is_full() && health.p95_is_over(now, size, limit) {
            health.forget_latest();
            self.try_to_open(rung, now, TransitionRule::SlowP95, Tip::default());
        }
    }

    fn note(&mut self, rung: RungIndex, now: Time, from: State, why: TransitionRule) {
        self.note_with(rung, now, from, why, Tip::default(), None);
    }

    fn note_with(
        &mut self,
        rung: RungIndex,
        now: Time,
        from: State,
        why: TransitionRule,
        tip: Tip,
        spared: Option<Spared>,
    ) {
        let Some(health) = self.rungs.get(rung.0) else { return };
        let breaker = &health.breaker;
        let to = breaker.state();
        let until = match to {
            State::Open { until } => Some(until),
            State::Closed | State::HalfOpen { .. } => None,
        };
        // These rules need not change the state. The last counts would then be from an earlier
        // change.
        let is_counted = !matches!(why, TransitionRule::Rebased | TransitionRule::Expired);
        self.transitions.push(Transition {
            rung,
            at: now,
            from: (from).name(),
            to: (to).name(),
            why,
            spared,
            evidence: if is_counted { breaker.evidence() } else { Evidence::default() },
            tip,
            window: health.spec.breaker.window,
            limit: health.spec.breaker.open_ttft_p95,
            weight: breaker.weight(),
            generation: breaker.generation(),
            until,
            mark: health.mark(Size::default()),
            reference: health.reference(),
        });
        self.changed.push(rung);
    }

    /// The transitions since the last call of this, oldest first.
    pub fn take_transitions(&mut self) -> Vec<Transition> {
        std::mem::take(&mut self.transitions)
    }

    /// Sets an operator's override that does not end by itself. When an override that froze the
    /// breaker ends, the rung is half-open after `forced_open`, closed after `forced_closed`.
    pub fn force(&mut self, rung: RungIndex, now: Time, to: OverrideMode) {
        self.force_until(rung, now, to, None);
    }

    /// An operator wants a probe now: ends a cool-down, a hard-down or a hold.
    pub fn probe_now(&mut self, rung: RungIndex, now: Time) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        let from = health.breaker.state();
        health.hold = crate::hold::Hold::default();
        health.witnesses.pardon();
        health.breaker.probe_now(now);
        self.note(rung, now, from, TransitionRule::Operator);
    }

    /// A rung's recent times to first token.
    pub(crate) fn recent(&mut self, rung: RungIndex, now: Time) -> Option<Counts> {
        Some(self.rungs.get_mut(rung.0)?.recent(now))
    }

    /// A rung's reference p95, for display and for keeping over a restart.
    #[must_use]
    pub fn reference(&self, rung: RungIndex) -> Option<Duration> {
        self.rungs.get(rung.0).and_then(Health::reference)
    }

    /// Sets an operator's override that ends by itself at `until`; `None`: never.
    pub fn force_until(
        &mut self,
        rung: RungIndex,
        now: Time,
        to: OverrideMode,
        until: Option<Time>,
    ) {
        self.end_override(rung, now, to, TransitionRule::Operator);
        if let Some(health) = self.rungs.get_mut(rung.0).filter(|_| to != OverrideMode::Auto) {
            health.forced_until = until;
        }
        self.plan_expiry();
    }

    /// From now on, streams that are committed to `rung` are to end while it is forced open.
    pub fn cut_streams(&mut self, rung: RungIndex) {
        if let Some(health) = self.rungs.get_mut(rung.0) {
            health.cut_streams = health.forced == OverrideMode::ForcedOpen;
        }
    }

    /// Whether streams that are committed to `rung` are to end.
    #[must_use]
    pub fn cuts_streams(&self, rung: RungIndex, now: Time) -> bool {
        let cuts =
            |health: &Health| health.cut_streams && health.rules(now).0 != OverrideMode::Auto;
        self.rungs.get(rung.0).is_some_and(cuts)
    }

    /// The version of a rung's override. It rises with each change, also when the override ends by
    /// itself.
    #[must_use]
    pub fn override_version(&self, rung: RungIndex) -> u64 {
        self.rungs.get(rung.0).map(|health| health.forced_version).unwrap_or_default()
    }

    /// Puts a ladder in an operator's order; `None`: back to the config's. The order must consist
    /// of the ladder's rungs.
    pub fn reorder(&mut self, ladder: LadderIndex, order: Option<Order>) {
        if let Some(ladder) = self.ladders.get_mut(ladder.0) {
            ladder.reorder(order);
        }
        self.plan_expiry();
    }

    /// The rungs of a ladder in the order that is in force at `now`, and the source of that order;
    /// `None` for an index that is not on the board.
    #[must_use]
    pub fn order_of(&self, ladder: LadderIndex, now: Time) -> Option<(&[RungIndex], OrderSource)> {
        let ladder = self.ladders.get(ladder.0)?;
        Some(match ladder.order_at(now) {
            Some(order) if order.adapted => (&order.rungs, OrderSource::Adapted),
            Some(order) => (&order.rungs, OrderSource::Operator),
            None => (&ladder.spec.rungs, OrderSource::Config),
        })
    }

    /// The version of a ladder's order. It rises with each change, also when the order ends by
    /// itself.
    #[must_use]
    pub fn order_version(&self, ladder: LadderIndex) -> u64 {
        self.ladders.get(ladder.0).map(|ladder| ladder.version).unwrap_or_default()
    }

    /// Restores versions after a restart. A version never falls.
    pub fn restore_versions(
        &mut self,
        rung: Option<(RungIndex, u64)>,
        ladder: Option<(LadderIndex, u64)>,
    ) {
        if let Some((health, version)) =
            rung.and_then(|(at, v)| Some((self.rungs.get_mut(at.0)?, v)))
        {
            health.forced_version = health.forced_version.max(version);
        }
        if let Some((ladder, version)) =
            ladder.and_then(|(at, v)| Some((self.ladders.get_mut(at.0)?, v)))
        {
            ladder.version = ladder.version.max(version);
        }
    }

    /// Ladders whose operator's order has ended by itself since the last call of this.
    pub fn take_ended_orders(&mut self) -> Vec<LadderIndex> {
        std::mem::take(&mut self.ended_orders)
    }

    /// Ladders that these changes together would leave with forced-open rungs only. A ladder is
    /// listed only if one of the changes forces a rung of it open.
    #[must_use]
    pub fn left_without(
        &self,
        changes: &[(RungIndex, OverrideMode)],
        now: Time,
    ) -> Vec<LadderIndex> {
        let change = |rung: &RungIndex| changes.iter().find(|(other, _)| other == rung);
        let is_taken = |rung: &RungIndex| {
            change(rung).is_some_and(|(_, mode)| *mode == OverrideMode::ForcedOpen)
        };
        let is_out = |rung: &RungIndex| {
            let present =
                || self.forced(*rung, now).map_or(OverrideMode::ForcedOpen, |(mode, _)| mode);
            change(rung).map_or_else(present, |(_, mode)| *mode) == OverrideMode::ForcedOpen
        };
        let ladders = self.ladders.iter().map(|ladder| &ladder.spec.rungs).enumerate();
        let left =
            ladders.filter(|(_, rungs)| rungs.iter().any(is_taken) && rungs.iter().all(is_out));
        left.map(|(at, _)| LadderIndex(at)).collect()
    }

    /// A request of `client` uses the board from here on, until the next one does.
    pub(crate) fn serve(&mut self, now: Time, client: u64) {
        self.asking = client;
        self.present.asks(now, client);
        self.settle(now);
    }

    /// Ends the overrides and orders whose time is over. Every walk does so first; the shell does it
    /// too, so that they also end without requests.
    pub fn settle(&mut self, now: Time) {
        self.rungs.iter_mut().for_each(|health| health.breaker.rest(now));
        if self.next_expiry.is_none_or(|at| at > now) {
            return;
        }
        for index in 0..self.rungs.len() {
            let until = self.rungs.get(index).and_then(|health| health.forced_until);
            if until.is_some_and(|until| until <= now) {
                self.end_override(
                    RungIndex(index),
                    now,
                    OverrideMode::Auto,
                    TransitionRule::Expired,
                );
            }
        }
        for (index, ladder) in self.ladders.iter_mut().enumerate() {
            if ladder.order.is_some() && ladder.order_at(now).is_none() {
                ladder.reorder(None);
                self.ended_orders.push(LadderIndex(index));
            }
        }
        self.plan_expiry();
    }

    fn end_override(&mut self, rung: RungIndex, now: Time, to: OverrideMode, why: TransitionRule) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        let (before, from) = (health.forced, health.breaker.state());
        health.forced = to;
        health.forced_until = None;
        health.cut_streams = false;
        health.forced_version = health.forced_version.saturating_add(1);
        let thaws = frozen(before) && before != to && !frozen(to);
        if thaws {
            health.breaker.thaw(now, before == OverrideMode::ForcedOpen);
        }
        if thaws || why == TransitionRule::Expired {
            self.note(rung, now, from, why);
        }
    }

    fn plan_expiry(&mut self) {
        let overrides = self.rungs.iter().filter_map(|health| health.forced_until);
        let orders = self.ladders.iter().filter_map(|ladder| ladder.order.as_ref()?.until);
        self.next_expiry = overrides.chain(orders).min();
    }

    /// The override of a rung, and when it ends by itself.
    #[must_use]
    pub fn forced(&self, rung: RungIndex, now: Time) -> Option<(OverrideMode, Option<Time>)> {
        let health = self.rungs.get(rung.0)?;
        let forced = health.rules(now).0;
        Some((forced, health.forced_until.filter(|_| forced != OverrideMode::Auto)))
    }

    /// Rungs with a change that must survive a restart, since the last call of this.
    pub fn take_changed(&mut self) -> Vec<RungIndex> {
        std::mem::take(&mut self.changed)
    }

    /// What survives a restart of a rung's state; `None` for an index that is not on the board.
    #[must_use]
    pub fn remember(&self, rung: RungIndex) -> Option<Remembered> {
        self.rungs.get(rung.0).map(Health::remember)
    }

    /// Restores a rung as it was before the restart. If the cool-down of an open breaker ended
    /// meanwhile, that transition is recorded.
    pub fn restore(&mut self, rung: RungIndex, now: Time, kept: &Remembered) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        health.restore(now, kept);
        let was_open = match kept.breaker.state {
            RememberedState::Open { until } => Some(State::Open { until }),
            RememberedState::Closed | RememberedState::HalfOpen => None,
        };
        let is_open = matches!(health.breaker.state(), State::Open { .. });
        if let Some(from) = was_open.filter(|_| !is_open) {
            self.note(rung, now, from, TransitionRule::CooledDown);
        }
    }
}

const fn frozen(forced: OverrideMode) -> bool {
    matches!(forced, OverrideMode::ForcedOpen | OverrideMode::ForcedClosed)
}
