//! Every screen in both themes and from 100 to 200 %: drawn without a panic, within the
//! window, and with no glyph that the fonts lack.

use super::{Desk, press, window};
use crate::board::Turn;
use eframe::egui::{FontFamily, FontId, Key, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use shared::OverrideMode;
use shared::admin::{Board, sample};
use std::path::Path;

fn busy(ladders: usize) -> Board {
    let rungs = ["sol", "opus", "haiku", "mistral", "local", "gemini", "seventh"];
    let names: Vec<String> = (1..=ladders).map(|number| format!("ladder-{number:02}")).collect();
    let ladders: Vec<(&str, &[&str])> =
        names.iter().map(|name| (name.as_str(), &rungs[..])).collect();
    let mut board = sample::calm(&ladders);
    sample::open(&mut board.rungs[0], 120);
    sample::force(&mut board.rungs[1], OverrideMode::ForcedOpen);
    board.rungs[2].health.weight = 0.2;
    board.ladders[0].users.failed = 9;
    board
}

#[test]
fn every_screen_is_drawn_in_both_themes_at_every_scale() {
    for light in [false, true] {
        for scale in [1.0, 1.5, 2.0] {
            let mut desk = Desk::with(&busy(12));
            desk.console.model.settings.light = light;
            desk.console.model.settings.scale = scale;
            let mut harness = window(desk, Vec2::new(1280.0, 800.0));
            for key in [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5] {
                press(&mut harness, key);
                harness.get_by_label_contains("5 Setup");
            }
            press(&mut harness, Key::G);
            press(&mut harness, Key::O);
            harness.get_by_label_contains("Ctrl+Enter Take out");
            press(&mut harness, Key::Escape);
            press(&mut harness, Key::M);
            harness.get_by_label_contains("Ctrl+Enter set this order");
        }
    }
}

#[test]
fn at_200_percent_the_side_panel_lies_over_the_board() {
    let mut desk = Desk::with(&busy(2));
    desk.console.model.settings.scale = 2.0;
    let mut harness = window(desk, Vec2::new(1280.0, 800.0));
    assert!(harness.query_by_label_contains("nothing is selected").is_none());
    press(&mut harness, Key::ArrowDown);
    harness.get_by_label_contains("ttft p95");
    // The cell under it is where it was.
    harness.get_by_label_contains("ladder-01, !fail");
}

#[test]
fn more_ladders_than_fit_are_scrolled_and_the_sick_ones_out_of_view_are_named() {
    let mut board = busy(60);
    board.rungs.iter_mut().for_each(|rung| *rung = sample::rung(&rung.name));
    board.ladders.iter_mut().for_each(|ladder| ladder.users.failed = 0);
    board.ladders[57].users.failed = 9;
    let harness = window(Desk::with(&board), Vec2::new(1280.0, 800.0));
    harness.get_by_label_contains("sick and out of view: ↓ ladder-58");
}

#[test]
fn a_seventh_rung_is_counted() {
    let harness = window(Desk::with(&busy(5)), Vec2::new(1280.0, 800.0));
    // Drawn, not labelled: six cells of a row are buttons.
    assert_eq!(harness.query_all_by_label_contains("haiku, SLOW START").count(), 5);
    assert_eq!(harness.query_all_by_label_contains("gemini").count(), 0);
}

#[test]
fn the_worst_ladders_come_first_on_a_key_and_stay_where_they_are() {
    let mut board = busy(5);
    board.ladders[0].users.failed = 0;
    board.ladders[3].users.failed = 9;
    let mut harness = window(Desk::with(&board), Vec2::new(1280.0, 800.0));
    let top = |harness: &Harness<'_, Desk>, name: &str| {
        harness.get_by_label_contains(&format!("{name}, ")).rect().min.y
    };
    assert!(top(&harness, "ladder-04") > top(&harness, "ladder-01"));
    press(&mut harness, Key::W);
    assert!(top(&harness, "ladder-04") < top(&harness, "ladder-01"));
    // What becomes worse later does not move under a hand.
    let mut worse = board.ladders[4].clone();
    worse.users.failed = 99;
    harness.state_mut().event("ladder", &worse);
    harness.state_mut().work();
    harness.run_steps(2);
    assert!(top(&harness, "ladder-05") > top(&harness, "ladder-04"));
    press(&mut harness, Key::W);
    assert!(top(&harness, "ladder-04") > top(&harness, "ladder-01"));
}

#[test]
fn a_heading_of_the_turned_board_is_all_of_its_rungs() {
    let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
    board.rungs.iter_mut().for_each(|rung| rung.provider = "openai".to_owned());
    board.providers.truncate(1);
    board.providers[0].name = "openai".to_owned();
    let mut harness = window(Desk::with(&board), Vec2::new(1280.0, 800.0));
    press(&mut harness, Key::V);
    assert_eq!(harness.state().console.model.turn, Turn::Providers);
    press(&mut harness, Key::ArrowDown);
    let marked = harness.state().console.model.marked.clone();
    assert_eq!(marked.into_iter().collect::<Vec<_>>(), ["opus", "sol"]);
    press(&mut harness, Key::ArrowDown);
    assert!(harness.state().console.model.marked.is_empty());
    assert_eq!(harness.state().console.model.selected.rung.as_deref(), Some("sol"));
}

/// Every character of the console's own words, and of what relays may send, is in the font.
#[test]
fn the_fonts_have_every_glyph_that_is_drawn() {
    let mut wanted: Vec<char> = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(path).unwrap();
                // What tests type in stands at the end of a file.
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
                wanted.extend(text.chars().filter(|c| !c.is_ascii()));
            }
        }
    }
    wanted.extend("–…→▁█".chars());
    wanted.sort_unstable();
    wanted.dedup();
    assert!(wanted.len() > 15, "{wanted:?}");
    let harness = window(Desk::with(&busy(1)), Vec2::new(1280.0, 800.0));
    let mono = FontId::new(12.0, FontFamily::Monospace);
    let missing: Vec<char> = harness
        .ctx
        .fonts_mut(|fonts| wanted.into_iter().filter(|c| !fonts.has_glyph(&mono, *c)).collect());
    assert!(missing.is_empty(), "{missing:?}");
}
