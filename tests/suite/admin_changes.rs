//! The admin plane's changes, over real HTTP: what each call
//! does, what it refuses, and that nothing of it is lost.

mod lasting;
mod orders;
mod other_actions;
mod overrides;
mod previews;
mod racing;
mod refused;

use crate::openapi::contract;
use serde_json::{Value, json};
use tests::{Answer, Provider, Relay, Reply, Setup};

/// One attempt a rung, one after the other.
const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";

/// A call that changes something, as a well-behaved client makes it.
async fn call(relay: &Relay, method: &str, path: &str, body: &Value) -> Answer {
    call_with(relay, method, path, &[], body).await
}

async fn call_with(
    relay: &Relay,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    let json = [("content-type", "application/json")];
    let headers = [json.as_slice(), headers].concat();
    let path = format!("/admin/v1{path}");
    let answer = relay.admin_call(method, &path, &headers, Some(body.to_string().as_bytes())).await;
    contract::conforms(method, &path, &answer);
    answer
}

/// The answer to a call that is done.
#[track_caller]
fn done(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body_text());
    answer.json()
}

/// The error of a call that is refused; it is a sentence.
#[track_caller]
fn refused(answer: &Answer, status: u16) -> Value {
    assert_eq!(answer.status, status, "{}", answer.body_text());
    let error = answer.json()["error"].clone();
    let message = error["message"].as_str().unwrap_or_else(|| panic!("no message: {error}"));
    assert!(message.ends_with('.') && message.len() > 20, "{message}");
    error
}

async fn change(relay: &Relay, id: &str, changes: Value) -> Answer {
    call(relay, "POST", "/changes", &json!({"id": id, "reason": "a test", "changes": changes}))
        .await
}

async fn force_open(relay: &Relay, id: &str, rung: &str) -> Answer {
    change(relay, id, json!([{"rung": rung, "mode": "forced_open"}])).await
}

async fn get(relay: &Relay, path: &str) -> Value {
    let path = format!("/admin/v1{path}");
    let answer = relay.admin_get(&path).await;
    contract::conforms("GET", &path, &answer);
    done(&answer)
}

async fn mode_of(relay: &Relay, rung: &str) -> String {
    get(relay, &format!("/rungs/{rung}/override")).await["mode"].as_str().unwrap().to_owned()
}

async fn order_of(relay: &Relay) -> Vec<String> {
    let order = get(relay, "/ladders/chat/order").await["order"].clone();
    serde_json::from_value(order).unwrap()
}

/// A rung that says who it is.
async fn says(words: &str) -> Provider {
    Provider::always(Reply::text(words)).await
}

/// A relay over three rungs that answer.
async fn three() -> (Relay, [Provider; 3]) {
    let rungs = [says("from A").await, says("from B").await, says("from C").await];
    let setup = Setup::over(&[&rungs[0], &rungs[1], &rungs[2]]).ladder(NO_HEDGE);
    (Relay::start(&setup).await, rungs)
}
