//! One scenario under one seed, and the figures that the bars need.
//!
//! A run is made when it is first needed, and its result is kept.

use crate::edges::{Edge, edges, false_openings};
use crate::oracle::Oracles;
use crate::report::Gaps;
use crate::scenario::{self, Scenario};
use simulate::policies::Policy;
use simulate::run::{Outcome, Record, run};
use simulate::stats::{Figures, HURT};
use simulate::world::{Request, World};
use std::cell::{Cell, OnceCell};

/// At how many moments a black hole is tried.
pub(crate) const PHASES: u32 = 20;

/// A scenario under a seed.
#[derive(Debug)]
pub(crate) struct Lab {
    scenario: Scenario,
    seed: u64,
    world: OnceCell<World>,
    ours: OnceCell<Record>,
    base: OnceCell<Record>,
    oracles: OnceCell<Oracles>,
    phases: OnceCell<Vec<(World, Record)>>,
    simulated: Cell<usize>,
}

impl Lab {
    pub(crate) const fn new(scenario: Scenario, seed: u64) -> Self {
        Self {
            scenario,
            seed,
            world: OnceCell::new(),
            ours: OnceCell::new(),
            base: OnceCell::new(),
            oracles: OnceCell::new(),
            phases: OnceCell::new(),
            simulated: Cell::new(0),
        }
    }

    /// How many requests have been simulated for it.
    pub(crate) const fn simulated(&self) -> usize {
        self.simulated.get()
    }

    fn run(&self, world: &World, policy: Policy) -> Record {
        self.simulated.set(self.simulated.get() + world.requests.len());
        run(world, policy)
    }

    fn world(&self) -> &World {
        self.world.get_or_init(|| self.scenario.world(self.seed))
    }

    fn ours(&self) -> &Record {
        self.ours.get_or_init(|| self.run(self.world(), Policy::Ours))
    }

    fn base(&self) -> &Record {
        self.base.get_or_init(|| self.run(self.world(), Policy::Timeout))
    }

    fn oracles(&self) -> &Oracles {
        self.oracles.get_or_init(|| Oracles::fit(self.world()))
    }

    fn phases(&self) -> &[(World, Record)] {
        self.phases.get_or_init(|| {
            let worlds = (0..PHASES).filter_map(|phase| self.scenario.phase(self.seed, phase));
            worlds
                .map(|world| (self.run(&world, Policy::Ours), world))
                .map(|(r, w)| (w, r))
                .collect()
        })
    }

    fn gaps(&self) -> Gaps {
        Gaps::of(&Figures::of(self.base()), self.oracles(), &Figures::of(self.ours()))
    }

    /// The 15 s time-out's p99.
    pub(crate) fn base_p99(&self) -> f64 {
        Figures::of(self.base()).p99
    }

    /// The share of requests that the 15 s time-out hurts.
    pub(crate) fn base_hurt(&self) -> f64 {
        Figures::of(self.base()).hurt
    }

    /// How much of the oracle's reduction of the p99 is reached, as a share.
    pub(crate) fn p99_closed(&self) -> f64 {
        self.gaps().p99
    }

    /// The same for the p99.9.
    pub(crate) fn p999_closed(&self) -> f64 {
        self.gaps().p999
    }

    /// Calls beyond one per request, as a share of the requests.
    pub(crate) fn extra(&self) -> f64 {
        Figures::of(self.ours()).extra
    }

    /// Hedges as a share of the requests.
    pub(crate) fn hedges(&self) -> f64 {
        Figures::of(self.ours()).hedges
    }

    /// The share of requests without a token in 3 s.
    pub(crate) fn hurt(&self) -> f64 {
        Figures::of(self.ours()).hurt
    }

    /// The same for the state-aware oracle that is fitted to the p99.9.
    pub(crate) fn oracle_hurt(&self) -> f64 {
        self.oracles().aware_tail.figures.hurt
    }

    /// The share of the requests of incident `name` without a token in 3 s.
    pub(crate) fn hurt_in(&self, name: &str) -> f64 {
        let all = edges(self.world(), self.ours());
        let of = |edge: &&Edge| edge.name == name;
        let sum = |count: fn(&Edge) -> u32| all.iter().filter(of).map(count).sum::<u32>();
        f64::from(sum(|edge| edge.hurt)) / f64::from(sum(|edge| edge.requests))
    }

