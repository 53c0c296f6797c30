//! One rung's health: hold, breaker, and what its first tokens usually take.
//!
//! The time to a first token depends on the request: so each kind of request has a profile, and a
//! slope accounts for the prompt's size. Until a kind has a reference, its requests get more time
//! and do not count as slow.

use crate::breaker::{Breaker, State, Ticket};
use crate::histogram::{Counts, at_least};
use crate::hold::Hold;
use crate::hollow::Hollow;
use crate::ladder::{HedgeSpec, Kind, RungSpec, Size};
use crate::profile::{ENOUGH, LEAST_REFERENCE, Profile};
use crate::remembered::{Reference, Remembered};
use crate::returning::{Away, Returning};
use crate::slope::Slope;
use crate::time::Time;
use crate::witness::Witnesses;
use shared::OverrideMode;
use std::sync::Arc;
use std::time::Duration;

/// The longest hedge delay, as a multiple of the reference: the end of the histogram bucket whose
/// middle is the reference. An incident raises the rolling estimate; without this limit clients
/// would wait for it.
const DELAY_CAP: f64 = 1.02;
/// The soft clock as a multiple of the reference, and its least length. It is what is left when the
/// hedge budget is spent, so it must not be far beyond the mark.
const SOFT: f64 = 1.8;
const SOFT_LEAST: Duration = Duration::from_secs(3);
/// The soft clock without a reference: twice the hedge delay without one. Without this clock, once
/// a rung that is dead from the start has spent the hedge budget, every request without a hedge
/// would wait for the hard clock.
const SOFT_AT_FIRST: Duration = Duration::from_secs(4);
/// How many times as long a request that thinks gets, until its kind has a reference.
const THINKING: u32 = 2;
/// If calls hang, a hedge starts earlier, by at most this share of the way to the earliest delay
/// that hides nothing from the breaker. Even earlier, the hedges of fast calls would spend the
/// budget.
const SOONER: f64 = 0.5;
/// The end of the histograms' smallest bucket.
const AT_ONCE: Duration = Duration::from_millis(10);
/// Returning attempts of all kinds are judged together, as multiples of what is usual for their
/// kind. This length stands for one times the usual.
const UNIT: Duration = Duration::from_secs(1);

/// A request whose attempt was refused as if our account were wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Witness {
    /// The number of its walk.
    pub(crate) walk: u64,
    /// Its client's number; 0 without configured clients.
    pub(crate) client: u64,
}

impl Witness {
    /// Whether the two confirm each other: two requests, and of two clients if clients are
    /// configured.
    pub(crate) fn confirms(self, other: Self) -> bool {
        let is_one_client = self.client != 0 && self.client == other.client;
        self.walk != other.walk && !is_one_client
    }
}

/// Everything that is known of one rung.
#[derive(Debug, Clone)]
pub(crate) struct Health {
    /// Shared with the attempts that were dialled under it.
    pub(crate) spec: Arc<RungSpec>,
    pub(crate) hold: Hold,
    /// How often a provider asked for a pause; an operator who ends a hold does not undo that.
    pub(crate) holds_asked: u64,
    pub(crate) breaker: Breaker,
    pub(crate) hollow: Hollow,
    pub(crate) witnesses: Witnesses,
    pub(crate) forced: OverrideMode,
    /// When the override ends by itself; `None`: never, or there is none.
    pub(crate) forced_until: Option<Time>,
    /// The first request since the last token that was refused as if our account were wrong.
    pub(crate) suspect: Option<Witness>,
    /// The walk that took it down last for a refused account.
    pub(crate) taken_by: Option<u64>,
    /// It has once sent a finish reason: an answer without one has been cut.
    pub(crate) finishes: bool,
    /// Since when its account has its present key; zero: from the start.
    pub(crate) account_since: Time,
    /// Streams committed to it are to end, too.
    pub(crate) cut_streams: bool,
    /// Rises with each change of the override.
    pub(crate) forced_version: u64,
    shed: Shed,
    /// The times to first token of the usual kind; those of other kinds are in `others`.
    usual: Profile,
    others: Vec<(Kind, Profile)>,
    slope: Slope,
    returning: Returning,
    /// By how much its references have been raised since it left full weight.
    raised: f64,
}

/// Decaying counts for proportional shedding.
#[derive(Debug, Clone, Copy, Default)]
struct Shed {
    calls: f64,
    good: f64,
    at: Time,
}

impl Shed {
    const DECAY: f64 = 30.0;
    const MARGIN: f64 = 1.1;

