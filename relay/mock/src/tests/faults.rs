//! Each fault on a stream.

use std::time::Duration;

use serde_json::json;

use super::super::{Mock, MockOptions};
use super::client::{End, ask, watch};
use super::{ended, faulty, mock, question, with};

const SHORT: Duration = Duration::from_millis(150);

#[tokio::test]
async fn slow_first_token_sends_head_and_role_at_once() {
    let mock = faulty("slow_first_token:200").await;
    let reply = ask(mock.addr(), &question()).await;
    let (role, first) = (reply.chunks[0].0, reply.chunks[1].0);
    assert!(role < 150 && first >= 200, "role {role} ms, first token {first} ms");
    assert_eq!((reply.tokens().len(), reply.end), (6, End::Proper));
    let timings = mock.requests()[0].timings;
    assert!(timings.head_ms < Some(150) && timings.first_token_ms >= Some(200), "{timings:?}");
}

#[tokio::test]
async fn delay_head_holds_everything_back() {
    let mock = faulty("delay_head:200").await;
    assert_eq!(watch(mock.addr(), &question(), SHORT).await.head, "");
    let reply = ask(mock.addr(), &question()).await;
    assert!(reply.chunks[0].0 >= 200);
    assert_eq!((reply.tokens().len(), reply.end), (6, End::Proper));
}

#[tokio::test]
async fn hang_never_answers() {
    let mock = faulty("hang").await;
    let reply = watch(mock.addr(), &question(), SHORT).await;
    assert_eq!((reply.head.as_str(), reply.end), ("", End::Open));
    assert_eq!(ended(&mock).await, "client_gone after 0 events");
}

#[tokio::test]
async fn stall_falls_silent() {
    let mock = faulty("stall:3").await;
    let reply = watch(mock.addr(), &question(), SHORT).await;
    assert_eq!((reply.tokens().len(), reply.finish(), reply.end), (3, None, End::Open));
    assert_eq!(ended(&mock).await, "client_gone after 4 events");
    let report = mock.report();
    assert_eq!((report.disconnects, report.open_streams), (1, 0));
    assert_eq!(report.disconnected[0].events, 4);
}

#[tokio::test]
async fn cut_breaks_the_body() {
    for after in [0, 3, 99] {
        let mock = faulty(&format!("cut:{after}")).await;
        let reply = ask(mock.addr(), &question()).await;
        assert_eq!((reply.tokens().len(), reply.finish()), (after.min(6), None));
        assert_eq!(reply.end, End::Cut);
        assert_eq!(ended(&mock).await.split(' ').next(), Some("cut"));
    }
}

#[tokio::test]
async fn cut_loses_nothing_of_what_came_before_however_fast() {
    let fault = Some("cut:400".parse().unwrap());
    let none = Duration::ZERO;
    let options = MockOptions { fault, ttft: none, gap: none, tokens: 400, ..Default::default() };
    let mock = Mock::start(options).await.unwrap();
    let reply = ask(mock.addr(), &question()).await;
    assert_eq!((reply.tokens().len(), reply.end), (400, End::Cut));
}

#[tokio::test]
async fn end_early_ends_the_body_properly() {
    let mock = faulty("end_early:3").await;
    let reply = ask(mock.addr(), &question()).await;
    assert_eq!((reply.data().len(), reply.finish(), reply.end), (4, None, End::Proper));
    assert_eq!(ended(&mock).await, "end_early after 4 events");
}

#[tokio::test]
async fn error_frame_is_the_last_event() {
    let mock = faulty("error_frame:2:overloaded:Too many climbers").await;
    let reply = ask(mock.addr(), &question()).await;
    let error = &reply.events()[3]["error"];
    assert_eq!((reply.data().len(), reply.tokens().len()), (4, 2));
    assert_eq!((&error["type"], &error["code"]), (&json!("overloaded"), &json!("overloaded")));
    assert_eq!((&error["message"], reply.end), (&json!("Too many climbers"), End::Proper));
}

#[tokio::test]
async fn html_is_a_page() {
    let mock = faulty("html").await;
    let reply = ask(mock.addr(), &question()).await;
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(reply.body().starts_with("<!DOCTYPE html>"));
}

#[tokio::test]
async fn empty_stream_has_a_terminator_and_perhaps_a_finish() {
    let mock = faulty("empty_stream").await;
    assert_eq!(ask(mock.addr(), &question()).await.data(), ["[DONE]"]);
    mock.set_fault(Some("empty_stream:finish".parse().unwrap()));
    let reply = ask(mock.addr(), &question()).await;
    assert_eq!((reply.data().len(), reply.tokens().len()), (2, 0));
    assert_eq!(reply.finish().as_deref(), Some("stop"));
}

