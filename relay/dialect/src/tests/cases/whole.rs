//! Answers in one piece, on either side.

use crate::answer::AnswerReader;
use crate::stream::facts::{AnswerSpec, End, Form};
use crate::tests::cases::{DONE, delta, finish, put_together, role};
use crate::tests::{payloads, spec, tell_every_way};
use bytes::BytesMut;
use serde_json::{Value, json};
use shared::Signature;

#[test]
fn b14_a_whole_answer_becomes_a_stream() {
    let body = r#"{"id":"c-1","object":"chat.completion","created":1700000000,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"whole answer at once"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":4,"total_tokens":11}}"#;
    for wants_usage in [true, false] {
        let mut reader = AnswerReader::new(spec(Form::Stream, wants_usage));
        let mut out = BytesMut::new();
        let progress = reader.read_whole(body.as_bytes(), &mut out);
        assert_eq!(
            (progress.end, progress.tokens, progress.finished),
            (Some(End::Proper), 1, true)
        );
        assert_eq!((reader.facts().usage.input, reader.facts().usage.output), (Some(7), Some(4)));
        let chunks = payloads(std::str::from_utf8(&out).unwrap());
        assert_eq!(chunks[0]["choices"][0]["delta"], json!({"role":"assistant","content":""}));
        assert_eq!(chunks[1]["choices"][0]["delta"], json!({"content":"whole answer at once"}));
        let tail = payloads(std::str::from_utf8(&reader.take_tail()).unwrap());
        assert_eq!(tail[0]["choices"][0]["finish_reason"], "stop");
        assert_eq!(tail.len(), 1 + usize::from(wants_usage));
        if wants_usage {
            assert_eq!(tail[1]["choices"], json!([]));
            assert_eq!(tail[1]["usage"]["total_tokens"], 11);
        }
        assert!(
            chunks
                .iter()
                .chain(&tail)
                .all(|chunk| chunk["id"] == "c-1" && chunk["object"] == "chat.completion.chunk")
        );
    }
    let mut reader = AnswerReader::new(spec(Form::Whole, false));
    let mut out = BytesMut::new();
    assert_eq!(reader.read_whole(body.as_bytes(), &mut out).end, Some(End::Proper));
    assert_eq!((reader.take_whole(), out.len()), (body.as_bytes().to_vec(), 0));
}

#[test]
fn b14_a_whole_tool_call_gets_its_index_and_pretty_json_one_line() {
    let body = r#"{
      "id": "c", "model": "m", "citations": ["x"],
      "choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
        "finish_reason": "tool_calls"}]}"#;
    let mut reader = AnswerReader::new(spec(Form::Stream, false));
    let mut out = BytesMut::new();
    assert_eq!(reader.read_whole(body.as_bytes(), &mut out).end, Some(End::Proper));
    let chunks = payloads(std::str::from_utf8(&out).unwrap());
    let calls = chunks[1]["choices"][0]["delta"]["tool_calls"].as_array().unwrap();
    assert_eq!((&calls[0]["index"], &calls[1]["index"]), (&json!(0), &json!(1)));
    assert_eq!(calls[1]["function"]["name"], "g");
    let tail = payloads(std::str::from_utf8(&reader.take_tail()).unwrap());
    assert_eq!(tail[0]["citations"], json!(["x"]));
}

