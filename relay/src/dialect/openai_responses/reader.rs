//! What a provider of responses says.
//!
//! Items are told apart by their place in the output: some servers give one item
//! another id in each event.

use super::usage::counts;
use crate::dialect::answer::{End, Facts, Hearing, Reader};
use crate::dialect::json::{elements, is_truthy, members, number, string_inner, word};
use crate::dialect::neutral::{Event, Finish, Text};
use crate::dialect::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::dialect::sse;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Reads a stream of response events.
#[derive(Debug, Default)]
pub(in crate::dialect) struct ResponsesReader {
    begun: bool,
    calls: usize,
    items: HashMap<u64, Item>,
    refusal: bool,
}

/// What was said of one output item so far.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    call: Option<usize>,
    /// Its text or arguments came in pieces, so the whole need not be said again.
    told: bool,
    signed: bool,
}

/// The members of an event that are looked at.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Members<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    output_index: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A response.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
}

/// An output item, or a part of one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    encrypted_content: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
}

impl Reader for ResponsesReader {
    fn event(&mut self, event: &sse::Event<'_>, hearing: &mut Hearing<'_>) -> Option<End> {
        let data = event.data.trim_ascii();
        if data.first() != Some(&b'{') {
            if event.name == b"error" {
                return Some(End::Error(parse_error_event(data)));
            }
            hearing.facts().drop_one();
            return None;
        }
        let text = String::from_utf8_lossy(event.data);
        let Ok(event) = serde_json::from_str::<Members<'_>>(&text) else {
            return hearing.facts().broken();
        };
        let kind = word(event.kind);
        match kind {
            "error" => return Some(End::Error(parse_error(text.as_bytes()))),
            "response.completed" | "response.incomplete" | "response.failed" => {
                return Some(self.ended(&event, hearing));
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                self.begin(event.response, hearing);
            }
            "response.output_item.added" => self.added(&event, hearing),
            "response.output_item.done" => self.done(&event, hearing),
            _ if kind.ends_with(".delta") => self.delta(kind, &event, hearing),
            _ if kind.ends_with(".done") => self.piece_done(kind, &event, hearing),
            // An error under no type at all.
            "" if event.error.is_some_and(|raw| is_truthy(raw.get())) => {
                return Some(End::Error(parse_error(text.as_bytes())));
            }
            _ => {}
        }
        None
    }

    fn whole(&mut self, body: &str, hearing: &mut Hearing<'_>) -> End {
        let Ok(raw) = serde_json::from_str::<&RawValue>(body) else {
            return End::Broken("the body is not JSON");
        };
        let response: Response<'_> = members(Some(raw));
        if word(response.object) != "response" {
            let error = parse_error(body.as_bytes());
            let is_error = !error.message.is_empty() || error.kind.is_some();
            return if is_error {
                End::Error(error)
            } else {
                End::Broken("the body is no response")
            };
        }
        self.begin(Some(raw), hearing);
        for (place, item) in elements(response.output).into_iter().enumerate() {
            self.whole_item(place as u64, item, hearing);
        }
        match word(response.status) {
            "completed" | "incomplete" => self.finish(&response, hearing),
            "failed" => End::Error(failure(&response)),
            _ => End::Broken("the response has not ended"),
        }
    }

    fn end_of_body(&mut self, _facts: &Facts) -> End {
        End::Cut
    }
}

impl ResponsesReader {
    fn begin(&mut self, response: Option<&RawValue>, hearing: &mut Hearing<'_>) {
        let response: Response<'_> = members(response);
        if !std::mem::replace(&mut self.begun, true) {
            let (id, model) = (Text::of(response.id), Text::of(response.model));
            hearing.say(&Event::Begin { id, model });
        }
    }

    fn ended(&mut self, event: &Members<'_>, hearing: &mut Hearing<'_>) -> End {
        if event.response.is_none_or(|raw| !raw.get().starts_with('{')) {
            return End::Broken("a terminal event without its response");
        }
        hearing.facts().done = true;
        let mut response: Response<'_> = members(event.response);
        if let Some(usage) = response.usage.and_then(counts) {
            hearing.usage(usage);
        }
        if word(event.kind) == "response.failed" {
            return End::Error(failure(&response));
        }
        if word(event.kind) == "response.incomplete" && response.status.is_none() {
            response.status = event.kind;
        }
        // What no event brought may stand in the whole.
        if !hearing.facts().content {
            for (place, item) in elements(response.output).into_iter().enumerate() {
                self.whole_item(place as u64, item, hearing);
            }
        }
        self.finish(&response, hearing)
    }

    fn finish(&self, response: &Response<'_>, hearing: &mut Hearing<'_>) -> End {
        if let Some(usage) = response.usage.and_then(counts) {
            hearing.usage(usage);
        }
        let details: Response<'_> = members(response.incomplete_details);
        let finish = match (word(response.status), word(details.reason)) {
            (_, "max_output_tokens" | "max_tokens") => Finish::Length,
            (_, "content_filter") => Finish::ContentFilter,
            ("incomplete" | "response.incomplete", _) => Finish::Other,
            _ if self.calls > 0 => Finish::ToolCalls,
            _ => Finish::Stop,
        };
        hearing.say(&Event::Finish { finish, stop_sequence: None });
        End::Proper
    }

