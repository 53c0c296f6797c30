//! Writes output items, and the response that holds them, as OpenAI writes them.
//!
//! Every text that is passed in is already escaped as in JSON.

use crate::common::fields::{Writer, push_array};
use crate::neutral::{Finish, JsonEnd, NAMESPACE_END};
use crate::stream::facts::Facts;
use shared::Usage;

/// A piece of a message's content.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) is_refusal: bool,
    pub(crate) text: String,
}

impl Content {
    pub(crate) fn json(&self) -> String {
        let mut part = Writer::new(Vec::new());
        if self.is_refusal {
            part.string("type", "refusal");
            part.escaped("refusal", &self.text);
        } else {
            part.string("type", "output_text");
            part.raw("annotations", "[]");
            part.raw("logprobs", "[]");
            part.escaped("text", &self.text);
        }
        text(part)
    }
}

pub(crate) fn message(id: &str, is_done: bool, content: &[Content]) -> String {
    let mut item = Writer::new(Vec::new());
    item.escaped("id", id);
    item.string("type", "message");
    item.string("status", status(is_done));
    item.string("role", "assistant");
    let parts: Vec<_> = content.iter().map(Content::json).collect();
    push_array(parts.iter().map(String::as_str), item.key("content"));
    text(item)
}

pub(crate) fn reasoning(id: &str, summary: &str, proof: Option<&str>) -> String {
    let mut item = Writer::new(Vec::new());
    item.escaped("id", id);
    item.string("type", "reasoning");
    let part = summary_part(summary);
    let parts = (!summary.is_empty()).then_some(part.as_str());
    push_array(parts, item.key("summary"));
    if let Some(proof) = proof {
        item.escaped("encrypted_content", proof);
    }
    text(item)
}

pub(crate) fn summary_part(summary: &str) -> String {
    let mut part = Writer::new(Vec::new());
    part.string("type", "summary_text");
    part.escaped("text", summary);
    text(part)
}

/// A tool call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) item_id: String,
    pub(crate) call_id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) custom: bool,
}

impl Call {
    /// `status` is one of [`IN_PROGRESS`], [`COMPLETED`], [`INCOMPLETE`].
    pub(crate) fn json(&self, status: &str) -> String {
        let mut item = Writer::new(Vec::new());
        item.escaped("id", &self.item_id);
        item.string("type", if self.custom { "custom_tool_call" } else { "function_call" });
        item.string("status", status);
        let arguments = self.arguments(status == COMPLETED);
        item.escaped(if self.custom { "input" } else { "arguments" }, arguments);
        item.escaped("call_id", &self.call_id);
        if let Some((namespace, name)) = self.name.split_once(NAMESPACE_END) {
            item.escaped("namespace", namespace);
            item.escaped("name", name);
        } else {
            item.escaped("name", &self.name);
        }
        text(item)
    }

    /// Whether its arguments are complete JSON, or are free text.
    pub(crate) fn is_whole(&self) -> bool {
        let mut end = JsonEnd::new(self.custom);
        end.feed(&self.arguments);
        self.custom || end.is_reached()
    }

    /// Its arguments. Clients read them as JSON, and an empty text is not JSON.
    pub(crate) fn arguments(&self, is_done: bool) -> &str {
        if is_done && self.arguments.is_empty() && !self.custom { "{}" } else { &self.arguments }
    }
}

/// The response itself.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub(crate) id: &'a str,
    pub(crate) model: &'a str,
    /// Unix seconds.
    pub(crate) created: i64,
    /// `None` while it runs.
    pub(crate) ended: Option<(Option<Finish>, &'a Facts)>,
    /// Items as JSON.
    pub(crate) output: &'a [&'a str],
}

impl Response<'_> {
    pub(crate) fn json(&self) -> String {
        let mut body = Writer::new(Vec::new());
        body.escaped("id", self.id);
        body.string("object", "response");
        body.raw("created_at", &self.created.to_string());
        let finish = self.ended.and_then(|(finish, _)| finish);
        let reason = incomplete_reason(finish);
        body.string("status", self.status());
        body.raw("background", "false");
        body.raw("error", "null");
        match reason.filter(|_| self.ended.is_some()) {
            Some(reason) => {
                body.raw("incomplete_details", &format!(r#"{{"reason":"{reason}"}}"#));
            }
            None => body.raw("incomplete_details", "null"),
        }
        body.raw("instructions", "null");
        body.raw("max_output_tokens", "null");
        body.raw("metadata", "{}");
        body.escaped("model", self.model);
        push_array(self.output.iter().copied(), body.key("output"));
        body.raw("parallel_tool_calls", "true");
        body.raw("previous_response_id", "null");
        body.raw("reasoning", r#"{"effort":null,"summary":null}"#);
        body.raw("store", "false");
        body.raw("temperature", "null");
        body.raw("text", r#"{"format":{"type":"text"}}"#);
        body.string("tool_choice", "auto");
        body.raw("tools", "[]");
        body.raw("top_p", "null");
        body.string("truncation", "disabled");
        match self.ended {
            Some((_, facts)) => body.raw("usage", &usage(&facts.usage)),
            None => body.raw("usage", "null"),
        }
        body.raw("user", "null");
        text(body)
    }

    /// Its status; also the last word of its terminal event's name.
    pub(crate) fn status(&self) -> &'static str {
        match self.ended {
            None => "in_progress",
            Some((finish, _)) if incomplete_reason(finish).is_some() => "incomplete",
            Some(_) => "completed",
        }
    }
}

const fn incomplete_reason(finish: Option<Finish>) -> Option<&'static str> {
    match finish {
        Some(Finish::Length) => Some("max_output_tokens"),
        Some(Finish::ContentFilter | Finish::Refusal) => Some("content_filter"),
        _ => None,
    }
}

/// The status of an item: it goes on, it is whole, or it was cut at a limit.
pub(crate) const IN_PROGRESS: &str = "in_progress";
pub(crate) const COMPLETED: &str = "completed";
pub(crate) const INCOMPLETE: &str = "incomplete";

const fn status(is_done: bool) -> &'static str {
    if is_done { COMPLETED } else { IN_PROGRESS }
}

fn usage(usage: &Usage) -> String {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let (cached, written) = (usage.cached.unwrap_or(0), usage.cache_write.unwrap_or(0));
    let reasoning = usage.reasoning.unwrap_or(0);
    let total = input.saturating_add(output);
    format!(
        r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":{cached},"cache_write_tokens":{written}}},"output_tokens":{output},"output_tokens_details":{{"reasoning_tokens":{reasoning}}},"total_tokens":{total}}}"#
    )
}

fn text(writer: Writer) -> String {
    String::from_utf8_lossy(&writer.finish()).into_owned()
}
