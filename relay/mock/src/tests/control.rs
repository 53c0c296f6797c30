//! The control endpoints, and which requests a fault affects.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::MockOptions;
use super::client::{ask, call, watch};
use super::{ended, faulty, mock, question, start, with};

async fn statuses(addr: SocketAddr, body: &Value, count: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..count {
        statuses.push(ask(addr, body).await.status());
    }
    statuses
}

#[tokio::test]
async fn a_fault_is_switched_at_run_time() {
    let mock = mock().await;
    let spec = json!({"fault": "status", "status": 503, "retry_after": "2"});
    let state = call(mock.addr(), "PUT /mock/fault", &spec.to_string()).await.json();
    assert_eq!(state["fault"], spec);
    assert_eq!(statuses(mock.addr(), &question(), 2).await, [503, 503]);
    assert_eq!(call(mock.addr(), "DELETE /mock/fault", "").await.json()["fault"], Value::Null);
    assert_eq!(statuses(mock.addr(), &question(), 1).await, [200]);
}

#[tokio::test]
async fn a_bad_fault_is_refused_and_changes_nothing() {
    let mock = faulty("status:429").await;
    for bad in
        ["", "{", "7", r#"{"fault":"nap"}"#, r#"{"fault":"stall"}"#, r#"{"fault":"hang","ms":1}"#]
    {
        let reply = call(mock.addr(), "PUT /mock/fault", bad).await;
        assert_eq!(reply.status(), 400, "{bad}");
        let message = reply.json()["error"]["message"].to_string();
        assert!(message.contains("slow_first_token") && message.contains("keep_open"), "{message}");
    }
    let reply = ask(mock.addr(), &with(json!({"x_mock": {"fault": "nap"}}))).await;
    assert_eq!((reply.status(), reply.json()["error"]["param"].clone()), (400, json!("x_mock")));
    assert_eq!(statuses(mock.addr(), &question(), 1).await, [429]);
}

#[tokio::test]
async fn times_wears_off() {
    let mock = faulty(r#"{"fault":"status","status":500,"times":2}"#).await;
    assert_eq!(statuses(mock.addr(), &question(), 3).await, [500, 500, 200]);
    assert_eq!(mock.report().fault, None);
    let own = with(json!({"x_mock": {"fault": "status", "status": 502, "times": 1}}));
    assert_eq!(statuses(mock.addr(), &own, 2).await, [502, 200]);
}

#[tokio::test]
async fn share_strikes_some() {
    let mock = faulty(r#"{"fault":"status","status":500,"share":0.5}"#).await;
    let struck = statuses(mock.addr(), &question(), 40).await;
    let bad = struck.iter().filter(|status| **status == 500).count();
    assert!((5..=35).contains(&bad), "{bad} of 40");
    mock.set_fault(Some(r#"{"fault":"status","status":500,"share":0}"#.parse().unwrap()));
    assert_eq!(statuses(mock.addr(), &question(), 3).await, [200, 200, 200]);
}

#[tokio::test]
async fn a_requests_own_fault_goes_first_and_may_name_its_mock() {
    let fault = Some("status:500".parse().unwrap());
    let mock = start(MockOptions { name: "left".into(), fault, ..MockOptions::default() }).await;
    let own = |spec: Value| with(json!({ "x_mock": spec }));
    assert_eq!(statuses(mock.addr(), &own(json!("none")), 1).await, [200]);
    assert_eq!(statuses(mock.addr(), &own(json!("status:502")), 1).await, [502]);
    let at = |name: &str| own(json!({"fault": "status", "status": 502, "at": name}));
    assert_eq!(statuses(mock.addr(), &at("left"), 1).await, [502]);
    assert_eq!(statuses(mock.addr(), &at("right"), 1).await, [500]);
}

#[tokio::test]
async fn requests_are_written_down_without_their_secrets() {
    let mock = mock().await;
    let asking = with(json!({"stream_options": {"include_usage": true}, "x_mock": "stall:0"}));
    watch(mock.addr(), &asking, Duration::from_millis(100)).await;
    ended(&mock).await;
    ask(mock.addr(), &question()).await;
    ended(&mock).await;
    let reply = call(mock.addr(), "GET /mock/requests", "").await;
    assert!(!reply.body().contains("sk-secret"));
    let (first, second) = (&reply.json()[0], &reply.json()[1]);
    assert_eq!(first["keys"], json!(["model", "stream", "messages", "stream_options", "x_mock"]));
    assert_eq!(first["stream_options"], json!({"include_usage": true}));
    assert_eq!(first["fault"], json!({"fault": "stall", "after": 0}));
    assert_eq!(first["ended"], "client_gone after 1 event");
    assert_eq!((&second["ended"], &second["events"]), (&json!("done"), &json!(9)));
    assert_eq!((&second["tokens"], &second["status"]), (&json!(6), &json!(200)));
    let tag = first["headers"]["authorization"].as_str().unwrap();
    assert!(tag.starts_with('#') && tag.len() == 9, "{tag}");
    assert_eq!(first["headers"]["authorization"], second["headers"]["authorization"]);
    assert_eq!(first["headers"]["host"], "mock");
}

#[tokio::test]
async fn only_the_last_hundred_are_kept_and_reset_forgets_all() {
    let mock = faulty("status:500").await;
    for _ in 0..103 {
        ask(mock.addr(), &question()).await;
    }
    let requests = mock.requests();
    assert_eq!((requests.len(), requests[0].id), (100, 4));
    let state = call(mock.addr(), "POST /mock/reset", "").await.json();
    let zero = json!({
        "name": "mock", "open_streams": 0, "requests": 0, "disconnects": 0,
        "disconnected": [], "fault": null,
    });
    assert_eq!(state, zero);
    assert_eq!(statuses(mock.addr(), &question(), 1).await, [200]);
    assert_eq!(mock.requests()[0].id, 104);
}
