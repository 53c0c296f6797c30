//! How Gemini's answers are read.

use super::*;

fn text(text: &str) -> String {
    parts(&format!(r#"{{"text":"{text}"}}"#))
}

fn call(members: &str) -> String {
    parts(&format!(r#"{{"functionCall":{{{members}}}}}"#))
}

fn s(events: &[String]) -> String {
    events.concat()
}

#[test]
fn preludes_are_no_content_and_every_kind_of_first_content_is() {
    let usage = || data(&[r#"{"usageMetadata":{"trafficType":"ON_DEMAND"},"responseId":"r-1"}"#]);
    let usual = "text(hi) | Stop | @0 | proper";
    let stop = || ended("STOP");
    let picture = parts(r#"{"inlineData":{"mimeType":"image/png","data":"AA=="}}"#);
    check(
        GEMINI,
        &[
            ("text", s(&[text("h"), text("i"), stop()]), usual),
            ("LF", s(&[text("hi"), stop()]).replace("\r\n", "\n"), usual),
            ("usage first", s(&[usage(), text("hi"), stop()]), "text(hi) | Stop | @1 | proper"),
            ("an empty text", s(&[text(""), text("hi"), stop()]), "text(hi) | Stop | @1 | proper"),
            ("a picture", s(&[picture, text("hi"), stop()]), usual),
            (
                "code",
                s(&[
                    parts(r#"{"executableCode":{"code":"1"}}"#),
                    parts(r#"{"codeExecutionResult":{"output":"1"}}"#),
                    text("hi"),
                    stop(),
                ]),
                usual,
            ),
            (
                "code's result alone",
                s(&[parts(r#"{"codeExecutionResult":{"output":"1"}}"#), stop()]),
                "nothing | Stop | @0 | proper",
            ),
            (
                "Google's own tools",
                s(&[parts(r#"{"toolCall":{}}"#), stop()]),
                "nothing | Stop | @0 | proper",
            ),
            (
                "what they found",
                s(&[parts(r#"{"toolResponse":{}}"#), stop()]),
                "nothing | Stop | @0 | proper",
            ),
            (
                "the finish with the last text",
                s(&[candidate(r#"{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}"#)]),
                usual,
            ),
            ("two parts in one chunk", s(&[parts(r#"{"text":"h"},{"text":"i"}"#), stop()]), usual),
            (
                "another candidate is not heard",
                s(&[
                    candidate(
                        r#"{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"MAX_TOKENS"}"#,
                    ),
                    text("hi"),
                    stop(),
                ]),
                "text(hi) | Stop | @1 | proper",
            ),
            (
                "the last event without its blank line",
                s(&[text("hi"), stop()]).trim_end().to_owned(),
                usual,
            ),
            (
                "junk",
                format!("data: x\n\ndata: [1]\n\n{}", s(&[text("hi"), stop()])),
                "text(hi) | Stop | @2 | 2 dropped | proper",
            ),
        ],
    );
}

#[test]
fn thoughts_and_their_proofs() {
    check(
        GEMINI,
        &[
            (
                "a thought",
                s(&[parts(r#"{"text":"hm","thought":true}"#), text("x"), ended("STOP")]),
                "think(hm) text(x) | Stop | @0 | proper",
            ),
            (
                "thought: false",
                s(&[parts(r#"{"text":"x","thought":false}"#), ended("STOP")]),
                "text(x) | Stop | @0 | proper",
            ),
            (
                "a thought with its proof",
                s(&[
                    parts(r#"{"text":"hm","thought":true,"thoughtSignature":"sig"}"#),
                    text("x"),
                    ended("STOP"),
                ]),
                "think(hm^sig) text(x) | Stop | @0 | proper",
            ),
            (
                "a proof on text",
                s(&[parts(r#"{"text":"x","thoughtSignature":"sig"}"#), ended("STOP")]),
                "text(x) think(^sig) | Stop | @0 | proper",
            ),
            (
                "a proof on an empty part",
                s(&[text("x"), parts(r#"{"text":"","thoughtSignature":"sig"}"#), ended("STOP")]),
                "text(x) think(^sig) | Stop | @0 | proper",
            ),
            (
                "a proof on the first of two calls",
                s(&[
                    parts(
                        r#"{"functionCall":{"name":"f","args":{"x":1}},"thoughtSignature":"sig"},{"functionCall":{"name":"g","args":{}}}"#,
                    ),
                    ended("STOP"),
                ]),
                "call(call_REQ_0 f {\"x\":1}^sig) call(call_REQ_1 g {}) | ToolCalls | @0 | proper",
            ),
            (
                "a proof on the second",
                s(&[
                    call(r#""name":"f","args":{}"#),
                    parts(r#"{"functionCall":{"name":"g","args":{}},"thoughtSignature":"sig"}"#),
                    ended("STOP"),
                ]),
                "call(call_REQ_0 f {}) call(call_REQ_1 g {}^sig) | ToolCalls | @0 | proper",
            ),
        ],
    );
}

#[test]
fn calls_get_ids_where_they_have_none() {
    check(
        GEMINI,
        &[
            (
                "no ids, twice the same",
                s(&[
                    call(r#""name":"f","args":{"x":1}"#),
                    call(r#""name":"f","args":{"x":1}"#),
                    ended("STOP"),
                ]),
                "call(call_REQ_0 f {\"x\":1}) call(call_REQ_1 f {\"x\":1}) | ToolCalls | @0 | proper",
            ),
            (
                "short ids",
                s(&[call(r#""id":"ab12","name":"f","args":{"x":1}"#), ended("STOP")]),
                "call(ab12 f {\"x\":1}) | ToolCalls | @0 | proper",
            ),
            (
                "no arguments",
                s(&[call(r#""name":"f""#), ended("STOP")]),
                "call(call_REQ_0 f {}) | ToolCalls | @0 | proper",
            ),
            (
                "arguments null",
                s(&[call(r#""name":"f","args":null"#), ended("STOP")]),
                "call(call_REQ_0 f {}) | ToolCalls | @0 | proper",
            ),
            (
                "arguments {}",
                s(&[call(r#""name":"f","args":{}"#), ended("STOP")]),
                "call(call_REQ_0 f {}) | ToolCalls | @0 | proper",
            ),
            (
                "text before",
                s(&[text("x"), call(r#""name":"f","args":{}"#), ended("STOP")]),
                "text(x) call(call_REQ_0 f {}) | ToolCalls | @0 | proper",
            ),
        ],
    );
}

#[test]
fn arguments_may_come_in_pieces() {
    let piece = |path: &str, value: &str, goes_on: bool| {
        call(&format!(
            r#""partialArgs":[{{"jsonPath":"{path}",{value},"willContinue":true}}],"willContinue":{goes_on}"#
        ))
    };
    let open = || call(r#""name":"f","willContinue":true"#);
    check(
        GEMINI,
        &[
            (
                "pieces",
                s(&[
                    open(),
                    piece("$.city", r#""stringValue":"Os""#, true),
                    piece("$.city", r#""stringValue":"lo""#, true),
                    call(""),
                    ended("STOP"),
                ]),
                "call(call_REQ_0 f {\"city\":\"Oslo\"}) | ToolCalls | @0 | proper",
            ),
            (
                "pieces, the last of which ends it",
                s(&[open(), piece("$.n", r#""numberValue":2"#, false), text("x"), ended("STOP")]),
                "call(call_REQ_0 f {\"n\":2}) text(x) | ToolCalls | @0 | proper",
            ),
            (
                "pieces that come with the name",
                s(&[
                    call(r#""name":"f","partialArgs":[{"jsonPath":"$.n","numberValue":2}]"#),
                    call(r#""name":"g","args":{}"#),
                    ended("STOP"),
                ]),
                "call(call_REQ_0 f {\"n\":2}) call(call_REQ_1 g {}) | ToolCalls | @0 | proper",
            ),
            (
                "another call before the end of the pieces",
                s(&[
                    open(),
                    piece("$.n", r#""numberValue":2"#, true),
                    call(r#""name":"g","args":{}"#),
                ]),
                "call(call_REQ_0 f ) | @0 | open | broken: a tool call whose arguments were not ended",
            ),
            (
                "a finish before the end of the pieces",
                s(&[open(), piece("$.n", r#""numberValue":2"#, true), ended("STOP")]),
                "call(call_REQ_0 f ) | @0 | open | broken: a tool call whose arguments were not ended",
            ),
            (
                "a limit before the end of the pieces",
                s(&[open(), piece("$.n", r#""numberValue":2"#, true), ended("MAX_TOKENS")]),
                "call(call_REQ_0 f {\"n\":2) | Length | @0 | proper",
            ),
            (
                "the body ends within",
                s(&[open(), piece("$.n", r#""numberValue":2"#, true)]),
                "call(call_REQ_0 f ) | @0 | open | cut",
            ),
        ],
    );
}

#[test]
fn every_finish_reason_has_its_word() {
    let with = |reason: &str| s(&[text("x"), ended(reason)]);
    let mut rows: Vec<Row<'_>> = vec![
        ("STOP", with("STOP"), "text(x) | Stop | @0 | proper"),
        ("MAX_TOKENS", with("MAX_TOKENS"), "text(x) | Length | @0 | proper"),
        ("CONTINUATION", with("CONTINUATION"), "text(x) | Pause | @0 | proper"),
        (
            "unknown",
            with("BRAND_NEW"),
            "text(x) | @0 | error server_error BRAND_NEW: The provider ended its answer with the finish reason 'BRAND_NEW'.",
        ),
        ("unspecified", with("FINISH_REASON_UNSPECIFIED"), "text(x) | @0 | cut"),
        ("none", text("x"), "text(x) | @0 | cut"),
        ("nothing", String::new(), "nothing | cut"),
        ("twice", s(&[text("x"), ended("STOP"), ended("STOP")]), "text(x) | Stop | @0 | proper"),
        (
            "calls cut",
            s(&[call(r#""name":"f","args":{}"#), ended("MAX_TOKENS")]),
            "call(call_REQ_0 f {}) | Length | @0 | proper",
        ),
        ("filtered without content", ended("SAFETY"), "nothing | ContentFilter | proper"),
        (
            "a blocked prompt",
            data(&[
                r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"modelVersion":"m-1"}"#,
            ]),
            "nothing | ContentFilter | proper",
        ),
        (
            "feedback beside an answer",
            s(&[
                text("x").replace(
                    r#""modelVersion""#,
                    r#""promptFeedback":{"blockReason":"OTHER"},"modelVersion""#,
                ),
                ended("STOP"),
            ]),
            "text(x) | Stop | @0 | proper",
        ),
    ];
    for reason in [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
    ] {
        rows.push((reason, with(reason), "text(x) | ContentFilter | @0 | proper"));
    }
    check(GEMINI, &rows);
    for reason in [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "OTHER",
    ] {
        let expected = format!(
            "text(x) | @0 | error server_error {reason}: The provider ended its answer with the finish reason '{reason}'."
        );
        check(GEMINI, &[(reason, with(reason), &expected)]);
    }
}

#[test]
fn usage_grows_and_what_is_zero_is_left_out() {
    let with = |counts: &[&str]| {
        let chunk = |counts: &&str| {
            text("x").replace(
                r#""modelVersion""#,
                &format!(r#""usageMetadata":{counts},"modelVersion""#),
            )
        };
        counts.iter().map(chunk).collect::<String>() + &ended("STOP")
    };
    check(
        GEMINI,
        &[
            (
                "plain",
                with(&[r#"{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}"#]),
                "text(x) | Stop | 10 in 5 out | @0 | proper",
            ),
            (
                "cumulative",
                with(&[
                    r#"{"promptTokenCount":10,"candidatesTokenCount":2}"#,
                    r#"{"promptTokenCount":10,"candidatesTokenCount":5}"#,
                    r#"{"trafficType":"ON_DEMAND"}"#,
                ]),
                "text(xxx) | Stop | 10 in 5 out | @0 | proper",
            ),
            (
                "thoughts are output",
                with(&[
                    r#"{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":3,"totalTokenCount":18}"#,
                ]),
                "text(x) | Stop | 10 in 8 out 3 thought | @0 | proper",
            ),
            (
                "thoughts alone",
                with(&[r#"{"promptTokenCount":10,"thoughtsTokenCount":3}"#]),
                "text(x) | Stop | 10 in 3 out 3 thought | @0 | proper",
            ),
            (
                "cache is part of the prompt",
                with(&[
                    r#"{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":5}"#,
                ]),
                "text(x) | Stop | 10 in 5 out 4 cached | @0 | proper",
            ),
            (
                "what tools brought is input",
                with(&[
                    r#"{"promptTokenCount":10,"toolUsePromptTokenCount":7,"candidatesTokenCount":5}"#,
                ]),
                "text(x) | Stop | 17 in 5 out | @0 | proper",
            ),
            (
                "nothing came out",
                with(&[r#"{"promptTokenCount":10,"totalTokenCount":10}"#]),
                "text(x) | Stop | 10 in 0 out | @0 | proper",
            ),
            (
                "what came out is not known",
                with(&[r#"{"promptTokenCount":10,"totalTokenCount":15}"#]),
                "text(x) | Stop | 10 in | @0 | proper",
            ),
            ("nothing is known", with(&["{}"]), "text(x) | Stop | @0 | proper"),
        ],
    );
}
