//! References to items of earlier answers, as the AI SDK sends them by default.

use super::post;
use crate::dialects::anthropic;
use serde_json::{Value, json};
use tests::provider::Call;
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

/// A provider of responses that stores nothing: it refuses every reference to something that
/// is not in the request, and says who it is.
fn stores_nothing(call: &Call) -> Reply {
    let told = call.json();
    let items = told["input"].as_array().cloned().unwrap_or_default();
    let refers = items.iter().any(|item| {
        item["type"] == "item_reference" || item["id"].as_str().is_some_and(|id| !id.is_empty())
    });
    if refers || told["previous_response_id"].is_string() {
        return Reply::error(404, "Item not found.", "invalid_request_error", &Value::Null);
    }
    let item = json!({"id": "msg_theirs", "type": "message", "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "From responses.", "annotations": []}]});
    let response = json!({"id": "resp_theirs", "object": "response", "status": "completed",
        "model": "m", "output": [item], "usage": {"input_tokens": 5, "output_tokens": 7}});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let end = json!({"type": "response.completed", "response": response});
    Reply::sse(format!(
        "event: response.output_item.done\ndata: {done}\n\nevent: response.completed\ndata: {end}\n\n"
    ))
}

/// What a rung was told of the conversation, in order.
fn said(told: &Value) -> Vec<String> {
    let list = told.get("messages").or(told.get("input")).unwrap().as_array().unwrap().iter();
    list.map(|item| {
        let content = &item["content"];
        let text = content.as_str().or(content[0]["text"].as_str());
        text.unwrap_or_default().to_owned()
    })
    .collect()
}

const CONVERSATION: [&str; 3] = ["Who are you?", "A mountain guide.", "And where?"];

fn third(previous: &str) -> Value {
    json!({"model": "chat", "previous_response_id": previous, "input": "And where?"})
}

#[tokio::test]
async fn e6_what_the_relay_made_is_followed_on_rungs_that_store_nothing_too() {
    let a = Provider::always(Reply::sse(anthropic("A mountain guide."))).await;
    let b = Provider::scripted(stores_nothing).await;
    let setup =
        Setup::over(&[&a, &b]).dialect("a", "anthropic-messages").dialect("b", "openai-responses");
    let relay = Relay::start(&setup).await;
    let first = post(&relay, "/v1/responses", &first_turn(&json!({}))).await.json();
    let (id, item) = (first["id"].as_str().unwrap(), first["output"][0]["id"].as_str().unwrap());
    assert!(id.starts_with("resp_req_"), "{first}");
    // On the rung that made it.
    assert_eq!(post(&relay, "/v1/responses", &third(id)).await.status, 200);
    assert_eq!(said(&a.call(a.count() - 1).await.json()), CONVERSATION);
    // And on one that speaks the client's dialect, and knows nothing of it.
    a.now_answers(Reply::status(503));
    for body in [second_turn(item), third(id)] {
        let answer = post(&relay, "/v1/responses", &body).await;
        assert_eq!(answer.status, 200, "{}", answer.body_text());
        assert!(answer.body_text().contains("From responses."), "{}", answer.body_text());
        assert_eq!(said(&b.call(b.count() - 1).await.json()), CONVERSATION);
    }
    // What follows an answer that has been followed has all of it.
    let answer = post(&relay, "/v1/responses", &third(id)).await.json();
    a.now_answers(Reply::sse(anthropic("In the Alps.")));
    let answer = post(&relay, "/v1/responses", &third(answer["id"].as_str().unwrap())).await;
    assert_eq!(answer.status, 200, "{}", answer.body_text());
    let wanted =
        ["Who are you?", "A mountain guide.", "And where?", "From responses.", "And where?"];
    assert_eq!(said(&a.call(a.count() - 1).await.json()), wanted);
}

#[tokio::test]
async fn e6_an_answer_that_was_not_kept_is_a_clear_error_and_a_providers_own_is_its_business() {
    let a = Provider::always(Reply::sse(anthropic("A mountain guide."))).await;
    let b = Provider::scripted(stores_nothing).await;
    let setup =
        Setup::over(&[&a, &b]).dialect("a", "anthropic-messages").dialect("b", "openai-responses");
    let relay = Relay::start(&setup).await;
    let first = post(&relay, "/v1/responses", &first_turn(&json!({"store": false}))).await.json();
    let error = post(&relay, "/v1/responses", &third(first["id"].as_str().unwrap())).await;
    let error = error.assert_error(400);
    assert_eq!(error["param"], "previous_response_id", "{error}");
    assert_eq!(error["code"], "previous_response_not_found", "{error}");
    assert!(error["message"].as_str().unwrap().contains("'store': false"), "{error}");
    // One that the relay has not made goes to those who may know it, as it is.
    let before = b.count();
    post(&relay, "/v1/responses", &third("resp_of_a_provider")).await;
    assert_eq!((a.count(), b.count() > before), (1, true));
    assert_eq!(b.call(before).await.json()["previous_response_id"], "resp_of_a_provider");
}
