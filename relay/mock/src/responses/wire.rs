//! Answers in the Responses dialect on the wire.

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::answer::{Finish, Kind, Part};
use super::super::dialect::Turn;
use super::super::frame::named;
use super::super::plan::Plan;
use super::items::{begun, content, done, id, summary};

/// A comment, because OpenAI has no event for this.
pub(super) const PING: &[u8] = b": MOCK PROCESSING\n\n";
/// An event that breaks off in the middle.
pub(super) const BROKEN: Bytes = Bytes::from_static(
    b"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\n\n",
);

/// Events with their numbers.
#[derive(Default)]
struct Numbered {
    plan: Plan,
    next: u64,
}

impl Numbered {
    fn event(&mut self, kind: &str, fields: Value) {
        let event = numbered(kind, fields, self.next);
        self.next += 1;
        self.plan.event(event);
    }

    fn token(&mut self, kind: &str, fields: Value) {
        let event = numbered(kind, fields, self.next);
        self.next += 1;
        self.plan.token(event);
    }
}

fn numbered(kind: &str, mut fields: Value, number: u64) -> Bytes {
    let mut event = json!({"type": format!("response.{kind}")});
    if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object_mut()) {
        event.append(fields);
        event.insert("sequence_number".into(), json!(number));
    }
    named(&event)
}

/// An answer as a stream: created, in progress, item by item, and at last the complete response.
pub(super) fn plan(turn: &Turn<'_>) -> Plan {
    let mut stream = Numbered::default();
    for kind in ["created", "in_progress"] {
        stream.event(kind, json!({"response": snapshot(turn, "in_progress", &json!([]))}));
    }
    let mut opened = false;
    for (place, part) in turn.answer.parts.iter().enumerate() {
        let item = Item { turn, place, part };
        if !matches!(part.kind, Kind::Call { .. }) {
            item.begin(&mut stream);
        }
        if !opened {
            stream.plan.open();
            opened = true;
        }
        item.tokens(&mut stream);
        item.end(&mut stream);
    }
    if !opened {
        stream.plan.open();
    }
    stream.event(terminal(turn), json!({"response": response(turn)}));
    stream.plan
}

/// An item of the output while it is streamed.
struct Item<'a> {
    turn: &'a Turn<'a>,
    place: usize,
    part: &'a Part,
}

impl Item<'_> {
    fn hidden(&self) -> bool {
        matches!(self.part.kind, Kind::Reasoning) && !self.turn.request.shown
    }

    /// Adds to `fields` those that say where an event belongs.
    fn at(&self, mut fields: Value) -> Value {
        if let Some(all) = fields.as_object_mut() {
            all.insert("item_id".into(), json!(id(self.turn, self.place, self.part)));
            all.insert("output_index".into(), json!(self.place));
            match self.part.kind {
                Kind::Reasoning => all.insert("summary_index".into(), json!(0)),
                Kind::Content | Kind::Refusal => all.insert("content_index".into(), json!(0)),
                Kind::Call { .. } => None,
            };
        }
        fields
    }

    fn added(&self) -> Value {
        json!({"output_index": self.place, "item": begun(self.turn, self.place, self.part)})
    }

    fn begin(&self, stream: &mut Numbered) {
        stream.event("output_item.added", self.added());
        match self.part.kind {
            _ if self.hidden() => {}
            Kind::Reasoning => {
                stream.event("reasoning_summary_part.added", self.at(json!({"part": summary("")})));
            }
            _ => {
                let part = content(self.part, "");
                stream.event("content_part.added", self.at(json!({"part": part})));
            }
        }
    }

    fn tokens(&self, stream: &mut Numbered) {
        if self.hidden() {
            return;
        }
        for (place, token) in self.part.tokens.iter().enumerate() {
            let kind = match self.part.kind {
                Kind::Call { .. } if place == 0 => {
                    stream.token("output_item.added", self.added());
                    continue;
                }
                Kind::Call { .. } => "function_call_arguments.delta",
                Kind::Reasoning => "reasoning_summary_text.delta",
                Kind::Refusal => "refusal.delta",
                Kind::Content => "output_text.delta",
            };
            let mut fields = json!({"delta": token});
            if let (Kind::Content, Some(fields)) = (&self.part.kind, fields.as_object_mut()) {
                fields.insert("logprobs".into(), json!([]));
            }
            stream.token(kind, self.at(fields));
        }
    }

    fn end(&self, stream: &mut Numbered) {
        let text = self.part.text();
        match self.part.kind {
            _ if self.hidden() => {}
            Kind::Reasoning => {
                let part = summary(&text);
                stream.event("reasoning_summary_text.done", self.at(json!({"text": text})));
                stream.event("reasoning_summary_part.done", self.at(json!({"part": part})));
            }
            Kind::Call { .. } => {
                let fields = json!({"arguments": text});
                stream.event("function_call_arguments.done", self.at(fields));
            }
            Kind::Content => {
                let part = content(self.part, &text);
                let fields = json!({"text": text, "logprobs": []});
                stream.event("output_text.done", self.at(fields));
                stream.event("content_part.done", self.at(json!({"part": part})));
            }
            Kind::Refusal => {
                let part = content(self.part, &text);
                stream.event("refusal.done", self.at(json!({"refusal": text})));
                stream.event("content_part.done", self.at(json!({"part": part})));
            }
        }
        let item = done(self.turn, self.place, self.part);
        let fields = json!({"output_index": self.place, "item": item});
        stream.event("output_item.done", fields);
    }
}

