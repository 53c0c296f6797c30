//! Writes chunks for a chat client whose answer comes from another dialect.

use crate::chat::usage::write;
use crate::chat::words::TERMINATOR;
use crate::neutral::{Answer, Event, Finish, Signed};
use crate::stream::facts::{AnswerSpec, Facts};
use crate::stream::observer::Writer;
use bytes::{BufMut as _, BytesMut};
use shared::Dialect;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Writes a stream of chunks.
#[derive(Debug)]
pub(crate) struct ChatWriter {
    from: Dialect,
    wants_usage: bool,
    request: String,
    created: i64,
    /// The beginning of every chunk, with framing, up to the value of `delta`.
    head: String,
    called: bool,
    /// Calls that have got no arguments so far.
    bare: BTreeSet<usize>,
    /// Calls whose input is free text.
    custom: BTreeSet<usize>,
    finish: Option<Finish>,
    signature: Option<String>,
    /// The reasoning since the last signature, escaped.
    thought: String,
    details: usize,
}

impl ChatWriter {
    pub(crate) fn new(spec: &AnswerSpec) -> Self {
        Self {
            from: spec.from,
            wants_usage: spec.wants_usage,
            request: spec.request.to_string(),
            created: spec.created,
            head: String::new(),
            called: false,
            bare: BTreeSet::new(),
            custom: BTreeSet::new(),
            finish: None,
            signature: None,
            thought: String::new(),
            details: 0,
        }
    }

    /// Writes the role, once, before anything else.
    fn start(&mut self, id: &str, model: &str, out: &mut BytesMut) {
        if !self.head.is_empty() {
            return;
        }
        let made = format!("chatcmpl-{}", self.request);
        let id = if id.is_empty() { &made } else { id };
        let created = self.created;
        self.head = format!(
            r#"data: {{"id":"{id}","object":"chat.completion.chunk","created":{created},"model":"{model}","choices":"#
        );
        self.chunk(&[r#"{"role":"assistant","content":""}"#], "null", out);
    }

    const fn next_detail(&mut self) -> usize {
        let index = self.details;
        self.details += 1;
        index
    }

    /// Writes one chunk; `delta` is JSON in pieces.
    fn chunk(&self, delta: &[&str], finish: &str, out: &mut BytesMut) {
        let room: usize = delta.iter().map(|piece| piece.len()).sum();
        out.reserve(self.head.len() + room + 64);
        out.put_slice(self.head.as_bytes());
        out.put_slice(b"[{\"index\":0,\"delta\":");
        for piece in delta {
            out.put_slice(piece.as_bytes());
        }
        out.put_slice(b",\"finish_reason\":");
        out.put_slice(finish.as_bytes());
        out.put_slice(b"}]}\n\n");
    }
}

impl Writer for ChatWriter {
    fn event(&mut self, event: &Event<'_>, _facts: &Facts, out: &mut BytesMut) {
        match event {
            Event::Begin { id, model } => self.start(id.escaped(), model.escaped(), out),
            _ => self.start("", "", out),
        }
        if event.is_content() {
            self.finish = None;
        }
        match event {
            Event::Begin { .. } => {}
            Event::Text(text) => {
                self.chunk(&[r#"{"content":""#, text.escaped(), "\"}"], "null", out);
            }
            Event::Reasoning(text) => {
                self.thought.push_str(text.escaped());
                self.chunk(&[r#"{"reasoning_content":""#, text.escaped(), "\"}"], "null", out);
            }
            // A detail is written once and whole: SDKs join lists by `index`, and the detail that
            // the client sends back must hold the text that was signed.
            Event::Signature(proof) => {
                let proof = Signed::write(Dialect::OpenaiChat, self.from, proof.escaped());
                let thought = std::mem::take(&mut self.thought);
                let index = self.next_detail();
                let lead = format!(
                    r#"{{"reasoning_details":[{{"index":{index},"type":"reasoning.text","text":""#
                );
                self.chunk(&[&lead, &thought, r#"","signature":""#, &proof, "\"}]}"], "null", out);
            }
            Event::Redacted(data) => {
                let data = Signed::write(Dialect::OpenaiChat, self.from, data.escaped());
                let index = self.next_detail();
                let lead = format!(
                    r#"{{"reasoning_details":[{{"index":{index},"type":"reasoning.encrypted","data":""#
                );
                self.chunk(&[&lead, &data, "\"}]}"], "null", out);
            }
            Event::Refusal(text) => {
                self.chunk(&[r#"{"refusal":""#, text.escaped(), "\"}"], "null", out);
            }
            Event::CallSignature { signature, .. } => {
                self.signature = Some(signature.escaped().to_owned());
            }
            Event::Call { call, id, name, custom } => {
                self.called = true;
                let mut delta = String::new();
                let made = format!("call_{}_{call}", self.request);
                let id = if id.is_empty() { &made } else { id.escaped() };
                let (kind, input) =
                    if *custom { ("custom", "input") } else { ("function", "arguments") };
                let name = name.escaped();
                let _ = write!(
                    delta,
                    r#"{{"tool_calls":[{{"index":{call},"id":"{id}","type":"{kind}","{kind}":{{"name":"{name}","{input}":""}}"#
                );
                if let Some(proof) = self.signature.take() {
                    let extra = r#","extra_content":{"google":{"thought_signature":"#;
                    let _ = write!(delta, "{extra}\"{proof}\"}}}}");
                }
                delta.push_str("}]}");
                let kind = if *custom { &mut self.custom } else { &mut self.bare };
                kind.insert(*call);
                self.chunk(&[&delta], "null", out);
            }
            Event::Arguments { call, json } => {
                self.bare.remove(call);
                let (kind, input) = if self.custom.contains(call) {
                    ("custom", "input")
                } else {
                    ("function", "arguments")
                };
                let lead = format!(r#"{{"tool_calls":[{{"index":{call},"{kind}":{{"{input}":""#);
                self.chunk(&[&lead, json.escaped(), "\"}}]}"], "null", out);
            }
            Event::Finish { finish, .. } => self.finish = Some(*finish),
        }
    }

    fn tail(&mut self, facts: &Facts, out: &mut BytesMut) {
        self.start("", "", out);
        // Clients read arguments as JSON, and an empty text is not JSON.
        for call in std::mem::take(&mut self.bare) {
            let delta = format!(
                r#"{{"tool_calls":[{{"index":{call},"function":{{"arguments":"{{}}"}}}}]}}"#
            );
            self.chunk(&[&delta], "null", out);
        }
        let finish = crate::chat::words::finish_reason(self.finish, self.called);
        self.chunk(&["{}"], &format!("\"{finish}\""), out);
        if self.wants_usage {
            out.put_slice(self.head.as_bytes());
            let _ = write!(out, r#"[],"usage":{}}}"#, write(&facts.usage));
            out.put_slice(b"\n\n");
        }
    }

    fn terminator(&mut self, _facts: &Facts, out: &mut BytesMut) {
        out.put_slice(TERMINATOR);
    }

    fn held(&self) -> usize {
        self.thought.len()
    }

    fn whole(&self, answer: &Answer, facts: &Facts) -> Vec<u8> {
        crate::chat::write_whole::completion(answer, facts, self.from, &self.request, self.created)
    }
}
