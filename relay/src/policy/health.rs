//! One rung's health: hold, breaker, and what its first tokens usually take.
//!
//! Two estimates stand side by side. The *rolling* one follows the last minutes
//! and sets the hedge delay. The *reference* is what the rung's p95 is when it is
//! well: fed only at full weight, it rises slowly, so that an incident cannot
//! become the norm while it lasts.

use crate::policy::breaker::{Breaker, State, Ticket};
use crate::policy::histogram::{Counts, Rolling, at_least};
use crate::policy::hold::Hold;
use crate::policy::hollow::Hollow;
use crate::policy::ladder::{HedgeSpec, RungSpec};
use crate::policy::remembered::{Reference, Remembered};
use crate::policy::returning::{Away, Returning};
use crate::policy::time::Time;
use crate::policy::witness::Witnesses;
use std::sync::Arc;
use std::time::Duration;

/// What a prompt token adds to the time to first token, beyond the first ones.
const PER_TOKEN: Duration = Duration::from_micros(12);
/// Prompts up to here take no longer for their size.
const SMALL_PROMPT: u64 = 550;
/// Until so many first tokens have been seen there is no reference.
const ENOUGH: u32 = 30;
/// The slow mark as a multiple of the reference.
const MARK: f64 = 1.25;
/// The hedge delay is never longer than so many references, which is the end of the bucket
/// whose middle the reference is: once an incident has raised the rolling estimate, every
/// further reference of waiting is its users'.
const DELAY_CAP: f64 = 1.02;
/// The quantile of recent times to first token after which a hedge starts. With the cap
/// it lets one call in twenty hedge while all is well.
const DELAY_QUANTILE: f64 = 0.96;
/// A reference is never shorter: below it everything is fast.
const LEAST_REFERENCE: Duration = Duration::from_millis(500);
/// A reference rises by so much a minute at the most.
const RISE: f64 = 1.10;
/// But not while more than so many attempts for each late token were cut beyond it.
const CUT_TO_LATE: u64 = 2;
/// The soft first clock: so many references, and never less than this. It is what is
/// left when the hedge budget is spent, so it must not be far beyond the mark.
const SOFT: f64 = 1.8;
const SOFT_LEAST: Duration = Duration::from_secs(3);
/// The soft first clock before there is a reference: twice the delay with which hedges start
/// then. The design has none there. But at the start the hedge budget of a rung that is dead
/// is soon spent, and all who find no hedge would wait for the hard clock.
const SOFT_AT_FIRST: Duration = Duration::from_secs(4);
/// The end of the histograms' smallest bucket.
const AT_ONCE: Duration = Duration::from_millis(10);
/// Estimates are computed anew this often.
const REFRESH: Duration = Duration::from_secs(1);

/// An operator's override.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Override {
    /// None.
    #[default]
    Auto,
    /// No new attempt of any kind.
    ForcedOpen,
    /// Traffic whatever the breaker says; holds count.
    ForcedClosed,
    /// Behind every other usable rung.
    Demoted,
}

impl Override {
    /// Its word in the journal and the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ForcedOpen => "forced_open",
            Self::ForcedClosed => "forced_closed",
            Self::Demoted => "demoted",
        }
    }

    /// The one that this word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Auto, Self::ForcedOpen, Self::ForcedClosed, Self::Demoted];
        all.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// How long prompts of this size take beyond small ones.
#[must_use]
pub fn size_term(prompt_tokens: u64) -> Duration {
    let beyond = u32::try_from(prompt_tokens.saturating_sub(SMALL_PROMPT)).unwrap_or(u32::MAX);
    PER_TOKEN.saturating_mul(beyond)
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
    pub(crate) forced: Override,
    /// When the override ends by itself; `None`: never, or there is none.
    pub(crate) forced_until: Option<Time>,
    /// The walk that was told 403 for no known reason, with no token since.
    pub(crate) suspect: Option<u64>,
    /// It has once sent a finish reason: an answer without one has been cut.
    pub(crate) finishes: bool,
    /// Since when its account has the key that it has; the zero: from the start.
    pub(crate) account_since: Time,
    /// Streams committed to it are to end, too.
    pub(crate) cut_streams: bool,
    /// Rises with each change of the override.
    pub(crate) forced_version: u64,
    shed: Shed,
    short: Rolling,
    long: Rolling,
    steady: Rolling,
    tokens_seen: u32,
    estimates: Estimates,
    returning: Returning,
}

