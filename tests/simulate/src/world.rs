//! The providers: what happens to a call, given its random draws and the time.
//!
//! The bulk of each rung's time to first token is log-normal, fitted to the 70B runs of the llmperf
//! leaderboard (perplexity, fireworks, together), or it is those runs as they were measured, which
//! have a hard upper end. The second family has the medians of today's large models. The tail is
//! assumed, not measured: some stragglers with a Pareto factor, a few calls that never answer, a
//! few 5xx. Rungs are independent, except for the prompt's size and for incidents that hit several.

use crate::chance::{About, Luck, number};
use crate::incident::{Fault, Incident, Plan};

/// How many rungs a ladder has here.
pub const RUNGS: usize = 3;
/// Their names.
pub const NAMES: [&str; RUNGS] = ["A", "B", "C"];

/// The bulk of a rung's times to first token, in seconds.
#[derive(Debug, Clone, Copy)]
enum Bulk {
    /// Log-normal: median, and the spread of the logarithm.
    Fitted(f64, f64),
    /// As measured: every twentieth part, from the least to the most.
    Measured([f64; 21]),
}

impl Bulk {
    fn draw(&self, z: f64, uniform: f64) -> f64 {
        match self {
            Self::Fitted(median, spread) => median * (spread * z).exp(),
            Self::Measured(twentieths) => {
                let mut part = uniform * 20.0;
                for pair in twentieths.windows(2) {
                    if let [low, high] = pair
                        && part <= 1.0
                    {
                        return low + (high - low) * part;
                    }
                    part -= 1.0;
                }
                f64::INFINITY
            }
        }
    }

    const fn median(&self) -> f64 {
        match self {
            Self::Fitted(median, _) => *median,
            Self::Measured([.., median, _, _, _, _, _, _, _, _, _, _]) => *median,
        }
    }
}

/// A family of providers.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    rungs: [Bulk; RUNGS],
    stragglers: f64,
    /// What each prompt token beyond the first 550 adds, rung by rung.
    per_token: [f64; RUNGS],
    mix: Mix,
}

/// Requests of other kinds among the quick ones, some minutes into the run.
#[derive(Debug, Clone, Copy)]
struct Mix {
    /// The share that thinks before it answers.
    thinkers: f64,
    /// The share with a long prompt.
    long: f64,
}

const QUICK_ONLY: Mix = Mix { thinkers: 0.0, long: 0.0 };

impl Family {
    /// The first rung's median.
    pub fn typical(&self) -> f64 {
        self.rungs.first().map_or(1.0, Bulk::median)
    }
}

/// Quick rungs.
pub const FIRST: Family = Family {
    rungs: [Bulk::Fitted(0.375, 0.25), Bulk::Fitted(0.52, 0.24), Bulk::Fitted(0.64, 0.15)],
    stragglers: 0.015,
    per_token: [PER_TOKEN; RUNGS],
    mix: QUICK_ONLY,
};
/// Slower ones, with more stragglers.
pub const SECOND: Family = Family {
    rungs: [Bulk::Fitted(1.2, 0.28), Bulk::Fitted(1.1, 0.30), Bulk::Fitted(1.35, 0.22)],
    stragglers: 0.03,
    per_token: [PER_TOKEN; RUNGS],
    mix: QUICK_ONLY,
};

/// A rung that takes 3 s and is well, above those of the first family.
pub const HONEST: Family = Family {
    rungs: [Bulk::Fitted(3.0, 0.15), Bulk::Fitted(0.52, 0.24), Bulk::Fitted(0.64, 0.15)],
    stragglers: 0.015,
    per_token: [PER_TOKEN; RUNGS],
    mix: QUICK_ONLY,
};
/// A rung of 1 s above two that are hardly slower.
pub const ONE_SECOND: Family = Family {
    rungs: [Bulk::Fitted(1.0, 0.25), Bulk::Fitted(1.1, 0.24), Bulk::Fitted(1.35, 0.22)],
    stragglers: 0.015,
    per_token: [PER_TOKEN; RUNGS],
    mix: QUICK_ONLY,
};
/// A rung of 2 s above one that runs locally.
pub const LOCAL: Family = Family {
    rungs: [Bulk::Fitted(2.0, 0.25), Bulk::Fitted(0.2, 0.20), Bulk::Fitted(1.35, 0.22)],
    stragglers: 0.015,
    per_token: [PER_TOKEN; RUNGS],
    mix: QUICK_ONLY,
};

