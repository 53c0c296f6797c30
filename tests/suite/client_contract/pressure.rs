//! A client that reads slowly slows its upstream, and nothing else.

use std::time::Duration;
use tests::clock::{assert_within, eventually, ms, now};
use tests::provider::{Call, Step};
use tests::{Exchange, Provider, Relay, Reply, Setup, client, openai};

const MIB: u64 = 1 << 20;

/// One event of about 64 KiB.
fn big() -> Vec<u8> {
    openai::text(&"x".repeat(64 * 1024)).into_bytes()
}

async fn narrow(relay: &Relay) -> Exchange {
    let body = openai::ask("chat").to_string();
    let path = "/v1/chat/completions";
    let bytes = client::request(relay.address(), "POST", path, &[], Some(body.as_bytes()));
    Exchange::start_narrow(relay.address(), &bytes).await
}

/// Waits until the provider has written nothing for a while.
async fn blocked(call: &Call) -> usize {
    let mut seen = (call.bytes_sent(), now());
    eventually("the upstream to be blocked", async || {
        let sent = call.bytes_sent();
        if sent != seen.0 {
            seen = (sent, now());
        }
        (seen.1.elapsed() > Duration::from_millis(400)).then_some(sent)
    })
    .await
}

#[tokio::test]
async fn a_client_that_does_not_read_blocks_its_upstream() {
    let a = Provider::always(Reply::begins("one").step(Step::Flood(big()))).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let before = relay.memory();
    let mut clients = Vec::new();
    for n in 0..4 {
        clients.push(narrow(&relay).await);
        a.call(n).await;
    }
    for n in 0..4 {
        let sent = blocked(&*a.call(n).await).await;
        assert!(sent < 20 << 20, "the upstream wrote {sent} bytes");
    }
    let grown = relay.memory().saturating_sub(before);
    assert!(grown < 4 * 2 * MIB + 8 * MIB, "the relay grew by {grown} bytes");
    // The block is lifted as the client reads on.
    let call = a.call(0).await;
    let before = call.bytes_sent();
    let mut first = clients.remove(0);
    while call.bytes_sent() == before {
        assert!(first.more().await);
    }
}

#[tokio::test]
async fn the_second_clock_stands_still_while_the_client_does_not_read() {
    let mut reply = Reply::begins("one");
    for _ in 0..400 {
        reply = reply.send(big());
    }
    let a = Provider::always(reply.stop()).await;
    let clocks = "ttft = \"2s\", inter_token = \"400ms\"";
    let relay = Relay::start(&Setup::over(&[&a]).clocks(clocks)).await;
    let mut client = narrow(&relay).await;
    client.head().await;
    blocked(&*a.call(0).await).await;
    // A client that reads nothing for this long.
    tokio::time::sleep(ms(800)).await;
    let answer = client.finish().await;
    assert_eq!(answer.error_object(), None);
    assert!(answer.saw_done());
    assert_eq!(answer.text().len(), 400 * 64 * 1024 + 3, "25 MiB, whole");
}

#[tokio::test]
async fn others_do_not_wait_for_a_client_that_does_not_read() {
    let flood = Reply::begins("one").step(Step::Flood(big()));
    let a = Provider::scripted(
        move |call| {
            if call.n == 0 { flood.clone() } else { Reply::text("quick") }
        },
    )
    .await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let _stuck = narrow(&relay).await;
    blocked(&*a.call(0).await).await;
    let answer = relay.ask().await;
    answer.assert_good("quick");
    assert_within("another request", answer.end_at, ms(300));
}
