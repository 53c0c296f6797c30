//! What a chat client's words mean.

use super::*;
use crate::common::openai::url;
use crate::neutral::{Part, Role, Source};

fn read(body: &str) -> Request {
    let fields: Fields = serde_json::from_str(body).unwrap();
    let request = read_request(&fields).unwrap();
    assert_eq!(request.unsupported, Vec::<String>::new(), "{body}");
    request
}

fn with(field: &str) -> Request {
    read(&format!(r#"{{"messages":[{{"role":"user","content":"hi"}}],{field}}}"#))
}

/// The content of a request, in short form.
fn story(messages: &str) -> Vec<String> {
    let request = read(&format!(r#"{{"messages":{messages}}}"#));
    let system = request.system.iter().map(|text| format!("system {text}"));
    let said = request.turns.iter().flat_map(|turn| {
        let who = if turn.role == Role::User { "user" } else { "model" };
        let parts: Vec<String> = turn.parts.iter().map(short).collect();
        std::iter::once(format!("{who} {}", parts.join(" + ")))
    });
    system.chain(said).collect()
}

/// A source as it is written in a body.
fn text(source: &Source) -> String {
    let url = serde_json::to_value(url(source, "it").unwrap()).unwrap();
    url.as_str().unwrap().to_owned()
}

fn short(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Refusal(text) => format!("no:{text}"),
        Part::Image(image) => format!("image:{}", text(&image.source)),
        Part::File(file) => format!("file:{}", text(&file.source)),
        Part::Audio(audio) => format!("{}:{}", audio.format, audio.data),
        Part::Reasoning { text, signed } => match signed {
            Some(signed) => format!("think:{text}/{}/{}", signed.by, signed.data),
            None => format!("think:{text}"),
        },
        Part::Redacted(signed) => format!("secret:{}/{}", signed.by, signed.data),
        Part::Call { id, name, arguments, signed } => {
            let proof = signed.as_ref().map(|it| format!("/{}/{}", it.by, it.data));
            format!("{name}#{id}{arguments}{}", proof.unwrap_or_default())
        }
        Part::Result { id, parts, is_error } => {
            assert!(!is_error);
            let parts: Vec<String> = parts.iter().map(short).collect();
            format!("#{id}={}", parts.join(","))
        }
    }
}

#[test]
fn messages_become_turns() {
    for (messages, expected) in [
        (r#"[{"role":"user","content":"a"},{"role":"user","content":"b"}]"#, vec!["user a + b"]),
        (
            r#"[{"role":"user","content":"a"},{"role":"developer","content":"s"},{"role":"system","content":[{"type":"text","text":"t"},{"type":"text","text":""}]}]"#,
            vec!["system s", "system t", "user a"],
        ),
        (
            r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","index":0,"function":{"name":"f","arguments":""}}]},{"role":"tool","name":"f","tool_call_id":"1","content":"x"},{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"y"}]},{"role":"user","content":"z"}]"#,
            vec!["model f#1{}", "user #1=x + #2=y + z"],
        ),
        (
            r#"[{"role":"assistant","content":"","refusal":"no","tool_calls":[],"audio":null,"annotations":[]}]"#,
            vec!["model no:no"],
        ),
        (
            r#"[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"},{"type":"thinking","thinking":[{"type":"text","text":"c"}]}]}]"#,
            vec!["model a + no:b + think:c"],
        ),
        (
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}},{"type":"image_url","image_url":"https://a"},{"type":"input_audio","input_audio":{"data":"BB","format":"wav"}},{"type":"file","file":{"file_data":"data:text/plain;base64,CC"}}]}]"#,
            vec![
                "user image:data:image/png;base64,AA + image:https://a + wav:BB + file:data:text/plain;base64,CC",
            ],
        ),
        (
            r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"g"}}}]}]"#,
            vec!["model f#1{}/gemini/g"],
        ),
    ] {
        assert_eq!(story(messages), expected, "{messages}");
    }
}

