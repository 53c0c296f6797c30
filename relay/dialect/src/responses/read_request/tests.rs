//! What a responses client's words mean.

use super::*;
use crate::neutral::ToolChoice;
use shared::Dialect;

fn read(fields: &str) -> Request {
    let fields: Fields = serde_json::from_str(&format!("{{{fields}}}")).unwrap();
    let request = read_request(&fields).unwrap();
    assert_eq!(request.unsupported, Vec::<String>::new());
    request
}

/// The parts of each turn, as `Debug` shows them.
fn turns(items: &str) -> Vec<(Role, Vec<Part>)> {
    let request = read(&format!(r#""input":{items}"#));
    request.turns.into_iter().map(|turn| (turn.role, turn.parts)).collect()
}

#[test]
fn a_text_is_the_users_and_instructions_are_the_first_system_prompt() {
    let request = read(
        r#""instructions":"a","input":[{"role":"developer","content":"b"},{"type":"message","role":"user","content":"x"}]"#,
    );
    assert_eq!(request.system, ["a", "b"]);
    let said = turns(r#""hi""#);
    assert!(
        matches!(&said[..], [(Role::User, parts)] if matches!(&parts[..], [Part::Text(text)] if text == "hi"))
    );
}

#[test]
fn items_become_turns() {
    let said = turns(concat!(
        r#"[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"https://a","detail":"auto"},{"type":"input_file","filename":"n","file_url":"https://b"}]},"#,
        r#"{"type":"message","id":"m","status":"completed","phase":"final_answer","role":"assistant","content":[{"type":"output_text","text":"y","annotations":[],"logprobs":[],"parsed":{"a":1}},{"type":"refusal","refusal":"n"}]},"#,
        r#"{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"","status":"completed","parsed_arguments":{}},"#,
        r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"z"},{"type":"input_image","image_url":"https://c"}]}]"#,
    ));
    let [(Role::User, asked), (Role::Assistant, told), (Role::User, given)] = &said[..] else {
        panic!("{said:?}")
    };
    assert!(matches!(&asked[..], [Part::Text(_), Part::Image(_), Part::File(_)]), "{asked:?}");
    let [Part::Text(text), Part::Refusal(refusal), Part::Call { id, name, arguments, .. }] =
        &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!([text, refusal, id, name, arguments], ["y", "n", "c", "f", "{}"]);
    let [Part::Result { id, parts, .. }] = &given[..] else { panic!("{given:?}") };
    assert_eq!(id, "c");
    assert!(matches!(&parts[..], [Part::Text(_), Part::Image(_)]), "{parts:?}");
}

#[test]
fn reasoning_keeps_its_proof_and_its_maker() {
    for (fields, expected) in [
        (r#""summary":[]"#, None),
        (
            r#""summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"e""#,
            Some(("a\n\nb", Some((Dialect::OpenaiResponses, "e")))),
        ),
        (
            r#""summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"full"}]"#,
            Some(("full", None)),
        ),
        (
            r#""summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"belay.anthropic-messages.e""#,
            Some(("a", Some((Dialect::AnthropicMessages, "e")))),
        ),
    ] {
        let said = turns(&format!(r#"[{{"type":"reasoning","id":"r",{fields}}}]"#));
        let found = said.first().map(|(_, parts)| match &parts[..] {
            [Part::Reasoning { text, signed }] => {
                (text.as_str(), signed.as_ref().map(|it| (it.by, it.data.as_str())))
            }
            other => panic!("{other:?}"),
        });
        assert_eq!(found, expected, "{fields}");
    }
    let secret = turns(r#"[{"type":"reasoning","summary":[],"encrypted_content":"e"}]"#);
    assert!(matches!(&secret[0].1[..], [Part::Redacted(signed)] if signed.data == "e"));
}

#[test]
fn a_proof_of_geminis_belongs_to_the_call_behind_it() {
    let said = turns(concat!(
        r#"[{"type":"reasoning","summary":[],"encrypted_content":"belay.gemini.g"},"#,
        r#"{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},"#,
        r#"{"type":"function_call","call_id":"2","name":"f","arguments":"{}"}]"#,
    ));
    let [Part::Call { signed: Some(first), .. }, Part::Call { signed: None, .. }] = &said[0].1[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!((first.by, first.data.as_str()), (Dialect::Gemini, "g"));
}

#[test]
fn each_field_has_its_meaning() {
    let with = |field: &str| read(&format!(r#""input":"x",{field}"#));
    assert_eq!(with(r#""max_output_tokens":5"#).max_output, Some(5));
    assert_eq!(with(r#""temperature":0"#).temperature, Some(0.0));
    assert_eq!(with(r#""top_p":1"#).top_p, Some(1.0));
    assert_eq!(with(r#""parallel_tool_calls":true"#).parallel_tools, Some(true));
    assert_eq!(with(r#""user":"u""#).user.as_deref(), Some("u"));
    assert_eq!(with(r#""tool_choice":"required""#).tool_choice, Some(ToolChoice::Any));
    let named = with(r#""tool_choice":{"type":"function","name":"f"}"#).tool_choice;
    assert_eq!(named, Some(ToolChoice::Named("f".to_owned())));
    assert!(with(r#""text":{"format":{"type":"text"}}"#).format.is_none());
    let json = with(r#""text":{"format":{"type":"json_object"}}"#).format;
    assert!(matches!(json, Some(Format::Json)));
    assert_eq!(with(r#""reasoning":{"effort":"none"}"#).thinking, Some(Thinking::Off));
    assert_eq!(with(r#""reasoning":{"summary":"auto"}"#).thinking, Some(Thinking::Adaptive));
    assert_eq!(with(r#""reasoning":null"#).thinking, None);
    let tool = with(r#""tools":[{"type":"function","name":"f","parameters":null,"strict":null}]"#);
    assert_eq!((tool.tools[0].name.as_str(), tool.tools[0].strict), ("f", None));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (body, param) in [
        (r#"{"input":[7]}"#, "input[0]"),
        (r#"{"input":[{"type":"function_call","name":"f"}]}"#, "input[0].call_id"),
        (
            r#"{"input":[{"role":"user","content":[{"type":"input_text"}]}]}"#,
            "input[0].content[0].text",
        ),
        (r#"{"tools":[{"name":"f"}]}"#, "tools[0].type"),
        (r#"{"text":{"format":{"type":"json_schema","name":"a"}}}"#, "text.format.schema"),
        (r#"{"reasoning":{"effort":"huge"}}"#, "reasoning.effort"),
    ] {
        let reject = read_request(&serde_json::from_str(body).unwrap()).unwrap_err();
        assert_eq!(reject.param.as_deref(), Some(param), "{body}");
    }
}
