//! A request that may act on the world is not sent twice on a guess.

use serde_json::{Value, json};
use tests::{Provider, Relay, Reply, Setup, openai};

/// Requests that make the provider act or keep something.
fn acting() -> [Value; 2] {
    [json!({"store": true}), json!({"web_search_options": {}})]
}

async fn run(first: Reply, fields: &Value, ladder: &str) -> (tests::Answer, usize) {
    let a = Provider::always(first).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).clocks("ttft = \"300ms\"").ladder(ladder);
    let relay = Relay::start(&setup).await;
    let answer = relay.send(&openai::with(openai::ask("chat"), fields)).await;
    assert_eq!(a.count(), 1, "{fields}: never twice to the same rung");
    (answer, b.count())
}

#[tokio::test]
async fn it_is_not_sent_again_without_an_explicit_refusal() {
    for fields in acting() {
        let (answer, calls) = run(Reply::closed(), &fields, "").await;
        answer.assert_error(502);
        assert_eq!(calls, 0, "{fields}");
        let (answer, calls) = run(Reply::silent(), &fields, "").await;
        answer.assert_error(504);
        assert_eq!(calls, 0, "{fields}");
    }
}

#[tokio::test]
async fn it_is_sent_on_after_an_explicit_refusal() {
    for fields in acting() {
        let refusal = Reply::error(503, "Overloaded", "overloaded_error", &Value::Null);
        let (answer, calls) = run(refusal, &fields, "").await;
        answer.assert_good("from B");
        assert_eq!(calls, 1, "{fields}");
    }
}

#[tokio::test]
async fn it_is_sent_on_where_nothing_was_sent_yet() {
    let b = Provider::always(Reply::text("from B")).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dead = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let relay = Relay::start(&Setup::default().and_rung(&dead).and_rung(&b.base_url())).await;
    let request = openai::with(openai::ask("chat"), &json!({"store": true}));
    relay.send(&request).await.assert_good("from B");
}

#[tokio::test]
async fn it_is_sent_on_where_the_ladder_says_so() {
    for fields in acting() {
        let (answer, calls) = run(Reply::closed(), &fields, "side_effects = \"none\"").await;
        answer.assert_good("from B");
        assert_eq!(calls, 1, "{fields}");
    }
}
