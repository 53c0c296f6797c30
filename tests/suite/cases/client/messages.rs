//! Messages, as Anthropic's clients read them: the order of their events is their grammar.

use super::said::{Call, Said, text};
use serde_json::{Value, json};
use tests::Answer;

/// The counts so far: a later one replaces an earlier one.
#[derive(Default)]
struct Counts {
    input: u64,
    output: u64,
    read: u64,
    written: u64,
}

impl Counts {
    fn hear(&mut self, usage: &Value) {
        for (name, count) in [
            ("input_tokens", &mut self.input),
            ("output_tokens", &mut self.output),
            ("cache_read_input_tokens", &mut self.read),
            ("cache_creation_input_tokens", &mut self.written),
        ] {
            *count = usage[name].as_u64().unwrap_or(*count);
        }
    }

    const fn sums(&self) -> (u64, u64) {
        (self.input + self.read + self.written, self.output)
    }
}

#[derive(Default)]
struct Reading {
    said: Said,
    counts: Counts,
    blocks: u64,
    /// The kind of the open block.
    open: Option<String>,
}

#[track_caller]
pub(super) fn stream(answer: &Answer) -> Said {
    let mut reading = Reading::default();
    for event in answer.events() {
        let data = event.data.expect("no event is without data");
        let data: Value =
            serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"));
        let name = event.event.as_deref().expect("every event has its name");
        assert_eq!(data["type"], name, "{data}");
        assert!(!reading.said.complete && reading.said.error.is_none(), "after the end: {data}");
        reading.event(name, &data);
    }
    reading.said
}

impl Reading {
    #[track_caller]
    fn event(&mut self, name: &str, data: &Value) {
        let said = &mut self.said;
        match name {
            "ping" => {}
            "error" => said.error = Some(data["error"].clone()),
            "message_start" => {
                let message = &data["message"];
                assert_eq!(message["content"], json!([]), "{data}");
                for field in ["stop_reason", "stop_sequence"] {
                    assert_eq!(message.get(field), Some(&Value::Null), "{field}: {data}");
                }
                assert_eq!(
                    (&message["type"], &message["role"]),
                    (&json!("message"), &json!("assistant"))
                );
                for field in ["input_tokens", "output_tokens"] {
                    assert!(message["usage"][field].is_u64(), "{field}: {data}");
                }
                assert!(!text(&message["id"]).is_empty(), "{data}");
                said.starts += 1;
                text(&message["id"]).clone_into(&mut said.id);
                text(&message["model"]).clone_into(&mut said.model);
                self.counts.hear(&message["usage"]);
            }
            "message_delta" => {
                assert_eq!((said.starts, &self.open), (1, &None), "{data}");
                assert_eq!(said.finish, None, "one message_delta: {data}");
                let reason = data["delta"]["stop_reason"].as_str().expect("a stop reason");
                said.finish = Some(reason.to_owned());
                self.counts.hear(&data["usage"]);
                said.usage = Some(self.counts.sums());
            }
            "message_stop" => {
                assert!(said.finish.is_some(), "message_delta comes first");
                said.complete = true;
            }
            _ => self.block(name, data),
        }
    }

    #[track_caller]
    fn block(&mut self, name: &str, data: &Value) {
        let said = &mut self.said;
        assert_eq!((said.starts, &said.finish), (1, &None), "{data}");
        match name {
            "content_block_start" => {
                assert_eq!(self.open, None, "one block at a time: {data}");
                assert_eq!(data["index"], self.blocks, "{data}");
                let block = &data["content_block"];
                let kind = text(&block["type"]);
                if kind == "tool_use" {
                    assert_eq!(block["input"], json!({}), "arguments come as deltas: {data}");
                    let (id, name) =
                        (text(&block["id"]).to_owned(), text(&block["name"]).to_owned());
                    assert!(!id.is_empty(), "{data}");
                    said.calls.push(Call { id, name, arguments: String::new() });
                }
                self.open = Some(kind.to_owned());
            }
            "content_block_delta" => {
                assert_eq!(data["index"], self.blocks, "{data}");
                let delta = &data["delta"];
                match (self.open.as_deref(), text(&delta["type"])) {
                    (Some("text"), "text_delta") => said.text.push_str(text(&delta["text"])),
                    (Some("thinking"), "thinking_delta") => {
                        said.reasoning.push_str(text(&delta["thinking"]));
                    }
                    (Some("thinking"), "signature_delta") => {}
                    (Some("tool_use"), "input_json_delta") => {
                        let call = said.calls.last_mut().expect("an open call");
                        call.arguments.push_str(text(&delta["partial_json"]));
                    }
                    (open, kind) => panic!("{kind} in {open:?}: {data}"),
                }
            }
            "content_block_stop" => {
                assert_eq!(data["index"], self.blocks, "{data}");
                assert!(self.open.take().is_some(), "no block is open: {data}");
                self.blocks += 1;
            }
            _ => panic!("no event of this dialect: {name}"),
        }
    }
}

#[track_caller]
pub(super) fn whole(body: &Value) -> Said {
    assert_eq!((&body["type"], &body["role"]), (&json!("message"), &json!("assistant")), "{body}");
    let mut said = Said {
        id: text(&body["id"]).to_owned(),
        model: text(&body["model"]).to_owned(),
        finish: body["stop_reason"].as_str().map(str::to_owned),
        starts: 1,
        complete: true,
        ..Said::default()
    };
    for block in body["content"].as_array().expect("content") {
        match text(&block["type"]) {
            "text" => said.text.push_str(text(&block["text"])),
            "thinking" => said.reasoning.push_str(text(&block["thinking"])),
            "tool_use" => said.calls.push(Call {
                id: text(&block["id"]).to_owned(),
                name: text(&block["name"]).to_owned(),
                arguments: block["input"].to_string(),
            }),
            "redacted_thinking" => {}
            kind => panic!("no block of this dialect: {kind}"),
        }
    }
    let mut counts = Counts::default();
    counts.hear(&body["usage"]);
    said.usage = Some(counts.sums());
    said
}
