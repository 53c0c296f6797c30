//! Reads an answer of a responses provider.
//!
//! Items are told apart by their place in the output, because some servers give one item another id
//! in each event.

use crate::common::json::{elements, is_truthy, members, place, raw_members, string_inner, word};
use crate::errors::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::neutral::{Event, Finish, Meaning, Text};
use crate::responses::finish::{ITEM_STATUSES, REASONS, STATUSES};
use crate::responses::usage::counts;
use crate::stream::facts::{End, Facts};
use crate::stream::observer::{Observer, Reader};
use crate::stream::sse;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Reads a stream of response events.
#[derive(Debug, Default)]
pub(crate) struct ResponsesReader {
    begun: bool,
    created: bool,
    calls: usize,
    items: HashMap<u64, Item>,
    /// How many bytes the items need.
    held: usize,
    /// The places of items that are known only by their ids.
    by_id: HashMap<String, u64>,
    emitted: ItemState,
    extra: u64,
    /// An item is done, but its status means that it is not whole.
    cut_item: bool,
    /// A call never got its name.
    nameless: bool,
}

/// The first place for items whose events have no place. No answer has so many items.
const EXTRA: u64 = 1 << 32;

/// Which kinds of items were emitted.
#[derive(Debug, Default)]
struct ItemState {
    message: bool,
    reasoning: bool,
    /// The ids of the calls.
    calls: HashSet<String>,
}

/// What was emitted of one output item so far.
#[derive(Debug, Default)]
struct Item {
    call: Option<usize>,
    /// Its arguments were emitted, in pieces or whole.
    emitted: bool,
    signed: bool,
    /// The parts of its content and its summary that were emitted, in pieces or whole.
    parts: HashSet<(Kind, u64)>,
}

/// The list that a part of an item belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Content,
    Summary,
}

/// The memory of an item, and of a part of one.
const ITEM: usize = 256;
const PART: usize = 48;

raw_members! {
    /// The members of an event that are read.
    Members {
        kind: "type",
        response: "response",
        output_index: "output_index",
        item_id: "item_id",
        content_index: "content_index",
        summary_index: "summary_index",
        item: "item",
        delta: "delta",
        text: "text",
        refusal: "refusal",
        arguments: "arguments",
        input: "input",
        error: "error",
    }
}

raw_members! {
    /// A response.
    Response {
        object: "object",
        id: "id",
        model: "model",
        status: "status",
        output: "output",
        usage: "usage",
        error: "error",
        incomplete_details: "incomplete_details",
        reason: "reason",
    }
}

raw_members! {
    /// An output item, or a part of one.
    Part {
        kind: "type",
        status: "status",
        call_id: "call_id",
        id: "id",
        name: "name",
        arguments: "arguments",
        input: "input",
        content: "content",
        summary: "summary",
        encrypted_content: "encrypted_content",
        text: "text",
        refusal: "refusal",
    }
}

impl Reader for ResponsesReader {
    fn event(&mut self, event: &sse::Event<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let data = event.data.trim_ascii();
        if event.name == b"error" {
            return Some(End::Error(parse_error_event(data)));
        }
        if data.first() != Some(&b'{') {
            observer.facts().drop_one();
            return None;
        }
        let text = String::from_utf8_lossy(event.data);
        let Ok(event) = serde_json::from_str::<Members<'_>>(&text) else {
            return observer.facts().broken();
        };
        let kind = word(event.kind);
        match kind {
            "error" => return Some(End::Error(parse_error(text.as_bytes()))),
            _ if ending(kind).is_some() => return Some(self.ended(&event, observer)),
            "response.error" => return Some(End::Error(parse_error(text.as_bytes()))),
            "response.created" => return self.created(event.response, observer),
            "response.in_progress" | "response.queued" => self.begin(event.response, observer),
            "response.output_item.added" => self.added(&event, observer),
            "response.output_item.done" => self.done(&event, observer),
            _ if kind.ends_with(".delta") => return self.delta(kind, &event, observer),
            _ if kind.ends_with(".done") => self.piece_done(kind, &event, observer),
            // An error without a type.
            "" if event.error.is_some_and(|raw| is_truthy(raw.get())) => {
                return Some(End::Error(parse_error(text.as_bytes())));
            }
            _ => {}
        }
        None
    }

    fn whole(&mut self, body: &str, observer: &mut Observer<'_>) -> End {
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
        self.begin(Some(raw), observer);
        for (place, item) in elements(response.output).into_iter().enumerate() {
            self.whole_item(place as u64, item, observer);
        }
        self.finish("", &response, observer)
    }

    fn end_of_body(&mut self, _facts: &Facts) -> End {
        End::Cut
    }

    fn held(&self) -> usize {
        self.held
    }
}

