//! What the window tells and asks beside its screens: alerts, the palette, the token, the
//! summary, marks, and what a protected relay wants typed.

use super::{Desk, confirm, opened, press, press_with};
use crate::news::News;
use crate::task::{Task, Which};
use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use shared::RequestId;
use shared::admin::actions::{Preview, Warning, WarningKind};
use shared::admin::changes::{Change, Target};
use shared::admin::{RequestPage, sample};
use shared::{BreakerState, OverrideMode, TransitionRule};

fn desk() -> Desk {
    Desk::with(&sample::calm(&[("chat", &["sol", "opus"])]))
}

#[test]
fn the_palette_finds_a_command_by_its_words_and_does_it() {
    let mut harness = opened(desk());
    press(&mut harness, Key::ArrowDown);
    press_with(&mut harness, Modifiers::COMMAND, Key::K);
    harness.event(Event::Text("force cl".to_owned()));
    harness.run_steps(2);
    assert_eq!(harness.query_all_by_label_contains("force open").count(), 0);
    press(&mut harness, Key::Enter);
    assert!(harness.state().console.model.palette.is_none());
    let dialog = harness.state().console.model.dialog.clone().unwrap();
    let mode = match dialog.about {
        crate::dialog::About::Rungs { mode, .. } => mode,
        other => panic!("{other:?}"),
    };
    assert_eq!(mode, OverrideMode::ForcedClosed);
}

#[test]
fn letters_belong_to_the_palette_while_it_is_open() {
    let mut harness = opened(desk());
    press(&mut harness, Key::ArrowDown);
    press_with(&mut harness, Modifiers::COMMAND, Key::K);
    press(&mut harness, Key::O);
    assert!(harness.state().console.model.dialog.is_none());
    press(&mut harness, Key::Escape);
    assert!(harness.state().console.model.palette.is_none());
}

#[test]
fn an_alert_is_muted_by_a_key() {
    let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
    board.ladders[0].users.failed = 40;
    let mut harness = opened(Desk::with(&board));
    let now = harness.state().now;
    assert!(harness.state().console.model.alerts.worst(now).is_some());
    press(&mut harness, Key::I);
    assert!(harness.state().console.model.alerts.worst(now).is_none());
    assert!(harness.query_all_by_label_contains("silent for 30 min").count() > 0);
}

#[test]
fn a_relay_that_wants_a_token_is_given_one_and_only_it() {
    let mut harness = opened(desk());
    let why = "it wants a token".to_owned();
    harness.state_mut().news(News::Lost { relay: 0, why, token: true, gone: false });
    harness.run_steps(2);
    harness.event(Event::Text("hunter2".to_owned()));
    harness.run_steps(2);
    let shown = harness.query_all_by_label_contains("hunter2").count();
    assert_eq!(shown, 0, "it is not on the screen");
    press(&mut harness, Key::Enter);
    let sent = harness.state().sent.last().cloned();
    assert_eq!(sent, Some(Task::Token { relay: 0, token: "hunter2".to_owned() }));
    assert!(harness.state().console.model.token.is_none());
    let settings = serde_json::to_string(&harness.state().console.model.settings).unwrap();
    assert!(!settings.contains("hunter2"), "nothing remembers it");
}

#[test]
fn a_relay_whose_token_was_declined_does_not_ask_again_by_itself() {
    let mut harness = opened(desk());
    let wants =
        || News::Lost { relay: 0, why: "it wants a token".to_owned(), token: true, gone: false };
    harness.state_mut().news(wants());
    harness.run_steps(2);
    press(&mut harness, Key::Escape);
    harness.state_mut().news(wants());
    harness.run_steps(2);
    assert!(harness.state().console.model.token.is_none());
    press(&mut harness, Key::Num4);
    assert_eq!(harness.state().console.model.screen, crate::model::Screen::Actions);
}

#[test]
fn marked_rungs_are_changed_together() {
    let mut harness = opened(desk());
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::X);
    press(&mut harness, Key::ArrowRight);
    press(&mut harness, Key::X);
    assert_eq!(harness.query_all_by_label_contains(", marked").count(), 2);
    press(&mut harness, Key::D);
    harness.state_mut().console.model.dialog.as_mut().unwrap().reason = "maintenance".to_owned();
    confirm(&mut harness);
    let demoted = |name: &str| Change::Override {
        target: Target::Rung(name.to_owned()),
        mode: OverrideMode::Demoted,
        cut_streams: false,
    };
    assert_eq!(harness.state().changes()[0].changes, [demoted("opus"), demoted("sol")]);
}

