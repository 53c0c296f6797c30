//! From rounds to a table and a JSON file.
//!
//! A figure is the median over the rounds. A ratio is the median of the ratios within each round,
//! because what the machine does beside it changes from round to round and hits all targets of a
//! round alike.

use crate::load::{Measured, Memory, QUIET_STREAMS, SHORT};
use crate::targets::Kind;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is reported, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Figure {
    Ttft,
    Delay,
    AddedTtft,
    AddedDelay,
    SteadyCpu,
    SparseCpu,
    ShortCpu,
    Stream,
    IdleRss,
    OpenRss,
    SteadyRate,
    ShortRate,
    SparseGlue,
    ShortGlue,
}

impl Figure {
    const ALL: [Self; 14] = [
        Self::Ttft,
        Self::Delay,
        Self::AddedTtft,
        Self::AddedDelay,
        Self::SteadyCpu,
        Self::SparseCpu,
        Self::ShortCpu,
        Self::Stream,
        Self::IdleRss,
        Self::OpenRss,
        Self::SteadyRate,
        Self::ShortRate,
        Self::SparseGlue,
        Self::ShortGlue,
    ];

    /// Key in the JSON file, words in the table, and whether a ratio to nginx says anything.
    fn words(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Ttft => ("ttft_p50_us", "time to first token, p50 (µs)", false),
            Self::Delay => ("delay_p50_us", "delay per event, p50 (µs)", false),
            Self::AddedTtft => ("added_ttft_p50_us", "  added to direct: first token (µs)", true),
            Self::AddedDelay => ("added_delay_p50_us", "  added to direct: event (µs)", true),
            Self::SteadyCpu => ("cpu_us_per_event_steady", "CPU per event, steady (µs)", true),
            Self::SparseCpu => ("cpu_us_per_event_sparse", "CPU per event, sparse (µs)", true),
            Self::ShortCpu => {
                ("cpu_us_per_short_stream", "CPU per short stream of 20 events (µs)", true)
            }
            Self::Stream => ("kib_per_open_stream", "memory per open quiet stream (KiB)", true),
            Self::IdleRss => ("rss_idle_mib", "resident memory, idle (MiB)", true),
            Self::OpenRss => ("rss_open_mib", "resident memory, 1,000 open streams (MiB)", true),
            Self::SteadyRate => ("events_per_s_steady", "events carried, steady (1/s)", false),
            Self::ShortRate => ("short_streams_per_s", "short streams carried (1/s)", true),
            Self::SparseGlue => ("events_per_read_sparse", "events per read, sparse", false),
            Self::ShortGlue => ("events_per_read_short", "events per read, short", false),
        }
    }
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// By figure, target and round.
    figures: BTreeMap<(Figure, &'static str), Vec<(u32, f64)>>,
    /// By target: streams that were whole, and those that were not.
    whole: BTreeMap<&'static str, (u64, u64)>,
    /// What went wrong first, by target.
    troubles: BTreeMap<&'static str, String>,
    /// Medians of `direct` in the current round: first token, event.
    direct: (f64, f64),
}

impl Book {
    fn note(&mut self, figure: Figure, kind: Kind, round: u32, value: f64) {
        if value.is_finite() {
            self.figures.entry((figure, kind.name())).or_default().push((round, value));
        }
    }

    /// Something that kept a target from being measured.
    pub(crate) fn trouble(&mut self, kind: Kind, what: String) {
        self.troubles.entry(kind.name()).or_insert(what);
    }

    fn count(&mut self, kind: Kind, measured: &Measured) {
        let sum = self.whole.entry(kind.name()).or_default();
        sum.0 += measured.seen.whole;
        sum.1 += measured.seen.broken;
        if let Some(trouble) = &measured.seen.first_trouble {
            self.trouble(kind, trouble.clone());
        }
    }

    /// The sparse load; `direct` comes first in every round.
    pub(crate) fn sparse(&mut self, kind: Kind, round: u32, mut got: Measured) {
        let ttft = median_us(&mut got.seen.ttft);
        let delay = median_us(&mut got.seen.delay);
        self.note(Figure::Ttft, kind, round, ttft);
        self.note(Figure::Delay, kind, round, delay);
        if kind == Kind::Direct {
            self.direct = (ttft, delay);
        } else {
            self.note(Figure::AddedTtft, kind, round, ttft - self.direct.0);
            self.note(Figure::AddedDelay, kind, round, delay - self.direct.1);
            self.note(Figure::SparseCpu, kind, round, got.cpu_us / got.seen.events as f64);
        }
        let glue = got.seen.events as f64 / got.seen.reads as f64;
        self.note(Figure::SparseGlue, kind, round, glue);
        self.count(kind, &got);
    }

    /// The steady load.
    pub(crate) fn steady(&mut self, kind: Kind, round: u32, got: &Measured) {
        if kind != Kind::Direct {
            self.note(Figure::SteadyCpu, kind, round, got.cpu_us / got.seen.events as f64);
        }
        self.note(Figure::SteadyRate, kind, round, got.seen.events as f64 / got.seconds);
        self.count(kind, got);
    }

