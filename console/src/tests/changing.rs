//! Changes: nothing is sent by one key, and nothing twice.

use super::{Desk, confirm, opened, press, press_with};
use crate::dialog::{Sent, TYPING};
use crate::news::{News, NotDone};
use crate::task::Task;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use shared::OverrideMode;
use shared::admin::actions::{Preview, Warning, WarningKind};
use shared::admin::changes::{Change, NewOrder, Target};
use shared::admin::sample;
use shared::admin::ttl::Ttl;
use shared::remote::CallError;

fn sick() -> shared::admin::Board {
    let mut board = sample::calm(&[("chat", &["sol", "opus"]), ("code", &["opus", "sol", "luna"])]);
    sample::open(&mut board.rungs[0], 100);
    let provider = board.rungs[0].provider.clone();
    board.rungs[2].provider = provider;
    board
}

fn nothing() -> Preview {
    Preview { ladders: Vec::new(), warnings: Vec::new() }
}

#[test]
fn from_a_cold_window_a_provider_is_forced_open_in_five_presses() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    harness.get_by_label_contains("asking the relay");
    assert!(harness.state().changes().is_empty(), "a key alone changes nothing");
    press_with(&mut harness, Modifiers::ALT, Key::S);
    harness.state_mut().preview(nothing());
    harness.run_steps(2);
    press(&mut harness, Key::Tab);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    let desk = harness.state();
    let [request] = desk.changes().try_into().unwrap();
    let provider = Target::Provider(sick().rungs[0].provider.clone());
    let expected =
        Change::Override { target: provider, mode: OverrideMode::ForcedOpen, cut_streams: false };
    assert_eq!(request.changes, [expected]);
    assert_eq!(request.ttl, Some(Ttl::OVERRIDE));
    // Again: it was sent, and is not sent twice.
    confirm(&mut harness);
    assert_eq!(harness.state().changes().len(), 1);
}

#[test]
fn escape_leaves_everything_as_it_is() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    press(&mut harness, Key::Escape);
    assert!(harness.state().console.model.dialog.is_none());
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty());
}

#[test]
fn a_ladder_is_left_without_a_rung_only_by_its_name() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    let warning = Warning {
        kind: WarningKind::LastRung,
        ladder: Some("chat".to_owned()),
        rung: None,
        text: "chat would have no rung left.".to_owned(),
    };
    let preview = Preview { ladders: Vec::new(), warnings: vec![warning] };
    harness.state_mut().preview(preview.clone());
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty(), "it was not accepted");
    harness.get_by_label_contains("I accept this for chat");
    press_with(&mut harness, Modifiers::ALT, Key::A);
    harness.state_mut().preview(preview);
    confirm(&mut harness);
    assert_eq!(harness.state().changes()[0].accept, ["chat"]);
}

#[test]
fn an_order_is_moved_by_keys_and_sent_with_the_version_that_was_seen() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::M);
    press_with(&mut harness, Modifiers::ALT, Key::ArrowDown);
    harness.state_mut().preview(nothing());
    harness.run_steps(2);
    press_with(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert!(harness.state().changes().is_empty(), "an order wants a reason");
    harness.state_mut().console.model.dialog.as_mut().unwrap().reason = "sol is slow".to_owned();
    harness.run_steps(2);
    confirm(&mut harness);
    let desk = harness.state();
    let [request] = desk.changes().try_into().unwrap();
    let rungs = NewOrder::Rungs(vec!["opus".to_owned(), "sol".to_owned()]);
    assert_eq!(request.changes, [Change::Order { ladder: "chat".to_owned(), order: rungs }]);
    assert!(request.expect.contains_key("ladder/chat"), "{:?}", request.expect);
}

