//! What a token costs in the readers: passed through, and from one dialect to another.
//!
//! Each event comes in a read of its own, as from a model at a human pace. The figure that
//! counts is the ratio to chat passed through: everything around it is the same.

use crate::clock::now;
use bytes::BytesMut;
use dialect::answer::{AnswerReader, AnswerSpec, End, Form};
use shared::{Dialect, RequestId};
use std::fmt::Write as _;
use std::time::Duration;

/// Tokens of one stream.
const TOKENS: usize = 500;

/// What was measured: nanoseconds per token.
#[derive(Debug)]
pub(crate) struct Cost(Vec<(Dialect, Dialect, f64)>);

impl Cost {
    pub(crate) fn words(&self) -> String {
        let base = self.0.first().map_or(1.0, |(.., nanos)| *nanos);
        let mut text = String::from("a token in the readers:");
        for (from, to, nanos) in &self.0 {
            let way = if from == to { format!("{from}") } else { format!("{from} to {to}") };
            let _ = write!(text, "\n  {way:<42} {nanos:>6.0} ns  {:>5.2}", nanos / base);
        }
        text
    }
}

/// Measures every pair for `length` each.
pub(crate) fn cost(length: Duration) -> Cost {
    let clients = [Dialect::OpenaiChat, Dialect::AnthropicMessages, Dialect::OpenaiResponses];
    let mut all = Vec::new();
    for from in Dialect::ALL {
        let events = stream(*from);
        for to in clients {
            all.push((*from, to, run(*from, to, &events, length)));
        }
    }
    Cost(all)
}

fn run(from: Dialect, to: Dialect, events: &[String], length: Duration) -> f64 {
    let spec = AnswerSpec {
        from,
        to,
        form: Form::Stream,
        wants_usage: true,
        choices: 1,
        finishes: false,
        max_event: 1 << 20,
        max_answer: 1 << 24,
        request: RequestId::from_number(1),
        created: 1,
    };
    let length = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    let began = now();
    let mut tokens = 0_u64;
    loop {
        let mut reader = AnswerReader::new(spec);
        let mut out = BytesMut::new();
        let mut end = None;
        for event in events {
            out.clear();
            let heard = reader.read(event.as_bytes(), &mut out);
            tokens += u64::from(heard.tokens);
            end = heard.end.or(end);
        }
        let end = end.or_else(|| reader.end_of_body(&mut out).end);
        assert_eq!(end, Some(End::Proper), "{from} to {to}");
        let spent = now().saturating_sub(began);
        if spent >= length {
            #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
            return spent as f64 / tokens as f64;
        }
    }
}

/// An answer of [`TOKENS`] words, event by event.
fn stream(dialect: Dialect) -> Vec<String> {
    let words = || (0..TOKENS).map(|n| format!(" word{n}"));
    let plain = |data: String| format!("data: {data}\n\n");
    let named =
        |name: &str, rest: &str| format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n");
    match dialect {
        Dialect::OpenaiChat => {
            let chunk = |choice: String| {
                plain(format!(
                    r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,{choice}}}]}}"#
                ))
            };
            words()
                .map(|word| {
                    chunk(format!(r#""delta":{{"content":"{word}"}},"finish_reason":null"#))
                })
                .chain([
                    chunk(r#""delta":{},"finish_reason":"stop""#.to_owned()),
                    plain("[DONE]".to_owned()),
                ])
                .collect()
        }
        Dialect::AnthropicMessages => {
            let start =
                r#","message":{"id":"msg_1","model":"c","content":[],"usage":{"input_tokens":9}}"#;
            let block = r#","index":0,"content_block":{"type":"text","text":""}"#;
            let delta = |word: String| {
                let rest = format!(r#","index":0,"delta":{{"type":"text_delta","text":"{word}"}}"#);
                named("content_block_delta", &rest)
            };
            let end = r#","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":500}"#;
            [named("message_start", start), named("content_block_start", block)]
                .into_iter()
                .chain(words().map(delta))
                .chain([
                    named("content_block_stop", r#","index":0"#),
                    named("message_delta", end),
                    named("message_stop", ""),
                ])
                .collect()
        }
        Dialect::OpenaiResponses => {
            let created =
                r#","sequence_number":0,"response":{"id":"r","object":"response","model":"m"}"#;
            let delta = |word: String| {
                let rest = format!(
                    r#","sequence_number":1,"item_id":"i","output_index":0,"content_index":0,"delta":"{word}""#
                );
                named("response.output_text.delta", &rest)
            };
            let completed =
                r#","response":{"id":"r","object":"response","status":"completed","output":[]}"#;
            std::iter::once(named("response.created", created))
                .chain(words().map(delta))
                .chain([named("response.completed", completed)])
                .collect()
        }
        Dialect::Gemini => {
            let chunk = |word: String, finish: &str| {
                let usage = r#""usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":5,"totalTokenCount":9}"#;
                format!(
                    "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{word}\"}}],\"role\":\"model\"}}{finish},\"index\":0}}],{usage},\"modelVersion\":\"g\"}}\r\n\r\n"
                )
            };
            words()
                .map(|word| chunk(word, ""))
                .chain([chunk("end".to_owned(), r#","finishReason":"STOP""#)])
                .collect()
        }
    }
}
