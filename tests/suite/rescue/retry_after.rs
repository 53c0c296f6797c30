//! Every form of Retry-After, and what is made of it: within bounds, or a guess.

use super::{failing, limited};
use serde_json::json;
use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};
use tests::{Provider, Relay, Reply, Setup};

/// How long a refused rung is held, in whole seconds, rounded up, by what its client is
/// told; the rung is not called meanwhile.
async fn held(reply: Reply) -> u64 {
    let a = Provider::always(reply).await;
    let bounds = "hold_base = \"20s\"\nmax_hold = \"40s\"";
    let setup = Setup::over(&[&a]).ladder("fail_fast = true").rung("a", bounds);
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    let status = answer.status;
    answer.assert_error(status);
    let again = relay.ask().await;
    assert_eq!(a.count(), 1, "held");
    let seconds = |answer: &tests::Answer| {
        let text = answer.header("retry-after").expect("Retry-After");
        text.parse::<u64>().expect("whole seconds")
    };
    assert!(seconds(&again) <= seconds(&answer), "it only runs down");
    seconds(&answer)
}

async fn check(headers: &[(&str, &str)], expected: RangeInclusive<u64>) {
    let with =
        |reply: Reply| headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value));
    let seconds = held(with(limited())).await;
    assert!(expected.contains(&seconds), "{headers:?}: {seconds} s, not {expected:?}");
}

/// A date as HTTP writes it, so many seconds from now.
fn date(from_now: i64) -> String {
    let at = tests::clock::unix().as_secs().saturating_add_signed(from_now);
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(at))
}

/// 20 s, 30 % up or down.
const A_GUESS: RangeInclusive<u64> = 14..=26;

#[tokio::test]
async fn a_time_is_believed_in_every_form() {
    check(&[("retry-after", "5")], 5..=5).await;
    check(&[("Retry-After", " 5 ")], 5..=5).await;
    check(&[("retry-after", "4.2")], 5..=5).await;
    check(&[("retry-after-ms", "7500")], 8..=8).await;
    check(&[("retry-after", &date(10))], 8..=10).await;
    // The finer one wins, unless it is unreadable.
    check(&[("retry-after", "30"), ("retry-after-ms", "4000")], 4..=4).await;
    check(&[("retry-after", "6"), ("retry-after-ms", "soon")], 6..=6).await;
    // As Google writes it.
    let details =
        json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "9s"}]);
    let body = json!({"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": details}});
    assert_eq!(held(Reply::json(429, &body)).await, 9);
}

#[tokio::test]
async fn no_time_or_a_senseless_one_is_a_guess() {
    check(&[], A_GUESS).await;
    for text in ["0", "0.4", "-5", "soon", "NaN", "inf", "12 seconds", ""] {
        check(&[("retry-after", text)], A_GUESS).await;
    }
    check(&[("retry-after", &date(-3_600))], A_GUESS).await;
    check(&[("retry-after-ms", "900")], A_GUESS).await;
}

#[tokio::test]
async fn an_absurd_time_is_cut_to_the_longest() {
    for text in ["1e9", "999999999999", "99999999999999999999999999", "9e999"] {
        check(&[("retry-after", text)], 40..=40).await;
    }
    check(&[("retry-after", &date(40_000_000))], 40..=40).await;
    check(&[("retry-after-ms", "1e15")], 40..=40).await;
}

#[tokio::test]
async fn an_overloaded_rung_may_name_a_time_as_well() {
    let overloaded = Reply::error(529, "Overloaded", "overloaded_error", &json!(null));
    assert_eq!(held(overloaded.header("retry-after", "7")).await, 7);
    // One that is merely broken is not believed.
    let a = Provider::always(failing().header("retry-after", "7")).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder("fail_fast = true")).await;
    relay.ask().await.assert_error(502);
    relay.ask().await.assert_error(502);
    assert_eq!(a.count(), 2);
}
