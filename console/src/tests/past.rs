//! History, Breakers and Actions: what they ask the relays for, and what is done from them.

use super::{Desk, confirm, opened, press};
use crate::dialog::{About, OtherAction};
use crate::history::Preset;
use crate::model::Screen;
use crate::news::News;
use crate::task::{Task, Which};
use eframe::egui::{Event, Key};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use shared::OverrideMode;
use shared::RequestId;
use shared::admin::actions::{About as Pinned, Action, ActionKind, ActionPage};
use shared::admin::changes::{Change, OverrideNow, Present, Target};
use shared::admin::past::{Point, SeriesCurve};
use shared::admin::sample::{self, NIGHT, before};
use shared::admin::{RequestPage, Series};
use shared::remote::CallError;

fn desk() -> Desk {
    Desk::with(&sample::calm(&[("chat", &["sol", "opus"]), ("code", &["opus"])]))
}

/// The newest question for requests.
fn asked(desk: &Desk) -> (u64, Vec<(String, String)>) {
    let found = desk.sent.iter().rev().find_map(|task| match task {
        Task::Requests { asked, query, what: Which::First, .. } => Some((*asked, query.clone())),
        _ => None,
    });
    found.expect("requests were asked for")
}

fn has(query: &[(String, String)], key: &str, value: &str) -> bool {
    query.iter().any(|(known, is)| known == key && is == value)
}

fn answer(harness: &mut Harness<'_, Desk>, ages: &[i64], next: Option<&str>) {
    let (asked, _) = asked(harness.state());
    let number = |age: i64| RequestId::from_number(u64::try_from(1_000 - age).unwrap());
    let items = ages.iter().map(|age| sample::request(number(*age), before(*age))).collect();
    let found = Ok(RequestPage { items, next: next.map(str::to_owned) });
    harness.state_mut().news(News::Requests { relay: 0, asked, what: Which::First, found });
    harness.run_steps(3);
}

fn type_text(harness: &mut Harness<'_, Desk>, text: &str) {
    harness.event(Event::Text(text.to_owned()));
    harness.run_steps(2);
}

#[test]
fn presets_go_by_arrows_and_the_relay_filters() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    assert!(has(&asked(harness.state()).1, "trouble", "true"));
    assert!(has(&asked(harness.state()).1, "since", "2025-11-29T02:49:11.000Z"), "15 min");
    press(&mut harness, Key::ArrowRight);
    assert!(has(&asked(harness.state()).1, "outcome", "failed"));
    press(&mut harness, Key::ArrowRight);
    assert!(has(&asked(harness.state()).1, "rescued", "true"));
    press(&mut harness, Key::ArrowLeft);
    press(&mut harness, Key::ArrowLeft);
    press(&mut harness, Key::ArrowLeft);
    assert_eq!(harness.state().console.model.history.preset, Preset::All);
    press(&mut harness, Key::S);
    assert!(has(&asked(harness.state()).1, "sort", "-cost"), "the relay sorts");
}

#[test]
fn a_filter_is_typed_and_a_wrong_one_says_what_is_right() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    press(&mut harness, Key::Slash);
    type_text(&mut harness, " rang:sol");
    harness.get_by_label_contains("'rang' is no filter; these are:");
    press(&mut harness, Key::Enter);
    assert!(harness.state().console.model.history.typing.is_some(), "it stays to be mended");
    press(&mut harness, Key::Escape);
    assert!(harness.state().console.model.history.typing.is_none());
    press(&mut harness, Key::Slash);
    type_text(&mut harness, " ladder:chat by:opus");
    press(&mut harness, Key::Enter);
    let (_, query) = asked(harness.state());
    assert!(has(&query, "ladder", "chat") && has(&query, "answered_by", "opus"), "{query:?}");
}

#[test]
fn the_list_is_frozen_while_a_row_is_selected_and_counts_what_comes() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    answer(&mut harness, &[5, 9], None);
    harness.get_by_label_contains("03:04:06.000");
    // Something ended: it is looked for, soon but not at once for each.
    let ladder = harness.state().console.model.ladder("chat").unwrap().clone();
    harness.state_mut().now += 600;
    harness.state_mut().event("ladder", &ladder);
    harness.state_mut().work();
    let newer = harness.state().sent.iter().rev().find_map(|task| match task {
        Task::Requests { asked, what: Which::Newer, .. } => Some(*asked),
        _ => None,
    });
    let asked = newer.expect("newer rows were asked for");
    let items = vec![sample::request(RequestId::from_number(1_002), before(-2))];
    let found = Ok(RequestPage { items, next: None });
    let newer = News::Requests { relay: 0, asked, what: Which::Newer, found };
    harness.state_mut().news(newer.clone());
    harness.run_steps(2);
    harness.get_by_label_contains("frozen, 1 new");
    assert_eq!(harness.state().console.model.history.rows.shown().len(), 2);
    // Followed, they are shown as they come.
    press(&mut harness, Key::F);
    answer(&mut harness, &[5, 9], None);
    let (asked, _) = self::asked(harness.state());
    let News::Requests { found, .. } = newer else { unreachable!() };
    harness.state_mut().news(News::Requests { relay: 0, asked, what: Which::Newer, found });
    harness.run_steps(2);
    assert_eq!(harness.state().console.model.history.rows.shown().len(), 3);
    harness.get_by_label_contains("03:04:13.000");
}

