//! `auth`: the provider refuses *our* account. The client's key is fine, so it
//! is never told 401.

use super::Row;
use serde_json::{Value, json};
use tests::setup::{KEY, key_of};
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn auth_by_status_goes_on_and_alone_is_a_502() {
    for status in [401, 402, 403, 404, 410, 451] {
        let reply = Reply::error(status, "not yours", "some_error", &Value::Null);
        Row::moved_on("account", reply, "auth", 502).check().await;
    }
}

#[tokio::test]
async fn a_405_is_no_statement_about_the_account() {
    let reply = Reply::error(405, "not here", "some_error", &Value::Null);
    Row::moved_on("address", reply, "bad_request", 502).check().await;
}

#[tokio::test]
async fn auth_covers_exhausted_credit_under_other_statuses() {
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    let credit = "Your credit balance is too low to access the API.";
    for (status, message, code) in [
        (429, quota, json!("insufficient_quota")),
        (400, credit, Value::Null),
        (400, "Incorrect API key provided.", json!("invalid_api_key")),
    ] {
        let reply = Reply::error(status, message, "invalid_request_error", &code);
        Row::moved_on(message, reply, "auth", 502).check().await;
    }
}

#[tokio::test]
async fn auth_never_shows_a_part_of_the_key() {
    let a = Provider::always(Reply::fixture("B63-401.json")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_error(502);
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    assert!(!answer.body_text().contains(KEY), "{}", answer.body_text());
    let detail = serde_json::to_string(&relay.journaled(&answer.id()).await).unwrap();
    assert!(!detail.contains(KEY), "{detail}");
    assert!(!relay.log().contains(KEY), "the key is in the log");
}

#[tokio::test]
async fn auth_of_one_rung_sends_its_own_key_only() {
    let a = Provider::always(Reply::fixture("B63-401.json")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    relay.ask().await.assert_good("from B");
    let bearer = |rung: &str| Some(format!("Bearer {}", key_of(rung)));
    assert_eq!(a.calls()[0].header("authorization").map(str::to_owned), bearer("a"));
    assert_eq!(b.calls()[0].header("authorization").map(str::to_owned), bearer("b"));
}
