//! A stream put together is what the vendor's own SDK makes of it.

use super::*;

fn whole(from: Dialect, body: &str) -> Value {
    let told = towards(from, from, Form::Whole, body.as_bytes());
    assert_eq!((told.end, told.out.as_str()), (Some(End::Proper), ""));
    serde_json::from_str(&told.whole).unwrap()
}

/// What the SDK makes of the stream below.
fn accumulated() -> Value {
    let cited = json!([{"type": "page_location", "cited_text": "c"}, {"n": 1.50}]);
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "new": 1.50,
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s=="},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "text", "text": "a\nb", "citations": cited},
            {"type": "text", "text": "xb"},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"x": [1, 2]}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result", "url": "u"}]},
            {"type": "compaction", "content": "short"},
            {"type": "brand_new", "x": 1.50},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": [1, 2]}},
            {"type": "tool_use", "id": "b", "name": "g", "input": {}},
            {"type": "tool_use", "id": "c", "name": "h", "input": {"y": 1}},
            {"type": "text", "text": "", "citations": [{"type": "page_location", "cited_text": "c"}]},
            {"type": "tool_use", "id": "d", "name": "i", "input": {"INVALID_JSON": "{\"x\":\"lo"}},
        ],
        "stop_reason": "max_tokens", "stop_sequence": null, "stop_details": {"x": 1},
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 3, "output_tokens": 5,
            "service_tier": "standard", "server_tool_use": {"web_search_requests": 1}},
    })
}

