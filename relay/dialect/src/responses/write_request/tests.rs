//! What is written into responses, word by word.

use super::*;
use crate::neutral::{Audio, Degrade, Effort, File, Image, Part, Role, Signed, Source, Thinking};
use serde_json::{Value, json};
use shared::Dialect;

const TARGET: Target<'static> = Target {
    model: "m",
    max_output: None,
    ask_usage: true,
    system: None,
    degrade: Degrade { json_schema: false, parallel_tools: false, max_output: false },
    again: None,
};

fn written(request: &Request) -> Value {
    serde_json::from_slice(&write_request(request, &TARGET).unwrap().body).unwrap()
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
    let (media_type, data) = ("image/png".to_owned(), "AA".to_owned());
    Part::Image(Image { source: Source::Base64 { media_type, data }, detail: None })
}

fn result(parts: Vec<Part>, is_error: bool) -> Part {
    Part::Result { id: "c1".to_owned(), parts, is_error }
}

#[test]
fn nothing_is_stored_and_nothing_is_said_that_was_not_asked() {
    assert_eq!(
        written(&asked(vec![text("hi"), text("")])),
        json!({"model": "m", "store": false, "stream": true, "input": [
            {"type": "message", "role": "user",
             "content": [{"type": "input_text", "text": "hi"}]}]})
    );
}

#[test]
fn proofs_are_asked_for_when_the_model_is_to_reason() {
    for (thinking, effort, thinks) in [
        (None, Value::Null, false),
        (Some(Thinking::Off), Value::Null, false),
        (Some(Thinking::Adaptive), json!({"summary": "auto"}), true),
        (Some(Thinking::Effort(Effort::Max)), json!({"effort": "xhigh", "summary": "auto"}), true),
        (Some(Thinking::Budget(2000)), json!({"effort": "medium", "summary": "auto"}), true),
    ] {
        let body = written(&Request { thinking, ..asked(vec![text("hi")]) });
        assert_eq!(body["reasoning"], effort, "{thinking:?}");
        let expected = if thinks { json!(["reasoning.encrypted_content"]) } else { Value::Null };
        assert_eq!(body["include"], expected, "{thinking:?}");
    }
}

#[test]
fn after_a_complaint_no_summary_is_asked_for() {
    let plain = Target { ask_usage: false, ..TARGET };
    for (thinking, expected) in [
        (Thinking::Adaptive, Value::Null),
        (Thinking::Effort(Effort::Low), json!({"effort": "low"})),
    ] {
        let request = Request { thinking: Some(thinking), ..asked(vec![text("hi")]) };
        let upstream = write_request(&request, &plain).unwrap();
        let body: Value = serde_json::from_slice(&upstream.body).unwrap();
        assert_eq!(body["reasoning"], expected);
        assert_eq!(body.get("include"), None, "nor are proofs");
    }
}

#[test]
fn a_penalty_of_nothing_is_not_missed() {
    for (penalty, left) in [(0.0, &[][..]), (0.5, &["presence_penalty", "frequency_penalty"])] {
        let (presence_penalty, frequency_penalty) = (Some(penalty), Some(penalty));
        let request = Request { presence_penalty, frequency_penalty, ..asked(vec![text("hi")]) };
        assert_eq!(write_request(&request, &TARGET).unwrap().left_out, left);
    }
}

#[test]
fn a_user_of_more_than_64_characters_stays_here() {
    for (length, is_sent) in [(64, true), (65, false)] {
        let user = "é".repeat(length);
        let request = Request { user: Some(user.clone()), ..asked(vec![text("hi")]) };
        let expected = if is_sent { json!(user) } else { Value::Null };
        assert_eq!(written(&request)["user"], expected);
        let left_out = write_request(&request, &TARGET).unwrap().left_out;
        assert_eq!(left_out.contains(&"user"), !is_sent);
    }
}

#[test]
fn where_nobody_has_spoken_the_system_prompt_is_the_input() {
    let mut request = Request { system: vec!["a".to_owned(), "b".to_owned()], ..asked(vec![]) };
    assert_eq!(
        written(&request),
        json!({"model": "m", "store": false, "stream": true,
            "input": [{"type": "message", "role": "system", "content": "a\n\nb"}]})
    );
    request.system.clear();
    let refused = write_request(&request, &TARGET).unwrap_err();
    assert_eq!(refused.field, "a conversation without a word");
}

