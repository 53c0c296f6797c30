//! Whole answers as streams, and back.

use crate::answer::{AnswerReader, AnswerSpec, End, Form};
use bytes::BytesMut;
use serde_json::{Value, json};
use shared::{Dialect, RequestId};

/// Told as a stream, and put together again by the aggregate of streams.
fn there_and_back(dialect: Dialect, body: &Value) -> Value {
    let spec = |form| AnswerSpec {
        from: dialect,
        to: dialect,
        form,
        wants_usage: true,
        choices: 1,
        finishes: false,
        max_event: 1 << 20,
        max_answer: 1 << 22,
        request: RequestId::from_number(1),
        created: 0,
    };
    let mut reader = AnswerReader::new(spec(Form::Stream));
    let mut out = BytesMut::new();
    let progress = reader.read_whole(body.to_string().as_bytes(), &mut out);
    assert_eq!(progress.end, Some(End::Proper));
    out.extend_from_slice(&reader.take_tail());
    out.extend_from_slice(&reader.take_terminator());
    let mut again = AnswerReader::new(spec(Form::Whole));
    let progress = again.read(&out, &mut BytesMut::new());
    assert_eq!(progress.end, Some(End::Proper), "{}", String::from_utf8_lossy(&out));
    serde_json::from_slice(&again.take_whole()).unwrap()
}

#[test]
fn a_message_keeps_every_block_and_field() {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "c", "x_new": [1],
        "content": [
            {"type": "thinking", "thinking": "h\"m", "signature": "c2ln"},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
            {"type": "text", "text": "hi", "citations": [{"type": "x", "url": "u"}]},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1, "é"]}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 3, "output_tokens": 4},
    });
    assert_eq!(there_and_back(Dialect::AnthropicMessages, &body), body);
}

#[test]
fn a_response_keeps_every_item_and_id() {
    let body = json!({
        "id": "resp_1", "object": "response", "model": "m", "status": "completed",
        "output": [
            {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "h"}]},
            {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"q": 1}},
            {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "hi", "annotations": [{"url": "u"}]}]},
            {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}",
             "status": "completed"},
        ],
        "usage": {"input_tokens": 1, "output_tokens": 2},
    });
    assert_eq!(there_and_back(Dialect::OpenaiResponses, &body), body);
}