#[test]
fn a_message_is_what_anthropics_sdk_accumulates() {
    let delta = |delta: Value| delta.to_string();
    let json = |piece: &str| delta(json!({"type": "input_json_delta", "partial_json": piece}));
    let pieces = [
        delta(json!({"type": "thinking_delta", "thinking": "h"})),
        delta(json!({"type": "thinking_delta", "thinking": "m"})),
        delta(json!({"type": "signature_delta", "signature": "s=="})),
        delta(json!({"type": "text_delta", "text": "a\n"})),
        delta(json!({"type": "text_delta", "text": "b"})),
        delta(
            json!({"type": "citations_delta", "citation": {"type": "page_location", "cited_text": "c"}}),
        ),
        delta(json!({"type": "citations_delta", "citation": {"n": 1.50}})),
        json(""),
        json("{\"x\": [1,"),
        json(" 2]}"),
        delta(json!({"type": "compaction_delta", "content": "short"})),
        delta(json!({"type": "new_delta", "text": "no"})),
        json("{\"x\":\"lo"),
    ];
    let p: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let body = blocks(
        &[
            block(0, r#"{"type":"thinking","thinking":"","signature":""}"#, &p[..3]),
            block(1, r#"{"type":"redacted_thinking","data":"d"}"#, &[]),
            block(2, r#"{"type":"text","text":"","citations":[]}"#, &[p[3], p[5], p[4], p[6]]),
            block(3, r#"{"type":"text","text":"x"}"#, &[p[4]]),
            block(
                4,
                r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#,
                &p[7..10],
            ),
            block(
                5,
                r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"u"}]}"#,
                &[],
            ),
            block(6, r#"{"type":"compaction","content":null}"#, &[p[10]]),
            block(7, r#"{"type":"brand_new","x":1.50}"#, &[p[11]]),
            block(8, r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#, &p[7..10]),
            block(9, r#"{"type":"tool_use","id":"b","name":"g","input":{}}"#, &[p[7]]),
            block(10, r#"{"type":"tool_use","id":"c","name":"h","input":{"y":1}}"#, &[]),
            block(11, r#"{"type":"text","text":""}"#, &[p[5]]),
            block(12, r#"{"type":"tool_use","id":"d","name":"i","input":{}}"#, &[p[12]]),
        ],
        "max_tokens",
    );
    let body = body
        .replace(r#""usage":{"input_tokens":10,"output_tokens":1}"#, r#""usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":1,"service_tier":"standard"},"new":1.50"#)
        .replace(r#"{"output_tokens":5}"#, r#"{"input_tokens":null,"output_tokens":5,"server_tool_use":{"web_search_requests":1}}"#)
        .replace(r#""stop_reason":"max_tokens","#, r#""stop_reason":"max_tokens","stop_details":{"x":1},"#);
    let again = named(&[
        r#"{"type":"message_start","message":{"id":"msg_2","model":"m-2","usage":{"input_tokens":99}}}"#,
    ]);
    let body = body.replacen(
        "event: content_block_start",
        &format!("{again}event: content_block_start"),
        1,
    );
    assert_eq!(whole(MESSAGES, &body), accumulated());
    let text = towards(MESSAGES, MESSAGES, Form::Whole, body.as_bytes()).whole;
    assert!(text.contains("1.50"), "numbers keep their spelling: {text}");
}

#[test]
fn blocks_stand_in_the_order_of_their_indexes() {
    let text = |index: u32, text: &str| {
        block(index, &json!({"type": "text", "text": text}).to_string(), &[])
    };
    let body = blocks(&[text(1, "b"), text(0, "a")], "end_turn");
    let message = whole(MESSAGES, &body);
    let texts: Vec<_> =
        message["content"].as_array().unwrap().iter().map(|block| &block["text"]).collect();
    assert_eq!(texts, ["a", "b"]);
}

#[test]
fn a_response_is_the_one_in_its_last_event() {
    for status in ["completed", "incomplete"] {
        let why = json!({"reason": "max_output_tokens"});
        let body = response(
            &[r#"{"type":"response.output_text.delta","output_index":0,"delta":"x"}"#],
            status,
        )
        .replace(r#""usage""#, &format!(r#""incomplete_details":{why},"usage""#));
        assert_eq!(
            whole(RESPONSES, &body),
            json!({
                "id": "resp_1", "object": "response", "model": "m-1", "status": status,
                "incomplete_details": why,
                "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
            })
        );
    }
}

#[test]
fn a_completion_joins_what_comes_in_pieces() {
    let body = [
        delta(r#""role":"assistant","content":"","refusal":null"#),
        delta(r#""reasoning_content":"h","annotations":[{"n":1}]"#),
        delta(r#""reasoning_content":"m","reasoning_details":[{"type":"reasoning.text"}]"#),
        delta(r#""reasoning_details":[{"type":"reasoning.encrypted"}],"content":"a"#).replace("\"a}", "\"a\"}"),
        delta(r#""content":"b","annotations":[{"n":2}],"images":[{"i":1}]"#),
        delta(r#""refusal":"no""#),
        delta(r#""refusal":"!""#),
        calls(r#"{"index":1,"id":"b","type":"custom","custom":{"name":"g","input":""}}"#),
        calls(r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#),
        calls(r#"{"index":1,"custom":{"input":"free"}},{"index":0,"function":{"arguments":"{}","new":1}}"#),
        calls(r#"{"index":0,"id":"","function":{"name":"","arguments":null},"x":1}"#),
        calls(r#"{"index":2,"id":"c","function":{"name":"h","arguments":{"y":1}}}"#),
        finish("tool_calls"),
        DONE.to_owned(),
    ]
    .concat();
    assert_eq!(
        whole(CHAT, &body)["choices"][0]["message"],
        json!({
            "role": "assistant", "content": "ab", "reasoning_content": "hm", "refusal": "no!",
            "annotations": [{"n": 1}, {"n": 2}], "images": [{"i": 1}],
            "reasoning_details": [{"type": "reasoning.text"}, {"type": "reasoning.encrypted"}],
            "tool_calls": [
                {"id": "b", "type": "custom", "custom": {"name": "g", "input": "free"}},
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}", "new": 1}, "x": 1},
                {"id": "c", "type": "function", "function": {"name": "h", "arguments": "{\"y\":1}"}},
            ],
        })
    );
    let again = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#);
    let rest = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}"#);
    let once = [again, rest, finish("tool_calls")].concat();
    let once = &whole(CHAT, &once)["choices"][0]["message"]["tool_calls"];
    assert_eq!(
        once,
        &json!([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
    );
    let beside = chunk(
        r#"{"index":0,"text":"x","delta":{"content":"x","function_call":null},"finish_reason":"stop"}"#,
    );
    let beside = &whole(CHAT, &beside)["choices"][0];
    assert_eq!((&beside["message"]["content"], &beside["text"]), (&json!("x"), &Value::Null));
    assert!(beside["message"].get("function_call").is_none());
    let old = [
        delta(r#""function_call":{"name":"f","arguments":"{"}"#),
        delta(r#""function_call":{"arguments":"}"},"content":null"#),
        finish("function_call"),
    ]
    .concat();
    assert_eq!(
        whole(CHAT, &old)["choices"][0]["message"]["function_call"],
        json!({"name": "f", "arguments": "{}"})
    );
    let text = [
        chunk(r#"{"index":0,"text":"a"}"#),
        chunk(r#"{"index":0,"text":"b","finish_reason":"stop"}"#),
    ]
    .concat();
    let text = whole(CHAT, &text);
    assert_eq!(
        (&text["choices"][0]["text"], &text["choices"][0]["message"]),
        (&json!("ab"), &Value::Null)
    );
    let parts = [
        delta(r#""content":"x"#).replace("\"x}", "\"x\"}"),
        delta(r#""content":[{"type":"thinking","thinking":[]}]"#),
        said("a"),
        said("b"),
        finish("stop"),
    ]
    .concat();
    assert_eq!(
        whole(CHAT, &parts)["choices"][0]["message"]["content"],
        json!([
            {"type": "text", "text": "x"}, {"type": "thinking", "thinking": []}, {"type": "text", "text": "ab"},
        ])
    );
}
