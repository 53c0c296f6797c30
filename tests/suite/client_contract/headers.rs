//! The relay's own headers and its stamp.

use serde_json::Value;
use shared::RequestId;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

fn number(answer: &Answer, name: &str) -> u64 {
    let text = answer.header(name).unwrap_or_else(|| panic!("{name}: {:?}", answer.head));
    text.parse().unwrap_or_else(|_| panic!("{name}: {text:?}"))
}

#[tokio::test]
async fn a_stream_tells_who_answered_and_how_fast() {
    let a = Provider::always(Reply::error(500, "x", "server_error", &Value::Null)).await;
    let slow = Reply::text("from B").after(tests::clock::ms(200));
    let b = Provider::always(slow).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert!(answer.id().parse::<RequestId>().is_ok(), "{}", answer.id());
    assert_eq!(answer.header("x-belay-rung"), Some("b"));
    assert_eq!(number(&answer, "x-belay-attempts"), 2);
    assert_eq!(answer.header("x-belay-hedged"), Some("false"));
    assert!(number(&answer, "x-belay-ttft-ms") >= 200);
    assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    let kind = answer.header("content-type").unwrap();
    assert!(kind.starts_with("text/event-stream"), "{kind}");
    assert_eq!(answer.header("content-encoding"), None);
    assert_eq!(answer.header("x-should-retry"), None, "nothing to retry");
}

#[tokio::test]
async fn no_stream_is_compressed_whatever_the_client_accepts() {
    let a = Provider::always(Reply::text("plain")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let headers = [("Accept-Encoding", "gzip, br, zstd"), ("Accept", "application/json")];
    let answer = relay.send_with(&headers, &openai::ask("chat")).await;
    answer.assert_good("plain");
    assert_eq!(answer.header("content-encoding"), None);
}

#[tokio::test]
async fn the_stamp_stands_in_the_terminators_block() {
    let a = Provider::always(Reply::text("hello")).await;
    let price = "price = { input = 1.0, output = 2.0 }";
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", price)).await;
    let answer = relay.ask().await;
    let events = answer.events();
    let done = events.last().unwrap();
    assert_eq!(done.data.as_deref(), Some("[DONE]"));
    assert!(done.comment.as_ref().is_some_and(|text| text.starts_with("belay {")), "{done:?}");
    let stamp = answer.stamp().unwrap();
    assert_eq!(stamp["rung"], "a");
    assert_eq!(stamp["outcome"], "ok");
    assert_eq!(stamp["input_tokens"], 11);
    assert_eq!(stamp["output_tokens"], 3);
    assert!(stamp["latency_ms"].is_u64() && stamp["ttft_ms"].is_u64(), "{stamp}");
    assert_eq!(stamp["cost_usd"].as_f64(), Some(0.000_017), "11 × 1 + 3 × 2 millionths");
}

#[tokio::test]
async fn the_stamp_stands_in_an_error_events_block() {
    let a = Provider::always(Reply::begins("hello").cut()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_broken("hello");
    let events = answer.events();
    let last = events.last().unwrap();
    assert!(last.comment.as_ref().is_some_and(|text| text.starts_with("belay {")), "{last:?}");
    assert_eq!(answer.stamp().unwrap()["outcome"], "disconnect");
}

#[tokio::test]
async fn the_stamp_can_be_turned_off() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a]).server("stamp = false")).await;
    let answer = relay.ask().await;
    answer.assert_good("hello");
    assert_eq!(answer.stamp(), None);
    assert!(!answer.body_text().contains("belay"), "{}", answer.body_text());
}

#[tokio::test]
async fn every_final_error_tells_sdks_not_to_multiply_it() {
    for (status, told) in [(500, 502), (400, 400), (401, 502), (503, 503)] {
        let a = Provider::always(Reply::error(status, "x", "x", &Value::Null)).await;
        let relay = Relay::start(&Setup::over(&[&a]).ladder("fail_fast = true")).await;
        let answer = relay.ask().await;
        answer.assert_error(told);
        if answer.header("retry-after").is_none() {
            assert_eq!(answer.header("x-should-retry"), Some("false"), "{status}");
        }
    }
}
