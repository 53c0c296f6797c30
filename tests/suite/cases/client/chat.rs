//! Chat, as OpenAI's clients read it.

use super::said::{Call, Said, text};
use serde_json::Value;
use tests::Answer;

fn usage(usage: &Value) -> Option<(u64, u64)> {
    Some((usage["prompt_tokens"].as_u64()?, usage["completion_tokens"].as_u64()?))
}

#[track_caller]
pub(super) fn stream(answer: &Answer) -> Said {
    let mut said = Said { complete: answer.saw_done(), ..Said::default() };
    let events = answer.events();
    let done = events.iter().position(|event| event.data.as_deref() == Some("[DONE]"));
    assert!(done.is_none_or(|at| at + 1 == events.len()), "nothing follows the terminator");
    for event in &events {
        assert_eq!(event.event, None, "events have no names in this dialect");
    }
    for chunk in answer.chunks() {
        assert!(said.error.is_none(), "nothing follows an error: {chunk}");
        if let Some(error) = chunk.get("error") {
            said.error = Some(error.clone());
            continue;
        }
        text(&chunk["id"]).clone_into(&mut said.id);
        text(&chunk["model"]).clone_into(&mut said.model);
        said.usage = usage(&chunk["usage"]).or(said.usage);
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        said.starts += usize::from(delta["role"].is_string());
        said.text.push_str(text(&delta["content"]));
        said.reasoning.push_str(text(&delta["reasoning_content"]));
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            piece(&mut said.calls, call);
        }
        if let Some(finish) = choice["finish_reason"].as_str() {
            assert_eq!(said.finish, None, "one finish reason");
            said.finish = Some(finish.to_owned());
        }
    }
    said
}

/// Id, type and name come with the first piece of a call and no other.
#[track_caller]
fn piece(calls: &mut Vec<Call>, piece: &Value) {
    let at = usize::try_from(piece["index"].as_u64().expect("an index")).unwrap();
    let arguments = text(&piece["function"]["arguments"]);
    if at == calls.len() {
        assert_eq!(piece["type"], "function", "{piece}");
        calls.push(Call {
            id: piece["id"].as_str().expect("an id").to_owned(),
            name: piece["function"]["name"].as_str().expect("a name").to_owned(),
            arguments: arguments.to_owned(),
        });
    } else {
        assert_eq!(at + 1, calls.len(), "calls follow one another: {piece}");
        assert!(piece.get("id").is_none() && piece["function"].get("name").is_none(), "{piece}");
        calls[at].arguments.push_str(arguments);
    }
}

#[track_caller]
pub(super) fn whole(body: &Value) -> Said {
    assert_eq!(body["object"], "chat.completion", "{body}");
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    Said {
        id: text(&body["id"]).to_owned(),
        model: text(&body["model"]).to_owned(),
        text: text(&message["content"]).to_owned(),
        reasoning: text(&message["reasoning_content"]).to_owned(),
        calls: calls
            .map(|call| Call {
                id: text(&call["id"]).to_owned(),
                name: text(&call["function"]["name"]).to_owned(),
                arguments: text(&call["function"]["arguments"]).to_owned(),
            })
            .collect(),
        finish: choice["finish_reason"].as_str().map(str::to_owned),
        usage: usage(&body["usage"]),
        starts: usize::from(message["role"] == "assistant"),
        complete: true,
        error: None,
    }
}