#[test]
fn near_the_end_the_next_page_is_asked_for_once() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    answer(&mut harness, &[5, 9], Some("more"));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::ArrowDown);
    let next = harness.state().sent.iter().filter(|task| match task {
        Task::Requests { what: Which::Next, query, .. } => has(query, "cursor", "more"),
        _ => false,
    });
    assert_eq!(next.count(), 1);
}

#[test]
fn what_went_wrong_most_is_a_key_away() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    answer(&mut harness, &[5], None);
    let outcomes = [("ok".to_owned(), 90), ("ttft_timeout".to_owned(), 118)].into();
    let points = vec![Point { outcomes, ..Point::default() }];
    let curves = vec![SeriesCurve { name: "sol".to_owned(), points }];
    let series = Series { since: before(900), until: NIGHT, step_ms: 900_000, curves };
    let (number, _) = asked(harness.state());
    let of = Screen::History;
    let steps: Vec<String> = harness
        .state()
        .sent
        .iter()
        .filter_map(|task| match task {
            Task::Series { of: Screen::History, query, .. } => Some(query),
            _ => None,
        })
        .flatten()
        .filter(|(key, _)| key == "step")
        .map(|(_, value)| value.clone())
        .collect();
    assert_eq!(steps, ["1m"], "a longer step would reach beyond the window");
    let late = News::Series { relay: 0, of, asked: number - 1, found: Ok(series.clone()) };
    harness.state_mut().news(late);
    assert!(harness.state().console.model.history.groups.is_empty(), "of an older question");
    harness.state_mut().news(News::Series { relay: 0, of, asked: number, found: Ok(series) });
    harness.run_steps(2);
    harness.get_by_label("sol ttft_timeout 118");
    press(&mut harness, Key::Period);
    press(&mut harness, Key::Enter);
    let (_, query) = asked(harness.state());
    assert!(has(&query, "tried", "sol") && has(&query, "ended", "ttft_timeout"), "{query:?}");
}

#[test]
fn from_a_moment_of_the_curves_into_its_history() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num3);
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::ArrowLeft);
    let cursor = harness.state().console.model.breakers.cursor.expect("the cursor moved");
    press(&mut harness, Key::Enter);
    assert_eq!(harness.state().console.model.screen, Screen::History);
    let (_, query) = asked(harness.state());
    let at = |key: &str| {
        let found = query.iter().find(|(known, _)| known == key).unwrap();
        found.1.parse::<shared::UnixMillis>().unwrap()
    };
    assert!(at("since") < cursor && cursor < at("until"), "{query:?}");
    let rung = harness.state().console.model.selected.rung.clone().unwrap();
    assert!(has(&query, "tried", &rung));
}

fn action(id: &str, kind: ActionKind, in_force: bool) -> Action {
    let forced = OverrideNow {
        rung: "sol".to_owned(),
        mode: OverrideMode::ForcedOpen,
        version: 3,
        cut_streams: false,
        by: Some("ben".to_owned()),
        reason: None,
        at: Some(before(198)),
        until_at: Some(before(-702)),
        action: Some(id.to_owned()),
    };
    let change = Change::Override {
        target: Target::Rung("sol".to_owned()),
        mode: OverrideMode::ForcedOpen,
        cut_streams: false,
    };
    let is_change = kind == ActionKind::Change;
    Action {
        id: id.to_owned(),
        at: before(198),
        kind,
        by: "ben".to_owned(),
        reason: "hangs, ticket 4711".to_owned(),
        changes: is_change.then_some(change).into_iter().collect(),
        about: Pinned::default(),
        before: None,
        after: is_change.then(|| Present { rungs: vec![forced], ladders: Vec::new() }),
        accepted: Vec::new(),
        check: None,
        until_at: is_change.then_some(before(-702)),
        ended_at: None,
        ended_by: None,
        undoes: None,
        in_force,
    }
}

