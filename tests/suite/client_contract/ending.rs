//! When bytes leave: endings in one write, no gluing, signs of life.

use serde_json::{Value, json};
use tests::clock::{assert_fired, assert_within, ms};
use tests::relay::tried;
use tests::{End, Provider, Relay, Reply, Setup, client, openai};

#[tokio::test]
async fn finish_usage_stamp_and_terminator_leave_in_one_write() {
    let reply = Reply::begins("hello")
        .pause(ms(100))
        .send(openai::finish("stop"))
        .pause(ms(3))
        .send(openai::usage(11, 3))
        .pause(ms(3))
        .send(openai::DONE);
    let a = Provider::always(reply).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let asked = json!({"stream_options": {"include_usage": true}});
    let answer = relay.send(&openai::with(openai::ask("chat"), &asked)).await;
    answer.assert_good("hello");
    let events = answer.events();
    let [.., text, finish, usage, done] = events.as_slice() else {
        panic!("{}", answer.body_text())
    };
    assert!(finish.data.as_ref().is_some_and(|data| data.contains("\"stop\"")), "{finish:?}");
    assert!(usage.data.as_ref().is_some_and(|data| data.contains("prompt_tokens")), "{usage:?}");
    assert!(done.comment.is_some());
    assert_eq!([finish.at, usage.at], [done.at; 2], "in one read");
    assert!(text.at < finish.at, "text is not held back for it");
}

#[tokio::test]
async fn the_body_ends_at_once_though_the_upstream_lingers() {
    let reply = Reply::sse(openai::stream("hello")).hold();
    let a = Provider::always(reply).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_good("hello");
    assert_eq!(answer.end, End::Proper);
    let wrote_at = a.call(0).await.wrote(0).await;
    let ended_at = answer.sent_at + answer.end_at;
    assert_within("the end of the body", ended_at - wrote_at, ms(100));
    let done_at = answer.events().last().unwrap().at;
    assert_within("the end after the terminator", answer.end_at - done_at, ms(50));
    a.call(0).await.closed().await;
}

#[tokio::test]
async fn a_client_that_leaves_at_the_terminator_has_succeeded() {
    let a = Provider::always(Reply::begins("hello").pause(ms(30)).stop()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for reset in [false, true, false, true] {
        let mut client = relay.open_stream().await;
        let id = client.head().await.header("x-belay-request-id").unwrap().to_owned();
        while client.events().last().is_none_or(|event| event.data.as_deref() != Some("[DONE]")) {
            if !client.more().await {
                break;
            }
        }
        let _ = if reset { client.reset() } else { client.hang_up() };
        let detail = relay.journaled(&id).await;
        assert_eq!(tried(&detail), ["a first ok"]);
        assert_eq!(detail.request.outcome, Some(shared::RequestOutcome::Ok));
    }
}

#[tokio::test]
async fn chunks_that_came_apart_are_not_glued_and_none_waits_for_the_next() {
    let words = ["a"; 30];
    let a = Provider::always(Reply::begins("a").words(&words, ms(30)).stop()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    assert!(answer.saw_done());
    let call = a.call(0).await;
    let mut delays = Vec::new();
    let texts: Vec<_> = answer
        .events()
        .into_iter()
        .filter(|event| event.data.as_ref().is_some_and(|data| data.contains("\"content\":\"a\"")))
        .collect();
    assert_eq!(texts.len(), 31);
    for (n, event) in texts.iter().enumerate().skip(1) {
        let wrote_at = call.wrote(n).await;
        delays.push((answer.sent_at + event.at).saturating_duration_since(wrote_at));
    }
    delays.sort_unstable();
    // Nagle against delayed acknowledgements would show as 40 ms.
    assert_within("the median delay", delays[delays.len() / 2], ms(20));
}

#[tokio::test]
async fn early_headers_and_heartbeats_keep_a_waiting_client() {
    let a = Provider::always(Reply::text("at last").after(ms(1200))).await;
    let setup = Setup::over(&[&a]).server("early_headers = \"300ms\"\nheartbeat = \"200ms\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("at last");
    assert_fired("the early headers", answer.head_at, ms(300));
    let before_text = answer.events()[0].beats;
    assert!(before_text >= 3, "heartbeats while waiting: {before_text}");
}

#[tokio::test]
async fn heartbeats_go_on_in_a_committed_stream() {
    let a = Provider::always(Reply::begins("one ").words(&["two"], ms(900)).stop()).await;
    let relay = Relay::start(&Setup::over(&[&a]).server("heartbeat = \"200ms\"")).await;
    let answer = relay.ask().await;
    answer.assert_good("one two");
    let beats = answer.beats();
    assert!((3..=5).contains(&beats), "{beats} in 900 ms");
}

#[tokio::test]
async fn a_failure_after_early_headers_is_an_error_event() {
    let a = Provider::always(Reply::silent()).await;
    let setup = Setup::over(&[&a])
        .server("early_headers = \"200ms\"\nheartbeat = \"10s\"")
        .clocks("ttft = \"600ms\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_broken("");
    assert_fired("the early headers", answer.head_at, ms(200));
    assert_fired("the first clock", answer.end_at, ms(600));
    assert_eq!(answer.tried(), ["a ttft_timeout"]);
}

#[tokio::test]
async fn without_early_headers_an_error_is_a_real_status() {
    let a = Provider::always(Reply::error(500, "x", "x", &Value::Null).after(ms(500))).await;
    let setup = Setup::over(&[&a]).ladder("fail_fast = true");
    let relay = Relay::start(&setup).await;
    relay.ask().await.assert_error(502);
}

#[tokio::test]
async fn several_requests_share_a_connection() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let body = openai::ask("chat").to_string();
    let path = "/v1/chat/completions";
    let bytes = client::request(relay.address(), "POST", path, &[], Some(body.as_bytes()));
    let mut exchange = client::Exchange::start(relay.address(), &bytes).await;
    for _ in 0..3 {
        exchange = exchange.then(&bytes).await;
    }
    exchange.finish().await.assert_good("hello");
    assert_eq!(a.count(), 4);
}
