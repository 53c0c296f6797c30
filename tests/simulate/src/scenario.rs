//! The scenarios: providers, load and incidents that belong together.

use simulate::incident::Plan;
use simulate::world::{
    FIRST, Family, HONEST, LOCAL, MEASURED, MIXED, ONE_SECOND, RUNGS, SECOND, STEEP, WIDE, World,
};

/// How many requests a whole run has: 2.9 h at 5.5 requests a second.
const COUNT: u64 = 58_000;
const RATE: f64 = 5.5;
/// The rate of a ladder that few clients use.
const LOW_RATE: f64 = 0.27;
/// Calls a second that the rungs can serve where load counts.
const CAPACITY: Option<[f64; RUNGS]> = Some([9.0, 2.5, 2.5]);
/// When the first of the black holes begins, if one is tried at many moments.
const FIRST_PHASE: f64 = 400.0;
/// How much later each next one begins: no divisor of a cool-down, a window or a decay.
const PHASE: f64 = 1.37;
/// How long each of those runs is.
const PHASE_SECONDS: f64 = 910.0;

/// A scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) words: &'static str,
    family: Family,
    plan: Plan,
    rate: f64,
    count: u64,
    capacity: Option<[f64; RUNGS]>,
    /// The rung whose black hole is tried at many moments.
    hole: Option<usize>,
}

const fn scenario(
    name: &'static str,
    words: &'static str,
    family: Family,
    plan: Plan,
    rate: f64,
    count: u64,
) -> Scenario {
    Scenario { name, words, family, plan, rate, count, capacity: None, hole: None }
}

const fn phased(
    name: &'static str,
    words: &'static str,
    family: Family,
    rung: usize,
    rate: f64,
) -> Scenario {
    Scenario { hole: Some(rung), ..scenario(name, words, family, Plan::Calm, rate, 0) }
}

pub(crate) const INCIDENTS: Scenario = scenario(
    "incidents",
    "nine incidents, 29 % of the time, at 5.5 requests a second",
    FIRST,
    Plan::First,
    RATE,
    COUNT,
);
pub(crate) const SECOND_INCIDENTS: Scenario = scenario(
    "second",
    "other providers (1.2 s, 3 % stragglers) and nine other incidents",
    SECOND,
    Plan::Second,
    RATE,
    COUNT,
);
const MEASURED_INCIDENTS: Scenario = scenario(
    "measured",
    "the nine incidents over the measured times themselves",
    MEASURED,
    Plan::First,
    RATE,
    COUNT,
);
pub(crate) const CALM: Scenario = scenario("calm", "no incident", FIRST, Plan::Calm, RATE, COUNT);
pub(crate) const SECOND_CALM: Scenario =
    scenario("second-calm", "the other providers, no incident", SECOND, Plan::Calm, RATE, COUNT);
const MEASURED_CALM: Scenario =
    scenario("measured-calm", "the measured times, no incident", MEASURED, Plan::Calm, RATE, COUNT);
pub(crate) const BLACK_HOLE: Scenario =
    phased("black-hole", "rung A in a black hole for 5 minutes, at many moments", FIRST, 0, RATE);
pub(crate) const SECOND_BLACK_HOLE: Scenario = phased(
    "second-black-hole",
    "the other providers, rung A in a black hole, at many moments",
    SECOND,
    0,
    RATE,
);
pub(crate) const SECOND_BLACK_HOLE_B: Scenario = phased(
    "second-black-hole-b",
    "the other providers, rung B in a black hole, at many moments",
    SECOND,
    1,
    RATE,
);
pub(crate) const DEAD_AT_START: Scenario = scenario(
    "dead-at-start",
    "rung A never answers, from the first request on",
    FIRST,
    Plan::DeadAtStart,
    RATE,
    6_000,
);
pub(crate) const SECOND_DEAD_AT_START: Scenario = scenario(
    "second-dead-at-start",
    "the other providers, rung A never answers, from the first request on",
    SECOND,
    Plan::DeadAtStart,
    RATE,
    6_000,
);
pub(crate) const SLOW: Scenario = scenario(
    "slow",
    "the nine incidents at 0.27 requests a second, nine times over",
    FIRST,
    Plan::First,
    LOW_RATE,
    25_600,
);
pub(crate) const SECOND_SLOW: Scenario = scenario(
    "second-slow",
    "the other providers and incidents at 0.27 requests a second, nine times over",
    SECOND,
    Plan::Second,
    LOW_RATE,
    25_600,
);
pub(crate) const OVERLOAD: Scenario = Scenario {
    capacity: CAPACITY,
    ..scenario(
        "overload",
        "rung A at half its capacity in the second of three hours (the oracles feel no load)",
        FIRST,
        Plan::Calm,
        RATE,
        COUNT,
    )
};
pub(crate) const SECOND_OVERLOAD: Scenario = Scenario {
    capacity: CAPACITY,
    ..scenario(
        "second-overload",
        "the other providers, rung A at half its capacity in the second of three hours",
        SECOND,
        Plan::Calm,
        RATE,
        COUNT,
    )
};
pub(crate) const HONEST_3S: Scenario = scenario(
    "honest-3s",
    "rung A takes 3 s and is well; those below take 0.5 s and 0.6 s",
    HONEST,
    Plan::Calm,
    RATE,
    10_000,
);
pub(crate) const SLOWER: Scenario = scenario(
    "slower",
    "rung A goes from 1 s to 2 s after 10 minutes, for good, at 5.5 requests a second",
    ONE_SECOND,
    Plan::Slower,
    RATE,
    10_000,
);
pub(crate) const SLOWER_1: Scenario = scenario(
    "slower-1",
    "rung A goes from 1 s to 2 s after 10 minutes, for good, at 1 request a second",
    ONE_SECOND,
    Plan::Slower,
    1.0,
    3_000,
);
pub(crate) const LOCAL_BELOW: Scenario = phased(
    "local-below",
    "a local rung B of 0.2 s below A of 2 s, A in a black hole, at many moments",
    LOCAL,
    0,
    RATE,
);
pub(crate) const LOCAL_BELOW_1: Scenario =
    phased("local-below-1", "the same at 1 request a second", LOCAL, 0, 1.0);
