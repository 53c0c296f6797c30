//! What is written into chat, word by word.

use super::*;
use crate::neutral::{Degrade, Effort, Image, Part, Role, Signed, Source, Turn};
use serde_json::{Value, json};
use shared::Dialect;

fn target(model: &str) -> Target<'_> {
    let (max_output, system, again) = (None, None, None);
    Target { model, max_output, ask_usage: false, system, degrade: Degrade::default(), again }
}

fn written(request: &Request) -> Value {
    serde_json::from_slice(&write_request(request, &target("m")).unwrap().body).unwrap()
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn asked(parts: Vec<Part>) -> Request {
    let mut request = Request::default();
    parts.into_iter().for_each(|part| request.push(Role::User, part));
    request
}

fn picture() -> Part {
    let source = Source::Url("https://a/b.png".to_owned());
    Part::Image(Image { source, detail: None })
}

fn result(parts: Vec<Part>, is_error: bool) -> Part {
    Part::Result { id: "c1".to_owned(), parts, is_error }
}

#[test]
fn the_plainest_body_that_says_it() {
    let mut request = asked(vec![text("hi"), text("there")]);
    request.system = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(
        written(&request),
        json!({"model": "m", "stream": true, "messages": [
            {"role": "system", "content": "a\n\nb"},
            {"role": "user", "content": "hi\n\nthere"}]})
    );
    let target = Target { ask_usage: true, ..target("m") };
    let body = write_request(&request, &target).unwrap().body;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn each_field_has_its_words() {
    let base = || asked(vec![text("hi")]);
    let tool =
        || Tool { name: "f".to_owned(), description: None, parameters: None, strict: Some(true) };
    let with = |edit: &dyn Fn(&mut Request)| {
        let mut request = base();
        request.tools = vec![tool()];
        edit(&mut request);
        written(&request)
    };
    let named = ToolChoice::Named("f".to_owned());
    for (choice, expected) in [
        (ToolChoice::None, json!("none")),
        (ToolChoice::Auto, json!("auto")),
        (ToolChoice::Any, json!("required")),
        (named, json!({"type": "function", "function": {"name": "f"}})),
    ] {
        assert_eq!(with(&|r| r.tool_choice = Some(choice.clone()))["tool_choice"], expected);
    }
    let tools = json!([{"type": "function", "function": {"name": "f", "strict": true}}]);
    assert_eq!(with(&|_| ())["tools"], tools);
    assert_eq!(with(&|r| r.parallel_tools = Some(false))["parallel_tool_calls"], false);
    assert_eq!(with(&|r| r.stop = vec!["x".to_owned()])["stop"], json!(["x"]));
    assert_eq!(with(&|r| r.seed = Some(-4))["seed"], -4);
    assert_eq!(with(&|r| r.presence_penalty = Some(0.5))["presence_penalty"], 0.5);
    assert_eq!(with(&|r| r.frequency_penalty = Some(0.5))["frequency_penalty"], 0.5);
    let format = with(&|r| r.format = Some(Format::Json));
    assert_eq!(format["response_format"], json!({"type": "json_object"}));
    let schema = || RawValue::from_string("{}".to_owned()).unwrap();
    let format = with(&|r| {
        let (name, description, schema, strict) = (None, None, schema(), None);
        r.format = Some(Format::Schema { name, description, schema, strict });
    });
    let expected = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": {}}});
    assert_eq!(format["response_format"], expected);
    let request = Request { top_k: Some(5), ..base() };
    let upstream = write_request(&request, &target("m")).unwrap();
    assert_eq!(upstream.left_out, ["top_k"]);
    let mut none = base();
    none.tool_choice = Some(ToolChoice::Auto);
    none.parallel_tools = Some(true);
    let none = written(&none);
    assert!(none.get("tool_choice").is_none() && none.get("parallel_tool_calls").is_none());
}

#[test]
fn reasoning_is_asked_for_by_degree() {
    for (thinking, word, left_out) in [
        (Thinking::Off, Value::Null, vec!["thinking"]),
        (Thinking::Adaptive, Value::Null, vec![]),
        (Thinking::Effort(Effort::Minimal), json!("minimal"), vec![]),
        (Thinking::Effort(Effort::Low), json!("low"), vec![]),
        (Thinking::Effort(Effort::Medium), json!("medium"), vec![]),
        (Thinking::Effort(Effort::High), json!("high"), vec![]),
        (Thinking::Effort(Effort::Max), json!("xhigh"), vec![]),
        (Thinking::Budget(1024), json!("low"), vec![]),
        (Thinking::Budget(1025), json!("medium"), vec![]),
        (Thinking::Budget(8192), json!("medium"), vec![]),
        (Thinking::Budget(8193), json!("high"), vec![]),
    ] {
        let request = Request { thinking: Some(thinking), ..asked(vec![text("hi")]) };
        let upstream = write_request(&request, &target("m")).unwrap();
        let body: Value = serde_json::from_slice(&upstream.body).unwrap();
        assert_eq!(body["reasoning_effort"], word, "{thinking:?}");
        assert_eq!(upstream.left_out, left_out, "{thinking:?}");
    }
}

#[test]
fn the_limit_has_the_name_that_the_model_knows() {
    for (model, is_new) in [
        ("gpt-4o", false),
        ("gpt-4.1-mini", false),
        ("gpt-oss-120b", false),
        ("gpt-35-turbo", false),
        ("gpt-5-nano", true),
        ("openai/gpt-5.4", true),
        ("gpt-10", true),
        ("o3", true),
        ("o4-mini", true),
        ("openhermes", false),
        ("deepseek-chat", false),
        ("gpt-", false),
        ("", false),
    ] {
        assert_eq!(wants_new_limit(model, None), is_new, "{model}");
        assert!(wants_new_limit(model, Some(Thinking::Budget(9))));
        assert_eq!(wants_new_limit(model, Some(Thinking::Off)), is_new, "{model}");
    }
    let request = Request { max_output: Some(9), ..asked(vec![text("hi")]) };
    assert_eq!(written(&request)["max_tokens"], 9);
}

#[test]
fn results_come_before_all_else_and_what_is_no_text_follows() {
    let request = asked(vec![
        text("so"),
        result(vec![text("a cat"), picture()], false),
        result(vec![text("broken")], true),
        result(vec![text("Error: no")], true),
    ]);
    let messages = written(&request)["messages"].clone();
    let messages = messages.as_array().unwrap();
    let roles: Vec<&str> = messages.iter().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(roles, ["tool", "tool", "tool", "user"]);
    assert!(messages[0]["content"].as_str().unwrap().starts_with("a cat\n\n"));
    assert_eq!(messages[1]["content"], "Error: broken");
    assert_eq!(messages[2]["content"], "Error: no");
    assert_eq!(
        messages[3]["content"],
        json!([{"type": "text", "text": "From the tool call c1:"},
            {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
            {"type": "text", "text": "so"}])
    );
    let alone = written(&asked(vec![result(vec![text("x")], false)]));
    assert_eq!(alone["messages"], json!([{"role": "tool", "tool_call_id": "c1", "content": "x"}]));
}

#[test]
fn an_assistants_turn_is_one_message_without_its_reasoning() {
    let signed = Some(Signed { by: Dialect::OpenaiChat, data: "s".to_owned() });
    let call = Part::Call {
        id: "c1".to_owned(),
        name: "f".to_owned(),
        arguments: "{}".to_owned(),
        signed: Some(Signed { by: Dialect::Gemini, data: "g".to_owned() }),
    };
    let mut request = asked(vec![text("hi")]);
    request.push(Role::Assistant, Part::Reasoning { text: "hm".to_owned(), signed });
    request.push(Role::Assistant, call);
    request.push(Role::User, result(vec![text("x")], false));
    let calls =
        json!([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    assert_eq!(
        written(&request)["messages"][1],
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    );
    let mut refused = asked(vec![text("hi")]);
    refused.push(Role::Assistant, Part::Refusal("no".to_owned()));
    refused.push(Role::User, text("why?"));
    assert_eq!(
        written(&refused)["messages"][1],
        json!({"role": "assistant", "content": null, "refusal": "no"})
    );
}

#[test]
fn what_chat_cannot_say_is_refused() {
    let refused = |request: &Request| write_request(request, &target("m")).unwrap_err().field;
    let mut prefilled = asked(vec![text("hi")]);
    prefilled.push(Role::Assistant, text("Sure, "));
    assert_eq!(refused(&prefilled), "assistant_prefill");
    prefilled.push(Role::User, text("go on"));
    assert!(write_request(&prefilled, &target("m")).is_ok());
    let by_id = Part::Image(Image { source: Source::Id("f".to_owned()), detail: None });
    assert!(refused(&asked(vec![by_id])).contains("an image"));
    let unsupported = vec!["logit_bias".to_owned()];
    assert_eq!(refused(&Request { unsupported, ..asked(vec![text("hi")]) }), "logit_bias");
    let mut drawn = asked(vec![text("hi")]);
    drawn.turns.push(Turn { role: Role::Assistant, parts: vec![picture()] });
    assert!(refused(&drawn).contains("attachment"));
}
