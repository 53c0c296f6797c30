//! Responses, as OpenAI's newer clients read them.

use super::said::{Call, Said, text};
use serde_json::Value;
use tests::Answer;

#[track_caller]
pub(super) fn stream(answer: &Answer) -> Said {
    let mut said = Said::default();
    let mut deltas = String::new();
    let mut sequence = 0;
    for event in answer.events() {
        let Some(data) = event.data else { continue };
        let data: Value =
            serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"));
        let name = event.event.as_deref().expect("every event has its name");
        assert_eq!(data["type"], name, "{data}");
        let is_second_word = name == "response.failed";
        assert!(!said.complete && said.error.is_some() == is_second_word, "after the end: {data}");
        let number = data["sequence_number"].as_u64().expect("a number");
        assert!(number >= sequence, "{number} after {sequence}: {data}");
        sequence = number;
        match name {
            "error" => said.error = Some(data["error"].clone()),
            // Some clients know no other word for it.
            "response.failed" => {
                let told = said.error.as_ref().map(|error| &error["message"]);
                assert_eq!(told, Some(&data["response"]["error"]["message"]), "{data}");
            }
            "response.created" => said.starts += 1,
            "response.output_text.delta" | "response.refusal.delta" => {
                deltas.push_str(text(&data["delta"]));
            }
            "response.completed" | "response.incomplete" => {
                let starts = said.starts;
                said = Said { starts, ..whole(&data["response"]) };
                let is_empty = data["response"]["output"].as_array().is_none_or(Vec::is_empty);
                assert!(is_empty || said.text == deltas, "the end repeats the deltas: {data}");
            }
            _ => assert!(name.starts_with("response."), "no event of this dialect: {name}"),
        }
    }
    said.text = deltas;
    said
}

#[track_caller]
pub(super) fn whole(body: &Value) -> Said {
    assert_eq!(body["object"], "response", "{body}");
    let status = text(&body["status"]);
    let finish = match text(&body["incomplete_details"]["reason"]) {
        "" => status.to_owned(),
        reason => format!("{status} {reason}"),
    };
    let usage = &body["usage"];
    let mut said = Said {
        id: text(&body["id"]).to_owned(),
        model: text(&body["model"]).to_owned(),
        finish: Some(finish),
        usage: usage["input_tokens"].as_u64().zip(usage["output_tokens"].as_u64()),
        starts: 1,
        complete: true,
        ..Said::default()
    };
    for item in body["output"].as_array().expect("output") {
        match text(&item["type"]) {
            "message" => {
                for part in item["content"].as_array().into_iter().flatten() {
                    said.text.push_str(text(&part["text"]));
                    said.text.push_str(text(&part["refusal"]));
                }
            }
            "reasoning" => {
                for part in item["summary"].as_array().into_iter().flatten() {
                    said.reasoning.push_str(text(&part["text"]));
                }
            }
            "function_call" => said.calls.push(Call {
                id: text(&item["call_id"]).to_owned(),
                name: text(&item["name"]).to_owned(),
                arguments: text(&item["arguments"]).to_owned(),
            }),
            kind => panic!("no item of this dialect: {kind}"),
        }
    }
    said
}
