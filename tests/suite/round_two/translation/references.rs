//! References to items of earlier answers, as the AI SDK sends them by default.

use super::post;
use crate::dialects::anthropic;
use serde_json::{Value, json};
use tests::{Provider, Relay, Reply, Setup};

async fn relay_over(provider: &Provider, extra: &str) -> Relay {
    Relay::start(&Setup::over(&[provider]).dialect("a", "anthropic-messages").extra(extra)).await
}

fn first_turn(more: &Value) -> Value {
    let mut body = json!({"model": "chat", "input": "Who are you?"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn second_turn(id: &str) -> Value {
    json!({"model": "chat", "input": [
        {"role": "user", "content": "Who are you?"},
        {"type": "item_reference", "id": id},
        {"role": "user", "content": "And where?"},
    ]})
}

#[tokio::test]
async fn e6_a_reference_to_an_item_that_the_relay_made_is_followed() {
    let a = Provider::always(Reply::sse(anthropic("A mountain guide."))).await;
    let relay = relay_over(&a, "").await;
    for stream in [true, false] {
        let answer = post(&relay, "/v1/responses", &first_turn(&json!({"stream": stream}))).await;
        let response = if stream {
            let events = answer.events();
            let last: Value = serde_json::from_str(
                events.iter().rev().find_map(|event| event.data.as_deref()).unwrap(),
            )
            .unwrap();
            last["response"].clone()
        } else {
            answer.json()
        };
        let id = response["output"][0]["id"].as_str().unwrap();
        assert!(id.starts_with("msg_req_"), "{response}");
        let answer = post(&relay, "/v1/responses", &second_turn(id)).await;
        assert_eq!(answer.status, 200, "{}", answer.body_text());
        let told = a.call(a.count() - 1).await.json();
        let said: Vec<&str> = told["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["content"][0]["text"].as_str().unwrap())
            .collect();
        assert_eq!(said, ["Who are you?", "A mountain guide.", "And where?"]);
    }
}

#[tokio::test]
async fn e6_a_reference_that_nobody_can_follow_says_what_to_do() {
    let a = Provider::always(Reply::sse(anthropic("A mountain guide."))).await;
    let relay = relay_over(&a, "").await;
    // Who says so needs nothing kept.
    let answer = post(&relay, "/v1/responses", &first_turn(&json!({"store": false}))).await;
    let id = answer.json()["output"][0]["id"].as_str().unwrap().to_owned();
    for (id, param) in [(id.as_str(), "input[1].id"), ("msg_of_a_provider", "input[1].type")] {
        let answer = post(&relay, "/v1/responses", &second_turn(id)).await;
        let error = answer.assert_error(400);
        assert_eq!(error["param"], param, "{error}");
        assert!(error["message"].as_str().unwrap().contains("'store': false"), "{error}");
    }
    assert_eq!(a.count(), 1);
}

#[tokio::test]
async fn e6_nobody_reads_what_another_client_was_told() {
    let a = Provider::always(Reply::sse(anthropic("A mountain guide."))).await;
    let clients = format!(
        "[clients.ann]\n{}\n[clients.bob]\n{}",
        hashed("key-ann").await,
        hashed("key-bob").await,
    );
    let relay = relay_over(&a, &clients).await;
    let ask = async |key: &str, body: &Value| {
        let key = format!("Bearer {key}");
        let headers = [("content-type", "application/json"), ("authorization", key.as_str())];
        let body = body.to_string();
        relay.call("POST", "/v1/responses", &headers, Some(body.as_bytes())).await
    };
    let answer = ask("key-ann", &first_turn(&json!({}))).await;
    let id = answer.json()["output"][0]["id"].as_str().unwrap().to_owned();
    ask("key-bob", &second_turn(&id)).await.assert_error(400);
    assert_eq!(ask("key-ann", &second_turn(&id)).await.status, 200);
}

/// The line of the config that lets this key in.
async fn hashed(key: &str) -> String {
    let output = tests::relay::command(&["hash-key"], &format!("{key}\n")).await;
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
