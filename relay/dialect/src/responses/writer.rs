//! Writes the events of a response in the order that OpenAI's clients need.

use crate::neutral::{Answer, Event, Finish, JsonEnd, Piece, Signed, decode};
use crate::responses::items::{
    COMPLETED, Call, Content, IN_PROGRESS, INCOMPLETE, Response, message, reasoning, summary_part,
};
use crate::stream::facts::{AnswerSpec, Facts};
use crate::stream::frame;
use crate::stream::observer::Writer;
use bytes::BytesMut;
use shared::Dialect;
use std::fmt::Write as _;

/// Writes a response's stream.
#[derive(Debug)]
pub(crate) struct ResponsesWriter {
    from: Dialect,
    request: String,
    created: i64,
    id: String,
    model: String,
    started: bool,
    sequence: u64,
    /// Items in order; open items have no JSON yet.
    items: Vec<String>,
    open: Option<Open>,
    calls: Vec<OpenCall>,
    /// The places of the calls whose arguments may go on.
    open_calls: Vec<usize>,
    is_broken: bool,
    finish: Option<Finish>,
    /// How many bytes the last event repeats.
    kept: usize,
    json: String,
}

/// The message or the reasoning that is open, with its place among the items.
#[derive(Debug)]
enum Open {
    Message(usize, Vec<Content>),
    Reasoning(usize, String),
}

/// A call, and whether it is done.
#[derive(Debug)]
struct OpenCall {
    at: usize,
    call: Call,
    end: JsonEnd,
    is_done: bool,
}

impl ResponsesWriter {
    pub(crate) fn new(spec: &AnswerSpec) -> Self {
        Self {
            from: spec.from,
            request: spec.request.to_string(),
            created: spec.created,
            id: String::new(),
            model: String::new(),
            started: false,
            sequence: 0,
            items: Vec::new(),
            open: None,
            calls: Vec::new(),
            open_calls: Vec::new(),
            is_broken: false,
            finish: None,
            kept: 0,
            json: String::new(),
        }
    }

