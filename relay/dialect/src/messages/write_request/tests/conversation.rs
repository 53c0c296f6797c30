//! Turns and their parts.

use super::*;
use crate::neutral::{Audio, File, Image, Signed, Source};
use shared::Dialect;

fn request(turns: Vec<Turn>) -> Request {
    Request { turns, ..Request::default() }
}

fn user(parts: Vec<Part>) -> Turn {
    turn(Role::User, parts)
}

fn model(parts: Vec<Part>) -> Turn {
    turn(Role::Assistant, parts)
}

fn call(id: &str, arguments: &str) -> Part {
    let (id, name) = (id.to_owned(), "f".to_owned());
    Part::Call { id, name, arguments: arguments.to_owned(), signed: None }
}

fn result(id: &str, parts: Vec<Part>, is_error: bool) -> Part {
    Part::Result { id: id.to_owned(), parts, is_error }
}

fn signed(by: Dialect) -> Signed {
    Signed { by, data: "proof".to_owned() }
}

fn reasoning(by: Option<Dialect>) -> Part {
    Part::Reasoning { text: "hm".to_owned(), signed: by.map(signed) }
}

fn base64(media_type: &str, data: &str) -> Source {
    Source::Base64 { media_type: media_type.to_owned(), data: data.to_owned() }
}

fn image(source: Source) -> Part {
    Part::Image(Image { source, detail: Some("low".to_owned()) })
}

fn file(source: Source, name: Option<&str>) -> Part {
    Part::File(File { source, name: name.map(ToOwned::to_owned) })
}

#[track_caller]
fn assert_messages(turns: Vec<Turn>, expected: &str) {
    let (body, _) = written(&request(turns), &TARGET);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["messages"], serde_json::from_str::<Value>(expected).unwrap());
}

#[track_caller]
fn assert_unable(turns: Vec<Turn>, what: &str) {
    let unable = write_request(&request(turns), &TARGET).unwrap_err();
    assert_eq!(unable.field, format!("messages: {what}"));
}

const OWN: Dialect = Dialect::AnthropicMessages;

#[test]
fn every_part_has_its_block() {
    for (part, block) in [
        (text("a"), r#"{"type":"text","text":"a"}"#),
        (
            image(base64("image/png", "QQ==")),
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}}"#,
        ),
        (
            image(base64("image/jpg", "QQ==")),
            r#"{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"QQ=="}}"#,
        ),
        (
            image(Source::Url("http://x".to_owned())),
            r#"{"type":"image","source":{"type":"url","url":"http://x"}}"#,
        ),
        (
            file(base64("application/pdf", "QQ=="), Some("n.pdf")),
            concat!(
                r#"{"type":"document","title":"n.pdf","source":"#,
                r#"{"type":"base64","media_type":"application/pdf","data":"QQ=="}}"#
            ),
        ),
        (
            file(base64("text/markdown", "w6k="), None),
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"é"}}"#,
        ),
        (
            file(Source::Url("u".to_owned()), None),
            r#"{"type":"document","source":{"type":"url","url":"u"}}"#,
        ),
    ] {
        assert_messages(
            vec![user(vec![part.clone()])],
            &format!(r#"[{{"role":"user","content":[{block}]}}]"#),
        );
        let turns = vec![
            user(vec![text("a")]),
            model(vec![call("i", "")]),
            user(vec![result("i", vec![part], true)]),
        ];
        let (body, _) = written(&request(turns), &TARGET);
        let body: Value = serde_json::from_str(&body).unwrap();
        let expected = format!(
            r#"{{"type":"tool_result","tool_use_id":"i","is_error":true,"content":[{block}]}}"#
        );
        assert_eq!(
            body["messages"][2]["content"][0],
            serde_json::from_str::<Value>(&expected).unwrap()
        );
    }
}

#[test]
fn what_the_model_said_has_its_block() {
    let said = vec![
        reasoning(Some(OWN)),
        Part::Redacted(signed(OWN)),
        text("a"),
        Part::Refusal("no".to_owned()),
        call("i", r#"{"a":1}"#),
        call("j", " "),
    ];
    assert_messages(
        vec![user(vec![text("q")]), model(said)],
        concat!(
            r#"[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":["#,
            r#"{"type":"thinking","thinking":"hm","signature":"proof"},"#,
            r#"{"type":"redacted_thinking","data":"proof"},{"type":"text","text":"a"},"#,
            r#"{"type":"text","text":"no"},{"type":"tool_use","id":"i","name":"f","input":{"a":1}},"#,
            r#"{"type":"tool_use","id":"j","name":"f","input":{}}]}]"#
        ),
    );
}

#[test]
fn empty_texts_and_foreign_proofs_go_and_neighbours_are_merged() {
    let empty = vec![
        text(" \n"),
        text(""),
        reasoning(None),
        reasoning(Some(Dialect::Gemini)),
        Part::Redacted(signed(Dialect::OpenaiResponses)),
    ];
    assert_messages(
        vec![user(vec![text("a")]), model(empty), user(vec![text("b")])],
        r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]"#,
    );
}

