//! Orders: moved by keys and by dragging, and what was meant kept when a colleague is faster.

use super::{Desk, confirm, opened, press};
use crate::dialog::About;
use eframe::egui::{Key, Modifiers, Pos2, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use shared::OverrideMode;
use shared::admin::{Board, sample};

fn board() -> Board {
    sample::calm(&[("code", &["sol", "haiku", "opus"])])
}

fn ordering() -> Harness<'static, Desk> {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::M);
    harness
}

fn mine(harness: &Harness<'_, Desk>) -> Vec<String> {
    match &harness.state().console.model.dialog.as_ref().unwrap().about {
        About::Order { rungs, .. } => rungs.clone(),
        other => panic!("{other:?}"),
    }
}

fn give_reason(harness: &mut Harness<'_, Desk>) {
    let dialog = harness.state_mut().console.model.dialog.as_mut().unwrap();
    dialog.reason = "sol slow all evening".to_owned();
}

#[test]
fn a_rung_is_dragged_to_its_place() {
    let mut harness = ordering();
    let place = |harness: &Harness<'_, Desk>, name: &str| -> Rect {
        harness.get_by_label_contains(name).rect()
    };
    let (from, to) = (place(&harness, "opus, place 3"), place(&harness, "sol, place 1"));
    harness.drag_at(from.center());
    harness.run_steps(2);
    harness.hover_at(Pos2::new(from.center().x, to.center().y));
    harness.run_steps(2);
    harness.drop_at(Pos2::new(from.center().x, to.center().y));
    harness.run_steps(3);
    assert_eq!(mine(&harness), ["opus", "sol", "haiku"]);
    assert!(harness.state().changes().is_empty(), "a drag alone changes nothing");
}

#[test]
fn what_was_meant_is_kept_when_a_colleague_is_faster_and_must_be_confirmed_anew() {
    let mut harness = ordering();
    press(&mut harness, Key::ArrowDown);
    // The reason's field has the keys at first: the rung is chosen by what was selected.
    harness.state_mut().console.model.dialog.as_mut().unwrap().place(1, 0);
    assert_eq!(mine(&harness), ["haiku", "sol", "opus"]);
    give_reason(&mut harness);
    // Ben puts opus first meanwhile.
    let mut theirs = board().ladders[0].clone();
    theirs.order = ["opus", "sol", "haiku"].map(str::to_owned).to_vec();
    theirs.version = 4;
    theirs.by = Some("ben".to_owned());
    harness.state_mut().event("ladder", &theirs);
    harness.state_mut().work();
    harness.run_steps(3);
    assert_eq!(mine(&harness), ["haiku", "opus", "sol"], "haiku to the top, over ben's order");
    harness.get_by_label_contains("another order now by ben");
    harness.get_by_label_contains("config          theirs          mine");
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty(), "once is not enough");
    confirm(&mut harness);
    let desk = harness.state();
    let [request] = desk.changes().try_into().unwrap();
    assert_eq!(request.expect["ladder/code"], 4, "on what is so now");
}

#[test]
fn an_override_that_changes_under_the_dialog_must_be_confirmed_anew() {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::O);
    give_reason(&mut harness);
    let mut rung = board().rungs[0].clone();
    sample::force(&mut rung, OverrideMode::Demoted);
    harness.state_mut().event("rung", &rung);
    harness.state_mut().work();
    harness.run_steps(3);
    harness.get_by_label_contains("sol is demoted now, by ben");
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty());
    confirm(&mut harness);
    assert_eq!(harness.state().changes().len(), 1);
}

#[test]
fn a_key_that_is_held_down_confirms_once_only() {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::O);
    give_reason(&mut harness);
    let mut rung = board().rungs[0].clone();
    sample::force(&mut rung, OverrideMode::Demoted);
    harness.state_mut().event("rung", &rung);
    harness.state_mut().work();
    harness.state_mut().preview_all();
    harness.run_steps(3);
    let key = |pressed| eframe::egui::Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    };
    // The first one was meant for what was there before; held down it comes again and again.
    for _ in 0..3 {
        harness.event(key(true));
        harness.run_steps(2);
    }
    assert!(harness.state().changes().is_empty());
    harness.event(key(false));
    harness.event(key(true));
    harness.run_steps(2);
    assert_eq!(harness.state().changes().len(), 1);
}