impl ResponsesReader {
    /// Handles the creation of a response. After content it is the start of another answer.
    fn created(&mut self, response: Option<&RawValue>, observer: &mut Observer<'_>) -> Option<End> {
        if std::mem::replace(&mut self.created, true) && observer.facts().content {
            return Some(End::Broken("protocol: a second response began within the first"));
        }
        self.begin(response, observer);
        None
    }

    fn begin(&mut self, response: Option<&RawValue>, observer: &mut Observer<'_>) {
        let response: Response<'_> = members(response);
        if !std::mem::replace(&mut self.begun, true) {
            let (id, model) = (Text::of(response.id), Text::of(response.model));
            observer.emit(&Event::Begin { id, model });
        }
    }

    fn ended(&mut self, event: &Members<'_>, observer: &mut Observer<'_>) -> End {
        if event.response.is_none_or(|raw| !raw.get().starts_with('{')) {
            return End::Broken("a terminal event without its response");
        }
        observer.facts().done = true;
        let response: Response<'_> = members(event.response);
        // Content that came in no event may be in the whole response. Places cannot be trusted
        // here: some servers count from 1 in their events, or leave places out.
        for raw in elements(response.output) {
            let item: Part<'_> = members(Some(raw));
            let is_emitted = match word(item.kind) {
                "message" => self.emitted.message,
                "reasoning" => self.emitted.reasoning,
                _ => self.emitted.calls.contains(Text::of(item.call_id.or(item.id)).escaped()),
            };
            if !is_emitted {
                self.extra += 1;
                self.whole_item(EXTRA.saturating_add(self.extra), raw, observer);
            }
        }
        self.finish(ending(word(event.kind)).unwrap_or_default(), &response, observer)
    }

    /// Finds the end of a response. `ending` is the last word of its terminal event's type, which
    /// counts if the status is old or missing.
    fn finish(&self, ending: &str, response: &Response<'_>, observer: &mut Observer<'_>) -> End {
        if let Some(usage) = response.usage.and_then(counts) {
            observer.usage(usage);
        }
        let status = word(response.status);
        let details: Response<'_> = members(response.incomplete_details);
        let reason = word(details.reason);
        let words = [STATUSES.meaning(status), STATUSES.meaning(ending)];
        if words.contains(&Meaning::Interrupted) {
            return End::Error(failure(response, [status, ending]));
        }
        let Some(finish) = words.into_iter().find_map(finished) else {
            return End::Broken("the response has not ended");
        };
        if self.nameless {
            return End::Broken("a tool call without a name");
        }
        let finish = match REASONS.meaning(reason) {
            Meaning::Finished(finish) => finish,
            Meaning::NotYet if finish == Finish::Stop => match self.cut_item {
                true => return End::Broken("a complete response with an item that is not"),
                false if self.calls > 0 => Finish::ToolCalls,
                false => finish,
            },
            // The response was cut, and gives no reason.
            Meaning::NotYet => return End::Error(ProviderError::interrupted("incomplete")),
            Meaning::Interrupted => return End::Error(ProviderError::interrupted(reason)),
        };
        observer.emit(&Event::Finish { finish, stop_sequence: None });
        End::Proper
    }

    fn item(&mut self, place: u64) -> &mut Item {
        let held = &mut self.held;
        self.items.entry(place).or_insert_with(|| {
            *held = held.saturating_add(ITEM);
            Item::default()
        })
    }

    /// The place of the item that an event is about: by its index, else by its id.
    fn place_of(&mut self, event: &Members<'_>) -> u64 {
        if let Some(place) = place(event.output_index) {
            return place;
        }
        let item: Part<'_> = members(event.item);
        let id = Text::of(event.item_id.or(item.id));
        if let Some(place) = self.by_id.get(id.escaped()) {
            return *place;
        }
        let place = EXTRA / 2 + self.by_id.len() as u64;
        self.held = self.held.saturating_add(id.escaped().len()).saturating_add(ITEM);
        self.by_id.insert(id.escaped().to_owned(), place);
        place
    }

