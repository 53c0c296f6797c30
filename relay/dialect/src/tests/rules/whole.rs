//! A 200 that is one JSON document, in each dialect: read, passed on, and told as a
//! stream to a client that asked for one.

use super::*;
use crate::answer::AnswerReader;
use bytes::BytesMut;

const COMPLETION: &str = r#"{"id":"c-1","object":"chat.completion","created":5,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"x","reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}"#;
const MESSAGE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{"n":1.50}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}}"#;
const RESPONSE: &str = r#"{"id":"resp_1","object":"response","created_at":5,"status":"completed","model":"m-1","output":[{"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"id":"m","type":"message","content":[{"type":"output_text","text":"x"}]},{"id":"fc","type":"function_call","call_id":"a","name":"f","arguments":"{}"}],"usage":{"input_tokens":10,"output_tokens":5}}"#;
const GENERATED: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"x"},{"functionCall":{"name":"f","args":{"n":1}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5},"modelVersion":"m-1"}"#;

#[test]
fn completions_are_read() {
    check_whole(
        CHAT,
        &[
            (
                "all",
                COMPLETION.to_owned(),
                "think(hm) text(x) call(a f {}) | ToolCalls | 10 in 5 out | proper",
            ),
            (
                "old",
                r#"{"choices":[{"text":"x","finish_reason":"length"}]}"#.to_owned(),
                "text(x) | Length | proper",
            ),
            (
                "no finish",
                r#"{"choices":[{"message":{"content":"x"}}]}"#.to_owned(),
                "text(x) | done | proper",
            ),
            (
                "no content",
                r#"{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}"#.to_owned(),
                "nothing | Stop | proper",
            ),
            (
                "neither",
                r#"{"choices":[{"message":{}}]}"#.to_owned(),
                "nothing | broken: the body has neither content nor a finish reason",
            ),
            (
                "no choices",
                r#"{"choices":[]}"#.to_owned(),
                "nothing | broken: the body has no choices",
            ),
            ("a message alone", r#"{"detail":"m"}"#.to_owned(), "nothing | error: m"),
            (
                "an error",
                r#"{"error":{"message":"m","type":"t"},"usage":{"prompt_tokens":1}}"#.to_owned(),
                "nothing | 1 in | error t: m",
            ),
            (
                "an error beside choices",
                r#"{"error":{"message":"m"},"choices":[{"message":{"content":"x"}}]}"#.to_owned(),
                "nothing | error: m",
            ),
            (
                "a failed finish",
                r#"{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}"#.to_owned(),
                "text(x) | error server_error error: The provider ended its answer with the finish reason 'error'.",
            ),
            ("HTML", "<html>".to_owned(), "nothing | broken: the body is not JSON"),
        ],
    );
}

#[test]
fn messages_are_read() {
    check_whole(
        MESSAGES,
        &[
            (
                "all",
                MESSAGE.to_owned(),
                "think(hm^s) text(x) call(a f {\"n\":1.50}) | ToolCalls | 10 in 5 out | proper",
            ),
            (
                "a stop sequence",
                MESSAGE.replace(
                    "\"tool_use\",\"stop_sequence\":null",
                    "\"stop_sequence\",\"stop_sequence\":\"END\"",
                ),
                "think(hm^s) text(x) call(a f {\"n\":1.50}) | StopSequence END | 10 in 5 out | proper",
            ),
            (
                "no content",
                r#"{"type":"message","content":[],"stop_reason":"refusal"}"#.to_owned(),
                "nothing | Refusal | proper",
            ),
            (
                "neither",
                r#"{"type":"message","content":[]}"#.to_owned(),
                "nothing | broken: the body has neither content nor a stop reason",
            ),
            (
                "an error",
                r#"{"type":"error","error":{"type":"t","message":"m"}}"#.to_owned(),
                "nothing | error t: m",
            ),
            ("another dialect", COMPLETION.to_owned(), "nothing | broken: the body is no message"),
            ("HTML", "<html>".to_owned(), "nothing | broken: the body is not JSON"),
        ],
    );
}

#[test]
fn responses_are_read() {
    let with = |old: &str, new: &str| RESPONSE.replace(old, new);
    let all = "think(hm) text(x) call(a f {})";
    let is = |rest: &str| format!("{all} | {rest}");
    check_whole(
        RESPONSES,
        &[
            ("all", RESPONSE.to_owned(), &is("ToolCalls | 10 in 5 out | proper")),
            (
                "incomplete",
                with(
                    "\"completed\"",
                    "\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"}",
                ),
                &is("Length | 10 in 5 out | proper"),
            ),
            (
                "failed",
                with("\"completed\"", "\"failed\",\"error\":{\"code\":\"c\",\"message\":\"m\"}"),
                &is("10 in 5 out | open | error c: m"),
            ),
            (
                "running",
                with("\"completed\"", "\"in_progress\""),
                &is("10 in 5 out | open | broken: the response has not ended"),
            ),
            (
                "an error",
                r#"{"error":{"message":"m","type":"t"}}"#.to_owned(),
                "nothing | error t: m",
            ),
            ("another dialect", COMPLETION.to_owned(), "nothing | broken: the body is no response"),
            ("HTML", "<html>".to_owned(), "nothing | broken: the body is not JSON"),
        ],
    );
}