#[test]
fn b14_what_is_no_answer_is_told_apart() {
    let read = |body: &str| {
        let mut reader = AnswerReader::new(spec(Form::Stream, false));
        let mut out = BytesMut::new();
        let end = reader.read_whole(body.as_bytes(), &mut out).end.unwrap();
        assert!(out.is_empty());
        end
    };
    let error = r#"{"error":{"message":"backend restarting","type":"server_error","code":null}}"#;
    let End::Error(error) = read(error) else { panic!() };
    assert_eq!(error.signature, Some(Signature::ServerError));
    assert!(matches!(read(r#"{"detail":"no"}"#), End::Error(_)));
    assert!(matches!(read(r#"[{"error":{"message":"no"}}]"#), End::Error(_)));
    for broken in [
        "<html>",
        "",
        "{}",
        r#"{"choices":[]}"#,
        r#"{"choices":[{"message":{}}]}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"x"}]}"#,
    ] {
        assert!(matches!(read(broken), End::Broken(_)), "{broken}");
    }
    let spec = AnswerSpec { max_answer: 10, ..spec(Form::Whole, false) };
    let end = AnswerReader::new(spec).read_whole(&[b' '; 11], &mut BytesMut::new()).end;
    assert_eq!(end, Some(End::TooLarge { limit: 10 }));
}

#[test]
fn b16_calls_that_share_or_lack_an_index_are_told_apart_by_id() {
    let call = |index: &str, id: &str, name: &str, city: &str| {
        format!(
            r#"{{{index}"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{\"city\":\"{city}\"}}"}}}}"#
        )
    };
    let zero = [("call_a", "get_weather", "Oslo"), ("call_b", "get_time", "Rome")].map(
        |(id, name, city)| {
            delta(&format!(r#""tool_calls":[{}]"#, call(r#""index":0,"#, id, name, city)))
        },
    );
    let none = delta(&format!(
        r#""tool_calls":[{},{}]"#,
        call("", "call_a", "get_weather", "Oslo"),
        call("", "call_b", "get_time", "Rome")
    ));
    let nameless = delta(
        r#""tool_calls":[{"function":{"name":"get_weather","arguments":"{}"}},{"function":{"name":"get_time"}}]"#,
    );
    for (parts, ids) in [(zero.concat(), true), (none, true), (nameless, false)] {
        let whole = put_together(&[&role(), &parts, &finish("tool_calls"), DONE]);
        let calls = whole["choices"][0]["message"]["tool_calls"].as_array().unwrap();
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[1]["function"]["name"], "get_time");
        assert_eq!(calls[0]["type"], "function");
        if ids {
            assert_eq!(calls[1]["id"], "call_b");
            assert_eq!(calls[1]["function"]["arguments"], r#"{"city":"Rome"}"#);
        }
        assert_eq!(whole["choices"][0]["message"]["content"], Value::Null);
    }
}

#[test]
fn a_whole_answer_keeps_what_it_does_not_know() {
    let parts = [
        r#"data: {"id":"","created":0,"model":"","choices":[],"prompt_filter_results":[1]}"#,
        r#"data: {"id":"c","created":5,"model":"m","system_fingerprint":"f","choices":[{"index":0,"delta":{"role":"assistant","content":"\ud83c","x":1.50},"logprobs":{"content":[{"logprob":-0.10}]},"finish_reason":null}]}"#,
        r#"data: {"id":"c","created":5,"model":"m","service_tier":"t","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"\udf0d\n","x":null},"logprobs":{"content":[{"logprob":-2e-7}],"refusal":null},"content_filter_results":{"a":1}}]}"#,
        r#"data: {"id":"c","created":5,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
        "",
    ]
    .join("\n\n");
    let told = tell_every_way(spec(Form::Whole, false), parts.as_bytes());
    let expected = concat!(
        r#"{"id":"c","object":"chat.completion","created":5,"model":"m","prompt_filter_results":[1],"system_fingerprint":"f","service_tier":"t","#,
        r#""choices":[{"index":0,"message":{"role":"assistant","content":"\ud83c\udf0d\n","x":1.50},"#,
        r#""logprobs":{"content":[{"logprob":-0.10},{"logprob":-2e-7}],"refusal":null},"finish_reason":"stop","content_filter_results":{"a":1}}],"#,
        r#""usage":{"prompt_tokens":1,"completion_tokens":2}}"#
    );
    assert_eq!(told.whole, expected);
    let json: Value = serde_json::from_str(&told.whole).unwrap();
    assert_eq!(json["choices"][0]["message"]["content"], "🌍\n");
}