    fn count(&mut self, now: Time, good: bool) {
        let kept = (-now.since(self.at).as_secs_f64() / Self::DECAY).exp();
        self.calls = self.calls.mul_add(kept, 1.0);
        self.good = self.good.mul_add(kept, f64::from(u8::from(good)));
        self.at = now;
    }

    fn share(&self, now: Time) -> f64 {
        let kept = (-now.since(self.at).as_secs_f64() / Self::DECAY).exp();
        let (calls, good) = (self.calls * kept, self.good * kept);
        ((calls - Self::MARGIN * good) / (calls + 1.0)).max(0.0)
    }
}

impl Health {
    pub(crate) fn new(spec: RungSpec) -> Self {
        Self {
            breaker: Breaker::new(spec.breaker.clone()),
            spec: Arc::new(spec),
            hold: Hold::default(),
            holds_asked: 0,
            hollow: Hollow::default(),
            witnesses: Witnesses::default(),
            forced: OverrideMode::Auto,
            forced_until: None,
            suspect: None,
            finishes: false,
            taken_by: None,
            account_since: Time::default(),
            cut_streams: false,
            forced_version: 0,
            shed: Shed::default(),
            usual: Profile::default(),
            others: Vec::new(),
            slope: Slope::default(),
            raised: 1.0,
            returning: Returning::default(),
        }
    }

    /// Sets other limits; what is known of the rung stays.
    pub(crate) fn set_spec(&mut self, spec: RungSpec) {
        self.breaker.set_spec(spec.breaker.clone());
        self.spec = Arc::new(spec);
    }

    /// Whether the p95 of the last minutes is over `limit` for requests of this kind. The limit is
    /// meant for usual requests, so it is raised in proportion for a kind that is known to take
    /// longer.
    pub(crate) fn p95_is_over(&mut self, now: Time, size: Size, limit: Duration) -> bool {
        let limit = self.limit_of(size.kind, limit);
        let recent = self.profile_mut(size.kind).latest(now);
        recent.tokens() >= ENOUGH && recent.quantile(0.95).is_none_or(|p95| p95 > limit)
    }

    fn limit_of(&self, kind: Kind, limit: Duration) -> Duration {
        let usual = |kind| self.profile(kind)?.estimates.usual;
        let both = usual(kind).zip(usual(Kind::default()));
        limit.mul_f64(both.map_or(1.0, |(own, usual)| ratio(own, usual)).max(1.0))
    }

    /// Whether the answers that come are as fast as usual: under load all are slower.
    pub(crate) fn answers_quickly(&mut self, now: Time, kind: Kind) -> bool {
        self.profile_mut(kind).answers_quickly(now)
    }

    /// Forgets the latest times: the p95 is judged by later calls only.
    pub(crate) fn forget_latest(&mut self) {
        self.usual.forget_latest();
        self.others.iter_mut().for_each(|(_, profile)| profile.forget_latest());
    }

    /// Whether this kind has a reference.
    pub(crate) fn has_reference(&self, kind: Kind) -> bool {
        self.profile(kind).is_some_and(|profile| profile.estimates.reference.is_some())
    }

    /// The reference p95 of usual requests; without one, that of any other kind.
    pub(crate) fn reference(&self) -> Option<Duration> {
        let mut others = self.others.iter().map(|(_, profile)| profile.estimates.reference);
        self.usual.estimates.reference.or_else(|| others.find_map(|reference| reference))
    }

    fn profile(&self, kind: Kind) -> Option<&Profile> {
        if kind == Kind::default() {
            return Some(&self.usual);
        }
        self.others.iter().find(|(other, _)| *other == kind).map(|(_, profile)| profile)
    }

    /// There are few kinds, so that a client cannot make this grow.
    fn profile_mut(&mut self, kind: Kind) -> &mut Profile {
        if kind == Kind::default() {
            return &mut self.usual;
        }
        let at = self.others.iter().position(|(other, _)| *other == kind).unwrap_or_else(|| {
            self.others.push((kind, Profile::default()));
            self.others.len() - 1
        });
        self.others.get_mut(at).map_or(&mut self.usual, |(_, profile)| profile)
    }

    pub(crate) fn shed_share(&self, now: Time) -> f64 {
        self.shed.share(now)
    }

    pub(crate) fn count_for_shedding(&mut self, now: Time, good: bool) {
        self.shed.count(now, good);
    }

