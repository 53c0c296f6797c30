//! What is refused, with which status, and that nothing has changed then.

use super::*;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

fn good() -> Value {
    json!({"id": "good", "reason": "a test", "changes": [{"rung": "a", "mode": "forced_open"}]})
}

fn with(key: &str, value: Value) -> Value {
    let mut body = good();
    body[key] = value;
    body
}

#[tokio::test]
async fn bodies_that_make_no_sense() {
    let (relay, _rungs) = three().await;
    let change = |change: Value| with("changes", json!([change]));
    for (status, body) in [
        (400, json!(["good", "a test", null, [{"rung": "a", "mode": "forced_open"}], {}, []])),
        (400, with("id", json!(""))),
        (400, with("id", json!("a b"))),
        (400, with("id", json!("x".repeat(65)))),
        (400, with("reason", json!(""))),
        (400, with("reason", json!("  "))),
        (400, with("reason", json!("two\nlines"))),
        (400, with("reason", json!("x".repeat(401)))),
        (400, with("changes", json!([]))),
        (400, with("changes", json!(vec![json!({"rung": "a", "mode": "auto"}); 65]))),
        (
            400,
            with(
                "changes",
                json!([{"rung": "a", "mode": "auto"}, {"rung": "a", "mode": "demoted"}]),
            ),
        ),
        (
            400,
            with(
                "changes",
                json!([{"rung": "a", "mode": "auto"}, {"domain": "a", "mode": "demoted"}]),
            ),
        ),
        (400, with("ttl", json!("soon"))),
        (400, with("ttl", json!("25h"))),
        (400, with("ttl", json!("0s"))),
        (400, with("ttl", json!(15))),
        (400, with("unknown", json!(1))),
        (400, with("expect", json!({"a": -1}))),
        (400, change(json!({"rung": "a"}))),
        (400, change(json!({"rung": "a", "mode": "open"}))),
        (400, change(json!({"mode": "auto"}))),
        (400, change(json!({"rung": "a", "ladder": "chat", "mode": "auto"}))),
        (400, change(json!({"rung": "a", "mode": "demoted", "cut_streams": true}))),
        (400, change(json!({"ladder": "chat"}))),
        (404, change(json!({"rung": "nobody", "mode": "auto"}))),
        (404, change(json!({"provider": "nobody", "mode": "auto"}))),
        (404, change(json!({"domain": "nowhere", "mode": "auto"}))),
        (404, change(json!({"ladder": "nothing", "order": "config"}))),
        (404, with("expect", json!({"nobody": 1}))),
        (404, with("accept", json!(["nothing"]))),
        (412, with("expect", json!({"b": 3}))),
        (400, json!([])),
        (400, json!("forced_open")),
    ] {
        let answer = call(&relay, "POST", "/changes", &body).await;
        refused(&answer, status);
    }
    let error = refused(
        &call(&relay, "POST", "/changes", &change(json!({"rung": "z", "mode": "auto"}))).await,
        404,
    );
    assert!(error["message"].as_str().unwrap().contains("a, b, c"), "{error}");
    assert_eq!(mode_of(&relay, "a").await, "auto");
    let rows: i64 =
        relay.open_journal().query_row("SELECT count(*) FROM actions", [], |r| r.get(0)).unwrap();
    assert_eq!(rows, 0, "what was refused is no action");
}

#[tokio::test]
async fn what_is_no_json_or_too_much_of_it() {
    let (relay, _rungs) = three().await;
    let post = async |kind: Option<&str>, body: &[u8]| {
        let headers: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        relay.admin_call("POST", "/admin/v1/changes", &headers, Some(body)).await
    };
    let body = good().to_string();
    for kind in
        [Some(""), Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("json")]
    {
        refused(&post(kind, body.as_bytes()).await, 415);
    }
    let json = Some("application/json");
    refused(&post(json, b"{\"id\": ").await, 400);
    refused(&post(json, b"").await, 400);
    refused(&post(json, b"\xff\xfe").await, 400);
    let long = with("reason", json!("x".repeat(70_000))).to_string();
    refused(&post(json, long.as_bytes()).await, 413);
    let answer = post(Some("application/json; charset=utf-8"), body.as_bytes()).await;
    assert_eq!(answer.status, 200, "{}", answer.body_text());
}

#[tokio::test]
async fn callers_from_elsewhere() {
    let (relay, _rungs) = three().await;
    for headers in
        [[("host", "evil.example")], [("origin", "https://evil.example")], [("origin", "null")]]
    {
        refused(&call_with(&relay, "POST", "/changes", &headers, &good()).await, 403);
    }
    let query = call(&relay, "POST", "/changes?token=SECRET", &good()).await;
    let error = refused(&query, 400);
    assert!(!error.to_string().contains("SECRET"), "{error}");
    assert_eq!(mode_of(&relay, "a").await, "auto");
    // A path that is only read, and one that is not there.
    refused(&call(&relay, "POST", "/actions", &good()).await, 405);
    refused(&call(&relay, "POST", "/change", &good()).await, 404);
}

fn hash(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[tokio::test]
async fn only_an_operators_token_changes_anything_and_its_name_signs() {
    let (a, b) = (says("from A").await, says("from B").await);
    let token = |name: &str, role: &str| {
        format!("{{ name = \"{name}\", role = \"{role}\", sha256 = \"{}\" }}", hash(name))
    };
    let tokens = format!("tokens = [{}, {}]", token("eve", "viewer"), token("ana", "operator"));
    let relay = Relay::start(&Setup::over(&[&a, &b]).admin(&tokens)).await;
    let with = async |method: &str, path: &str, token: &str, body: &Value| {
        let bearer = format!("Bearer {token}");
        call_with(&relay, method, path, &[("authorization", &bearer)], body).await
    };
    refused(&call(&relay, "POST", "/changes", &good()).await, 401);
    refused(&with("POST", "/changes", "nobody", &good()).await, 401);
    let deed = json!({"id": "d", "reason": "r"});
    for (method, path, body) in [
        ("POST", "/changes", &good()),
        ("POST", "/preview", &good()),
        ("PUT", "/rungs/a/override", &json!({"id": "i", "reason": "r", "mode": "demoted"})),
        ("DELETE", "/rungs/a/override", &deed),
        ("PUT", "/ladders/chat/order", &json!({"id": "i", "reason": "r", "rungs": ["b", "a"]})),
        ("DELETE", "/ladders/chat/order", &deed),
        ("POST", "/rungs/a/probe", &deed),
        ("POST", "/rungs/a/check", &deed),
        ("POST", "/notes", &json!({"id": "n", "text": "t"})),
        ("DELETE", "/notes/n", &deed),
        ("POST", "/actions/x/undo", &deed),
    ] {
        refused(&with(method, path, "eve", body).await, 403);
    }
    assert_eq!(a.count() + b.count(), 0, "no check was made");
    let answer = done(&with("POST", "/changes", "ana", &good()).await);
    assert_eq!(answer["by"], "ana");
    // A viewer may look.
    let bearer = [("authorization", "Bearer eve")];
    let page = relay.admin_call("GET", "/admin/v1/actions", &bearer, None).await;
    assert_eq!(done(&page)["items"][0]["by"], "ana");
}
