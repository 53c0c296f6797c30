//! Several relays on one board: the worst state and on how many, never an average; and each
//! of them alone.

use super::{Desk, confirm, opened, press};
use crate::model::View;
use eframe::egui::Key;
use egui_kittest::kittest::Queryable as _;
use shared::OverrideMode;
use shared::admin::{Board, sample};

/// The board of a relay of this name in this env.
fn board(name: &str, env: &str, change: impl Fn(&mut Board)) -> Board {
    let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
    board.relay.name = Some(name.to_owned());
    board.relay.env = Some(env.to_owned());
    change(&mut board);
    board
}

#[test]
fn a_cell_shows_the_worst_state_and_on_how_many_relays_it_is() {
    let open = |board: &mut Board| sample::open(&mut board.rungs[0], 90);
    let boards = [board("eu-1", "PROD", |_| {}), board("eu-2", "PROD", open)];
    let mut harness = opened(Desk::of(&boards));
    harness.get_by_label_contains("sol, OPEN 1/2");
    press(&mut harness, Key::G);
    // The side panel has a line for each.
    harness.get_by_label_contains("eu-1       ● ");
    harness.get_by_label_contains("eu-2       ▲ OPEN");
}

#[test]
fn r_goes_from_all_of_an_env_to_each_of_it_and_to_the_next_env() {
    let boards = [
        board("eu-1", "PROD", |_| {}),
        board("eu-2", "PROD", |_| {}),
        board("test-1", "TEST", |_| {}),
    ];
    let mut harness = opened(Desk::of(&boards));
    let at = |harness: &egui_kittest::Harness<'_, Desk>| {
        let model = &harness.state().console.model;
        (model.view, model.viewed())
    };
    assert_eq!(at(&harness), (View::Env(0), vec![0, 1]), "never of two envs");
    for (view, viewed) in [
        (View::One(0), vec![0]),
        (View::One(1), vec![1]),
        (View::Env(2), vec![2]),
        (View::Env(0), vec![0, 1]),
    ] {
        press(&mut harness, Key::R);
        assert_eq!(at(&harness), (view, viewed));
    }
}

#[test]
fn a_change_goes_to_what_is_seen_each_with_its_own_version() {
    let at = |version: u64| {
        move |board: &mut Board| {
            sample::open(&mut board.rungs[0], 90);
            sample::force(&mut board.rungs[0], OverrideMode::Demoted);
            board.rungs[0].forced.as_mut().unwrap().version = version;
            board.rungs[0].override_version = Some(version);
        }
    };
    let boards = [board("eu-1", "PROD", at(3)), board("eu-2", "PROD", at(7))];
    let mut harness = opened(Desk::of(&boards));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::O);
    confirm(&mut harness);
    let versions: Vec<_> =
        harness.state().changes().iter().map(|request| request.expect["rung/sol"]).collect();
    assert_eq!(versions, [3, 7]);
}

#[test]
fn a_relay_that_was_never_heard_of_is_told_and_named_too() {
    let open = |board: &mut Board| sample::open(&mut board.rungs[0], 90);
    let mut desk = Desk::of(&[board("eu-1", "PROD", open)]);
    desk.console.model.relays.push(crate::model::WatchedRelay::new("http://127.0.0.1:9738"));
    let why = "connection refused".to_owned();
    desk.news(crate::news::News::Lost { relay: 1, why, token: false, gone: false });
    let mut harness = opened(desk);
    assert!(harness.query_all_by_label_contains("127.0.0.1:9738 is lost: connection").count() > 0);
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    harness.get_by_label_contains("127.0.0.1:9738 lost: will not know");
}

#[test]
fn the_board_of_whoever_answers_is_shown_when_the_first_relay_is_down() {
    let open = |board: &mut Board| sample::open(&mut board.rungs[0], 90);
    let mut desk = Desk::of(&[board("eu-1", "PROD", open), board("eu-2", "PROD", open)]);
    desk.console.model.relays[0].board = None;
    desk.work();
    let mut harness = opened(desk);
    harness.get_by_label_contains("sol, OPEN");
    press(&mut harness, Key::G);
    assert_eq!(harness.state().console.model.selected.rung.as_deref(), Some("sol"));
}

