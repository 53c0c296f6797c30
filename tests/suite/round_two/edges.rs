//! D: oddities of HTTP, on both sides.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use tests::{Exchange, Provider, Relay, Reply, Setup, openai};

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn d1_a_compressed_request_is_decoded() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a]).server("max_body = \"64KiB\"")).await;
    let plain = openai::ask("chat").to_string();
    let json = ("Content-Type", "application/json");
    for (name, body) in
        [("gzip", gzip(plain.as_bytes())), ("zstd", zstd::encode_all(plain.as_bytes(), 0).unwrap())]
    {
        let headers = [json, ("Content-Encoding", name)];
        let answer = relay.call("POST", "/v1/chat/completions", &headers, Some(&body)).await;
        answer.assert_good("hello");
    }
    assert_eq!(a.call(0).await.json()["messages"], openai::ask("chat")["messages"]);
    // A small body that becomes a large one.
    let bomb = gzip(&vec![b' '; 8 << 20]);
    assert!(bomb.len() < 64 << 10);
    let headers = [json, ("Content-Encoding", "gzip")];
    let answer = relay.call("POST", "/v1/chat/completions", &headers, Some(&bomb)).await;
    answer.assert_error(413);
    // One that is not what it says, and one that nobody here knows.
    let answer = relay.call("POST", "/v1/chat/completions", &headers, Some(plain.as_bytes())).await;
    assert_eq!(answer.assert_error(400)["code"], "undecodable_body");
    let headers = [json, ("Content-Encoding", "compress")];
    let answer = relay.call("POST", "/v1/chat/completions", &headers, Some(plain.as_bytes())).await;
    let error = answer.assert_error(415);
    assert!(error["message"].as_str().unwrap().contains("'compress'"), "{error}");
    assert_eq!(a.count(), 2);
}

#[tokio::test]
async fn d4_a_hundred_and_fifty_response_headers_are_taken() {
    let many = (0..150).fold(Reply::text("hello"), |reply, n| {
        reply.header(&format!("x-gateway-{n}"), "some value")
    });
    let a = Provider::always(many).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask().await.assert_good("hello");
}

#[tokio::test]
async fn d6_a_request_names_its_host_once() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for (hosts, status) in [
        ("Host: localhost\r\n", 200),
        ("", 400),
        ("Host: localhost\r\nHost: localhost\r\n", 400),
        ("Host: localhost\r\nHost: evil.example\r\n", 400),
    ] {
        for address in [relay.address(), relay.admin()] {
            let head = format!("GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
            let answer = Exchange::start(address, head.as_bytes()).await.finish().await;
            assert_eq!(answer.status, status, "{hosts:?}: {}", answer.body_text());
        }
    }
}

#[tokio::test]
async fn d6_a_page_behind_a_tls_proxy_may_call_its_own_host_and_others_are_counted() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let host = format!("localhost:{}", relay.address().port());
    let own = format!("https://{host}");
    let headers = [("Host", host.as_str()), ("Origin", own.as_str())];
    relay.send_with(&headers, &openai::ask("chat")).await.assert_good("hello");
    let foreign = [("Host", host.as_str()), ("Origin", "https://other.example")];
    relay.send_with(&foreign, &openai::ask("chat")).await.assert_error(403);
    tests::clock::eventually("the log to name it", async || {
        relay.log().contains("https://other.example").then_some(())
    })
    .await;
    let metrics = relay.admin_call("GET", "/metrics", &[], None).await;
    let counted = metrics.body_text().lines().find(|line| line.contains("foreign_origin")).unwrap();
    assert!(counted.ends_with(" 1"), "{counted}");
}

#[tokio::test]
async fn d6_a_preflight_may_be_remembered() {
    let a = Provider::always(Reply::text("hello")).await;
    let setup = Setup::over(&[&a]).server("cors_origins = [\"https://chat.example.com\"]");
    let relay = Relay::start(&setup).await;
    let preflight =
        [("Origin", "https://chat.example.com"), ("Access-Control-Request-Method", "POST")];
    let answer = relay.call("OPTIONS", "/v1/chat/completions", &preflight, None).await;
    assert_eq!(answer.header("access-control-max-age"), Some("3600"));
}
