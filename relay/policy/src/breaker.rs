//! The circuit breaker of one rung.
//!
//! ```text
//!            5 bad in a row (before, or after, the token),
//!            half of ≥ 10 calls in 30 s, hanging calls that
//!            sum up to 12, slow p95, auth
//!   closed ───────────────────────────────────────────────▶ open
//!     ▲  weight 0.1, ×2 per 5 good in a row or 15 s quiet    │ cool-down 5 s ± 30 %,
//!     │                                                      │ ×2 per failed half-open, ≤ 10 s
//!     │        2 good probes; 10 of a p95, or of hanging     ▼
//!     └────────────────────────────────────────────────── half-open
//!                        first bad probe: open again         one probe at a time
//! ```
//!
//! Every transition starts a new generation with empty windows; a report from an older one is
//! ignored, so that a late answer cannot close or open anything. The breaker gets only attempts'
//! verdicts; the board knows whether opening would leave a ladder without a rung.

use crate::hanging::Hanging;
use crate::lateness::Lateness;
use crate::remembered::{RememberedBreaker, RememberedState};
use crate::time::Time;
use crate::transition::Evidence;
use shared::{BreakerState, TransitionRule};
use std::time::Duration;

/// A rung's breaker settings.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakerSpec {
    /// Whether it may open at all. Default true; the config has no key for it.
    pub enabled: bool,
    /// How many bad attempts in a row open it, 1 to 1000. Default 5.
    pub open_consecutive: u32,
    /// This share of bad calls in the window opens it, 0 to 1. Default 0.5.
    pub open_rate: f64,
    /// The fewest calls in the window for that, 1 to 100,000. Default 10.
    pub min_samples: u32,
    /// The window's length. Default 30 s.
    pub window: Duration,
    /// A p95 of the time to first token above this opens it. Default none.
    pub open_ttft_p95: Option<Duration>,
    /// The first cool-down. Default 5 s.
    pub cooldown: Duration,
    /// The longest one. Default 10 s.
    pub max_cooldown: Duration,
    /// Cool-downs vary by this share up and down, 0 to 1. Default 0.3.
    pub jitter: f64,
    /// Good probes that close it, 1 to 100. Default 2.
    pub close_successes: u32,
}

impl Default for BreakerSpec {
    fn default() -> Self {
        Self {
            enabled: true,
            open_consecutive: 5,
            open_rate: 0.5,
            min_samples: 10,
            window: Duration::from_secs(30),
            open_ttft_p95: None,
            cooldown: Duration::from_secs(5),
            max_cooldown: Duration::from_secs(10),
            jitter: 0.3,
            close_successes: 2,
        }
    }
}

/// The weight after closing.
const SLOW_START: f64 = 0.1;
/// The lowest weight of a rung that gets half the weight instead of opening.
const FLOOR: f64 = 0.05;
/// How many good attempts in a row double the weight.
const GOOD_TO_DOUBLE: u32 = 5;
/// A quiet time doubles the weight only if fewer requests than this came in it. With more of them,
/// the good attempts double it as soon: of 50 requests a rung at the weight 0.1 gets five.
const MANY: u32 = 50;
/// How long a quiet time without a bad attempt is before it doubles the weight.
const QUIET_TO_DOUBLE: Duration = Duration::from_secs(15);
/// How many good probes close a breaker that a p95 or hanging calls had opened. Two would often
/// miss a problem of one call in ten, and nearly always of one in twenty.
const PROBES_OF_A_SHARE: u32 = 10;
/// How many parts the window is counted in.
const PARTS: usize = 10;
/// How many attempts in a row without a token open a rung without a reference. This is more than
/// the hedge budget's burst of 20: if all hedged attempts of a slow but sound rung lose their
/// races, its first attempts without a hedge can still bring a token.
const SILENT_RUN: u32 = 24;
/// The factor by which the weight rises when ten answers were steadily later: two doublings.
const TRUST: f64 = 4.0;

/// The breaker's health state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// Traffic flows.
    Closed,
    /// No traffic until the cool-down is over.
    Open {
        /// The cool-down's end.
        until: Time,
    },
    /// One probe at a time.
    HalfOpen {
        /// Whether a probe holds the slot.
        taken: bool,
        /// Good probes so far.
        good: u32,
    },
}