/// A rung of 0.6 s with a wide spread above two that are a little slower.
pub const WIDE: Family = Family {
    rungs: [Bulk::Fitted(0.6, 0.55), Bulk::Fitted(0.9, 0.25), Bulk::Fitted(0.9, 0.25)],
    stragglers: 0.03,
    per_token: [PER_TOKEN; RUNGS],
    mix: QUICK_ONLY,
};
/// Rungs of half a second; every second request thinks for some seconds.
pub const MIXED: Family = Family { mix: Mix { thinkers: 0.5, long: 0.0 }, ..FIRST };
/// Long prompts among short ones, on a rung that takes three times as long for a token.
pub const STEEP: Family = Family {
    per_token: [3.0 * PER_TOKEN, PER_TOKEN, PER_TOKEN],
    mix: Mix { thinkers: 0.0, long: 0.08 },
    ..FIRST
};

/// llmperf leaderboard, December 2023, Llama-2 70B at perplexity, fireworks and together.
pub const MEASURED: Family = Family {
    rungs: [
        Bulk::Measured([
            0.291, 0.310, 0.325, 0.332, 0.335, 0.342, 0.345, 0.350, 0.355, 0.360, 0.367, 0.375,
            0.386, 0.401, 0.412, 0.506, 0.562, 0.579, 0.610, 0.636, 0.685,
        ]),
        Bulk::Measured([
            0.317, 0.347, 0.359, 0.368, 0.379, 0.391, 0.422, 0.464, 0.490, 0.509, 0.516, 0.524,
            0.532, 0.541, 0.549, 0.562, 0.584, 0.616, 0.635, 0.788, 0.958,
        ]),
        Bulk::Measured([
            0.456, 0.504, 0.509, 0.519, 0.534, 0.546, 0.563, 0.567, 0.586, 0.612, 0.635, 0.643,
            0.651, 0.654, 0.666, 0.674, 0.693, 0.706, 0.733, 0.778, 0.891,
        ]),
    ],
    stragglers: 0.015,
    per_token: [PER_TOKEN; RUNGS],
    mix: QUICK_ONLY,
};

const STRAGGLER_LEAST: f64 = 2.5;
const STRAGGLER_ALPHA: f64 = 1.3;
const NEVER: f64 = 0.001;
const SERVER_ERRORS: f64 = 0.003;
/// What each prompt token beyond the first 550 adds.
const PER_TOKEN: f64 = 12e-6;
const SMALL_PROMPT: f64 = 550.0;
/// A request that thinks takes this many times as long, and its times vary by this much more.
const THINKING: f64 = 8.0;
const THINKING_SPREAD: f64 = 0.3;
/// Tokens of a long prompt.
const LONG_PROMPT: u32 = 30_000;
/// From this time on, in seconds, other kinds of requests come: by then the rungs know quick ones.
const MIXED_FROM: f64 = 600.0;

/// A request as it arrives.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Seconds since the start.
    pub at: f64,
    /// The prompt's tokens.
    pub prompt: u32,
    /// Whether the model was told to think.
    pub thinks: bool,
}

/// What happens to a call; times in seconds after its dial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// The first token; then the proper end, or nothing if it is `dead`.
    Token {
        /// Seconds.
        after: f64,
        /// Nothing follows it.
        dead: bool,
    },
    /// An explicit failure.
    Fails {
        /// Seconds.
        after: f64,
        /// With what.
        how: Fault,
    },
    /// Nothing, ever.
    Silent,
}

/// Everything that is the same for every policy.
#[derive(Debug)]
pub struct World {
    /// The seed of everything but the core's chance.
    pub seed: u64,
    /// The seed of the core's own chance: the same calls, other jitter.
    pub core_seed: u64,
    /// What the rungs are like.
    pub family: Family,
    /// The requests, in the order in which they come.
    pub requests: Vec<Request>,
    /// What happens to the rungs.
    pub incidents: Vec<Incident>,
    /// Calls a second that each rung can serve, where that is limited.
    pub capacity: Option<[f64; RUNGS]>,
}