#[derive(Debug, Clone, Copy, Default)]
struct Estimates {
    at: Option<Time>,
    /// The rolling quantile that hedges wait for, losers counted at their cut.
    delay: Option<Duration>,
    median: Option<Duration>,
    reference: Option<Duration>,
    /// The median at full weight.
    usual: Option<Duration>,
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
    const MARGIN: f64 = 1.5;

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
            forced: Override::Auto,
            forced_until: None,
            suspect: None,
            finishes: false,
            account_since: Time::default(),
            cut_streams: false,
            forced_version: 0,
            shed: Shed::default(),
            short: Rolling::new(6, Duration::from_secs(20)),
            long: Rolling::new(6, Duration::from_secs(300)),
            steady: Rolling::new(10, Duration::from_secs(60)),
            tokens_seen: 0,
            estimates: Estimates::default(),
            returning: Returning::default(),
        }
    }

    /// Other limits from here on; what is known of it stays.
    pub(crate) fn set_spec(&mut self, spec: RungSpec) {
        self.breaker.set_spec(spec.breaker.clone());
        self.spec = Arc::new(spec);
    }

    /// Whether the p95 of the last minutes is over `limit`.
    pub(crate) fn p95_is_over(&mut self, now: Time, limit: Duration) -> bool {
        let recent = self.short.sum(now);
        recent.tokens() >= ENOUGH && recent.quantile(0.95).is_none_or(|p95| p95 > limit)
    }

    pub(crate) const fn has_reference(&self) -> bool {
        self.estimates.reference.is_some()
    }

    pub(crate) const fn reference(&self) -> Option<Duration> {
        self.estimates.reference
    }

    pub(crate) fn shed_share(&self, now: Time) -> f64 {
        self.shed.share(now)
    }

    pub(crate) fn count_for_shedding(&mut self, now: Time, good: bool) {
        self.shed.count(now, good);
    }

    /// A first token came, `net` of the prompt's size.
    pub(crate) fn token(&mut self, now: Time, net: Duration, ticket: Ticket, after_mark: bool) {
        self.short.at(now).token(net);
        self.long.at(now).token(net);
        if ticket.full {
            self.steady.at(now).token(net);
        }
        self.tokens_seen = self.tokens_seen.saturating_add(1);
        if self.breaker.away_since.is_some() && !ticket.full {
            self.returning.token(net, after_mark);
        }
    }

    /// An attempt was cut without a token after `net`.
    pub(crate) fn cut(&mut self, now: Time, net: Duration, ticket: Ticket) {
        let is_away = self.breaker.away_since.is_some() && !ticket.full;
        if is_away {
            let after_mark = self.mark().is_some_and(|mark| net >= mark);
            self.returning.cut(net, after_mark);
        }
        self.short.at(now).cut(net);
        self.long.at(now).cut(net);
        if ticket.full {
            self.steady.at(now).cut(net);
        }
    }

    /// A hang, an error or a clock: what came before says nothing of being merely slower.
    pub(crate) fn forget_returning(&mut self) {
        self.returning.forget();
    }

    /// Slower is not sick: adopts a new reference if the attempts on the way back are
    /// steadily later than before. `alone`: no neighbour is away. Returns whether it did.
    pub(crate) fn rebase(&mut self, now: Time, alone: bool) -> bool {
        let since = self.breaker.away_since;
        let span = since.map_or(Duration::ZERO, |since| now.since(since));
        let away = Away { span, alone };
        let known = self.estimates.reference.zip(self.estimates.usual);
        let Some((reference, usual)) = known else { return false };
        let Some(ratio) = self.returning.slower_by(usual, away) else { return false };
        self.estimates.reference = Some(reference.mul_f64(ratio));
        self.estimates.usual = Some(usual.mul_f64(ratio));
        // What it took before would pull the new reference down again at once.
        self.steady.clear();
        // Ten answers are evidence enough that it is well, at its own pace.
        self.breaker.trust();
        true
    }

    /// Its times to first token in the last minutes, or in the last half hour if they are few.
    pub(crate) fn recent(&mut self, now: Time) -> Counts {
        let recent = self.short.sum(now);
        if recent.tokens() < ENOUGH { self.long.sum(now) } else { recent }
    }

    /// Brings the estimates up to date; cheap if they are fresh.
    pub(crate) fn refresh(&mut self, now: Time) {
        let since = self.estimates.at.map(|at| now.since(at));
        if since.is_some_and(|since| since < REFRESH) {
            return;
        }
        let recent = self.recent(now);
        let enough = recent.tokens() >= ENOUGH;
        let before = self.estimates;
        // Frozen while it is away: what it takes then is not what it usually takes.
        let reference = if self.breaker.is_full() {
            self.new_reference(now, since.unwrap_or_default())
        } else {
            before.reference
        };
        // A handful of tokens is no reason to forget what was usual before a restart.
        let usual = self
            .breaker
            .is_full()
            .then(|| self.steady.sum(now))
            .filter(|steady| before.usual.is_none() || steady.tokens() >= ENOUGH);
        let usual = usual.and_then(|steady| steady.quantile(0.5));
        self.estimates = Estimates {
            at: Some(now),
            delay: enough.then(|| recent.quantile_as_cut(DELAY_QUANTILE)).flatten(),
            median: recent.quantile(0.5),
            reference,
            usual: usual.or(before.usual),
        };
        if self.breaker.is_full() {
            self.returning.is_back();
        }
    }

    fn new_reference(&mut self, now: Time, since: Duration) -> Option<Duration> {
        let before = self.estimates.reference;
        if self.tokens_seen < ENOUGH {
            return before;
        }
        let steady = self.steady.sum(now);
        if steady.tokens() < ENOUGH {
            return before;
        }
        // So many were cut that the quantile lies beyond what was seen: nothing new is known.
        let Some(seen) = steady.quantile(0.95) else { return before };
        let seen = seen.max(LEAST_REFERENCE);
        // Where silence and not late tokens are beyond it, that is no reason to wait longer:
        // the few stragglers among the many that hang would make the incident the norm.
        if let Some(before) = before.filter(|before| seen > *before) {
            let (late, cut) = steady.beyond(before);
            if u64::from(cut) > CUT_TO_LATE * u64::from(late) {
                return Some(before);
            }
        }
        Some(match before {
            Some(before) => seen.min(before.mul_f64(RISE.powf(since.as_secs_f64() / 60.0))),
            None => seen,
        })
    }

    /// The slow mark, net of the prompt's size.
    pub(crate) fn mark(&self) -> Option<Duration> {
        self.estimates.reference.map(|reference| reference.mul_f64(MARK))
    }

    pub(crate) fn soft_clock(&self) -> Duration {
        let reference = self.estimates.reference;
        reference.map_or(SOFT_AT_FIRST, |reference| reference.mul_f64(SOFT).max(SOFT_LEAST))
    }

    /// The median of its recent times to first token; zero if it lies in the smallest
    /// bucket, which says nothing but "at once".
    pub(crate) fn median(&self) -> Option<Duration> {
        let median = self.estimates.median?;
        Some(if median <= AT_ONCE { Duration::ZERO } else { median })
    }

    /// The `auto` hedge delay against a rival with this median, net of the prompt's size.
    pub(crate) fn hedge_delay(&self, spec: &HedgeSpec, rival: Option<Duration>) -> Duration {
        let known = self.estimates.reference.zip(self.mark());
        let Some((reference, mark)) = known else { return spec.initial };
        // After a lull or a restart the reference is all that is known.
        let cap = reference.mul_f64(DELAY_CAP);
        let recent = self.estimates.delay.unwrap_or(cap);
        let delay = recent.min(cap).max(spec.min).min(spec.max.max(spec.min));
        // Earlier, and the hedge would hide an incident from the breaker: so would a rival
        // that is thought to be slower than it is.
        delay.max(mark.saturating_sub(rival.map(at_least).unwrap_or_default()))
    }

    pub(crate) fn restore_reference(&mut self, reference: Duration, usual: Duration) {
        self.tokens_seen = ENOUGH;
        self.estimates.reference = Some(reference);
        self.estimates.usual = Some(usual);
    }

    /// What rules at `now`: an override whose time is over does so no more, though
    /// nobody may have ended it yet.
    pub(crate) fn rules(&self, now: Time) -> (Override, State) {
        let state = self.breaker.state();
        if self.forced_until.is_none_or(|until| until > now) {
            return (self.forced, state);
        }
        match self.forced {
            Override::ForcedOpen => (Override::Auto, State::HalfOpen { taken: false, good: 0 }),
            Override::ForcedClosed => (Override::Auto, State::Closed),
            Override::Auto | Override::Demoted => (Override::Auto, state),
        }
    }

    /// What is worth keeping of it over a restart.
    pub(crate) fn remember(&self) -> Remembered {
        let Estimates { reference, usual, .. } = self.estimates;
        let reference = reference.zip(usual).map(|(p95, usual)| Reference { p95, usual });
        let (hold, breaker) = (self.hold.remember(), self.breaker.remember());
        Remembered { reference, hold, breaker, finishes: self.finishes }
    }

    /// As it was before the restart.
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
