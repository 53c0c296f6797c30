//! Errors inside of a 200: every form, before and after content.

use super::*;

#[test]
fn chat_has_many() {
    let x = said("x");
    let e = |text: &str| format!("{x}{}", data(&[text]));
    let named = |text: &str| format!("{x}event: error\ndata: {text}\n\n");
    check(
        CHAT,
        &[
            (
                "an object",
                e(r#"{"error":{"message":"m","type":"t","code":"c","param":"p"}}"#) + DONE,
                "text(x) | @0 | error t c p: m",
            ),
            (
                "first",
                data(&[r#"{"error":{"message":"m","type":"t","code":503}}"#]),
                "nothing | error t 503 503: m",
            ),
            ("a string", e(r#"{"error":"m","code":"c"}"#), "text(x) | @0 | error c: m"),
            (
                "code null",
                e(r#"{"error":{"message":"m","code":null,"type":null}}"#),
                "text(x) | @0 | error: m",
            ),
            (
                "Groq's",
                named(r#"{"error":{"message":"m","type":"t","code":"c","status_code":400}}"#),
                "text(x) | @0 | error t c 400: m",
            ),
            ("event: error with a string", named(r#""m""#), "text(x) | @0 | error: m"),
            ("event: error with words", named("it broke"), "text(x) | @0 | error: it broke"),
            (
                "beside choices, after the finish",
                x.clone()
                    + &finish("length")
                    + &finish("error")
                        .replace(r#""choices""#, r#""error":{"code":502,"message":"m"},"choices""#)
                    + DONE,
                "text(x) | Length | @0 | error 502 502: m",
            ),
            (
                "with usage",
                data(&[r#"{"error":{"message":"m"},"usage":{"prompt_tokens":3}}"#]),
                "nothing | 3 in | error: m",
            ),
            (
                "vLLM's",
                e(r#"{"object":"error","message":"m","type":"t","code":400}"#),
                "text(x) | @0 | error t 400 400: m",
            ),
            (
                "in an array",
                e(r#"[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]"#),
                "text(x) | @0 | error UNAVAILABLE 503 503: m",
            ),
            (
                "null, false, empty: none",
                format!(
                    "{x}{}{}{}{DONE}",
                    said("y").replace(r#""choices""#, r#""error":null,"choices""#),
                    said("z").replace(r#""choices""#, r#""error":"","choices""#),
                    finish("stop").replace(r#""choices""#, r#""error":{},"choices""#)
                ),
                "text(xyz) | Stop | @0 | done | proper",
            ),
            (
                "broken JSON first",
                data(&[r#"{"choices":[{]}"#]) + &x,
                "nothing | broken: broken JSON before the first token",
            ),
            (
                "broken JSON within text",
                x.clone() + &data(&["{"]) + &finish("stop"),
                "text(x) | Stop | @0 | 1 dropped | proper",
            ),
            (
                "broken JSON within a call",
                calls(r#"{"index":0,"id":"a","function":{"name":"f"}}"#) + &data(&["{"]),
                "nothing | @0 | open | broken: broken JSON inside a tool call",
            ),
        ],
    );
}

#[test]
fn anthropic_has_one_and_its_lookalikes() {
    let text = block(0, r#"{"type":"text","text":""}"#, &[r#"{"type":"text_delta","text":"x"}"#]);
    let whole = message(&text.iter().map(String::as_str).collect::<Vec<_>>(), "end_turn");
    let begun = &whole[..whole.find("event: message_delta").unwrap()];
    let started = &whole[..whole.find("event: content_block_start").unwrap()];
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"m","details":null},"request_id":"r"}"#;
    let e = |text: &str| format!("{begun}event: error\ndata: {text}\n\n");
    check(
        MESSAGES,
        &[
            ("late", e(overloaded), "text(x) | 10 in 1 out | @2 | error overloaded_error: m"),
            ("first", named(&[overloaded]), "nothing | error overloaded_error: m"),
            (
                "after the start",
                format!("{started}{}", named(&[overloaded])),
                "nothing | 10 in 1 out | error overloaded_error: m",
            ),
            (
                "by its type alone",
                format!("{begun}{}", data(&[overloaded])),
                "text(x) | 10 in 1 out | @2 | error overloaded_error: m",
            ),
            (
                "by neither",
                format!("{begun}{}", data(&[r#"{"error":{"message":"m"}}"#])),
                "text(x) | 10 in 1 out | @2 | error: m",
            ),
            ("event: error with a string", e(r#""m""#), "text(x) | 10 in 1 out | @2 | error: m"),
            (
                "after the stop reason",
                whole.replace(
                    "event: message_stop",
                    &format!("event: error\ndata: {overloaded}\n\nevent: message_stop"),
                ),
                "text(x) | Stop | 10 in 5 out | @2 | error overloaded_error: m",
            ),
            (
                "after message_stop nothing is read",
                whole.clone() + &named(&[overloaded]),
                "text(x) | Stop | 10 in 5 out | @2 | done | proper",
            ),
            (
                "broken JSON first",
                format!("{started}{}", data(&["{"])),
                "nothing | 10 in 1 out | broken: broken JSON before the first token",
            ),
        ],
    );
}

#[test]
fn responses_have_it_flat_nested_and_as_an_end() {
    let x = r#"{"type":"response.output_text.delta","output_index":0,"delta":"x"}"#;
    let e = |text: &str| named(&[x, text]);
    let failed = |error: &str| {
        e(&format!(
            r#"{{"type":"response.failed","response":{{"id":"r","status":"failed","error":{error},"usage":{{"input_tokens":3,"output_tokens":0}}}}}}"#
        ))
    };
    let nested = r#"{"type":"error","sequence_number":2,"error":{"type":"t","code":"rate_limit_exceeded","message":"m","param":null}}"#;
    let silent =
        "error server_error: The provider ended its response as failed, without saying why.";
    let silent = format!("text(x) | 3 in 0 out | @0 | done | {silent}");
    check(
        RESPONSES,
        &[
            (
                "flat",
                e(r#"{"type":"error","code":"c","message":"m","param":"p","sequence_number":2}"#),
                "text(x) | @0 | error error c p: m",
            ),
            ("nested", e(nested), "text(x) | @0 | error t rate_limit_exceeded: m"),
            ("first", named(&[nested]), "nothing | error t rate_limit_exceeded: m"),
            (
                "failed",
                failed(r#"{"code":"server_error","message":"m"}"#),
                "text(x) | 3 in 0 out | @0 | done | error server_error: m",
            ),
            (
                "failed with a string",
                failed(r#""m""#),
                "text(x) | 3 in 0 out | @0 | done | error: m",
            ),
            ("failed without a word", failed("null"), &silent),
            (
                "event: error with words",
                e(x) + "event: error\ndata: it broke\n\n",
                "text(xx) | @0 | error: it broke",
            ),
            (
                "event: error with a string",
                e(x) + "event: error\ndata: \"m\"\n\n",
                "text(xx) | @0 | error: m",
            ),
            (
                "under no type",
                format!("{}{}", e(x), data(&[r#"{"error":{"message":"m"}}"#])),
                "text(xx) | @0 | error: m",
            ),
            (
                "null under no type",
                format!("{}{}", e(x), data(&[r#"{"error":false}"#])),
                "text(xx) | @0 | cut",
            ),
            (
                "broken JSON first",
                data(&["{"]),
                "nothing | broken: broken JSON before the first token",
            ),
        ],
    );
}

#[test]
fn gemini_writes_it_beside_its_events() {
    let x = parts(r#"{"text":"x"}"#);
    let raw = "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"m\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n";
    let said = "text(x) | @0 | error UNAVAILABLE 503 503: m";
    let s_of = |more: &str| {
        x.replace(r#""modelVersion""#, &format!(r#"{more},"modelVersion""#)) + &ended("STOP")
    };
    check(
        GEMINI,
        &[
            ("raw", x.clone() + raw, said),
            ("raw, after a comment", x.clone() + ": {\n\n" + raw, said),
            ("raw with CRLF", x.clone() + &raw.replace('\n', "\r\n"), said),
            ("raw without its line end", x.clone() + raw.trim_end(), said),
            ("raw, in an array", format!("{x}[{}]\n", raw.trim_end()), said),
            ("raw, in one line", format!("{x}{}\n", raw.replace('\n', "")), said),
            ("raw, first", raw.to_owned(), "nothing | error UNAVAILABLE 503 503: m"),
            (
                "raw, after the finish",
                x.clone() + &ended("STOP") + raw,
                "text(x) | Stop | @0 | error UNAVAILABLE 503 503: m",
            ),
            (
                "an event",
                x.clone()
                    + &data(&[
                        r#"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}"#,
                    ]),
                "text(x) | @0 | error RESOURCE_EXHAUSTED 429 429: m",
            ),
            (
                "an event with an array",
                x.clone() + &data(&[r#"[{"error":{"code":429,"message":"m"}}]"#]),
                "text(x) | @0 | error 429 429: m",
            ),
            (
                "event: error",
                x.clone() + "event: error\ndata: it broke\n\n",
                "text(x) | @0 | error: it broke",
            ),
            (
                "with usage",
                data(&[r#"{"usageMetadata":{"promptTokenCount":3},"error":{"message":"m"}}"#]),
                "nothing | 3 in | error: m",
            ),
            (
                "raw JSON that is no error",
                x.clone() + "{\n \"note\": 1\n}\n" + &ended("STOP"),
                "text(x) | Stop | @0 | proper",
            ),
            (
                "no error under its name",
                s_of(r#""error":false,"usageMetadata":{}"#),
                "text(x) | Stop | @0 | proper",
            ),
            (
                "an event between two halves",
                x.clone() + "{\n" + &ended("STOP") + "\"error\":{\"message\":\"m\"}}\n",
                "text(x) | Stop | @0 | proper",
            ),
            ("half of it", x.clone() + &raw[..40], "text(x) | @0 | cut"),
            (
                "broken JSON first",
                data(&["{"]),
                "nothing | broken: broken JSON before the first token",
            ),
        ],
    );
}

#[test]
fn an_error_is_not_passed_on_and_ends_what_is() {
    let late = r#"{"type":"error","error":{"type":"api_error","message":"m"}}"#;
    let text = block(0, r#"{"type":"text","text":""}"#, &[r#"{"type":"text_delta","text":"x"}"#]);
    let whole = message(&text.iter().map(String::as_str).collect::<Vec<_>>(), "end_turn");
    let body = whole.replace(
        "event: message_stop",
        &format!("event: error\ndata: {late}\n\nevent: message_stop"),
    );
    for to in CLIENTS {
        for form in [Form::Stream, Form::Whole] {
            let told = towards(MESSAGES, to, form, body.as_bytes());
            let Some(End::Error(error)) = &told.end else { panic!("{:?}", told.end) };
            assert_eq!(error.message, "m");
            assert!(
                ![&told.out, &told.tail, &told.terminator]
                    .iter()
                    .any(|part| part.contains("api_error")),
                "{to}"
            );
            assert!(error.signature.is_some(), "what it means is known");
        }
    }
}

#[test]
fn an_error_counts_in_its_place_and_without_its_last_line() {
    let words = said("x") + "event: error\ndata: it broke";
    let told = towards(CHAT, MESSAGES, Form::Stream, words.as_bytes());
    assert_eq!(end(told.end.as_ref()), "error: it broke");
    let told = towards(CHAT, CHAT, Form::Stream, words.as_bytes());
    assert_eq!(end(told.end.as_ref()), "error: it broke");
    let raw = "{\r\n\"error\": {\"code\": 503, \"message\": \"m\"}\r\n}\r\n";
    let body = parts(r#"{"text":"x"}"#) + raw + "\r\n" + &parts(r#"{"text":"no"}"#);
    let told = towards(GEMINI, CHAT, Form::Stream, body.as_bytes());
    assert_eq!(end(told.end.as_ref()), "error 503 503: m");
    assert!(told.out.contains(r#""content":"x""#) && !told.out.contains("no"), "{}", told.out);
}