fn with_actions(items: Vec<Action>) -> Harness<'static, Desk> {
    let mut board = sample::calm(&[("chat", &["sol", "opus"]), ("code", &["opus"])]);
    // It is its own that the action act_1 has set.
    sample::force(&mut board.rungs[0], OverrideMode::ForcedOpen);
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::Num4);
    let found = Ok(ActionPage { items, next: None });
    harness.state_mut().news(News::Actions { relay: 0, found });
    harness.run_steps(2);
    press(&mut harness, Key::ArrowDown);
    harness
}

#[test]
fn what_is_in_force_is_extended_ended_or_taken_back() {
    for (key, mode) in [(Key::E, OverrideMode::ForcedOpen), (Key::A, OverrideMode::Auto)] {
        let mut harness = with_actions(vec![action("act_1", ActionKind::Change, true)]);
        let left = harness.query_all_by_label_contains("11:42 left").count();
        assert_eq!(left, 2, "in the trouble line and in the list");
        press(&mut harness, key);
        let dialog = harness.state().console.model.dialog.clone().unwrap();
        let About::Rungs { rungs, mode: found, .. } = dialog.about else { panic!() };
        assert_eq!((rungs, found), (vec!["sol".to_owned()], mode));
    }
    let mut harness = with_actions(vec![action("act_1", ActionKind::Change, true)]);
    press(&mut harness, Key::U);
    confirm(&mut harness);
    let path = harness.state().sent.iter().find_map(|task| match task {
        Task::Action { path, ends: false, .. } => Some(path.join("/")),
        _ => None,
    });
    assert_eq!(path.as_deref(), Some("actions/act_1/undo"));
}

#[test]
fn a_note_is_pinned_and_ended() {
    let mut harness = opened(desk());
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::N);
    type_text(&mut harness, "vendor says 30 min");
    confirm(&mut harness);
    let sent = harness.state().sent.iter().find_map(|task| match task {
        Task::Action { path, body, ends: false, .. } => Some((path.clone(), body.clone())),
        _ => None,
    });
    let (path, body) = sent.unwrap();
    assert_eq!(path, ["notes"]);
    assert_eq!(
        (&body["text"], &body["about"]["rung"]),
        (&"vendor says 30 min".into(), &"sol".into())
    );
    let mut harness = with_actions(vec![action("note_1", ActionKind::Note, true)]);
    press(&mut harness, Key::A);
    let dialog = harness.state().console.model.dialog.clone().unwrap();
    assert!(matches!(dialog.about, About::Other(OtherAction::EndNote { .. })), "{dialog:?}");
    confirm(&mut harness);
    let ended = harness.state().sent.iter().any(|task| {
        matches!(task, Task::Action { path, ends: true, .. } if path.join("/") == "notes/note_1")
    });
    assert!(ended);
}

#[test]
fn the_list_goes_along_with_what_is_selected() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    let ages: Vec<i64> = (1..=150).collect();
    answer(&mut harness, &ages, None);
    // 03:04:11 less 141 s.
    assert_eq!(harness.query_all_by_label_contains("03:01:50.000").count(), 0, "out of view");
    for _ in 0..7 {
        press(&mut harness, Key::PageDown);
    }
    harness.get_by_label_contains("03:01:50.000");
    assert_eq!(harness.query_all_by_label_contains("03:04:10.000").count(), 0);
}

#[test]
fn an_action_is_ended_only_where_it_holds_and_only_if_it_still_does() {
    let with = |action: Option<&str>| {
        let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
        if let Some(action) = action {
            sample::force(&mut board.rungs[0], OverrideMode::ForcedOpen);
            board.rungs[0].forced.as_mut().unwrap().action = Some(action.to_owned());
        }
        board
    };
    // On the second relay only; then on the first, too, but by somebody else since.
    for (boards, relays) in [
        ([with(None), with(Some("act_1"))], vec![1]),
        ([with(Some("act_9")), with(Some("act_9"))], Vec::new()),
    ] {
        let mut harness = opened(Desk::of(&boards));
        press(&mut harness, Key::Num4);
        let items = vec![action("act_1", ActionKind::Change, true)];
        let found = Ok(ActionPage { items, next: None });
        harness.state_mut().news(News::Actions { relay: 1, found });
        press(&mut harness, Key::ArrowDown);
        for key in [Key::A, Key::E] {
            press(&mut harness, key);
            let dialog = harness.state().console.model.dialog.clone();
            assert_eq!(dialog.map(|dialog| dialog.relays).unwrap_or_default(), relays, "{key:?}");
            press(&mut harness, Key::Escape);
        }
    }
}

