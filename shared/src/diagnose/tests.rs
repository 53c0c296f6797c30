//! Each rule on a board of its own, with its exact text.

use super::{Level, Rule, Trouble, diagnose};
use crate::admin::Board;
use crate::admin::ConfigError;
use crate::admin::board::{Bucket, HardDown, HoldState, KeyState, LastFault, RungNow, Users};
use crate::admin::sample::{before, calm, force, open, shares};
use crate::{AttemptOutcome, BreakerState, OverrideMode};
use crate::{OrderSource, PassedOver};
use std::collections::BTreeMap;

fn two() -> Board {
    calm(&[("chat", &["sol", "opus"]), ("code", &["opus", "local"])])
}

/// The only line of this rule; there must be exactly one.
#[track_caller]
fn said(board: &Board, rule: Rule) -> Trouble {
    let mut lines: Vec<_> = diagnose(board).into_iter().filter(|l| l.rule == rule).collect();
    assert_eq!(lines.len(), 1, "{rule:?}: {:#?}", diagnose(board));
    lines.remove(0)
}

#[test]
fn nothing_is_said_of_a_calm_board() {
    assert_eq!(diagnose(&two()), []);
    // Nor for a board without any traffic, or with one failure in a thousand.
    let mut board = two();
    board.ladders[0].users = Users::default();
    board.ladders[1].users.failed = 1;
    assert_eq!(diagnose(&board), []);
}

#[test]
fn hurt_users_come_first() {
    let mut board = two();
    open(&mut board.rungs[0], 42);
    let users = &mut board.ladders[1].users;
    (users.ok, users.failed, users.broken, users.ttft_p95_ms) = (180, 12, 8, Some(6_200));
    let lines = diagnose(&board);
    assert_eq!(lines[0].rule, Rule::Users);
    assert_eq!(lines[0].level, Level::Broken);
    assert_eq!(
        lines[0].text,
        "code users: 12 of 200 failed (6.0 %), 8 broken in mid-stream; first token p95 6.2 s \
         (usual 1.2 s)"
    );
    assert_eq!(lines[1].rule, Rule::Rung);
}

#[test]
fn late_users_and_those_who_left_are_told() {
    let mut board = two();
    let users = &mut board.ladders[0].users;
    (users.ok, users.late, users.late_ms, users.gone) = (90, 45, Some(1_400), 10);
    (users.waiting, users.oldest_wait_ms) = (7, Some(17_000));
    let line = said(&board, Rule::Users);
    assert_eq!(line.level, Level::Warning);
    for words in
        ["45 % late, after 1.4 s", "10 left before a token", "7 waiting, the oldest for 17 s"]
    {
        assert!(line.text.contains(words), "{}", line.text);
    }
}

#[test]
fn a_ladder_without_a_usable_rung_is_told() {
    let mut board = two();
    open(&mut board.rungs[0], 42);
    assert!(diagnose(&board).iter().all(|line| line.rule != Rule::NoRung), "opus is left");
    force(&mut board.rungs[1], OverrideMode::ForcedOpen);
    let line = said(&board, Rule::NoRung);
    assert_eq!(line.text, "chat: no usable rung, all 2 are out, 1 of them by hand");
    let mut board = two();
    board.ladders[1].users.last_resort = 4;
    assert!(said(&board, Rule::NoRung).text.starts_with("code: 4 requests in 60 s"));
}

#[test]
fn a_relay_that_reaches_nobody_is_told_to_look_at_itself() {
    let mut board = two();
    for rung in &mut board.rungs {
        let outcomes = BTreeMap::from([("connect".to_owned(), 9)]);
        rung.now = RungNow { calls: 9, bad: 9, outcomes, ..RungNow::default() };
    }
    assert!(said(&board, Rule::ReachesNobody).text.contains("its own network first"));
    board.rungs[2].now.good = 1;
    assert!(diagnose(&board).iter().all(|line| line.rule != Rule::ReachesNobody));
}

#[test]
fn a_refused_key_is_told_with_its_tag_and_age() {
    let mut board = two();
    board.providers[0].key = Some(KeyState {
        source: Some("file".to_owned()),
        loaded_at: before(12),
        tag: "7f3a".to_owned(),
    });
    let rung = &mut board.rungs[0];
    open(rung, 9);
    rung.health.hard_down = Some(HardDown { why: "key".to_owned(), until_at: before(-291) });
    rung.past.last_fault = Some(LastFault {
        at: before(9),
        outcome: AttemptOutcome::Auth,
        status: Some(401),
        code: None,
        text: None,
        redacted: false,
    });
    shares(&mut board.ladders[0], &[0.0, 1.0]);
    assert_eq!(
        said(&board, Rule::Refused).text,
        "at-sol refuses our key (HTTP 401) for 9.0 s: sol out; key 7f3a from file, read 12 s ago; \
         next try in 4:51; chat answered by opus (100 %), 0 failed"
    );
    assert!(diagnose(&board).iter().all(|line| line.rule != Rule::Rung), "said once");
}

