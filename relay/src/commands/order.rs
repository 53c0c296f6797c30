//! `belay order`: which rung of a ladder is tried first.

use super::change::{ChangeArgs, UnknownName, make};
use super::common::Ended;
use super::common::{Failed, usage};
use shared::admin::Board;
use shared::admin::changes::{Change, ConfigWord, NewOrder};

/// Arguments of `belay order`.
#[derive(Debug, clap::Args)]
pub(super) struct OrderArgs {
    /// The ladder.
    ladder: String,
    /// Its rungs, the one to be tried first in front. Those not named stay behind these, in
    /// the order they have.
    #[arg(value_name = "RUNG", conflicts_with = "config", required_unless_present = "config")]
    rungs: Vec<String>,
    /// Back to the config's order.
    #[arg(long)]
    config: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(args: &OrderArgs) -> Result<Ended, Failed> {
    for (place, rung) in args.rungs.iter().enumerate() {
        if args.rungs.iter().take(place).any(|other| other == rung) {
            return usage(&format!("'{rung}' is named twice."));
        }
    }
    make(&args.change, |board| {
        let order = if args.config {
            NewOrder::Config(ConfigWord::Config)
        } else {
            NewOrder::Rungs(completed(board, &args.ladder, &args.rungs)?)
        };
        Ok(vec![Change::Order { ladder: args.ladder.clone(), order }])
    })
}

/// The named rungs, then the ladder's others as they stand.
fn completed(board: &Board, ladder: &str, first: &[String]) -> Result<Vec<String>, UnknownName> {
    let Some(found) = board.ladders.iter().find(|known| known.name == ladder) else {
        let known = board.ladders.iter().map(|known| known.name.clone()).collect();
        return Err(UnknownName::Nothing { what: "ladder", name: ladder.to_owned(), known });
    };
    if let Some(unknown) = first.iter().find(|rung| !found.order.contains(rung)) {
        return Err(UnknownName::RungOfLadder {
            rung: unknown.clone(),
            ladder: ladder.to_owned(),
            known: found.order.clone(),
        });
    }
    let rest = found.order.iter().filter(|rung| !first.contains(rung));
    Ok(first.iter().chain(rest).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::admin::sample::calm;

    #[test]
    fn rungs_that_are_not_named_stay_behind() {
        let board = calm(&[("chat", &["a", "b", "c", "d"])]);
        let order = |first: &[&str]| {
            let first: Vec<_> = first.iter().map(|&rung| rung.to_owned()).collect();
            completed(&board, "chat", &first).map(|order| order.join(" "))
        };
        assert_eq!(order(&["c"]).unwrap(), "c a b d");
        assert_eq!(order(&["d", "a"]).unwrap(), "d a b c");
        assert!(order(&["x"]).unwrap_err().to_string().contains("a, b, c, d"));
        assert!(completed(&board, "code", &[]).unwrap_err().to_string().contains("chat"));
    }
}
