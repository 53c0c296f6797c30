//! Recorded streams of every dialect: read, and translated into every other one.

use crate::stream::facts::{AnswerSpec, End, Form};
use crate::tests::normal::{Normal, read, read_whole};
use crate::tests::{Told, corpora, spec, tell_every_way};
use serde_json::{Value, json};
use shared::Dialect;
use std::path::{Path, PathBuf};

/// The folders of the corpus.
const FOLDERS: [(&str, Dialect); 5] = [
    ("openai-chat", Dialect::OpenaiChat),
    ("openai-compatible", Dialect::OpenaiChat),
    ("anthropic-messages", Dialect::AnthropicMessages),
    ("openai-responses", Dialect::OpenaiResponses),
    ("gemini", Dialect::Gemini),
];

/// What clients speak.
const CLIENTS: [Dialect; 3] =
    [Dialect::OpenaiChat, Dialect::AnthropicMessages, Dialect::OpenaiResponses];

struct Stream {
    name: String,
    from: Dialect,
    body: Vec<u8>,
    expected: Value,
}

fn streams() -> Vec<Stream> {
    let mut found = Vec::new();
    for corpus in corpora() {
        let folders = FOLDERS.iter();
        let all: Vec<_> =
            folders.flat_map(|(folder, from)| in_folder(&corpus.dir.join(folder), *from)).collect();
        assert!(all.len() >= corpus.at_least(100), "the corpus is there, but not whole");
        found.extend(all);
    }
    found
}

fn in_folder(dir: &Path, from: Dialect) -> Vec<Stream> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "sse"));
    paths.sort();
    let stream = |path: PathBuf| {
        let expected = std::fs::read(path.with_extension("expected.json")).ok()?;
        Some(Stream {
            name: format!("{}/{}", dir.file_name()?.to_str()?, path.file_stem()?.to_str()?),
            from,
            body: std::fs::read(&path).ok()?,
            expected: serde_json::from_slice(&expected).ok()?,
        })
    };
    paths.into_iter().filter_map(stream).collect()
}

impl Stream {
    /// What it says, for a reader that also reads a last event without its blank line.
    fn normal(&self) -> &Value {
        let flushed = &self.expected["if_flushed_at_eof"]["normal"];
        if flushed.is_null() { &self.expected["normal"] } else { flushed }
    }
}

/// Arguments are compared as JSON where they are.
fn as_json(arguments: &str) -> Value {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let json = serde_json::from_str(text).unwrap_or_else(|_| json!(arguments));
    // What is no JSON has to be put into some in a whole message.
    json.get("INVALID_JSON").cloned().unwrap_or(json)
}

fn check_calls(name: &str, calls: &[[String; 3]], expected: &Value, with_ids: bool) {
    let expected = expected.as_array().map(Vec::as_slice).unwrap_or_default();
    assert_eq!(calls.len(), expected.len(), "{name}: {calls:?}");
    for (call, expected) in calls.iter().zip(expected) {
        let [id, called, arguments] = call;
        let said = expected["id"].as_str().unwrap_or_default();
        if with_ids && !said.is_empty() {
            assert_eq!(id, said, "{name}");
        }
        assert_eq!(called, expected["name"].as_str().unwrap(), "{name}");
        let wanted = expected["arguments"].as_str().map_or_else(|| "{}".to_owned(), str::to_owned);
        assert_eq!(as_json(arguments), as_json(&wanted), "{name}");
    }
}

fn check_usage(name: &str, normal: &Normal, expected: &Value) {
    let usage = normal.facts.usage;
    let ours = [usage.input, usage.output, usage.cached, usage.cache_write, usage.reasoning];
    let keys = ["input_total", "output_total", "cache_read", "cache_write", "reasoning"];
    for (own, key) in ours.into_iter().zip(keys) {
        let said = expected[key].as_u64();
        assert!(
            own == said || own.unwrap_or(0) == said.unwrap_or(0),
            "{name}: {key} {own:?} {said:?}"
        );
    }
}

