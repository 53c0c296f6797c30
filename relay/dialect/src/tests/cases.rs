//! Public bug reports of other relays and clients, as byte streams.

mod whole;

use crate::chat::TERMINATOR;
use crate::stream::facts::{AnswerSpec, End, Form};
use crate::tests::{Told, payloads, spec, tell, tell_every_way};
use serde_json::{Value, json};
use shared::Signature;

fn event(choice: &str) -> String {
    format!(
        "data: {{\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m-1\",\"choices\":[{choice}]}}\n\n"
    )
}

fn delta(delta: &str) -> String {
    event(&format!(r#"{{"index":0,"delta":{{{delta}}},"finish_reason":null}}"#))
}

fn content(text: &str) -> String {
    delta(&format!("\"content\":{}", json!(text)))
}

fn role() -> String {
    delta(r#""role":"assistant","content":"""#)
}

fn finish(reason: &str) -> String {
    event(&format!(r#"{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}"#))
}

const DONE: &str = "data: [DONE]\n\n";
const USAGE: &str = "data: {\"id\":\"c-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":6,\"total_tokens\":26}}\n\n";

fn stream(parts: &[&str]) -> Told {
    tell_every_way(spec(Form::Stream, false), parts.concat().as_bytes())
}

fn asking(parts: &[&str]) -> Told {
    tell_every_way(spec(Form::Stream, true), parts.concat().as_bytes())
}

fn put_together(parts: &[&str]) -> Value {
    let told = tell_every_way(spec(Form::Whole, false), parts.concat().as_bytes());
    assert_eq!(told.end, Some(End::Proper));
    serde_json::from_str(&told.whole).unwrap()
}

fn text(told: &Told) -> String {
    let all = payloads(&told.out).into_iter().chain(payloads(&told.tail));
    all.map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn signature(told: &Told) -> Option<Signature> {
    let Some(End::Error(error)) = &told.end else { panic!("{:?}", told.end) };
    error.signature
}

#[test]
fn b01_characters_cut_by_a_read_are_whole_and_bad_bytes_hurt_one_event() {
    let said = "Grüße, 你好 🌍 fin";
    let call = delta(&format!(
        r#""tool_calls":[{{"index":0,"id":"a","function":{{"name":"f","arguments":"{said}"}}}}]"#
    ));
    let told = stream(&[&role(), &content(said), &call, &finish("stop"), DONE]);
    assert_eq!((text(&told).as_str(), told.out.matches(said).count()), (said, 2));

    let (first, last) = (content("XX"), content(" next"));
    let mut body = first.clone().into_bytes();
    let at = first.find("XX").unwrap();
    body[at] = 0xFF;
    body.extend_from_slice(last.as_bytes());
    let told = tell_every_way(spec(Form::Stream, false), &body);
    assert_eq!(text(&told), "\u{fffd}X next");
}

#[test]
fn b02_b04_b05_b07_framing_is_normalised() {
    let plain = [&role()[..], &content("one"), &content(" two"), &finish("stop"), DONE].concat();
    let wanted = stream(&[&plain]);
    assert_eq!((text(&wanted).as_str(), wanted.finished), ("one two", 1));
    for other in [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        plain.replace("data: ", "data:"),
        format!("\u{feff}{plain}"),
        plain.replace("data: ", "event: message\nid: 7\nretry: 10\ndata: "),
    ] {
        let told = stream(&[&other]);
        assert_eq!(
            (told.out, told.tail, told.end),
            (wanted.out.clone(), wanted.tail.clone(), Some(End::Proper))
        );
    }
    let commented = stream(&[&plain.replace("data: ", ": still here\ndata: ")]);
    assert_eq!(commented.out, wanted.out);
    assert_eq!((commented.tokens, commented.pings), (2, wanted.pings + 5));
}

#[test]
fn b08_unicode_line_separators_are_content() {
    let said = "a\u{2028}b\u{2029}c\u{85}d\u{feff}";
    let told = stream(&[&content(said), &finish("stop"), DONE]);
    assert_eq!(text(&told), said);
}

#[test]
fn b09_an_event_may_be_large_up_to_the_limit() {
    let big = content(&"x".repeat(70 * 1024));
    assert_eq!(text(&stream(&[&big, &content(" tail"), &finish("stop")])).len(), 70 * 1024 + 5);
    for (body, limit) in [
        (content(&"x".repeat(2 << 20)), 1 << 20),
        (format!("data: {}", "y".repeat(2 << 20)), 1 << 20),
    ] {
        let told = tell(spec(Form::Stream, false), body.as_bytes().chunks(16 * 1024));
        assert_eq!(told.end, Some(End::TooLarge { limit }));
        assert!(told.out.is_empty() && told.held <= 2 * limit, "{}", told.held);
    }
}

#[test]
fn b10_a_last_event_without_its_blank_line_counts_if_it_is_whole() {
    for cut in ["\n", ""] {
        let done = format!("data: [DONE]{cut}");
        let told = stream(&[&content("x"), &finish("stop"), &done]);
        assert!(told.facts.done && told.end == Some(End::Proper));
        let last = finish("stop");
        let told = stream(&[&content("x"), &format!("{}{cut}", last.trim_end())]);
        assert_eq!((told.end, told.tail.as_str()), (Some(End::Proper), last.as_str()));
    }
    let half = &finish("stop")[..60];
    let told = stream(&[&content("x"), half]);
    assert_eq!((told.end, told.facts.dropped), (Some(End::Cut), 1));
    assert_eq!(stream(&[half]).end, Some(End::Cut));
}

#[test]
fn b12_an_event_in_several_lines_leaves_in_one() {
    let parts = [role(), content("multi "), content("line"), finish("stop")].concat();
    let broken_up = parts.replace(r#""choices":"#, "\"choices\" :\ndata:   ");
    let told = stream(&[&broken_up, DONE]);
    assert_eq!((text(&told).as_str(), told.end), ("multi line", Some(End::Proper)));
}

#[test]
fn b19_null_and_empty_finish_reasons_are_none() {
    let parts = [
        delta(r#""role":"assistant","content":"","reasoning_content":"hm""#),
        delta(r#""content":"""#),
        delta(r#""content":null"#),
        event(r#"{"index":0,"delta":{"content":"hello"},"finish_reason":""}"#),
        event(r#"{"index":0,"delta":{"content":""},"finish_reason":"stop"}"#),
    ]
    .concat();
    let told = stream(&[&parts, DONE]);
    assert_eq!((text(&told).as_str(), told.tokens, told.finished), ("hello", 2, 1));
    assert_eq!(payloads(&told.tail).len(), 1);
    let whole = put_together(&[&parts, DONE]);
    let message = &whole["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &message["reasoning_content"]),
        (&json!("hello"), &json!("hm"))
    );
}

#[test]
fn b20_an_empty_answer_needs_a_finish_reason() {
    let told = stream(&[DONE]);
    assert_eq!((told.end, told.facts.content), (Some(End::Cut), false));
    let filtered = event(
        r#"{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"content_filter"}"#,
    );
    let told = stream(&[&filtered, DONE]);
    assert_eq!(
        (told.end, told.facts.content, told.facts.refused),
        (Some(End::Proper), false, true)
    );
}

#[test]
fn b30_b31_b32_an_error_ends_the_answer_wherever_it_comes() {
    let quota = "data: {\"error\":{\"message\":\"quota used up\",\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}\n\n";
    let first = stream(&[quota, DONE]);
    assert_eq!(
        (signature(&first), first.out.as_str(), first.facts.done),
        (Some(Signature::Auth), "", false)
    );

    let named = stream(&["event: error\ndata: {\"error\":\"plain string reason\"}\n\n"]);
    let Some(End::Error(error)) = &named.end else { panic!() };
    assert_eq!((error.message.as_str(), error.signature), ("plain string reason", None));
    let words = stream(&["event: error\ndata: it broke\n\n"]);
    let Some(End::Error(error)) = &words.end else { panic!() };
    assert_eq!(error.message, "it broke");

    let limited = "data: {\"error\":{\"message\":\"rate limited\",\"type\":\"rate_limit_error\",\"code\":429}}\n\n";
    let after_preamble = stream(&[&role(), &event(""), limited]);
    assert_eq!(signature(&after_preamble), Some(Signature::RateLimited));
    assert!(!after_preamble.facts.content);

    let lost = "data: {\"error\":{\"message\":\"worker lost\",\"type\":\"server_error\",\"code\":500}}\n\n";
    let late =
        stream(&[&role(), &content("Here is "), &content("the plan"), lost, &content("!"), DONE]);
    assert_eq!(
        (signature(&late), text(&late).as_str()),
        (Some(Signature::ServerError), "Here is the plan")
    );

    let after_finish = stream(&[&content("x"), &finish("stop"), lost, DONE]);
    assert_eq!(signature(&after_finish), Some(Signature::ServerError));
    let vllm = "data: {\"object\":\"error\",\"message\":\"m\",\"type\":\"BadRequestError\",\"code\":400}\n\n";
    assert_eq!(signature(&stream(&[vllm])), Some(Signature::BadRequest));
    let wrapped =
        "data: [{\"error\":{\"code\":503,\"message\":\"m\",\"status\":\"UNAVAILABLE\"}}]\n\n";
    assert_eq!(signature(&stream(&[wrapped])), Some(Signature::Overloaded));
    let told = stream(&[&content("x"), &finish("error"), DONE]);
    assert_eq!(signature(&told), Some(Signature::ServerError));
    for fine in ["null", "false", "\"\"", "{}"] {
        let chunk = content("x").replace("\"choices\"", &format!("\"error\":{fine},\"choices\""));
        assert_eq!(text(&stream(&[&chunk, &finish("stop")])), "x", "{fine}");
    }
}

#[test]
fn b33_the_end_of_the_body_is_judged_by_the_finish_reason() {
    assert_eq!(stream(&[&role(), &content("cut "), &content("off")]).end, Some(End::Cut));
    assert_eq!(stream(&[&role(), &content("whole"), &finish("stop")]).end, Some(End::Proper));
    let told = stream(&[&role(), &content("whole?"), DONE]);
    assert_eq!((told.end, told.finished, told.facts.finish), (Some(End::Proper), 0, None));
    assert_eq!(stream(&[&role(), DONE]).end, Some(End::Cut));
    assert_eq!(stream(&[]).end, Some(End::Cut));
}

#[test]
fn b55_usage_is_always_known_and_shown_to_who_asked() {
    let keyless = USAGE.replace("\"choices\":[],", "");
    let null = USAGE.replace("\"choices\":[]", "\"choices\":null");
    let filter = "data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n";
    for usage in [USAGE, &keyless, &null] {
        let parts = [filter, &role(), &content("counted"), &finish("stop"), usage, usage, DONE];
        let silent = stream(&parts);
        let told = asking(&parts);
        for told in [&silent, &told] {
            assert_eq!((told.facts.usage.input, told.facts.usage.output), (Some(20), Some(6)));
            assert_eq!(payloads(&told.out).len(), 2);
        }
        assert_eq!(silent.tail, finish("stop"));
        let tail = payloads(&told.tail);
        assert_eq!(
            (tail.len(), &tail[1]["choices"], &tail[1]["usage"]["total_tokens"]),
            (2, &json!([]), &json!(26))
        );
    }
    assert!(asking(&[USAGE, &content("x"), &finish("stop"), DONE]).tail.ends_with(USAGE));
    // `usage: null` is what OpenAI puts in all other chunks.
    let null =
        asking(&["data: {\"choices\":[],\"usage\":null}\n\n", &content("x"), &finish("stop")]);
    assert_eq!(null.tail, finish("stop"));
}

#[test]
fn what_follows_the_finish_reason_waits_and_content_sets_it_free() {
    let with_content = event(r#"{"index":0,"delta":{"content":"bye"},"finish_reason":"stop"}"#);
    let told = stream(&[&content("x"), &with_content, &finish("stop"), DONE]);
    assert_eq!(
        (told.out.as_str(), told.tail.as_str()),
        (&*[content("x"), with_content].concat(), &*finish("stop"))
    );
    let told = stream(&[
        &content("x"),
        &finish("stop"),
        &delta(""),
        &content("more"),
        &finish("length"),
        DONE,
    ]);
    assert_eq!(told.out, [content("x"), finish("stop"), delta(""), content("more")].concat());
    assert_eq!((told.tail, told.finished), (finish("length"), 1));
    assert!(!told.out.contains("[DONE]") && TERMINATOR == DONE.as_bytes());
}

#[test]
fn with_several_choices_the_last_one_finishes() {
    let spec = |form| AnswerSpec { choices: 2, ..spec(form, false) };
    let of = |index: u32, reason: &str| {
        event(&format!(r#"{{"index":{index},"delta":{{}},"finish_reason":{reason}}}"#))
    };
    let said = event(r#"{"index":1,"delta":{"content":"b"},"finish_reason":null}"#);
    let body =
        [content("a"), of(0, "\"stop\""), said.clone(), of(1, "\"length\""), DONE.to_owned()]
            .concat();
    let told = tell_every_way(spec(Form::Stream), body.as_bytes());
    assert_eq!(told.out, [content("a"), of(0, "\"stop\""), said].concat());
    assert_eq!((told.tail, told.finished, told.facts.length), (of(1, "\"length\""), 1, true));
    let whole = tell_every_way(spec(Form::Whole), body.as_bytes()).whole;
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["choices"][1]["message"]["content"], "b");
    assert_eq!(whole["choices"][1]["finish_reason"], "length");
    // One finish reason of two is enough if the provider sends its terminator, but not if the body
    // just ends.
    let half = [content("a"), of(0, "\"stop\"")].concat();
    assert_eq!(tell_every_way(spec(Form::Stream), half.as_bytes()).end, Some(End::Cut));
    let done = format!("{half}{DONE}");
    assert_eq!(tell_every_way(spec(Form::Stream), done.as_bytes()).end, Some(End::Proper));
}

#[test]
fn junk_data_is_dropped_and_counted_and_broken_json_depends_on_where() {
    let broken = "data: {\"choices\":[{]}\n\n";
    let told = stream(&[
        "data:\n\ndata: ping\n\ndata: 12\n\n",
        &content("x"),
        broken,
        &content("y"),
        &finish("stop"),
    ]);
    assert_eq!((text(&told).as_str(), told.facts.dropped, told.end), ("xy", 4, Some(End::Proper)));
    assert!(matches!(stream(&[&role(), broken, &content("x")]).end, Some(End::Broken(_))));
    let call =
        delta(r#""tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]"#);
    assert!(matches!(stream(&[&content("x"), &call, broken]).end, Some(End::Broken(_))));
    let told = stream(&[&call, &finish("tool_calls"), broken, DONE]);
    assert_eq!((told.end, told.facts.dropped), (Some(End::Proper), 1));
}