    /// Marks a part as emitted. Returns whether it was not marked before.
    fn mark_emitted(&mut self, place: u64, part: (Kind, u64)) -> bool {
        let is_new = self.item(place).parts.insert(part);
        self.held = self.held.saturating_add(if is_new { PART } else { 0 });
        is_new
    }

    fn added(&mut self, event: &Members<'_>, observer: &mut Observer<'_>) {
        let item: Part<'_> = members(event.item);
        let place = self.place_of(event);
        match word(item.kind) {
            "function_call" | "custom_tool_call" if !Text::of(item.name).is_empty() => {
                let call = self.call(&item, observer);
                *self.item(place) = Item { call: Some(call), ..Item::default() };
            }
            // It gets its name when it is done, or never.
            "function_call" | "custom_tool_call" => {
                *self.item(place) = Item::default();
                observer.activity();
            }
            "message" | "reasoning" | "" => *self.item(place) = Item::default(),
            // The provider's own tools.
            _ => observer.activity(),
        }
    }

    fn call(&mut self, item: &Part<'_>, observer: &mut Observer<'_>) -> usize {
        let call = self.calls;
        self.calls += 1;
        let id = Text::of(item.call_id.or(item.id));
        let custom = word(item.kind) == "custom_tool_call";
        self.held = self.held.saturating_add(id.escaped().len()).saturating_add(ITEM);
        self.emitted.calls.insert(id.escaped().to_owned());
        observer.emit(&Event::Call { call, id, name: Text::of(item.name), custom });
        call
    }

    fn delta(
        &mut self,
        kind: &str,
        event: &Members<'_>,
        observer: &mut Observer<'_>,
    ) -> Option<End> {
        let text = Text::of(event.delta);
        let place = self.place_of(event);
        if text.is_empty() {
            return None;
        }
        let said = match kind {
            "response.output_text.delta" => Event::Text(text),
            "response.refusal.delta" => Event::Refusal(text),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                Event::Reasoning(text)
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let item = self.item(place);
                item.emitted = true;
                let Some(call) = item.call else {
                    return Some(End::Broken("arguments of a tool call that never began"));
                };
                observer.emit(&Event::Arguments { call, json: text });
                return None;
            }
            // A provider's own tool at work.
            _ => {
                observer.activity();
                return None;
            }
        };
        self.mark_emitted(place, part_of(kind, event));
        self.note(&said);
        observer.emit(&said);
        None
    }

    const fn note(&mut self, said: &Event<'_>) {
        match said {
            Event::Reasoning(_) => self.emitted.reasoning = true,
            _ => self.emitted.message = true,
        }
    }

    /// Handles the end of a part: some servers send its text only now.
    fn piece_done<'e>(&mut self, kind: &str, event: &Members<'e>, observer: &mut Observer<'_>) {
        let place = self.place_of(event);
        let (text, as_event): (_, fn(Text<'e>) -> Event<'e>) = match kind {
            "response.output_text.done" => (event.text, Event::Text),
            "response.refusal.done" => (event.refusal, Event::Refusal),
            "response.reasoning_summary_text.done" | "response.reasoning_text.done" => {
                (event.text, Event::Reasoning)
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                let json = Text::json(event.arguments.or(event.input));
                let item = self.item(place);
                if let Some(call) = item.call.filter(|_| !json.is_empty() && !item.emitted) {
                    item.emitted = true;
                    observer.emit(&Event::Arguments { call, json });
                }
                return;
            }
            _ => return,
        };
        let text = Text::of(text);
        if !text.is_empty() && self.mark_emitted(place, part_of(kind, event)) {
            let said = as_event(text);
            self.note(&said);
            observer.emit(&said);
        }
    }

    fn done(&mut self, event: &Members<'_>, observer: &mut Observer<'_>) {
        if let Some(raw) = event.item {
            let place = self.place_of(event);
            self.whole_item(place, raw, observer);
        }
    }

    /// Reads a whole item, and emits what was not emitted in pieces.
    fn whole_item(&mut self, place: u64, raw: &RawValue, observer: &mut Observer<'_>) {
        let item: Part<'_> = members(Some(raw));
        let is_own = KINDS.contains(&word(item.kind));
        let status = ITEM_STATUSES.meaning(word(item.status));
        self.cut_item |= is_own && status == Meaning::Interrupted;
        match word(item.kind) {
            "function_call" | "custom_tool_call" => {
                let known = self.item(place).call;
                if known.is_none() && Text::of(item.name).is_empty() {
                    self.nameless = true;
                    return;
                }
                let call = known.unwrap_or_else(|| self.call(&item, observer));
                let json = Text::json(item.arguments.or(item.input));
                let slot = self.item(place);
                slot.call = Some(call);
                if !std::mem::replace(&mut slot.emitted, true) && !json.is_empty() {
                    observer.emit(&Event::Arguments { call, json });
                }
            }
            "message" => {
                self.emitted.message = true;
                self.whole_parts(place, false, Kind::Content, item.content, observer);
            }
            "reasoning" => {
                self.emitted.reasoning = true;
                self.whole_parts(place, true, Kind::Summary, item.summary, observer);
                self.whole_parts(place, true, Kind::Content, item.content, observer);
                if !std::mem::replace(&mut self.item(place).signed, true) {
                    emit_text(item.encrypted_content, observer, Event::Signature);
                }
            }
            _ => observer.activity(),
        }
    }

    fn whole_parts(
        &mut self,
        place: u64,
        is_thought: bool,
        kind: Kind,
        parts: Option<&RawValue>,
        observer: &mut Observer<'_>,
    ) {
        for (index, raw) in elements(parts).into_iter().enumerate() {
            let part: Part<'_> = members(Some(raw));
            if !self.mark_emitted(place, (kind, index as u64)) {
                continue;
            }
            match word(part.kind) {
                "summary_text" | "reasoning_text" => {
                    emit_text(part.text, observer, Event::Reasoning)
                }
                // Other parts of reasoning are not the answer's text.
                _ if is_thought => emit_text(part.text, observer, Event::Reasoning),
                _ => {
                    emit_text(part.text, observer, Event::Text);
                    emit_text(part.refusal, observer, Event::Refusal);
                }
            }
        }
    }
}