    /// Seconds until incident `name` opened a rung, in the slowest case.
    pub(crate) fn opens_in(&self, name: &str) -> f64 {
        let all = edges(self.world(), self.ours());
        let of = all.iter().filter(|edge| edge.name == name);
        of.map(|edge| edge.opens.unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
    }

    /// The share of the requests that think which were hedged.
    pub(crate) fn thinkers_hedged(&self) -> f64 {
        self.hedged_of(|request| request.thinks)
    }

    /// The share of the long prompts that were hedged.
    pub(crate) fn long_hedged(&self) -> f64 {
        self.hedged_of(|request| request.prompt >= 20_000)
    }

    fn hedged_of(&self, counts: impl Fn(&Request) -> bool) -> f64 {
        let all = self.world().requests.iter().zip(&self.ours().outcomes);
        let of: Vec<&Outcome> =
            all.filter(|(request, _)| counts(request)).map(|(_, outcome)| outcome).collect();
        count(of.iter().filter(|outcome| outcome.hedges > 0)) / of.len() as f64
    }

    /// The share of requests that do not think and have no token in 3 s.
    pub(crate) fn quick_hurt(&self) -> f64 {
        let all = self.world().requests.iter().zip(&self.ours().outcomes);
        let quick: Vec<&Outcome> =
            all.filter(|(request, _)| !request.thinks).map(|(_, outcome)| outcome).collect();
        count(quick.iter().filter(|outcome| outcome.ttft > HURT)) / quick.len() as f64
    }

    /// Over all phases, the share of the first calls that go to rung one in the minute after
    /// it has closed for good.
    pub(crate) fn share_after_return(&self) -> f64 {
        let (mut first, mut all) = (0.0, 0.0);
        for (world, record) in self.phases() {
            let edge = edges(world, record).into_iter().next();
            let Some(closes) = edge.and_then(|edge| edge.closes) else { continue };
            let from = world.incidents.first().map_or(0.0, |incident| incident.to) + closes;
            let minute =
                || record.outcomes.iter().filter(|one| from < one.at && one.at <= from + 60.0);
            all += count(minute());
            first += count(minute().filter(|outcome| outcome.first == 0));
        }
        first / all
    }

    /// Openings of rungs that nothing was wrong with.
    pub(crate) fn false_openings(&self) -> f64 {
        f64::from(false_openings(self.world(), self.ours()).0)
    }

    /// p99 as a multiple of the 15 s time-out's.
    pub(crate) fn p99_of_base(&self) -> f64 {
        Figures::of(self.ours()).p99 / self.base_p99()
    }

    /// Requests that waited longer than `limit`.
    pub(crate) fn longer_than(&self, limit: f64) -> f64 {
        count(self.ours().outcomes.iter().filter(|outcome| outcome.ttft > limit))
    }

    /// The share of requests whose first call went to rung one.
    pub(crate) fn kept(&self) -> f64 {
        let all = &self.ours().outcomes;
        count(all.iter().filter(|outcome| outcome.first == 0)) / all.len() as f64
    }

    /// The share of requests that rung one answered.
    pub(crate) fn answered(&self) -> f64 {
        let all = &self.ours().outcomes;
        count(all.iter().filter(|outcome| outcome.answered == Some(0))) / all.len() as f64
    }

    /// Times that a breaker left the closed state for the open one.
    pub(crate) fn openings(&self) -> f64 {
        count(openings(self.ours()))
    }

    /// Streams that went silent after their first token.
    pub(crate) fn dead_streams(&self) -> f64 {
        count(self.ours().outcomes.iter().filter(|outcome| outcome.died))
    }

    /// Seconds from the first incident's start until rung one has full weight and keeps it.
    pub(crate) fn back_for_good(&self) -> f64 {
        let from = self.world().incidents.first().map_or(0.0, |incident| incident.from);
        let all = &self.ours().outcomes;
        let away = all.iter().rposition(|outcome| !outcome.full && outcome.at >= from);
        match away {
            None => 0.0,
            Some(last) => all.get(last + 1).map_or(f64::INFINITY, |outcome| outcome.at - from),
        }
    }

    /// Requests that end differently when all is run again.
    pub(crate) fn differences(&self) -> f64 {
        let again = self.run(&self.scenario.world(self.seed), Policy::Ours);
        let one = self.ours();
        let differ = count(one.outcomes.iter().zip(&again.outcomes).filter(|(a, b)| a != b));
        let missing = one.outcomes.len().abs_diff(again.outcomes.len()) as f64;
        differ + missing + f64::from(u8::from(one.changes != again.changes))
    }

    /// The most requests of one phase that came in its black hole and waited longer than `limit`.
    pub(crate) fn worst_longer_than(&self, limit: f64) -> f64 {
        self.worst(|world, record| {
            let hit = record.outcomes.iter().filter(|outcome| world.incident(outcome.at).is_some());
            count(hit.filter(|outcome| outcome.ttft > limit))
        })
    }

    /// The slowest opening of all phases.
    pub(crate) fn worst_opening(&self) -> f64 {
        self.worst_edge(|edge| edge.opens)
    }

    /// The slowest return of all phases.
    pub(crate) fn worst_return(&self) -> f64 {
        self.worst_edge(|edge| edge.closes)
    }

    /// Phases in which rung one opened later than after `seconds`, and later than after `calls`
    /// calls.
    pub(crate) fn opened_later_than(&self, seconds: f64, calls: f64) -> f64 {
        let late = |(world, record): &&(World, Record)| {
            let opens = edges(world, record).first().and_then(|edge| edge.opens);
            let from = world.incidents.first().map_or(0.0, |incident| incident.from);
            let until = from + opens.unwrap_or(f64::INFINITY);
            let asked = record.outcomes.iter().filter(|outcome| {
                outcome.asked & 1 != 0 && from <= outcome.at && outcome.at <= until
            });
            until - from > seconds && count(asked) > calls
        };
        count(self.phases().iter().filter(late))
    }

    fn worst_edge(&self, of: impl Fn(&Edge) -> Option<f64>) -> f64 {
        self.worst(|world, record| {
            let all = edges(world, record);
            all.first().and_then(&of).unwrap_or(f64::INFINITY)
        })
    }

    fn worst(&self, of: impl Fn(&World, &Record) -> f64) -> f64 {
        self.phases().iter().map(|(world, record)| of(world, record)).fold(0.0, f64::max)
    }
}

fn openings(record: &Record) -> impl Iterator<Item = &simulate::core::Change> {
    record.changes.iter().filter(|change| change.from == "closed" && change.to == "open")
}

fn count<T>(all: impl Iterator<Item = T>) -> f64 {
    all.count() as f64
}

/// A limit in seconds that was set for the first family, stretched for the second one: by how many
/// times as slow its rungs are.
pub(crate) fn stretched(seconds: f64) -> f64 {
    seconds * scenario::second_to_first()
}
