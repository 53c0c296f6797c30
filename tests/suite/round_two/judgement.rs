//! B: what one request may do to the health of a rung.

use serde_json::{Value, json};
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn b7_a_wrong_key_is_the_reason_for_every_caller() {
    let a = Provider::always(Reply::error(401, "no", "auth", &json!("invalid_api_key"))).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for caller in 0..3 {
        let answer = relay.ask().await;
        let error = answer.assert_error(502);
        assert_eq!(error["code"], "upstream_auth", "caller {caller}");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[tokio::test]
async fn b7_a_long_hold_is_told_and_sdks_do_not_sleep_on_it_where_somebody_waits() {
    let limited = |seconds: &str| {
        Reply::error(429, "slow down", "rate_limit_error", &Value::Null)
            .header("retry-after", seconds)
    };
    for (seconds, told, line, may_sleep) in [
        ("4", "4", "", true),
        ("30", "30", "", false),
        ("90", "60", "", false),
        ("30", "30", "interactive = false\nfail_fast = true", true),
    ] {
        let a = Provider::always(limited(seconds)).await;
        let relay = Relay::start(&Setup::over(&[&a]).ladder(line)).await;
        let answer = relay.ask().await;
        answer.assert_error(429);
        assert_eq!(answer.header("retry-after"), Some(told), "{seconds} {line}");
        let no = answer.header("x-should-retry") == Some("false");
        assert_eq!(!no, may_sleep, "{seconds} {line}");
    }
}

#[tokio::test]
async fn b7_with_everything_open_the_cool_downs_end_is_told() {
    let a = Provider::always(Reply::error(500, "broken", "server_error", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    // A is open; B fails now, and its breaker would be the last one: it is spared.
    b.now_answers(Reply::error(500, "broken", "server_error", &Value::Null));
    let answer = relay.ask().await;
    answer.assert_error(503);
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=7).contains(&seconds), "the cool-down is 5 s and its jitter: {seconds}");
}
