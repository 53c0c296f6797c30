//! How answers of Anthropic providers are read.

use super::*;

fn text(index: u32, text: &str) -> Vec<String> {
    block(
        index,
        r#"{"type":"text","text":""}"#,
        &[&format!(r#"{{"type":"text_delta","text":"{text}"}}"#)],
    )
}

fn tool(index: u32, id: &str, name: &str, pieces: &[&str]) -> Vec<String> {
    let deltas: Vec<String> = pieces
        .iter()
        .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}).to_string())
        .collect();
    let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
    block(
        index,
        &format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#),
        &deltas,
    )
}

#[test]
fn preludes_are_no_content_and_every_kind_of_first_content_is() {
    let ping = r#"{"type":"ping"}"#;
    let hi = text(0, "hi");
    let hi: Vec<&str> = hi.iter().map(String::as_str).collect();
    let usual = "text(hi) | Stop | 10 in 5 out | @2 | done | proper";
    let result = |kind: &str| {
        block(0, &format!(r#"{{"type":"{kind}","tool_use_id":"s","content":[]}}"#), &[])
    };
    let first = |kind: &str| blocks(&[result(kind), text(1, "hi")], "end_turn");
    let served = "text(hi) | Stop | 10 in 5 out | @1 | done | proper";
    check(
        MESSAGES,
        &[
            ("no ping", message(&hi, "end_turn"), usual),
            ("pings", message(&[ping, hi[0], ping, hi[1], ping, hi[2], ping], "end_turn"), "text(hi) | Stop | 10 in 5 out | @4 | done | proper"),
            ("ping first", named(&[ping]) + &message(&hi, "end_turn"), "text(hi) | Stop | 10 in 5 out | @3 | done | proper"),
            ("names are not needed", message(&hi, "end_turn").lines().filter(|line| !line.starts_with("event:")).map(|line| format!("{line}\n")).collect(), usual),
            ("padding", message(&hi, "end_turn").replace("\"}}\n", "\"}   }  \n"), usual),
            ("CRLF", message(&hi, "end_turn").replace('\n', "\r\n"), usual),
            ("empty deltas", message(&[hi[0], &hi[1].replace("hi", ""), hi[1], hi[2]], "end_turn"), "text(hi) | Stop | 10 in 5 out | @3 | done | proper"),
            ("text in the start of its block", blocks(&[block(0, r#"{"type":"text","text":"h"}"#, &[r#"{"type":"text_delta","text":"i"}"#])], "end_turn"), "text(hi) | Stop | 10 in 5 out | @1 | done | proper"),
            ("message_start twice", message(&hi, "end_turn").replace("event: content_block_start", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_2\",\"model\":\"m-2\",\"content\":[],\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n\nevent: content_block_start"), "text(hi) | Stop | 12 in 5 out | @3 | done | proper"),
            ("unknown events", message(&[r#"{"type":"news","delta":{"type":"text_delta","text":"no"}}"#, hi[0], hi[1], hi[2]], "end_turn"), "text(hi) | Stop | 10 in 5 out | @3 | done | proper"),
            ("unknown deltas", message(&[hi[0], r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":"no"}}"#, hi[1], hi[2]], "end_turn"), "text(hi) | Stop | 10 in 5 out | @3 | done | proper"),
            ("citations", message(&[hi[0], r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"page_location"}}}"#, hi[1], hi[2]], "end_turn"), "text(hi) | Stop | 10 in 5 out | @3 | done | proper"),
            ("server_tool_use", blocks(&[block(0, r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#, &[r#"{"type":"input_json_delta","partial_json":"{\"q\":1}"}"#]), text(1, "hi")], "end_turn"), served),
            ("web_search_tool_result", first("web_search_tool_result"), served),
            ("mcp_tool_use", first("mcp_tool_use"), served),
            ("a block from after this version", first("brand_new"), served),
            ("nothing but a served tool", blocks(&[result("compaction")], "end_turn"), "nothing | Stop | 10 in 5 out | @1 | done | proper"),
            ("no content", blocks(&[], "end_turn"), "nothing | Stop | 10 in 5 out | done | proper"),
            ("junk", format!("data: x\n\n{}", message(&hi, "end_turn")), "text(hi) | Stop | 10 in 5 out | @3 | 1 dropped | done | proper"),
        ],
    );
}

#[test]
fn the_first_message_start_names_the_answer() {
    let again = r#"{"type":"message_start","message":{"id":"msg_2","model":"m-2","content":[]}}"#;
    let answer = read(MESSAGES, message(&[again], "end_turn").as_bytes()).answer;
    assert_eq!((answer.id.as_str(), answer.model.as_str()), ("msg_1", "m-1"));
}

#[test]
fn reasoning_keeps_its_proofs() {
    let thinking = |index: u32, deltas: &[&str]| {
        block(index, r#"{"type":"thinking","thinking":"","signature":""}"#, deltas)
    };
    let (a, b, sig) = (
        r#"{"type":"thinking_delta","thinking":"h"}"#,
        r#"{"type":"thinking_delta","thinking":"m"}"#,
        r#"{"type":"signature_delta","signature":"s+/="}"#,
    );
    check(
        MESSAGES,
        &[
            (
                "pieces and proof",
                blocks(
                    &[
                        thinking(0, &[r#"{"type":"thinking_delta","thinking":""}"#, a, b, sig]),
                        text(1, "x"),
                    ],
                    "end_turn",
                ),
                "think(hm^s+/=) text(x) | Stop | 10 in 5 out | @3 | done | proper",
            ),
            (
                "proof alone",
                blocks(&[thinking(0, &[sig]), text(1, "x")], "end_turn"),
                "think(^s+/=) text(x) | Stop | 10 in 5 out | @5 | done | proper",
            ),
            (
                "all in the start",
                blocks(
                    &[
                        block(0, r#"{"type":"thinking","thinking":"hm","signature":"s"}"#, &[]),
                        text(1, "x"),
                    ],
                    "end_turn",
                ),
                "think(hm^s) text(x) | Stop | 10 in 5 out | @1 | done | proper",
            ),
            (
                "redacted",
                blocks(
                    &[block(0, r#"{"type":"redacted_thinking","data":"dat"}"#, &[]), text(1, "x")],
                    "end_turn",
                ),
                "redacted(dat) text(x) | Stop | 10 in 5 out | @1 | done | proper",
            ),
            (
                "redacted after thinking",
                blocks(
                    &[
                        thinking(0, &[a, sig]),
                        block(1, r#"{"type":"redacted_thinking","data":"dat"}"#, &[]),
                        tool(2, "a", "f", &["{}"]),
                    ],
                    "tool_use",
                ),
                "think(h^s+/=) redacted(dat) call(a f {}) | ToolCalls | 10 in 5 out | @2 | done | proper",
            ),
        ],
    );
}

#[test]
fn calls_have_all_their_arguments() {
    let end = "ToolCalls | 10 in 5 out | @1 | done | proper";
    let is = |calls: &str| format!("{calls} | {end}");
    let whole = r#"{"type":"tool_use","id":"a","name":"f","input":{"x":1}}"#;
    let delta = r#"{"type":"input_json_delta","partial_json":"{\"y\":2}"}"#;
    let rows = [
        (
            "pieces",
            blocks(&[tool(0, "a", "f", &["", "{\"x\"", ":1}"])], "tool_use"),
            is("call(a f {\"x\":1})"),
        ),
        ("none", blocks(&[tool(0, "a", "f", &[])], "tool_use"), is("call(a f )")),
        ("one empty piece", blocks(&[tool(0, "a", "f", &[""])], "tool_use"), is("call(a f )")),
        (
            "two",
            blocks(&[tool(0, "a", "f", &["{}"]), tool(1, "b", "g", &["{}"])], "tool_use"),
            is("call(a f {}) call(b g {})"),
        ),
        (
            "interleaved by index",
            {
                let (a, b) =
                    (tool(0, "a", "f", &["{\"x\"", ":1}"]), tool(1, "b", "g", &["{\"y\"", ":2}"]));
                message(&[&a[0], &b[0], &a[1], &b[1], &a[2], &b[2], &a[3], &b[3]], "tool_use")
            },
            is("call(a f {\"x\":1}) call(b g {\"y\":2})"),
        ),
        (
            "all in the start",
            blocks(&[block(0, whole, &[])], "tool_use"),
            is("call(a f {\"x\":1})"),
        ),
        (
            "the start is overruled by pieces",
            blocks(&[block(0, whole, &[delta])], "tool_use"),
            is("call(a f {\"y\":2})"),
        ),
        (
            "usage while a call goes on",
            {
                let call = block(0, whole, &[delta]);
                message(
                    &[
                        &call[0],
                        r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":3}}"#,
                        &call[1],
                        &call[2],
                    ],
                    "tool_use",
                )
            },
            is("call(a f {\"y\":2})"),
        ),
        (
            "a block that nobody ended",
            message(&[&block(0, whole, &[])[0]], "tool_use"),
            is("call(a f {\"x\":1})"),
        ),
        (
            "text after it",
            blocks(&[tool(0, "a", "f", &["{}"]), text(1, "x")], "tool_use"),
            is("call(a f {}) text(x)"),
        ),
        (
            "cut",
            blocks(&[tool(0, "a", "f", &["{\"x\":\"lo"])], "max_tokens"),
            is("call(a f {\"x\":\"lo)").replace("ToolCalls", "Length"),
        ),
        (
            "indexes that skip",
            blocks(&[tool(3, "a", "f", &["{}"]), tool(7, "b", "g", &["{}"])], "tool_use"),
            is("call(a f {}) call(b g {})"),
        ),
    ];
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(name, stream, is)| (*name, stream.clone(), is.as_str())).collect();
    check(MESSAGES, &rows);
}

#[test]
fn every_stop_reason_has_its_word() {
    let with = |reason: &str| blocks(&[text(0, "x")], reason);
    let sequence = with("stop_sequence").replace(
        r#""stop_sequence","stop_sequence":null"#,
        r#""stop_sequence","stop_sequence":"END""#,
    );
    let whole = with("end_turn");
    check(
        MESSAGES,
        &[
            ("end_turn", whole.clone(), "text(x) | Stop | 10 in 5 out | @2 | done | proper"),
            (
                "stop_sequence",
                sequence,
                "text(x) | StopSequence END | 10 in 5 out | @2 | done | proper",
            ),
            (
                "max_tokens",
                with("max_tokens"),
                "text(x) | Length | 10 in 5 out | @2 | done | proper",
            ),
            (
                "context",
                with("model_context_window_exceeded"),
                "text(x) | Length | 10 in 5 out | @2 | done | proper",
            ),
            (
                "tool_use",
                with("tool_use"),
                "text(x) | ToolCalls | 10 in 5 out | @2 | done | proper",
            ),
            ("refusal", with("refusal"), "text(x) | Refusal | 10 in 5 out | @2 | done | proper"),
            (
                "refusal, empty",
                blocks(&[], "refusal"),
                "nothing | Refusal | 10 in 5 out | done | proper",
            ),
            (
                "pause_turn",
                with("pause_turn"),
                "text(x) | Pause | 10 in 5 out | @2 | done | proper",
            ),
            (
                "unknown",
                with("brand_new"),
                "text(x) | 10 in 5 out | @2 | error server_error brand_new: The provider ended its answer with the finish reason 'brand_new'.",
            ),
            (
                "null",
                whole.replace("\"end_turn\"", "null"),
                "text(x) | 10 in 5 out | @2 | done | proper",
            ),
            (
                "the body ends before message_stop",
                whole.replace("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", ""),
                "text(x) | Stop | 10 in 5 out | @2 | cut",
            ),
            (
                "message_stop without its blank line",
                whole.trim_end().to_owned(),
                "text(x) | Stop | 10 in 5 out | @2 | done | proper",
            ),
            ("nothing", String::new(), "nothing | cut"),
        ],
    );
}

#[test]
fn the_last_usage_counts_and_the_input_includes_the_cache() {
    let with = |start: &str, end: &str| {
        blocks(&[text(0, "x")], "end_turn")
            .replace(r#"{"input_tokens":10,"output_tokens":1}"#, start)
            .replace(r#"{"output_tokens":5}"#, end)
    };
    let cached = r#"{"input_tokens":10,"cache_read_input_tokens":4,"cache_creation_input_tokens":3,"output_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":3}}"#;
    check(
        MESSAGES,
        &[
            (
                "cache in the start",
                with(cached, r#"{"output_tokens":5}"#),
                "text(x) | Stop | 17 in 5 out 4 cached 3 written | @2 | done | proper",
            ),
            (
                "said again, differently",
                with(
                    cached,
                    r#"{"input_tokens":11,"cache_read_input_tokens":0,"cache_creation_input_tokens":2,"output_tokens":6,"iterations":[{"input_tokens":99}]}"#,
                ),
                "text(x) | Stop | 13 in 6 out 0 cached 2 written | @2 | done | proper",
            ),
            (
                "null is no word",
                with(cached, r#"{"input_tokens":null,"output_tokens":5}"#),
                "text(x) | Stop | 17 in 5 out 4 cached 3 written | @2 | done | proper",
            ),
            (
                "thinking",
                with(
                    cached,
                    r#"{"output_tokens":5,"output_tokens_details":{"thinking_tokens":2}}"#,
                ),
                "text(x) | Stop | 17 in 5 out 4 cached 3 written 2 thought | @2 | done | proper",
            ),
            (
                "none in the end",
                with(cached, "null"),
                "text(x) | Stop | 17 in 1 out 4 cached 3 written | @2 | done | proper",
            ),
            ("none at all", with("null", "null"), "text(x) | Stop | @2 | done | proper"),
        ],
    );
}
