//! Clocks that fire on healthy streams, and clocks that never fire on dead ones.

use tests::clock::{assert_fired, assert_within, ms};
use tests::relay::tried;
use tests::{End, Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn b24_a_steady_stream_outlives_every_clock_but_the_total() {
    let a = Provider::always(Reply::fixture("B24-steady.sse")).await;
    let clocks = "ttft = \"1s\", inter_token = \"1s\", total = \"60s\"";
    let setup = Setup::over(&[&a]).clocks(clocks).provider("a", "connect = \"2s\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    let words: String = (0..60).map(|n| format!("w{n:02} ")).collect();
    answer.assert_good(&words);
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}

#[tokio::test]
async fn b24_the_total_clock_ends_it_on_time_and_by_name() {
    let a = Provider::always(Reply::fixture("B24-steady.sse")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let clocks = "ttft = \"1s\", inter_token = \"1s\", total = \"3s\"";
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks(clocks)).await;
    let answer = relay.ask().await;
    answer.assert_broken(&answer.text());
    assert_fired("the third clock", answer.end_at, ms(3000));
    let words = answer.text().split_whitespace().count();
    assert!((15..=30).contains(&words), "{words} words in 3 s");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first deadline"]);
    assert_eq!(detail.attempts[0].stream_verdict, None, "the rung was healthy");
    assert_eq!(b.count(), 0);
}

#[tokio::test]
async fn b25_preamble_only_is_abandoned_at_the_first_clock() {
    let a = Provider::always(Reply::fixture("B25-role-only-and-comments.sse")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"1s\"")).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!(answer.roles(), 1);
    let failover_at = b.call(0).await.at;
    assert_fired("the first clock", failover_at - answer.sent_at, ms(1000));
    assert_within("A's end", a.call(0).await.closed_after(failover_at).await, ms(200));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover ok"]);
    assert_eq!(detail.attempts[0].verdict, Some(shared::TokenVerdict::Bad));
}

#[tokio::test]
async fn b25_preamble_only_alone_is_a_504() {
    let a = Provider::always(Reply::fixture("B25-role-only-and-comments.sse")).await;
    let relay = Relay::start(&Setup::over(&[&a]).clocks("ttft = \"1s\"")).await;
    let answer = relay.ask().await;
    answer.assert_error(504);
    assert_fired("the first clock", answer.end_at, ms(1000));
}

/// Two words, then pings and nothing else.
fn pinging() -> Reply {
    let mut reply = Reply::begins("Two ").send(openai::text("words"));
    for _ in 0..30 {
        reply = reply.pause(ms(200)).send(": ping\n\n");
    }
    reply.hold()
}

#[tokio::test]
async fn b26_pings_do_not_hide_a_dead_stream() {
    let a = Provider::always(pinging()).await;
    let clocks = "ttft = \"2s\", inter_token = \"1s\"";
    let setup = Setup::over(&[&a]).clocks(clocks).server("heartbeat = \"300ms\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_broken("Two words");
    let token_at = a.call(0).await.wrote(1).await;
    assert_fired("the second clock", answer.sent_at + answer.end_at - token_at, ms(1000));
    assert_eq!(answer.tried(), ["a stall"]);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.attempts[0].stream_verdict, Some(shared::StreamVerdict::Bad));
    let which = detail.attempts[0].detail.as_deref().unwrap_or_default();
    assert!(which.contains("1s") || which.contains("1 s"), "the clock and its value: {which:?}");
    let kept_alive = answer
        .events()
        .iter()
        .filter(|event| event.comment.as_ref().is_some_and(|text| !text.starts_with("belay ")))
        .count();
    assert!(kept_alive >= 2, "the client is kept alive meanwhile: {kept_alive}");
}

#[tokio::test]
async fn b26_a_rung_may_let_pings_count() {
    let a = Provider::always(pinging()).await;
    let clocks = "ttft = \"1s\", inter_token = \"500ms\", total = \"2s\"";
    let setup = Setup::over(&[&a]).clocks(clocks).rung("a", "pings_count = true");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_broken("Two words");
    assert_eq!(answer.tried(), ["a deadline"]);
    assert_fired("the third clock", answer.end_at, ms(2000));
}

#[tokio::test]
async fn b28_a_stall_ends_the_body_and_closes_the_upstream() {
    let a = Provider::always(Reply::fixture("B28-stall-after-content.sse")).await;
    let clocks = "ttft = \"2s\", inter_token = \"500ms\"";
    let relay = Relay::start(&Setup::over(&[&a]).clocks(clocks)).await;
    let answer = relay.ask().await;
    answer.assert_broken("stuck here");
    assert_eq!(answer.end, End::Proper);
    let ended_at = answer.sent_at + answer.end_at;
    let token_at = a.call(0).await.wrote(0).await;
    assert_fired("the second clock", ended_at - token_at, ms(500));
    assert_within("the upstream's end", a.call(0).await.closed_after(ended_at).await, ms(200));
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first stall"]);
    assert_within("the final row", ended_at.elapsed(), ms(1000));
}
