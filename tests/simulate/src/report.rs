//! Tables for people and JSON for programs.

use crate::edges::Edge;
use crate::oracle::{Oracle, Oracles};
use serde_json::{Value, json};
use simulate::policies::Policy;
use simulate::stats::{Figures, closed};
use std::fmt::Write as _;

/// How far a policy went from the baseline to the state-aware oracle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gaps {
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) hurt: f64,
}

impl Gaps {
    pub(crate) fn of(base: &Figures, oracles: &Oracles, figures: &Figures) -> Self {
        let (aware, tail) = (&oracles.aware.figures, &oracles.aware_tail.figures);
        Self {
            p99: closed(base.p99, aware.p99, figures.p99),
            p999: closed(base.p999, tail.p999, figures.p999),
            hurt: closed(base.hurt, aware.hurt, figures.hurt),
        }
    }
}

/// The heading of the table of policies.
pub(crate) fn heading() -> String {
    format!(
        "{:<38} {:>6} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
        "",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "in 10 s",
        "hurt",
        "extra",
        "hedges",
        "p99",
        "p99.9",
        "hurt"
    )
}

/// One row.
pub(crate) fn row(name: &str, figures: &Figures, gaps: Gaps) -> String {
    let percent = |share: f64, digits: usize| format!("{:.digits$}%", share * 100.0);
    format!(
        "{name:<38} {:>6.2} {:>6.2} {:>6.2} {:>6.2} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
        figures.p50,
        figures.p95,
        figures.p99,
        figures.p999,
        percent(figures.within_10, 2),
        percent(figures.hurt, 2),
        percent(figures.extra, 1),
        percent(figures.hedges, 1),
        percent(gaps.p99, 0),
        percent(gaps.p999, 0),
        percent(gaps.hurt, 0),
    )
}

/// An oracle's row.
pub(crate) fn oracle_row(oracle: &Oracle, gaps: Gaps) -> String {
    let name = oracle.reissue.map_or_else(
        || oracle.name.to_owned(),
        |(delay, chance)| format!("{} ({delay} s, {chance})", oracle.name),
    );
    row(&name, &oracle.figures, gaps)
}

/// What each incident did to the baseline and to Belay's policy.
pub(crate) fn incidents(base: &[Edge], ours: &[Edge]) -> String {
    let mut out = format!(
        "{:<28} {:>8} {:>9} {:>6} {:>5} {:>5} {:>8} {:>8} {:>9} {:>9}\n",
        "incident",
        "requests",
        "time-out",
        "belay",
        "late",
        "dead",
        "openings",
        "opens",
        "returns",
        "all back"
    );
    for (base, ours) in base.iter().zip(ours) {
        let seconds =
            |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |time| format!("{time:.1} s"));
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{:<28} {:>8} {:>9} {:>6} {:>5} {:>5} {:>8} {:>8} {:>9} {:>9}",
            ours.name,
            ours.requests,
            base.hurt,
            ours.hurt,
            ours.late,
            ours.died,
            ours.openings,
            seconds(ours.opens),
            seconds(ours.closes),
            seconds(ours.all_close)
        );
    }
    out
}

pub(crate) fn figures_json(figures: &Figures, gaps: Gaps) -> Value {
    json!({
        "p50_s": figures.p50, "p95_s": figures.p95, "p99_s": figures.p99, "p999_s": figures.p999,
        "within_10_s": figures.within_10, "hurt": figures.hurt, "extra_calls": figures.extra,
        "hedges": figures.hedges, "dead_streams": figures.died,
        "closed": { "p99": gaps.p99, "p999": gaps.p999, "hurt": gaps.hurt },
    })
}

pub(crate) fn oracle_json(oracle: &Oracle, gaps: Gaps) -> Value {
    let mut value = figures_json(&oracle.figures, gaps);
    if let (Some(map), Some((delay, chance))) = (value.as_object_mut(), oracle.reissue) {
        map.insert("delay_s".into(), json!(delay));
        map.insert("chance".into(), json!(chance));
    }
    value
}

pub(crate) fn edges_json(policy: Policy, edges: &[Edge]) -> Value {
    let all = edges.iter().map(|edge| {
        json!({
            "incident": edge.name, "requests": edge.requests, "hurt": edge.hurt,
            "late": edge.late,
            "dead_streams": edge.died, "openings": edge.openings,
            "opens_after_s": edge.opens, "returns_after_s": edge.closes, "all_back_after_s": edge.all_close,
        })
    });
    json!({ "policy": policy.key(), "incidents": all.collect::<Vec<_>>() })
}
