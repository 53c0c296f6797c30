//! Safe hands: what is typed goes where it was meant, and nothing is sent that was not seen.

use super::{Desk, confirm, opened, press, press_with};
use crate::dialog::{About, TYPING};
use crate::news::News;
use eframe::egui::{Event, Key, Modifiers, PointerButton};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use shared::admin::actions::Preview;
use shared::admin::{Board, sample};

fn board() -> Board {
    let mut board = sample::calm(&[("code", &["sol", "haiku", "opus"])]);
    sample::open(&mut board.rungs[0], 100);
    board
}

/// A dialog to force the sick rung open.
fn asking() -> Harness<'static, Desk> {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    harness
}

/// Types a text as a keyboard does: each letter is a key and a text.
fn types(harness: &mut Harness<'_, Desk>, text: &str) {
    for letter in text.chars() {
        let key = Key::from_name(&letter.to_uppercase().to_string());
        if let Some(key) = key.or_else(|| (letter == ' ').then_some(Key::Space)) {
            harness.key_press(key);
        }
        harness.event(Event::Text(letter.to_string()));
        harness.run_steps(2);
    }
}

fn reason(harness: &Harness<'_, Desk>) -> String {
    harness.state().console.model.dialog.as_ref().unwrap().reason.clone()
}

#[test]
fn a_dialog_opens_with_the_keys_in_an_empty_reason_and_letters_are_the_reasons() {
    for open in [Key::O, Key::C, Key::D, Key::A, Key::M, Key::N] {
        let mut harness = opened(Desk::with(&board()));
        press(&mut harness, Key::G);
        press(&mut harness, open);
        assert_eq!(reason(&harness), "", "{open:?}");
        let before = harness.state().console.model.dialog.clone().unwrap();
        // Each of these is a command of the Board.
        types(&mut harness, "o c d a m 1 2 x ?");
        let after = harness.state().console.model.dialog.clone().unwrap();
        assert_eq!(after.reason, "o c d a m 1 2 x ?", "{open:?}");
        assert_eq!((&after.id, &after.about), (&before.id, &before.about), "{open:?}");
        assert!(harness.state().console.model.marked.is_empty());
    }
}

#[test]
fn tab_takes_the_suggested_cause_over_and_never_what_was_written() {
    let mut harness = asking();
    let suggestion = harness.state().console.model.dialog.as_ref().unwrap().suggestion.clone();
    assert!(!suggestion.is_empty());
    harness.state_mut().preview_all();
    harness.run_steps(3);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert!(harness.state().changes().is_empty(), "a suggestion is no reason");
    press(&mut harness, Key::Tab);
    assert_eq!(reason(&harness), suggestion);
    let mut harness = asking();
    types(&mut harness, "mine");
    press(&mut harness, Key::Tab);
    assert_eq!(reason(&harness), "mine");
}

#[test]
fn tab_stays_within_the_dialog_and_space_presses_nothing_behind_it() {
    let mut harness = asking();
    types(&mut harness, "hangs");
    for _ in 0..30 {
        press(&mut harness, Key::Tab);
        let screen = harness.state().console.model.screen;
        let behind = harness.query_by(|node| {
            node.is_focused() && node.label().is_some_and(|label| label.contains("History"))
        });
        assert!(behind.is_none() && screen == crate::model::Screen::Board);
    }
    assert!(harness.state().console.model.dialog.is_some());
}

#[test]
fn ctrl_enter_presses_no_button_that_has_the_focus() {
    let calm = sample::calm(&[("code", &["sol", "haiku", "opus"])]);
    let mut harness = opened(Desk::with(&calm));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::O);
    harness.state_mut().preview_all();
    // Without a suggestion it goes on to the first reason for the pointer.
    press(&mut harness, Key::Tab);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert_eq!(reason(&harness), "");
    press(&mut harness, Key::Enter);
    assert_eq!(reason(&harness), "incident", "it has the focus");
}

