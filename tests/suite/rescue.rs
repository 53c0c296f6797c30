//! Hedges and circuit breakers on real sockets.

use serde_json::Value;
use std::time::Duration;
use tests::clock::{assert_within, eventually, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

const EARLY_HEDGE: &str = "hedge = { initial = \"300ms\" }";
const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";

fn failing() -> Reply {
    Reply::error(500, "no", "server_error", &Value::Null)
}

/// Rules of the breaker transitions that the journal has, oldest first.
fn transitions(relay: &Relay) -> Vec<(String, String)> {
    let file = rusqlite::Connection::open_with_flags(
        relay.journal_file(),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
    )
    .unwrap();
    let mut query = file.prepare("SELECT after, rule FROM transitions ORDER BY id").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_hedge_answers_while_the_first_is_silent_and_the_loser_is_closed() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(EARLY_HEDGE)).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert!(answer.end_at >= ms(300), "{:?}", answer.end_at);
    assert_within("the answer", answer.end_at, ms(1_000));
    assert_eq!(answer.header("x-belay-hedged"), Some("true"));
    assert_within("the loser's end", a.call(0).await.closed_after(answer.sent_at).await, ms(700));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first cancelled lost_race", "b hedge ok"]);
    assert!(detail.request.hedged);
}

#[tokio::test]
async fn b44_the_first_token_wins_and_a_lost_hedge_is_nobodys_fault() {
    let slow = Reply::begins("from A").stop().after(ms(600));
    let quick = Reply::begins("from B").stop().after(ms(100));
    let a = Provider::always(slow).await;
    let b = Provider::always(quick).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(EARLY_HEDGE)).await;
    for _ in 0..8 {
        let answer = relay.ask().await;
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first cancelled lost_race", "b hedge ok"]);
    }
    assert_eq!(transitions(&relay), [], "no breaker heard anything bad of it");
    // The first one is faster than its hedge: the hedge is the loser.
    a.now_answers(Reply::begins("from A").stop().after(ms(350)));
    b.now_answers(Reply::begins("from B").stop().after(ms(2_000)));
    let answer = relay.ask().await;
    answer.assert_good("from A");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok", "b hedge cancelled lost_race"]);
}

#[tokio::test]
async fn five_failures_open_the_breaker_and_a_good_probe_or_two_close_it() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let breaker = "breaker = { cooldown = \"600ms\", jitter = 0.0 }";
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", breaker)).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    let passed = relay.ask().await;
    passed.assert_good("from B");
    assert_eq!(a.count(), 5, "open: not called");
    let detail = relay.journaled(&passed.id()).await;
    let reasons: Vec<_> = detail.passed_over.iter().map(|row| row.reason.as_str()).collect();
    assert_eq!(reasons, ["open"]);

    a.now_answers(Reply::text("from A"));
    eventually("the breaker to let probes through and close", async || {
        tokio::time::sleep(ms(100)).await;
        relay.ask().await;
        let rules: Vec<String> = transitions(&relay).into_iter().map(|(_, rule)| rule).collect();
        (rules == ["bad_run", "cooled_down", "probes_good"]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn b38_one_clients_bad_requests_open_nothing() {
    let a = Provider::always(Reply::error(400, "no", "invalid_request_error", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    for _ in 0..20 {
        relay.ask().await.assert_error(400);
    }
    a.now_answers(Reply::silent());
    for _ in 0..20 {
        let stream = relay.open_stream().await;
        tokio::time::sleep(ms(5)).await;
        let _ = stream.hang_up();
    }
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from A");
    assert_eq!(transitions(&relay), []);
}

#[tokio::test]
async fn b39_a_probe_whose_client_leaves_gives_its_slot_back() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let breaker = "breaker = { cooldown = \"200ms\", jitter = 0.0 }";
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", breaker)).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    a.now_answers(Reply::silent());
    tokio::time::sleep(ms(300)).await;
    let probe = relay.open_stream().await;
    a.call(5).await;
    let _ = probe.hang_up();
    a.call(5).await.closed().await;
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from A");
}

#[tokio::test]
async fn auth_takes_a_rung_out_until_its_account_is_mended() {
    let a = Provider::always(Reply::error(401, "no", "invalid_request_error", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    for _ in 0..4 {
        relay.ask().await.assert_good("from B");
    }
    assert_eq!(a.count(), 1, "a refused account is not asked again for five minutes");
    let rules = eventually("the transition", async || {
        let rows = transitions(&relay);
        (!rows.is_empty()).then_some(rows)
    })
    .await;
    assert_eq!(rules, [("open".to_owned(), "auth".to_owned())]);
}

#[tokio::test]
async fn a_black_hole_hurts_a_few_and_then_nobody() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder("retries = 0");
    let relay = Relay::start(&setup).await;
    // Enough for a reference.
    for _ in 0..40 {
        relay.ask().await.assert_good("from A");
    }
    a.now_answers(Reply::silent());
    let mut waits = Vec::new();
    for _ in 0..12 {
        let answer = relay.ask().await;
        assert_eq!(answer.text(), "from B");
        waits.push(answer.end_at);
    }
    let hurt = waits.iter().filter(|wait| **wait > Duration::from_secs(3)).count();
    assert_eq!(hurt, 0, "{waits:?}");
    assert!(a.count() <= 40 + 6, "opened after five slow ones: {} calls", a.count() - 40);
    let _ = openai::DONE;
}