#[test]
fn rungs_of_a_domain_that_fall_together_are_one_line() {
    let mut board = calm(&[("chat", &["sol", "opus", "local"])]);
    for (rung, since) in board.rungs.iter_mut().zip([42, 40]) {
        rung.domains.push("us-east".to_owned());
        open(rung, since);
    }
    shares(&mut board.ladders[0], &[0.0, 0.0, 1.0]);
    assert_eq!(
        said(&board, Rule::Domain).text,
        "domain us-east: all 2 rungs sick for 42 s (sol first), sol and opus: 5 slow in a row; \
         chat answered by local (100 %), 0 failed"
    );
    // Further apart in time they are two separate problems.
    board.rungs[0].health.sick_since_at = Some(before(140));
    let lines = diagnose(&board);
    assert_eq!(lines.iter().map(|l| l.rule).collect::<Vec<_>>(), [Rule::Rung, Rule::Rung]);
    assert!(lines[0].text.starts_with("sol open"), "the one sick for longest first");
}

#[test]
fn rungs_of_a_provider_that_fall_together_are_one_line() {
    let mut board = calm(&[("chat", &["sol", "opus", "local"])]);
    for rung in board.rungs.iter_mut().take(2) {
        rung.provider = "openai".to_owned();
        rung.domains = vec!["openai".to_owned()];
        open(rung, 42);
    }
    board.providers[0].name = "openai".to_owned();
    board.providers.remove(1);
    let line = said(&board, Rule::Provider);
    assert!(
        line.text.starts_with("openai: all 2 rungs sick for 42 s, sol and opus"),
        "{}",
        line.text
    );
    assert_eq!(line.about, ["sol", "opus"]);
}

#[test]
fn one_sick_rung_is_told_with_who_answers_instead() {
    let mut board = two();
    open(&mut board.rungs[0], 42);
    shares(&mut board.ladders[0], &[0.0, 1.0]);
    let line = said(&board, Rule::Rung);
    assert_eq!(
        line.text,
        "sol open for 42 s: 5 slow in a row; chat answered by opus (100 %), 0 failed"
    );
    board.rungs[0].health.state = BreakerState::HalfOpen.into();
    assert!(said(&board, Rule::Rung).text.starts_with("sol half-open, sick for 42 s"));
}

#[test]
fn rungs_that_are_closed_and_not_well_are_warned_of() {
    let mut board = two();
    board.rungs[0].health.hold =
        Some(HoldState { until_at: before(-18), why: "provider".to_owned() });
    let line = said(&board, Rule::Rung);
    assert_eq!(line.level, Level::Warning);
    assert!(line.text.starts_with("sol held by its provider, 0:18 left"), "{}", line.text);
    board.rungs[0].health.hold =
        Some(HoldState { until_at: before(1), why: "provider".to_owned() });
    assert_eq!(diagnose(&board), [], "a hold that is over is none");
    board.rungs[0].now.slow = 60;
    board.rungs[0].now.bad = 30;
    let line = said(&board, Rule::Rung).text;
    assert!(
        line.starts_with("sol 33 % of 270 calls slow or bad: 60 slow (mark 1.4 s), 30 bad"),
        "{line}"
    );
    board.rungs[0].health.floor = true;
    assert!(said(&board, Rule::Rung).text.contains("some ladder has no other rung"));
}

#[test]
fn spend_is_told_with_what_moved_and_why() {
    let mut board = two();
    let ladder = &mut board.ladders[0];
    ladder.users.cost_nps = 11_400_000;
    shares(ladder, &[0.0, 1.0]);
    ladder.steps[0].usual_share = Some(0.96);
    ladder.steps[1].usual_share = Some(0.04);
    ladder.steps[0].passed = BTreeMap::from([(PassedOver::Open, 500)]);
    assert_eq!(
        said(&board, Rule::Spend).text,
        "chat spends 41 $/h (usual 14 $/h): opus carries 100 % (usual 4.0 %); sol is passed over: \
         open"
    );
    let ladder = &mut board.ladders[0];
    ladder.steps[0].passed.clear();
    (ladder.source, ladder.by) = (OrderSource::Operator.into(), Some("ana".to_owned()));
    assert!(said(&board, Rule::Spend).text.ends_with("; its order is off the config by ana"));
    board.ladders[0].users.cost_nps = 7_700_000;
    assert_eq!(diagnose(&board), [], "less than twice");
}