#[test]
fn every_stream_says_what_the_corpus_says() {
    for stream in streams() {
        let (name, expected) = (&stream.name, stream.normal());
        let normal = read(stream.from, &stream.body);
        assert_eq!(normal.text, expected["text"].as_str().unwrap(), "{name}");
        assert_eq!(normal.reasoning, expected["reasoning"].as_str().unwrap(), "{name}");
        assert_eq!(normal.refusal, expected["refusal"].as_str().unwrap(), "{name}");
        check_calls(name, &normal.calls, &expected["tool_calls"], true);
        check_usage(name, &normal, &expected["usage"]);
        assert_eq!(json!(normal.first_token), stream.expected["first_content_event"], "{name}");
        let error = &expected["error"];
        match &normal.end {
            Some(End::Error(said)) => {
                // For an unknown finish reason the reader reports an error, although the corpus may
                // have none.
                let interrupted = ["error", "other"].iter().any(|word| expected["finish"] == *word);
                assert!(!error.is_null() || interrupted, "{name}: {said:?}");
                if !error.is_null() {
                    assert_eq!(
                        said.message,
                        error["message"].as_str().unwrap_or_default(),
                        "{name}"
                    );
                }
            }
            end => {
                assert!(error.is_null(), "{name}: {end:?}");
                assert_eq!(json!(normal.finish), expected["finish"], "{name}");
                let ended = expected["ended"].as_str().unwrap();
                let cut = end == &Some(End::Cut);
                assert_eq!(
                    cut,
                    ended == "truncated" || ended == "clean-without-message_stop",
                    "{name}"
                );
            }
        }
    }
}

fn towards(stream: &Stream, to: Dialect, form: Form) -> Told {
    let spec = AnswerSpec { from: stream.from, to, ..spec(form, true) };
    tell_every_way(spec, &stream.body)
}

/// What is the same in every dialect: a refusal is text to Anthropic's clients, and a
/// filter's end is a refusal to them.
fn plain(normal: &Normal, to: Dialect) -> (String, String, Option<&'static str>) {
    let text = match to {
        Dialect::AnthropicMessages => format!("{}{}", normal.text, normal.refusal),
        _ => normal.text.clone(),
    };
    let refused = !normal.refusal.is_empty() && to == Dialect::AnthropicMessages;
    let finish = match normal.finish {
        Some("content_filter" | "refusal") => "refused",
        Some("length") => "length",
        _ if refused => "refused",
        _ if !normal.calls.is_empty() => "tool_calls",
        _ => "stop",
    };
    (text, normal.reasoning.clone(), Some(finish))
}

fn check_same(name: &str, to: Dialect, back: &Normal, said: &Normal) {
    let name = &format!("{name} to {to}");
    assert_eq!(plain(back, to), plain(said, to), "{name}");
    let calls: Vec<_> = said
        .calls
        .iter()
        .map(|[id, name, arguments]| json!({"id": id, "name": name, "arguments": arguments}))
        .collect();
    check_calls(name, &back.calls, &json!(calls), true);
    let ids: std::collections::BTreeSet<_> = back.calls.iter().map(|call| &call[0]).collect();
    assert!(ids.len() == back.calls.len() && !ids.contains(&String::new()), "{name}: {ids:?}");
    let (own, theirs) = (back.facts.usage, said.facts.usage);
    let known = |count: Option<u64>| count.unwrap_or(0);
    assert_eq!(known(own.input), known(theirs.input), "{name}");
    assert_eq!(known(own.output), known(theirs.output), "{name}");
    assert_eq!(known(own.cached), known(theirs.cached), "{name}");
}

#[test]
fn a_translated_stream_says_the_same_when_it_is_read_back() {
    for stream in streams() {
        let said = read(stream.from, &stream.body);
        if said.end != Some(End::Proper) {
            continue;
        }
        for to in CLIENTS.into_iter().filter(|to| *to != stream.from) {
            let told = towards(&stream, to, Form::Stream);
            let body = format!("{}{}{}", told.out, told.tail, told.terminator);
            let back = read(to, body.as_bytes());
            assert_eq!(back.end, Some(End::Proper), "{} to {to}", stream.name);
            check_same(&stream.name, to, &back, &said);
            let whole = towards(&stream, to, Form::Whole);
            let back = read_whole(to, whole.whole.as_bytes());
            assert_eq!(back.end, Some(End::Proper), "{} to {to}", stream.name);
            check_same(&stream.name, to, &back, &said);
        }
    }
}

