//! Recorded streams: what comes out must say what the provider said.
//!
//! The stream that a client gets is read back here by a small reader of its own,
//! as is the whole answer; both are compared with what the corpus says.

use crate::common::retry_after::retry_after;
use crate::errors::{classify, parse_error};
use crate::stream::facts::{End, Form};
use crate::tests::{Corpus, Told, corpora, payloads, spec, tell_every_way};
use serde_json::{Value, json};
use shared::{Dialect, Signature, UnixMillis};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Choice 0 of an answer, in the corpus' words.
#[derive(Debug, Default, PartialEq, Eq)]
struct Normal {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<[String; 3]>,
    finish: Option<String>,
}

impl Normal {
    /// Adds a delta, or a whole message.
    fn add(&mut self, delta: &Value) {
        match &delta["content"] {
            Value::String(text) => self.text += text,
            Value::Array(parts) => {
                for part in parts {
                    match part["type"].as_str() {
                        Some("thinking") => {
                            for inner in part["thinking"].as_array().unwrap() {
                                self.reasoning += inner["text"].as_str().unwrap();
                            }
                        }
                        _ => self.text += part["text"].as_str().unwrap_or_default(),
                    }
                }
            }
            _ => {}
        }
        let reasoning = delta["reasoning_content"].as_str().or(delta["reasoning"].as_str());
        self.reasoning += reasoning.unwrap_or_default();
        self.refusal += delta["refusal"].as_str().unwrap_or_default();
    }

    fn add_calls(&mut self, delta: &Value, places: &mut BTreeMap<u64, usize>) {
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default();
            let index = call["index"].as_u64();
            let open = match index {
                Some(index) => places.get(&index).copied(),
                None => self.calls.len().checked_sub(1),
            };
            let open = open.filter(|&at| id.is_empty() || self.calls[at][0] == id);
            let at = open.unwrap_or_else(|| {
                self.calls.push([id.to_owned(), String::new(), String::new()]);
                self.calls.len() - 1
            });
            if let Some(index) = index {
                places.insert(index, at);
            }
            let [_, name, arguments] = &mut self.calls[at];
            if name.is_empty() {
                *name += call["function"]["name"].as_str().unwrap_or_default();
            }
            *arguments += call["function"]["arguments"].as_str().unwrap_or_default();
        }
    }

    fn of_stream(told: &Told) -> Self {
        let mut normal = Self::default();
        let mut places = BTreeMap::new();
        for chunk in payloads(&told.out).into_iter().chain(payloads(&told.tail)) {
            for choice in chunk["choices"].as_array().unwrap() {
                if choice["index"].as_u64() != Some(0) {
                    continue;
                }
                let delta =
                    if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
                normal.add(delta);
                normal.add_calls(delta, &mut places);
                if delta.is_null() {
                    normal.text += choice["text"].as_str().unwrap_or_default();
                }
                let finish = choice["finish_reason"].as_str().filter(|finish| !finish.is_empty());
                normal.finish = finish.map(str::to_owned).or(normal.finish);
            }
        }
        normal
    }

    fn of_whole(told: &Told) -> Self {
        let whole: Value = serde_json::from_str(&told.whole).unwrap();
        assert_eq!(whole["object"], "chat.completion");
        let choice = &whole["choices"][0];
        let mut normal = Self::default();
        normal.add(&choice["message"]);
        normal.add_calls(&choice["message"], &mut BTreeMap::new());
        normal.text += choice["text"].as_str().unwrap_or_default();
        normal.finish = choice["finish_reason"].as_str().map(str::to_owned);
        normal
    }

    fn expected(normal: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            text: text(&normal["text"]),
            reasoning: text(&normal["reasoning"]),
            refusal: text(&normal["refusal"]),
            calls: normal["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| [text(&call["id"]), text(&call["name"]), text(&call["arguments"])])
                .collect(),
            finish: normal["finish"].as_str().map(str::to_owned),
        }
    }
}