#[test]
fn spend_names_the_cause_that_moved_and_has_a_floor_in_money() {
    // Requests a second, cost and share of the second rung: usually 2, 1 $/h and 4 %.
    let rows: [(f64, u64, f64, Option<&str>); 5] = [
        (6.2, 900_000, 0.04, Some("traffic is 3.1 × the usual (6.2/s, usual 2.0/s)")),
        (2.0, 900_000, 0.90, Some("opus carries 90 % (usual 4.0 %)")),
        (2.0, 900_000, 0.04, Some("a request costs 3.2 × the usual")),
        // More traffic, but the dearer rung is the larger part.
        (3.2, 1_400_000, 0.90, Some("opus carries 90 % (usual 4.0 %)")),
        (2.0, 540_000, 0.90, None),
    ];
    for (rps, cost, share, cause) in rows {
        let mut board = two();
        let ladder = &mut board.ladders[0];
        let usual = Users { rps: 2.0, cost_nps: 277_778, ok: 120, ..Users::default() };
        (ladder.users.rps, ladder.users.cost_nps) = (rps, cost);
        ladder.usual = Some(usual);
        shares(ladder, &[1.0 - share, share]);
        ladder.steps[0].usual_share = Some(0.96);
        ladder.steps[1].usual_share = Some(0.04);
        let line = diagnose(&board).into_iter().find(|line| line.rule == Rule::Spend);
        let text = line.map(|line| line.text);
        assert_eq!(text.as_deref().and_then(|text| text.split(": ").nth(1)), cause, "{text:?}");
    }
    // Three times a tenth of a cent is nothing to be woken for.
    let mut board = two();
    let ladder = &mut board.ladders[0];
    ladder.users.cost_nps = 834;
    ladder.usual = Some(Users { rps: 2.0, cost_nps: 278, ok: 120, ..Users::default() });
    assert!(diagnose(&board).iter().all(|line| line.rule != Rule::Spend));
}

#[test]
fn b8_a_ladder_that_was_free_and_costs_money_is_told() {
    for (usual, ok, cost, is_told) in [
        (0, 600, 2_800_000, true),
        (0, 600, 2_778, true),
        (0, 600, 2_777, false),
        (0, 600, 0, false),
        (0, 0, 2_800_000, false),
        (1_400_000, 600, 2_800_000, true),
    ] {
        let mut board = two();
        let ladder = &mut board.ladders[0];
        ladder.users.cost_nps = cost;
        ladder.usual = Some(Users { cost_nps: usual, ok, ..Users::default() });
        let told = diagnose(&board).into_iter().find(|line| line.rule == Rule::Spend);
        assert_eq!(told.is_some(), is_told, "usually {usual} for {ok} answers, now {cost}");
        if usual == 0 && cost == 2_800_000 && is_told {
            let text = told.map(|line| line.text).unwrap_or_default();
            assert!(text.starts_with("chat spends 10 $/h (usual 0"), "{text}");
        }
    }
}

#[test]
fn a_budget_under_a_quarter_is_told() {
    let mut board = two();
    board.ladders[0].budget.hedge = Bucket { level: 4.0, cap: 20.0, refused_1m: 9 };
    board.ladders[0].budget.retry = Bucket { level: 5.0, cap: 20.0, refused_1m: 0 };
    assert_eq!(
        said(&board, Rule::Budget).text,
        "chat: hedge budget low: 4 of 20 left, 9 refused in 60 s"
    );
}

#[test]
fn the_relays_own_trouble_is_told() {
    type Make = fn(&mut Board);
    let rows: [(Make, &str); 4] = [
        (
            |board| {
                board.relay.drain.on = true;
                board.relay.drain.streams = 12;
                board.relay.drain.until_at = Some(before(-20));
            },
            "this relay is stopping: 12 streams still run, cut in 0:20",
        ),
        (
            |board| {
                let text = "unknown key 'lisen'".to_owned();
                board.relay.config.error =
                    Some(ConfigError { at: before(60), line: Some(3), text });
            },
            "config on disk refused 60 s ago, the one before is in force: line 3: unknown key 'lisen'",
        ),
        (
            |board| {
                board.relay.journal.ok = false;
                board.relay.journal.error = Some("disk full".to_owned());
                board.relay.journal.queue = 40;
            },
            "journal failing: disk full; 40 records wait, 0 lost; requests are served all the same",
        ),
        (
            |board| {
                board.relay.fleet.on = true;
                board.relay.fleet.ok = false;
            },
            "the fleet's store does not answer: this relay goes on alone",
        ),
    ];
    for (make, text) in rows {
        let mut board = two();
        make(&mut board);
        let rule = if text.starts_with("journal") { Rule::Journal } else { Rule::Relay };
        assert_eq!(said(&board, rule).text, text);
    }
}

#[test]
fn hands_are_told_the_soonest_to_end_first() {
    let mut board = two();
    force(&mut board.rungs[0], OverrideMode::ForcedOpen);
    force(&mut board.rungs[1], OverrideMode::Demoted);
    if let Some(forced) = &mut board.rungs[1].forced {
        forced.until_at = None;
    }
    let ladder = &mut board.ladders[1];
    ladder.order.reverse();
    ladder.source = OrderSource::Operator.into();
    (ladder.by, ladder.reason) = (Some("ana".to_owned()), Some("sol slow".to_owned()));
    (ladder.at, ladder.until_at) = (Some(before(2_880)), Some(before(-11_520)));
    let lines: Vec<_> = diagnose(&board).into_iter().map(|line| line.text).collect();
    assert_eq!(
        lines,
        [
            "sol forced open by ben \"hangs, ticket 4711\", for 3 min, 11:42 left",
            "code order off config: local > opus (config opus > local) by ana \"sol slow\", for \
             48 min, 3:12:00 left",
            "opus demoted by ben \"hangs, ticket 4711\", for 3 min, no end",
        ]
    );
}
