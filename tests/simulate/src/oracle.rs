//! Bounds: the best single reissue for a budget, fitted to the same random draws.
//!
//! SingleR(d, q) of Kaler, He and Elnikety (SPAA 2017): a second copy goes out after d with
//! probability q. One oracle keeps the ladder's order and fits one (d, q) to the pooled trace. The
//! other also knows which incident is running, takes the best order for it, and then the best (d,
//! q). The clairvoyant knows each call's draws and makes one call, of the rung that will be
//! fastest.

use simulate::chance::{About, Luck};
use simulate::run::NEVER;
use simulate::stats::{Figures, quantile};
use simulate::world::{Fate, RUNGS, World};

/// Extra copies, as a share of the requests, that may be spent on hedges.
const BUDGET: f64 = 0.10;
/// A copy that is silent for this long is given up.
const CLOCK: f64 = 15.0;

const DELAYS: [f64; 18] =
    [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 2.8, 3.2, 4.0, 6.0];
const CHANCES: [f64; 8] = [0.1, 0.2, 0.37, 0.5, 0.6, 0.75, 0.9, 1.0];
const ORDERS: [[usize; RUNGS]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// A fitted oracle.
#[derive(Debug, Clone)]
pub(crate) struct Oracle {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    /// Delay and probability of its second copy, if it makes one.
    pub(crate) reissue: Option<(f64, f64)>,
    pub(crate) figures: Figures,
    pub(crate) times: Vec<f64>,
}

/// Fixed order, state-aware for p99, state-aware for p99.9, and the clairvoyant.
#[derive(Debug)]
pub(crate) struct Oracles {
    pub(crate) fixed: Oracle,
    pub(crate) aware: Oracle,
    pub(crate) aware_tail: Oracle,
    pub(crate) clairvoyant: Oracle,
}

impl Oracles {
    pub(crate) fn fit(world: &World) -> Self {
        let fixed = Trace::of(world, &vec![ORDERS[0]; world.incidents.len()]);
        let aware = Trace::of(world, &best_orders(world));
        Self {
            fixed: fixed.best(990, "oracle, fixed order", "oracle_fixed"),
            aware: aware.best(990, "oracle, state-aware, for p99", "oracle_p99"),
            aware_tail: aware.best(999, "oracle, state-aware, for p99.9", "oracle_p999"),
            clairvoyant: fixed.clairvoyant(),
        }
    }
}

/// The best order while each incident does something.
fn best_orders(world: &World) -> Vec<[usize; RUNGS]> {
    let typical = world.family.typical();
    let of = |index: usize| {
        let score = |order: &[usize; RUNGS]| {
            let hit = world.requests.iter().enumerate().filter(|(_, request)| {
                world.incident(request.at) == Some(index) && world.is_struck(request.at)
            });
            let mut times: Vec<f64> = hit
                .map(|(request, _)| Copies::of(world, request, *order).reissued(1.8 * typical).0)
                .collect();
            quantile(&mut times, 950)
        };
        let best = |a: &&[usize; RUNGS], b: &&[usize; RUNGS]| score(a).total_cmp(&score(b));
        ORDERS.iter().min_by(best).copied().unwrap_or([0, 1, 2])
    };
    (0..world.incidents.len()).map(of).collect()
}

/// What the first, second and third call of a request would do, in the order given.
#[derive(Debug, Clone, Copy)]
struct Copies([Fate; RUNGS]);

impl Copies {
    /// With the state at the arrival: an oracle that looks ahead would be no bound for anybody.
    fn of(world: &World, request: usize, order: [usize; RUNGS]) -> Self {
        let at = world.requests.get(request).map_or(0.0, |request| request.at);
        Self(order.map(|rung| world.fate(request, rung, 0, at)))
    }

    /// The time to first token when copy `from` starts alone, failing over from copy to copy.
    fn alone(&self, from: usize) -> (f64, f64) {
        let mut began = 0.0;
        let mut calls = 0.0;
        for fate in self.0.get(from..).unwrap_or_default() {
            calls += 1.0;
            match *fate {
                Fate::Token { after, .. } if after <= CLOCK => return (began + after, calls),
                Fate::Fails { after, .. } => began += after,
                Fate::Token { .. } | Fate::Silent => began += CLOCK,
            }
        }
        (NEVER, calls)
    }

    /// With a second copy after `delay`: time, extra copies, and whether it was hedged.
    fn reissued(&self, delay: f64) -> (f64, f64, bool) {
        let (first, calls) = self.alone(0);
        let [one, ..] = self.0;
        let silent_at_delay = match one {
            Fate::Token { after, .. } | Fate::Fails { after, .. } => after > delay,
            Fate::Silent => true,
        };
        if !silent_at_delay {
            return (first, calls - 1.0, false);
        }
        let own = match one {
            Fate::Token { after, .. } if after <= CLOCK => after,
            _ => f64::INFINITY,
        };
        let (second, more) = self.alone(1);
        ((delay + second).min(own).min(NEVER), more, true)
    }
}

struct Trace {
    requests: Vec<(Copies, f64)>,
}

impl Trace {
    /// `orders`: by incident.
    fn of(world: &World, orders: &[[usize; RUNGS]]) -> Self {
        let requests = world.requests.iter().enumerate().map(|(index, request)| {
            let incident = world.incident(request.at).filter(|_| world.is_struck(request.at));
            let order = incident.and_then(|incident| orders.get(incident));
            let copies = Copies::of(world, index, order.copied().unwrap_or([0, 1, 2]));
            (copies, Luck::of(world.seed, About::Coin, [index as u64, 0, 0]).uniform())
        });
        Self { requests: requests.collect() }
    }

    fn best(&self, thousandths: usize, name: &'static str, key: &'static str) -> Oracle {
        let mut best: Option<(f64, f64, f64)> = None;
        for delay in DELAYS {
            for chance in CHANCES {
                let (mut times, figures) = self.play(delay, chance);
                let score = quantile(&mut times, thousandths);
                if figures.hedges <= BUDGET && best.is_none_or(|(least, ..)| score < least) {
                    best = Some((score, delay, chance));
                }
            }
        }
        let (_, delay, chance) = best.unwrap_or((NEVER, CLOCK, 0.0));
        let (mut times, figures) = self.play(delay, chance);
        let Figures { extra, hedges, .. } = figures;
        let figures = Figures { extra, hedges, ..Figures::of_times(&mut times) };
        Oracle { name, key, reissue: Some((delay, chance)), figures, times }
    }

    fn clairvoyant(&self) -> Oracle {
        let fastest = |copies: &Copies| {
            copies.0.iter().fold(NEVER, |least, fate| match *fate {
                Fate::Token { after, .. } => least.min(after),
                Fate::Fails { .. } | Fate::Silent => least,
            })
        };
        let mut times: Vec<f64> = self.requests.iter().map(|(copies, _)| fastest(copies)).collect();
        let figures = Figures::of_times(&mut times);
        Oracle { name: "clairvoyant", key: "clairvoyant", reissue: None, figures, times }
    }

    fn play(&self, delay: f64, chance: f64) -> (Vec<f64>, Figures) {
        let (mut extra, mut hedges) = (0.0, 0.0);
        let times = self.requests.iter().map(|(copies, coin)| {
            let (time, more, hedged) = if *coin <= chance {
                copies.reissued(delay)
            } else {
                let (time, calls) = copies.alone(0);
                (time, calls - 1.0, false)
            };
            extra += more;
            hedges += f64::from(u8::from(hedged));
            time
        });
        let times: Vec<f64> = times.collect();
        let count = times.len() as f64;
        (times, Figures { extra: extra / count, hedges: hedges / count, ..Figures::default() })
    }
}
