//! What Belay must reach in virtual time, line by line, and whether it does.
//!
//! The table is the goal, and a missed line counts as missed. The second family's rungs take three
//! times as long even when they are well, so nobody could reach the first family's 3 s there. Such
//! a limit is stretched by the same factor, and its line says so.
//!
//! The goal has lines on the second family only for its incidents and its calm hours. Its other
//! scenarios are harder than the goal expected. Their lines say `kept`: no less than the limit is
//! reached today, and a change that loses it is noticed.

use crate::Res;
use crate::lab::{Lab, stretched};
use crate::scenario::{self, Scenario};
use simulate::incident::{BOTH, HALF, TENTH};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What is required of a figure.
#[derive(Debug, Clone, Copy)]
enum Ask {
    AtMost(f64),
    AtLeast(f64),
    /// Near the first number: off by at most this share of it.
    Near(f64, f64),
    Exactly(f64),
    /// Nothing is required; the figure is only shown.
    Reported,
}
use Ask::{AtLeast, AtMost, Exactly, Near, Reported};

/// How a figure is written.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Share,
    Seconds,
    Count,
    Times,
}
use Unit::{Count, Seconds, Share, Times};

/// One line of the table.
struct Bar {
    what: &'static str,
    ask: Ask,
    unit: Unit,
    of: fn(&Lab) -> f64,
}

const fn bar(what: &'static str, ask: Ask, unit: Unit, of: fn(&Lab) -> f64) -> Bar {
    Bar { what, ask, unit, of }
}

const BASELINE: [Bar; 2] = [
    bar("the 15 s time-out's p99 is reproduced", Near(15.6, 0.10), Seconds, Lab::base_p99),
    bar("the share that it hurts is reproduced", Near(0.064, 0.10), Share, Lab::base_hurt),
];
const INCIDENTS: [Bar; 4] = [
    bar("of the oracle's p99 reduction", AtLeast(0.95), Share, Lab::p99_closed),
    bar("of the oracle's p99.9 reduction", AtLeast(0.90), Share, Lab::p999_closed),
    bar("extra calls", AtMost(0.08), Share, Lab::extra),
    bar("requests that differ when it runs again", AtMost(0.0), Count, Lab::differences),
];
const SECOND_INCIDENTS: [Bar; 4] = [
    bar("of the oracle's p99 reduction", AtLeast(0.95), Share, Lab::p99_closed),
    bar("of the oracle's p99.9 reduction", AtLeast(0.85), Share, Lab::p999_closed),
    bar("extra calls", AtMost(0.08), Share, Lab::extra),
    bar("requests that differ when it runs again", AtMost(0.0), Count, Lab::differences),
];
const CALM: [Bar; 2] = [
    bar("hedges", AtMost(0.05), Share, Lab::hedges),
    bar("false openings in 58,000 calls", AtMost(0.0), Count, Lab::false_openings),
];
const BLACK_HOLE: [Bar; 3] = [
    bar("no token in 3 s, worst phase", AtMost(5.0), Count, |lab| lab.worst_longer_than(3.0)),
    bar("opens, worst phase", AtMost(3.0), Seconds, Lab::worst_opening),
    bar("closed after its end, worst phase", AtMost(30.0), Seconds, Lab::worst_return),
];
const SECOND_BLACK_HOLE: [Bar; 4] = [
    bar("no token in 3 s, stretched to 9.6 s", AtMost(5.0), Count, |lab| {
        lab.worst_longer_than(stretched(3.0))
    }),
    bar("no token in 3 s", Reported, Count, |lab| lab.worst_longer_than(3.0)),
    bar("opens, worst phase; 3 s, stretched", AtMost(9.6), Seconds, Lab::worst_opening),
    bar("closed after its end, worst phase; kept", AtMost(40.0), Seconds, Lab::worst_return),
];
/// A rung below a healthy one gets one call in twenty, and its probes come as rarely.
const SECOND_BLACK_HOLE_B: [Bar; 3] = [
    bar("no token in 3 s, stretched; kept", AtMost(10.0), Count, |lab| {
        lab.worst_longer_than(stretched(3.0))
    }),
    bar("opens, worst phase", Reported, Seconds, Lab::worst_opening),
    bar("closed after its end, worst phase", Reported, Seconds, Lab::worst_return),
];
const DEAD_AT_START: [Bar; 1] =
    [bar("wait over 6 s", AtMost(10.0), Count, |lab| lab.longer_than(6.0))];
const SECOND_DEAD_AT_START: [Bar; 1] =
    [bar("wait over 6 s; kept", AtMost(14.0), Count, |lab| lab.longer_than(6.0))];