#[test]
fn what_was_done_closes_the_dialog_and_u_takes_it_back() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::D);
    confirm(&mut harness);
    let id = harness.state().changes()[0].id.clone();
    let done = News::Done { relay: 0, id: id.clone(), result: Ok(serde_json::json!({})) };
    harness.state_mut().news(done);
    harness.run_steps(2);
    assert!(harness.state().console.model.dialog.is_none());
    harness.get_by_label_contains("u takes it back");
    harness.state_mut().now += TYPING;
    press(&mut harness, Key::U);
    assert!(harness.state().sent.iter().all(|task| !matches!(task, Task::Action { .. })));
    confirm(&mut harness);
    let undo = harness.state().sent.last().cloned().unwrap();
    let Task::Action { path, .. } = undo else { panic!("{undo:?}") };
    assert_eq!(path, ["actions", id.as_str(), "undo"]);
}

#[test]
fn a_dialog_that_was_closed_too_soon_keeps_nobody_from_undoing() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::D);
    confirm(&mut harness);
    press(&mut harness, Key::Escape);
    let id = harness.state().changes()[0].id.clone();
    let done = News::Done { relay: 0, id: id.clone(), result: Ok(serde_json::json!({})) };
    harness.state_mut().news(done);
    press(&mut harness, Key::U);
    confirm(&mut harness);
    let is_undo = |task: &Task| matches!(task, Task::Action { path, .. } if path.contains(&id));
    assert!(harness.state().sent.iter().any(is_undo));
}

#[test]
fn a_refusal_and_a_silence_are_told_apart_and_neither_is_sent_again() {
    for (result, words) in [
        (Err(NotDone::Refused("somebody was faster".to_owned())), "refused: somebody was faster"),
        (Err(NotDone::MayBeDone("no answer".to_owned())), "not confirmed"),
    ] {
        let mut harness = opened(Desk::with(&sick()));
        press(&mut harness, Key::G);
        press(&mut harness, Key::D);
        confirm(&mut harness);
        let id = harness.state().changes()[0].id.clone();
        harness.state_mut().news(News::Done { relay: 0, id, result });
        harness.run_steps(2);
        assert!(harness.query_all_by_label_contains(words).count() > 0, "{words}");
        assert!(harness.state().console.model.dialog.is_some(), "it stays to be read");
        confirm(&mut harness);
        assert_eq!(harness.state().changes().len(), 1);
    }
}

#[test]
fn after_five_seconds_without_an_answer_it_is_not_confirmed() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::D);
    confirm(&mut harness);
    let state = |harness: &egui_kittest::Harness<'_, Desk>| {
        harness.state().console.model.dialog.as_ref().unwrap().sent[&0].clone()
    };
    harness.state_mut().now += 5_000;
    harness.state_mut().work();
    assert!(matches!(state(&harness), Sent::Waiting(_)));
    harness.state_mut().now += 1;
    harness.state_mut().work();
    assert!(matches!(state(&harness), Sent::NotConfirmed(_)));
}

#[test]
fn a_viewer_may_only_look() {
    let mut board = sick();
    board.relay.you.role = shared::admin::Role::Viewer;
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty());
    assert!(harness.query_all_by_label_contains("may only look").count() > 0);
}

/// A desk that watches a second relay, too, of this env.
fn beside(env: Option<&str>, other: Option<&str>) -> Desk {
    let of = |env: Option<&str>| {
        let mut board = sick();
        board.relay.env = env.map(str::to_owned);
        board
    };
    Desk::of(&[of(env), of(other)])
}

#[test]
fn a_change_goes_to_the_relays_of_one_env_and_to_nobody_elses() {
    let rows = [
        (Some("prod"), Some("prod"), 2),
        (Some("prod"), Some("test"), 1),
        (Some("prod"), None, 1),
        (None, None, 1),
    ];
    for (env, other, count) in rows {
        let mut harness = opened(beside(env, other));
        press(&mut harness, Key::G);
        press(&mut harness, Key::D);
        confirm(&mut harness);
        assert_eq!(harness.state().changes().len(), count, "{env:?} {other:?}");
    }
}