impl State {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> BreakerState {
        match self {
            Self::Closed => BreakerState::Closed,
            Self::Open { .. } => BreakerState::Open,
            Self::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }
}

/// The breaker's state at an attempt's dial; the attempt's reports carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticket {
    pub(crate) generation: u32,
    /// Which probe it is. After its verdict the slot belongs to the next probe, and this one must
    /// not release it at its end.
    slot: u32,
    /// Whether it holds the half-open slot.
    pub probe: bool,
    /// Whether the rung was closed at full weight: only then does it feed the reference.
    pub full: bool,
}

/// Counts of the window, or of one part of it.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    calls: u32,
    bad: u32,
    /// Slow calls among the bad ones.
    slow: u32,
}

/// What is wrong with a rung that is away from full weight.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    /// When its cause first opened the breaker.
    since: Time,
    /// The rule that opened it; `None`: not known, as after a restart or an operator's change.
    cause: Option<TransitionRule>,
}

/// One rung's breaker.
#[derive(Debug, Clone)]
pub struct Breaker {
    spec: BreakerSpec,
    state: State,
    generation: u32,
    /// The number of the last probe.
    slot: u32,
    weight: f64,
    good_row: u32,
    /// Since then no attempt was bad, and the weight was not doubled.
    quiet_since: Time,
    /// Requests on its ladders since then.
    requests: u32,
    /// Its weight was halved instead of opening it: then only good attempts raise the weight.
    is_spared: bool,
    hanging: Hanging,
    bad_run: u32,
    /// Slow attempts among them.
    slow_run: u32,
    broken_run: u32,
    silent_run: u32,
    parts: [Part; PARTS],
    part: usize,
    part_began: Time,
    last: Evidence,
    cooldown: Duration,
    lateness: Lateness,
    /// Opened by broken streams: then a probe counts at its proper end.
    by_streams: bool,
    /// Opened by the limit on the p95: then a probe is judged by that limit, and more are needed.
    by_p95: bool,
    /// Opened by hanging calls: then more probes are needed.
    by_hanging: bool,
    /// What opened it last.
    opened_by: Option<TransitionRule>,
    /// When it left full weight, if it has.
    pub(crate) away_since: Option<Time>,
    /// What is wrong with it while it is away.
    trouble: Option<Trouble>,
    /// When it became half-open, or last gave its slot to a probe.
    pub(crate) last_probe: Time,
}

impl Breaker {
    /// A closed breaker at full weight.
    #[must_use]
    pub fn new(spec: BreakerSpec) -> Self {
        Self {
            cooldown: spec.cooldown,
            spec,
            state: State::Closed,
            generation: 0,
            slot: 0,
            weight: 1.0,
            good_row: 0,
            quiet_since: Time::default(),
            requests: 0,
            is_spared: false,
            hanging: Hanging::default(),
            bad_run: 0,
            slow_run: 0,
            broken_run: 0,
            silent_run: 0,
            parts: [Part::default(); PARTS],
            part: 0,
            part_began: Time::default(),
            last: Evidence::default(),
            lateness: Lateness::default(),
            by_streams: false,
            by_p95: false,
            by_hanging: false,
            opened_by: None,
            away_since: None,
            trouble: None,
            last_probe: Time::default(),
        }
    }

    /// Its state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// The probability of being first choice.
    #[must_use]
    pub const fn weight(&self) -> f64 {
        self.weight
    }

    /// How often it has changed: reports from before a change are ignored.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// When it left full weight, if it has.
    #[must_use]
    pub const fn away_since(&self) -> Option<Time> {
        self.away_since
    }

    /// Whether its probes are judged by the limit on the p95, which opened it.
    pub(crate) const fn is_probed_by_p95(&self) -> bool {
        self.by_p95 && matches!(self.state, State::HalfOpen { .. })
    }