#[test]
fn a_protected_relay_wants_its_env_typed_where_a_ladder_would_lose_its_last_rung() {
    let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
    board.relay.protected = true;
    sample::open(&mut board.rungs[0], 60);
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::G);
    press(&mut harness, Key::O);
    let last = |kind| Preview {
        ladders: Vec::new(),
        warnings: vec![Warning {
            kind,
            ladder: Some("chat".to_owned()),
            rung: None,
            text: "chat would have no rung left.".to_owned(),
        }],
    };
    harness.state_mut().preview(last(WarningKind::LastRung));
    harness.run_steps(2);
    press_with(&mut harness, Modifiers::ALT, Key::A);
    harness.state_mut().preview(last(WarningKind::LastRung));
    harness.run_steps(2);
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty(), "its env was not typed");
    // From the reason on to the env: nothing takes the keys by itself.
    press(&mut harness, Key::Tab);
    harness.event(Event::Text("PROD".to_owned()));
    harness.run_steps(2);
    confirm(&mut harness);
    assert_eq!(harness.state().changes().len(), 1);
}

#[test]
fn the_summary_names_requests_and_no_host() {
    let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
    sample::open(&mut board.rungs[0], 60);
    let mut harness = opened(Desk::with(&board));
    press(&mut harness, Key::Y);
    assert!(harness.state().console.model.copy.is_none(), "ids are asked for first");
    let items = vec![sample::request(RequestId::from_number(7), sample::before(9))];
    let found = Ok(RequestPage { items, next: None });
    harness.state_mut().news(News::Requests { relay: 0, asked: 0, what: Which::Worst, found });
    let text = harness.state().console.model.copy.clone().unwrap();
    for part in ["## PROD eu-1 at 2025-11-29T03:04:11", "sol open", "chat: failed", "req_"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("127.0.0.1") && !text.contains("8788"), "{text}");
    // Nor where a relay has no name, or is lost.
    let mut nameless = crate::model::WatchedRelay::new("http://10.2.3.4:8788");
    nameless.reach = crate::model::Reach::Lost("http://10.2.3.4:8788 does not answer".to_owned());
    harness.state_mut().console.model.relays.push(nameless);
    harness.state_mut().console.model.relays[0].board.as_mut().unwrap().relay.name = None;
    let now = harness.state().now;
    harness.state_mut().console.model.merge(now);
    let text = crate::summary::markdown(&harness.state().console.model, &[], now);
    assert!(!text.contains("10.2.3.4") && !text.contains("127.0.0.1"), "{text}");
    assert!(text.contains("relay 2 is lost"), "{text}");
    // What a nameless one says of itself begins with its host on the screen.
    let desk = harness.state_mut();
    let mut bad = sample::calm(&[("chat", &["sol", "opus"])]);
    bad.relay.name = None;
    bad.relay.journal.ok = false;
    desk.console.model.relays[1].board = Some(bad);
    desk.console.model.relays[1].heard_at = Some(now);
    desk.console.model.merge(now);
    let screen: Vec<&str> =
        desk.console.model.lines.iter().map(|line| line.text.as_str()).collect();
    assert!(screen.iter().any(|text| text.starts_with("10.2.3.4:8788: journal")), "{screen:?}");
    let text = crate::summary::markdown(&desk.console.model, &[], now);
    assert!(text.contains("relay 2: journal failing") && !text.contains("10.2.3.4"), "{text}");
    // A relay that says nothing does not keep it back for ever.
    press(&mut harness, Key::Y);
    harness.state_mut().console.model.copy = None;
    harness.state_mut().now += 5_001;
    harness.state_mut().work();
    assert!(harness.state().console.model.copy.is_some());
}