#[test]
fn reasoning_goes_back_only_to_the_dialect_that_made_it() {
    let signed = |by| Signed { by, data: "proof".to_owned() };
    let mut request = asked(vec![text("hi")]);
    for by in [Dialect::AnthropicMessages, Dialect::OpenaiResponses] {
        let text = "hm".to_owned();
        request.push(Role::Assistant, Part::Reasoning { text, signed: Some(signed(by)) });
        request.push(Role::Assistant, Part::Redacted(signed(by)));
    }
    let unsigned = Part::Reasoning { text: "hm".to_owned(), signed: None };
    request.push(Role::Assistant, unsigned);
    request.push(Role::User, text("go on"));
    let input = written(&request)["input"].clone();
    assert_eq!(input.as_array().unwrap().len(), 4);
    let summary = json!([{"type": "summary_text", "text": "hm"}]);
    assert_eq!(
        input[1],
        json!({"type": "reasoning", "summary": summary, "encrypted_content": "proof"})
    );
    assert_eq!(input[2], json!({"type": "reasoning", "summary": [], "encrypted_content": "proof"}));
}

#[test]
fn results_may_hold_pictures_and_say_that_the_tool_failed() {
    let file = File { source: Source::Url("https://a/b.pdf".to_owned()), name: None };
    let request = asked(vec![
        text("so"),
        result(vec![text("a"), text("b")], false),
        result(vec![text("a"), picture(), Part::File(file)], false),
        result(vec![text("gone")], true),
    ]);
    let input = written(&request)["input"].clone();
    assert_eq!(input[0]["output"], "a\n\nb");
    assert_eq!(
        input[1]["output"],
        json!([{"type": "input_text", "text": "a"},
            {"type": "input_image", "image_url": "data:image/png;base64,AA"},
            {"type": "input_file", "file_url": "https://a/b.pdf"}])
    );
    assert_eq!(input[2]["output"], "Error: gone");
    assert_eq!(input[3]["role"], "user");
}

#[test]
fn tools_say_whether_they_are_strict_since_the_default_is_another() {
    let tool = |strict| {
        let (name, description, parameters) = ("f".to_owned(), None, None);
        let tool = Tool { name, description, parameters, strict };
        written(&Request { tools: vec![tool], ..asked(vec![text("hi")]) })["tools"][0].clone()
    };
    let parameters = json!({"type": "object", "properties": {}});
    for (strict, expected) in [(None, false), (Some(false), false), (Some(true), true)] {
        assert_eq!(
            tool(strict),
            json!({"type": "function", "name": "f", "parameters": parameters, "strict": expected})
        );
    }
}

#[test]
fn a_document_has_a_name_and_keeps_its_own() {
    for (name, media_type, expected) in [
        (Some("n.txt"), "application/pdf", "n.txt"),
        (None, "application/pdf", "attachment.pdf"),
        (None, "text/plain", "attachment"),
    ] {
        let source = Source::Base64 { media_type: media_type.to_owned(), data: "QQ==".to_owned() };
        let file = File { source, name: name.map(str::to_owned) };
        let body = written(&asked(vec![Part::File(file)]));
        assert_eq!(body["input"][0]["content"][0]["filename"], expected);
    }
}

#[test]
fn a_limit_that_is_too_low_to_be_taken_is_raised_to_the_least() {
    for (asked_for, sent) in [(1, 16), (16, 16), (17, 17)] {
        let request = Request { max_output: Some(asked_for), ..asked(vec![text("hi")]) };
        assert_eq!(written(&request)["max_output_tokens"], sent);
    }
}

#[test]
fn what_responses_cannot_say_is_refused() {
    let refused = |request: &Request| write_request(request, &TARGET).unwrap_err().field;
    let stop = vec!["x".to_owned()];
    assert_eq!(refused(&Request { stop, ..asked(vec![text("hi")]) }), "stop");
    let sound = Audio { data: "AA".to_owned(), format: "wav".to_owned() };
    assert_eq!(refused(&asked(vec![Part::Audio(sound)])), "input_audio");
    assert!(refused(&asked(vec![result(vec![picture()], true)])).contains("failed"));
    let mut prefilled = asked(vec![text("hi")]);
    prefilled.push(Role::Assistant, text("Sure, "));
    assert_eq!(refused(&prefilled), "assistant_prefill");
    let unsupported = vec!["n".to_owned()];
    assert_eq!(refused(&Request { unsupported, ..asked(vec![text("hi")]) }), "n");
}