pub(crate) const DEAD_STREAMS: Scenario = scenario(
    "dead-streams",
    "rung A brings one token and hangs, for 5 minutes",
    FIRST,
    Plan::DeadStreams,
    RATE,
    6_000,
);
pub(crate) const SECOND_DEAD_STREAMS: Scenario = scenario(
    "second-dead-streams",
    "the other providers, rung A brings one token and hangs, for 5 minutes",
    SECOND,
    Plan::DeadStreams,
    RATE,
    6_000,
);

pub(crate) const PARTIAL: Scenario = scenario(
    "partial-hangs",
    "half, one in ten, 40 % on two rungs hang; the others are as quick as ever; 5 requests a second",
    WIDE,
    Plan::Partial,
    5.0,
    52_000,
);
pub(crate) const PARTIAL_1: Scenario =
    scenario("partial-hangs-1", "the same at 1 request a second", WIDE, Plan::Partial, 1.0, 10_400);
pub(crate) const WIDE_CALM: Scenario =
    scenario("wide-calm", "the same providers, no incident", WIDE, Plan::Calm, 5.0, 52_000);
pub(crate) const MIXED_CALM: Scenario = scenario(
    "mixed",
    "after 10 minutes every second request thinks for 4 s; nothing is wrong",
    MIXED,
    Plan::Calm,
    RATE,
    20_000,
);
pub(crate) const MIXED_1: Scenario =
    scenario("mixed-1", "the same at 1 request a second", MIXED, Plan::Calm, 1.0, 6_000);
pub(crate) const MIXED_INCIDENTS: Scenario = scenario(
    "mixed-incidents",
    "every second request thinks, and the nine incidents",
    MIXED,
    Plan::First,
    RATE,
    COUNT,
);
pub(crate) const STEEP_CALM: Scenario = scenario(
    "long-prompts",
    "after 10 minutes 8 % of the prompts have 30,000 tokens, of 36 us each on rung A",
    STEEP,
    Plan::Calm,
    RATE,
    20_000,
);
pub(crate) const SLOW_BLACK_HOLE: Scenario =
    phased("black-hole-slow", "the same at 0.27 requests a second", FIRST, 0, LOW_RATE);

/// All scenarios, in the order in which they are shown.
pub(crate) static ALL: [Scenario; 30] = [
    INCIDENTS,
    CALM,
    MEASURED_INCIDENTS,
    MEASURED_CALM,
    SECOND_INCIDENTS,
    SECOND_CALM,
    SLOW,
    SECOND_SLOW,
    OVERLOAD,
    SECOND_OVERLOAD,
    BLACK_HOLE,
    SECOND_BLACK_HOLE,
    SECOND_BLACK_HOLE_B,
    LOCAL_BELOW,
    LOCAL_BELOW_1,
    DEAD_AT_START,
    SECOND_DEAD_AT_START,
    DEAD_STREAMS,
    SECOND_DEAD_STREAMS,
    HONEST_3S,
    SLOWER,
    SLOWER_1,
    PARTIAL,
    PARTIAL_1,
    WIDE_CALM,
    MIXED_CALM,
    MIXED_1,
    MIXED_INCIDENTS,
    STEEP_CALM,
    SLOW_BLACK_HOLE,
];

impl Scenario {
    /// Its world; if it is tried at many moments, that of the first one.
    pub(crate) fn world(&self, seed: u64) -> World {
        self.phase(seed, 0).unwrap_or_else(|| {
            let world = World::new(seed, self.family, self.plan, self.rate, self.count);
            World { capacity: self.capacity, ..world }
        })
    }

    /// Whether it is tried at many moments.
    pub(crate) const fn is_phased(&self) -> bool {
        self.hole.is_some()
    }

    /// Its `phase`th world: a short one with one black hole, at another moment and with other
    /// random draws each time.
    pub(crate) fn phase(&self, seed: u64, phase: u32) -> Option<World> {
        let from = FIRST_PHASE + PHASE * f64::from(phase);
        let plan = Plan::BlackHole { rung: self.hole?, from, seconds: 300.0 };
        let seed = seed * 1000 + u64::from(phase);
        Some(World::until(seed, self.family, plan, self.rate, PHASE_SECONDS))
    }
}

/// How many times as long the second family takes as the first.
pub(crate) fn second_to_first() -> f64 {
    SECOND.typical() / FIRST.typical()
}