#[test]
fn an_override_that_ends_by_itself_leaves_the_list_of_what_is_in_force() {
    let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
    sample::force(&mut board.rungs[0], OverrideMode::ForcedOpen);
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::Num4);
    let asked =
        |desk: &Desk| desk.sent.iter().filter(|task| matches!(task, Task::Actions { .. })).count();
    let before = asked(harness.state());
    let mut rung = board.rungs[0].clone();
    harness.state_mut().event("rung", &rung);
    harness.state_mut().work();
    assert_eq!(asked(harness.state()), before, "nothing has changed of it");
    rung.forced = None;
    rung.override_version = Some(4);
    harness.state_mut().event("rung", &rung);
    harness.state_mut().work();
    assert_eq!(asked(harness.state()), before + 1);
}

#[test]
fn the_curves_go_on_while_they_are_shown_and_stand_while_a_moment_is_looked_at() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num3);
    let asked = |desk: &Desk| {
        let of = |task: &&Task| matches!(task, Task::Series { of: Screen::Breakers, .. });
        desk.sent.iter().filter(of).count()
    };
    assert_eq!(asked(harness.state()), 1);
    harness.state_mut().now += 14_999;
    harness.state_mut().work();
    assert_eq!(asked(harness.state()), 1);
    harness.state_mut().now += 1;
    harness.state_mut().work();
    assert_eq!(asked(harness.state()), 1, "nobody can be reached");
    let board = sample::calm(&[("chat", &["sol", "opus"]), ("code", &["opus"])]);
    harness.state_mut().now += 15_000;
    harness.state_mut().event("snapshot", &board);
    harness.state_mut().work();
    assert_eq!(asked(harness.state()), 2);
    press(&mut harness, Key::ArrowLeft);
    harness.state_mut().now += 15_000;
    harness.state_mut().event("snapshot", &board);
    harness.state_mut().work();
    assert_eq!(asked(harness.state()), 2);
}

#[test]
fn where_nothing_has_stirred_nothing_is_asked() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    answer(&mut harness, &[5], None);
    let newer = |desk: &Desk| {
        let of = |task: &&Task| matches!(task, Task::Requests { what: Which::Newer, .. });
        desk.sent.iter().filter(of).count()
    };
    harness.state_mut().now += 4_000;
    harness.state_mut().work();
    assert_eq!(newer(harness.state()), 0);
}

#[test]
fn a_colleagues_later_override_is_not_ended_with_an_earlier_one() {
    let with = |action: &str| {
        let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
        sample::force(&mut board.rungs[0], OverrideMode::ForcedOpen);
        board.rungs[0].forced.as_mut().unwrap().action = Some(action.to_owned());
        board
    };
    // It went to both and still holds of something on both; of sol on the second only.
    let mut harness = opened(Desk::of(&[with("act_9"), with("act_1")]));
    press(&mut harness, Key::Num4);
    for relay in [0, 1] {
        let items = vec![action("act_1", ActionKind::Change, true)];
        harness
            .state_mut()
            .news(News::Actions { relay, found: Ok(ActionPage { items, next: None }) });
    }
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::A);
    assert!(harness.state().console.model.dialog.is_none());
}

#[test]
fn nothing_newer_is_asked_for_before_the_first_page_has_come() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num2);
    let ladder = harness.state().console.model.ladder("chat").unwrap().clone();
    harness.state_mut().now += 600;
    harness.state_mut().event("ladder", &ladder);
    harness.state_mut().work();
    let of = |task: &&Task| matches!(task, Task::Requests { what: Which::Newer, .. });
    assert_eq!(harness.state().sent.iter().filter(of).count(), 0);
}

#[test]
fn what_is_known_of_breakers_stands_when_it_cannot_be_read_again() {
    let mut harness = opened(desk());
    press(&mut harness, Key::Num4);
    let items = vec![action("act_1", ActionKind::Change, true)];
    harness
        .state_mut()
        .news(News::Actions { relay: 0, found: Ok(ActionPage { items, next: None }) });
    let found = Err(CallError::NotSent("connection refused".to_owned()));
    harness.state_mut().news(News::Actions { relay: 0, found });
    harness.run_steps(2);
    assert!(harness.query_all_by_label_contains("sol forced open").count() > 0);
}

#[test]
fn a_filter_is_cleared_by_a_click() {
    let mut harness = opened(Desk::with(&sample::calm(&[("chat", &["sol", "opus"])])));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::Enter);
    assert_eq!(harness.state().console.model.history.filter.tried.as_deref(), Some("sol"));
    let asked = harness.state().console.model.history.asked;
    harness.get_by_label_contains("clear").click();
    harness.run_steps(3);
    let history = &harness.state().console.model.history;
    assert_eq!((&history.filter, history.asked), (&crate::history::Filter::default(), asked + 1));
    assert!(harness.query_by_label_contains("× clear").is_none());
}