fn streams(dir: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let expected = path.with_extension("expected.json");
        if path.extension().is_some_and(|end| end == "sse") && expected.exists() {
            found.push((path, serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap()));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// What the corpus calls the way a stream ended.
fn ended(told: &Told) -> &'static str {
    match told.end.as_ref().unwrap() {
        End::Error(_) => "error",
        End::Cut => "truncated",
        // ARCHITECTURE.md, "proper end": `[DONE]` without a finish reason counts after content.
        End::Proper if told.facts.finish.is_none() => "no-finish-reason",
        End::Proper if told.facts.done => "clean",
        End::Proper => "clean-without-done",
        other => panic!("{other:?}"),
    }
}

fn check(name: &str, body: &[u8], expected: &Value) {
    // The relay reads a last event without its blank line.
    let flushed = &expected["if_flushed_at_eof"]["normal"];
    let normal = if flushed.is_null() { &expected["normal"] } else { flushed };
    let choices = expected["choices"].as_array().map_or(1, |list| list.len().max(1));
    let spec = |form, usage| crate::tests::AnswerSpec {
        choices: u32::try_from(choices).unwrap(),
        ..spec(form, usage)
    };

    let stream = tell_every_way(spec(Form::Stream, true), body);
    assert_eq!(ended(&stream), normal["ended"], "{name}");
    assert_eq!(json!(stream.first_token), expected["first_content_event"], "{name}");
    assert_eq!(stream.facts.content, stream.first_token.is_some(), "{name}");
    check_usage(name, &stream, &normal["usage"]);
    if let Some(End::Error(error)) = &stream.end {
        let said = &normal["error"];
        assert_eq!(error.message, said["message"].as_str().unwrap(), "{name}");
        assert_eq!(error.kind.as_deref(), said["type"].as_str(), "{name}");
        let code = said["code"]
            .as_str()
            .map(str::to_owned)
            .or(said["code"].as_i64().map(|n| n.to_string()));
        assert_eq!(error.code, code, "{name}");
        assert_eq!(
            !stream.facts.content,
            said["before_first_content"].as_bool().unwrap(),
            "{name}"
        );
    }
    let wanted = Normal::expected(normal);
    assert_eq!(Normal::of_stream(&stream), wanted, "{name} as a stream");

    // One usage chunk for who asked, and none for who did not.
    let bare = |told: &Told| {
        payloads(&told.out)
            .iter()
            .chain(&payloads(&told.tail))
            .filter(|chunk| chunk["choices"].as_array().is_none_or(Vec::is_empty))
            .count()
    };
    let quirks = expected["quirks"].as_array().unwrap();
    assert_eq!(
        bare(&stream),
        usize::from(quirks.contains(&json!("usage-empty-choices"))),
        "{name}"
    );
    assert!(
        payloads(&stream.out).iter().all(|chunk| !chunk["choices"].as_array().unwrap().is_empty())
    );
    assert_eq!(bare(&tell_every_way(spec(Form::Stream, false), body)), 0, "{name}");

    let whole = tell_every_way(spec(Form::Whole, false), body);
    assert_eq!((&whole.end, &whole.facts), (&stream.end, &stream.facts), "{name}");
    assert!(whole.out.is_empty() && whole.tail.is_empty());
    // An answer that never began has no choice to compare.
    if whole.facts.content || wanted.finish.is_some() {
        assert_eq!(Normal::of_whole(&whole), wanted, "{name} as a whole");
    }
}

fn check_usage(name: &str, told: &Told, usage: &Value) {
    let got = told.facts.usage;
    let got = json!({
        "input_total": got.input, "output_total": got.output,
        "cache_read": got.cached, "cache_write": got.cache_write, "reasoning": got.reasoning,
    });
    if usage.is_null() {
        assert!(got.as_object().unwrap().values().all(Value::is_null), "{name}: {got}");
    } else {
        assert_eq!(&got, usage, "{name}");
    }
}

#[test]
fn recorded_chat_streams_come_out_as_they_went_in() {
    for corpus in corpora() {
        come_out_as_they_went_in(&corpus);
    }
}

fn come_out_as_they_went_in(corpus: &Corpus) {
    let mut count = 0;
    for dialect in ["openai-chat", "openai-compatible"] {
        for (path, expected) in streams(&corpus.dir.join(dialect)) {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            check(&name, &std::fs::read(&path).unwrap(), &expected);
            count += 1;
        }
    }
    assert!(count >= corpus.at_least(40), "only {count} streams");
}

/// What the status alone says. The real table is the policy's; this is enough to
/// judge the matchers, which may leave to the status what it says as well.
fn by_status(status: u16) -> Signature {
    match status {
        400 | 413 | 422 => Signature::BadRequest,
        401..=405 => Signature::Auth,
        429 => Signature::RateLimited,
        503 | 529 => Signature::Overloaded,
        _ => Signature::ServerError,
    }
}

#[test]
fn recorded_error_answers_are_classed_as_what_they_are() {
    for corpus in corpora() {
        are_classed(&corpus);
    }
}

fn are_classed(corpus: &Corpus) {
    let mut count = 0;
    for entry in std::fs::read_dir(corpus.dir.join("http-errors")).unwrap() {
        let path = entry.unwrap().path();
        let case: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let body = match &case["body"] {
            Value::String(text) => text.clone().into_bytes(),
            other => serde_json::to_vec(other).unwrap(),
        };
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let mut error = parse_error(&body);
        let name = path.file_stem().unwrap().to_str().unwrap();
        let dialect = match name.split('-').next().unwrap() {
            "anthropic" => Dialect::AnthropicMessages,
            "gemini" | "vertex" => Dialect::Gemini,
            _ if name.ends_with("-responses") => Dialect::OpenaiResponses,
            _ => Dialect::OpenaiChat,
        };
        classify(dialect, &[], Some(status), &mut error, &|_| false);
        let wanted = match case["class"].as_str().unwrap() {
            "context_length" => Signature::ContextExceeded,
            "auth" | "quota" | "not_found" => Signature::Auth,
            "content_filter" => Signature::Refused,
            "bad_request" | "too_large" => Signature::BadRequest,
            "rate_limit" => Signature::RateLimited,
            "overloaded" => Signature::Overloaded,
            "server_error" => Signature::ServerError,
            other => panic!("{other}"),
        };
        let got = error.signature.unwrap_or_else(|| by_status(status));
        assert_eq!(got, wanted, "{}", path.display());
        assert_eq!(error.message.is_empty(), case["body"].is_string(), "{}", path.display());

        let headers = &case["headers"];
        let wait = retry_after(|name| headers[name].as_str(), Some(&body), UnixMillis(0));
        let named = ["retry-after", "retry-after-ms"].iter().any(|name| !headers[*name].is_null());
        let delayed = case["body"].to_string().contains("retryDelay");
        assert_eq!(wait.is_some(), named || delayed, "{}", path.display());
        count += 1;
    }
    assert!(count >= corpus.at_least(30), "only {count} errors");
}