    /// The short load.
    pub(crate) fn short(&mut self, kind: Kind, round: u32, got: &Measured) {
        let streams = got.seen.events as f64 / f64::from(SHORT.events);
        if kind != Kind::Direct {
            self.note(Figure::ShortCpu, kind, round, got.cpu_us / streams);
        }
        self.note(Figure::ShortRate, kind, round, streams / got.seconds);
        let glue = got.seen.events as f64 / got.seen.reads as f64;
        self.note(Figure::ShortGlue, kind, round, glue);
        self.count(kind, got);
    }

    /// The quiet load.
    pub(crate) fn quiet(&mut self, kind: Kind, got: Memory) {
        let added = got.open.saturating_sub(got.idle) as f64;
        self.note(Figure::Stream, kind, 0, added / f64::from(QUIET_STREAMS));
        self.note(Figure::IdleRss, kind, 0, got.idle as f64 / 1024.0);
        self.note(Figure::OpenRss, kind, 0, got.open as f64 / 1024.0);
    }

    fn value(&self, figure: Figure, kind: Kind) -> Option<f64> {
        let rounds = self.figures.get(&(figure, kind.name()))?;
        middle(rounds.iter().map(|(_, value)| *value).collect())
    }

    /// One target to another, round by round.
    fn ratio(&self, figure: Figure, kind: Kind, base: Kind) -> Option<f64> {
        let of = |kind: Kind| self.figures.get(&(figure, kind.name()));
        let (one, base) = (of(kind)?, of(base)?);
        let same = |round: u32| base.iter().find(|(other, _)| *other == round);
        let ratios = one
            .iter()
            .filter_map(|(round, value)| Some(value / same(*round).filter(|n| n.1 > 0.0)?.1));
        middle(ratios.collect())
    }

    /// The table, and the lines on what was whole and what was not.
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{:<50} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "", "direct", "nginx", "belay", "× nginx", "watched", "× belay"
        );
        for figure in Figure::ALL {
            let (_, words, compare) = figure.words();
            let cell = |kind| self.value(figure, kind).map_or_else(String::new, number);
            let ratio = |kind, base| {
                let ratio = self.ratio(figure, kind, base).filter(|_| compare);
                ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"))
            };
            let _ = writeln!(
                out,
                "{words:<50} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
                cell(Kind::Direct),
                cell(Kind::Nginx),
                cell(Kind::Belay),
                ratio(Kind::Belay, Kind::Nginx),
                cell(Kind::Watched),
                ratio(Kind::Watched, Kind::Belay),
            );
        }
        out.push('\n');
        for (kind, (whole, broken)) in &self.whole {
            let _ = writeln!(
                out,
                "{kind}: {whole} streams complete, in order and byte for byte; {broken} not"
            );
        }
        for (kind, trouble) in &self.troubles {
            let _ = writeln!(out, "{kind}: first trouble: {trouble}");
        }
        out
    }

    /// The same, for programs.
    pub(crate) fn json(&self) -> Value {
        let mut all = Map::new();
        for kind in [Kind::Direct, Kind::Nginx, Kind::Belay, Kind::Watched] {
            let mut of_kind = Map::new();
            for figure in Figure::ALL {
                if let Some(rounds) = self.figures.get(&(figure, kind.name())) {
                    let rounds: Vec<f64> = rounds.iter().map(|(_, value)| *value).collect();
                    let median = middle(rounds.clone());
                    let value = json!({ "median": median, "rounds": rounds });
                    of_kind.insert(figure.words().0.into(), value);
                }
            }
            if let Some((whole, broken)) = self.whole.get(kind.name()) {
                of_kind.insert("streams".into(), json!({ "whole": whole, "broken": broken }));
            }
            if let Some(trouble) = self.troubles.get(kind.name()) {
                of_kind.insert("trouble".into(), json!(trouble));
            }
            all.insert(kind.name().into(), of_kind.into());
        }
        for (key, kind, base) in [
            ("belay_to_nginx", Kind::Belay, Kind::Nginx),
            ("watched_to_belay", Kind::Watched, Kind::Belay),
        ] {
            let figures = Figure::ALL.into_iter().filter(|figure| figure.words().2);
            let ratio = |figure| self.ratio(figure, kind, base);
            let ratios: Map<String, Value> = figures
                .filter_map(|figure| Some((figure.words().0.into(), json!(ratio(figure)?))))
                .collect();
            all.insert(key.into(), ratios.into());
        }
        all.into()
    }

    /// Whether every stream of every target was whole and every target was measured.
    pub(crate) fn sound(&self) -> bool {
        self.troubles.is_empty() && self.whole.values().all(|(_, broken)| *broken == 0)
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 1000.0 => format!("{value:.0}"),
        large if large >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn median_us(values: &mut [u64]) -> f64 {
    let at = values.len() / 2;
    if values.is_empty() {
        return f64::NAN;
    }
    let (_, middle, _) = values.select_nth_unstable(at);
    *middle as f64 / 1000.0
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let high = *values.get(values.len() / 2)?;
    let low = *values.get(values.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(low, high))
}
