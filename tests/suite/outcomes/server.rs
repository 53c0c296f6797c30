//! `server_error`, `connect` and `junk`: the provider fails before a token.

use super::Row;
use serde_json::{Value, json};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

/// A base URL where nobody listens.
async fn dead() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[tokio::test]
async fn server_error_by_status_is_retried_alone_and_ends_in_a_502() {
    for status in [500, 501, 502, 504, 520, 408, 409] {
        let reply = Reply::error(status, "worker lost", "server_error", &Value::Null);
        Row::retried("server error", reply, "server_error", 502).check().await;
    }
}

#[tokio::test]
async fn server_error_without_a_readable_body_is_the_same() {
    let html = Reply::body(500, "text/html", "<h1>Internal Server Error</h1>");
    let answer = Row::retried("HTML", html, "server_error", 502).check().await;
    assert!(!answer.body_text().contains("<h1>"), "{}", answer.body_text());
    Row::retried("nothing", Reply::body(502, "text/plain", ""), "server_error", 502).check().await;
}

#[tokio::test]
async fn server_error_in_the_stream_before_a_token_is_the_same() {
    let event = openai::error_event("worker lost", "server_error", &json!(500));
    for prelude in [String::new(), openai::role()] {
        let reply = Reply::sse(prelude + &event + openai::DONE);
        Row::retried("error in a 200", reply, "server_error", 502).check().await;
    }
    let reply = Reply::fixture("B14-json-error-200.json");
    Row::retried("JSON error in a 200", reply, "server_error", 502).check().await;
}

#[tokio::test]
async fn server_error_is_journaled_with_its_status() {
    let a = Provider::always(Reply::error(500, "x", "server_error", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.attempts[0].status, Some(500));
    assert!(detail.attempts[0].headers_ms.is_some());
    assert_eq!(detail.attempts[0].ttft_ms, None);
}

#[tokio::test]
async fn connect_is_closed_or_reset_without_an_answer() {
    Row::retried("closed", Reply::closed(), "connect", 502).check().await;
    Row::retried("reset", Reply::reset_at_once(), "connect", 502).check().await;
}

#[tokio::test]
async fn connect_is_a_refused_port_an_unknown_name_or_no_tls() {
    let plain = Provider::always(Reply::text("never")).await;
    let no_tls = format!("https://{}/v1", plain.address());
    for (name, url) in [
        ("refused port", dead().await),
        ("unknown name", "http://no-such-host.invalid/v1".to_owned()),
        ("no TLS", no_tls),
    ] {
        let b = Provider::always(Reply::text("from B")).await;
        let setup = Setup::default().and_rung(&url).and_rung(&b.base_url());
        // Before the soft first clock of a rung that nobody knows yet.
        let setup = setup.ladder("hedge = { enabled = false }").provider("a", "connect = \"2s\"");
        let relay = Relay::start(&setup).await;
        let answer = relay.ask().await;
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first connect", "b failover ok"], "{name}");

        let relay = Relay::start(&Setup::default().and_rung(&url)).await;
        let answer = relay.ask().await;
        answer.assert_error(502);
        assert_eq!(answer.tried(), ["a connect", "a connect"], "{name}: retried once alone");
        for secret in ["127.0.0.1", "no-such-host"] {
            assert!(!answer.body_text().contains(secret), "{name}: {}", answer.body_text());
        }
    }
}

#[tokio::test]
async fn connect_has_a_clock_of_its_own() {
    // A backlog of one that nobody empties: further connections get no answer at all.
    let full = tokio::net::TcpSocket::new_v4().unwrap();
    full.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = full.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut filling = Vec::new();
    for _ in 0..4 {
        let connect = tokio::net::TcpStream::connect(address);
        filling.push(tokio::time::timeout(tests::clock::ms(200), connect).await);
    }
    assert!(filling.iter().any(Result::is_err), "the backlog is full");
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::default().and_rung(&format!("http://{address}/v1")).and_rung(&b.base_url());
    let relay = Relay::start(&setup.provider("a", "connect = \"300ms\"")).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    tests::clock::assert_fired("the connect clock", answer.head_at, tests::clock::ms(300));
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first connect", "b failover ok"]);
}

#[tokio::test]
async fn junk_is_a_200_that_is_not_the_dialect() {
    for (name, reply) in [
        ("HTML", Reply::fixture("B14-html-200.html")),
        ("plain text", Reply::body(200, "text/plain", "hello")),
        ("JSON of another kind", Reply::json(200, &json!({"hello": "world"}))),
        ("broken JSON", Reply::body(200, "application/json", "{\"choices\": [")),
        ("a broken event", Reply::sse("data: {\"id\":\"c-1\",\"choices\":[{\n\n")),
    ] {
        let answer = Row::moved_on(name, reply, "junk", 502).check().await;
        assert!(!answer.body_text().contains("Sign in"), "{}", answer.body_text());
    }
}

#[tokio::test]
async fn junk_is_an_end_before_the_first_token() {
    for (name, reply) in [
        ("no event", Reply::stream()),
        ("a role, then a proper end of body", Reply::sse(openai::role())),
        ("a role, then a cut", Reply::stream().send(openai::role()).cut()),
        ("a role, then a reset", Reply::stream().send(openai::role()).reset()),
        ("comments", Reply::sse(": queued\n\n: queued\n\n")),
    ] {
        Row::moved_on(name, reply, "junk", 502).check().await;
    }
}

#[tokio::test]
async fn junk_is_an_odd_status_or_a_redirect_which_is_not_followed() {
    let elsewhere = Provider::always(Reply::text("never")).await;
    let location = format!("{}/chat/completions", elsewhere.base_url());
    for status in [301, 302, 303, 307, 308] {
        let reply = Reply::body(status, "text/plain", "moved").header("location", &location);
        Row::moved_on("redirect", reply, "junk", 502).check().await;
    }
    assert_eq!(elsewhere.count(), 0, "no redirect is followed");
    for status in [201, 406, 418, 426] {
        let reply = Reply::body(status, "text/plain", "odd");
        Row::moved_on("odd status", reply, "junk", 502).check().await;
    }
}