const SECOND_SLOW: [Bar; 1] =
    [bar("of the oracle's p99 reduction; kept", AtLeast(0.93), Share, Lab::p99_closed)];
const SECOND_OVERLOAD: [Bar; 2] = [
    bar("extra calls; kept", AtMost(0.12), Share, Lab::extra),
    bar("p99, in the 15 s time-out's; kept", AtMost(1.05), Times, Lab::p99_of_base),
];
const SLOW: [Bar; 1] =
    [bar("of the oracle's p99 reduction", AtLeast(0.95), Share, Lab::p99_closed)];
const OVERLOAD: [Bar; 2] = [
    bar("extra calls", AtMost(0.10), Share, Lab::extra),
    bar("p99, in the 15 s time-out's", AtMost(1.0), Times, Lab::p99_of_base),
];
const HONEST_3S: [Bar; 3] = [
    bar("requests that call it first", AtLeast(0.99), Share, Lab::kept),
    bar("requests that it answers", Reported, Share, Lab::answered),
    bar("openings", AtMost(0.0), Count, Lab::openings),
];
const SLOWER: [Bar; 1] =
    [bar("back at full traffic for good", AtMost(300.0), Seconds, Lab::back_for_good)];
const LOCAL_BELOW: [Bar; 2] = [
    bar("phases that open after 10 s and 30 calls", AtMost(0.0), Count, |lab| {
        lab.opened_later_than(10.0, 30.0)
    }),
    bar("opens, worst phase", Reported, Seconds, Lab::worst_opening),
];
const DEAD_STREAMS: [Bar; 2] = [
    bar("dead streams", AtMost(100.0), Count, Lab::dead_streams),
    bar("openings from closed", Exactly(1.0), Count, Lab::openings),
];

/// A third of what was reached before the breaker summed up silent calls (6.0, 6.1 and 13.6 %, at
/// 6.6 % extra calls), or what is reached today where that is less. Over the whole run it was
/// 1.2 %. On seeds that no number was tuned on it is 0.33 % today, of which 0.21 % are stragglers
/// of the calm hours.
const PARTIAL: [Bar; 7] = [
    bar("half hang: opens", AtMost(10.0), Seconds, |lab| lab.opens_in(HALF)),
    bar("half hang: no token in 3 s", AtMost(0.01), Share, |lab| lab.hurt_in(HALF)),
    bar("one in ten hangs: no token in 3 s", AtMost(0.01), Share, |lab| lab.hurt_in(TENTH)),
    bar("two rungs hang 40 %: no token in 3 s", AtMost(0.045), Share, |lab| lab.hurt_in(BOTH)),
    bar("no token in 3 s; kept", AtMost(0.0045), Share, Lab::hurt),
    bar("no token in 3 s, the oracle", Reported, Share, Lab::oracle_hurt),
    bar("extra calls", AtMost(0.066), Share, Lab::extra),
];
const PARTIAL_1: [Bar; 6] = [
    bar("half hang: opens", Reported, Seconds, |lab| lab.opens_in(HALF)),
    bar("half hang: no token in 3 s", Reported, Share, |lab| lab.hurt_in(HALF)),
    bar("one in ten hangs: no token in 3 s", Reported, Share, |lab| lab.hurt_in(TENTH)),
    bar("two rungs hang 40 %: no token in 3 s", Reported, Share, |lab| lab.hurt_in(BOTH)),
    bar("no token in 3 s; kept", AtMost(0.006), Share, Lab::hurt),
    bar("extra calls; kept", AtMost(0.072), Share, Lab::extra),
];
const MIXED: [Bar; 3] = [
    bar("openings", AtMost(0.0), Count, Lab::false_openings),
    bar("hedged of those that think", AtMost(0.10), Share, Lab::thinkers_hedged),
    bar("hedges", Reported, Share, Lab::hedges),
];
const MIXED_INCIDENTS: [Bar; 3] = [
    bar("quick ones without a token in 3 s", AtMost(0.001), Share, Lab::quick_hurt),
    bar("openings outside incidents", AtMost(0.0), Count, Lab::false_openings),
    bar("extra calls", AtMost(0.08), Share, Lab::extra),
];
const STEEP: [Bar; 3] = [
    bar("openings", AtMost(0.0), Count, Lab::false_openings),
    bar("hedged of the long prompts", AtMost(0.10), Share, Lab::long_hedged),
    bar("hedges", Reported, Share, Lab::hedges),
];
const RETURN: [Bar; 1] =
    [bar("first calls in the minute after; kept", AtLeast(0.70), Share, Lab::share_after_return)];
