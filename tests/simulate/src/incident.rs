//! What goes wrong, when, and on which rungs.
//!
//! The incidents are shorter than real ones (a median of 46 to 77 minutes):
//! only their edges matter to a breaker, and short ones give more edges.

/// How a call fails explicitly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A 500.
    Server,
    /// A 429 that names no time.
    TooMany,
    /// The connection is refused.
    Refused,
    /// A 200 whose first event is an error.
    ErrorEvent,
}

/// What an incident does to a call that starts in it.
#[derive(Debug, Clone, Copy)]
pub struct Effect {
    /// The first token takes this many times as long.
    pub slower: f64,
    /// This share of the calls never gets an answer.
    pub hang: f64,
    /// This share of the calls fails explicitly.
    pub faults: f64,
    /// How those calls fail.
    pub how: Fault,
    /// This share of the calls gets its first token and then nothing.
    pub dead: f64,
}

const NOTHING: Effect =
    Effect { slower: 1.0, hang: 0.0, faults: 0.0, how: Fault::Server, dead: 0.0 };
const BLACK_HOLE: Effect = Effect { hang: 1.0, ..NOTHING };

const fn slower(times: f64, hang: f64) -> Effect {
    Effect { slower: times, hang, ..NOTHING }
}

const fn faults(share: f64, how: Fault) -> Effect {
    Effect { faults: share, how, ..NOTHING }
}

/// How the effect changes over the incident's time.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Steady,
    /// On for the first number of seconds, then off for the second.
    Flaps(f64, f64),
    /// The slowness grows from nothing.
    Grows,
}

#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    rungs: &'static [usize],
    seconds: f64,
    shape: Shape,
    effect: Effect,
}

const fn kind(
    name: &'static str,
    rungs: &'static [usize],
    seconds: f64,
    shape: Shape,
    effect: Effect,
) -> Kind {
    Kind { name, rungs, seconds, shape, effect }
}

/// The nine incidents of the first family.
const FIRST: [Kind; 9] = [
    kind("A black hole", &[0], 300.0, Shape::Steady, BLACK_HOLE),
    kind("A 5xx 60 %", &[0], 335.0, Shape::Steady, faults(0.6, Fault::Server)),
    kind("A queue stall x8, 15 % hang", &[0], 325.0, Shape::Steady, slower(8.0, 0.15)),
    kind("A brownout x3", &[0], 540.0, Shape::Steady, slower(3.0, 0.0)),
    kind("A 429 storm 80 %", &[0], 155.0, Shape::Steady, faults(0.8, Fault::TooMany)),
    kind("B 5xx 50 %", &[1], 305.0, Shape::Steady, faults(0.5, Fault::Server)),
    kind("A+B shared stall x6", &[0, 1], 170.0, Shape::Steady, slower(6.0, 0.0)),
    kind("A flapping 20 s / 20 s", &[0], 320.0, Shape::Flaps(20.0, 20.0), slower(1.0, 0.7)),
    kind("A 5xx 15 %", &[0], 640.0, Shape::Steady, faults(0.15, Fault::Server)),
];

/// Nine incidents that no number was tuned on. None of them only doubles the times: to the core
/// that is no incident, but a rung that has become slower, as [`Plan::Slower`] shows.
const SECOND: [Kind; 9] = [
    kind("A 10 % hang", &[0], 640.0, Shape::Steady, slower(1.0, 0.10)),
    kind("A slower up to x6", &[0], 300.0, Shape::Grows, slower(6.0, 0.0)),
    kind("A refuses connections", &[0], 200.0, Shape::Steady, faults(1.0, Fault::Refused)),
    kind("B black hole", &[1], 300.0, Shape::Steady, BLACK_HOLE),
    kind("A+B 5xx 40 %", &[0, 1], 240.0, Shape::Steady, faults(0.4, Fault::Server)),
    kind("A error events 70 %", &[0], 260.0, Shape::Steady, faults(0.7, Fault::ErrorEvent)),
    kind("A x3, 5 % hang", &[0], 520.0, Shape::Steady, slower(3.0, 0.05)),
    kind("A flapping 12 s / 18 s", &[0], 330.0, Shape::Flaps(12.0, 18.0), slower(5.0, 0.3)),
    kind("A 50 % hang", &[0], 260.0, Shape::Steady, slower(1.0, 0.5)),
];