    /// Whether it is closed at full weight.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.state == State::Closed && self.weight >= 1.0
    }

    /// The ticket of an attempt that is dialled now. It takes the slot if the breaker is half-open
    /// and the slot is free.
    pub fn dial(&mut self, now: Time) -> Ticket {
        let full = self.is_full();
        let probe = match &mut self.state {
            State::HalfOpen { taken, .. } if !*taken => {
                *taken = true;
                self.slot = self.slot.wrapping_add(1);
                self.last_probe = now;
                true
            }
            _ => false,
        };
        Ticket { generation: self.generation, slot: self.slot, probe, full }
    }

    /// Turns an open breaker whose cool-down is over half-open.
    pub fn cool(&mut self, now: Time) -> Option<TransitionRule> {
        match self.state {
            State::Open { until } if until <= now => {
                self.become_half_open(now);
                Some(TransitionRule::CooledDown)
            }
            _ => None,
        }
    }

    /// A token came before the mark.
    pub fn good(&mut self, now: Time, ticket: Ticket) -> Option<TransitionRule> {
        self.silent_run = 0;
        if ticket.generation != self.generation {
            return None;
        }
        match self.state {
            State::Closed => {
                self.bad_run = 0;
                self.slow_run = 0;
                self.count(now, Part { calls: 1, ..Part::default() });
                self.hanging.good();
                self.grow(now);
                None
            }
            State::Open { .. } => {
                self.become_half_open(now);
                Some(TransitionRule::LastResortGood)
            }
            State::HalfOpen { .. } if ticket.probe && !self.by_streams => self.probe_good(now),
            State::HalfOpen { .. } => None,
        }
    }

    /// The mark passed without a token (`slow`), or an error came before it. Returns why
    /// it wants to open, if it does; then call [`Self::open`] or [`Self::spare`].
    pub fn bad(&mut self, now: Time, ticket: Ticket, slow: bool) -> Option<TransitionRule> {
        if ticket.generation != self.generation {
            return None;
        }
        self.lateness.bad(now);
        match self.state {
            State::Closed => {
                self.bad_run = self.bad_run.saturating_add(1);
                self.slow_run = self.slow_run.saturating_add(u32::from(slow));
                self.good_row = 0;
                self.quiet_from(now);
                if slow {
                    self.hanging.silent();
                }
                self.count(now, Part { calls: 1, bad: 1, slow: u32::from(slow) });
                self.wants_to_open(now)
            }
            State::HalfOpen { .. } if ticket.probe => Some(TransitionRule::ProbeBad),
            State::Open { .. } | State::HalfOpen { .. } => None,
        }
    }

    /// A stream came to its proper end.
    pub fn stream_good(&mut self, now: Time, ticket: Ticket) -> Option<TransitionRule> {
        if ticket.generation != self.generation {
            return None;
        }
        self.broken_run = 0;
        match self.state {
            State::HalfOpen { .. } if ticket.probe && self.by_streams => self.probe_good(now),
            _ => None,
        }
    }

    /// A stream has been silent for half of its second clock. That is no verdict yet, but it counts
    /// in the run of broken streams, which only a proper end resets. To wait for the whole clock
    /// would be too late: by then every stream since would have broken as well.
    pub fn stream_quiet(&mut self, ticket: Ticket) -> Option<TransitionRule> {
        if ticket.generation != self.generation || self.state != State::Closed {
            return None;
        }
        self.broken_run = self.broken_run.saturating_add(1);
        // Only the run is checked: the window has not changed.
        self.run_of_broken()
    }

    /// A stream broke. `counted`: the call is already counted as bad, because its token was slow.
    /// `quiet`: the stream is already counted in the run of broken ones.
    pub fn stream_bad(
        &mut self,
        now: Time,
        ticket: Ticket,
        counted: bool,
        quiet: bool,
    ) -> Option<TransitionRule> {
        if ticket.generation != self.generation {
            return None;
        }
        match self.state {
            State::Closed => {
                self.broken_run = self.broken_run.saturating_add(u32::from(!quiet));
                self.good_row = 0;
                self.quiet_from(now);
                self.count(now, Part { bad: u32::from(!counted), ..Part::default() });
                self.wants_to_open(now)
            }
            State::HalfOpen { .. } if ticket.probe => Some(TransitionRule::ProbeBad),
            State::Open { .. } | State::HalfOpen { .. } => None,
        }
    }

    /// An attempt ended without a token. Without a reference, a run of such attempts opens it.
    pub fn silent(&mut self, ticket: Ticket, has_reference: bool) -> Option<TransitionRule> {
        self.silent_run = self.silent_run.saturating_add(1);
        let opens = !has_reference
            && ticket.generation == self.generation
            && self.state == State::Closed
            && self.silent_run >= SILENT_RUN;
        (opens && self.spec.enabled).then_some(TransitionRule::NeverAToken)
    }

    /// An attempt ended in any way: if it still holds the slot, the slot is free again.
    pub fn give_back(&mut self, ticket: Ticket) {
        if let State::HalfOpen { taken, .. } = &mut self.state
            && ticket.probe
            && ticket.generation == self.generation
            && ticket.slot == self.slot
        {
            *taken = false;
        }
    }

    /// Opens it; `hard` sets the time instead of the cool-down.
    pub fn open(
        &mut self,
        now: Time,
        why: TransitionRule,
        hard: Option<Duration>,
        rng: &mut fastrand::Rng,
    ) {
        if why == TransitionRule::ProbeBad {
            self.cooldown = self.cooldown.saturating_mul(2).min(self.spec.max_cooldown);
        }
        let jitter = 1.0 + self.spec.jitter * (2.0 * rng.f64() - 1.0);
        let span = hard.unwrap_or_else(|| self.cooldown.mul_f64(jitter));
        if why != TransitionRule::ProbeBad {
            self.by_streams = why == TransitionRule::BrokenRun;
            self.by_p95 = why == TransitionRule::SlowP95;
            self.by_hanging = why == TransitionRule::Hanging;
        }
        self.opened_by = Some(why);
        self.leave_full(now, (why != TransitionRule::ProbeBad).then_some(why));
        self.turn(State::Open { until: now.plus(span) });
    }

    /// Halves the weight instead of opening: a ladder would have no rung left, or it is only load.
    pub fn spare(&mut self, now: Time) {
        self.is_spared = true;
        self.leave_full(now, None);
        self.weight = (self.weight / 2.0).max(FLOOR);
        self.turn(State::Closed);
    }

    /// An operator's override has ended.
    pub fn thaw(&mut self, now: Time, half_open: bool) {
        if half_open {
            self.become_half_open(now);
        } else {
            self.weight = 1.0;
            self.be_well();
            self.turn(State::Closed);
        }
    }

    /// Ends a cool-down because an operator wants a probe: the next request is the probe.
    pub fn probe_now(&mut self, now: Time) {
        if matches!(self.state, State::Open { .. }) {
            self.become_half_open(now);
        }
    }

    /// Whether it is open because the account was refused.
    pub(crate) fn is_hard_down(&self) -> bool {
        self.opened_by == Some(TransitionRule::Auth) && matches!(self.state, State::Open { .. })
    }

    /// Ends a hard-down, because the account has another key: the next request is the probe.
    /// Returns whether there was a hard-down.
    pub(crate) fn under_another_key(&mut self, now: Time) -> bool {
        let hard_down = self.is_hard_down();
        if hard_down {
            self.become_half_open(now);
        }
        hard_down
    }

    /// Takes over other settings; the state stays. A window of another length starts empty, because
    /// its counts cannot be divided anew.
    pub(crate) fn set_spec(&mut self, spec: BreakerSpec) {
        if spec.window != self.spec.window {
            self.parts = [Part::default(); PARTS];
        }
        self.cooldown = self.cooldown.min(spec.max_cooldown).max(spec.cooldown);
        self.spec = spec;
    }

    fn become_half_open(&mut self, now: Time) {
        self.leave_full(now, None);
        self.last_probe = now;
        self.turn(State::HalfOpen { taken: false, good: 0 });
    }

    /// How many good probes close it.
    #[must_use]
    pub fn probes_wanted(&self) -> u32 {
        let by_a_share = self.by_p95 || self.by_hanging;
        if by_a_share { PROBES_OF_A_SHARE } else { 0 }.max(self.spec.close_successes)
    }

    fn probe_good(&mut self, now: Time) -> Option<TransitionRule> {
        let wanted = self.probes_wanted();
        let State::HalfOpen { taken, good } = &mut self.state else { return None };
        *taken = false;
        *good += 1;
        if *good < wanted {
            return None;
        }
        self.weight = SLOW_START;
        self.is_spared = false;
        self.quiet_from(now);
        self.cooldown = self.spec.cooldown;
        self.turn(State::Closed);
        Some(TransitionRule::ProbesGood)
    }

    fn grow(&mut self, now: Time) {
        if self.weight >= 1.0 {
            return;
        }
        self.good_row += 1;
        if self.good_row >= GOOD_TO_DOUBLE {
            self.double(now);
        }
    }

    /// A quiet time doubles the weight, as good attempts do. With few requests a rung that is well
    /// again would otherwise be away for an hour. Not after the weight was halved instead of
    /// opening: a rung is also quiet once the load has moved away from it.
    pub(crate) fn rest(&mut self, now: Time) {
        let is_coming_back = self.state == State::Closed && self.weight < 1.0 && !self.is_spared;
        if is_coming_back && now.since(self.quiet_since) >= QUIET_TO_DOUBLE {
            if self.requests < MANY {
                self.double(now);
            } else {
                self.quiet_from(now);
            }
        }
    }

    /// A request came to one of its ladders.
    pub(crate) const fn note_request(&mut self) {
        self.requests = self.requests.saturating_add(1);
    }

    const fn quiet_from(&mut self, now: Time) {
        self.quiet_since = now;
        self.requests = 0;
    }

    fn double(&mut self, now: Time) {
        self.good_row = 0;
        self.quiet_from(now);
        self.weight = (self.weight * 2.0).min(1.0);
        if self.weight >= 1.0 {
            self.be_well();
        }
    }

    fn wants_to_open(&self, now: Time) -> Option<TransitionRule> {
        if !self.spec.enabled {
            return None;
        }
        if self.bad_run >= self.spec.open_consecutive {
            return Some(TransitionRule::BadRun);
        }
        if let Some(why) = self.run_of_broken() {
            return Some(why);
        }
        let Part { calls, bad, .. } = self.window();
        let share = f64::from(bad) >= self.spec.open_rate * f64::from(calls);
        if calls >= self.spec.min_samples && share {
            return Some(TransitionRule::BadShare);
        }
        let by_share = self.spec.open_rate <= 1.0;
        let too_many = self.hanging.are_too_many(self.spec.min_samples);
        let hangs = by_share && too_many && !self.lateness.is_mere(now);
        hangs.then_some(TransitionRule::Hanging)
    }

    fn run_of_broken(&self) -> Option<TransitionRule> {
        let wants = self.spec.enabled && self.broken_run >= self.spec.open_consecutive;
        wants.then_some(TransitionRule::BrokenRun)
    }

    /// What had been counted when it last changed.
    #[must_use]
    pub const fn evidence(&self) -> Evidence {
        self.last
    }

    /// A token came after the mark: the call is counted bad already.
    pub fn late_token(&mut self, now: Time, ticket: Ticket) {
        self.silent_run = 0;
        if ticket.generation == self.generation {
            self.hanging.late();
        }
        self.lateness.late(now);
    }

    /// Whether the rung's bad attempts are mostly late tokens.
    #[must_use]
    pub fn is_merely_slow(&self, now: Time) -> bool {
        self.lateness.is_mere(now)
    }

    /// Whether hanging calls opened it; failed probes since then do not count.
    pub(crate) const fn is_opened_by_hanging(&self) -> bool {
        self.by_hanging
    }

    /// How strong the evidence is that some of its calls hang: 0 to 1; at 1 it opens.
    pub(crate) fn suspicion_of_hanging(&self) -> f64 {
        self.hanging.suspicion()
    }

    /// The rung answers steadily, only later than before: closes it if it is half-open, and raises
    /// the weight by two doublings.
    pub(crate) fn trust(&mut self, now: Time) {
        self.quiet_from(now);
        match self.state {
            State::Closed => self.weight = (self.weight * TRUST).min(1.0),
            State::HalfOpen { .. } => {
                self.weight = (SLOW_START * TRUST).min(1.0);
                self.cooldown = self.spec.cooldown;
                self.turn(State::Closed);
            }
            State::Open { .. } => {}
        }
        if self.is_full() {
            self.be_well();
        }
    }

    /// The window's counts, as of the last call.
    fn window(&self) -> Part {
        self.parts.iter().fold(Part::default(), |sum, part| Part {
            calls: sum.calls + part.calls,
            bad: sum.bad + part.bad,
            slow: sum.slow + part.slow,
        })
    }

    fn count(&mut self, now: Time, more: Part) {
        let span = self.spec.window / u32::try_from(PARTS).unwrap_or(1);
        let mut turns = 0;
        while now.since(self.part_began) >= span {
            turns += 1;
            if turns > PARTS {
                self.parts = [Part::default(); PARTS];
                self.part_began = now;
                break;
            }
            self.part_began = self.part_began.plus(span);
            self.part = (self.part + 1) % PARTS;
            if let Some(part) = self.parts.get_mut(self.part) {
                *part = Part::default();
            }
        }
        if let Some(part) = self.parts.get_mut(self.part) {
            part.calls += more.calls;
            part.bad += more.bad;
            part.slow += more.slow;
        }
    }

    /// It is away from full weight, because of `cause` if that is known. Another cause than before
    /// is a new trouble, which begins now.
    fn leave_full(&mut self, now: Time, cause: Option<TransitionRule>) {
        self.away_since.get_or_insert(now);
        let trouble = self.trouble.get_or_insert(Trouble { since: now, cause });
        match (trouble.cause, cause) {
            (Some(before), Some(cause)) if before != cause => {
                *trouble = Trouble { since: now, cause: Some(cause) };
            }
            (before, cause) => trouble.cause = before.or(cause),
        }
    }

    /// It is back at full weight: its trouble is over.
    const fn be_well(&mut self) {
        self.away_since = None;
        self.trouble = None;
    }

    fn turn(&mut self, state: State) {
        let Part { calls, bad, slow } = self.window();
        self.last = Evidence {
            calls,
            bad,
            slow,
            run: self.bad_run,
            slow_run: self.slow_run,
            broken_run: self.broken_run,
            silent_run: self.silent_run,
        };
        self.state = state;
        self.generation = self.generation.wrapping_add(1);
        self.good_row = 0;
        self.bad_run = 0;
        self.slow_run = 0;
        self.broken_run = 0;
        self.silent_run = 0;
        self.parts = [Part::default(); PARTS];
        self.hanging = self.hanging.kept();
    }

    /// What is worth keeping of it over a restart.
    pub(crate) fn remember(&self) -> RememberedBreaker {
        let (state, opened_by) = match self.state {
            State::Closed => (RememberedState::Closed, None),
            State::Open { until } => (RememberedState::Open { until }, self.opened_by),
            State::HalfOpen { .. } => (RememberedState::HalfOpen, self.opened_by),
        };
        RememberedBreaker {
            state,
            weight: self.weight,
            cooldown: self.cooldown,
            by_streams: self.by_streams,
            away_since: self.away_since,
            trouble_since: self.trouble.map(|trouble| trouble.since),
            opened_by,
        }
    }

    /// Restores it as it was before the restart. Weight and cool-down are kept within their bounds:
    /// the settings may have changed, and the numbers come from a file.
    pub(crate) fn restore(&mut self, now: Time, kept: &RememberedBreaker) {
        let state = kept.at(now);
        self.weight = if kept.weight.is_finite() { kept.weight.clamp(FLOOR, 1.0) } else { 1.0 };
        self.cooldown = kept.cooldown.min(self.spec.max_cooldown).max(self.spec.cooldown);
        self.by_streams = kept.by_streams;
        self.opened_by = kept.opened_by;
        self.by_p95 = kept.opened_by == Some(TransitionRule::SlowP95);
        self.by_hanging = kept.opened_by == Some(TransitionRule::Hanging);
        self.away_since = kept.away_since;
        // A failed probe is not the cause of an opening.
        let cause = kept.opened_by.filter(|why| *why != TransitionRule::ProbeBad);
        let since = kept.trouble_since.or(kept.away_since);
        self.trouble = since.map(|since| Trouble { since, cause });
        if state == State::Closed && self.weight >= 1.0 {
            self.be_well();
        } else {
            self.leave_full(now, cause);
        }
        self.last_probe = now;
        self.quiet_from(now);
        self.turn(state);
    }
}
