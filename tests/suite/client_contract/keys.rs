//! Client keys: who may call.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use tests::{Provider, Relay, Reply, Setup, openai};

const KEY: &str = "client-key-of-the-web-frontend";

fn hash(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

async fn guarded() -> (Relay, Provider) {
    let a = Provider::always(Reply::text("hello")).await;
    let client = format!("[clients.web]\nkey_sha256 = \"{}\"", hash(KEY));
    let relay = Relay::start(&Setup::over(&[&a]).extra(&client)).await;
    (relay, a)
}

#[tokio::test]
async fn the_right_key_is_let_in_and_named_in_the_journal() {
    let (relay, a) = guarded().await;
    let bearer = format!("Bearer {KEY}");
    let answer = relay.send_with(&[("Authorization", &bearer)], &openai::ask("chat")).await;
    answer.assert_good("hello");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.client.as_deref(), Some("web"));
    let seen = format!("{:?}", a.call(0).await.headers);
    assert!(!seen.contains(KEY), "the client's key stays here: {seen}");
}

#[tokio::test]
async fn a_wrong_or_missing_key_is_a_401_that_tells_nothing() {
    let (relay, a) = guarded().await;
    let mut texts = Vec::new();
    for headers in [
        vec![],
        vec![("Authorization", "Bearer not-the-key-at-all")],
        vec![("Authorization", "Bearer ")],
        vec![("Authorization", "Basic bm90LXRoZS1rZXk=")],
        vec![("Authorization", KEY)],
    ] {
        let answer = relay.send_with(&headers, &openai::ask("chat")).await;
        let error = answer.assert_error(401);
        texts.push(error["message"].as_str().unwrap().to_owned());
        let body = answer.body_text();
        assert!(!body.contains("not-the-key") && !body.contains(&hash(KEY)), "{body}");
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "one fixed text: {texts:?}");
    assert!(!relay.log().contains("not-the-key"), "no key in the log");
    assert_eq!(a.count(), 0);
    let models = relay.call("GET", "/v1/models", &[], None).await;
    models.assert_error(401);
}

#[tokio::test]
async fn a_wrong_key_learns_nothing_about_models() {
    let (relay, _a) = guarded().await;
    let headers = [("Authorization", "Bearer not-the-key-at-all")];
    let known = relay.send_with(&headers, &openai::ask("chat")).await;
    let unknown = relay.send_with(&headers, &openai::ask("nothing")).await;
    assert_eq!((known.status, unknown.status), (401, 401));
}

#[tokio::test]
async fn a_client_may_be_kept_to_some_ladders() {
    let a = Provider::always(Reply::text("hello")).await;
    let tables = format!(
        "[ladders.other]\nrungs = [\"a\"]\n[clients.web]\nkey_sha256 = [\"{}\"]\nladders = [\"other\"]",
        hash(KEY)
    );
    let relay = Relay::start(&Setup::over(&[&a]).extra(&tables)).await;
    let bearer = format!("Bearer {KEY}");
    let headers = [("Authorization", bearer.as_str())];
    relay.send_with(&headers, &openai::ask("other")).await.assert_good("hello");
    let answer = relay.send_with(&headers, &openai::ask("chat")).await;
    assert!(matches!(answer.status, 403 | 404), "{}", answer.status);
    answer.assert_error(answer.status);
    let models = relay.call("GET", "/v1/models", &headers, None).await;
    let models = models.json().to_string();
    assert!(models.contains("\"other\"") && !models.contains("\"chat\""), "{models}");
    assert_eq!(a.count(), 1);
}