#[test]
fn what_gemini_generates_is_read() {
    let all = "think(hm) text(x) call(call_REQ_0 f {\"n\":1}) | ToolCalls | 10 in 5 out | proper";
    let two =
        format!(r#"[{{"candidates":[{{"content":{{"parts":[{{"text":"a"}}]}}}}]}},{GENERATED}]"#);
    check_whole(
        GEMINI,
        &[
            ("all", GENERATED.to_owned(), all),
            ("an array of what would be events", two, &format!("text(a) {all}")),
            (
                "a blocked prompt",
                r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#.to_owned(),
                "nothing | ContentFilter | proper",
            ),
            (
                "an error",
                r#"{"error":{"code":429,"message":"m","status":"S"}}"#.to_owned(),
                "nothing | error S 429 429: m",
            ),
            (
                "an error in an array",
                r#"[{"error":{"code":429,"message":"m"}}]"#.to_owned(),
                "nothing | error 429 429: m",
            ),
            ("a message alone", r#"{"message":"m"}"#.to_owned(), "nothing | error: m"),
            (
                "a failed finish",
                GENERATED.replace("STOP", "MALFORMED_RESPONSE"),
                "think(hm) text(x) call(call_REQ_0 f {\"n\":1}) | 10 in 5 out | open | error server_error MALFORMED_RESPONSE: The provider ended its answer with the finish reason 'MALFORMED_RESPONSE'.",
            ),
            (
                "no finish",
                GENERATED.replace("STOP", ""),
                "think(hm) text(x) call(call_REQ_0 f {\"n\":1}) | 10 in 5 out | open | broken: the body has no finish reason",
            ),
            ("HTML", "<html>".to_owned(), "nothing | broken: the body is not JSON"),
        ],
    );
}

fn told_whole(from: Dialect, to: Dialect, form: Form, body: &str) -> Told {
    let mut reader = AnswerReader::new(AnswerSpec { from, to, ..spec(form, true) });
    let mut out = BytesMut::new();
    let progress = reader.read_whole(body.as_bytes(), &mut out);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    // What comes later is not read.
    assert_eq!(reader.read_whole(b"x", &mut out).end, None);
    assert_eq!(reader.end_of_body(&mut out).end, None);
    Told {
        out: text(&out),
        tail: text(&reader.take_tail()),
        terminator: text(&reader.take_terminator()),
        whole: if form == Form::Whole { text(&reader.take_whole()) } else { String::new() },
        facts: reader.facts().clone(),
        end: progress.end,
        events: progress.events,
        tokens: progress.tokens,
        pings: progress.pings,
        finished: u32::from(progress.finished),
        first_token: None,
        held: reader.held(),
    }
}

#[test]
fn an_answer_in_one_piece_becomes_what_the_client_asked_for() {
    for (from, body) in
        [(CHAT, COMPLETION), (MESSAGES, MESSAGE), (RESPONSES, RESPONSE), (GEMINI, GENERATED)]
    {
        let said = read_whole(from, body.as_bytes());
        for to in CLIENTS {
            let name = format!("{from} to {to}");
            let told = told_whole(from, to, Form::Stream, body);
            assert_eq!(
                (told.end.as_ref(), told.finished, told.tokens, told.events),
                (Some(&End::Proper), 1, 1, 1),
                "{name}"
            );
            if (from, to) == (CHAT, CHAT) {
                assert!(told.out.contains(r#""tool_calls":[{"index":0,"id":"a""#), "{}", told.out);
            }
            if (from, to) != (CHAT, CHAT) {
                life::follow(to, &told, true);
            }
            let stream = read(to, all_of(&told).as_bytes());
            let told = told_whole(from, to, Form::Whole, body);
            assert_eq!((told.end.as_ref(), told.out.as_str()), (Some(&End::Proper), ""), "{name}");
            let whole = read_whole(to, told.whole.as_bytes());
            for back in [stream, whole] {
                assert_eq!((&back.text, &back.reasoning), (&said.text, &said.reasoning), "{name}");
                assert_eq!(between::calls_of(&back), between::calls_of(&said), "{name}");
                assert_eq!(back.answer.finish, Some(Finish::ToolCalls), "{name}");
                assert_eq!(
                    (back.facts.usage.input, back.facts.usage.output),
                    (Some(10), Some(5)),
                    "{name}"
                );
            }
            if from == to {
                assert_eq!(told.whole, body, "{name}");
            }
        }
    }
}

#[test]
fn a_stop_sequence_stays_known_to_anthropics_clients() {
    let body = MESSAGE
        .replace(
            "\"tool_use\",\"stop_sequence\":null",
            "\"stop_sequence\",\"stop_sequence\":\"E\\nD\"",
        )
        .replace(r#",{"type":"tool_use","id":"a","name":"f","input":{"n":1.50}}"#, "");
    let told = told_whole(MESSAGES, MESSAGES, Form::Stream, &body);
    assert!(
        told.tail.contains(r#""delta":{"stop_reason":"stop_sequence","stop_sequence":"E\nD"}"#),
        "{}",
        told.tail
    );
    assert!(
        told.out.contains(r#""signature":"s""#),
        "a proof is bare in its own dialect: {}",
        told.out
    );
}

#[test]
fn errors_and_what_is_no_answer_leave_nothing_behind() {
    for (from, body) in [(CHAT, "{}"), (MESSAGES, "{}"), (RESPONSES, "{}"), (GEMINI, "{}")] {
        for to in CLIENTS {
            let told = told_whole(from, to, Form::Stream, body);
            assert!(matches!(told.end, Some(End::Broken(_))), "{from} to {to}: {:?}", told.end);
            assert_eq!(told.out, "", "{from} to {to}");
            let told =
                told_whole(from, to, Form::Stream, r#"{"error":{"message":"m","code":503}}"#);
            assert_eq!(end(told.end.as_ref()), "error 503 503: m", "{from} to {to}");
        }
    }
}
