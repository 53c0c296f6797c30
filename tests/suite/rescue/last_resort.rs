//! The last resort: nobody is usable, so one is called all the same.

use super::{NO_HEDGE, limited, open_breaker};
use serde_json::Value;
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

fn refused() -> Reply {
    Reply::error(401, "no", "invalid_request_error", &Value::Null)
}

#[tokio::test]
async fn an_open_rung_is_called_once_where_all_others_are_held() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    open_breaker(&relay, &a).await;
    b.now_answers(limited().header("retry-after", "30"));
    relay.ask().await.assert_error(503);
    assert_eq!((a.count(), b.count()), (5, 6));
    // A bad one changes nothing, is not repeated, and goes nowhere else.
    let answer = relay.ask().await;
    answer.assert_error(503);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a last_resort server_error"]);
    assert_eq!((a.count(), b.count()), (6, 6));
    relay.tells(&["a open bad_run"]).await;
    // A good one is an answer, and the breaker listens again.
    a.now_answers(Reply::text("from A"));
    let answer = relay.ask().await;
    answer.assert_good("from A");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a last_resort ok"]);
    relay.tells(&["a open bad_run", "a half_open last_resort_good"]).await;
}

#[tokio::test]
async fn a_refused_account_opens_even_the_last_rung_and_is_the_last_resort() {
    let a = Provider::always(refused()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    // One request's word is not enough for the last rung.
    for _ in 0..2 {
        let answer = relay.ask().await;
        answer.assert_error(502);
        assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first auth"]);
    }
    relay.tells(&["a open auth"]).await;
    let answer = relay.ask().await;
    assert_ne!(answer.status, 401, "the client's key is fine");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a last_resort auth"]);
    assert_eq!(a.count(), 3);
    relay.tells(&["a open auth"]).await;
    a.now_answers(Reply::text("mended"));
    for _ in 0..4 {
        relay.ask().await.assert_good("mended");
    }
    let story = ["a open auth", "a half_open last_resort_good", "a closed probes_good"];
    relay.tells(&story).await;
}

#[tokio::test]
async fn with_everything_open_the_one_soonest_to_reopen_is_called() {
    let a = Provider::always(refused()).await;
    let b = Provider::always(refused()).await;
    let c = Provider::always(refused()).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder(NO_HEDGE)).await;
    // One request takes one rung down.
    let all: [&[&str]; 3] = [
        &["a first auth", "b failover auth", "c failover auth"],
        &["b first auth", "c failover auth"],
        &["c first auth"],
    ];
    for calls in all {
        let answer = relay.ask().await;
        answer.assert_error(502);
        assert_eq!(tried(&relay.journaled(&answer.id()).await), calls);
    }
    relay.tells(&["a open auth", "b open auth", "c open auth"]).await;
    for provider in [&a, &b, &c] {
        provider.now_answers(Reply::text("mended"));
    }
    // A was the first to open; from now on it is half-open, and has the slot to itself.
    let answer = relay.ask().await;
    answer.assert_good("mended");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a last_resort ok"]);
    assert_eq!((a.count(), b.count(), c.count()), (2, 2, 3));
}

#[tokio::test]
async fn a_held_rung_is_no_last_resort() {
    let a = Provider::always(limited().header("retry-after", "30")).await;
    let b = Provider::always(limited().header("retry-after", "20")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    relay.ask().await.assert_error(429);
    let answer = relay.ask().await;
    answer.assert_error(429);
    assert!(relay.journaled(&answer.id()).await.attempts.is_empty());
    assert_eq!((a.count(), b.count()), (1, 1));
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((15..=20).contains(&seconds), "the soonest of both: {seconds}");
}
