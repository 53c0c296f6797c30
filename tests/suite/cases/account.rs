//! B63: what a 401 tells, be it the client's key or ours that is refused.

use super::client::{CLIENTS, Client};
use super::speech::{SPEECHES, Speech};
use sha2::{Digest as _, Sha256};
use shared::AttemptOutcome;
use std::fmt::Write as _;
use tests::setup::{KEY, key_of};
use tests::{Answer, Provider, Relay, Reply, Setup};

const CLIENTS_KEY: &str = "client-key-of-the-web-frontend";
/// What every part of the provider's own complaint has in common.
const FRAGMENT: &str = "PLACEHOLDER";

fn hash(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A relay that lets one client in.
fn guarded(rungs: &[&Provider]) -> Setup {
    let client = format!("[clients.web]\nkey_sha256 = \"{}\"", hash(CLIENTS_KEY));
    Setup::over(rungs).extra(&client)
}

/// Asks with a key where this client's SDK puts it.
async fn ask_with(client: Client, relay: &Relay, key: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    let header = match client {
        Client::Messages => ("x-api-key", key),
        _ => ("Authorization", bearer.as_str()),
    };
    client.open_with(relay, &[header], &client.request()).await.finish().await
}

/// Nothing that anybody can read has a part of our key.
async fn assert_untold(relay: &Relay) {
    for path in ["board", "requests", "transitions", "actions"] {
        let answer = relay.admin_get(&format!("/admin/v1/{path}")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body_text());
        assert!(!answer.body_text().contains(FRAGMENT), "{path}: {}", answer.body_text());
    }
    assert!(!relay.metrics_text().await.contains(FRAGMENT));
    assert!(!relay.log().contains(FRAGMENT), "{}", relay.log());
}

#[tokio::test]
async fn b63_a_clients_wrong_key_is_a_401_of_ours_that_reaches_nobody() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&guarded(&[&a])).await;
    let wrong = "client-key-of-somebody-else";
    for client in CLIENTS {
        let answer = ask_with(client, &relay, wrong).await;
        let error = client.assert_error(&answer, 401);
        if client == Client::Messages {
            assert_eq!(error["type"], "authentication_error");
        } else {
            assert!(error["code"].as_str().is_some_and(|code| !code.is_empty()), "{error}");
        }
        assert!(!answer.body_text().contains("somebody-else"), "{}", answer.body_text());
        assert!(!answer.body_text().contains(&hash(wrong)[..16]), "{}", answer.body_text());
    }
    assert!(!relay.log().contains("somebody-else"), "{}", relay.log());
    assert_eq!(a.count(), 0, "no provider was called");
    for client in CLIENTS {
        client.assert_good(&ask_with(client, &relay, CLIENTS_KEY).await, "from A");
    }
    for call in a.calls() {
        assert!(!format!("{:?}", call.headers).contains(CLIENTS_KEY), "{:?}", call.headers);
    }
}

/// What a provider of each dialect says of a key of ours that it refuses.
fn refusals() -> Vec<(Speech, Reply)> {
    let said = |speech: Speech| {
        let message = format!("Incorrect key provided: {}.", key_of("a"));
        (speech, Reply::json(401, &speech.error_body(401, &message)))
    };
    let bad_key = serde_json::json!({"error": {
        "code": 400, "message": format!("API key not valid: {}", key_of("a")),
        "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID"}],
    }});
    SPEECHES
        .into_iter()
        .map(said)
        .chain([
            (Speech::Chat, Reply::fixture("B63-401.json")),
            // Gemini says so with a 400.
            (Speech::Gemini, Reply::json(400, &bad_key)),
        ])
        .collect()
}

#[tokio::test]
async fn b63_a_providers_401_of_our_key_is_a_502_that_says_whose_key_it_was() {
    for (speech, reply) in refusals() {
        for client in CLIENTS {
            let a = Provider::always(reply.clone()).await;
            let setup = guarded(&[&a]).dialect("a", speech.dialect());
            let relay = Relay::start(&setup).await;
            let answer = ask_with(client, &relay, CLIENTS_KEY).await;
            let error = client.assert_error(&answer, 502);
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("credential"), "whose key it was: {message}");
            assert!(!answer.body_text().contains(FRAGMENT), "{}", answer.body_text());
            assert_untold(&relay).await;
        }
    }
    assert!(!KEY.is_empty() && KEY.contains(FRAGMENT), "the search looks for our key");
}

#[tokio::test]
async fn b63_beside_a_healthy_rung_the_refused_one_is_marked_and_goes_out() {
    for (speech, reply) in refusals() {
        let a = Provider::always(reply).await;
        let b = Provider::always(Speech::Messages.good("from B")).await;
        let setup = guarded(&[&a, &b]).dialect("a", speech.dialect());
        let relay = Relay::start(&setup.dialect("b", Speech::Messages.dialect())).await;
        let answer = ask_with(Client::Messages, &relay, CLIENTS_KEY).await;
        Client::Messages.assert_good(&answer, "from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(detail.attempts[0].outcome, Some(AttemptOutcome::Auth), "{speech:?}");
        let board = relay.board().await;
        let health = &board.rungs[0].health;
        let down = health.hard_down.as_ref().expect("hard down");
        assert_eq!((health.state.as_str(), down.why.as_str()), ("open", "key"), "{health:?}");
        assert_untold(&relay).await;
    }
}