/// The model's own items. Other items are from the provider's tools.
const KINDS: [&str; 4] = ["message", "reasoning", "function_call", "custom_tool_call"];

/// The last word of a terminal event's type; `None`: the event is not terminal.
fn ending(kind: &str) -> Option<&str> {
    let word = kind.strip_prefix("response.")?;
    STATUSES.known(word).filter(|meaning| *meaning != Meaning::NotYet).map(|_| word)
}

const fn finished(meaning: Meaning) -> Option<Finish> {
    match meaning {
        Meaning::Finished(finish) => Some(finish),
        Meaning::NotYet | Meaning::Interrupted => None,
    }
}

/// The part of its item that an event of this kind is about.
fn part_of(kind: &str, event: &Members<'_>) -> (Kind, u64) {
    if kind.starts_with("response.reasoning_summary") {
        (Kind::Summary, place(event.summary_index).unwrap_or_default())
    } else {
        (Kind::Content, place(event.content_index).unwrap_or_default())
    }
}

fn emit_text<'e>(
    raw: Option<&'e RawValue>,
    observer: &mut Observer<'_>,
    event: impl FnOnce(Text<'e>) -> Event<'e>,
) {
    let text = Text::of(raw);
    if !text.is_empty() {
        observer.emit(&event(text));
    }
}

/// The error of a response without a proper end. `words` are its status and the last word of its
/// terminal event's type.
fn failure(response: &Response<'_>, words: [&str; 2]) -> ProviderError {
    let is_some =
        response.error.is_some_and(|raw| string_inner(raw.get()).is_some() || is_truthy(raw.get()));
    let raw = response.error.filter(|_| is_some).map_or("{}", RawValue::get);
    let error = parse_error(format!(r#"{{"error":{raw}}}"#).as_bytes());
    if !error.message.is_empty() || error.code.is_some() || error.kind.is_some() {
        return error;
    }
    if words.contains(&"failed") {
        return ProviderError {
            kind: Some("server_error".to_owned()),
            message: "The provider ended its response as failed, without saying why.".to_owned(),
            ..error
        };
    }
    let word = words.into_iter().find(|word| STATUSES.meaning(word) == Meaning::Interrupted);
    ProviderError::interrupted(word.unwrap_or_default())
}
