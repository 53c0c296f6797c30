//! What other dialects' clients ask, in messages.

mod conversation;
mod round_trip;

use super::*;
use crate::neutral::{Again, Degrade, Effort, Part, Role, Thinking, Turn};
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) const TARGET: Target<'static> = Target {
    model: "opus",
    max_output: None,
    ask_usage: true,
    system: None,
    degrade: Degrade { json_schema: false, parallel_tools: false, max_output: false },
    again: None,
};

pub(crate) fn turn(role: Role, parts: Vec<Part>) -> Turn {
    Turn { role, parts }
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

pub(crate) fn hi() -> Request {
    Request { turns: vec![turn(Role::User, vec![text("hi")])], ..Request::default() }
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn a_tool(parameters: Option<&str>, strict: Option<bool>) -> Tool {
    let (name, description) = ("f".to_owned(), Some("d".to_owned()));
    Tool { name, description, parameters: parameters.map(raw), strict }
}

#[track_caller]
pub(crate) fn written(request: &Request, target: &Target<'_>) -> (String, Vec<&'static str>) {
    let upstream = write_request(request, target).unwrap();
    (String::from_utf8(upstream.body).unwrap(), upstream.left_out)
}

/// The fields beside model, messages and stream.
#[track_caller]
fn assert_written(request: &Request, target: &Target<'_>, expected: &str, left_out: &[&str]) {
    let (body, left) = written(request, target);
    let mut fields: serde_json::Map<String, Value> = serde_json::from_str(&body).unwrap();
    assert_eq!(fields.remove("model").unwrap(), "opus");
    assert_eq!(fields.remove("stream").unwrap(), true);
    assert!(fields.remove("messages").unwrap().as_array().is_some_and(|list| !list.is_empty()));
    assert_eq!(Value::Object(fields), serde_json::from_str::<Value>(expected).unwrap());
    assert_eq!(left, left_out, "{expected}");
}

#[test]
fn a_limit_is_always_said() {
    for (asked, most, sent) in
        [(None, None, 8192), (None, Some(64_000), 64_000), (Some(7), Some(64_000), 7)]
    {
        let request = Request { max_output: asked, ..hi() };
        let target = Target { max_output: most, ..TARGET };
        assert_written(&request, &target, &format!(r#"{{"max_tokens":{sent}}}"#), &[]);
    }
}

#[test]
fn every_wish_has_its_field() {
    let tools = || vec![a_tool(Some(r#"{"a":1}"#), None)];
    let tool = r#""tools":[{"name":"f","description":"d","input_schema":{"a":1}}]"#;
    let schema = || {
        let schema = raw(r#"{"b":1}"#);
        Some(Format::Schema { name: Some("n".to_owned()), description: None, schema, strict: None })
    };
    let format = r#""output_config":{"format":{"type":"json_schema","schema":{"b":1}}}"#;
    let choose = |tool_choice, parallel_tools| Request {
        tools: tools(),
        tool_choice: Some(tool_choice),
        parallel_tools,
        ..hi()
    };
    let named = || ToolChoice::Named("f".to_owned());
    let off = r#","disable_parallel_tool_use":true"#;
    for (request, expected) in [
        (
            Request { system: vec!["a".to_owned(), " ".to_owned(), "b".to_owned()], ..hi() },
            r#""system":[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#.to_owned(),
        ),
        (Request { user: Some("u".to_owned()), ..hi() }, r#""metadata":{"user_id":"u"}"#.to_owned()),
        (Request { format: schema(), ..hi() }, format.to_owned()),
        (Request { tools: tools(), ..hi() }, tool.to_owned()),
        (
            Request { tools: vec![a_tool(None, Some(true))], ..hi() },
            r#""tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{}},"strict":true}]"#.to_owned(),
        ),
        (choose(ToolChoice::Auto, None), format!(r#"{tool},"tool_choice":{{"type":"auto"}}"#)),
        (choose(ToolChoice::Auto, Some(true)), format!(r#"{tool},"tool_choice":{{"type":"auto"}}"#)),
        (choose(ToolChoice::Any, None), format!(r#"{tool},"tool_choice":{{"type":"any"}}"#)),
        (choose(ToolChoice::Any, Some(false)), format!(r#"{tool},"tool_choice":{{"type":"any"{off}}}"#)),
        (choose(named(), Some(false)), format!(r#"{tool},"tool_choice":{{"type":"tool","name":"f"{off}}}"#)),
        (choose(ToolChoice::None, Some(false)), format!(r#"{tool},"tool_choice":{{"type":"none"}}"#)),
        (
            Request { tools: tools(), parallel_tools: Some(false), ..hi() },
            format!(r#"{tool},"tool_choice":{{"type":"auto"{off}}}"#),
        ),
        (Request { tools: tools(), parallel_tools: Some(true), ..hi() }, tool.to_owned()),
        (
            Request { tool_choice: Some(ToolChoice::Auto), parallel_tools: Some(false), ..hi() },
            r#""max_tokens":8192"#.to_owned(),
        ),
    ] {
        assert_written(&request, &TARGET, &format!(r#"{{"max_tokens":8192,{expected}}}"#), &[]);
    }
}

#[test]
fn json_without_a_schema_is_asked_for_in_words_and_that_is_said() {
    let words = "Answer with one JSON object alone. Write nothing before or after it, and no code \
                 fence.";
    let request = Request { system: vec!["a".to_owned()], format: Some(Format::Json), ..hi() };
    let (body, left_out) = written(&request, &TARGET);
    assert_eq!(left_out, ["response_format"]);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["system"][0]["text"], "a");
    assert_eq!(body["system"][1]["text"], words);
    assert!(body.get("output_config").is_none());
}

#[test]
fn sampling_is_bent_to_what_anthropic_takes() {
    let sampled = |temperature, top_p, top_k| Request { temperature, top_p, top_k, ..hi() };
    let thinking = |request| Request { thinking: Some(Thinking::Adaptive), ..request };
    let think = r#","thinking":{"type":"adaptive"}"#;
    for (request, expected, left_out) in [
        (sampled(Some(0.5), None, Some(3)), r#","temperature":0.5,"top_k":3"#.to_owned(), &[][..]),
        (sampled(Some(1.5), None, None), r#","temperature":1.0"#.to_owned(), &["temperature"]),
        (sampled(None, Some(0.5), None), r#","top_p":0.5"#.to_owned(), &[]),
        // Newer models refuse both.
        (sampled(Some(0.5), Some(0.5), None), r#","temperature":0.5"#.to_owned(), &["top_p"]),
        (sampled(Some(0.5), Some(1.0), None), r#","temperature":0.5"#.to_owned(), &[]),
        (sampled(Some(1.0), Some(0.5), None), r#","top_p":0.5"#.to_owned(), &[]),
        (sampled(Some(1.0), Some(1.0), None), r#","temperature":1.0"#.to_owned(), &[]),
        (
            thinking(sampled(Some(0.5), Some(0.5), Some(3))),
            think.to_owned(),
            &["temperature", "top_p", "top_k"],
        ),
        (thinking(sampled(Some(1.0), Some(0.97), None)), format!(r#"{think},"top_p":0.97"#), &[]),
        (
            Request { stop: vec!["x".to_owned(), " \n".to_owned()], ..hi() },
            r#","stop_sequences":["x"]"#.to_owned(),
            &["stop"],
        ),
        (
            Request {
                seed: Some(1),
                presence_penalty: Some(0.5),
                frequency_penalty: Some(0.0),
                ..hi()
            },
            String::new(),
            &["presence_penalty", "seed"],
        ),
        (Request { frequency_penalty: Some(-1.0), ..hi() }, String::new(), &["frequency_penalty"]),
    ] {
        assert_written(&request, &TARGET, &format!(r#"{{"max_tokens":8192{expected}}}"#), left_out);
    }
}

#[test]
fn thinking_is_a_budget_below_the_limit() {
    let effort = Thinking::Effort;
    for (thinking, asked, most, max_tokens, budget) in [
        (Thinking::Off, None, None, 8192, None),
        (effort(Effort::Minimal), None, None, 8192, None),
        (effort(Effort::Low), None, None, 9216, Some(1024)),
        (effort(Effort::Medium), None, None, 16_384, Some(8192)),
        (effort(Effort::High), None, None, 32_768, Some(24_576)),
        (effort(Effort::Max), None, None, 40_192, Some(32_000)),
        (effort(Effort::Max), None, Some(64_000), 40_192, Some(32_000)),
        (effort(Effort::Max), None, Some(32_768), 32_768, Some(24_576)),
        (effort(Effort::Max), None, Some(16_000), 16_000, Some(12_000)),
        (effort(Effort::High), Some(4000), Some(64_000), 4000, Some(3000)),
        (effort(Effort::Low), Some(1366), None, 1366, Some(1024)),
        (effort(Effort::High), Some(24_577), None, 24_577, Some(18_432)),
        (Thinking::Budget(7), None, None, 9216, Some(1024)),
        (Thinking::Budget(3000), None, None, 11_192, Some(3000)),
        (Thinking::Budget(3000), Some(3001), None, 3001, Some(3000)),
        (Thinking::Budget(3000), Some(3000), None, 3000, Some(2250)),
        (Thinking::Budget(u64::MAX), None, Some(u64::MAX), u64::MAX, Some(u64::MAX - u64::MAX / 4)),
    ] {
        let request = Request { thinking: Some(thinking), max_output: asked, ..hi() };
        let target = Target { max_output: most, ..TARGET };
        let budget = budget.map_or(String::new(), |budget| {
            format!(r#","thinking":{{"type":"enabled","budget_tokens":{budget}}}"#)
        });
        let expected = format!(r#"{{"max_tokens":{max_tokens}{budget}}}"#);
        assert_written(&request, &target, &expected, &[]);
    }
    let adaptive = Request { thinking: Some(Thinking::Adaptive), ..hi() };
    let expected = r#"{"max_tokens":8192,"thinking":{"type":"adaptive"}}"#;
    assert_written(&adaptive, &TARGET, expected, &[]);
}

#[test]
fn where_anthropic_would_refuse_to_think_it_is_not_asked_to() {
    let thinking = Some(Thinking::Effort(Effort::Low));
    // Of 1365 three quarters are less than the least budget.
    for most in [1024, 1100, 1365] {
        let small = Request { thinking, max_output: Some(most), ..hi() };
        let expected = format!(r#"{{"max_tokens":{most}}}"#);
        assert_written(&small, &TARGET, &expected, &["thinking"]);
    }
    for thinking in [thinking, Some(Thinking::Adaptive)] {
        for choice in [ToolChoice::Any, ToolChoice::Named("f".to_owned())] {
            let tools = vec![a_tool(None, None)];
            let request = Request { thinking, tools, tool_choice: Some(choice), ..hi() };
            let (body, left_out) = written(&request, &TARGET);
            assert_eq!(left_out, ["thinking"]);
            assert!(!body.contains(r#""thinking""#));
        }
    }
}

#[test]
fn a_schema_that_anthropic_refuses_is_asked_for_in_words() {
    for (strict, schema, in_words) in [
        (None, r#"{"type":"object"}"#, true),
        (Some(false), r#"{"maximum":1}"#, true),
        (Some(true), r#"{"type":"object"}"#, false),
        (None, r#"{"type":"object","additionalProperties":false}"#, false),
    ] {
        let format = Format::Schema { name: None, description: None, schema: raw(schema), strict };
        let (body, left_out) = written(&Request { format: Some(format), ..hi() }, &TARGET);
        assert_eq!(body.contains("output_config"), !in_words, "{schema}");
        assert_eq!(body.contains("follows this JSON schema"), in_words, "{schema}");
        assert_eq!(left_out.contains(&"response_format"), in_words, "{schema}");
    }
}

#[test]
fn a_tool_without_a_schema_takes_an_object() {
    for nothing in [None, Some("{ }")] {
        let request = Request { tools: vec![a_tool(nothing, None)], ..hi() };
        let (body, _) = written(&request, &TARGET);
        assert!(body.contains(r#""input_schema":{"type":"object","properties":{}}"#), "{body}");
    }
}

#[test]
fn a_user_is_sent_only_where_it_looks_like_an_id() {
    let longest = "x".repeat(256);
    for fine in ["u", "user_0a-B", longest.as_str()] {
        let request = Request { user: Some(fine.to_owned()), ..hi() };
        let expected = format!(r#"{{"max_tokens":8192,"metadata":{{"user_id":"{fine}"}}}}"#);
        assert_written(&request, &TARGET, &expected, &[]);
    }
    let too_long = "x".repeat(257);
    for other in ["", "a@example.com", "+49 170 1", "Jo Doe", "é", too_long.as_str()] {
        let request = Request { user: Some(other.to_owned()), ..hi() };
        assert_written(&request, &TARGET, r#"{"max_tokens":8192}"#, &["user"]);
    }
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
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["max_tokens"], 50);
    assert_eq!(body["system"][0]["text"], "mine");
    assert_eq!(body["system"].as_array().unwrap().len(), 2);
    assert!(body.get("output_config").is_none());
    assert_eq!(body["tool_choice"]["disable_parallel_tool_use"], true);
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
    assert!(left_out.is_empty());
}

#[test]
fn schemas_and_arguments_keep_their_order_and_their_spelling() {
    let spelled = r#"{"z": 1.50, "a" : {"minimum":1e2}}"#;
    let call = Part::Call {
        id: "i".to_owned(),
        name: "f".to_owned(),
        arguments: spelled.to_owned(),
        signed: None,
    };
    let mut request = hi();
    request.turns.push(turn(Role::Assistant, vec![call]));
    request.tools = vec![a_tool(Some(spelled), None)];
    let schema = raw(spelled);
    request.format = Some(Format::Schema { name: None, description: None, schema, strict: None });
    let (body, _) = written(&request, &TARGET);
    assert_eq!(body.matches(spelled).count(), 3, "{body}");
}
