//! Clocks that fire on healthy streams, and clocks that never fire on dead ones.

use super::client::{CLIENTS, Client};
use super::pair::{only_row, over_clocks, two};
use super::speech::{SPEECHES, Speech};
use tests::clock::{assert_fired, assert_within, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, fixture};

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
    let clocks = "ttft = \"1s\", inter_token = \"1s\", total = \"3s\", stream_total = \"3s\"";
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

/// The fixtures of preambles that nothing follows.
const PREAMBLES: [(&str, Speech); 2] = [
    ("B25-role-only-and-comments.sse", Speech::Chat),
    ("B25-preamble-and-pings.sse", Speech::Messages),
];

#[tokio::test]
async fn b25_preamble_only_is_abandoned_at_the_first_clock() {
    for (name, speech) in PREAMBLES {
        for client in CLIENTS {
            let (setup, a, b) = two((speech, Reply::fixture(name)), Speech::Chat).await;
            let relay = Relay::start(&setup.clocks("ttft = \"1s\"")).await;
            let answer = client.ask(&relay).await;
            // One beginning alone, which is B's: the client's reader counts them.
            client.assert_good(&answer, "from B");
            let failover_at = b.call(0).await.at;
            assert_fired("the first clock", failover_at - answer.sent_at, ms(1000));
            assert_within("A's end", a.call(0).await.closed_after(failover_at).await, ms(200));
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover ok"]);
            assert_eq!(detail.attempts[0].verdict, Some(shared::TokenVerdict::Bad));
        }
    }
}

#[tokio::test]
async fn b25_preamble_only_alone_is_a_504() {
    for (name, speech) in PREAMBLES {
        let (relay, _a) = over_clocks(speech, Reply::fixture(name), "ttft = \"1s\"").await;
        for client in CLIENTS {
            let answer = client.ask(&relay).await;
            client.assert_error(&answer, 504);
            assert_fired("the first clock", answer.end_at, ms(1000));
        }
    }
}

/// What keeps a stream of this dialect alive.
const fn ping(speech: Speech) -> &'static str {
    match speech {
        Speech::Messages => "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        _ => ": ping\n\n",
    }
}

/// Two words, then pings and nothing else.
fn pinging(speech: Speech) -> Reply {
    if speech == Speech::Messages {
        return fixture::reply("B26-pings-after-content.sse");
    }
    let mut reply = speech.begins("Two ").send(speech.text("words"));
    for _ in 0..30 {
        reply = reply.pause(ms(200)).send(ping(speech));
    }
    reply.hold()
}

#[tokio::test]
async fn b26_pings_do_not_hide_a_dead_stream() {
    for speech in SPEECHES {
        let a = Provider::always(pinging(speech)).await;
        let clocks = "ttft = \"2s\", inter_token = \"1s\"";
        let setup = Setup::over(&[&a]).dialect("a", speech.dialect()).clocks(clocks);
        let relay = Relay::start(&setup.server("heartbeat = \"300ms\"")).await;
        for (n, client) in CLIENTS.into_iter().enumerate() {
            let answer = client.ask(&relay).await;
            client.assert_broken(&answer, "Two words");
            let call = a.call(n).await;
            let token_at = call.wrote(usize::from(speech != Speech::Messages)).await;
            assert_fired("the second clock", answer.sent_at + answer.end_at - token_at, ms(1000));
            assert_eq!(answer.tried(), ["a stall"]);
            let row = only_row(&relay, &answer, "stall").await;
            assert_eq!(row.stream_verdict, Some(shared::StreamVerdict::Bad));
            let which = row.detail.unwrap_or_default();
            assert!(which.contains("1s") || which.contains("1 s"), "clock and value: {which:?}");
            let kept_alive = answer.beats();
            assert!(kept_alive >= 2, "{client:?} {speech:?}: kept alive {kept_alive} times");
        }
    }
}

#[tokio::test]
async fn b26_a_rung_may_let_pings_count() {
    for speech in [Speech::Chat, Speech::Messages, Speech::Gemini] {
        let a = Provider::always(pinging(speech)).await;
        let clocks =
            "ttft = \"1s\", inter_token = \"500ms\", total = \"2s\", stream_total = \"2s\"";
        let setup = Setup::over(&[&a]).dialect("a", speech.dialect()).clocks(clocks);
        let relay = Relay::start(&setup.rung("a", "pings_count = true")).await;
        for client in [Client::Chat, Client::Messages] {
            let answer = client.ask(&relay).await;
            client.assert_broken(&answer, "Two words");
            assert_eq!(answer.tried(), ["a deadline"]);
            assert_fired("the third clock", answer.end_at, ms(2000));
        }
    }
}

/// What a stall must be to a client: an error and the end of the body, on time.
async fn stalls(client: Client, speech: Speech, reply: Reply, words: &str) {
    let clocks = "ttft = \"2s\", inter_token = \"500ms\"";
    let (relay, a) = over_clocks(speech, reply, clocks).await;
    let answer = client.ask(&relay).await;
    client.assert_broken(&answer, words);
    let ended_at = answer.sent_at + answer.end_at;
    let token_at = a.call(0).await.wrote(0).await;
    assert_fired("the second clock", ended_at - token_at, ms(500));
    assert_within("the upstream's end", a.call(0).await.closed_after(ended_at).await, ms(200));
    only_row(&relay, &answer, "stall").await;
    assert_within("the final row", ended_at.elapsed(), ms(1000));
}

#[tokio::test]
async fn b28_a_stall_ends_the_body_and_closes_the_upstream() {
    for client in CLIENTS {
        let reply = Reply::fixture("B28-stall-after-content.sse");
        stalls(client, Speech::Chat, reply, "stuck here").await;
        for speech in [Speech::Messages, Speech::Responses, Speech::Gemini] {
            stalls(client, speech, speech.begins("stuck").hold(), "stuck").await;
        }
    }
}
