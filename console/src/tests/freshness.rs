//! Old looks old, and nothing is sent on the strength of it.

use super::{Desk, confirm, opened, press};
use crate::news::News;
use eframe::egui::Key;
use egui_kittest::kittest::Queryable as _;
use shared::admin::sample;
use shared::{BreakerState, TransitionRule};

fn board() -> shared::admin::Board {
    sample::calm(&[("chat", &["sol", "opus"])])
}

#[test]
fn after_five_seconds_of_silence_the_cells_ask_and_actions_are_off() {
    let mut harness = opened(Desk::with(&board()));
    press(&mut harness, Key::ArrowDown);
    assert_eq!(harness.query_all_by_label_contains("sol, no news").count(), 0);
    harness.state_mut().now += 5_001;
    harness.run_steps(2);
    assert_eq!(harness.query_all_by_label_contains("sol, no news").count(), 1);
    harness.get_by_label("◌ no news for 5.0 s, data from 03:04:11");
    harness.get_by_label("– streams, – waiting");
    harness.get_by_label("chat, fail –, p95 –");
    harness.get_by_label("◌ as of 03:04:11, not now");
    press(&mut harness, Key::O);
    // All else that a change needs is there.
    harness.state_mut().console.model.dialog.as_mut().unwrap().reason = "hangs".to_owned();
    confirm(&mut harness);
    assert!(harness.state().changes().is_empty(), "nothing is sent");
    harness.state_mut().event("snapshot", &board());
    harness.state_mut().work();
    harness.run_steps(2);
    assert!(harness.state().changes().is_empty(), "nothing was queued");
    confirm(&mut harness);
    assert_eq!(harness.state().changes().len(), 1, "with news it is");
    press(&mut harness, Key::Escape);
    harness.state_mut().now += 5_001;
    press(&mut harness, Key::P);
    confirm(&mut harness);
    assert!(
        harness.state().sent.iter().all(|task| !matches!(task, crate::task::Task::Action { .. }))
    );
}

#[test]
fn a_tick_makes_it_fresh_again_and_a_loss_says_why() {
    let mut harness = opened(Desk::with(&board()));
    harness.state_mut().now += 9_000;
    let why = "connection refused".to_owned();
    let lost = News::Lost { relay: 0, why, token: false, gone: true };
    harness.state_mut().news(lost);
    harness.run_steps(2);
    harness.get_by_label_contains("eu-1 is lost for 9.0 s: connection refused");
    let tick = shared::admin::Tick {
        at: sample::before(-9),
        streams: 3,
        waiting: 1,
        journal: board().relay.journal,
        drain: board().relay.drain,
        rss_bytes: None,
    };
    harness.state_mut().event("tick", &tick);
    harness.state_mut().work();
    harness.run_steps(2);
    harness.get_by_label("3 streams, 1 waiting");
    assert!(harness.query_by_label_contains("is lost").is_none());
}

#[test]
fn a_relay_that_takes_no_connection_is_lost_at_once_and_a_feed_that_breaks_off_is_not() {
    for (gone, lines) in [(true, 1), (false, 0)] {
        let mut harness = opened(Desk::with(&board()));
        harness.state_mut().now += 100;
        let why = "connection refused".to_owned();
        harness.state_mut().news(News::Lost { relay: 0, why, token: false, gone });
        harness.run_steps(2);
        assert_eq!(harness.query_all_by_label_contains("is lost for 0.1 s").count(), lines);
        // Nor is anything done there.
        press(&mut harness, Key::ArrowDown);
        press(&mut harness, Key::O);
        confirm(&mut harness);
        assert_eq!(harness.state().changes().is_empty(), gone);
    }
}

#[test]
fn a_transition_is_on_the_cell_before_the_rest_of_its_rung_has_come() {
    let mut harness = opened(Desk::with(&board()));
    let transition = shared::admin::TransitionRow {
        id: 0,
        at: sample::NIGHT,
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
    harness.state_mut().event("transition", &transition);
    harness.state_mut().work();
    harness.run_steps(2);
    assert_eq!(harness.query_all_by_label_contains("sol, OPEN").count(), 1);
}

#[test]
fn events_change_what_is_shown_and_keep_the_curves() {
    let mut board = board();
    let steps = vec![1; 60];
    board.rungs[0].past.spark = Some(shared::admin::board::RungSpark {
        step_ms: 15_000,
        calls: steps.clone(),
        ..shared::admin::board::RungSpark::default()
    });
    let mut desk = Desk::with(&board);
    let mut rung = board.rungs[0].clone();
    rung.past.spark = None;
    sample::open(&mut rung, 4);
    desk.event("rung", &rung);
    desk.work();
    let shown = desk.console.model.rung("sol").unwrap();
    assert_eq!(shown.health.state, BreakerState::Open);
    let curve = shown.past.spark.as_ref().map(|spark| &spark.calls);
    assert_eq!(curve, Some(&steps), "the curve comes on its own");
    // What this program does not know is no reason to stop.
    desk.event("weather", &"sunny");
    desk.event("rung", &"nonsense");
    desk.work();
    assert!(desk.console.model.lead().unwrap().unread.is_some());
    assert_eq!(desk.console.model.rung("sol").unwrap().health.state, BreakerState::Open);
}

#[test]
fn a_cold_window_reads_what_happened_before_it_and_puts_it_in_front() {
    use shared::admin::TransitionPage;
    use shared::admin::actions::ActionPage;
    let asked = |desk: &Desk| {
        desk.sent.iter().filter(|task| matches!(task, crate::task::Task::Past { .. })).count()
    };
    let row = |seconds, text: &str| shared::admin::TransitionRow {
        id: 0,
        at: sample::before(seconds),
        rung: "sol".to_owned(),
        before: Some(BreakerState::Closed.into()),
        after: BreakerState::Open.into(),
        rule: TransitionRule::BadRun.into(),
        text: text.to_owned(),
        slow: None,
        bad: None,
        n: None,
        weight: None,
        request: None,
    };
    let mut desk = Desk::with(&board());
    assert_eq!(asked(&desk), 1);
    // Something happens before the answer comes, which has it, too.
    desk.event("transition", &row(5, "newest"));
    desk.work();
    let items = vec![row(5, "newest"), row(40, "middle"), row(90, "oldest")];
    let transitions = TransitionPage { items, next: None };
    let actions = ActionPage { items: Vec::new(), next: None };
    desk.news(News::Past { relay: 0, found: Ok((transitions, actions)) });
    let events = &desk.console.model.relays[0].events;
    let texts: Vec<&str> = events.iter().map(|event| &*event.text).collect();
    let expected = ["oldest", "middle", "newest"].map(|text| format!("closed → open  {text}"));
    assert_eq!(texts, expected);
    desk.event("snapshot", &board());
    desk.work();
    assert_eq!(asked(&desk), 1, "once");
}