#[tokio::test]
async fn status_brings_header_and_body() {
    let mock = faulty("status:429:7").await;
    let reply = ask(mock.addr(), &question()).await;
    assert_eq!((reply.status(), reply.header("retry-after")), (429, Some("7")));
    assert_eq!(reply.json()["error"]["code"], "rate_limit_exceeded");
    assert_eq!(ended(&mock).await, "status 429");
    let own = json!({"fault": "status", "status": 529, "body": "busy"});
    let reply = ask(mock.addr(), &with(json!({"x_mock": own}))).await;
    assert_eq!((reply.status(), reply.body().as_str()), (529, "busy"));
    assert_eq!(reply.header("retry-after"), None);
    let own = json!({"fault": "status", "status": 500, "body": {"detail": [1]}});
    let reply = ask(mock.addr(), &with(json!({"x_mock": own}))).await;
    assert_eq!((reply.status(), reply.json()), (500, json!({"detail": [1]})));
}

#[tokio::test]
async fn drip_sends_single_bytes() {
    let mock = faulty("drip:0").await;
    let reply = ask(mock.addr(), &with(json!({"max_tokens": 1}))).await;
    assert!(reply.chunks.iter().all(|(_, chunk)| chunk.len() == 1));
    assert_eq!((reply.tokens().concat().as_str(), reply.end), ("This", End::Proper));
    mock.set_fault(Some("drip:20".parse().unwrap()));
    let reply = watch(mock.addr(), &question(), Duration::from_millis(300)).await;
    let body = reply.body();
    assert!((2..=15).contains(&body.len()) && body.starts_with("da"), "{body}");
}

#[tokio::test]
async fn malformed_is_broken_once_and_goes_on() {
    let mock = faulty("malformed:2").await;
    let reply = ask(mock.addr(), &question()).await;
    let data = reply.data();
    assert!(serde_json::from_str::<serde_json::Value>(&data[3]).is_err(), "{}", data[3]);
    assert_eq!((reply.tokens().len(), data.len(), data[9].as_str()), (6, 10, "[DONE]"));
}

#[tokio::test]
async fn pings_are_all_there_is() {
    let mock = faulty("pings:20").await;
    let reply = watch(mock.addr(), &question(), SHORT).await;
    let body = reply.body();
    assert!(body.split_inclusive("\n\n").all(|block| block == ": MOCK PROCESSING\n\n"));
    assert!((3..=9).contains(&reply.chunks.len()), "{}", reply.chunks.len());
    assert_eq!(ended(&mock).await, "client_gone after 0 events");
}

#[tokio::test]
async fn refuse_speaks_in_refusal_deltas() {
    let mock = faulty("refuse").await;
    let reply = ask(mock.addr(), &question()).await;
    let events = reply.events();
    let words = events.iter().filter_map(|e| e["choices"][0]["delta"]["refusal"].as_str());
    assert_eq!(words.collect::<String>(), "I'm sorry, but I can't help with that.");
    assert_eq!((reply.tokens().len(), reply.finish().as_deref()), (0, Some("stop")));
}

#[tokio::test]
async fn context_exceeded_is_told_by_its_code() {
    let mock = faulty("context_exceeded").await;
    let reply = ask(mock.addr(), &question()).await;
    assert_eq!(reply.status(), 400);
    assert_eq!(reply.json()["error"]["code"], "context_length_exceeded");
}

#[tokio::test]
async fn no_stream_options_minds_only_those() {
    let mock = faulty("no_stream_options").await;
    assert_eq!(ask(mock.addr(), &question()).await.tokens().len(), 6);
    let asking = with(json!({"stream_options": {"include_usage": true}}));
    let reply = ask(mock.addr(), &asking).await;
    assert_eq!(reply.status(), 400);
    assert!(reply.body().contains("stream_options"));
}

#[tokio::test]
async fn keep_open_lingers_after_the_terminator() {
    let mock = faulty("keep_open").await;
    let reply = watch(mock.addr(), &question(), SHORT).await;
    let data = reply.data();
    assert_eq!((data.last().map(String::as_str), reply.end), (Some("[DONE]"), End::Open));
    assert_eq!(ended(&mock).await, "done");
    assert_eq!(mock.report().disconnects, 0);
}

#[tokio::test]
async fn a_mock_that_is_dropped_takes_its_streams_along() {
    let mock = mock().await;
    let (addr, asking) = (mock.addr(), with(json!({"x_mock": "stall:1"})));
    let watching = tokio::spawn(async move { ask(addr, &asking).await });
    tokio::time::sleep(SHORT).await;
    drop(mock);
    let reply = watching.await.unwrap();
    assert_eq!((reply.tokens().len(), reply.end), (1, End::Cut));
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
}
