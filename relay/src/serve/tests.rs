//! A panic in one request's code ends that request, truthfully, and nothing else.
//!
//! It needs a panic on cue, which no client can cause; so it is tested here, on
//! real sockets all the same, and not with the other end-to-end tests.

use crate::config::{Env, parse};
use crate::drive::{Drain, Hub, PANIC_FOR};
use crate::listen::{Limits, Listener};
use crate::wall;
use journal::{Journal, JournalOptions};
use mock::{Mock, MockOptions};
use shared::{AttemptOutcome, Cause, RequestId, RequestOutcome};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

struct NoEnv;

impl Env for NoEnv {
    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn file(&self, _path: &Path) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// A relay over one mock provider, serving; its base URL.
async fn serving(journal: Journal) -> (Mock, Arc<Hub>, String) {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let gap = Duration::from_millis(20);
    let mock = Mock::start(MockOptions { gap, ..MockOptions::default() }).await.unwrap();
    let text = format!(
        "[providers.p]\ndialect = \"openai-chat\"\nbase_url = \"http://{}/v1\"\n\
         [rungs.a]\nprovider = \"p\"\nmodel = \"m\"\n[ladders.chat]\nrungs = [\"a\"]\n",
        mock.addr()
    );
    let config = parse(&text, &NoEnv).unwrap().config;
    let relay = Arc::new(Hub::new(config, journal).unwrap());
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let base = format!("http://{}", listener.addr);
    let limits = Limits { connections: 100, until: Drain::Draining };
    let router = super::router(&relay);
    tokio::spawn(listener.serve(router, Arc::clone(&relay), limits));
    (mock, relay, base)
}

async fn ask(base: &str) -> reqwest::Response {
    let body = r#"{"model":"chat","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    reqwest::Client::new()
        .post(format!("{base}/v1/chat/completions"))
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap()
}

fn id(response: &reqwest::Response) -> RequestId {
    let id = response.headers().get("x-belay-request-id").unwrap();
    id.to_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_panic_ends_its_own_request_truthfully_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let options = JournalOptions::new(folder.path().join("belay.db"), wall::unix);
    let journal = Journal::open(options);
    let (_mock, relay, base) = serving(journal.clone()).await;

    let (broken, sound) = (ask(&base).await, ask(&base).await);
    let broken_id = id(&broken);
    PANIC_FOR.store(broken_id.number(), SeqCst);
    let (broken, sound) = tokio::join!(broken.text(), sound.text());
    let (broken, sound) = (broken.unwrap(), sound.unwrap());
    assert!(broken.contains("relay_fault") && !broken.contains("[DONE]"), "{broken}");
    assert!(!broken.contains("asked for"), "the panic's text is not the client's business");
    assert!(sound.ends_with("data: [DONE]\n\n"), "{sound}");

    PANIC_FOR.store(-1, SeqCst);
    let early = ask(&base).await;
    assert_eq!(early.status(), 500, "before the head it is a real status");
    assert!(early.text().await.unwrap().contains("relay_fault"));
    assert!(ask(&base).await.text().await.unwrap().ends_with("data: [DONE]\n\n"));

    assert!(journal.close(Duration::from_secs(5)));
    let row = journal.reader().request(broken_id).unwrap().unwrap();
    assert_eq!(row.request.outcome, Some(RequestOutcome::Failed));
    assert_eq!(row.attempts[0].outcome, Some(AttemptOutcome::Cancelled));
    assert_eq!(row.attempts[0].cause, Some(Cause::RelayFault));
    assert_eq!(relay.load.running(), 0);
}
