//! How a walk goes on after a failure: retries, bounds, what is repeated.

use serde_json::{Value, json};
use shared::{PassedOver, RequestOutcome};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

fn failing() -> Reply {
    Reply::error(500, "worker lost", "server_error", &Value::Null)
}

#[tokio::test]
async fn retries_default_to_none_before_another_rung_and_one_alone() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 1);

    let a = Provider::in_turn(vec![failing(), Reply::text("second time")]).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_good("second time");
    assert_eq!(answer.header("x-belay-attempts"), Some("2"));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first server_error", "a retry ok"]);
}

#[tokio::test]
async fn retries_as_configured_come_before_the_next_rung() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder("retries = 2\nmax_attempts = 4");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    let expected =
        ["a first server_error", "a retry server_error", "a retry server_error", "b failover ok"];
    assert_eq!(tried(&detail), expected);
}

#[tokio::test]
async fn retries_leave_room_for_the_untried_rungs() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    // Two calls of A leave one for B.
    let setup = Setup::over(&[&a, &b]).ladder("retries = 5\nmax_attempts = 3");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!(a.count(), 2);
}

#[tokio::test]
async fn max_attempts_bounds_the_walk() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(failing()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder("max_attempts = 2")).await;
    let answer = relay.ask().await;
    answer.assert_error(502);
    assert_eq!(answer.tried(), ["a server_error", "b server_error"]);
    assert_eq!(c.count(), 0);
}

#[tokio::test]
async fn fail_fast_retries_nothing() {
    let a = Provider::always(failing()).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder("fail_fast = true")).await;
    relay.ask().await.assert_error(502);
    assert_eq!(a.count(), 1);
}

#[tokio::test]
async fn every_rung_is_tried_in_order() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::closed()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c])).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    assert_eq!(answer.header("x-belay-rung"), Some("c"));
    assert_eq!(answer.header("x-belay-attempts"), Some("3"));
    let detail = relay.journaled(&answer.id()).await;
    let expected = ["a first server_error", "b failover connect", "c failover ok"];
    assert_eq!(tried(&detail), expected);
    let numbers: Vec<u32> = detail.attempts.iter().map(|attempt| attempt.n).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(detail.request.attempts_made, 3);
}

#[tokio::test]
async fn a_rung_is_asked_for_its_own_model() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder("aliases = [\"gpt-4o\"]")).await;
    let request = openai::with(openai::ask("gpt-4o"), &json!({"seed": 7, "x_unknown": [1, null]}));
    relay.send(&request).await.assert_good("from B");
    for (provider, model) in [(&a, "model-a"), (&b, "model-b")] {
        let call = provider.call(0).await;
        assert_eq!(call.request_line, "POST /v1/chat/completions HTTP/1.1");
        let body = call.json();
        assert_eq!(body["model"], model);
        assert_eq!(body["messages"], request["messages"]);
        assert_eq!((&body["seed"], &body["x_unknown"]), (&json!(7), &json!([1, null])));
        assert_eq!(body["stream"], true);
    }
}

#[tokio::test]
async fn no_rung_able_is_a_400_that_names_the_feature() {
    let a = Provider::always(Reply::text("never")).await;
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", "supports = []")).await;
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": {}}});
    let request = openai::with(openai::ask("chat"), &json!({"tools": [tool]}));
    let answer = relay.send(&request).await;
    let error = answer.assert_error(400);
    assert!(error["message"].as_str().unwrap().contains("tools"), "{error}");
    assert_eq!(a.count(), 0);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.outcome, Some(RequestOutcome::NoCandidate));
    assert_eq!(detail.passed_over[0].reason, PassedOver::Capability);
}

#[tokio::test]
async fn a_rung_that_cannot_serve_the_request_is_passed_over_with_its_reason() {
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": {}}});
    let image = json!([{"role": "user", "content": [{"type": "image_url",
        "image_url": {"url": "data:image/png;base64,AAAA"}}]}]);
    for (line, fields, reason) in [
        ("supports = []", json!({"tools": [tool]}), PassedOver::Capability),
        ("supports = [\"tools\"]", json!({"messages": image}), PassedOver::Capability),
        ("max_output = 100", json!({"max_tokens": 5000}), PassedOver::MaxOutput),
        ("max_output = 100", json!({"max_completion_tokens": 5000}), PassedOver::MaxOutput),
    ] {
        let a = Provider::always(Reply::text("from A")).await;
        let b = Provider::always(Reply::text("from B")).await;
        let setup = Setup::over(&[&a, &b])
            .rung("a", line)
            .rung("b", "supports = [\"tools\", \"images\"]\nmax_output = 8000");
        let relay = Relay::start(&setup).await;
        let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
        answer.assert_good("from B");
        assert_eq!(a.count(), 0, "{line}");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["b first ok"], "{line}");
        assert_eq!(detail.passed_over[0].rung, "a", "{line}");
        assert_eq!(detail.passed_over[0].reason, reason, "{line}");
    }
}

#[tokio::test]
async fn a_400_that_names_a_field_the_relay_added_is_repeated_without_it() {
    let message = "Unrecognized request argument supplied: stream_options";
    let a = Provider::scripted(move |call| {
        if call.json().get("stream_options").is_some() {
            Reply::error(400, message, "invalid_request_error", &Value::Null)
        } else {
            Reply::text("without")
        }
    })
    .await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("without");
    assert_eq!((a.count(), b.count()), (2, 0));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.answered_by.as_deref(), Some("a"));
    let last = detail.attempts.last().unwrap();
    assert_eq!(last.outcome, Some(shared::AttemptOutcome::Ok));
    if detail.attempts.len() > 1 {
        assert_eq!(detail.attempts[0].verdict, None);
    }
}

#[tokio::test]
async fn a_400_that_names_a_field_of_the_clients_is_the_clients() {
    let message = "Unrecognized request argument supplied: stream_options";
    let a = Provider::always(Reply::error(400, message, "x", &Value::Null)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let fields = json!({"stream_options": {"include_usage": true}});
    let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
    answer.assert_error(400);
    assert_eq!(a.count(), 1);
}

#[tokio::test]
async fn stream_options_can_be_switched_off_for_a_rung() {
    let a = Provider::always(Reply::text("plain")).await;
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", "stream_options = false")).await;
    relay.ask().await.assert_good("plain");
    assert_eq!(a.call(0).await.json().get("stream_options"), None);
}

#[tokio::test]
async fn a_reused_connection_that_dies_is_called_again_and_the_journal_says_so() {
    for dying in [Reply::closed(), Reply::reset_at_once()] {
        let a = Provider::scripted(move |call| {
            if call.on_connection == 0 { Reply::text("fresh") } else { dying.clone() }
        })
        .await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let mut reused = false;
        for _ in 0..5 {
            let before = a.count();
            let answer = relay.ask().await;
            answer.assert_good("fresh");
            let detail = relay.journaled(&answer.id()).await;
            let twice = a.count() == before + 2;
            let all =
                if twice { ["a first connect", "a retry ok"].as_slice() } else { &["a first ok"] };
            assert_eq!(tried(&detail), all);
            assert_eq!(detail.attempts[0].verdict.is_none(), twice, "no fault of the rung's");
            reused |= twice;
        }
        assert!(reused, "the relay keeps connections: {} for 5 requests", a.connections());
    }
}