#[test]
fn reasoning_comes_back_with_its_proofs() {
    for (fields, expected) in [
        (r#""reasoning_content":"a""#, "think:a + x"),
        (r#""reasoning":"a","reasoning_content":"a""#, "think:a + x"),
        (r#""reasoning_content":"","reasoning_details":[]"#, "x"),
        (
            r#""reasoning_content":"a","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"s","format":"f","index":0,"id":null}]"#,
            "think:a/openai-chat/s + x",
        ),
        (
            r#""reasoning_content":"a","reasoning_details":[{"type":"reasoning.text","signature":"belay.anthropic-messages.s"}]"#,
            "think:a/anthropic-messages/s + x",
        ),
        (
            r#""reasoning":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"belay.anthropic-messages.d"}]"#,
            "think:a + secret:anthropic-messages/d + x",
        ),
        (
            r#""reasoning_details":[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.text","text":"b","index":0},{"type":"reasoning.text","text":"","signature":"s","index":0},{"type":"reasoning.text","text":"c","index":1}]"#,
            "think:ab/openai-chat/s + think:c + x",
        ),
        (r#""reasoning_details":[{"type":"reasoning.summary","summary":"a"}]"#, "think:a + x"),
    ] {
        let messages = format!(r#"[{{"role":"assistant","content":"x",{fields}}}]"#);
        assert_eq!(story(&messages), [format!("model {expected}")], "{fields}");
    }
}

#[test]
fn each_field_has_its_meaning() {
    assert_eq!(with(r#""max_tokens":5"#).max_output, Some(5));
    assert_eq!(with(r#""max_tokens":5,"max_completion_tokens":7"#).max_output, Some(7));
    assert_eq!(with(r#""stop":"x""#).stop, ["x"]);
    assert_eq!(with(r#""stop":["x","y"]"#).stop, ["x", "y"]);
    assert!(with(r#""stop":null"#).stop.is_empty());
    assert_eq!(with(r#""temperature":1"#).temperature, Some(1.0));
    assert_eq!(with(r#""top_p":0.5"#).top_p, Some(0.5));
    assert_eq!(with(r#""top_k":5"#).top_k, Some(5));
    assert_eq!(with(r#""top_k":-1"#).top_k, None);
    assert_eq!(with(r#""presence_penalty":-2"#).presence_penalty, Some(-2.0));
    assert_eq!(with(r#""frequency_penalty":2"#).frequency_penalty, Some(2.0));
    assert_eq!(with(r#""seed":-1"#).seed, Some(-1));
    assert_eq!(with(r#""user":"u","safety_identifier":"s""#).user.as_deref(), Some("s"));
    assert_eq!(with(r#""parallel_tool_calls":false"#).parallel_tools, Some(false));
    for (field, choice) in [
        (r#""none""#, ToolChoice::None),
        (r#""auto""#, ToolChoice::Auto),
        (r#""required""#, ToolChoice::Any),
        (r#""any""#, ToolChoice::Any),
        (r#"{"type":"function","function":{"name":"f"}}"#, ToolChoice::Named("f".to_owned())),
    ] {
        assert_eq!(with(&format!(r#""tool_choice":{field}"#)).tool_choice, Some(choice));
    }
    assert!(with(r#""response_format":{"type":"text"}"#).format.is_none());
    let json = with(r#""response_format":{"type":"json_object"}"#);
    assert!(matches!(json.format, Some(Format::Json)));
    let tools = r#""tools":[{"type":"function","function":{"name":"f","description":null,"parameters":{"a": 1},"strict":true},"cache_control":{}}]"#;
    let tool = with(tools).tools.swap_remove(0);
    assert_eq!((tool.name.as_str(), tool.strict), ("f", Some(true)));
    assert_eq!(tool.parameters.map(|raw| raw.get().to_owned()), Some(r#"{"a": 1}"#.to_owned()));
}

#[test]
fn what_the_sdks_read_out_of_an_answer_says_nothing_new() {
    let messages = r#"[{"role":"assistant","content":"{}","parsed":{"a":1},"tool_calls":[{"id":"c",
        "type":"function","function":{"name":"f","arguments":"{}","parsed_arguments":{}}}]}]"#;
    assert_eq!(story(messages), ["model {} + f#c{}"]);
}

#[test]
fn how_much_to_reason_is_said_in_three_ways() {
    use crate::neutral::Effort;
    for (field, expected) in [
        (r#""reasoning_effort":"none""#, Some(Thinking::Off)),
        (r#""reasoning_effort":"minimal""#, Some(Thinking::Effort(Effort::Minimal))),
        (r#""reasoning_effort":"low""#, Some(Thinking::Effort(Effort::Low))),
        (r#""reasoning_effort":"medium""#, Some(Thinking::Effort(Effort::Medium))),
        (r#""reasoning_effort":"high""#, Some(Thinking::Effort(Effort::High))),
        (r#""reasoning_effort":"xhigh""#, Some(Thinking::Effort(Effort::Max))),
        (r#""reasoning_effort":null"#, None),
        (r#""reasoning":{"effort":"low"}"#, Some(Thinking::Effort(Effort::Low))),
        (r#""reasoning":{"max_tokens":2000}"#, Some(Thinking::Budget(2000))),
        (r#""reasoning":{"enabled":true,"exclude":false}"#, Some(Thinking::Adaptive)),
        (r#""reasoning":{"enabled":false}"#, Some(Thinking::Off)),
        (r#""thinking":{"type":"enabled","budget_tokens":99}"#, Some(Thinking::Budget(99))),
        (r#""thinking":{"type":"disabled"}"#, Some(Thinking::Off)),
        (
            r#""reasoning_effort":"high","thinking":{"type":"enabled"}"#,
            Some(Thinking::Effort(Effort::High)),
        ),
        (r#""reasoning_effort":"high","thinking":{"type":"disabled"}"#, Some(Thinking::Off)),
    ] {
        assert_eq!(with(field).thinking, expected, "{field}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (body, param) in [
        (r#"{"messages":[7]}"#, "messages[0]"),
        (r#"{"messages":[{"content":"x"}]}"#, "messages[0].role"),
        (r#"{"messages":[{"role":"tool","content":"x"}]}"#, "messages[0].tool_call_id"),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#,
            "messages[0].content[0].text",
        ),
        (r#"{"tools":[{"type":"function"}]}"#, "tools[0].function"),
        (
            r#"{"tools":[{"function":{"name":"f","parameters":[]}}]}"#,
            "tools[0].function.parameters",
        ),
        (
            r#"{"response_format":{"type":"json_schema","json_schema":{}}}"#,
            "response_format.json_schema.schema",
        ),
        (r#"{"reasoning_effort":"huge"}"#, "reasoning_effort"),
        (r#"{"temperature":"warm"}"#, "temperature"),
        (r#"{"stop":7}"#, "stop"),
    ] {
        let reject = read_request(&serde_json::from_str(body).unwrap()).unwrap_err();
        assert_eq!(reject.param.as_deref(), Some(param), "{body}");
    }
}
