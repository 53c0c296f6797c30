//! Hedges, breakers, budgets and holds on real
//! sockets: who is called, who is cut, what the journal says of it.

mod breaker;
mod budgets;
mod going_on;
mod hedges;
mod holds;
mod last_resort;
mod order;
mod probes;
mod race;
mod retry_after;
mod returning;

use serde_json::Value;
use tests::clock::{eventually, ms, within};
use tests::{Exchange, Provider, Relay, Reply};

/// Hedges while nothing is known of the rungs yet, at 300 ms.
pub(crate) const EARLY_HEDGE: &str = "hedge = { initial = \"300ms\" }";
/// One attempt a rung, one after the other.
pub(crate) const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";
/// A breaker that lets a probe through soon, and always after the same time.
pub(crate) const SHORT_COOLDOWN: &str = "breaker = { cooldown = \"200ms\", jitter = 0.0 }";
/// A breaker that never opens: for tests of what stands beside it.
pub(crate) const NEVER_OPENS: &str = "breaker = { open_consecutive = 1000, min_samples = 100000 }";

/// A broken provider.
pub(crate) fn failing() -> Reply {
    Reply::error(500, "worker lost", "server_error", &Value::Null)
}

/// A busy one.
pub(crate) fn limited() -> Reply {
    Reply::error(429, "Rate limit reached", "rate_limit_error", &Value::Null)
}

/// A whole answer whose first token takes this long.
pub(crate) fn late(words: &str, millis: u64) -> Reply {
    Reply::begins(words).stop().after(ms(millis))
}

/// Lets `a`, the first rung, fail until its breaker is open; others answer meanwhile.
pub(crate) async fn open_breaker(relay: &Relay, a: &Provider) {
    a.now_answers(failing());
    let before = a.count();
    for _ in 0..5 {
        relay.ask().await;
    }
    assert_eq!(a.count(), before + 5, "five bad calls in a row");
    relay.tells(&["a open bad_run"]).await;
}

/// Opens streams until one of them reaches `a`: the probe, once its breaker has cooled down.
pub(crate) async fn reaching(relay: &Relay, a: &Provider) -> Exchange {
    within("a request to reach the rung", async {
        loop {
            let before = a.count();
            let mut stream = relay.open_stream().await;
            let reached = eventually("the rung or another one's answer", async || {
                (a.count() > before).then_some(())
            });
            tokio::select! {
                biased;
                () = reached => return stream,
                _ = stream.head() => {}
            }
            if a.count() > before {
                return stream;
            }
            stream.finish().await;
        }
    })
    .await
}

/// Asks until the relay knows what the answering rung's first tokens usually take.
///
/// It wants 30 tokens, and looks at what it has with a dial, once a second.
pub(crate) async fn get_known(relay: &Relay) {
    for _ in 0..30 {
        relay.ask().await;
    }
    let enough_at = tests::clock::now();
    while enough_at.elapsed() < ms(1_100) {
        relay.ask().await;
        tokio::time::sleep(ms(20)).await;
    }
}

/// What each of these requests tried.
pub(crate) async fn tried_by(relay: &Relay, answers: &[tests::Answer]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for answer in answers {
        all.push(tests::relay::tried(&relay.journaled(&answer.id()).await));
    }
    all
}

/// So many requests at the same time.
pub(crate) async fn ask_at_once(relay: &Relay, requests: usize) -> Vec<tests::Answer> {
    futures_util::future::join_all((0..requests).map(|_| relay.ask())).await
}
