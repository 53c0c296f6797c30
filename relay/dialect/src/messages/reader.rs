//! Reads an Anthropic provider's answer.

use crate::common::json::{elements, members, number, raw_members, word};
use crate::errors::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::messages::finish::STOP_REASONS;
use crate::messages::usage::Counts;
use crate::neutral::{Event, Meaning, Text};
use crate::stream::facts::{End, Facts};
use crate::stream::observer::{Observer, Reader};
use crate::stream::sse;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Reads a stream of messages.
#[derive(Debug, Default)]
pub(crate) struct MessagesReader {
    /// The provider is known to send stop reasons.
    finishes: bool,
    begun: bool,
    counts: Counts,
    blocks: HashMap<u64, Block>,
    calls: usize,
    /// How many bytes the open blocks need.
    held: usize,
}

/// A block that has begun.
#[derive(Debug, Clone)]
enum Block {
    /// The client's tool is called.
    Call {
        call: usize,
        /// Arguments from the block's start; they count if no delta brings others.
        input: Option<String>,
    },
    /// The provider runs a tool of its own.
    Served,
    Other,
}

raw_members! {
    /// The members of an event that are read.
    Members {
        kind: "type",
        index: "index",
        message: "message",
        content_block: "content_block",
        delta: "delta",
        usage: "usage",
        error: "error",
    }
}

raw_members! {
    /// A message, a content block or a delta.
    Part {
        kind: "type",
        id: "id",
        model: "model",
        usage: "usage",
        content: "content",
        name: "name",
        input: "input",
        text: "text",
        thinking: "thinking",
        signature: "signature",
        data: "data",
        partial_json: "partial_json",
        stop_reason: "stop_reason",
        stop_sequence: "stop_sequence",
    }
}

impl Reader for MessagesReader {
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
        let Ok(members) = serde_json::from_str::<Members<'_>>(&text) else {
            return observer.facts().broken();
        };
        match word(members.kind) {
            "message_start" => return self.message_start(&members, observer),
            "content_block_start" => return self.block_start(&members, observer),
            "content_block_delta" => return self.delta(&members, observer),
            "content_block_stop" => self.block_stop(&members, observer),
            "message_delta" => return self.message_delta(&members, observer),
            "message_stop" => {
                self.end_blocks(observer);
                return Some(self.done(observer.facts()));
            }
            "error" => return Some(End::Error(parse_error(text.as_bytes()))),
            // Some servers send an error without a type that says so.
            _ if members.error.is_some() || is_text(members.message) => {
                return Some(End::Error(parse_error(text.as_bytes())));
            }
            _ => {}
        }
        None
    }

    fn whole(&mut self, body: &str, observer: &mut Observer<'_>) -> End {
        let Ok(message) = serde_json::from_str::<Part<'_>>(body) else {
            return End::Broken("the body is not JSON");
        };
        if word(message.kind) != "message" {
            let error = parse_error(body.as_bytes());
            let is_error = !error.message.is_empty() || error.kind.is_some();
            return if is_error {
                End::Error(error)
            } else {
                End::Broken("the body is no message")
            };
        }
        observer.emit(&Event::Begin { id: Text::of(message.id), model: Text::of(message.model) });
        for raw in elements(message.content) {
            match self.begin(&members(Some(raw)), observer) {
                Ok(begun) => end(begun, observer),
                Err(end) => return *end,
            }
        }
        self.count(message.usage, observer);
        if let Some(end) = finish(&message, observer) {
            return end;
        }
        let facts = observer.facts();
        match (facts.finish, facts.content) {
            (Some(_), _) => End::Proper,
            (None, true) => self.done(facts),
            (None, false) => End::Broken("the body has neither content nor a stop reason"),
        }
    }

    fn end_of_body(&mut self, _facts: &Facts) -> End {
        End::Cut
    }

    fn held(&self) -> usize {
        self.held
    }
}

/// The memory of an open block besides its text.
const BLOCK: usize = 128;

impl Block {
    fn held(&self) -> usize {
        let input = match self {
            Self::Call { input: Some(input), .. } => input.len(),
            _ => 0,
        };
        input.saturating_add(BLOCK)
    }
}

fn is_text(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('"'))
}

impl MessagesReader {
    /// `finishes`: the provider is known to send stop reasons.
    pub(crate) fn new(finishes: bool) -> Self {
        Self { finishes, ..Self::default() }
    }

    /// What kind of end the end of a message is. Without a stop reason it is proper, unless the
    /// provider is known to send stop reasons. An empty answer is whole; others decide what it is
    /// worth.
    const fn done(&self, facts: &mut Facts) -> End {
        facts.done = true;
        let is_cut = self.finishes && facts.content && facts.finish.is_none();
        if is_cut { End::Cut } else { End::Proper }
    }

    fn message_start(&mut self, members: &Members<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let message: Part<'_> = self::members(members.message);
        if std::mem::replace(&mut self.begun, true) {
            // Some proxies send it twice. After content it is the start of another answer.
            let facts = observer.facts();
            if facts.content || facts.finish.is_some() || !self.blocks.is_empty() {
                return Some(End::Broken("protocol: a second message began within the first"));
            }
        } else {
            observer
                .emit(&Event::Begin { id: Text::of(message.id), model: Text::of(message.model) });
        }
        self.count(message.usage, observer);
        None
    }

