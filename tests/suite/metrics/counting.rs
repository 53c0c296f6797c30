//! What is counted: one case each, and everything that it moves.

use super::{NO_HEDGE, PRICE, all, counted, failing, good_attempt, good_request};
use serde_json::Value;
use tests::clock::{eventually, ms};
use tests::{Provider, Relay, Reply, Setup, openai};

const EARLY_HEDGE: &str = "hedge = { initial = \"300ms\" }";

#[tokio::test]
async fn a_good_answer() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).rung("a", PRICE)).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_good("from A");
    let cost = r#"cost_usd_total{ladder="chat",rung="a",estimated="false"} +0.0000575"#;
    let expected = all(&[good_attempt("a", "first", "1"), good_request()], &[cost]);
    assert_eq!(counted(&relay, &before).await, expected);
}

#[tokio::test]
async fn a_whole_answer_has_no_time_to_first_token_that_its_client_saw() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", PRICE)).await;
    let before = relay.metrics().await;
    assert_eq!(relay.ask_whole().await.text(), "from A");
    let page = relay.metrics().await;
    let seen = r#"belay_request_time_to_first_token_seconds_count{ladder="chat"}"#;
    assert!((page.value(seen) - before.value(seen)).abs() < 0.5, "not seen by anybody");
    let lines = page.since(&before);
    let ok = r#"belay_requests_total{ladder="chat",outcome="ok",status="2xx"} +1"#;
    assert!(lines.iter().any(|line| line == ok), "{lines:#?}");
}

#[tokio::test]
async fn a_hedge_that_wins() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(EARLY_HEDGE).rung("a", PRICE).rung("b", PRICE);
    let relay = Relay::start(&setup).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_good("from B");
    let mut lines = counted(&relay, &before).await;
    // What the loser is taken to have read is an estimate of its own; here it only has to be one.
    let guesses = [
        r#"tokens_total{rung="a",gen_ai_token_type="input"} +"#,
        r#"cost_usd_total{ladder="chat",rung="a",estimated="true"} +"#,
    ];
    for guess in guesses {
        assert_eq!(lines.iter().filter(|line| line.starts_with(guess)).count(), 1, "{lines:#?}");
        lines.retain(|line| !line.starts_with(guess));
    }
    let more = [
        r#"attempts_total{rung="a",kind="first",outcome="cancelled",cause="lost_race"} +1"#,
        r#"cost_usd_total{ladder="chat",rung="b",estimated="false"} +0.0000575"#,
        r#"extra_attempts_total{ladder="chat",kind="hedge"} +1"#,
        r#"hedges_started_total{ladder="chat"} +1"#,
        r#"hedges_won_total{ladder="chat"} +1"#,
    ];
    assert_eq!(lines, all(&[good_attempt("b", "hedge", "2"), good_request()], &more));
}

#[tokio::test]
async fn a_hedge_that_loses_is_started_and_not_won() {
    let a = Provider::always(Reply::begins("from A").stop().after(ms(600))).await;
    let b = Provider::always(Reply::silent()).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(EARLY_HEDGE)).await;
    relay.ask().await.assert_good("from A");
    let page = relay.metrics().await;
    for (series, expected) in [
        (r#"belay_hedges_started_total{ladder="chat"}"#, "1"),
        (r#"belay_hedges_won_total{ladder="chat"}"#, "0"),
        (
            r#"belay_attempts_total{rung="b",kind="hedge",outcome="cancelled",cause="lost_race"}"#,
            "1",
        ),
    ] {
        assert_eq!(page.value(series).to_string(), expected, "{series}");
    }
}

#[tokio::test]
async fn a_failure_and_its_failover() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", PRICE).rung("b", PRICE);
    let relay = Relay::start(&setup).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_good("from B");
    let more = [
        r#"attempts_total{rung="a",kind="first",outcome="server_error",cause=""} +1"#,
        r#"cost_usd_total{ladder="chat",rung="b",estimated="false"} +0.0000575"#,
        r#"extra_attempts_total{ladder="chat",kind="failover"} +1"#,
        r#"first_token_verdicts_total{rung="a",verdict="bad"} +1"#,
        r#"retries_total{ladder="chat",kind="failover",after_outcome="server_error",after_status="500"} +1"#,
    ];
    let expected = all(&[good_attempt("b", "failover", "2"), good_request()], &more);
    assert_eq!(counted(&relay, &before).await, expected);
}

#[tokio::test]
async fn a_retry_on_the_same_rung_and_a_cost_that_nobody_knows() {
    let a = Provider::in_turn(vec![Reply::closed(), Reply::text("from A")]).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_good("from A");
    let more = [
        r#"attempts_total{rung="a",kind="first",outcome="connect",cause=""} +1"#,
        r#"extra_attempts_total{ladder="chat",kind="retry"} +1"#,
        r#"first_token_verdicts_total{rung="a",verdict="bad"} +1"#,
        r#"retries_total{ladder="chat",kind="retry",after_outcome="connect",after_status="none"} +1"#,
        r#"unpriced_attempts_total{rung="a"} +2"#,
    ];
    let expected = all(&[good_attempt("a", "retry", "2"), good_request()], &more);
    assert_eq!(counted(&relay, &before).await, expected);
}

