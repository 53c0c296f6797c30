//! The relay's own problems.

use super::{Level, Rule, Trouble, ago, left};
use crate::admin::Board;

/// A relay that is stopping, a refused config, a failing journal or fleet store.
pub(super) fn relay(board: &Board) -> Vec<Trouble> {
    let relay = &board.relay;
    let mut said = Vec::new();
    if relay.drain.on {
        let until = relay.drain.until_at;
        let until = until.map(|at| format!(", cut in {}", left(board, at))).unwrap_or_default();
        said.push((
            Rule::Relay,
            format!("this relay is stopping: {} streams still run{until}", relay.drain.streams),
        ));
    }
    if let Some(error) = &relay.config.error {
        let line = error.line.map(|line| format!(" line {line}:")).unwrap_or_default();
        let since = ago(board, error.at);
        said.push((
            Rule::Relay,
            format!(
                "config on disk refused {since} ago, the one before is in force:{line} {}",
                error.text
            ),
        ));
    }
    let journal = &relay.journal;
    if !journal.ok {
        let error = journal.error.as_deref().unwrap_or("records are late");
        said.push((Rule::Journal, format!(
            "journal failing: {error}; {} records wait, {} lost; requests are served all the same",
            journal.queue, journal.lost
        )));
    }
    let fleet = &relay.fleet;
    if fleet.on && !fleet.ok {
        let since = fleet.since_at.map(|at| format!(" for {}", ago(board, at))).unwrap_or_default();
        let text = format!("the fleet's store does not answer{since}: this relay goes on alone");
        said.push((Rule::Relay, text));
    }
    said.into_iter()
        .map(|(rule, text)| Trouble { level: Level::Warning, rule, about: Vec::new(), text })
        .collect()
}
