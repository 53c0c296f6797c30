//! B63: what a 401 tells, be it the client's key or ours that is refused.

use sha2::{Digest as _, Sha256};
use shared::AttemptOutcome;
use std::fmt::Write as _;
use tests::setup::KEY;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

const CLIENTS: &str = "client-key-of-the-web-frontend";
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
    let client = format!("[clients.web]\nkey_sha256 = \"{}\"", hash(CLIENTS));
    Setup::over(rungs).extra(&client)
}

async fn ask_with(relay: &Relay, key: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    relay.send_with(&[("Authorization", &bearer)], &openai::ask("chat")).await
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
    let answer = ask_with(&relay, wrong).await;
    let error = answer.assert_error(401);
    assert!(error["code"].as_str().is_some_and(|code| !code.is_empty()), "{error}");
    assert!(!answer.body_text().contains("somebody-else"), "{}", answer.body_text());
    assert!(!answer.body_text().contains(&hash(wrong)[..16]), "{}", answer.body_text());
    assert!(!relay.log().contains("somebody-else"), "{}", relay.log());
    assert_eq!(a.count(), 0, "no provider was called");
}

#[tokio::test]
async fn b63_a_providers_401_of_our_key_is_a_502_that_says_whose_key_it_was() {
    let a = Provider::always(Reply::fixture("B63-401.json")).await;
    let relay = Relay::start(&guarded(&[&a])).await;
    let answer = ask_with(&relay, CLIENTS).await;
    let error = answer.assert_error(502);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("credential"), "whose key it was: {message}");
    assert!(!answer.body_text().contains(FRAGMENT), "{}", answer.body_text());
    assert_untold(&relay).await;
    assert!(!KEY.is_empty() && KEY.contains(FRAGMENT), "the search looks for our key");
}

#[tokio::test]
async fn b63_beside_a_healthy_rung_the_refused_one_is_marked_and_goes_out() {
    let a = Provider::always(Reply::fixture("B63-401.json")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&guarded(&[&a, &b])).await;
    let answer = ask_with(&relay, CLIENTS).await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    let first = &detail.attempts[0];
    assert_eq!((first.outcome, first.status), (Some(AttemptOutcome::Auth), Some(401)), "{first:?}");
    let board = relay.board().await;
    let health = &board.rungs[0].health;
    let down = health.hard_down.as_ref().expect("hard down");
    assert_eq!((health.state.as_str(), down.why.as_str()), ("open", "key"), "{health:?}");
    assert_untold(&relay).await;
}
