//! The clients: most ask and read, some leave, some stall, some send nonsense.

use super::ledger::{Ledger, Seen};
use fastrand::Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tests::client::{End, request};
use tests::clock::{ms, now};
use tests::{Answer, Exchange, Relay, openai};
use tokio::io::AsyncWriteExt as _;

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads a stream to its end.
    Stream,
    /// Reads one JSON answer.
    Whole,
    /// The same as `Stream` in Anthropic's dialect.
    Messages,
    /// The same in OpenAI's newer one.
    Responses,
    /// Reads a stream a few bytes at a time.
    Slow,
    /// Leaves in the middle.
    Leaves,
    /// Sends what is no request.
    Hostile,
    /// Sends half a request, and waits.
    Half,
}

const KINDS: [(Kind, u8); 8] = [
    (Kind::Stream, 25),
    (Kind::Whole, 15),
    (Kind::Messages, 15),
    (Kind::Responses, 15),
    (Kind::Slow, 4),
    (Kind::Leaves, 10),
    (Kind::Hostile, 12),
    (Kind::Half, 4),
];

fn kind(rng: &mut Rng) -> Kind {
    let mut left = rng.u8(..100);
    for (kind, share) in KINDS {
        if left < share {
            return kind;
        }
        left -= share;
    }
    Kind::Stream
}

/// One client until `until`.
pub async fn client(relay: Arc<Relay>, ledger: Arc<Ledger>, mut rng: Rng, until: Instant) {
    while now() < until {
        let kind = kind(&mut rng);
        one(&relay, &ledger, &mut rng, kind).await;
        tokio::time::sleep(ms(rng.u64(0..40))).await;
    }
}

/// One thing that a client does.
pub async fn one(relay: &Relay, ledger: &Ledger, rng: &mut Rng, kind: Kind) {
    match kind {
        Kind::Stream => {
            let answer = relay.send(&openai::ask("chat")).await;
            ledger.saw(kind, &answer, chat(&answer));
        }
        Kind::Whole => {
            let answer = relay.send(&openai::ask_whole("chat")).await;
            ledger.saw(kind, &answer, whole(&answer));
        }
        Kind::Messages => {
            let body = json!({"model": "chat", "max_tokens": 99, "stream": true,
                "messages": [{"role": "user", "content": "Say something."}]});
            let body = body.to_string();
            let answer = relay.call("POST", "/v1/messages", &[], Some(body.as_bytes())).await;
            ledger.saw(kind, &answer, messages(&answer));
        }
        Kind::Responses => {
            let body = json!({"model": "chat", "store": false, "stream": true,
                "input": "Say something."});
            let body = body.to_string();
            let answer = relay.call("POST", "/v1/responses", &[], Some(body.as_bytes())).await;
            ledger.saw(kind, &answer, responses(&answer));
        }
        Kind::Slow => {
            let mut exchange = relay.open_stream().await;
            while exchange.more_at_most(rng.usize(1..200)).await {
                tokio::time::sleep(ms(rng.u64(0..10))).await;
            }
            let answer = exchange.finish().await;
            ledger.saw(kind, &answer, chat(&answer));
        }
        Kind::Leaves => {
            let mut exchange = relay.open_stream().await;
            let stays = ms(rng.u64(0..400));
            let _left = tokio::time::timeout(stays, async { while exchange.more().await {} }).await;
            let _at = if rng.bool() { exchange.reset() } else { exchange.hang_up() };
            ledger.count("left");
        }
        Kind::Hostile => {
            let bytes = nonsense(relay, rng);
            let mut exchange = Exchange::start(relay.address(), &bytes).await;
            // Some of it is never whole, and so never answered.
            let read = async { while exchange.more().await {} };
            let _no_answer = tokio::time::timeout(ms(700), read).await;
            ledger.count("hostile");
        }
        Kind::Half => {
            let body = openai::ask("chat").to_string();
            let body = Some(body.as_bytes());
            let whole = request(relay.address(), "POST", "/v1/chat/completions", &[], body);
            let half = whole[..rng.usize(1..whole.len())].to_vec();
            if let Ok(mut stream) = tokio::net::TcpStream::connect(relay.address()).await {
                let _refused = stream.write_all(&half).await;
                tokio::time::sleep(ms(rng.u64(0..2000))).await;
            }
            ledger.count("half");
        }
    }
}

