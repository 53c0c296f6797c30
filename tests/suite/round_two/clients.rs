//! What real clients need beside the answer.

use serde_json::Value;
use tests::clock::ms;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

use crate::cases::client::{CLIENTS, Client};

/// What a client reads that looks at each line for itself, as Open WebUI does.
fn by_lines(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter(|data| data.trim() != "[DONE]").map(json).collect()
}

/// What a client reads that splits at blank lines, leaves out blocks that begin with a
/// comment, and takes the rest of a block for its data, as Dify does.
fn by_blocks(body: &str) -> Vec<Value> {
    let blocks = body.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let told = blocks.filter(|block| !block.starts_with(':'));
    let data = told.map(|block| block.strip_prefix("data:").unwrap_or(block).trim());
    data.filter(|data| *data != "[DONE]").map(|data| json(first_line(data))).collect()
}

fn first_line(data: &str) -> &str {
    data.lines().next().unwrap_or_default()
}

fn json(data: &str) -> Value {
    serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))
}

/// The text of a chat stream, however it was read.
fn text(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|one| one["choices"][0]["delta"]["content"].as_str()).collect()
}

/// Silent at first, so that the status goes out early, and between two words.
fn slow() -> Reply {
    Reply::begins("one ").after(ms(700)).words(&["two"], ms(700))
}

async fn beating(reply: Reply) -> (Relay, Provider) {
    let a = Provider::always(reply).await;
    let setup = Setup::over(&[&a]).server("early_headers = \"100ms\"\nheartbeat = \"150ms\"");
    (Relay::start(&setup.ladder("fail_fast = true")).await, a)
}

/// Fails unless there were heartbeats before the first word and between the two.
#[track_caller]
fn assert_beats(answer: &Answer) {
    let events = answer.events();
    let of = |event: &tests::client::Event| {
        event.beats + usize::from(event.event.as_deref() == Some("ping"))
    };
    assert!(of(&events[0]) > 0, "{}", answer.body_text());
    assert!(answer.beats() > 4, "{}", answer.body_text());
}

#[tokio::test]
async fn f1_no_block_is_without_data_and_no_event_is_hidden_by_a_comment() {
    let (relay, _a) = beating(slow().stop()).await;
    for client in CLIENTS {
        // `events` fails on a block without data.
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "one two");
        assert_beats(&answer);
        assert_eq!(answer.stamp().unwrap()["outcome"], "ok", "{client:?}");
        if client == Client::Chat {
            let body = answer.body_text();
            assert_eq!(text(&by_lines(body)), "one two");
            assert_eq!(text(&by_blocks(body)), "one two", "{body}");
        }
    }
}

#[tokio::test]
async fn f1_an_error_is_seen_by_whoever_reads_the_stream() {
    let (relay, _a) = beating(slow().pause(ms(400)).cut()).await;
    for client in CLIENTS {
        let answer = client.ask(&relay).await;
        client.assert_broken(&answer, "one two");
        assert_beats(&answer);
        assert_eq!(answer.stamp().unwrap()["outcome"], "disconnect", "{client:?}");
        if client == Client::Chat {
            for read in [by_lines, by_blocks] {
                let told = read(answer.body_text());
                assert_eq!(text(&told), "one two");
                assert!(told.last().unwrap()["error"]["message"].is_string(), "{told:?}");
            }
        }
    }
}

#[tokio::test]
async fn f1_what_ends_the_heartbeats_says_nothing() {
    let (relay, _a) = beating(slow().stop()).await;
    let answer = relay.send(&openai::ask("chat")).await;
    let chunks = answer.chunks();
    let is_idle = |chunk: &&Value| chunk["id"].as_str().is_some_and(|id| id.contains("req_"));
    let idle: Vec<_> = chunks.iter().filter(is_idle).collect();
    assert_eq!(idle.len(), 2, "one for each silence: {}", answer.body_text());
    for chunk in idle {
        assert_eq!(chunk["model"], "chat", "{chunk}");
        assert_eq!(chunk["choices"][0]["delta"], serde_json::json!({}), "{chunk}");
        assert!(chunk["choices"][0]["finish_reason"].is_null(), "{chunk}");
    }
    assert_eq!(answer.finish_reasons(), ["stop"]);
}
