//! The Board turned: the same rungs once each, under their provider or what they share.

use crate::model::Turn;
use shared::admin::{Board, RungState};

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
