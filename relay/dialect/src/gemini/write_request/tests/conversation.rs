//! Turns and their parts.

use super::*;
use crate::neutral::{Audio, File, Image, Signed, Source};
use shared::Dialect;

fn user(parts: Vec<Part>) -> Turn {
    Turn { role: Role::User, parts }
}

fn model(parts: Vec<Part>) -> Turn {
    Turn { role: Role::Assistant, parts }
}

fn call(id: &str, name: &str, signed: Option<Signed>) -> Part {
    let arguments = r#"{"a":1}"#.to_owned();
    Part::Call { id: id.to_owned(), name: name.to_owned(), arguments, signed }
}

fn result(id: &str, parts: Vec<Part>, is_error: bool) -> Part {
    Part::Result { id: id.to_owned(), parts, is_error }
}

fn signed(by: Dialect, data: &str) -> Signed {
    Signed { by, data: data.to_owned() }
}

fn request(turns: Vec<Turn>) -> Request {
    Request { turns, ..Request::default() }
}

fn image(source: Source) -> Part {
    Part::Image(Image { source, detail: None })
}

fn png() -> Part {
    image(Source::Base64 { media_type: "image/png".to_owned(), data: "QQ==".to_owned() })
}

fn url(url: &str) -> Source {
    Source::Url(url.to_owned())
}

const PNG: &str = r#"{"inlineData":{"mimeType":"image/png","data":"QQ=="}}"#;

#[track_caller]
fn assert_contents(turns: Vec<Turn>, expected: &str) {
    let (body, left_out) = written(&request(turns), &TARGET);
    assert_eq!(body["contents"], serde_json::from_str::<Value>(expected).unwrap());
    assert!(left_out.is_empty());
}

#[track_caller]
fn assert_unable(turns: Vec<Turn>, what: &str) {
    let unable = write_request(&request(turns), &TARGET).unwrap_err();
    assert_eq!(unable.field, format!("gemini: {what}"));
}

