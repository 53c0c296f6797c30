//! What operators do, in words: the same on the terminal and in the console.

use crate::OverrideMode;
use crate::admin::actions::{Action, ActionKind};
use crate::admin::changes::{Change, NewOrder, Target};

/// What an action did, in words.
#[must_use]
pub fn what(action: &Action) -> String {
    let about = action.about.rung.as_deref().or(action.about.ladder.as_deref());
    match action.kind {
        ActionKind::Change => changes(&action.changes),
        ActionKind::Undo => "undo".to_owned(),
        ActionKind::Probe => format!("probe {} now", about.unwrap_or_default()),
        ActionKind::Check => format!("check {}", about.unwrap_or_default()),
        ActionKind::Note => format!("note on {}", about.unwrap_or("the relay")),
    }
}

/// What is asked for, in words.
#[must_use]
pub fn changes(all: &[Change]) -> String {
    all.iter().map(change).collect::<Vec<_>>().join(", ")
}

fn change(change: &Change) -> String {
    match change {
        Change::Override { target, mode, cut_streams } => {
            let who = match target {
                Target::Rung(name) => name.clone(),
                Target::Provider(name) => format!("provider {name}"),
                Target::Domain(name) => format!("domain {name}"),
            };
            let cut = if *cut_streams { ", streams cut" } else { "" };
            format!("{who} {}{cut}", self::mode(*mode))
        }
        Change::Order { ladder, order: NewOrder::Rungs(rungs) } => {
            format!("{ladder} order {}", rungs.join(" > "))
        }
        Change::Order { ladder, order: NewOrder::Config(_) } => {
            format!("{ladder} back to the config's order")
        }
    }
}

/// What a rung is under an override, in words.
#[must_use]
pub fn mode(mode: OverrideMode) -> String {
    match mode {
        OverrideMode::Auto => "back to auto".to_owned(),
        mode => mode.to_string().replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::changes::ConfigWord;

    #[test]
    fn changes_are_said_in_one_line() {
        let forced = |target, mode, cut_streams| Change::Override { target, mode, cut_streams };
        let order = |order| Change::Order { ladder: "chat".to_owned(), order };
        let rungs = NewOrder::Rungs(vec!["b".to_owned(), "a".to_owned()]);
        let rows = [
            (
                forced(Target::Rung("sol".to_owned()), OverrideMode::ForcedOpen, true),
                "sol forced open, streams cut",
            ),
            (
                forced(Target::Provider("openai".to_owned()), OverrideMode::Demoted, false),
                "provider openai demoted",
            ),
            (
                forced(Target::Domain("eu".to_owned()), OverrideMode::Auto, false),
                "domain eu back to auto",
            ),
            (order(rungs), "chat order b > a"),
            (order(NewOrder::Config(ConfigWord::Config)), "chat back to the config's order"),
        ];
        for (change, expected) in &rows {
            assert_eq!(changes(std::slice::from_ref(change)), *expected);
        }
        let all: Vec<Change> = rows.into_iter().map(|(change, _)| change).take(2).collect();
        assert_eq!(changes(&all), "sol forced open, streams cut, provider openai demoted");
    }
}
