//! The Board turned: the same rungs once each, under their provider or what they share.

use super::state::Turn;
use crate::model::two;
use shared::UnixMillis;
use shared::admin::{Board, RungState};
use shared::diagnose::is_out;
use shared::histogram::Hist;

/// What the rungs stand under, in the board's order, each with its rungs.
#[must_use]
pub fn groups(board: &Board, turn: Turn) -> Vec<(String, Vec<&RungState>)> {
    let mut all: Vec<(String, Vec<&RungState>)> = Vec::new();
    for rung in &board.rungs {
        let names: Vec<String> = match turn {
            Turn::Domains if rung.domains.is_empty() => vec!["(no domain)".to_owned()],
            Turn::Domains => rung.domains.clone(),
            Turn::Providers | Turn::Ladders => vec![rung.provider.clone()],
        };
        for name in names {
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, rungs)) => rungs.push(rung),
                None => all.push((name, vec![rung])),
            }
        }
    }
    all
}

/// When the first token came of 95 % of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum P95 {
    /// After so many milliseconds, where there were calls.
    Known(Option<u64>),
    /// Later than this many milliseconds: most are not there yet.
    AtLeast(u64),
}

/// What several rungs do together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Together {
    /// Calls, and the bad and the slow ones of them.
    pub calls: u64,
    /// Bad ones.
    pub bad: u64,
    /// Slow ones.
    pub slow: u64,
    /// Calls a second.
    pub rps: f64,
    /// What they cost, in billionths of a dollar a second.
    pub cost_nps: u64,
    /// Whether that is all of it: every rung that is called has a price.
    pub is_priced: bool,
    /// Their first tokens.
    pub p95: P95,
    /// Rungs that are out.
    pub out: usize,
    /// Those of them that are so by themselves and not by an operator's hand.
    pub sick: usize,
}

/// What these rungs do together at `at`.
#[must_use]
pub fn together(rungs: &[&RungState], at: UnixMillis) -> Together {
    let sum = |of: fn(&RungState) -> u64| rungs.iter().map(|rung| of(rung)).sum::<u64>();
    let mut hist = Hist::default();
    rungs.iter().for_each(|rung| hist.merge(&rung.now.hist));
    let (_, p95) = two(&hist);
    let least = hist.at_least().filter(|_| p95.is_none());
    let least = least.map(|least| u64::try_from(least.as_millis()).unwrap_or(u64::MAX));
    let is_out = |rung: &&&RungState| is_out(rung, at);
    Together {
        calls: sum(|rung| rung.now.calls),
        bad: sum(|rung| rung.now.bad),
        slow: sum(|rung| rung.now.slow),
        rps: rungs.iter().map(|rung| rung.now.rps).sum(),
        cost_nps: sum(|rung| rung.now.cost_nps),
        is_priced: rungs.iter().all(|rung| rung.price.is_some() || rung.now.calls == 0),
        p95: least.map_or(P95::Known(p95), P95::AtLeast),
        out: rungs.iter().filter(is_out).count(),
        sick: rungs.iter().filter(|rung| rung.forced.is_none()).filter(is_out).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::admin::sample;

    #[test]
    fn every_rung_stands_under_its_provider_once_and_under_each_of_its_domains() {
        let mut board = sample::calm(&[("chat", &["sol", "opus"]), ("code", &["opus"])]);
        board.rungs[0].provider = "openai".to_owned();
        board.rungs[1].provider = "anthropic".to_owned();
        board.rungs[0].domains = vec!["eu".to_owned(), "azure".to_owned()];
        board.rungs[1].domains = Vec::new();
        let names = |turn| {
            let all = groups(&board, turn).into_iter();
            all.map(|(name, rungs)| (name, rungs.len())).collect::<Vec<_>>()
        };
        assert_eq!(names(Turn::Providers), [("openai".to_owned(), 1), ("anthropic".to_owned(), 1)]);
        let domains = [("eu", 1), ("azure", 1), ("(no domain)", 1)];
        assert_eq!(names(Turn::Domains), domains.map(|(name, count)| (name.to_owned(), count)));
    }
}
