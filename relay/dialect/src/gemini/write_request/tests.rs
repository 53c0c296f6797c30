//! What clients of other dialects ask, in Gemini's words.

mod conversation;

use super::*;
use crate::neutral::{Again, Degrade, Effort, Part, Role, Thinking, Tool, Turn};
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) const TARGET: Target<'static> = Target {
    model: "gemini-x",
    max_output: None,
    ask_usage: true,
    system: None,
    degrade: Degrade { json_schema: false, parallel_tools: false, max_output: false },
    again: None,
};

pub(crate) fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn hi() -> Request {
    Request {
        turns: vec![Turn { role: Role::User, parts: vec![text("hi")] }],
        ..Request::default()
    }
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn a_tool(parameters: Option<&str>, strict: Option<bool>) -> Tool {
    Tool { name: "f".to_owned(), description: None, parameters: parameters.map(raw), strict }
}

#[track_caller]
fn written(request: &Request, target: &Target<'_>) -> (Value, Vec<&'static str>) {
    let upstream = write_request(request, target).unwrap();
    (serde_json::from_slice(&upstream.body).unwrap(), upstream.left_out)
}

/// The fields beside contents.
#[track_caller]
fn assert_written(request: &Request, target: &Target<'_>, expected: &str, left_out: &[&str]) {
    let (mut body, left) = written(request, target);
    let fields = body.as_object_mut().unwrap();
    let contents = fields.remove("contents").unwrap();
    assert_eq!(contents, serde_json::json!([{"role": "user", "parts": [{"text": "hi"}]}]));
    assert_eq!(body, serde_json::from_str::<Value>(expected).unwrap());
    assert_eq!(left, left_out, "{expected}");
}

#[test]
fn every_wish_has_its_field() {
    let stops = |n: usize| (0..n).map(|n| n.to_string()).collect::<Vec<_>>();
    let schema =
        Some(Format::Schema { name: None, description: None, schema: raw("{}"), strict: None });
    for (request, expected, left_out) in [
        (hi(), "", &[][..]),
        (Request { user: Some("u".to_owned()), ..hi() }, "", &[]),
        (Request { max_output: Some(9), ..hi() }, r#""maxOutputTokens":9"#, &[]),
        (Request { temperature: Some(1.5), ..hi() }, r#""temperature":1.5"#, &[]),
        (Request { top_p: Some(0.5), top_k: Some(4), ..hi() }, r#""topP":0.5,"topK":4"#, &[]),
        (Request { seed: Some(-7), ..hi() }, r#""seed":-7"#, &[]),
        (Request { seed: Some(1 << 31), ..hi() }, "", &["seed"]),
        (
            Request { presence_penalty: Some(0.5), frequency_penalty: Some(-1.0), ..hi() },
            r#""presencePenalty":0.5,"frequencyPenalty":-1.0"#,
            &[],
        ),
        (Request { stop: stops(5), ..hi() }, r#""stopSequences":["0","1","2","3","4"]"#, &[]),
        (Request { stop: stops(6), ..hi() }, r#""stopSequences":["0","1","2","3","4"]"#, &["stop"]),
        (
            Request { format: Some(Format::Json), ..hi() },
            r#""responseMimeType":"application/json""#,
            &[],
        ),
        (
            Request { format: schema, ..hi() },
            r#""responseMimeType":"application/json","responseJsonSchema":{}"#,
            &[],
        ),
    ] {
        let expected = format!(r#"{{"generationConfig":{{{expected}}}}}"#);
        assert_written(&request, &TARGET, &expected, left_out);
    }
    let request = Request { system: vec!["a".to_owned(), String::new(), "b".to_owned()], ..hi() };
    let expected =
        r#"{"generationConfig":{},"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}]}}"#;
    assert_written(&request, &TARGET, expected, &[]);
}

#[test]
fn tools_and_their_choice_have_their_fields() {
    let function = r#""generationConfig":{},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{}}]}]"#;
    let choose = |tool_choice| Request {
        tools: vec![a_tool(Some("{}"), None)],
        tool_choice: Some(tool_choice),
        ..hi()
    };
    for (choice, mode) in [
        (ToolChoice::None, r#"{"mode":"NONE"}"#),
        (ToolChoice::Auto, r#"{"mode":"AUTO"}"#),
        (ToolChoice::Any, r#"{"mode":"ANY"}"#),
        (ToolChoice::Named("f".to_owned()), r#"{"mode":"ANY","allowedFunctionNames":["f"]}"#),
    ] {
        let expected = format!(r#"{{{function},"toolConfig":{{"functionCallingConfig":{mode}}}}}"#);
        assert_written(&choose(choice), &TARGET, &expected, &[]);
    }
    let bare = Request { tool_choice: Some(ToolChoice::Auto), parallel_tools: Some(false), ..hi() };
    assert_written(&bare, &TARGET, r#"{"generationConfig":{}}"#, &[]);
    let strict = Request {
        tools: vec![
            a_tool(None, Some(true)),
            Tool { description: Some("d".to_owned()), ..a_tool(None, None) },
        ],
        parallel_tools: Some(false),
        ..hi()
    };
    let expected = concat!(
        r#"{"generationConfig":{},"tools":[{"functionDeclarations":[{"name":"f"},"#,
        r#"{"name":"f","description":"d"}]}]}"#
    );
    assert_written(&strict, &TARGET, expected, &["parallel_tools", "strict"]);
    let many = Request { parallel_tools: Some(true), ..choose(ToolChoice::Auto) };
    assert!(written(&many, &TARGET).1.is_empty());
}

#[test]
fn thinking_is_a_budget_that_the_model_takes() {
    let effort = Thinking::Effort;
    for (model, thinking, budget, left_out) in [
        ("gemini-x", Thinking::Adaptive, -1, &[][..]),
        ("gemini-x", effort(Effort::Minimal), 512, &[]),
        ("gemini-x", effort(Effort::Low), 1024, &[]),
        ("gemini-x", effort(Effort::Medium), 8192, &[]),
        ("gemini-x", effort(Effort::High), 24_576, &[]),
        ("gemini-x", effort(Effort::Max), 32_768, &[]),
        ("gemini-2.5-flash", effort(Effort::Max), 24_576, &[]),
        ("gemini-2.5-pro", effort(Effort::Max), 32_768, &[]),
        ("gemini-2.5-pro", Thinking::Budget(5), 128, &[]),
        ("gemini-2.5-pro", Thinking::Budget(u64::MAX), 32_768, &[]),
        ("gemini-x", Thinking::Budget(5), 5, &[]),
        ("gemini-x", Thinking::Off, 0, &[]),
        ("gemini-2.5-flash", Thinking::Off, 0, &[]),
        ("gemini-2.5-pro", Thinking::Off, 128, &["thinking"]),
    ] {
        let shows = if thinking == Thinking::Off { "" } else { r#","includeThoughts":true"# };
        let request = Request { thinking: Some(thinking), ..hi() };
        let expected = format!(
            r#"{{"generationConfig":{{"thinkingConfig":{{"thinkingBudget":{budget}{shows}}}}}}}"#
        );
        assert_written(&request, &Target { model, ..TARGET }, &expected, left_out);
    }
}

#[test]
fn models_that_do_not_think_are_not_told_not_to() {
    let request = Request { thinking: Some(Thinking::Off), ..hi() };
    for (model, is_told) in [
        ("gemini-1.5-pro", false),
        ("models/gemini-2.0-flash", false),
        ("gemma-3-27b-it", false),
        ("gemini-2.5-flash", true),
    ] {
        let (body, left_out) = written(&request, &Target { model, ..TARGET });
        assert_eq!(body["generationConfig"].get("thinkingConfig").is_some(), is_told, "{model}");
        assert!(left_out.is_empty(), "{model}");
    }
}

#[test]
fn old_models_are_not_told_of_tools_and_a_form_at_once() {
    let schema = || Format::Schema {
        name: None,
        description: None,
        schema: raw(r#"{"a":1}"#),
        strict: None,
    };
    for (model, is_old) in
        [("gemini-2.5-pro", true), ("gemini-1.5-pro", true), ("gemini-3-x", false)]
    {
        for (format, words) in [(schema(), "{\"a\":1}"), (Format::Json, "one JSON object")] {
            let target = Target { model, ..TARGET };
            let plain = Request { format: Some(format), ..hi() };
            assert!(written(&plain, &target).1.is_empty(), "{model}");
            let request = Request { tools: vec![a_tool(None, None)], ..plain };
            let (body, left_out) = written(&request, &target);
            let field = body["generationConfig"].get("responseMimeType");
            assert_eq!(field.is_none(), is_old, "{model}");
            let said = body["systemInstruction"]["parts"][0]["text"].as_str().unwrap_or_default();
            assert_eq!(said.contains(words), is_old, "{model}");
            assert_eq!(left_out.contains(&"response_format"), is_old, "{model}");
        }
    }
}

#[test]
fn what_says_nothing_is_not_said() {
    let tool_choice = Some(ToolChoice::Any);
    let (presence_penalty, frequency_penalty) = (Some(0.0), Some(-0.0));
    let request = Request { tool_choice, presence_penalty, frequency_penalty, ..hi() };
    assert_written(&request, &TARGET, r#"{"generationConfig":{}}"#, &[]);
}

#[test]
fn what_the_rung_is_told_instead_is_done_first() {
    let degrade = Degrade { json_schema: true, parallel_tools: true, max_output: true };
    let again = Some(Again { answer: "{}", problem: "no 'a'" });
    let target = Target { degrade, again, system: Some("mine"), max_output: Some(50), ..TARGET };
    let schema =
        Some(Format::Schema { name: None, description: None, schema: raw("{}"), strict: None });
    let request = Request {
        system: vec!["theirs".to_owned()],
        format: schema,
        tools: vec![a_tool(None, None)],
        max_output: Some(99),
        ..hi()
    };
    let (body, left_out) = written(&request, &target);
    assert_eq!(body["generationConfig"], serde_json::json!({"maxOutputTokens": 50}));
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], "mine");
    assert_eq!(body["systemInstruction"]["parts"].as_array().unwrap().len(), 2);
    assert_eq!(body["contents"].as_array().unwrap().len(), 3);
    assert_eq!(left_out, ["parallel_tools"]);
}

#[test]
fn schemas_arguments_and_results_keep_their_order_and_their_spelling() {
    let spelled = r#"{"z": 1.50, "a" : {"minimum":1e2}}"#;
    let (id, name) = ("i".to_owned(), "f".to_owned());
    let call = Part::Call { id: id.clone(), name, arguments: spelled.to_owned(), signed: None };
    let result = Part::Result { id, parts: vec![text(spelled)], is_error: false };
    let mut request = hi();
    request.turns.push(Turn { role: Role::Assistant, parts: vec![call] });
    request.turns.push(Turn { role: Role::User, parts: vec![result] });
    request.tools = vec![a_tool(Some(spelled), None)];
    let schema = raw(spelled);
    request.format = Some(Format::Schema { name: None, description: None, schema, strict: None });
    let body = String::from_utf8(write_request(&request, &TARGET).unwrap().body).unwrap();
    assert_eq!(body.matches(spelled).count(), 4, "{body}");
}

#[test]
fn a_foreign_field_is_refused_by_its_name() {
    let request = Request { unsupported: vec!["logit_bias".to_owned()], ..hi() };
    assert_eq!(write_request(&request, &TARGET).unwrap_err().field, "logit_bias");
}