fn nonsense(relay: &Relay, rng: &mut Rng) -> Vec<u8> {
    let post = |headers: &[(&str, &str)], body: &[u8]| {
        request(relay.address(), "POST", "/v1/chat/completions", headers, Some(body))
    };
    match rng.u8(..9) {
        0 => (0..rng.usize(1..4000)).map(|_| rng.u8(..)).collect(),
        1 => post(&[], b"{"),
        2 => post(&[], "[".repeat(50_000).as_bytes()),
        3 => post(&[("content-length", "99999999999")], b"{}"),
        4 => {
            let mut chunks = Vec::new();
            for _ in 0..20_000 {
                chunks.extend_from_slice(b"1\r\nx\r\n");
            }
            post(&[("transfer-encoding", "chunked")], &chunks)
        }
        5 => post(&[("x-long", &"y".repeat(60_000))], b"{}"),
        6 => request(relay.address(), "DELETE", "/v1/nothing", &[], None),
        7 => post(&[("content-type", "text/plain")], b"hello"),
        _ => {
            let huge = json!({"model": "chat", "stream": true,
                "messages": [{"role": "user", "content": "z".repeat(900_000)}]});
            post(&[], huge.to_string().as_bytes())
        }
    }
}

/// The data lines of a stream, as JSON where they are.
fn data(answer: &Answer) -> Vec<Value> {
    let text = String::from_utf8_lossy(&answer.body);
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| json!(line))).collect()
}

fn error(answer: &Answer) -> Seen {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if body["error"]["message"].is_string() {
        Seen::Failed
    } else {
        Seen::Wrong("an error without words".to_owned())
    }
}

fn ended(answer: &Answer, whole: bool, broken: bool, text: String) -> Seen {
    match (broken, whole) {
        (true, false) => Seen::Broken,
        (true, true) => Seen::Wrong("an end and an error".to_owned()),
        (false, true) => Seen::Whole(text),
        // A connection that breaks off is no ending, and no lie either.
        (false, false) if answer.end != End::Proper => Seen::Cut,
        (false, false) => Seen::Wrong("neither an end nor an error".to_owned()),
    }
}

fn chat(answer: &Answer) -> Seen {
    if answer.status != 200 {
        return error(answer);
    }
    let data = data(answer);
    let text = |chunk: &Value| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned);
    let whole = data.iter().any(|chunk| chunk == "[DONE]");
    let broken = data.iter().any(|chunk| chunk.get("error").is_some());
    ended(answer, whole, broken, data.iter().filter_map(text).collect())
}

fn messages(answer: &Answer) -> Seen {
    if answer.status != 200 {
        return error(answer);
    }
    let data = data(answer);
    let text = |event: &Value| event["delta"]["text"].as_str().map(str::to_owned);
    let is = |kind: &str| data.iter().any(|event| event["type"] == kind);
    ended(answer, is("message_stop"), is("error"), data.iter().filter_map(text).collect())
}

fn responses(answer: &Answer) -> Seen {
    if answer.status != 200 {
        return error(answer);
    }
    let data = data(answer);
    let is =
        |kinds: &[&str]| data.iter().any(|event| kinds.iter().any(|kind| event["type"] == *kind));
    let deltas = data.iter().filter(|event| event["type"] == "response.output_text.delta");
    let text = deltas.filter_map(|event| event["delta"].as_str()).collect();
    let broken = is(&["error", "response.failed", "response.incomplete"]);
    ended(answer, is(&["response.completed"]), broken, text)
}

fn whole(answer: &Answer) -> Seen {
    if answer.status != 200 {
        return error(answer);
    }
    match serde_json::from_slice::<Value>(&answer.body) {
        Ok(body) => {
            let text = body["choices"][0]["message"]["content"].as_str().unwrap_or_default();
            Seen::Whole(text.to_owned())
        }
        Err(_) if answer.end != End::Proper => Seen::Cut,
        Err(error) => Seen::Wrong(format!("no JSON: {error}")),
    }
}

/// How long the longest of these takes: the `total` of the relay's ladders, and some.
pub const LONGEST: Duration = Duration::from_secs(15);