#[tokio::test]
async fn a_429_and_the_hold_after_it() {
    let limited = Reply::error(429, "slow down", "rate_limit_error", &Value::Null);
    let a = Provider::always(limited.header("retry-after", "60")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", PRICE).rung("b", PRICE);
    let relay = Relay::start(&setup).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_good("from B");
    let more = [
        r#"attempts_total{rung="a",kind="first",outcome="rate_limited",cause=""} +1"#,
        r#"cost_usd_total{ladder="chat",rung="b",estimated="false"} +0.0000575"#,
        r#"extra_attempts_total{ladder="chat",kind="failover"} +1"#,
        r#"holds_asked_total{rung="a"} +1"#,
        r#"retries_total{ladder="chat",kind="failover",after_outcome="rate_limited",after_status="429"} +1"#,
    ];
    let expected = all(&[good_attempt("b", "failover", "2"), good_request()], &more);
    assert_eq!(counted(&relay, &before).await, expected);

    let before = relay.metrics().await;
    let held = before.value(r#"belay_rung_hold_seconds{rung="a"}"#);
    assert!(held > 30.0 && held <= 60.0, "{held}");
    relay.ask().await.assert_good("from B");
    let more = [
        r#"cost_usd_total{ladder="chat",rung="b",estimated="false"} +0.0000575"#,
        r#"passed_over_total{rung="a",reason="hold"} +1"#,
    ];
    let expected = all(&[good_attempt("b", "first", "1"), good_request()], &more);
    assert_eq!(counted(&relay, &before).await, expected);
}

#[tokio::test]
async fn a_stream_that_breaks_under_its_clients_eyes() {
    let a = Provider::always(Reply::begins("from A").reset()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_broken("from A");
    let lines = counted(&relay, &before).await;
    for expected in [
        r#"attempts_total{rung="a",kind="first",outcome="disconnect",cause=""} +1"#,
        r#"first_token_verdicts_total{rung="a",verdict="good"} +1"#,
        r#"request_duration_seconds_count{ladder="chat",outcome="failed"} +1"#,
        r#"requests_total{ladder="chat",outcome="failed",status="2xx"} +1"#,
        r#"stream_verdicts_total{rung="a",verdict="bad"} +1"#,
    ] {
        assert!(lines.iter().any(|line| line == expected), "no {expected} in {lines:#?}");
    }
}

#[tokio::test]
async fn a_request_that_nobody_answers() {
    let a = Provider::always(failing()).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder(NO_HEDGE).rung("a", PRICE)).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_error(502);
    let expected = [
        r#"attempts_total{rung="a",kind="first",outcome="server_error",cause=""} +1"#,
        r#"first_token_verdicts_total{rung="a",verdict="bad"} +1"#,
        r#"request_duration_seconds_count{ladder="chat",outcome="failed"} +1"#,
        r#"requests_total{ladder="chat",outcome="failed",status="5xx"} +1"#,
    ];
    assert_eq!(counted(&relay, &before).await, expected);
}

#[tokio::test]
async fn a_client_that_leaves() {
    let a = Provider::always(Reply::begins("one").hold()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let before = relay.metrics().await;
    let mut client = relay.open_stream().await;
    client.until_text("one").await;
    assert_eq!(relay.metrics().await.value("belay_requests_in_flight").to_string(), "1");
    let _ = client.hang_up();
    let page = eventually("the request to be over", async || {
        let page = relay.metrics().await;
        (page.value("belay_requests_in_flight") < 0.5).then_some(page)
    })
    .await;
    let lines = page.since(&before);
    for expected in [
        r#"belay_attempts_total{rung="a",kind="first",outcome="cancelled",cause="client_gone"} +1"#,
        r#"belay_cancelled_requests_total{ladder="chat",cause="client_gone"} +1"#,
        r#"belay_requests_total{ladder="chat",outcome="cancelled",status="2xx"} +1"#,
    ] {
        assert!(lines.iter().any(|line| line == expected), "no {expected} in {lines:#?}");
    }
    let verdicts = lines.iter().filter(|line| line.contains("stream_verdicts")).count();
    assert_eq!(verdicts, 0, "a client that leaves is no fault of the rung: {lines:#?}");
}

#[tokio::test]
async fn requests_that_are_turned_away() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let before = relay.metrics().await;
    relay.send(&openai::ask("no-such-ladder")).await.assert_error(404);
    let expected = [
        r#"requests_total{ladder="(none)",outcome="rejected",status="4xx"} +1"#,
        r#"turned_away_requests_total{code="model_not_found"} +1"#,
    ];
    assert_eq!(counted(&relay, &before).await, expected);
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn a_stranger_is_counted_and_nothing_else_is() {
    let a = Provider::always(Reply::text("from A")).await;
    let clients = format!("[clients.web]\nkey_sha256 = \"{}\"", "0".repeat(64));
    let relay = Relay::start(&Setup::over(&[&a]).extra(&clients)).await;
    let before = relay.metrics().await;
    relay.ask().await.assert_error(401);
    let expected = [r#"turned_away_requests_total{code="invalid_api_key"} +1"#];
    assert_eq!(counted(&relay, &before).await, expected);
}