/// Some calls hang and the others are as fast as usual.
const PARTIAL: [Kind; 3] = [
    kind(HALF, &[0], 300.0, Shape::Steady, slower(1.0, 0.5)),
    kind(TENTH, &[0], 780.0, Shape::Steady, slower(1.0, 0.1)),
    kind(BOTH, &[0, 1], 300.0, Shape::Steady, slower(1.0, 0.4)),
];
/// Every second call hangs.
pub const HALF: &str = "A half hang";
/// Every tenth call hangs.
pub const TENTH: &str = "A one in ten hangs";
/// Of the calls to two rungs, 40 % hang.
pub const BOTH: &str = "A+B 40 % hang";

/// One incident at its time.
#[derive(Debug, Clone, Copy)]
pub struct Incident {
    kind: Kind,
    /// When it begins, in seconds since the start.
    pub from: f64,
    /// When it ends.
    pub to: f64,
}

impl Incident {
    /// What it is called.
    pub const fn name(&self) -> &'static str {
        self.kind.name
    }

    /// The rungs that it affects.
    pub const fn rungs(&self) -> &'static [usize] {
        self.kind.rungs
    }

    /// Whether it lasts at this moment.
    pub const fn covers(&self, at: f64) -> bool {
        self.from <= at && at < self.to
    }

    /// What it does at `at`, if it does anything then.
    pub fn effect(&self, at: f64) -> Option<Effect> {
        if !self.covers(at) {
            return None;
        }
        let into = at - self.from;
        match self.kind.shape {
            Shape::Steady => Some(self.kind.effect),
            Shape::Flaps(on, off) => (into % (on + off) < on).then_some(self.kind.effect),
            Shape::Grows => {
                let grown = into / (self.to - self.from);
                let slower = 1.0 + (self.kind.effect.slower - 1.0) * grown;
                Some(Effect { slower, ..self.kind.effect })
            }
        }
    }
}

/// Which incidents a run has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan {
    /// None.
    Calm,
    /// Those of the first family.
    First,
    /// Those of the second family.
    Second,
    /// Partial hangs.
    Partial,
    /// One black hole of a rung.
    BlackHole {
        /// The rung.
        rung: usize,
        /// When it begins, in seconds since the start.
        from: f64,
        /// How long it lasts.
        seconds: f64,
    },
    /// A never answers, from the first request on.
    DeadAtStart,
    /// A sends one token and hangs.
    DeadStreams,
    /// A takes twice as long, for good.
    Slower,
}

/// The whole period of [`Plan::First`] and [`Plan::Second`]: 29 % of it is incidents.
pub const PERIOD: f64 = 10_545.0;
/// Nothing happens before this.
const QUIET: f64 = 600.0;

impl Plan {
    /// The incidents of a run that lasts `seconds`.
    pub fn incidents(self, seconds: f64) -> Vec<Incident> {
        let of = |rungs, name, from: f64, effect, to: f64| {
            vec![Incident { kind: kind(name, rungs, to - from, Shape::Steady, effect), from, to }]
        };
        let one = |name, from, effect, to| of(&[0], name, from, effect, to);
        match self {
            Self::Calm => Vec::new(),
            Self::First => repeat(&FIRST, seconds),
            Self::Second => repeat(&SECOND, seconds),
            Self::Partial => repeat(&PARTIAL, seconds),
            Self::BlackHole { rung, from, seconds } => {
                let (rungs, name): (&[usize], _) = match rung {
                    0 => (&[0], "A black hole"),
                    1 => (&[1], "B black hole"),
                    _ => (&[2], "C black hole"),
                };
                of(rungs, name, from, BLACK_HOLE, from + seconds)
            }
            Self::DeadAtStart => one("A is dead", 0.0, BLACK_HOLE, f64::INFINITY),
            Self::DeadStreams => {
                one("A dies after one token", QUIET, Effect { dead: 1.0, ..NOTHING }, QUIET + 300.0)
            }
            Self::Slower => one("A x2 for good", QUIET, slower(2.0, 0.0), f64::INFINITY),
        }
    }
}

fn repeat(kinds: &[Kind], seconds: f64) -> Vec<Incident> {
    let total: f64 = kinds.iter().map(|kind| kind.seconds).sum();
    let gap = (PERIOD - QUIET - total) / kinds.len() as f64;
    let mut all = Vec::new();
    let mut began = 0.0;
    while began < seconds {
        let mut from = began + QUIET;
        for kind in kinds {
            let to = from + kind.seconds;
            all.push(Incident { kind: *kind, from, to });
            from = to + gap;
        }
        began += PERIOD;
    }
    all.retain(|incident| incident.from < seconds);
    all
}
