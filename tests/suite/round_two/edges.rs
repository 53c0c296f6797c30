//! D: oddities of HTTP, on both sides.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use tests::clock::{assert_within, ms, within};
use tests::{Exchange, Provider, Relay, Reply, Setup, client, openai};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

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

/// A request for a stream, and bytes behind it.
fn with_more(relay: &Relay, more: &[u8]) -> Vec<u8> {
    let body = openai::ask("chat").to_string();
    let path = "/v1/chat/completions";
    let mut bytes = client::request(relay.address(), "POST", path, &[], Some(body.as_bytes()));
    bytes.extend_from_slice(more);
    bytes
}

#[tokio::test]
async fn d2_a_client_that_left_is_noticed_whatever_it_sent_ahead() {
    for reply in [Reply::silent(), Reply::begins("one").hold()] {
        let a = Provider::always(reply).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let next = with_more(&relay, b"");
        let long = vec![b'\n'; 300_000];
        for (n, more) in [&b"\n"[..], b"\r\n", &next, &long].into_iter().enumerate() {
            let client = Exchange::start(relay.address(), &with_more(&relay, more)).await;
            let call = a.call(n).await;
            let left = if n % 2 == 0 { client.hang_up() } else { client.reset() };
            assert_within("the upstream call to end", call.closed_after(left).await, ms(200));
            relay.newest().await;
        }
    }
}

#[tokio::test]
async fn d2_what_was_sent_ahead_is_answered_in_its_turn() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let both = with_more(&relay, &with_more(&relay, b""));
    let mut first = Exchange::start(relay.address(), &both).await;
    while first.more().await {}
    a.call(1).await;
}

#[tokio::test]
async fn d3_who_sends_too_much_can_read_why() {
    let a = Provider::always(Reply::text("never")).await;
    let setup = Setup::over(&[&a]).server("max_body = \"64KiB\"");
    let relay = Relay::start(&setup).await;
    let body = vec![b' '; 24 << 20];
    let path = "/v1/chat/completions";
    let plain = client::request(relay.address(), "POST", path, &[], Some(&body));
    let framed = ("Transfer-Encoding", "chunked");
    let mut chunked = client::request(relay.address(), "POST", path, &[framed], Some(b""));
    chunked.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
    chunked.extend_from_slice(&body);
    chunked.extend_from_slice(b"\r\n0\r\n\r\n");
    for bytes in [plain, chunked] {
        // As Node's fetch and Python's http.client do: everything is written, then it is read.
        let mut socket = TcpStream::connect(relay.address()).await.unwrap();
        within("the request to be taken", socket.write_all(&bytes)).await.expect("no broken pipe");
        let mut answer = Vec::new();
        within("the answer", socket.read_to_end(&mut answer)).await.expect("no reset");
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains("server.max_body"), "{answer}");
        assert!(answer.to_ascii_lowercase().contains("connection: close"), "{answer}");
    }
    assert_eq!(a.count(), 0);
}
