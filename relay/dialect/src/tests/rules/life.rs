//! Clients as strict as the strictest: each follows the life cycle of its dialect and
//! forgives nothing.

use crate::tests::rules::{CHAT, GEMINI, MESSAGES, RESPONSES, Told, json};
use serde_json::Value;
use shared::Dialect;

/// Checks the order of events that a client gets of an answer that is whole.
pub(crate) fn follow(to: Dialect, told: &Told, wants_usage: bool) {
    match to {
        CHAT | GEMINI => chat(told, wants_usage),
        MESSAGES => messages(told),
        RESPONSES => responses(told),
    }
}

/// Names (empty where there is none) and payloads.
pub(crate) fn events(stream: &str) -> Vec<(String, Value)> {
    assert!(stream.is_empty() || stream.ends_with("\n\n"), "{stream}");
    let event = |block: &str| {
        let (name, data) = match block.strip_prefix("event: ") {
            Some(rest) => rest.split_once('\n').unwrap(),
            None => ("", block),
        };
        let json = data.strip_prefix("data: ").unwrap();
        assert!(!json.contains(['\n', '\r']), "one line per event: {json}");
        let json: Value = serde_json::from_str(json).unwrap();
        if !name.is_empty() {
            assert_eq!(json["type"], name);
        }
        (name.to_owned(), json)
    };
    stream.split_terminator("\n\n").map(event).collect()
}