    /// A first token came after `span`.
    pub(crate) fn token(
        &mut self,
        now: Time,
        span: Duration,
        size: Size,
        ticket: Ticket,
        slow: bool,
    ) {
        let after_mark = slow || self.mark(size).is_some_and(|mark| span > mark);
        let net = self.learn(span, size, ticket, false);
        self.profile_mut(size.kind).token(now, net, ticket.full);
        if let Some(net) = self.on_the_way_back(net, size.kind, ticket) {
            self.returning.token(net, after_mark);
        }
    }

    /// An attempt was cut without a token after `span`.
    pub(crate) fn cut(&mut self, now: Time, span: Duration, size: Size, ticket: Ticket) {
        let after_mark = self.mark(size).is_some_and(|mark| span >= mark);
        let net = self.learn(span, size, ticket, true);
        if let Some(net) = self.on_the_way_back(net, size.kind, ticket) {
            self.returning.cut(net, after_mark);
        }
        self.profile_mut(size.kind).cut(now, net, ticket.full);
    }

    /// Returns `span` without the time for the prompt's size. The slope is learned only from calls
    /// at full weight.
    fn learn(&mut self, span: Duration, size: Size, ticket: Ticket, was_cut: bool) -> Duration {
        let small = self.profile(size.kind).and_then(|profile| profile.estimates.median);
        if let Some(small) = small.filter(|_| ticket.full) {
            self.slope.learn(size.prompt_tokens, span, small, was_cut);
        }
        span.saturating_sub(self.slope.term(size.prompt_tokens))
    }

    /// If this is a returning attempt, `net` as a multiple of what was usual for its kind when the
    /// rung left full weight.
    fn on_the_way_back(&self, net: Duration, kind: Kind, ticket: Ticket) -> Option<Duration> {
        let is_away = self.breaker.away_since.is_some() && !ticket.full;
        let usual = self.profile(kind)?.estimates.usual.filter(|_| is_away)?;
        Some(UNIT.mul_f64(self.raised * ratio(net, usual)))
    }

    /// An error or an expired clock: earlier attempts no longer show a rung that is only slower.
    pub(crate) fn forget_returning(&mut self) {
        self.returning.forget();
    }

    /// Adopts a new reference if the returning attempts are steadily later than before: a slower
    /// rung is not sick. `alone`: no other rung of its ladders is away. Returns whether it did.
    pub(crate) fn rebase(&mut self, now: Time, alone: bool) -> bool {
        let since = self.breaker.away_since;
        let span = since.map_or(Duration::ZERO, |since| now.since(since));
        let away = Away { span, alone };
        let Some(ratio) = self.returning.slower_by(UNIT.mul_f64(self.raised), away) else {
            return false;
        };
        self.raised *= ratio;
        self.usual.rebase(ratio);
        self.others.iter_mut().for_each(|(_, profile)| profile.rebase(ratio));
        // Ten answers are enough evidence that the rung is well, only slower.
        self.breaker.trust(now);
        true
    }

    /// Its times to first token in the last minutes, or in the last half hour if they are
    /// few, of all kinds.
    pub(crate) fn recent(&mut self, now: Time) -> Counts {
        let mut recent = self.usual.recent(now);
        self.others.iter_mut().for_each(|(_, profile)| recent.add(&profile.recent(now)));
        recent
    }

    /// Brings the estimates of a kind up to date; cheap if they are fresh.
    pub(crate) fn refresh(&mut self, now: Time, kind: Kind) {
        let is_full = self.breaker.is_full();
        self.profile_mut(kind).refresh(now, is_full);
        if is_full {
            self.returning.is_back();
            self.raised = 1.0;
        }
    }

    /// The slow mark of a request; `None` if its kind has no reference. If the configured limit on
    /// the p95 opened the rung, the mark of its probes is not above that limit.
    pub(crate) fn mark(&self, size: Size) -> Option<Duration> {
        let limit = self.spec.breaker.open_ttft_p95.filter(|_| self.breaker.is_probed_by_p95());
        let limit = limit.map(|limit| self.limit_of(size.kind, limit));
        let mark = self.profile(size.kind).and_then(Profile::mark);
        let mark = mark.into_iter().chain(limit).min()?;
        Some(mark.saturating_add(self.slope.most(size.prompt_tokens)))
    }

    /// The soft first clock of a request.
    pub(crate) fn soft_clock(&self, size: Size) -> Duration {
        let soft = |reference: Duration| reference.mul_f64(SOFT).max(SOFT_LEAST);
        let of = |kind| self.profile(kind)?.estimates.reference.map(soft);
        let clock = of(size.kind).unwrap_or_else(|| {
            let usual = of(Kind::default()).unwrap_or_default();
            patience(size.kind, SOFT_AT_FIRST).max(usual)
        });
        clock.saturating_add(self.slope.most(size.prompt_tokens))
    }