#[test]
fn a_stream_in_the_clients_own_dialect_passes_through() {
    for stream in streams() {
        let to = stream.from;
        if !CLIENTS.contains(&to) || to == Dialect::OpenaiChat {
            continue;
        }
        let said = read(to, &stream.body);
        let told = towards(&stream, to, Form::Stream);
        let is_error = |end: &Option<End>| matches!(end, Some(End::Error(_)));
        assert!(
            told.end == said.end || (is_error(&told.end) && is_error(&said.end)),
            "{}",
            stream.name
        );
        if said.end != Some(End::Proper) {
            continue;
        }
        // Every payload as it was, and each under its name.
        let sent = payloads(&String::from_utf8_lossy(&stream.body).replace("\r\n", "\n"));
        let body = format!("{}{}{}", told.out, told.tail, told.terminator);
        let passed = payloads(&body);
        let mut sent = sent;
        // A second beginning is a proxy's, and no client's.
        let begins = |payload: &Value| payload["type"] == "message_start";
        let mut seen = false;
        sent.retain(|payload| !begins(payload) || !std::mem::replace(&mut seen, true));
        assert_eq!(passed, sent, "{}", stream.name);
        for block in body.split_terminator("\n\n") {
            let (name, data) = block.split_once('\n').unwrap();
            let payload: Value =
                serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name.strip_prefix("event: "), payload["type"].as_str(), "{}", stream.name);
        }
        let back = read_whole(to, towards(&stream, to, Form::Whole).whole.as_bytes());
        check_same(&stream.name, to, &back, &said);
    }
}

/// The payloads of a stream, as values; what is no JSON left out.
fn payloads(stream: &str) -> Vec<Value> {
    let blocks = stream.split("\n\n").map(|block| {
        let lines = block.split('\n').filter_map(|line| line.strip_prefix("data:"));
        lines.collect::<Vec<_>>().join("\n")
    });
    blocks.filter_map(|data| serde_json::from_str(&data).ok()).collect()
}

/// A response with reasoning, a message and a call, its places as `place` says.
fn response(place: impl Fn(u64) -> Option<u64>) -> String {
    let items = [
        json!({"id": "rs", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        json!({"id": "ms", "type": "message", "content": [{"type": "output_text", "text": "hi"}]}),
        json!({"id": "fc", "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}),
    ];
    let mut stream = String::new();
    let mut event = |at: Option<u64>, mut data: Value| {
        if let Some(at) = at {
            data["output_index"] = json!(at);
        }
        stream += &format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    };
    let deltas = [
        ("response.reasoning_summary_text.delta", "rs", "hm"),
        ("response.output_text.delta", "ms", "hi"),
        ("response.function_call_arguments.delta", "fc", "{}"),
    ];
    for (at, (item, (kind, id, delta))) in items.iter().zip(deltas).enumerate() {
        let at = place(at as u64);
        event(at, json!({"type": "response.output_item.added", "item": item}));
        event(at, json!({"type": kind, "item_id": id, "delta": delta}));
        event(at, json!({"type": "response.output_item.done", "item": item}));
    }
    let whole = json!({"id": "r", "object": "response", "status": "completed", "output": items});
    event(None, json!({"type": "response.completed", "response": whole}));
    stream
}

#[test]
fn items_of_a_response_come_once_wherever_their_events_say_they_stand() {
    let right = response(Some);
    let expected = read(Dialect::OpenaiResponses, right.as_bytes());
    assert_eq!((expected.text.as_str(), expected.reasoning.as_str()), ("hi", "hm"));
    assert_eq!(expected.calls, [["c1", "f", "{}"].map(str::to_owned)]);
    for odd in [response(|_| None), response(|at| Some(at + 1)), response(|at| Some(at * 7))] {
        let said = read(Dialect::OpenaiResponses, odd.as_bytes());
        assert_eq!(
            (said.text, said.reasoning),
            (expected.text.clone(), expected.reasoning.clone())
        );
        assert_eq!(said.calls, expected.calls);
    }
}
