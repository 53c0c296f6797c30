//! What is wrong, over all relays of the view: what their boards say together, and what only
//! somebody who watches several of them can know.

use super::merged::Merged;
use super::watched::{Reach, WatchedRelay};
use shared::UnixMillis;
use shared::admin::Board;
use shared::admin::actions::{Action, ActionKind};
use shared::diagnose::{Level, Rule, Trouble, diagnose};
use shared::figures::span;

/// A relay's clock that is off by more than this is worth a line, in milliseconds.
pub const SKEW: i64 = 2_000;

/// The lines of the relays of `viewed`, whose boards are `merged`; the worst first.
#[must_use]
pub fn lines(
    relays: &[WatchedRelay],
    viewed: &[usize],
    merged: Option<&Merged>,
    now: i64,
) -> Vec<Trouble> {
    let of = |index: &usize| relays.get(*index);
    let known: Vec<&WatchedRelay> = viewed.iter().filter_map(of).collect();
    let mut all: Vec<Trouble> = known.iter().flat_map(|known| of_relay(known, now)).collect();
    // Of which env one is that was never heard of nobody knows: it is said whatever is shown.
    let strangers = relays.iter().filter(|known| known.board.is_none());
    let is_shown = |stranger: &WatchedRelay| known.iter().any(|known| known.url == stranger.url);
    all.extend(strangers.filter(|it| !is_shown(it)).flat_map(|known| of_relay(known, now)));
    let Some(merged) = merged else { return all };
    let with_board: Vec<&WatchedRelay> =
        known.iter().copied().filter(|known| known.board.is_some()).collect();
    let fresh: Vec<&WatchedRelay> =
        with_board.iter().copied().filter(|known| !known.is_stale(now)).collect();
    // What is known of nobody of late is what was known of all.
    let fresh = if fresh.is_empty() { with_board.clone() } else { fresh };
    if with_board.len() < 2 {
        all.extend(diagnose(&merged.board));
    } else {
        // What users have and what it costs adds up; what a relay may call is its own affair: a
        // rung that is out here carries everything there.
        let together =
            |line: &Trouble| matches!(line.rule, Rule::Users | Rule::Spend | Rule::Budget);
        all.extend(diagnose(&merged.board).into_iter().filter(together));
        all.extend(each(&fresh, together));
    }
    for ladder in &merged.differ {
        all.push(Trouble {
            level: Level::Warning,
            rule: Rule::Relay,
            about: vec![ladder.clone()],
            text: format!("{ladder}: {}", orders(&known, ladder)),
        });
    }
    all.extend(notes(&known));
    // Stable: each rule has put its own lines in order.
    all.sort_by_key(|line| line.rule);
    all
}

/// What each relay's own board says; what several of them say of the same thing is one line,
/// in the first one's words, with the names of those that say it unless all do.
fn each(fresh: &[&WatchedRelay], together: impl Fn(&Trouble) -> bool) -> Vec<Trouble> {
    let is_own =
        |line: &Trouble| matches!(line.rule, Rule::Relay | Rule::Journal | Rule::ReachesNobody);
    let mut all: Vec<(Trouble, Vec<&str>)> = Vec::new();
    for known in fresh {
        let Some(board) = &known.board else { continue };
        for line in diagnose(board).into_iter().filter(|line| !together(line)) {
            let same = |(other, _): &&mut (Trouble, Vec<&str>)| {
                !is_own(&line)
                    && (other.rule, other.level, &other.about)
                        == (line.rule, line.level, &line.about)
            };
            match all.iter_mut().find(same) {
                Some((_, names)) => names.push(known.name()),
                None => all.push((line, vec![known.name()])),
            }
        }
    }
    let named = |(line, names): (Trouble, Vec<&str>)| {
        if names.len() == fresh.len() && !is_own(&line) {
            return line;
        }
        let text = format!("{}: {}", names.join(", "), line.text);
        Trouble { text, ..line }
    };
    all.into_iter().map(named).collect()
}

