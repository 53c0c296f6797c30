//! `cancelled`: cut by the relay or because of the client; the cause says which.

use shared::{Cause, RequestOutcome};
use tests::clock::{assert_fired, assert_within, eventually, ms, now};
use tests::provider::Step;
use tests::relay::tried;
use tests::{End, Exchange, Provider, Relay, Reply, Setup, client, openai};

#[tokio::test]
async fn client_gone_in_the_stream_closes_the_upstream() {
    let a = Provider::always(Reply::begins("one").words(&["x"; 100], ms(100)).stop()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let mut client = relay.open_stream().await;
    client.until_text("one").await;
    let left_at = client.hang_up();
    assert_within("the upstream's end", a.call(0).await.closed_after(left_at).await, ms(200));
    let detail = relay.newest().await;
    assert_eq!(tried(&detail), ["a first cancelled client_gone"]);
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Cancelled));
    assert_eq!(detail.request.cause, Some(Cause::ClientGone));
    assert_eq!(detail.attempts[0].stream_verdict, None);
    assert_eq!(b.count(), 0);
}

#[tokio::test]
async fn client_stalled_is_dropped_after_its_limit() {
    let big = openai::text(&"x".repeat(64 * 1024));
    let a = Provider::always(Reply::begins("one").step(Step::Flood(big.into_bytes()))).await;
    let relay = Relay::start(&Setup::over(&[&a]).server("client_write_timeout = \"700ms\"")).await;
    let bytes = client::request(
        relay.address(),
        "POST",
        "/v1/chat/completions",
        &[],
        Some(openai::ask("chat").to_string().as_bytes()),
    );
    let started = now();
    let stalled = Exchange::start_narrow(relay.address(), &bytes).await;
    let call = a.call(0).await;
    let dropped = call.closed_after(started).await;
    assert!(dropped >= ms(700), "dropped after {dropped:?}");
    let detail = relay.newest().await;
    assert_eq!(tried(&detail), ["a first cancelled client_stalled"]);
    assert_eq!(detail.request.cause, Some(Cause::ClientStalled));
    assert_eq!(detail.attempts[0].stream_verdict, None, "the relay was not reading");
    drop(stalled);
}

#[tokio::test]
async fn drain_lets_short_streams_end_and_cuts_long_ones() {
    let short = Reply::begins("short").words(&["er"; 4], ms(100)).stop();
    let long = Reply::begins("long").words(&["er"; 100], ms(100)).stop();
    let a = Provider::scripted(move |call| {
        let wants_short = call.json()["messages"][0]["content"] == "short";
        if wants_short { short.clone() } else { long.clone() }
    })
    .await;
    let mut relay = Relay::start(&Setup::over(&[&a]).server("drain = \"1s\"")).await;
    let say = |words: &str| {
        serde_json::json!({"model": "chat", "stream": true,
            "messages": [{"role": "user", "content": words}]})
    };
    let mut short = relay.open(&say("short")).await;
    let mut long = relay.open(&say("long")).await;
    short.until_text("short").await;
    long.until_text("long").await;
    let told_at = now();
    relay.terminate();

    let turned_away = eventually("new clients to be turned away", async || {
        let Ok(stream) = tokio::net::TcpStream::connect(relay.address()).await else {
            return Some(true);
        };
        let mut ask = Exchange::over(
            stream,
            &client::request(relay.address(), "GET", "/v1/models", &[], None),
        )
        .await;
        // A listener that is just going away may close what it has accepted, unanswered:
        // that is no word yet.
        while !ask.has_head() && ask.more().await {}
        if !ask.has_head() {
            return None;
        }
        (ask.head().await.status == 503).then_some(true)
    })
    .await;
    assert!(turned_away);

    short.finish().await.assert_good("shorterererer");
    let long = long.finish().await;
    long.assert_broken(&long.text());
    assert_fired("the drain", long.sent_at + long.end_at - told_at, ms(1000));
    assert_eq!(long.end, End::Proper);
    let status = relay.exited().await;
    assert_within("the relay's end", told_at.elapsed(), ms(2000));
    assert_eq!(status.code(), Some(0), "{}", relay.log());
    let relay = relay.restart().await;
    let detail = relay.journaled(&long.id()).await;
    assert_eq!(tried(&detail), ["a first cancelled drain"]);
    assert_eq!(detail.request.cause, Some(Cause::Drain));
}

#[tokio::test]
async fn drain_before_a_token_is_a_503() {
    let a = Provider::always(Reply::silent()).await;
    let mut relay = Relay::start(&Setup::over(&[&a]).server("drain = \"500ms\"")).await;
    let waiting = relay.open_stream().await;
    let call = a.call(0).await;
    relay.terminate();
    let answer = waiting.finish().await;
    answer.assert_error(503);
    call.closed().await;
    assert_eq!(relay.exited().await.code(), Some(0));
}

#[tokio::test]
async fn drain_ends_at_once_where_nothing_runs_or_on_a_second_signal() {
    let a = Provider::always(Reply::begins("one").hold()).await;
    let mut relay = Relay::start(&Setup::over(&[&a])).await;
    let told_at = now();
    relay.terminate();
    assert_eq!(relay.exited().await.code(), Some(0));
    assert_within("the end of an idle relay", told_at.elapsed(), ms(1000));

    let mut relay = Relay::start(&Setup::over(&[&a])).await;
    let mut stream = relay.open_stream().await;
    stream.until_text("one").await;
    relay.terminate();
    // The stream goes on while the relay drains: that is what is looked at.
    tokio::time::sleep(ms(200)).await;
    let told_at = now();
    relay.terminate();
    relay.exited().await;
    assert_within("the end after a second signal", told_at.elapsed(), ms(500));
}