/// A stream that has only its terminal event, and if `finish` is set also the events before the
/// items.
pub(super) fn empty(turn: &Turn<'_>, finish: bool) -> Vec<Bytes> {
    let plan = plan(turn);
    let prelude = if finish { plan.prelude } else { Vec::new() };
    prelude.into_iter().chain(plan.end).collect()
}

/// An error in a stream, and the response that failed because of it.
pub(super) fn error(turn: &Turn<'_>, sent: u64, kind: &str, message: &str) -> Vec<Bytes> {
    let error = json!({"type": kind, "code": kind, "message": message, "param": null});
    let first = json!({"type": "error", "sequence_number": sent, "error": error});
    let mut failed = snapshot(turn, "failed", &json!([]));
    if let Some(fields) = failed.as_object_mut() {
        fields.insert("error".into(), json!({"code": kind, "message": message}));
    }
    vec![named(&first), numbered("failed", json!({"response": failed}), sent + 1)]
}

fn terminal(turn: &Turn<'_>) -> &'static str {
    match turn.answer.finish {
        Finish::Length | Finish::Filter => "incomplete",
        Finish::Stop | Finish::Calls | Finish::Refusal => "completed",
    }
}

/// A whole response.
pub(super) fn response(turn: &Turn<'_>) -> Value {
    let parts = turn.answer.parts.iter().enumerate();
    let output: Vec<Value> = parts.map(|(place, part)| done(turn, place, part)).collect();
    let mut response = snapshot(turn, terminal(turn), &json!(output));
    let (input, answered) = (turn.prompt_tokens(), turn.answer.count());
    let mut details = json!({"cached_tokens": turn.answer.cached});
    if let (1.., Some(details)) = (turn.answer.cache_written, details.as_object_mut()) {
        details.insert("cache_write_tokens".into(), json!(turn.answer.cache_written));
    }
    let reason = match turn.answer.finish {
        Finish::Length => Some("max_output_tokens"),
        Finish::Filter => Some("content_filter"),
        Finish::Stop | Finish::Calls | Finish::Refusal => None,
    };
    if let Some(fields) = response.as_object_mut() {
        let usage = json!({
            "input_tokens": input, "input_tokens_details": details, "output_tokens": answered,
            "output_tokens_details": {"reasoning_tokens": turn.answer.reasoning()},
            "total_tokens": input + answered,
        });
        fields.insert("usage".into(), usage);
        if let Some(reason) = reason {
            fields.insert("incomplete_details".into(), json!({"reason": reason}));
        } else {
            fields.insert("completed_at".into(), json!(turn.created));
        }
    }
    response
}

/// A response at some moment.
fn snapshot(turn: &Turn<'_>, status: &str, output: &Value) -> Value {
    json!({
        "id": format!("resp_{}", turn.id), "object": "response", "created_at": turn.created,
        "status": status, "background": false, "completed_at": null, "error": null,
        "incomplete_details": null, "instructions": null,
        "max_output_tokens": turn.request.max_tokens, "max_tool_calls": null,
        "model": turn.request.model, "output": output, "parallel_tool_calls": true,
        "previous_response_id": null, "reasoning": {"effort": null, "summary": null},
        "service_tier": "default", "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [],
        "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "usage": null, "user": null,
        "metadata": {},
    })
}
