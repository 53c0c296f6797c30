//! `bad_request` and `context_exceeded`: the request is wrong, and no other
//! rung would like it better.

use super::Row;
use serde_json::{Value, json};
use shared::RequestOutcome;
use tests::relay::tried;
use tests::setup::key_of;
use tests::{Provider, Relay, Reply, Setup, openai};

fn too_long() -> Reply {
    let message = "This model's maximum context length is 1000 tokens. However, your messages \
                   resulted in 1200 tokens.";
    Reply::error(400, message, "invalid_request_error", &json!("context_length_exceeded"))
}

#[tokio::test]
async fn bad_request_is_the_answer_and_no_other_rung_is_asked() {
    for status in [400, 413, 422, 431] {
        let reply =
            Reply::error(status, "messages[3] is wrong", "invalid_request_error", &Value::Null);
        let answer = Row::terminal("bad request", reply, "bad_request", status).check().await;
        let message = answer.error_object().unwrap()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("messages[3] is wrong"), "the provider's message: {message:?}");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[tokio::test]
async fn bad_request_is_a_rejected_request_without_a_verdict() {
    let a = Provider::always(Reply::error(400, "no", "invalid_request_error", &Value::Null)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Rejected));
    assert_eq!(detail.attempts[0].verdict, None);
    assert_eq!(detail.attempts[0].stream_verdict, None);
    assert_eq!(detail.attempts[0].status, Some(400));
}

#[tokio::test]
async fn bad_request_message_loses_keys_urls_and_hosts() {
    let message = format!(
        "temperature must be below 2, see https://gw-7.internal.example.com/v1/x?key={key} on \
         gw-7.internal.example.com or 10.1.2.3:8443, your key {key}",
        key = key_of("a")
    );
    let a =
        Provider::always(Reply::error(400, &message, "invalid_request_error", &Value::Null)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_error(400);
    let body = answer.body_text();
    assert!(body.contains("temperature must be below 2"), "{body}");
    for secret in [key_of("a").as_str(), "internal.example.com", "https://", "10.1.2.3"] {
        assert!(!body.contains(secret), "{secret} in {body}");
    }
    assert!(!relay.log().contains(&key_of("a")), "the key is in the log");
}

#[tokio::test]
async fn context_exceeded_goes_only_to_a_larger_context() {
    let a = Provider::always(too_long()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let c = Provider::always(Reply::text("from C")).await;
    let setup = Setup::over(&[&a, &b, &c])
        .rung("a", "context = 1000")
        .rung("b", "context = 1000")
        .rung("c", "context = 200000");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first context_exceeded", "c failover ok"]);
    assert_eq!(b.count(), 0, "a context of the same size cannot help");
    assert_eq!(detail.attempts[0].verdict, None);
}

#[tokio::test]
async fn context_exceeded_alone_is_a_400_with_its_code() {
    let a = Provider::always(too_long()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    let error = answer.assert_error(400);
    assert_eq!(error["code"], "context_length_exceeded");
    assert_eq!(a.count(), 1);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first context_exceeded"]);
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Rejected));
}

#[tokio::test]
async fn context_exceeded_is_known_by_its_message_where_the_code_is_missing() {
    // As Ollama says it, and as llama.cpp does.
    let words = "prompt too long; exceeded max context length by 7 tokens";
    let worded = openai::error_body(words, "invalid_request_error", &Value::Null);
    let typed = json!({"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "the request exceeds the available context size, try increasing it"}});
    for body in [worded, typed] {
        let a = Provider::always(Reply::json(400, &body)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.ask().await;
        let error = answer.assert_error(400);
        assert_eq!(error["code"], "context_length_exceeded", "{body}");
    }
}