#[test]
fn the_view_does_not_jump_when_the_first_relay_comes_up_later() {
    let boards = [board("prod-1", "PROD", |_| {}), board("test-1", "TEST", |_| {})];
    let (tell, news) = std::sync::mpsc::channel();
    let relays = vec!["http://127.0.0.1:8788".to_owned(), "http://127.0.0.1:8789".to_owned()];
    let settings = crate::settings::Settings { relays, ..crate::settings::Settings::default() };
    let mut console = crate::Console::new(settings, news);
    let now = sample::NIGHT.0;
    for relay in [1, 0] {
        let data = serde_json::to_string(&boards[relay]).unwrap();
        let kind = "snapshot".to_owned();
        tell.send(crate::news::News::Event { relay, kind, data, at: now }).unwrap();
        console.take_news(now);
        assert_eq!(console.model.viewed(), [1], "who answered first is shown, and stays");
    }
}

#[test]
fn an_open_dialog_keeps_the_relays_that_it_was_opened_for() {
    let open = |board: &mut Board| sample::open(&mut board.rungs[0], 90);
    let boards = [board("eu-1", "PROD", open), board("test-1", "TEST", open)];
    let mut harness = opened(Desk::of(&boards));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    harness.get_by_label_contains("test-1").click();
    harness.run_steps(3);
    assert_eq!(harness.state().console.model.view, View::Env(0), "not while a dialog is open");
    confirm(&mut harness);
    let relays: Vec<usize> = harness
        .state()
        .sent
        .iter()
        .filter(|task| matches!(task, crate::task::Task::Change { .. }))
        .map(crate::task::Task::relay)
        .collect();
    assert_eq!(relays, [0]);
}

#[test]
fn a_relay_that_comes_back_under_a_dialog_must_be_confirmed_too() {
    let open = |board: &mut Board| sample::open(&mut board.rungs[0], 90);
    let boards = [board("eu-1", "PROD", open), board("eu-2", "PROD", open)];
    let mut desk = Desk::of(&boards);
    desk.now += 5_001;
    desk.event("snapshot", &boards[0]);
    desk.work();
    let mut harness = opened(desk);
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    harness.state_mut().work();
    harness.state_mut().event_of(1, "snapshot", &boards[1]);
    harness.state_mut().work();
    harness.run_steps(2);
    harness.get_by_label_contains("eu-2 can be reached now, too");
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty());
    confirm(&mut harness);
    assert_eq!(harness.state().changes().len(), 2);
}

#[test]
fn orders_that_differ_are_not_overwritten_by_one_of_them() {
    let turned = |board: &mut Board| board.ladders[0].order.reverse();
    let boards = [board("eu-1", "PROD", |_| {}), board("eu-2", "PROD", turned)];
    let mut harness = opened(Desk::of(&boards));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::M);
    harness.state_mut().console.model.dialog.as_mut().unwrap().reason = "slow".to_owned();
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty());
    assert!(harness.query_all_by_label_contains("differs between relays").count() > 0);
}

#[test]
fn a_lost_relay_is_named_where_it_will_not_know() {
    let open = |board: &mut Board| sample::open(&mut board.rungs[0], 90);
    let boards = [board("eu-1", "PROD", open), board("eu-2", "PROD", open)];
    let mut desk = Desk::of(&boards);
    desk.now += 5_001;
    desk.event("snapshot", &boards[0]);
    desk.work();
    let mut harness = opened(desk);
    assert!(harness.query_all_by_label_contains("eu-2 is lost for").count() > 0);
    harness.get_by_label_contains("sol, OPEN, probe");
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    harness.get_by_label_contains("eu-2 lost: will not know");
    confirm(&mut harness);
    let relays: Vec<usize> = harness
        .state()
        .sent
        .iter()
        .filter(|task| matches!(task, crate::task::Task::Change { .. }))
        .map(crate::task::Task::relay)
        .collect();
    assert_eq!(relays, [0]);
    // It comes back: nothing was queued for it.
    harness.state_mut().event_of(1, "snapshot", &boards[1]);
    harness.state_mut().work();
    harness.run_steps(2);
    assert_eq!(harness.state().changes().len(), 1);
}