#[test]
fn one_relays_refusal_is_not_wiped_out_by_anothers_word() {
    let mut harness = opened(beside(Some("prod"), Some("prod")));
    press(&mut harness, Key::G);
    press(&mut harness, Key::D);
    confirm(&mut harness);
    let id = harness.state().changes()[0].id.clone();
    press(&mut harness, Key::Escape);
    let refused = Err(NotDone::Refused("somebody was faster".to_owned()));
    harness.state_mut().news(News::Done { relay: 0, id: id.clone(), result: refused });
    harness.state_mut().news(News::Done { relay: 1, id, result: Ok(serde_json::json!({})) });
    harness.run_steps(2);
    let said = harness.state().console.model.said.clone().unwrap().0;
    assert!(said.contains("somebody was faster") && said.contains("done on"), "{said}");
    // What was done can be taken back, there.
    press(&mut harness, Key::U);
    confirm(&mut harness);
    let deeds = harness.state().sent.iter().filter(|task| matches!(task, Task::Action { .. }));
    assert_eq!(deeds.map(Task::relay).collect::<Vec<_>>(), [1]);
}

#[test]
fn what_was_not_confirmed_is_looked_up_with_the_next_sign_of_life_and_never_sent_again() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::D);
    confirm(&mut harness);
    let id = harness.state().changes()[0].id.clone();
    let lost = Err(NotDone::MayBeDone("it broke off".to_owned()));
    harness.state_mut().news(News::Done { relay: 0, id: id.clone(), result: lost });
    let looked =
        |desk: &Desk| desk.sent.iter().filter(|task| matches!(task, Task::LookUp { .. })).count();
    assert_eq!(looked(harness.state()), 0);
    harness.state_mut().event("snapshot", &sick());
    harness.state_mut().event("snapshot", &sick());
    harness.state_mut().work();
    assert_eq!(looked(harness.state()), 1, "once at a time");
    let not_yet = Err(CallError::NotSent("connection refused".to_owned()));
    harness.state_mut().news(News::LookedUp { relay: 0, id: id.clone(), found: not_yet });
    // It may be on its way: only what stays absent was not done.
    for look in 2..=5 {
        harness.state_mut().event("snapshot", &sick());
        harness.state_mut().work();
        assert_eq!(looked(harness.state()), look);
        let said = harness.state().console.model.said.clone().unwrap().0;
        assert!(!said.contains("was not done"), "{said}");
        harness.state_mut().news(News::LookedUp { relay: 0, id: id.clone(), found: Ok(None) });
    }
    let said = harness.state().console.model.said.clone().unwrap().0;
    assert!(said.contains("was not done there"), "{said}");
    assert!(!said.contains("not confirmed"), "its later word is its word: {said}");
    harness.state_mut().event("snapshot", &sick());
    harness.state_mut().work();
    assert_eq!(looked(harness.state()), 5, "that is settled");
    assert_eq!(harness.state().changes().len(), 1);
}

#[test]
fn the_dialog_says_how_much_it_covers_and_holds_the_versions_of_all_of_it() {
    let mut board = sick();
    for (place, version) in [(0, 4), (2, 9)] {
        board.rungs[place].override_version = Some(version);
        board.rungs[place].now.waiting = 3 + u64::try_from(place).unwrap() / 2;
        board.rungs[place].now.streaming = 15;
    }
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    press_with(&mut harness, Modifiers::ALT, Key::S);
    harness.get_by_label_contains("Ctrl+Enter Take out all 2 of");
    harness.get_by_label_contains("Now  7 waiting calls");
    harness.get_by_label_contains("30 running streams");
    confirm(&mut harness);
    let expect = harness.state().changes()[0].expect.clone();
    let versions: Vec<u64> = expect.values().copied().collect();
    assert_eq!(versions, [9, 4], "{expect:?}");
}

#[test]
fn what_several_relays_did_is_taken_back_on_all_of_them() {
    let mut harness = opened(beside(Some("prod"), Some("prod")));
    press(&mut harness, Key::G);
    press(&mut harness, Key::D);
    confirm(&mut harness);
    let id = harness.state().changes()[0].id.clone();
    for relay in [0, 1] {
        let result = Ok(serde_json::json!({}));
        harness.state_mut().news(News::Done { relay, id: id.clone(), result });
    }
    harness.state_mut().now += TYPING;
    press(&mut harness, Key::U);
    confirm(&mut harness);
    let undone = |desk: &Desk| {
        let deeds = desk.sent.iter().filter(|task| matches!(task, Task::Action { .. }));
        deeds.map(Task::relay).collect::<Vec<_>>()
    };
    assert_eq!(undone(harness.state()), [0, 1]);
    let undo = harness.state().console.model.dialog.as_ref().unwrap().id.clone();
    for relay in [0, 1] {
        let result = Ok(serde_json::json!({}));
        harness.state_mut().news(News::Done { relay, id: undo.clone(), result });
    }
    harness.state_mut().now += TYPING;
    press(&mut harness, Key::U);
    confirm(&mut harness);
    assert_eq!(undone(harness.state()).len(), 2, "once");
}

