//! B: how long a request waits at a rung that is silent, slow or half dead.

use crate::rescue::{NO_HEDGE, ask_at_once, failing, get_known, late};
use serde_json::json;
use tests::clock::ms;
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

/// Without a reference the breaker opens at 4 s; the hard clock is 15 s.
#[tokio::test]
async fn b2_sixty_at_once_at_a_silent_rung_wait_no_longer_than_its_breaker() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let began = tests::clock::now();
    for answer in ask_at_once(&relay, 60).await {
        answer.assert_good("from B");
    }
    let waited = began.elapsed();
    assert!(waited < ms(9_000), "the last one had its answer after {waited:?}");
    relay.tells(&["a open never_a_token"]).await;
}

/// The first one has been silent since before anything was wrong with its rung.
#[tokio::test]
async fn b2_a_request_past_its_mark_hears_of_a_breaker_that_opens_later() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let ladder = format!(
        "{NO_HEDGE}\nclocks = {{ ttft = \"60s\" }}\nretry_budget = {{ budget = 0.0, burst = 1 }}"
    );
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(&ladder)).await;
    get_known(&relay).await;
    a.now_answers(Reply::silent());
    let before = a.count();
    let waiting = relay.open_stream().await;
    a.call(before).await;
    // It has waited for a while when the rung begins to fail.
    tokio::time::sleep(ms(1_000)).await;
    a.now_answers(failing());
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    relay.tells(&["a open bad_run"]).await;
    let opened = tests::clock::now();
    let answer = waiting.finish().await;
    assert!(opened.elapsed() < ms(1_500), "moved {:?} after the breaker opened", opened.elapsed());
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover ok"]);
}

/// A request that says how much to think is not held to what quick ones take.
#[tokio::test]
async fn b4_a_thinker_after_quick_requests_is_neither_hedged_nor_called_slow() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    get_known(&relay).await;
    a.now_answers(late("from A", 1_500));
    let asked = |effort| {
        json!({ "model": "chat", "stream": true, "reasoning_effort": effort,
        "messages": [{ "role": "user", "content": "Why climb?" }] })
    };
    let thinker = relay.send(&asked(json!("high"))).await;
    assert_eq!(tried(&relay.journaled(&thinker.id()).await), ["a first ok"]);
    // One that says nothing of it is hedged soon.
    let quick = relay.send(&asked(json!(null))).await;
    let quick = tried(&relay.journaled(&quick.id()).await);
    assert_eq!(quick, ["a first cancelled lost_race", "b hedge ok"]);
    // Whatever the dialect's word for it.
    for (path, body) in [
        ("/v1/responses", json!({ "reasoning": { "effort": "medium" }, "input": "Why climb?" })),
        (
            "/v1/chat/completions",
            json!({ "thinking": { "type": "enabled", "budget_tokens": 9000 },
            "messages": [{ "role": "user", "content": "Why climb?" }] }),
        ),
    ] {
        let mut body = body;
        body["model"] = json!("chat");
        body["stream"] = json!(true);
        let answer = relay.call("POST", path, &[], Some(body.to_string().as_bytes())).await;
        let tried = tried(&relay.journaled(&answer.id()).await);
        assert_eq!(tried, ["a first ok"], "{path}");
    }
}