#[test]
fn results_come_first_and_keep_their_order() {
    let turns = vec![
        user(vec![text("a")]),
        model(vec![call("functions.f:0", ""), call("", "")]),
        user(vec![
            text("b"),
            result("functions.f:0", vec![text("1")], false),
            text("c"),
            result("", vec![], false),
        ]),
    ];
    assert_messages(
        turns,
        concat!(
            r#"[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":["#,
            r#"{"type":"tool_use","id":"functions_f_0","name":"f","input":{}},"#,
            r#"{"type":"tool_use","id":"call_0","name":"f","input":{}}]},{"role":"user","content":["#,
            r#"{"type":"tool_result","tool_use_id":"functions_f_0","content":[{"type":"text","text":"1"}]},"#,
            r#"{"type":"tool_result","tool_use_id":"call_0"},"#,
            r#"{"type":"text","text":"b"},{"type":"text","text":"c"}]}]"#
        ),
    );
}

#[test]
fn words_before_the_users_go_into_the_system_prompt() {
    let turns = vec![model(vec![text("Welcome!")]), user(vec![text("a")])];
    let (body, _) = written(&Request { system: vec!["s".to_owned()], ..request(turns) }, &TARGET);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert_eq!(body["messages"][0]["role"], "user");
    assert_eq!(body["system"][0]["text"], "s");
    let opening = body["system"][1]["text"].as_str().unwrap();
    assert!(opening.ends_with("these words:\nWelcome!"), "{opening}");
    let what = "a conversation that begins with a tool call";
    assert_unable(vec![model(vec![call("i", "")]), user(vec![text("a")])], what);
    let what = "a conversation without a word of the user's";
    assert_unable(vec![model(vec![text("a")])], what);
    assert_unable(vec![user(vec![text(" ")])], what);
    assert_unable(vec![], what);
}

#[test]
fn an_answer_to_be_carried_on_ends_in_no_white_space() {
    assert_messages(
        vec![user(vec![text("a ")]), model(vec![text("b \n")])],
        concat!(
            r#"[{"role":"user","content":[{"type":"text","text":"a "}]},"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"b"}]}]"#
        ),
    );
}

#[test]
fn a_budget_asks_for_the_proof_of_earlier_thoughts() {
    let calls = |before: Vec<Part>| {
        let parts = before.into_iter().chain([call("i", "")]).collect();
        vec![user(vec![text("a")]), model(parts), user(vec![result("i", vec![], false)])]
    };
    let ask = text("and?");
    let then_said = calls(vec![]).into_iter().chain([model(vec![text("b")]), user(vec![ask])]);
    for (turns, thinks) in [
        (calls(vec![]), false),
        (calls(vec![text("x"), reasoning(None)]), false),
        (calls(vec![reasoning(Some(Dialect::Gemini))]), false),
        (calls(vec![reasoning(Some(OWN))]), true),
        (calls(vec![Part::Redacted(signed(OWN)), text("x")]), true),
        (then_said.collect(), true),
        (vec![user(vec![text("a")]), model(vec![text("{")])], false),
        (vec![user(vec![text("a")]), model(vec![reasoning(Some(OWN)), text("{")])], true),
    ] {
        let shown = format!("{turns:?}");
        let thinking = Some(Thinking::Budget(1024));
        let (body, left_out) = written(&Request { thinking, ..request(turns.clone()) }, &TARGET);
        assert_eq!(body.contains(r#""thinking":{"type":"enabled""#), thinks, "{shown}");
        assert_eq!(left_out.is_empty(), thinks, "{shown}");
        let thinking = Some(Thinking::Adaptive);
        let (body, left_out) = written(&Request { thinking, ..request(turns) }, &TARGET);
        assert!(body.contains(r#""thinking":{"type":"adaptive"}"#) && left_out.is_empty());
    }
}

#[test]
fn what_has_no_block_is_refused_by_its_name() {
    let sound = Part::Audio(Audio { data: "QQ==".to_owned(), format: "wav".to_owned() });
    for (part, what) in [
        (sound, "sound"),
        (image(base64("image/tiff", "QQ==")), "an image that is no JPEG, PNG, GIF or WebP"),
        (image(Source::Id("i".to_owned())), "an image by a provider's id"),
        (file(Source::Id("i".to_owned()), None), "a file by a provider's id"),
        (file(base64("application/zip", "QQ=="), None), "a file that is neither PDF nor text"),
        (file(base64("text/plain", "/w=="), None), "a text file that is no base64 of UTF-8"),
    ] {
        assert_unable(vec![user(vec![part])], what);
    }
    let shown = image(base64("image/png", "QQ=="));
    let what = "an image, file or sound in an assistant's turn";
    assert_unable(vec![user(vec![text("a")]), model(vec![shown])], what);
    for arguments in ["[1]", "7", "{", "{} {}", "null"] {
        let what = "tool call arguments that are no JSON object";
        assert_unable(vec![user(vec![text("a")]), model(vec![call("i", arguments)])], what);
    }
}