#[test]
fn a_greek_keyboard_locks_nobody_out() {
    let mut harness = opened(desk());
    press(&mut harness, Key::ArrowDown);
    // The logical key has no Latin letter: what the layout gives egui does not know.
    harness.event(Event::Key {
        key: Key::F35,
        physical_key: Some(Key::O),
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(2);
    assert!(harness.state().console.model.dialog.is_some());
}

#[test]
fn what_was_missed_in_a_gap_is_one_line() {
    let board = sample::calm(&[("chat", &["sol", "opus"])]);
    let mut desk = Desk::with(&board);
    desk.now += 50_000;
    let transition = shared::admin::TransitionRow {
        id: 0,
        at: sample::before(-20),
        rung: "sol".to_owned(),
        before: Some(BreakerState::Closed.into()),
        after: BreakerState::Open.into(),
        rule: TransitionRule::BadRun.into(),
        text: "slow".to_owned(),
        slow: None,
        bad: None,
        n: None,
        weight: None,
        request: None,
    };
    for _ in 0..3 {
        desk.event("transition", &transition);
    }
    let tick = shared::admin::Tick {
        at: sample::before(-50),
        streams: 3,
        waiting: 1,
        journal: board.relay.journal.clone(),
        drain: board.relay.drain.clone(),
        rss_bytes: None,
    };
    desk.event("tick", &tick);
    desk.work();
    let events = &desk.console.model.lead().unwrap().events;
    let texts: Vec<&str> = events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(texts, ["away 50 s: 3 transitions"]);
    // From then on each is told.
    desk.event("transition", &transition);
    desk.work();
    assert_eq!(desk.console.model.lead().unwrap().events.len(), 2);
}

#[test]
fn enter_on_what_tab_went_to_is_not_also_the_consoles() {
    let mut harness = opened(desk());
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::Tab);
    press(&mut harness, Key::Enter);
    assert_ne!(harness.state().console.model.screen, crate::model::Screen::History);
    // Letters still work: no text field has the focus.
    press(&mut harness, Key::Num4);
    assert_eq!(harness.state().console.model.screen, crate::model::Screen::Actions);
}

#[test]
fn figures_of_a_relay_that_has_just_started_say_since_when() {
    for (up, words) in [(8_000, "in 8.0 s, since its start"), (40_000, "in 30 s")] {
        let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
        board.relay.started_at = shared::UnixMillis(board.at.0 - up);
        let mut harness = opened(Desk::with(&board));
        press(&mut harness, Key::ArrowDown);
        assert!(harness.query_all_by_label_contains(words).count() > 0, "{words}");
    }
}

#[test]
fn the_last_test_call_of_a_rung_stays_beside_it_whoever_made_it() {
    use shared::admin::actions::{About, Action, ActionKind, CheckAnswer};
    let mut harness = opened(Desk::with(&sample::calm(&[("chat", &["sol", "opus"])])));
    let check = |ago, outcome, ttft_ms: Option<u64>| CheckAnswer {
        id: "c".to_owned(),
        at: sample::before(ago),
        by: "ben".to_owned(),
        rung: "sol".to_owned(),
        kind: shared::AttemptKind::Check,
        outcome,
        status: Some(if ttft_ms.is_some() { 200 } else { 503 }),
        ttft_ms,
        latency_ms: 400,
        text: None,
        journaled: true,
    };
    let action = |check: CheckAnswer| Action {
        id: check.id.clone(),
        at: check.at,
        kind: ActionKind::Check,
        by: check.by.clone(),
        reason: "test call".to_owned(),
        changes: Vec::new(),
        about: About { rung: Some(check.rung.clone()), ladder: None },
        before: None,
        after: None,
        accepted: Vec::new(),
        check: Some(check),
        until_at: None,
        ended_at: None,
        ended_by: None,
        undoes: None,
        in_force: false,
    };
    let failed = shared::AttemptOutcome::Overloaded;
    for check in [
        check(5, shared::AttemptOutcome::Ok, Some(180)),
        // An older one that is told later changes nothing.
        check(50, failed, None),
    ] {
        harness.state_mut().event("action", &action(check));
    }
    harness.state_mut().work();
    press(&mut harness, Key::ArrowDown);
    harness.get_by_label_contains("by ben: ok, first token 180 ms");
    harness.state_mut().event("action", &action(check(1, failed, None)));
    harness.state_mut().work();
    harness.run_steps(2);
    harness.get_by_label_contains("by ben: overloaded 503");
}