fn of_relay(known: &WatchedRelay, now: i64) -> Vec<Trouble> {
    let line = |level, text| Trouble { level, rule: Rule::Relay, about: Vec::new(), text };
    let mut said = Vec::new();
    if known.board.is_some() && known.is_stale(now) {
        let age = known.age(now).map(span).unwrap_or_default();
        let why = match &known.reach {
            Reach::Lost(why) => format!(": {why}"),
            _ => String::new(),
        };
        said.push(line(Level::Broken, format!("{} is lost for {age}{why}", known.name())));
    } else if known.board.is_none()
        && let Reach::Lost(why) = &known.reach
    {
        said.push(line(Level::Broken, format!("{} is lost: {why}", known.name())));
    }
    let skew = known.offset.get();
    if known.board.is_some() && skew.abs() > SKEW {
        let way = if skew > 0 { "ahead of" } else { "behind" };
        let text =
            format!("{}: its clock is {} {way} this machine's", known.name(), span(skew.abs()));
        said.push(line(Level::Warning, text));
    }
    said
}

/// Who has which order.
fn orders(viewed: &[&WatchedRelay], ladder: &str) -> String {
    let of = |known: &&WatchedRelay| {
        let board = known.board.as_ref()?;
        let state = board.ladders.iter().find(|state| state.name == ladder)?;
        Some(format!("{} has {}", known.name(), state.order.join(" > ")))
    };
    format!("orders differ: {}", viewed.iter().filter_map(of).collect::<Vec<_>>().join("; "))
}