#[test]
fn every_part_has_its_own() {
    let sound =
        |format: &str| Part::Audio(Audio { data: "QQ==".to_owned(), format: format.to_owned() });
    let pdf = Source::Base64 { media_type: "application/pdf".to_owned(), data: "QQ==".to_owned() };
    let at = |uri: &str, mime: &str| {
        format!(r#"{{"fileData":{{"fileUri":"{uri}","mimeType":"{mime}"}}}}"#)
    };
    let inline = |mime: &str| format!(r#"{{"inlineData":{{"mimeType":"{mime}","data":"QQ=="}}}}"#);
    for (part, expected) in [
        (text("a"), r#"{"text":"a"}"#.to_owned()),
        (png(), PNG.to_owned()),
        (
            image(url("http://x/a.b/c.JPG?d=e.png#f")),
            at("http://x/a.b/c.JPG?d=e.png#f", "image/jpeg"),
        ),
        (Part::File(File { source: pdf, name: Some("n".to_owned()) }), inline("application/pdf")),
        (
            Part::File(File { source: url("gs://b/c.pdf"), name: None }),
            at("gs://b/c.pdf", "application/pdf"),
        ),
        (sound("wav"), inline("audio/wav")),
        (sound("mp3"), inline("audio/mpeg")),
    ] {
        assert_contents(
            vec![user(vec![part])],
            &format!(r#"[{{"role":"user","parts":[{expected}]}}]"#),
        );
    }
}

#[test]
fn empty_turns_go_and_neighbours_are_merged() {
    let thought =
        Part::Reasoning { text: "hm".to_owned(), signed: Some(signed(Dialect::Gemini, "x")) };
    let redacted = Part::Redacted(signed(Dialect::Gemini, "y"));
    assert_contents(
        vec![
            user(vec![text("a")]),
            model(vec![text(""), thought, redacted]),
            user(vec![text("b")]),
        ],
        r#"[{"role":"user","parts":[{"text":"a"},{"text":"b"}]}]"#,
    );
    assert_unable(vec![model(vec![text("")])], "a conversation without a word");
}

#[test]
fn the_model_may_begin_and_may_be_carried_on() {
    assert_contents(
        vec![
            model(vec![text("a")]),
            user(vec![text("b")]),
            model(vec![Part::Refusal("c".to_owned())]),
        ],
        concat!(
            r#"[{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"b"}]},"#,
            r#"{"role":"model","parts":[{"text":"c"}]}]"#
        ),
    );
}

#[test]
fn a_calls_proof_comes_back_on_the_call() {
    let gemini = |data| signed(Dialect::Gemini, data);
    let other = || signed(Dialect::AnthropicMessages, "other");
    let said = vec![
        call("call_1", "f", Some(gemini("own"))),
        Part::Redacted(gemini("before")),
        call("call_2", "f", None),
        call("call_3", "f", Some(other())),
        Part::Redacted(gemini("lost")),
        text("a"),
        call("call_4", "f", None),
        Part::Redacted(other()),
        call("call_5", "f", None),
        Part::Redacted(gemini("less")),
        call("call_6", "f", Some(gemini("more"))),
    ];
    let call = |proof: &str| {
        let proof = if proof.is_empty() {
            String::new()
        } else {
            format!(r#","thoughtSignature":"{proof}""#)
        };
        format!(r#"{{"functionCall":{{"name":"f","args":{{"a":1}}}}{proof}}}"#)
    };
    let parts = ["own", "before", "", "-", "", "", "more"].map(|proof| match proof {
        "-" => r#"{"text":"a"}"#.to_owned(),
        proof => call(proof),
    });
    assert_contents(
        vec![user(vec![text("q")]), model(said)],
        &format!(
            r#"[{{"role":"user","parts":[{{"text":"q"}}]}},{{"role":"model","parts":[{}]}}]"#,
            parts.join(",")
        ),
    );
}

#[test]
fn results_go_by_their_calls_name_and_only_geminis_ids_go_back() {
    let turns = vec![
        user(vec![text("q")]),
        model(vec![
            call("call_1", "f", None),
            call("g1", "g", None),
            call("", "h", None),
            call("", "i", None),
        ]),
        user(vec![
            text("first"),
            result("g1", vec![text(r#" {"b": 1} "#)], false),
            result("call_1", vec![text("1"), png(), text("2")], false),
            result("", vec![text(r#"{"b":1}"#)], true),
            result("", vec![text("[1]")], false),
        ]),
    ];
    let (body, _) = written(&request(turns), &TARGET);
    let calls = &body["contents"][1]["parts"];
    assert!(calls[0]["functionCall"].get("id").is_none());
    assert_eq!(calls[1]["functionCall"]["id"], "g1");
    assert!(calls[2]["functionCall"].get("id").is_none());
    let expected = format!(
        concat!(
            r#"[{{"functionResponse":{{"id":"g1","name":"g","response":{{"b":1}}}}}},"#,
            r#"{{"functionResponse":{{"name":"f","response":{{"result":"1\n2"}}}}}},"#,
            r#"{{"functionResponse":{{"name":"h","response":{{"error":"{{\"b\":1}}"}}}}}},"#,
            r#"{{"functionResponse":{{"name":"i","response":{{"result":"[1]"}}}}}},"#,
            r#"{{"text":"first"}},{png}]"#
        ),
        png = PNG
    );
    assert_eq!(body["contents"][2]["parts"], serde_json::from_str::<Value>(&expected).unwrap());
}

#[test]
fn what_has_no_part_is_refused_by_its_name() {
    for (part, what) in [
        (image(url("http://x/y")), "an address whose ending tells no media type"),
        (image(url("http://x.png")), "an address whose ending tells no media type"),
        (image(url("http://x/y.exe")), "an address whose ending tells no media type"),
        (image(Source::Id("i".to_owned())), "a file by another provider's id"),
        (
            Part::Audio(Audio { data: "QQ==".to_owned(), format: "pcm16".to_owned() }),
            "sound in a format without a known media type",
        ),
        (result("nobody's", vec![], false), "a tool's result without its call"),
        (result("", vec![], false), "a tool's result without its call"),
    ] {
        assert_unable(vec![user(vec![part])], what);
    }
    assert_unable(vec![model(vec![png()])], "an image, file or sound in an assistant's turn");
    let bad = Part::Call {
        id: "i".to_owned(),
        name: "f".to_owned(),
        arguments: "[1]".to_owned(),
        signed: None,
    };
    assert_unable(vec![model(vec![bad])], "tool call arguments that are no JSON object");
}

#[test]
fn a_call_without_a_proof_is_vouched_for_where_one_is_demanded() {
    let unsupported = signed(Dialect::AnthropicMessages, "theirs");
    let request = request(vec![
        user(vec![Part::Text("hi".to_owned())]),
        model(vec![call("a", "f", Some(unsupported)), call("b", "f", None)]),
        user(vec![result("a", vec![], false), result("b", vec![], false)]),
        model(vec![call("c", "f", Some(signed(Dialect::Gemini, "mine"))), call("d", "f", None)]),
        user(vec![result("c", vec![], false), result("d", vec![], false)]),
    ]);
    for (model, stand_in) in [
        ("gemini-3-x", Some("skip_thought_signature_validator")),
        ("models/gemini-4-x", Some("skip_thought_signature_validator")),
        ("gemini-2.5-flash", None),
        ("gemma-4", None),
    ] {
        let (body, _) = written(&request, &Target { model, ..TARGET });
        let proof = |turn: usize, part: usize| {
            body["contents"][turn]["parts"][part]["thoughtSignature"].as_str().map(str::to_owned)
        };
        assert_eq!(proof(1, 0).as_deref(), stand_in, "{model}");
        assert_eq!(proof(3, 0).as_deref(), Some("mine"), "{model}");
        assert_eq!((proof(1, 1), proof(3, 1)), (None, None), "{model}");
    }
}
