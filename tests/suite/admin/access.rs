//! Who may read the admin API, and what is never in it.

use super::{NO_HEDGE, failing};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use tests::setup::KEY;
use tests::{Provider, Relay, Reply, Setup, openai};

/// Every call that reads. The feed has no end, and is asked for apart.
const CALLS: [&str; 6] = [
    "/admin/v1/board",
    "/admin/v1/requests",
    "/admin/v1/transitions",
    "/admin/v1/series",
    "/admin/v1/summary",
    "/admin/v1/summary?group=tenant",
];

fn token(name: &str, role: &str, token: &str) -> String {
    let hash = Sha256::digest(token.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    format!("{{ name = \"{name}\", role = \"{role}\", sha256 = \"{hash}\" }}")
}

async fn relay_with_tokens() -> (Relay, Provider) {
    let a = Provider::always(Reply::text("from A")).await;
    let tokens = [token("ben", "viewer", "VIEWER-TOKEN"), token("ana", "operator", "ANA-TOKEN")];
    let line = format!("tokens = [{}]", tokens.join(", "));
    (Relay::start(&Setup::over(&[&a]).admin(&line)).await, a)
}

#[tokio::test]
async fn a_viewer_reads_everything_and_nobody_without_a_token_anything() {
    let (relay, _a) = relay_with_tokens().await;
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        relay.admin_call("GET", path, headers, None).await
    };
    for path in CALLS.into_iter().chain(["/admin/v1/feed"]) {
        assert_eq!(ask(path, &[]).await.status, 401, "{path}");
        assert_eq!(ask(path, &[("authorization", "Bearer WRONG")]).await.status, 401, "{path}");
        assert_eq!(ask(path, &[("authorization", "VIEWER-TOKEN")]).await.status, 401, "{path}");
        let foreign =
            [("authorization", "Bearer VIEWER-TOKEN"), ("origin", "https://elsewhere.example")];
        assert_eq!(ask(path, &foreign).await.status, 403, "{path}");
        let posted = relay
            .admin_call("POST", path, &[("authorization", "Bearer ANA-TOKEN")], Some(b"{}"))
            .await;
        assert_eq!(posted.status, 405, "{path}");
        assert_eq!(relay.call("GET", path, &[], None).await.status, 404, "not for clients");
    }
    for path in CALLS {
        let seen = ask(path, &[("authorization", "Bearer VIEWER-TOKEN")]).await;
        assert_eq!(seen.status, 200, "{path}: {}", seen.body_text());
    }
    let you = async |token: &str| {
        let bearer = format!("Bearer {token}");
        ask("/admin/v1/board", &[("authorization", &bearer)]).await.json()["relay"]["you"].clone()
    };
    assert_eq!(you("VIEWER-TOKEN").await, serde_json::json!({"name": "ben", "role": "viewer"}));
    assert_eq!(you("ANA-TOKEN").await, serde_json::json!({"name": "ana", "role": "operator"}));
}

#[tokio::test]
async fn without_tokens_only_this_machines_names_are_answered() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for path in CALLS.into_iter().chain(["/admin/v1/feed"]) {
        let rebound = [("host", "rebound.example")];
        assert_eq!(relay.admin_call("GET", path, &rebound, None).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn guessing_is_slowed_down_and_forgetting_is_not() {
    let (relay, _a) = relay_with_tokens().await;
    let guess = async |token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        relay.admin_call("GET", "/admin/v1/board", &headers, None).await
    };
    for _ in 0..30 {
        let none = relay.admin_get("/admin/v1/board").await;
        assert_eq!(none.status, 401, "who sends none is not guessing");
    }
    for number in 0..20 {
        assert_eq!(guess(&format!("GUESS-{number}")).await.status, 401);
    }
    let slowed = guess("GUESS-20").await;
    assert_eq!(slowed.status, 429, "{}", slowed.body_text());
    let wait: u64 = slowed.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(guess("ANA-TOKEN").await.status, 200, "others share the address");
    assert_eq!(guess("GUESS-21").await.status, 429);
    assert_eq!(relay.admin_get("/healthz").await.status, 200);
}

#[tokio::test]
async fn nothing_private_is_in_any_answer() {
    let secret = "PROVIDER-SAYS-THIS";
    let a = Provider::in_turn(vec![
        Reply::error(401, secret, secret, &secret.into()),
        Reply::error(500, secret, secret, &secret.into()),
        failing(),
    ])
    .await;
    let b = Provider::always(Reply::text(secret)).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let mut feed = relay.feed_after(None, "?topics=requests").await;
    let ask = openai::with(
        openai::ask("chat"),
        &serde_json::json!({
            "messages": [{"role": "user", "content": "PROMPT-TEXT"}],
            "user": "USER-TEXT",
        }),
    );
    for _ in 0..3 {
        relay.send_with(&[("authorization", "Bearer CLIENT-KEY")], &ask).await;
    }
    let mut all = String::new();
    let mut ticks = 0;
    while ticks < 2 {
        let event = feed.next().await.unwrap();
        ticks += usize::from(event.kind == "tick");
        all.push_str(&event.data.to_string());
    }
    for path in CALLS {
        all.push_str(relay.admin_get(path).await.body_text());
    }
    assert!(all.contains("\"auth\""), "the failures are in it: {all}");
    for word in [secret, KEY, "PROMPT", "USER-TEXT", "CLIENT-KEY", "127.0.0.1", "http://"] {
        assert!(!all.contains(word), "{word} is in an answer:\n{all}");
    }
}
