//! Retries that multiply: per rung, times rungs, times requests.

use crate::rescue::failing;
use serde_json::Value;
use std::time::Duration;
use tests::clock::{assert_within, ms, now};
use tests::{Provider, Relay, Reply, Setup};

fn busy() -> Reply {
    Reply::error(503, "Overloaded", "overloaded_error", &Value::Null)
}

#[tokio::test]
async fn b37_an_outage_is_not_multiplied() {
    let providers = [
        Provider::always(busy()).await,
        Provider::always(busy()).await,
        Provider::always(busy()).await,
    ];
    let [a, b, c] = &providers;
    let setup = Setup::over(&[a, b, c]).ladder("retries = 2\nmax_attempts = 9");
    let relay = Relay::start(&setup).await;
    let calls = || providers.iter().map(Provider::count).sum::<usize>();
    // 60 requests over 3 s.
    let began = now();
    let requests = (0..60).map(|n| {
        let relay = &relay;
        async move {
            tokio::time::sleep_until((began + Duration::from_millis(50) * n).into()).await;
            relay.ask().await
        }
    });
    let answers = futures_util::future::join_all(requests).await;
    for answer in &answers {
        answer.assert_error(503);
    }
    // The first attempt of each and one failover are free; the rest is the burst of 20 and
    // a fifth of one for each request.
    assert!(calls() <= 60 + 60 + 20 + 12, "{} calls", calls());
    // A, then B, open; C is the last one, and is called as long as it is asked for.
    assert!(c.count() >= 40, "{} calls of the last rung", c.count());
    // The budget is spent by now: one call, its own error, at once.
    let mut last = relay.ask().await;
    while last.tried().len() > 1 {
        last = relay.ask().await;
    }
    last.assert_error(503);
    assert_within("the answer", last.end_at, ms(500));
}

#[tokio::test]
async fn b37_a_flood_at_once_is_bounded_as_well() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(failing()).await;
    let c = Provider::always(failing()).await;
    let setup = Setup::over(&[&a, &b, &c]).ladder("retries = 2\nmax_attempts = 9");
    let relay = Relay::start(&setup).await;
    for answer in crate::rescue::ask_at_once(&relay, 60).await {
        answer.assert_error(answer.status);
    }
    // No breaker can have judged yet, so all three rungs are taken to be well: each may be
    // called once whatever the budget says. Only what goes beyond that is paid for.
    let calls = a.count() + b.count() + c.count();
    assert!(calls <= 3 * 60 + 20 + 12, "{calls} calls");
}
