//! Every rule of the wire formats that readers and writers must keep, on streams
//! written by hand: one row per rule, and nothing that must be there beside the
//! checkout.
//!
//! A row says in one line what is heard: the pieces in their order, why it finished,
//! what it cost, which event held the first token, what is odd, and how it ended.

mod aggregate;
mod between;
mod bounds;
mod endings;
mod errors;
mod life;
mod read_anthropic;
mod read_chat;
mod read_chat_calls;
mod read_gemini;
mod read_responses;
mod replay;
mod taken_back;
mod through;
mod unknown;
mod whole;
mod write;

use crate::neutral::{Finish, Piece, Signed, decode};
use crate::stream::facts::{AnswerSpec, End, Form};
use crate::tests::normal::{Normal, read, read_whole};
use crate::tests::{Told, spec, tell_every_way};
use serde_json::{Value, json};
use shared::Dialect;
use std::fmt::Write as _;

const CHAT: Dialect = Dialect::OpenaiChat;
const MESSAGES: Dialect = Dialect::AnthropicMessages;
const RESPONSES: Dialect = Dialect::OpenaiResponses;
const GEMINI: Dialect = Dialect::Gemini;

/// What clients speak.
const CLIENTS: [Dialect; 3] = [CHAT, MESSAGES, RESPONSES];

/// The id that is made of the request in [`spec`].
fn request() -> String {
    shared::RequestId::from_number(7).to_string()
}

/// One rule: its name, the stream, and what is read from it.
type Row<'r> = (&'r str, String, &'r str);

/// Events without names.
fn data(payloads: &[&str]) -> String {
    payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect()
}

/// Events under the names that their types are.
fn named(payloads: &[&str]) -> String {
    let event = |payload: &&str| {
        let json: Value = serde_json::from_str(payload).unwrap();
        format!("event: {}\ndata: {payload}\n\n", json["type"].as_str().unwrap())
    };
    payloads.iter().map(event).collect()
}

/// A chat chunk.
fn chunk(choice: &str) -> String {
    data(&[&format!(
        r#"{{"id":"c-1","object":"chat.completion.chunk","created":5,"model":"m-1","choices":[{choice}]}}"#
    )])
}

