//! Strangers: whoever has no key, or sends nothing, keeps nobody out.

use sha2::Digest as _;
use std::fmt::Write as _;
use tests::clock::{allow, assert_within, eventually, ms, now, within};
use tests::openai::{ask, text};
use tests::{Exchange, Provider, Relay, Reply, Setup};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// So many connections, each with this sent on it.
async fn crowd(to: std::net::SocketAddr, count: usize, sent: &[u8]) -> Vec<TcpStream> {
    let mut crowd = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(to).await.unwrap();
        stream.write_all(sent).await.unwrap();
        crowd.push(stream);
    }
    crowd
}

const HALF: &[u8] = b"POST /v1/chat/completions HTTP/1.1\r\nHost: local";

#[tokio::test]
async fn c6_half_sent_heads_keep_no_client_out_and_end_no_stream() {
    let a = Provider::always(Reply::begins("one ").pause(ms(1500)).send(text("two")).stop()).await;
    // Sixteen connections in all.
    let relay = Relay::start(&Setup::over(&[&a]).server("max_requests = 8")).await;
    let mut running = relay.open_stream().await;
    running.until_text("one ").await;
    let _crowd = crowd(relay.address(), 200, HALF).await;
    let answer = relay.ask().await;
    answer.assert_good("one two");
    let first = answer.first_token_at().unwrap();
    assert_within("a request beside 200 half-sent heads", first, ms(1000));
    running.finish().await.assert_good("one two");
}

#[tokio::test]
async fn c6_idle_connections_keep_no_health_check_out() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a]).server("max_requests = 8")).await;
    let asked = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for address in [relay.admin(), relay.address()] {
        let _silent = crowd(address, 200, b"").await;
        let _asked = crowd(address, 200, asked).await;
        let begun = now();
        let answer = Exchange::start(address, asked).await.finish().await;
        assert_eq!(answer.status, 200);
        assert_within("a health check beside 400 idle connections", begun.elapsed(), ms(1500));
    }
}

#[tokio::test]
async fn c6_who_sends_nothing_is_closed_soon_and_a_client_between_requests_is_not() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut kept = relay.open_stream().await;
    while kept.more().await {}
    let begun = now();
    let mut strangers = crowd(relay.address(), 1, HALF).await;
    let mut bytes = Vec::new();
    within("the end of a silent one", strangers[0].read_to_end(&mut bytes)).await.unwrap();
    let took = begun.elapsed();
    assert!(took >= ms(9_500) && took < allow(ms(12_000)), "{took:?}");
    let body = ask("chat").to_string();
    let again = tests::client::request(
        relay.address(),
        "POST",
        "/v1/chat/completions",
        &[],
        Some(body.as_bytes()),
    );
    kept.then(&again).await.finish().await.assert_good("from A");
}

#[tokio::test]
async fn c6_the_right_token_is_taken_after_any_number_of_wrong_ones() {
    let a = Provider::always(Reply::text("from A")).await;
    let hash = sha2::Sha256::digest("RIGHT").iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let token = format!("{{ name = \"ana\", role = \"operator\", sha256 = \"{hash}\" }}");
    let relay = Relay::start(&Setup::over(&[&a]).admin(&format!("tokens = [{token}]"))).await;
    let status = async |token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        relay.admin_call("GET", "/admin/v1/board", &headers, None).await.status
    };
    eventually("a caller who is told to wait", async || {
        (status("WRONG").await == 429).then_some(())
    })
    .await;
    assert_eq!(status("RIGHT").await, 200);
    assert_eq!(status("WRONG").await, 429);
}

#[tokio::test]
async fn c8_a_rung_that_comes_while_a_body_does_is_not_that_requests() {
    let failing = || Reply::error(500, "broken", "server_error", &serde_json::Value::Null);
    let (a, b) = (Provider::always(failing()).await, Provider::always(failing()).await);
    let c = Provider::always(Reply::text("from C")).await;
    let no_hedge = "hedge = { enabled = false }\nretries = 0";
    let before = Setup::over(&[&a, &b]).ladder(no_hedge);
    let after = Setup::over(&[&a, &b, &c]).ladder(no_hedge);
    let relay = Relay::start(&after.clone().env("UNUSED", "1")).await;
    let journal = relay.journal_file();
    let reload = async |setup: &Setup, rev: f64| {
        std::fs::write(relay.config(), setup.toml(journal.to_str().unwrap())).unwrap();
        relay.signal("HUP");
        eventually("the new config", async || {
            (relay.metrics().await.value("belay_config_rev") > rev - 0.5).then_some(())
        })
        .await;
    };
    reload(&before, 2.0).await;
    let order = r#"{"id": "o", "reason": "a test", "rungs": ["b", "a"]}"#;
    let put = relay.admin_call(
        "PUT",
        "/admin/v1/ladders/chat/order",
        &[("if-match", "*")],
        Some(order.as_bytes()),
    );
    assert_eq!(put.await.status, 200);
    let body = ask("chat").to_string();
    let whole = tests::client::request(
        relay.address(),
        "POST",
        "/v1/chat/completions",
        &[],
        Some(body.as_bytes()),
    );
    let (first, rest) = whole.split_at(whole.len() - 10);
    let mut stream = TcpStream::connect(relay.address()).await.unwrap();
    stream.write_all(first).await.unwrap();
    eventually("the request to be there", async || {
        (relay.metrics().await.value("belay_requests_in_flight") > 0.5).then_some(())
    })
    .await;
    reload(&after, 3.0).await;
    let sent = now();
    let answer = Exchange::over(stream, rest).await.finish().await;
    assert_within("its end", sent.elapsed(), ms(1500));
    let tried = relay.journaled(&answer.id()).await;
    assert_eq!(tests::relay::tried(&tried), ["b first server_error", "a failover server_error"]);
    assert_eq!(c.count(), 0);
    // Whoever comes now has it.
    relay.ask().await.assert_good("from C");
}

#[tokio::test]
async fn c8_a_stream_ends_in_time_although_its_client_does_not_read() {
    let flood = tests::provider::Step::Flood(text(&"word ".repeat(200)).into_bytes());
    let a = Provider::always(Reply::begins("word ").step(flood)).await;
    let setup = Setup::over(&[&a]).clocks("total = \"2s\", stream_total = \"2s\"");
    let relay = Relay::start(&setup.server("client_write_timeout = \"20s\"")).await;
    let body = ask("chat").to_string();
    let asked = tests::client::request(
        relay.address(),
        "POST",
        "/v1/chat/completions",
        &[],
        Some(body.as_bytes()),
    );
    let client = Exchange::start_narrow(relay.address(), &asked).await;
    a.call(0).await;
    a.idle().await;
    tests::clock::assert_fired("the end of its call", client.sent_at().elapsed(), ms(2000));
    let ended = relay.newest().await;
    assert_ne!(ended.request.outcome, Some(shared::RequestOutcome::Ok));
    drop(client);
}