    fn block_start(&mut self, members: &Members<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let begun = match self.begin(&self::members(members.content_block), observer) {
            Ok(begun) => begun,
            Err(end) => return Some(*end),
        };
        if let Some(index) = number(members.index) {
            self.held = self.held.saturating_add(begun.held());
            let before = self.blocks.insert(index, begun);
            self.held = self.held.saturating_sub(before.as_ref().map_or(0, Block::held));
        }
        None
    }

    /// Begins a block, and emits what it already holds.
    fn begin(&mut self, block: &Part<'_>, observer: &mut Observer<'_>) -> Result<Block, Box<End>> {
        match word(block.kind) {
            "text" => emit_text(block.text, observer, Event::Text),
            "thinking" => {
                emit_text(block.thinking, observer, Event::Reasoning);
                emit_text(block.signature, observer, Event::Signature);
            }
            "redacted_thinking" => {
                emit_text(block.data, observer, Event::Redacted);
                observer.activity();
            }
            "tool_use" => {
                let call = self.calls;
                self.calls += 1;
                let (id, name) = (Text::of(block.id), Text::of(block.name));
                if name.is_empty() {
                    return Err(Box::new(End::Broken("a tool call without a name")));
                }
                observer.emit(&Event::Call { call, id, name, custom: false });
                return Ok(Block::Call { call, input: given(block.input) });
            }
            "" => {}
            // The provider's own tools, their results, and blocks that are newer than this version.
            _ => {
                observer.activity();
                return Ok(Block::Served);
            }
        }
        Ok(Block::Other)
    }

    fn delta(&mut self, members: &Members<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let delta: Part<'_> = self::members(members.delta);
        match word(delta.kind) {
            "text_delta" => emit_text(delta.text, observer, Event::Text),
            "thinking_delta" => emit_text(delta.thinking, observer, Event::Reasoning),
            "signature_delta" => emit_text(delta.signature, observer, Event::Signature),
            "input_json_delta" => {
                let block = number(members.index).and_then(|index| self.blocks.get_mut(&index));
                let json = Text::json(delta.partial_json);
                match block {
                    Some(Block::Call { call, input }) if !json.is_empty() => {
                        let spared = input.take().map_or(0, |input| input.len());
                        self.held = self.held.saturating_sub(spared);
                        observer.emit(&Event::Arguments { call: *call, json });
                    }
                    Some(Block::Served) if !json.is_empty() => observer.activity(),
                    None if !json.is_empty() => {
                        let lost = "arguments of a tool call that never began";
                        return Some(End::Broken(lost));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        None
    }

    /// Ends the blocks that are still open.
    fn end_blocks(&mut self, observer: &mut Observer<'_>) {
        self.held = 0;
        let mut open: Vec<(u64, Block)> = self.blocks.drain().collect();
        open.sort_by_key(|(index, _)| *index);
        open.into_iter().for_each(|(_, block)| end(block, observer));
    }

    fn block_stop(&mut self, members: &Members<'_>, observer: &mut Observer<'_>) {
        let block = number(members.index).and_then(|index| self.blocks.remove(&index));
        if let Some(block) = block {
            self.held = self.held.saturating_sub(block.held());
            end(block, observer);
        }
    }

    fn message_delta(&mut self, members: &Members<'_>, observer: &mut Observer<'_>) -> Option<End> {
        self.count(members.usage, observer);
        let delta: Part<'_> = self::members(members.delta);
        if !word(delta.stop_reason).is_empty() {
            self.end_blocks(observer);
        }
        finish(&delta, observer)
    }

    fn count(&mut self, usage: Option<&RawValue>, observer: &mut Observer<'_>) {
        if let Some(usage) = usage {
            self.counts.replace(usage);
            observer.usage(self.counts.usage());
        }
    }
}

/// Ends a block; arguments that came with its start are emitted now.
fn end(block: Block, observer: &mut Observer<'_>) {
    if let Block::Call { call, input: Some(input) } = block {
        observer.emit(&Event::Arguments { call, json: Text::plain(&input) });
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

fn finish(part: &Part<'_>, observer: &mut Observer<'_>) -> Option<End> {
    let reason = word(part.stop_reason);
    let finish = match STOP_REASONS.meaning(reason) {
        Meaning::NotYet => return None,
        Meaning::Finished(finish) => finish,
        Meaning::Interrupted => return Some(End::Error(ProviderError::interrupted(reason))),
    };
    let stop_sequence = part.stop_sequence.and_then(Text::of_raw);
    observer.emit(&Event::Finish { finish, stop_sequence });
    None
}

/// The input with which a call begins; an empty object counts as none.
fn given(input: Option<&RawValue>) -> Option<String> {
    let json = Text::json(input);
    let plain = json.decoded();
    let is_empty =
        plain.trim_ascii().strip_prefix('{').is_some_and(|rest| rest.trim_ascii() == "}");
    (!plain.trim_ascii().is_empty() && !is_empty).then(|| plain.into_owned())
}