    fn start(&mut self, model: &str, out: &mut BytesMut) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        // The relay's own id, not the provider's: a client may refer to it, and only the relay
        // could resolve it.
        self.id = format!("resp_{}", self.request);
        model.clone_into(&mut self.model);
        let response = self.response(None, &[]).json();
        for name in ["response.created", "response.in_progress"] {
            self.write_event(name, format_args!(r#""response":{response}"#), out);
        }
    }

    fn response<'a>(
        &'a self,
        ended: Option<(Option<Finish>, &'a Facts)>,
        output: &'a [&'a str],
    ) -> Response<'a> {
        Response { id: &self.id, model: &self.model, created: self.created, ended, output }
    }

    /// Writes one event; `members` are its members after type and number.
    fn write_event(&mut self, name: &str, members: std::fmt::Arguments<'_>, out: &mut BytesMut) {
        let mut json = std::mem::take(&mut self.json);
        json.clear();
        let sequence = self.sequence;
        self.sequence += 1;
        let _ = write!(json, r#"{{"type":"{name}","sequence_number":{sequence},{members}}}"#);
        frame::named(name, &json, out);
        self.json = json;
    }

    fn item_id(&self, kind: &str, at: usize) -> String {
        format!("{kind}_{}_{at}", self.request)
    }

    fn add(&mut self, item: &str, out: &mut BytesMut) -> usize {
        let at = self.items.len();
        self.kept = self.kept.saturating_add(item.len()).saturating_add(size_of::<OpenCall>());
        self.items.push(String::new());
        let members = format_args!(r#""output_index":{at},"item":{item}"#);
        self.write_event("response.output_item.added", members, out);
        at
    }

    fn done(&mut self, at: usize, item: String, out: &mut BytesMut) {
        let members = format_args!(r#""output_index":{at},"item":{item}"#);
        self.write_event("response.output_item.done", members, out);
        self.kept = self.kept.saturating_add(item.len());
        if let Some(slot) = self.items.get_mut(at) {
            *slot = item;
        }
    }

    fn write_text(&mut self, is_refusal: bool, text: &str, out: &mut BytesMut) {
        if !matches!(self.open, Some(Open::Message(..))) {
            self.close(None, out);
            self.close_calls(false, out);
            let at = self.items.len();
            let item = message(&self.item_id("msg", at), false, &[]);
            let at = self.add(&item, out);
            self.open = Some(Open::Message(at, Vec::new()));
        }
        let Some(Open::Message(at, content)) = &self.open else { return };
        let (at, count) = (*at, content.len());
        if content.last().is_none_or(|last| last.is_refusal != is_refusal) {
            self.end_part(out);
            let part = Content { is_refusal, text: String::new() };
            let (id, json) = (self.item_id("msg", at), part.json());
            let members = format_args!(
                r#""item_id":"{id}","output_index":{at},"content_index":{count},"part":{json}"#
            );
            self.write_event("response.content_part.added", members, out);
            if let Some(Open::Message(_, content)) = &mut self.open {
                content.push(part);
            }
        }
        let Some(Open::Message(_, content)) = &mut self.open else { return };
        let index = content.len().saturating_sub(1);
        if let Some(part) = content.last_mut() {
            part.text.push_str(text);
        }
        self.kept = self.kept.saturating_add(text.len());
        let id = self.item_id("msg", at);
        let (name, more) = if is_refusal {
            ("response.refusal.delta", "")
        } else {
            ("response.output_text.delta", r#","logprobs":[]"#)
        };
        let members = format_args!(
            r#""item_id":"{id}","output_index":{at},"content_index":{index},"delta":"{text}"{more}"#
        );
        self.write_event(name, members, out);
    }

    /// Writes that the last part of the open message is done.
    fn end_part(&mut self, out: &mut BytesMut) {
        let Some(Open::Message(at, content)) = &self.open else { return };
        let Some(part) = content.last() else { return };
        let (at, index) = (*at, content.len().saturating_sub(1));
        let (json, text, is_refusal) = (part.json(), part.text.clone(), part.is_refusal);
        let id = self.item_id("msg", at);
        let place = format!(r#""item_id":"{id}","output_index":{at},"content_index":{index}"#);
        if is_refusal {
            self.write_event(
                "response.refusal.done",
                format_args!(r#"{place},"refusal":"{text}""#),
                out,
            );
        } else {
            let members = format_args!(r#"{place},"text":"{text}","logprobs":[]"#);
            self.write_event("response.output_text.done", members, out);
        }
        self.write_event(
            "response.content_part.done",
            format_args!(r#"{place},"part":{json}"#),
            out,
        );
    }

    fn think(&mut self, text: &str, out: &mut BytesMut) {
        if !matches!(self.open, Some(Open::Reasoning(..))) {
            self.open_reasoning(out);
            let Some(Open::Reasoning(at, _)) = &self.open else { return };
            let (at, part) = (*at, summary_part(""));
            let id = self.item_id("rs", at);
            let members = format_args!(
                r#""item_id":"{id}","output_index":{at},"summary_index":0,"part":{part}"#
            );
            self.write_event("response.reasoning_summary_part.added", members, out);
        }
        let Some(Open::Reasoning(at, all)) = &mut self.open else { return };
        all.push_str(text);
        self.kept = self.kept.saturating_add(text.len());
        let at = *at;
        let id = self.item_id("rs", at);
        let members = format_args!(
            r#""item_id":"{id}","output_index":{at},"summary_index":0,"delta":"{text}""#
        );
        self.write_event("response.reasoning_summary_text.delta", members, out);
    }

    fn open_reasoning(&mut self, out: &mut BytesMut) {
        self.close(None, out);
        self.close_calls(false, out);
        let item = reasoning(&self.item_id("rs", self.items.len()), "", None);
        let at = self.add(&item, out);
        self.open = Some(Open::Reasoning(at, String::new()));
    }

    /// Writes a signature: of the open reasoning, or of new reasoning without text.
    fn prove(&mut self, proof: &str, out: &mut BytesMut) {
        if !matches!(self.open, Some(Open::Reasoning(..))) {
            self.open_reasoning(out);
        }
        let proof = Signed::write(Dialect::OpenaiResponses, self.from, proof);
        self.close(Some(&proof), out);
    }

    /// Ends the open message or reasoning.
    fn close(&mut self, proof: Option<&str>, out: &mut BytesMut) {
        self.end_part(out);
        match self.open.take() {
            Some(Open::Message(at, content)) => {
                let item = message(&self.item_id("msg", at), true, &content);
                self.done(at, item, out);
            }
            Some(Open::Reasoning(at, text)) => {
                let id = self.item_id("rs", at);
                if !text.is_empty() {
                    let place =
                        format!(r#""item_id":"{id}","output_index":{at},"summary_index":0"#);
                    let members = format_args!(r#"{place},"text":"{text}""#);
                    self.write_event("response.reasoning_summary_text.done", members, out);
                    let part = summary_part(&text);
                    let members = format_args!(r#"{place},"part":{part}"#);
                    self.write_event("response.reasoning_summary_part.done", members, out);
                }
                let item = reasoning(&id, &text, proof);
                self.done(at, item, out);
            }
            None => {}
        }
    }

    fn call(&mut self, id: &str, name: &str, custom: bool, out: &mut BytesMut) {
        self.close(None, out);
        self.close_calls(false, out);
        let (at, number) = (self.items.len(), self.calls.len());
        let made = format!("call_{}_{number}", self.request);
        let call = Call {
            item_id: self.item_id(if custom { "ctc" } else { "fc" }, at),
            call_id: if id.is_empty() { made } else { id.to_owned() },
            name: name.to_owned(),
            arguments: String::new(),
            custom,
        };
        self.add(&call.json(IN_PROGRESS), out);
        self.open_calls.push(self.calls.len());
        self.calls.push(OpenCall { at, call, end: JsonEnd::new(custom), is_done: false });
    }

    fn arguments(&mut self, call: usize, json: &str, out: &mut BytesMut) {
        let Some(open) = self.calls.get_mut(call) else { return };
        if open.is_done {
            // White space changes nothing; anything else would make the call's arguments wrong.
            self.is_broken |= !decode(json).trim().is_empty();
            return;
        }
        open.call.arguments.push_str(json);
        open.end.feed(json);
        self.kept = self.kept.saturating_add(json.len());
        let (at, id) = (open.at, open.call.item_id.clone());
        let name = if open.call.custom {
            "response.custom_tool_call_input.delta"
        } else {
            "response.function_call_arguments.delta"
        };
        let members = format_args!(r#""item_id":"{id}","output_index":{at},"delta":"{json}""#);
        self.write_event(name, members, out);
    }

    /// Ends the calls whose arguments are whole. With `is_last` it ends all of them.
    fn close_calls(&mut self, is_last: bool, out: &mut BytesMut) {
        let open = std::mem::take(&mut self.open_calls);
        for at in open {
            let is_whole = self.calls.get(at).is_some_and(|open| open.end.is_reached());
            if is_last || is_whole {
                self.close_call(at, is_whole, out);
            } else {
                self.open_calls.push(at);
            }
        }
    }

    fn close_call(&mut self, call: usize, is_whole: bool, out: &mut BytesMut) {
        let is_cut = !is_whole && self.finish == Some(Finish::Length);
        let Some(open) = self.calls.get_mut(call) else { return };
        open.is_done = true;
        let (at, id) = (open.at, open.call.item_id.clone());
        let arguments = open.call.arguments(!is_cut).to_owned();
        let item = open.call.json(if is_cut { INCOMPLETE } else { COMPLETED });
        let (name, key) = if open.call.custom {
            ("response.custom_tool_call_input.done", "input")
        } else {
            ("response.function_call_arguments.done", "arguments")
        };
        let members = format_args!(r#""item_id":"{id}","output_index":{at},"{key}":"{arguments}""#);
        self.write_event(name, members, out);
        self.done(at, item, out);
    }
}

impl Writer for ResponsesWriter {
    fn event(&mut self, event: &Event<'_>, _facts: &Facts, out: &mut BytesMut) {
        match event {
            Event::Begin { model, .. } => self.start(model.escaped(), out),
            _ => self.start("", out),
        }
        if event.is_content() {
            self.finish = None;
        }
        match event {
            Event::Begin { .. } => {}
            Event::Text(text) => self.write_text(false, text.escaped(), out),
            Event::Refusal(text) => self.write_text(true, text.escaped(), out),
            Event::Reasoning(text) => self.think(text.escaped(), out),
            Event::Signature(proof) => self.prove(proof.escaped(), out),
            Event::Redacted(data) | Event::CallSignature { signature: data, .. } => {
                self.close(None, out);
                self.prove(data.escaped(), out);
            }
            Event::Call { id, name, custom, .. } => {
                self.call(id.escaped(), name.escaped(), *custom, out);
            }
            Event::Arguments { call, json } => self.arguments(*call, json.escaped(), out),
            Event::Finish { finish, .. } => self.finish = Some(*finish),
        }
    }

    fn tail(&mut self, _facts: &Facts, out: &mut BytesMut) {
        self.start("", out);
        self.close(None, out);
        self.close_calls(true, out);
    }

    fn terminator(&mut self, facts: &Facts, out: &mut BytesMut) {
        let items = std::mem::take(&mut self.items);
        let output: Vec<&str> = items.iter().map(String::as_str).collect();
        let response = self.response(Some((self.finish, facts)), &output);
        let name = format!("response.{}", response.status());
        let json = response.json();
        self.write_event(&name, format_args!(r#""response":{json}"#), out);
    }

    fn whole(&self, answer: &Answer, facts: &Facts) -> Vec<u8> {
        let made = format!("resp_{}", self.request);
        let output = self.output(answer);
        let output: Vec<&str> = output.iter().map(String::as_str).collect();
        let response = Response {
            id: &made,
            model: &answer.model,
            created: self.created,
            ended: Some((answer.finish, facts)),
            output: &output,
        };
        response.json().into_bytes()
    }

    fn held(&self) -> usize {
        self.kept
    }

    fn sequence(&self) -> u64 {
        self.sequence
    }

    fn is_broken(&self) -> bool {
        self.is_broken
    }
}

impl ResponsesWriter {
    /// The items of a whole answer.
    fn output(&self, answer: &Answer) -> Vec<String> {
        let prove = |proof: &str| Signed::write(Dialect::OpenaiResponses, self.from, proof);
        let mut output = Vec::new();
        let mut content: Vec<Content> = Vec::new();
        for piece in &answer.pieces {
            let said = match piece {
                Piece::Text(text) => Some((false, text)),
                Piece::Refusal(text) => Some((true, text)),
                _ => None,
            };
            if let Some((is_refusal, text)) = said {
                content.push(Content { is_refusal, text: text.clone() });
                continue;
            }
            if !content.is_empty() {
                output.push(message(&self.item_id("msg", output.len()), true, &content));
                content.clear();
            }
            let rs = self.item_id("rs", output.len());
            match piece {
                Piece::Reasoning { text, signature } => {
                    output.push(reasoning(&rs, text, signature.as_deref().map(prove).as_deref()));
                }
                Piece::Redacted(data) => output.push(reasoning(&rs, "", Some(&prove(data)))),
                Piece::Call { call, id, name, arguments, custom, signature } => {
                    if let Some(proof) = signature {
                        output.push(reasoning(&rs, "", Some(&prove(proof))));
                    }
                    let made = format!("call_{}_{call}", self.request);
                    let call = Call {
                        item_id: self.item_id(if *custom { "ctc" } else { "fc" }, output.len()),
                        call_id: if id.is_empty() { made } else { id.clone() },
                        name: name.clone(),
                        arguments: arguments.clone(),
                        custom: *custom,
                    };
                    let is_cut = !call.is_whole() && answer.finish == Some(Finish::Length);
                    output.push(call.json(if is_cut { INCOMPLETE } else { COMPLETED }));
                }
                Piece::Text(_) | Piece::Refusal(_) => {}
            }
        }
        if !content.is_empty() {
            output.push(message(&self.item_id("msg", output.len()), true, &content));
        }
        output
    }
}