/// A weight that doubles every 15 s gives 38 % on average in the first minute.
const SLOW_RETURN: [Bar; 1] =
    [bar("first calls in the minute after", AtLeast(0.30), Share, Lab::share_after_return)];

/// A scenario and its lines.
type Lines = (Scenario, &'static [Bar]);

/// Every scenario with its lines.
const TABLE: &[Lines] = &[
    (scenario::INCIDENTS, &BASELINE),
    (scenario::INCIDENTS, &INCIDENTS),
    (scenario::SECOND_INCIDENTS, &SECOND_INCIDENTS),
    (scenario::CALM, &CALM),
    (scenario::SECOND_CALM, &CALM),
    (scenario::BLACK_HOLE, &BLACK_HOLE),
    (scenario::SECOND_BLACK_HOLE, &SECOND_BLACK_HOLE),
    (scenario::SECOND_BLACK_HOLE_B, &SECOND_BLACK_HOLE_B),
    (scenario::DEAD_AT_START, &DEAD_AT_START),
    (scenario::SECOND_DEAD_AT_START, &SECOND_DEAD_AT_START),
    (scenario::SLOW, &SLOW),
    (scenario::SECOND_SLOW, &SECOND_SLOW),
    (scenario::OVERLOAD, &OVERLOAD),
    (scenario::SECOND_OVERLOAD, &SECOND_OVERLOAD),
    (scenario::HONEST_3S, &HONEST_3S),
    (scenario::SLOWER, &SLOWER),
    (scenario::SLOWER_1, &SLOWER),
    (scenario::LOCAL_BELOW, &LOCAL_BELOW),
    (scenario::LOCAL_BELOW_1, &LOCAL_BELOW),
    (scenario::DEAD_STREAMS, &DEAD_STREAMS),
    (scenario::SECOND_DEAD_STREAMS, &DEAD_STREAMS),
    (scenario::PARTIAL, &PARTIAL),
    (scenario::PARTIAL_1, &PARTIAL_1),
    (scenario::WIDE_CALM, &CALM),
    (scenario::MIXED_CALM, &MIXED),
    (scenario::MIXED_1, &MIXED),
    (scenario::MIXED_INCIDENTS, &MIXED_INCIDENTS),
    (scenario::STEEP_CALM, &STEEP),
    (scenario::BLACK_HOLE, &RETURN),
    (scenario::SLOW_BLACK_HOLE, &SLOW_RETURN),
];

impl Ask {
    fn is_met(self, value: f64) -> bool {
        match self {
            AtMost(most) => value <= most,
            AtLeast(least) => value >= least,
            Near(wanted, share) => (value - wanted).abs() <= wanted * share,
            Exactly(wanted) => (value - wanted).abs() < f64::EPSILON,
            Reported => true,
        }
    }

    /// The value that is nearest to a miss, or furthest beyond it.
    fn worst(self, values: &[f64]) -> f64 {
        let badness = |value: f64| match self {
            AtMost(_) | Reported => value,
            AtLeast(_) => -value,
            Near(wanted, _) | Exactly(wanted) => (value - wanted).abs(),
        };
        // A value that is not a number is the worst.
        let worse = |a: f64, b: f64| if badness(a) > badness(b) || a.is_nan() { a } else { b };
        values.iter().copied().reduce(worse).unwrap_or(f64::NAN)
    }

    fn words(self, unit: Unit) -> String {
        match self {
            AtMost(most) => format!("<= {}", unit.words(most)),
            AtLeast(least) => format!(">= {}", unit.words(least)),
            Near(wanted, share) => {
                format!("{} +- {}", unit.words(wanted), Share.words(share))
            }
            Exactly(wanted) => format!("= {}", unit.words(wanted)),
            Reported => "-".to_owned(),
        }
    }
}

impl Unit {
    fn words(self, value: f64) -> String {
        match self {
            Share => format!("{:.1} %", value * 100.0),
            Seconds => format!("{value:.1} s"),
            Count => format!("{value:.0}"),
            Times => format!("{value:.3}"),
        }
    }
}

/// Runs the table's lines of `scenarios` under each of `seeds` on all cores. Returns the text to
/// print, and how many lines are missed.
pub(crate) fn judge(seeds: &[u64], scenarios: &[Scenario]) -> Res<(String, usize)> {
    let began = crate::now();
    let is_asked = |name| scenarios.iter().any(|one| one.name == name);
    let table: Vec<_> = TABLE.iter().filter(|(scenario, _)| is_asked(scenario.name)).collect();
    let (results, simulated) = measure(&table, seeds)?;
    let mut out = format!("{:<20} {:<42} {:>16} {:>9}  ", "scenario", "", "asked", "worst");
    for seed in seeds {
        let _ = write!(out, "{:>9}", format!("seed {seed}"));
    }
    out.push('\n');
    let mut missed = 0;
    for (place, (scenario, bars)) in table.iter().enumerate() {
        for (nth, bar) in bars.iter().enumerate() {
            let of = |seed: usize| results.get(place * seeds.len() + seed)?.get(nth).copied();
            let values: Vec<f64> =
                (0..seeds.len()).map(|seed| of(seed).unwrap_or(f64::NAN)).collect();
            let worst = bar.ask.worst(&values);
            let verdict = match bar.ask {
                Reported => "",
                ask if values.iter().all(|value| ask.is_met(*value)) => "met",
                _ => "MISSED",
            };
            missed += usize::from(verdict == "MISSED");
            let asked = bar.ask.words(bar.unit);
            let worst = bar.unit.words(worst);
            let _ = write!(out, "{:<20} {:<42} {asked:>16} {worst:>9}  ", scenario.name, bar.what);
            for value in values {
                let _ = write!(out, "{:>9}", bar.unit.words(value));
            }
            let _ = writeln!(out, "  {verdict}");
        }
    }
    let took = began.elapsed();
    let _ = writeln!(out, "{}", pace(simulated, took));
    Ok((out, missed))
}

/// How fast the simulation was.
pub(crate) fn pace(simulated: usize, took: Duration) -> String {
    let rate = simulated as f64 / took.as_secs_f64();
    format!("{simulated} requests in {:.1} s: {rate:.0} a second of wall time", took.as_secs_f64())
}

/// What each line of each scenario gives under each seed, and how many requests that took.
fn measure(table: &[&Lines], seeds: &[u64]) -> Res<(Vec<Vec<f64>>, usize)> {
    let jobs: Vec<(usize, u64)> =
        (0..table.len()).flat_map(|place| seeds.iter().map(move |seed| (place, *seed))).collect();
    let results: Vec<Mutex<Vec<f64>>> = jobs.iter().map(|_| Mutex::default()).collect();
    let (next, simulated) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some((job, (place, seed))) = take(&next, &jobs)
            && let Some((scenario, bars)) = table.get(place)
        {
            let lab = Lab::new(*scenario, seed);
            let values: Vec<f64> = bars.iter().map(|bar| (bar.of)(&lab)).collect();
            simulated.fetch_add(lab.simulated(), Ordering::Relaxed);
            if let Some(Ok(mut result)) = results.get(job).map(Mutex::lock) {
                *result = values;
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let values = results.into_iter().map(Mutex::into_inner);
    let values = values.collect::<Result<_, std::sync::PoisonError<_>>>();
    Ok((values.map_err(|_| "a thread ended early")?, simulated.into_inner()))
}

fn take(next: &AtomicUsize, jobs: &[(usize, u64)]) -> Option<(usize, (usize, u64))> {
    let job = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(job).map(|found| (job, *found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_missed() {
        for ask in [AtMost(1.0), AtLeast(1.0), Near(1.0, 0.1)] {
            assert!(!ask.is_met(f64::NAN), "{ask:?}");
            assert!(ask.worst(&[1.0, f64::NAN, 1.0]).is_nan(), "{ask:?}");
        }
        assert!(!AtMost(30.0).is_met(f64::INFINITY), "never is not in time");
    }

    #[test]
    fn the_limit_itself_is_met_and_the_worst_is_the_one_beyond_it() {
        assert!(AtMost(5.0).is_met(5.0) && !AtMost(5.0).is_met(6.0));
        assert!(AtLeast(0.95).is_met(0.95) && !AtLeast(0.95).is_met(0.94));
        assert!(Exactly(1.0).is_met(1.0) && !Exactly(1.0).is_met(0.0));
        assert!(Near(15.6, 0.10).is_met(14.1) && !Near(15.6, 0.10).is_met(17.2));
        assert_eq!(AtMost(5.0).worst(&[1.0, 7.0, 2.0]), 7.0);
        assert_eq!(AtLeast(0.9).worst(&[0.95, 0.91, 0.99]), 0.91);
        assert_eq!(Near(15.6, 0.1).worst(&[15.5, 12.0, 16.0]), 12.0);
    }

    #[test]
    fn every_scenario_of_the_table_can_be_asked_for_by_name() {
        for (scenario, bars) in TABLE {
            assert!(scenario::ALL.iter().any(|one| one.name == scenario.name), "{scenario:?}");
            assert!(
                bars.iter().any(|bar| !matches!(bar.ask, Reported)),
                "{scenario:?} asks nothing"
            );
        }
    }
}