/// Notes stand until they are ended; one that went to several relays is said once.
fn notes(viewed: &[&WatchedRelay]) -> Vec<Trouble> {
    let mut seen: Vec<&Action> = Vec::new();
    for known in viewed {
        let standing = known.in_force.iter().filter(|action| action.kind == ActionKind::Note);
        for note in standing {
            if seen.iter().all(|other| other.id != note.id) {
                seen.push(note);
            }
        }
    }
    let at = |note: &Action, boards: &[&WatchedRelay]| {
        let board = boards.iter().find_map(|known| known.board.as_ref());
        let ago = |board: &Board| span(board.at.0.saturating_sub(note.at.0).max(0));
        board.map(ago).unwrap_or_default()
    };
    let mut lines: Vec<(UnixMillis, Trouble)> = seen
        .into_iter()
        .map(|note| {
            let about = note.about.rung.clone().or_else(|| note.about.ladder.clone());
            let on = about.as_deref().unwrap_or("all");
            let text = format!(
                "note on {on} by {}, {} ago: \"{}\"",
                note.by,
                at(note, viewed),
                note.reason
            );
            let about = about.into_iter().collect();
            (note.at, Trouble { level: Level::Hand, rule: Rule::Hand, about, text })
        })
        .collect();
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::settings::Settings;
    use shared::OverrideMode;
    use shared::admin::actions::About;
    use shared::admin::sample::{self, NIGHT};

    fn model(changes: &[&dyn Fn(&mut Board)]) -> Model {
        let names: Vec<String> = (0..changes.len()).map(|n| format!("http://r{n}")).collect();
        let mut model = Model::new(Settings { relays: names, ..Settings::default() });
        for (index, change) in changes.iter().enumerate() {
            let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
            board.relay.name = Some(format!("eu-{index}"));
            change(&mut board);
            let data = serde_json::to_string(&board).unwrap();
            model.relays[index].apply(Some(shared::admin::FeedKind::Snapshot), &data, NIGHT.0);
        }
        model.merge(NIGHT.0);
        model
    }

    fn texts(model: &Model) -> Vec<String> {
        model.lines.iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn what_one_relay_has_alone_is_said_by_its_name() {
        let well = |_: &mut Board| {};
        let ill = |board: &mut Board| {
            board.relay.journal.ok = false;
            for rung in &mut board.rungs {
                rung.now.good = 0;
                rung.now.bad = 9;
                rung.now.outcomes = [("connect".to_owned(), 9)].into();
            }
        };
        let found = texts(&model(&[&well, &ill]));
        let has = |part: &str| found.iter().any(|text| text.contains(part));
        assert!(has("eu-1: journal failing"), "{found:?}");
        assert!(has("eu-1: this relay reaches none of its 2 providers"), "{found:?}");
        assert!(!has("eu-0:"), "{found:?}");
        // The only one need not be named.
        let found = texts(&model(&[&ill]));
        assert!(found.iter().any(|text| text.starts_with("journal failing")), "{found:?}");
    }

    #[test]
    fn a_rung_that_is_out_here_and_another_one_there_leave_nobody_without() {
        let here = |board: &mut Board| sample::open(&mut board.rungs[0], 60);
        let there = |board: &mut Board| sample::open(&mut board.rungs[1], 60);
        let found = model(&[&here, &there]);
        assert!(found.lines.iter().all(|line| line.rule != Rule::NoRung), "{:?}", texts(&found));
        let found = texts(&found);
        assert!(found.iter().any(|text| text.starts_with("eu-0: sol open")), "{found:?}");
        assert!(found.iter().any(|text| text.starts_with("eu-1: opus open")), "{found:?}");
        // Nor when nobody has been heard of for a while.
        let mut old = model(&[&here, &there]);
        old.merge(NIGHT.0 + 60_000);
        assert!(old.lines.iter().all(|line| line.rule != Rule::NoRung), "{:?}", texts(&old));
        // The same on both is said once, and of both.
        let both = texts(&model(&[&here, &here]));
        assert_eq!(both.iter().filter(|text| text.starts_with("sol open")).count(), 1, "{both:?}");
    }

    #[test]
    fn a_hand_on_one_relay_hides_no_sickness_of_another() {
        let hand = |board: &mut Board| sample::force(&mut board.rungs[0], OverrideMode::Demoted);
        let sick = |board: &mut Board| {
            sample::open(&mut board.rungs[0], 60);
            board.rungs[0].health.hard_down = Some(shared::admin::board::HardDown {
                why: "key".to_owned(),
                until_at: sample::before(-60),
            });
        };
        let found = model(&[&hand, &sick]);
        assert!(found.lines.iter().any(|line| line.rule == Rule::Refused), "{:?}", texts(&found));
    }

    #[test]
    fn orders_that_differ_a_lost_relay_and_a_clock_that_is_off_have_a_line_each() {
        let well = |_: &mut Board| {};
        let turned = |board: &mut Board| board.ladders[0].order.reverse();
        let mut model = model(&[&well, &turned, &well]);
        let expected = "chat: orders differ: eu-0 has sol > opus; eu-1 has opus > sol";
        assert!(texts(&model).iter().any(|text| text.starts_with(expected)), "{:?}", texts(&model));
        model.relays[2].reach = Reach::Lost("connection refused".to_owned());
        model.relays[2].heard_at = Some(NIGHT.0 - 42_000);
        for _ in 0..30 {
            model.relays[1].offset.note(NIGHT.0 + 3_000, NIGHT.0);
        }
        model.merge(NIGHT.0);
        let found = texts(&model);
        assert!(
            found.iter().any(|t| t == "eu-2 is lost for 42 s: connection refused"),
            "{found:?}"
        );
        assert!(found.iter().any(|t| t.starts_with("eu-1: its clock is 3.0 s ahead")), "{found:?}");
    }

    #[test]
    fn a_note_stands_once_however_many_relays_have_it() {
        let well = |_: &mut Board| {};
        let mut model = model(&[&well, &well]);
        let note = Action {
            id: "n1".to_owned(),
            at: sample::before(60),
            kind: ActionKind::Note,
            by: "ana".to_owned(),
            reason: "vendor says 30 min".to_owned(),
            changes: Vec::new(),
            about: About { rung: Some("sol".to_owned()), ladder: None },
            before: None,
            after: None,
            accepted: Vec::new(),
            check: None,
            until_at: None,
            ended_at: None,
            ended_by: None,
            undoes: None,
            in_force: true,
        };
        model.relays.iter_mut().for_each(|known| known.in_force = vec![note.clone()]);
        model.merge(NIGHT.0);
        let expected = "note on sol by ana, 60 s ago: \"vendor says 30 min\"";
        let found = texts(&model);
        assert_eq!(found.iter().filter(|text| *text == expected).count(), 1, "{found:?}");
    }
}