#[test]
fn a_preview_that_fails_takes_no_warning_away() {
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    let warning = Warning {
        kind: WarningKind::LastRung,
        ladder: Some("chat".to_owned()),
        rung: None,
        text: "chat would have no rung left.".to_owned(),
    };
    harness.state_mut().preview(Preview { ladders: Vec::new(), warnings: vec![warning] });
    let asked = harness.state().console.model.dialog.as_ref().unwrap().asked;
    let found = Err(CallError::NotSent("no answer".to_owned()));
    harness.state_mut().news(News::Previewed { relay: 0, asked, found });
    harness.run_steps(2);
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty(), "it was not accepted");
}

#[test]
fn a_late_answer_to_an_earlier_change_is_not_the_last() {
    let mut harness = opened(Desk::with(&sick()));
    let mut ids = Vec::new();
    for _ in 0..2 {
        press(&mut harness, Key::G);
        press(&mut harness, Key::D);
        confirm(&mut harness);
        press(&mut harness, Key::Escape);
        ids.push(harness.state().changes().last().unwrap().id.clone());
    }
    for id in [&ids[1], &ids[0]] {
        let result = Ok(serde_json::json!({}));
        harness.state_mut().news(News::Done { relay: 0, id: id.clone(), result });
    }
    let last = harness.state().console.model.last.clone().unwrap();
    assert_eq!(last.id, ids[1]);
}

#[test]
fn of_a_provider_only_what_changed_is_told_and_an_older_relay_is_expected_nothing() {
    let mut board = sick();
    board.rungs[0].override_version = None;
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    press_with(&mut harness, Modifiers::ALT, Key::S);
    let expect = harness.state().console.model.dialog.as_ref().unwrap().expect[&0].clone();
    assert_eq!(expect.into_iter().collect::<Vec<_>>(), [("rung/luna".to_owned(), 0)]);
    let mut luna = board.rungs[2].clone();
    sample::force(&mut luna, OverrideMode::Demoted);
    harness.state_mut().event("rung", &luna);
    harness.state_mut().work();
    let changed = harness.state().console.model.dialog.as_ref().unwrap().changed.clone().unwrap();
    assert!(changed.contains("luna is demoted") && !changed.contains("sol"), "{changed}");
}

#[test]
fn a_test_call_is_not_taken_for_done_before_its_answer_is_known() {
    use shared::admin::actions::{About, Action, ActionKind};
    let mut harness = opened(Desk::with(&sick()));
    press(&mut harness, Key::G);
    press(&mut harness, Key::T);
    confirm(&mut harness);
    let id = harness.state().console.model.dialog.as_ref().unwrap().id.clone();
    let lost = Err(NotDone::MayBeDone("it broke off".to_owned()));
    harness.state_mut().news(News::Done { relay: 0, id: id.clone(), result: lost });
    let unanswered = Action {
        id: id.clone(),
        at: sample::NIGHT,
        kind: ActionKind::Check,
        by: "ana".to_owned(),
        reason: "test call".to_owned(),
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
        in_force: false,
    };
    harness.state_mut().event("snapshot", &sick());
    harness.state_mut().work();
    let found = Ok(Some(Box::new(unanswered)));
    harness.state_mut().news(News::LookedUp { relay: 0, id: id.clone(), found });
    let model = &harness.state().console.model;
    assert!(model.unconfirmed.contains_key(&(0, id)), "it is looked for again");
    assert!(model.said.as_ref().unwrap().0.contains("not confirmed"));
}