    /// The median of recent times to first token of this kind; zero if it lies in the
    /// smallest bucket, which says nothing but "at once".
    pub(crate) fn median(&self, kind: Kind) -> Option<Duration> {
        let median = self.profile(kind)?.estimates.median?;
        Some(if median <= AT_ONCE { Duration::ZERO } else { median })
    }

    /// The `auto` hedge delay against a rival with this median.
    pub(crate) fn hedge_delay(
        &self,
        spec: &HedgeSpec,
        size: Size,
        rival: Option<Duration>,
    ) -> Duration {
        let delay = self.known_delay(spec, size.kind, rival).unwrap_or_else(|| {
            let usual = self.known_delay(spec, Kind::default(), rival).unwrap_or_default();
            patience(size.kind, spec.initial).max(usual)
        });
        delay.saturating_add(self.slope.most(size.prompt_tokens))
    }

    fn known_delay(
        &self,
        spec: &HedgeSpec,
        kind: Kind,
        rival: Option<Duration>,
    ) -> Option<Duration> {
        let profile = self.profile(kind)?;
        let (reference, mark) = profile.estimates.reference.zip(profile.mark())?;
        // After a time without requests, or a restart, only the reference is known.
        let cap = reference.mul_f64(DELAY_CAP);
        let recent = profile.estimates.delay.unwrap_or(cap);
        // The configured limit is for requests that do not think.
        let most = if kind.thinks() { cap } else { spec.max.max(spec.min) };
        let delay = recent.min(cap).max(spec.min).min(most);
        // If a hedge won before the first attempt's mark, it would hide an incident from the
        // breaker. So the least time that the rival may take counts.
        let hides_nothing = mark.saturating_sub(rival.map(at_least).unwrap_or_default());
        let delay = delay.max(hides_nothing);
        // If some calls hang, a call that is silent for long is probably one of them. Under load
        // all calls are slower, and earlier hedges would only add load.
        let sooner = if profile.estimates.is_quick {
            SOONER * self.breaker.suspicion_of_hanging()
        } else {
            0.0
        };
        let most_sooner = delay.saturating_sub(hides_nothing.max(spec.min));
        Some(delay.saturating_sub(most_sooner.mul_f64(sooner)))
    }

    pub(crate) fn restore_reference(&mut self, reference: Duration, usual: Duration) {
        self.usual.restore(reference, usual);
    }

    /// The override and the state in force at `now`. An override whose time is over is not in
    /// force, even if it has not been ended yet.
    pub(crate) fn rules(&self, now: Time) -> (OverrideMode, State) {
        let state = self.breaker.state();
        if self.forced_until.is_none_or(|until| until > now) {
            return (self.forced, state);
        }
        match self.forced {
            OverrideMode::ForcedOpen => {
                (OverrideMode::Auto, State::HalfOpen { taken: false, good: 0 })
            }
            OverrideMode::ForcedClosed => (OverrideMode::Auto, State::Closed),
            OverrideMode::Auto | OverrideMode::Demoted => (OverrideMode::Auto, state),
        }
    }

    /// What is worth keeping of it over a restart.
    pub(crate) fn remember(&self) -> Remembered {
        let estimates = &self.usual.estimates;
        let reference =
            estimates.reference.zip(estimates.usual).map(|(p95, usual)| Reference { p95, usual });
        let (hold, breaker) = (self.hold.remember(), self.breaker.remember());
        Remembered { reference, hold, breaker, finishes: self.finishes }
    }

    /// Restores it as it was before the restart.
    pub(crate) fn restore(&mut self, now: Time, kept: &Remembered) {
        if let Some(Reference { p95, usual }) = kept.reference {
            self.restore_reference(p95.max(LEAST_REFERENCE), usual);
        }
        if let Some(hold) = kept.hold.and_then(|hold| hold.at(now)) {
            self.hold = Hold::restore(hold);
        }
        self.breaker.restore(now, &kept.breaker);
        self.finishes = kept.finishes;
    }
}

/// How long a request of this kind gets without a reference: `span`, or longer if it thinks.
fn patience(kind: Kind, span: Duration) -> Duration {
    if kind.thinks() { span.saturating_mul(THINKING) } else { span }
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-6)
}