fn chat(told: &Told, wants_usage: bool) {
    assert_eq!(told.terminator, "data: [DONE]\n\n");
    let chunks: Vec<Value> =
        events(&format!("{}{}", told.out, told.tail)).into_iter().map(|(_, json)| json).collect();
    let mut finishes = 0;
    let mut calls = 0;
    for (n, chunk) in chunks.iter().enumerate() {
        let is_last = n + 1 == chunks.len();
        for key in ["id", "model", "created", "object"] {
            assert_eq!(chunk[key], chunks[0][key]);
        }
        assert_eq!(chunk["object"], "chat.completion.chunk");
        let choices = chunk["choices"].as_array().unwrap();
        assert_eq!(chunk["usage"].is_object(), wants_usage && is_last);
        assert_eq!(choices.is_empty(), wants_usage && is_last);
        let Some(choice) = choices.first() else { continue };
        assert_eq!((choices.len(), &choice["index"]), (1, &json!(0)));
        let is_first = choice["delta"] == json!({"role": "assistant", "content": ""});
        assert_eq!(is_first, n == 0, "{chunk}");
        for entry in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let kind = if entry["custom"].is_object() { "custom" } else { "function" };
            let inner = if kind == "custom" { "input" } else { "arguments" };
            let index = entry["index"].as_u64().unwrap();
            assert!(entry[kind][inner].is_string(), "{entry}");
            if entry["id"].is_string() {
                assert_eq!((index, &entry["type"]), (calls, &json!(kind)));
                assert!(entry["id"] != "" && entry[kind]["name"].is_string());
                calls += 1;
            } else {
                assert!(index < calls && entry["type"].is_null());
            }
        }
        finishes += usize::from(choice["finish_reason"].is_string());
        assert_eq!(
            choice["finish_reason"].is_string(),
            n + 1 + usize::from(wants_usage) == chunks.len()
        );
    }
    assert_eq!(finishes, 1);
    assert!(told.out.is_empty() || !told.out.contains(r#""finish_reason":""#));
}

fn messages(told: &Told) {
    assert_eq!(told.terminator, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    let all = events(&format!("{}{}", told.out, told.tail));
    assert!(all.iter().all(|(name, _)| !name.is_empty()));
    assert_eq!(all[0].0, "message_start");
    assert_eq!(all[0].1["message"]["content"], json!([]));
    assert_eq!(all[0].1["message"]["stop_reason"], Value::Null);
    let (last, between) = all[1..].split_last().unwrap();
    assert_eq!(last.0, "message_delta");
    assert!(last.1["delta"]["stop_reason"].is_string());
    assert!(!told.out.contains("message_delta\""), "the ending waits");
    let mut open: Option<String> = None;
    let mut next = 0;
    for (name, json) in between {
        match name.as_str() {
            "content_block_start" => {
                assert!(open.is_none(), "{json}");
                assert_eq!(json["index"], next);
                open = Some(json["content_block"]["type"].as_str().unwrap().to_owned());
            }
            "content_block_delta" => {
                assert_eq!(json["index"], next);
                let kind = json["delta"]["type"].as_str().unwrap();
                let fits = match open.as_deref().unwrap() {
                    "text" => kind == "text_delta",
                    "thinking" => matches!(kind, "thinking_delta" | "signature_delta"),
                    "tool_use" => kind == "input_json_delta",
                    _ => false,
                };
                assert!(fits, "{json}");
                if kind == "signature_delta" {
                    // A signature is the last event of its block.
                    open = Some("proven".to_owned());
                }
            }
            "content_block_stop" => {
                assert_eq!(json["index"], next);
                assert!(open.take().is_some());
                next += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert!(open.is_none());
}

fn responses(told: &Told) {
    let all = events(&format!("{}{}{}", told.out, told.tail, told.terminator));
    assert_eq!(events(&told.terminator).len(), 1);
    for (n, (name, json)) in all.iter().enumerate() {
        assert!(!name.is_empty());
        assert_eq!(json["sequence_number"], n, "{json}");
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["response.created", "response.in_progress"]);
    assert_eq!(all[0].1["response"], all[1].1["response"]);
    let (terminal, between) = all[2..].split_last().unwrap();
    let response = &terminal.1["response"];
    assert_eq!(terminal.0, format!("response.{}", response["status"].as_str().unwrap()));
    for key in ["id", "model", "created_at", "object"] {
        assert_eq!(response[key], all[0].1["response"][key]);
    }
    let mut items: Vec<ItemLife> = Vec::new();
    for (name, json) in between {
        let at = usize::try_from(json["output_index"].as_u64().unwrap()).unwrap();
        if name == "response.output_item.added" {
            assert_eq!(at, items.len());
            items.push(ItemLife { id: json["item"]["id"].clone(), ..ItemLife::default() });
        } else {
            items[at].hear(name, json);
        }
    }
    let output: Vec<&Value> = items.iter().map(|item| item.done.as_ref().unwrap()).collect();
    assert_eq!(json!(output), response["output"], "what was streamed is repeated");
}

/// One output item on its way.
#[derive(Default)]
struct ItemLife {
    id: Value,
    /// The text of the open part or of the arguments, and whether it is done.
    text: String,
    texts: Vec<String>,
    part_open: bool,
    done: Option<Value>,
}

impl ItemLife {
    fn hear(&mut self, name: &str, json: &Value) {
        assert!(self.done.is_none(), "{json}");
        if name == "response.output_item.done" {
            assert_eq!(json["item"]["id"], self.id);
            self.end(&json["item"]);
            return;
        }
        assert_eq!(json["item_id"], self.id);
        let text = |key: &str| json[key].as_str().unwrap().to_owned();
        match name {
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                assert!(!self.part_open && self.text.is_empty());
                self.part_open = true;
            }
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                assert!(std::mem::take(&mut self.part_open));
                let part = &json["part"];
                let own = part["text"].as_str().or(part["refusal"].as_str());
                assert_eq!(own, self.texts.last().map(String::as_str));
            }
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_summary_text.delta" => {
                assert!(self.part_open);
                self.text += &text("delta");
            }
            "response.output_text.done" | "response.reasoning_summary_text.done" => {
                assert_eq!(text("text"), self.text);
                self.texts.push(std::mem::take(&mut self.text));
            }
            "response.refusal.done" => {
                assert_eq!(text("refusal"), self.text);
                self.texts.push(std::mem::take(&mut self.text));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.text += &text("delta");
            }
            "response.function_call_arguments.done" => {
                let all = std::mem::take(&mut self.text);
                assert_eq!(text("arguments"), if all.is_empty() { "{}".to_owned() } else { all });
                self.texts.push(text("arguments"));
            }
            "response.custom_tool_call_input.done" => {
                assert_eq!(text("input"), std::mem::take(&mut self.text));
                self.texts.push(text("input"));
            }
            other => panic!("{other}"),
        }
    }

    fn end(&mut self, item: &Value) {
        assert!(!self.part_open && self.text.is_empty(), "{item}");
        let parts = |key: &str| -> Vec<String> {
            let texts = item[key].as_array().unwrap().iter();
            let text = |part: &Value| {
                part["text"].as_str().or(part["refusal"].as_str()).unwrap().to_owned()
            };
            texts.map(text).collect()
        };
        let all = match item["type"].as_str().unwrap() {
            "message" => parts("content"),
            "reasoning" => parts("summary"),
            "function_call" => vec![item["arguments"].as_str().unwrap().to_owned()],
            _ => vec![item["input"].as_str().unwrap().to_owned()],
        };
        assert_eq!(all, self.texts, "{item}");
        self.done = Some(item.clone());
    }
}
