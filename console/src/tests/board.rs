//! The Board: what it says, and what keys do on it.

use super::{Desk, opened, press, window};
use crate::board::Turn;
use crate::model::Screen;
use eframe::egui::{Key, Vec2};
use egui_kittest::kittest::Queryable as _;
use shared::OverrideMode;
use shared::admin::sample;

fn two() -> shared::admin::Board {
    sample::calm(&[("chat", &["sol", "opus"]), ("code", &["opus", "sol"])])
}

#[test]
fn all_well_is_said_and_every_ladder_and_rung_stands_there_by_name() {
    let harness = opened(Desk::with(&two()));
    harness.get_by_label("● all well");
    assert_eq!(harness.query_all_by_label_contains("sol, ").count(), 2, "once on each ladder");
    harness.get_by_label_contains("chat, fail");
    harness.get_by_label("nothing is selected");
}

#[test]
fn the_worst_is_one_key_away_and_lights_up_wherever_it_stands() {
    let mut board = two();
    sample::open(&mut board.rungs[0], 100);
    let mut harness = opened(Desk::with(&board));
    assert!(harness.query_by_label("● all well").is_none());
    press(&mut harness, Key::G);
    let selected = harness.state().console.model.selected.clone();
    assert_eq!(selected.rung.as_deref(), Some("sol"), "{selected:?}");
    assert_eq!(harness.query_all_by_label_contains("sol, OPEN").count(), 2);
    let why = "several times in a row";
    assert!(harness.query_all_by_label_contains(why).count() > 0, "the side panel says why");
}

#[test]
fn arrows_move_and_stop_at_the_edges() {
    let mut harness = opened(Desk::with(&two()));
    let at = |harness: &egui_kittest::Harness<'_, Desk>| {
        let selected = harness.state().console.model.selected.clone();
        (selected.ladder.unwrap_or_default(), selected.rung.unwrap_or_default())
    };
    for (key, ladder, rung) in [
        (Key::ArrowDown, "chat", "sol"),
        (Key::ArrowRight, "chat", "opus"),
        (Key::L, "chat", "opus"),
        (Key::J, "code", "sol"),
        (Key::ArrowDown, "code", "sol"),
        (Key::H, "code", "opus"),
        (Key::K, "chat", "sol"),
    ] {
        press(&mut harness, key);
        assert_eq!(at(&harness), (ladder.to_owned(), rung.to_owned()), "{key:?}");
    }
}

#[test]
fn screens_have_numbers_and_the_board_turns() {
    let mut harness = opened(Desk::with(&two()));
    for (key, screen) in [
        (Key::Num2, Screen::History),
        (Key::Num3, Screen::Breakers),
        (Key::Num4, Screen::Actions),
        (Key::Num5, Screen::Setup),
        (Key::Num1, Screen::Board),
    ] {
        press(&mut harness, key);
        assert_eq!(harness.state().console.model.screen, screen);
    }
    press(&mut harness, Key::V);
    assert_eq!(harness.state().console.model.turn, Turn::Providers);
    harness.get_by_label_contains("by provider");
    press(&mut harness, Key::V);
    harness.get_by_label_contains("by domain");
}

#[test]
fn twelve_ladders_of_six_rungs_fit_the_usual_window() {
    let rungs = ["r1", "r2", "r3", "r4", "r5", "r6"];
    let names: Vec<String> = (1..=12).map(|number| format!("ladder-{number:02}")).collect();
    let ladders: Vec<(&str, &[&str])> =
        names.iter().map(|name| (name.as_str(), &rungs[..])).collect();
    let size = Vec2::new(1280.0, 800.0);
    let harness = window(Desk::with(&sample::calm(&ladders)), size);
    let cells: Vec<_> = harness.query_all_by_label_contains("r6, ").collect();
    assert_eq!(cells.len(), 12);
    for cell in cells {
        let place = cell.rect();
        assert!(place.max.x <= size.x - 316.0 && place.max.y <= size.y, "{place}");
    }
}

#[test]
fn the_keys_are_listed() {
    let mut harness = opened(Desk::with(&two()));
    press(&mut harness, Key::Questionmark);
    harness.get_by_label("do what the dialog says");
    press(&mut harness, Key::Escape);
    assert!(harness.query_by_label("do what the dialog says").is_none());
}

#[test]
fn troubles_are_gone_to_one_after_another_and_by_a_click() {
    let mut board = two();
    sample::open(&mut board.rungs[0], 100);
    sample::force(&mut board.rungs[1], OverrideMode::Demoted);
    let lines = shared::diagnose::diagnose(&board);
    assert!(lines.len() > 1, "{lines:?}");
    let mut harness = opened(Desk::with(&board));
    let at = |harness: &egui_kittest::Harness<'_, Desk>| harness.state().console.model.trouble;
    for (key, place) in [
        (Key::CloseBracket, 0),
        (Key::CloseBracket, 1),
        (Key::OpenBracket, 0),
        (Key::OpenBracket, 0),
        (Key::CloseBracket, 1),
        (Key::G, 0),
    ] {
        press(&mut harness, key);
        assert_eq!(at(&harness), Some(place), "{key:?}");
    }
    harness.get_by_label_contains(&lines[1].text).click();
    harness.run_steps(3);
    assert_eq!(at(&harness), Some(1));
}