    fn item(&mut self, event: &Members<'_>) -> &mut Item {
        self.items.entry(number(event.output_index).unwrap_or_default()).or_default()
    }

    fn added(&mut self, event: &Members<'_>, hearing: &mut Hearing<'_>) {
        let item: Part<'_> = members(event.item);
        match word(item.kind) {
            "function_call" | "custom_tool_call" => {
                let call = self.call(&item, hearing);
                *self.item(event) = Item { call: Some(call), ..Item::default() };
            }
            "message" | "reasoning" | "" => {
                *self.item(event) = Item::default();
            }
            // The provider's own tools.
            _ => hearing.activity(),
        }
    }

    fn call(&mut self, item: &Part<'_>, hearing: &mut Hearing<'_>) -> usize {
        let call = self.calls;
        self.calls += 1;
        let id = Text::of(item.call_id.or(item.id));
        let custom = word(item.kind) == "custom_tool_call";
        hearing.say(&Event::Call { call, id, name: Text::of(item.name), custom });
        call
    }

    fn delta(&mut self, kind: &str, event: &Members<'_>, hearing: &mut Hearing<'_>) {
        let text = Text::of(event.delta);
        if text.is_empty() {
            return;
        }
        match kind {
            "response.output_text.delta" => {
                self.item(event).told = true;
                hearing.say(&Event::Text(text));
            }
            "response.refusal.delta" => {
                self.refusal = true;
                self.item(event).told = true;
                hearing.say(&Event::Refusal(text));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.item(event).told = true;
                hearing.say(&Event::Reasoning(text));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let item = self.item(event);
                item.told = true;
                if let Some(call) = item.call {
                    hearing.say(&Event::Arguments { call, json: text });
                }
            }
            // A provider's own tool at work.
            _ => hearing.activity(),
        }
    }

    /// A piece is done: some servers say it only now.
    fn piece_done<'e>(&mut self, kind: &str, event: &Members<'e>, hearing: &mut Hearing<'_>) {
        let item = self.item(event);
        if item.told {
            return;
        }
        let (text, as_event): (_, fn(Text<'e>) -> Event<'e>) = match kind {
            "response.output_text.done" => (event.text, Event::Text),
            "response.refusal.done" => (event.refusal, Event::Refusal),
            "response.reasoning_summary_text.done" | "response.reasoning_text.done" => {
                (event.text, Event::Reasoning)
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                let json = Text::of(event.arguments.or(event.input));
                if let Some(call) = item.call.filter(|_| !json.is_empty()) {
                    item.told = true;
                    hearing.say(&Event::Arguments { call, json });
                }
                return;
            }
            _ => return,
        };
        let text = Text::of(text);
        if !text.is_empty() {
            item.told = true;
            hearing.say(&as_event(text));
        }
    }

    fn done(&mut self, event: &Members<'_>, hearing: &mut Hearing<'_>) {
        if let Some(raw) = event.item {
            self.whole_item(number(event.output_index).unwrap_or_default(), raw, hearing);
        }
    }

    /// An item as a whole: says what was not said of it in pieces.
    fn whole_item(&mut self, place: u64, raw: &RawValue, hearing: &mut Hearing<'_>) {
        let item: Part<'_> = members(Some(raw));
        let known = self.items.get(&place).copied().unwrap_or_default();
        match word(item.kind) {
            "function_call" | "custom_tool_call" => {
                let call = known.call.unwrap_or_else(|| self.call(&item, hearing));
                let json = Text::of(item.arguments.or(item.input));
                if !known.told && !json.is_empty() {
                    hearing.say(&Event::Arguments { call, json });
                }
                self.items.insert(place, Item { call: Some(call), told: true, signed: false });
            }
            "message" if !known.told => {
                for part in elements(item.content) {
                    let part: Part<'_> = members(Some(part));
                    say(part.text, hearing, Event::Text);
                    say(part.refusal, hearing, Event::Refusal);
                }
                self.items.insert(place, Item { told: true, ..known });
            }
            "reasoning" => {
                for part in elements(item.summary).into_iter().chain(elements(item.content)) {
                    let part: Part<'_> = members(Some(part));
                    if !known.told {
                        say(part.text, hearing, Event::Reasoning);
                    }
                }
                if !known.signed {
                    say(item.encrypted_content, hearing, Event::Signature);
                }
                self.items.insert(place, Item { told: true, signed: true, ..known });
            }
            "message" => {}
            _ => hearing.activity(),
        }
    }
}

fn say<'e>(
    raw: Option<&'e RawValue>,
    hearing: &mut Hearing<'_>,
    event: impl FnOnce(Text<'e>) -> Event<'e>,
) {
    let text = Text::of(raw);
    if !text.is_empty() {
        hearing.say(&event(text));
    }
}

/// The error of a response that failed.
fn failure(response: &Response<'_>) -> ProviderError {
    let is_some =
        response.error.is_some_and(|raw| string_inner(raw.get()).is_some() || is_truthy(raw.get()));
    let raw = response.error.filter(|_| is_some).map_or("{}", RawValue::get);
    let mut error = parse_error(format!(r#"{{"error":{raw}}}"#).as_bytes());
    if error.message.is_empty() && error.code.is_none() && error.kind.is_none() {
        error.kind = Some("server_error".to_owned());
        "The provider ended its response as failed, without saying why."
            .clone_into(&mut error.message);
    }
    error
}
