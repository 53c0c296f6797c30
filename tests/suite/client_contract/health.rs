//! Lists, liveness and readiness.

use tests::clock::eventually;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn models_lists_ladders_and_aliases_and_calls_nobody() {
    let a = Provider::always(Reply::text("hello")).await;
    let setup = Setup::over(&[&a]).ladder("aliases = [\"gpt-4o\"]");
    let relay = Relay::start(&setup.extra("[ladders.fast]\nrungs = [\"a\"]")).await;
    let answer = relay.call("GET", "/v1/models", &[], None).await;
    assert_eq!(answer.status, 200, "{}", answer.body_text());
    let body = answer.json();
    assert_eq!(body["object"], "list");
    let models = body["data"].as_array().unwrap();
    let ids: Vec<&str> = models.iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"chat") && ids.contains(&"fast"), "{ids:?}");
    assert!(models.iter().all(|model| model["object"] == "model"), "{body}");
    assert!(!body.to_string().contains("model-a"), "rungs are nobody's business: {body}");
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn health_is_told_on_both_listeners_and_calls_nobody() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    assert_eq!(relay.call("GET", "/healthz", &[], None).await.status, 200);
    assert_eq!(relay.admin_get("/healthz").await.status, 200);
    assert_eq!(relay.admin_get("/readyz").await.status, 200);
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn not_ready_while_draining_but_alive() {
    let a = Provider::always(Reply::begins("one").hold()).await;
    let mut relay = Relay::start(&Setup::over(&[&a]).server("drain = \"2s\"")).await;
    let mut stream = relay.open_stream().await;
    stream.until_text("one").await;
    relay.terminate();
    eventually("not to be ready", async || {
        (relay.admin_get("/readyz").await.status == 503).then_some(())
    })
    .await;
    assert_eq!(relay.admin_get("/healthz").await.status, 200, "alive to its end");
    drop(stream);
    assert_eq!(relay.exited().await.code(), Some(0));
}