#[test]
fn the_pointer_reaches_nothing_behind_a_dialog() {
    let mut harness = asking();
    let tab = harness.get_by_label_contains("2 History").rect().center();
    harness.event(Event::PointerMoved(tab));
    for pressed in [true, false] {
        let button = PointerButton::Primary;
        let modifiers = Modifiers::NONE;
        harness.event(Event::PointerButton { pos: tab, button, pressed, modifiers });
        harness.run_steps(2);
    }
    assert_eq!(harness.state().console.model.screen, crate::model::Screen::Board);
    assert!(harness.state().console.model.dialog.is_some());
}

#[test]
fn nothing_is_sent_before_the_preview_of_exactly_this_change_was_drawn() {
    let mut harness = asking();
    types(&mut harness, "hangs");
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert!(harness.state().changes().is_empty(), "no preview yet");
    harness.state_mut().preview_all();
    harness.run_steps(2);
    // Another change: how long it lasts.
    press_with(&mut harness, Modifiers::ALT, Key::Num2);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert!(harness.state().changes().is_empty(), "that was the preview of another change");
    // It comes with the very key: nobody has seen it.
    harness.state_mut().preview_all();
    let enter = |pressed| Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    };
    harness.input_mut().events.push(enter(true));
    harness.step();
    assert!(harness.state().changes().is_empty(), "it was not drawn");
    harness.event(enter(false));
    harness.run_steps(2);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert_eq!(harness.state().changes().len(), 1);
}

#[test]
fn a_late_preview_of_an_earlier_change_opens_nothing() {
    let mut harness = asking();
    types(&mut harness, "hangs");
    let asked = harness.state().console.model.dialog.as_ref().unwrap().asked;
    press_with(&mut harness, Modifiers::ALT, Key::Num2);
    let found = Ok(Preview { ladders: Vec::new(), warnings: Vec::new() });
    harness.state_mut().news(News::Previewed { relay: 0, asked, found });
    harness.run_steps(2);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert!(harness.state().changes().is_empty());
}

#[test]
fn who_still_types_when_a_dialog_closes_commands_nothing() {
    let mut harness = asking();
    confirm(&mut harness);
    let id = harness.state().changes()[0].id.clone();
    let done = News::Done { relay: 0, id, result: Ok(serde_json::json!({})) };
    harness.state_mut().news(done);
    harness.run_steps(2);
    assert!(harness.state().console.model.dialog.is_none());
    for _ in 0..20 {
        types(&mut harness, "o");
        harness.state_mut().now += TYPING / 3;
    }
    assert!(harness.state().console.model.dialog.is_none(), "it was typed on");
    harness.state_mut().now += TYPING;
    types(&mut harness, "o");
    assert!(harness.state().console.model.dialog.is_some(), "after a pause it is a command");
}

#[test]
fn an_order_that_is_the_one_in_force_is_not_sent() {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::M);
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty());
    assert!(harness.query_all_by_label_contains("nothing changes").count() > 0);
    press_with(&mut harness, Modifiers::ALT, Key::ArrowDown);
    press_with(&mut harness, Modifiers::ALT, Key::ArrowUp);
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty(), "there and back is no change");
}

#[test]
fn an_orders_list_is_walked_with_arrows_and_each_arrow_counts() {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::M);
    let at = |harness: &Harness<'_, Desk>| match &harness.state().console.model.dialog {
        Some(dialog) => match &dialog.about {
            About::Order { at, rungs, .. } => (*at, rungs.clone()),
            other => panic!("{other:?}"),
        },
        None => panic!("no dialog"),
    };
    let start = at(&harness).0;
    press(&mut harness, Key::ArrowDown);
    assert_eq!(at(&harness).0, start + 1, "from within the reason's field");
    press(&mut harness, Key::ArrowUp);
    types(&mut harness, "slow");
    // Faster than frames.
    for _ in 0..2 {
        harness.key_press_modifiers(Modifiers::ALT, Key::ArrowDown);
    }
    harness.run_steps(6);
    assert_eq!(at(&harness).1, ["haiku", "opus", "sol"]);
    assert_eq!(reason(&harness), "slow");
}

