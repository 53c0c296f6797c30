//! Breakers that open for the wrong reason, at the wrong place, or for ever.

use crate::rescue::{EARLY_HEDGE, NO_HEDGE, SHORT_COOLDOWN, failing, late, open_breaker, reaching};
use serde_json::{Value, json};
use tests::clock::{ms, now};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn b38_one_clients_bad_requests_open_nothing() {
    let wrong = |status| Reply::error(status, "no", "invalid_request_error", &Value::Null);
    let a = Provider::always(wrong(400)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    for status in [400, 413] {
        a.now_answers(wrong(status));
        for _ in 0..20 {
            let answer = relay.ask().await;
            answer.assert_error(status);
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(tried(&detail), ["a first bad_request"]);
            assert_eq!(detail.attempts[0].verdict, None);
        }
    }
    a.now_answers(late("from A", 300));
    for n in 40..60 {
        let stream = relay.open_stream().await;
        let call = a.call(n).await;
        let _ = stream.hang_up();
        call.closed().await;
        let detail = relay.newest().await;
        assert_eq!(tried(&detail), ["a first cancelled client_gone"]);
        assert_eq!(detail.attempts[0].verdict, None);
    }
    relay.ask().await.assert_good("from A");
    // Nothing of all that was counted: it takes five failures to open it, as ever.
    a.now_answers(failing());
    for _ in 0..4 {
        relay.ask().await.assert_good("from B");
    }
    assert_eq!(relay.story(), [""; 0]);
    relay.ask().await.assert_good("from B");
    relay.tells(&["a open bad_run"]).await;
}

const OPENED: &str = "a open bad_run";
const COOLED: &str = "a half_open cooled_down";
const CLOSED: &str = "a closed probes_good";

/// A relay whose first rung is open and cools down soon; B answers.
async fn opened(ladder: &str) -> (Provider, Provider, Relay) {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(ladder).rung("a", SHORT_COOLDOWN);
    let relay = Relay::start(&setup).await;
    open_breaker(&relay, &a).await;
    (a, b, relay)
}

/// The provider is well again: the very next requests are probes, and close the breaker.
async fn closes_with(good: usize, a: &Provider, relay: &Relay) {
    a.now_answers(Reply::text("from A"));
    for _ in 0..good {
        let answer = relay.ask().await;
        answer.assert_good("from A");
        assert!(relay.journaled(&answer.id()).await.attempts[0].probe);
    }
    relay.tells(&[OPENED, COOLED, CLOSED]).await;
}

#[tokio::test]
async fn b39_a_probe_that_was_a_wrong_request_gives_its_slot_back() {
    let (a, _b, relay) = opened(NO_HEDGE).await;
    a.now_answers(Reply::error(400, "no", "invalid_request_error", &Value::Null));
    let answer = reaching(&relay, &a).await.finish().await;
    answer.assert_error(400);
    relay.tells(&[OPENED, COOLED]).await;
    closes_with(2, &a, &relay).await;
}

#[tokio::test]
async fn b39_a_probe_whose_client_leaves_gives_its_slot_back() {
    let (a, _b, relay) = opened(NO_HEDGE).await;
    a.now_answers(Reply::silent());
    let probe = reaching(&relay, &a).await;
    let _ = probe.hang_up();
    a.call(5).await.closed().await;
    // The journal has the row: so the slot has been given back before.
    assert_eq!(tried(&relay.newest().await), ["a first cancelled client_gone"]);
    relay.tells(&[OPENED, COOLED]).await;
    closes_with(2, &a, &relay).await;
}

#[tokio::test]
async fn b39_a_probe_whose_client_leaves_in_the_middle_was_good() {
    let (a, _b, relay) = opened(NO_HEDGE).await;
    a.now_answers(Reply::begins("from A").hold());
    let mut probe = reaching(&relay, &a).await;
    probe.until_text("from A").await;
    let _ = probe.hang_up();
    a.call(5).await.closed().await;
    closes_with(1, &a, &relay).await;
}

#[tokio::test]
async fn b39_a_probe_that_loses_its_race_gives_its_slot_back() {
    let (a, _b, relay) = opened(EARLY_HEDGE).await;
    a.now_answers(Reply::begins("from A").hold().after(ms(800)));
    let answer = reaching(&relay, &a).await.finish().await;
    answer.assert_good("from B");
    // It is good at its token, which nobody sees.
    a.call(5).await.closed().await;
    closes_with(1, &a, &relay).await;
}

#[tokio::test]
async fn b39_a_probe_that_hangs_gives_its_slot_back() {
    let (a, _b, relay) = opened(&format!("{NO_HEDGE}\nclocks = {{ ttft = \"500ms\" }}")).await;
    a.now_answers(Reply::silent());
    let answer = reaching(&relay, &a).await.finish().await;
    answer.assert_good("from B");
    relay.tells(&[OPENED, COOLED, "a open probe_bad"]).await;
    a.now_answers(Reply::text("from A"));
    let began = now();
    for _ in 0..2 {
        reaching(&relay, &a).await.finish().await.assert_good("from A");
    }
    // One cool-down, which is twice the first by now.
    tests::clock::assert_within("the next probe", began.elapsed(), ms(1_000));
    relay.tells(&[OPENED, COOLED, "a open probe_bad", COOLED, CLOSED]).await;
}

/// Two models of one provider, `a` and `y`, and another provider's `b`.
async fn two_models(
    script: impl Fn(&Value) -> Reply + Send + Sync + 'static,
) -> (Provider, Provider, Relay) {
    let p = Provider::scripted(move |call| script(&call.json())).await;
    let q = Provider::scripted(|call| {
        let poison = call.json()["messages"][0]["content"] == "poison";
        if poison { failing() } else { Reply::text("from Q") }
    })
    .await;
    let setup = Setup::over(&[&p, &q])
        .ladder(NO_HEDGE)
        .rung("a", "breaker = { open_consecutive = 3 }")
        .rung("b", "breaker = { open_consecutive = 3 }")
        .extra("[rungs.y]\nprovider = \"p-a\"\nmodel = \"model-y\"\nbreaker = { open_consecutive = 3 }")
        .extra(&format!("[ladders.y]\nrungs = [\"y\", \"b\"]\n{NO_HEDGE}"));
    let relay = Relay::start(&setup).await;
    (p, q, relay)
}

#[tokio::test]
async fn b43_a_broken_model_opens_its_own_rung_alone() {
    for (reply, rule) in [
        (failing(), "a open bad_run"),
        (Reply::error(401, "no", "invalid_request_error", &Value::Null), "a open auth"),
    ] {
        let (p, _q, relay) = two_models(move |body| {
            if body["model"] == "model-a" { reply.clone() } else { Reply::text("from P") }
        })
        .await;
        for _ in 0..10 {
            relay.ask().await.assert_good("from Q");
        }
        relay.tells(&[rule]).await;
        let calls = p.count();
        for _ in 0..3 {
            let answer = relay.send(&openai::ask("y")).await;
            answer.assert_good("from P");
            assert_eq!(tried(&relay.journaled(&answer.id()).await), ["y first ok"]);
        }
        assert_eq!(p.count(), calls + 3);
        relay.tells(&[rule]).await;
    }
}

#[tokio::test]
async fn b43_a_poisonous_request_does_not_take_the_ladder_down() {
    let (_p, q, relay) = two_models(|body| {
        let poison = body["messages"][0]["content"] == "poison";
        if poison { failing() } else { Reply::text("from P") }
    })
    .await;
    let poison = json!([{"role": "user", "content": "poison"}]);
    let poison = openai::with(openai::ask("chat"), &json!({"messages": poison}));
    for _ in 0..3 {
        relay.send(&poison).await.assert_error(502);
    }
    // The first one opens; the second is the last of its ladders, and is spared.
    relay.tells(&["a open bad_run", "b closed spared"]).await;
    let calls = q.count();
    for _ in 0..5 {
        relay.ask().await.assert_good("from Q");
        relay.send(&openai::ask("y")).await.assert_good("from P");
    }
    assert_eq!(q.count(), calls + 5);
}