impl World {
    /// `count` requests at `rate` a second.
    pub fn new(seed: u64, family: Family, plan: Plan, rate: f64, count: u64) -> Self {
        let mut at = 0.0;
        let requests: Vec<Request> = (0..count)
            .map(|index| {
                at += Luck::of(seed, About::Arrival, [index, 0, 0]).gap(1.0 / rate);
                let z = Luck::of(seed, About::Prompt, [index, 0, 0]).normal();
                let mut kind = Luck::of(seed, About::Kind, [index, 0, 0]);
                let (thinks, long) = (kind.uniform(), kind.uniform());
                let is_mixed = |draw: f64, share: f64| at >= MIXED_FROM && draw <= share;
                // p50 1,020 and p99 4,142, as in the Azure conversations.
                let usual = whole(1020.0 * (0.6025 * z).exp());
                Request {
                    at,
                    prompt: if is_mixed(long, family.mix.long) { LONG_PROMPT } else { usual },
                    thinks: is_mixed(thinks, family.mix.thinkers),
                }
            })
            .collect();
        Self {
            seed,
            core_seed: seed,
            family,
            requests,
            incidents: plan.incidents(at),
            capacity: None,
        }
    }

    /// A world that lasts about `seconds`.
    pub fn until(seed: u64, family: Family, plan: Plan, rate: f64, seconds: f64) -> Self {
        Self::new(seed, family, plan, rate, u64::from(whole(rate * seconds)))
    }

    /// When the last request arrives.
    pub fn seconds(&self) -> f64 {
        self.requests.last().map_or(0.0, |request| request.at)
    }

    /// The incident running at `at`, by its place.
    pub fn incident(&self, at: f64) -> Option<usize> {
        let after = self.incidents.partition_point(|incident| incident.from <= at);
        let last = after.checked_sub(1)?;
        self.incidents.get(last).filter(|incident| incident.covers(at)).map(|_| last)
    }

    /// Whether the incident of `at` does anything just then: one that flaps may not.
    pub fn is_struck(&self, at: f64) -> bool {
        let incident = self.incident(at).and_then(|index| self.incidents.get(index));
        incident.is_some_and(|incident| incident.effect(at).is_some())
    }

    /// What becomes of the `nth` call of `request` to `rung`, dialled at `at`.
    pub fn fate(&self, request: usize, rung: usize, nth: u64, at: f64) -> Fate {
        let which = [request as u64, rung as u64, nth];
        let mut luck = Luck::of(self.seed, About::Call, which);
        let z = luck.normal();
        // All are always drawn, so that a call's draws do not depend on the time.
        let draws: [f64; 8] = std::array::from_fn(|_| luck.uniform());
        let [straggles, factor, hangs, fails, moment, struck, silenced, place] = draws;
        let incident = self.incident(at).and_then(|index| self.incidents.get(index));
        let effect = incident
            .filter(|incident| incident.rungs().contains(&rung))
            .and_then(|incident| incident.effect(at));
        let soon = 0.05 + 0.2 * moment;
        if let Some(effect) = effect {
            if silenced <= effect.hang {
                return Fate::Silent;
            }
            if struck <= effect.faults {
                return Fate::Fails { after: soon, how: effect.how };
            }
        }
        if hangs <= NEVER {
            return Fate::Silent;
        }
        if fails <= SERVER_ERRORS {
            return Fate::Fails { after: soon, how: Fault::Server };
        }
        let Some(bulk) = self.family.rungs.get(rung) else { return Fate::Silent };
        let mut after = bulk.draw(z, place);
        if straggles <= self.family.stragglers {
            after *= STRAGGLER_LEAST * factor.powf(-1.0 / STRAGGLER_ALPHA);
        }
        after *= effect.map_or(1.0, |effect| effect.slower);
        let Some(asked) = self.requests.get(request) else { return Fate::Silent };
        if asked.thinks {
            let z = Luck::of(self.seed, About::Thought, which).normal();
            after *= THINKING * (THINKING_SPREAD * z).exp();
        }
        let per_token = self.family.per_token.get(rung).copied().unwrap_or(PER_TOKEN);
        after += per_token * (f64::from(asked.prompt) - SMALL_PROMPT).max(0.0);
        let dead = effect.is_some_and(|effect| struck <= effect.dead);
        Fate::Token { after, dead }
    }

    /// A seed for the core's own generators.
    pub(crate) fn seed_for(&self, about: About, which: u64) -> u64 {
        number(self.core_seed, about, [which, 0, 0])
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded and clamped to what fits"
)]
fn whole(size: f64) -> u32 {
    size.round().clamp(1.0, 1e6) as u32
}