/// A chat chunk with this in its delta.
fn delta(members: &str) -> String {
    chunk(&format!(r#"{{"index":0,"delta":{{{members}}},"finish_reason":null}}"#))
}

fn said(text: &str) -> String {
    delta(&format!(r#""content":"{text}""#))
}

/// A chat chunk with these entries of `tool_calls`.
fn calls(entries: &str) -> String {
    delta(&format!(r#""tool_calls":[{entries}]"#))
}

fn finish(reason: &str) -> String {
    chunk(&format!(r#"{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}"#))
}

const DONE: &str = "data: [DONE]\n\n";

/// An Anthropic stream: its start, `events`, its end for this reason.
fn message(events: &[&str], reason: &str) -> String {
    format!(
        "{}{}{}",
        named(&[
            r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}"#
        ]),
        named(events),
        named(&[
            &format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":5}}}}"#
            ),
            r#"{"type":"message_stop"}"#
        ])
    )
}

/// The events of one Anthropic block.
fn block(index: u32, block: &str, deltas: &[&str]) -> Vec<String> {
    let start =
        format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#);
    let delta = |delta: &&str| {
        format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
    };
    let stop = format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    std::iter::once(start).chain(deltas.iter().map(delta)).chain([stop]).collect()
}

/// An Anthropic stream of these blocks.
fn blocks(all: &[Vec<String>], reason: &str) -> String {
    let events: Vec<&str> = all.iter().flatten().map(String::as_str).collect();
    message(&events, reason)
}

/// A stream of responses: its start, `events`, its end.
fn response(events: &[&str], status: &str) -> String {
    let start =
        r#""id":"resp_1","object":"response","model":"m-1","status":"in_progress","output":[]"#;
    let usage = r#""usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}"#;
    format!(
        "{}{}{}",
        named(&[
            &format!(r#"{{"type":"response.created","response":{{{start}}}}}"#),
            &format!(r#"{{"type":"response.in_progress","response":{{{start}}}}}"#)
        ]),
        named(events),
        named(&[&format!(
            r#"{{"type":"response.{status}","response":{{"id":"resp_1","object":"response","model":"m-1","status":"{status}",{usage}}}}}"#
        )])
    )
}

/// A Gemini chunk with these parts.
fn parts(parts: &str) -> String {
    candidate(&format!(r#"{{"content":{{"role":"model","parts":[{parts}]}},"index":0}}"#))
}

fn candidate(candidate: &str) -> String {
    let response =
        format!(r#"{{"candidates":[{candidate}],"modelVersion":"m-1","responseId":"r-1"}}"#);
    format!("data: {response}\r\n\r\n")
}

/// A Gemini chunk that ends the answer.
fn ended(reason: &str) -> String {
    candidate(&format!(r#"{{"content":{{"role":"model","parts":[]}},"finishReason":"{reason}"}}"#))
}

/// What was read, in one line.
fn short(normal: &Normal) -> String {
    let mut fields: Vec<String> = Vec::new();
    let pieces: Vec<String> = normal.answer.pieces.iter().map(piece).collect();
    fields.push(if pieces.is_empty() { "nothing".to_owned() } else { pieces.join(" ") });
    let facts = &normal.facts;
    if let Some(finish) = normal.answer.finish {
        let sequence = normal.answer.stop_sequence.as_deref();
        fields
            .push(sequence.map_or_else(|| format!("{finish:?}"), |at| format!("{finish:?} {at}")));
    }
    let usage = facts.usage;
    let counts = [
        (usage.input, "in"),
        (usage.output, "out"),
        (usage.cached, "cached"),
        (usage.cache_write, "written"),
        (usage.reasoning, "thought"),
    ];
    let counts: Vec<_> =
        counts.iter().filter_map(|(n, of)| n.map(|n| format!("{n} {of}"))).collect();
    if !counts.is_empty() {
        fields.push(counts.join(" "));
    }
    if let Some(at) = normal.first_token {
        fields.push(format!("@{at}"));
    }
    fields.extend(odd(normal));
    fields.push(end(normal.end.as_ref()));
    fields.join(" | ")
}

fn piece(piece: &Piece) -> String {
    let proof = |proof: &Option<String>| {
        proof.as_ref().map_or_else(String::new, |proof| format!("^{}", decode(proof)))
    };
    match piece {
        Piece::Text(text) => format!("text({})", decode(text)),
        Piece::Refusal(text) => format!("no({})", decode(text)),
        Piece::Redacted(data) => format!("redacted({})", decode(data)),
        Piece::Reasoning { text, signature } => {
            format!("think({}{})", decode(text), proof(signature))
        }
        Piece::Call { id, name, arguments, custom, signature, .. } => {
            let kind = if *custom { "custom" } else { "call" };
            let id = decode(id).replace(&request(), "REQ");
            let (name, arguments) = (decode(name), decode(arguments));
            format!("{kind}({id} {name} {arguments}{})", proof(signature))
        }
    }
}

/// What is not yet in the rest of the line.
fn odd(normal: &Normal) -> Vec<String> {
    let (facts, finish) = (&normal.facts, normal.answer.finish);
    let mut odd = Vec::new();
    let mut note = |is_odd: bool, what: &str| is_odd.then(|| odd.push(what.to_owned()));
    let filtered = matches!(finish, Some(Finish::ContentFilter | Finish::Refusal));
    note(facts.refused != (filtered || !normal.refusal.is_empty()), "refused?");
    note(facts.length != (finish == Some(Finish::Length)), "length?");
    note(facts.finish != finish.map(Finish::as_str), &format!("{:?}", facts.finish));
    note(facts.tool_open, "open");
    note(facts.dropped > 0, &format!("{} dropped", facts.dropped));
    note(facts.done, "done");
    let calls = normal.calls.iter().map(|[_, name, arguments]| name.len() + arguments.len());
    let texts = normal.text.len() + normal.reasoning.len() + normal.refusal.len();
    let bytes = calls.sum::<usize>() + texts;
    note(facts.text_bytes != bytes as u64, &format!("{} bytes", facts.text_bytes));
    odd
}

fn end(end: Option<&End>) -> String {
    match end {
        None => "no end".to_owned(),
        Some(End::Proper) => "proper".to_owned(),
        Some(End::Cut) => "cut".to_owned(),
        Some(End::TooLarge { limit }) => format!("over {limit}"),
        Some(End::Broken(how)) => format!("broken: {how}"),
        Some(End::Error(error)) => {
            let mut text = "error".to_owned();
            for part in [&error.kind, &error.code, &error.param].into_iter().flatten() {
                let _ = write!(text, " {part}");
            }
            if let Some(status) = error.status {
                let _ = write!(text, " {status}");
            }
            let _ = write!(text, ": {}", error.message);
            text
        }
    }
}

/// Reads every row in every cut, and translates what is whole for every client.
fn check(from: Dialect, rows: &[Row<'_>]) {
    let mut wrong = String::new();
    for (name, stream, expected) in rows {
        let normal = read(from, stream.as_bytes());
        let got = short(&normal);
        if got != *expected {
            let _ = writeln!(wrong, "{name}\n  got      {got}\n  expected {expected}");
        }
        assert_eq!(normal.facts.content, normal.first_token.is_some(), "{name}");
        if normal.end == Some(End::Proper) {
            between::same_for_every_client(name, from, stream.as_bytes(), &normal);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The same for answers that are one JSON body.
fn check_whole(from: Dialect, rows: &[Row<'_>]) {
    let mut wrong = String::new();
    for (name, body, expected) in rows {
        let got = short(&read_whole(from, body.as_bytes()));
        if got != *expected {
            let _ = writeln!(wrong, "{name}\n  got      {got}\n  expected {expected}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// What a client gets of a stream.
fn towards(from: Dialect, to: Dialect, form: Form, body: &[u8]) -> Told {
    tell_every_way(AnswerSpec { from, to, ..spec(form, true) }, body)
}

/// All that a client gets of a stream.
fn all_of(told: &Told) -> String {
    format!("{}{}{}", told.out, told.tail, told.terminator)
}