#[test]
fn choices_that_change_the_same_rungs_are_offered_once() {
    let mut board = board();
    for rung in &mut board.rungs[..2] {
        rung.provider = "openai".to_owned();
        rung.domains = vec!["openai".to_owned(), "us-east".to_owned()];
    }
    board.rungs[2].domains = vec!["us-east".to_owned()];
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    let model = &harness.state().console.model;
    let covers = model.dialog.as_ref().unwrap().covers(model);
    let words: Vec<&str> = covers.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words, ["this rung", "all 2 of openai", "all 3 in us-east"]);
}

#[test]
fn an_undo_says_what_it_leads_back_to_and_is_previewed() {
    use shared::admin::actions::{About as Subject, Action, ActionKind, ActionPage};
    use shared::admin::changes::{Change, OrderNow, Present, Target};
    use shared::{OrderSource, OverrideMode};
    let mut harness = asking();
    confirm(&mut harness);
    let request = harness.state().changes()[0].clone();
    let done = News::Done { relay: 0, id: request.id.clone(), result: Ok(serde_json::json!({})) };
    harness.state_mut().news(done);
    let order = |order: &[&str], version, source| OrderNow {
        ladder: "code".to_owned(),
        order: order.iter().map(|&name| name.to_owned()).collect(),
        config_order: Vec::new(),
        source,
        version,
        by: None,
        reason: None,
        at: None,
        until_at: None,
        action: None,
    };
    let present = |order| Some(Present { rungs: Vec::new(), ladders: vec![order] });
    let action = Action {
        id: request.id,
        at: sample::NIGHT,
        kind: ActionKind::Change,
        by: "ana".to_owned(),
        reason: "slow".to_owned(),
        changes: vec![Change::Override {
            target: Target::Rung("sol".to_owned()),
            mode: OverrideMode::ForcedOpen,
            cut_streams: false,
        }],
        about: Subject::default(),
        before: present(order(&["opus", "sol"], 4, OrderSource::Operator)),
        after: present(order(&["sol", "opus"], 5, OrderSource::Operator)),
        accepted: Vec::new(),
        check: None,
        until_at: None,
        ended_at: None,
        ended_by: None,
        undoes: None,
        in_force: true,
    };
    let page = ActionPage { items: vec![action], next: None };
    harness.state_mut().news(News::InForce { relay: 0, found: Ok(page) });
    harness.state_mut().now += TYPING;
    press(&mut harness, Key::U);
    harness.get_by_label_contains("Then: code order opus > sol.");
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    let undone = |desk: &Desk| {
        desk.sent.iter().filter(|task| matches!(task, crate::task::Task::Action { .. })).count()
    };
    assert_eq!(undone(harness.state()), 0, "its preview is on its way");
    harness.state_mut().preview_all();
    harness.run_steps(3);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert_eq!(undone(harness.state()), 1);
}

#[test]
fn a_click_on_the_time_of_breakers_sets_the_cursor_there() {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::Num3);
    let row = harness.get_by_label("operators").rect();
    let (since, until) = harness.state().console.model.breakers.window.unwrap();
    let place = eframe::egui::pos2(row.right() - 8.0 - 100.0, row.center().y);
    harness.event(Event::PointerMoved(place));
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos: place, button, pressed, modifiers });
        harness.run_steps(2);
    }
    let cursor = harness.state().console.model.breakers.cursor.unwrap();
    assert!(since < cursor && cursor < until, "{since:?} {cursor:?} {until:?}");
    let share = (cursor.0 - since.0) as f64 / (until.0 - since.0) as f64;
    assert!((0.85..0.95).contains(&share), "{share}");
}
