//! How fast the breaker opens and comes back, incident by incident.

use simulate::run::Record;
use simulate::stats::HURT;
use simulate::world::World;
use std::collections::BTreeSet;

/// A request without a first token by then is late.
const LATE: f64 = 10.0;
/// For this long after an incident's end an opening is no false alarm.
const AFTERMATH: f64 = 60.0;

/// What one incident did to a policy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edge {
    pub(crate) name: &'static str,
    pub(crate) requests: u32,
    pub(crate) hurt: u32,
    pub(crate) died: u32,
    /// Without a token after 10 s.
    pub(crate) late: u32,
    /// Seconds from its start to the first opening of a rung that it affects.
    pub(crate) opens: Option<f64>,
    /// Seconds from its end until the first rung that it affects was closed, if that had opened.
    pub(crate) closes: Option<f64>,
    /// Seconds from its end until all rungs that had opened were closed: lower ones wait for
    /// probes.
    pub(crate) all_close: Option<f64>,
    pub(crate) openings: u32,
}

/// Every incident of `world`, in order of time.
pub(crate) fn edges(world: &World, record: &Record) -> Vec<Edge> {
    let mut all: Vec<Edge> = world
        .incidents
        .iter()
        .map(|incident| Edge { name: incident.name(), ..Edge::default() })
        .collect();
    for outcome in &record.outcomes {
        let index = world.incident(outcome.at);
        if let Some(edge) = index.and_then(|index| all.get_mut(index)) {
            edge.requests += 1;
            edge.hurt += u32::from(outcome.ttft > HURT);
            edge.late += u32::from(outcome.ttft > LATE);
            edge.died += u32::from(outcome.died);
        }
    }
    for (incident, edge) in world.incidents.iter().zip(&mut all) {
        let opened = record.changes.iter().filter(|change| {
            change.to == "open"
                && incident.rungs().contains(&change.rung)
                && incident.covers(change.at)
        });
        let mut rungs = BTreeSet::new();
        for change in opened {
            edge.openings += 1;
            edge.opens.get_or_insert(change.at - incident.from);
            rungs.insert(change.rung);
        }
        let of = |rung: &usize| {
            let at = back(record, *rung, incident.to);
            at.map(|at| (at - incident.to).max(0.0))
        };
        let first = incident.rungs().first().filter(|rung| rungs.contains(rung));
        edge.closes = first.and_then(of);
        let all = rungs.iter().map(of).collect::<Option<Vec<f64>>>();
        edge.all_close = all.and_then(|all| all.into_iter().reduce(f64::max));
    }
    all
}

/// Merges incidents of the same name: sums, and the slowest of each edge.
pub(crate) fn merged(edges: &[Edge]) -> Vec<Edge> {
    let mut all: Vec<Edge> = Vec::new();
    for edge in edges {
        let Some(sum) = all.iter_mut().find(|sum| sum.name == edge.name) else {
            all.push(edge.clone());
            continue;
        };
        sum.requests += edge.requests;
        sum.hurt += edge.hurt;
        sum.died += edge.died;
        sum.late += edge.late;
        sum.openings += edge.openings;
        for (slowest, one) in [
            (&mut sum.opens, edge.opens),
            (&mut sum.closes, edge.closes),
            (&mut sum.all_close, edge.all_close),
        ] {
            *slowest = slowest.iter().copied().chain(one).reduce(f64::max);
        }
    }
    all
}

/// The time, at `end` or later, from which `rung` is closed.
fn back(record: &Record, rung: usize, end: f64) -> Option<f64> {
    let mut closed = true;
    for change in record.changes.iter().filter(|change| change.rung == rung) {
        if change.at >= end && closed {
            return Some(end);
        }
        closed = change.to == "closed";
        if change.at >= end && closed {
            return Some(change.at);
        }
    }
    closed.then_some(end)
}

/// Openings, and spared openings, of rungs that nothing was wrong with.
pub(crate) fn false_openings(world: &World, record: &Record) -> (u32, u32) {
    let mut found = (0, 0);
    for change in &record.changes {
        let excused = world.incidents.iter().any(|incident| {
            incident.rungs().contains(&change.rung)
                && incident.from <= change.at
                && change.at < incident.to + AFTERMATH
        });
        if !excused && change.to == "open" {
            found.0 += 1;
        }
        if !excused && change.why == "spared" {
            found.1 += 1;
        }
    }
    found
}
