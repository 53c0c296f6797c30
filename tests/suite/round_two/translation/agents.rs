//! Requests in the shapes that Codex CLI 0.171 and Claude Code 2.1 send, told to rungs of
//! all four dialects, and calls on their way back.

use super::{is_told, post};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::provider::Call;
use tests::{Provider, Relay, Reply, Setup, openai};

const DIALECTS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"];

fn function(name: &str) -> Value {
    json!({"type": "function", "name": name, "description": "Does it.", "strict": false,
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}},
            "required": ["id"], "additionalProperties": false}})
}

/// What Codex sends in the second turn, after a call in a namespace and one of free text.
fn codex() -> Value {
    let message = |id: &str, role: &str, text: &str| {
        json!({"type": "message", "id": id, "role": role,
            "content": [{"type": "input_text", "text": text}]})
    };
    json!({
        "model": "chat",
        "stream": true,
        "input": [
            message("msg_6474eba8-c5c1-58ac-bd2c-e48d68230963", "developer", "You are Codex."),
            message("msg_01a22f5c-e77b-7653-bfa5-11005f552b33", "developer", "<permissions>"),
            message("msg_01a22f5c-e77b-7653-bfa5-11005f552b34", "user", "<environment_context>"),
            message("msg_01a22f5c-e7af-7ac3-bf4b-3ec95a29e8c2", "user", "Read note 5"),
            {"type": "function_call", "status": "completed", "id": "fc_1", "name": "read_note",
             "namespace": "mcp__files", "arguments": "{\"id\":\"5\"}", "call_id": "call_1"},
            {"type": "function_call_output", "id": "fco_01a22f5c-ead2-7fa3-89ae-6e373c5799f1",
             "call_id": "call_1", "output": [
                {"type": "input_text", "text": "Wall time: 0.0022 seconds\nOutput:"},
                {"type": "input_text", "text": "Buy rope."},
            ]},
            {"type": "custom_tool_call", "id": "ctc_1", "status": "completed",
             "call_id": "call_2", "name": "apply_patch", "input": "*** Begin Patch\n*** End Patch"},
            {"type": "custom_tool_call_output", "id": "ctco_01a22f5d-379d-7bb2-a391-4d780f538b01",
             "call_id": "call_2", "output": "patch rejected: empty patch"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed",
             "action": {"type": "search", "query": "rope"}},
        ],
        "tools": [
            function("exec_command"),
            {"type": "custom", "name": "apply_patch", "description": "Edits files.",
             "format": {"type": "grammar", "syntax": "lark", "definition": "start: begin_patch"}},
            {"type": "namespace", "name": "multi_agent_v1", "description": "Sub-agents.",
             "tools": [function("close_agent")]},
            {"type": "namespace", "name": "mcp__files", "description": "Notes.",
             "tools": [function("read_note")]},
            {"type": "tool_search", "execution": "client", "description": "Finds tools.",
             "parameters": {"type": "object", "properties": {}}},
            {"type": "web_search", "external_web_access": false,
             "search_content_types": ["text", "image"]},
        ],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "text": {"verbosity": "low"},
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "01a22f5d-36ab-7b90-b066-323b1bb462bf",
        "client_metadata": {"session_id": "01a22f5d", "x-codex-turn-metadata": "{}"},
        "access_programs": ["cyber"],
    })
}

/// What Claude Code sends in the second turn.
fn claude() -> Value {
    let mark = json!({"type": "ephemeral"});
    let tool = |name: &str| {
        json!({"name": name, "description": "Does it.", "input_schema": {"type": "object",
            "properties": {"id": {"type": "string", "maxLength": 256}}, "required": ["id"],
            "additionalProperties": false}})
    };
    let mut deferred = tool("DeferredToolPlaceholder");
    deferred["defer_loading"] = json!(true);
    json!({
        "model": "chat",
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>"},
                {"type": "text", "text": "Read note 5", "cache_control": mark},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "", "signature": "c2ln"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_01A", "name": "mcp__files__read_note",
                 "input": {"id": "5"}, "caller": {"type": "direct"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_01A", "is_error": false,
                 "content": [{"type": "text", "text": "Buy rope."}], "cache_control": mark},
            ]},
        ],
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1;"},
            {"type": "text", "text": "You are a Claude agent.", "cache_control": mark},
        ],
        "tools": [tool("mcp__files__read_note"), tool("Bash"), deferred,
            {"type": "web_search_20260318", "name": "web_search", "max_uses": 8}],
        "metadata": {"user_id": "{\"device_id\":\"69f1\",\"session_id\":\"e1f2\"}"},
        "max_tokens": 32000,
        "thinking": {"type": "adaptive", "display": "omitted"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "high"},
        "stream": true,
    })
}

/// All tools that a rung was told, by name.
fn told_tools(told: &Value) -> Vec<String> {
    let tools = told["tools"].as_array().unwrap().iter();
    let each = tools.flat_map(|tool| match tool.get("functionDeclarations") {
        Some(functions) => functions.as_array().unwrap().clone(),
        None => vec![tool.get("function").unwrap_or(tool).clone()],
    });
    each.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

/// A provider that calls the tool that it was told for `part`, with `arguments`.
fn calls(
    dialect: &'static str,
    part: &'static str,
    arguments: &'static str,
) -> impl Fn(&Call) -> Reply {
    move |call| {
        let told = call.json();
        let names = told_tools(&told);
        let name = names.iter().find(|name| name.contains(part)).unwrap();
        let given: Value = serde_json::from_str(arguments).unwrap();
        let event = |kind: &str, mut data: Value| {
            data["type"] = json!(kind);
            format!("event: {kind}\ndata: {data}\n\n")
        };
        Reply::sse(match dialect {
            "gemini" => {
                let part = json!({"functionCall": {"name": name, "args": given}});
                let candidate = json!({"content": {"role": "model", "parts": [part]},
                    "finishReason": "STOP", "index": 0});
                let usage = json!({"promptTokenCount": 5, "candidatesTokenCount": 7});
                openai::event(&json!({"candidates": [candidate], "usageMetadata": usage}))
            }
            "anthropic-messages" => [
                event(
                    "message_start",
                    json!({"message": {"id": "msg_1", "type": "message",
                    "role": "assistant", "model": "m", "content": [],
                    "usage": {"input_tokens": 5, "output_tokens": 1}}}),
                ),
                event(
                    "content_block_start",
                    json!({"index": 0, "content_block":
                    {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}}),
                ),
                event(
                    "content_block_delta",
                    json!({"index": 0, "delta":
                    {"type": "input_json_delta", "partial_json": &arguments[..3]}}),
                ),
                event(
                    "content_block_delta",
                    json!({"index": 0, "delta":
                    {"type": "input_json_delta", "partial_json": &arguments[3..]}}),
                ),
                event("content_block_stop", json!({"index": 0})),
                event(
                    "message_delta",
                    json!({"delta": {"stop_reason": "tool_use"},
                    "usage": {"output_tokens": 7}}),
                ),
                event("message_stop", json!({})),
            ]
            .concat(),
            "openai-responses" => {
                let item = json!({"id": "fc_1", "type": "function_call", "call_id": "call_9",
                    "name": name, "arguments": arguments, "status": "completed"});
                let response = json!({"id": "resp_1", "object": "response", "model": "m",
                    "status": "completed", "output": [item],
                    "usage": {"input_tokens": 5, "output_tokens": 7}});
                event("response.output_item.done", json!({"output_index": 0, "item": item}))
                    + &event("response.completed", json!({"response": response}))
            }
            _ => [
                openai::role(),
                openai::tool_call(0, "call_9", name, ""),
                openai::tool_arguments(0, &arguments[..3]),
                openai::tool_arguments(0, &arguments[3..]),
                openai::finish("tool_calls"),
                openai::usage(11, 3),
                openai::DONE.to_owned(),
            ]
            .concat(),
        })
    }
}

/// The items of a response, as its stream tells them when they are done.
fn items(answer: &tests::Answer) -> Vec<Value> {
    let events = answer.events();
    let data = events
        .iter()
        .filter_map(|event| serde_json::from_str::<Value>(event.data.as_deref()?).ok());
    data.filter(|event| event["type"] == "response.output_item.done")
        .map(|event| event["item"].clone())
        .collect()
}

#[tokio::test]
async fn e7_codex_gets_its_own_tools_back_from_rungs_of_every_other_dialect() {
    for dialect in ["openai-chat", "anthropic-messages", "gemini"] {
        let a = Provider::scripted(calls(dialect, "read_note", r#"{"id":"6"}"#)).await;
        let relay = Relay::start(&Setup::over(&[&a]).dialect("a", dialect)).await;
        let answer = post(&relay, "/v1/responses", &codex()).await;
        assert_eq!(answer.status, 200, "{dialect}: {}", answer.body_text());
        let [call] = items(&answer).try_into().unwrap();
        assert_eq!(call["type"], "function_call", "{dialect}");
        assert_eq!(
            (&call["namespace"], &call["name"]),
            (&json!("mcp__files"), &json!("read_note"))
        );
        assert_eq!(call["arguments"], r#"{"id":"6"}"#);
        let told = told_tools(&a.call(0).await.json());
        let wanted =
            ["exec_command", "apply_patch", "multi_agent_v1__close_agent", "mcp__files__read_note"];
        assert_eq!(told, wanted, "{dialect}");

        let text = "*** Begin Patch\n+ \"é\"\n*** End Patch";
        let b = Provider::scripted(calls(
            dialect,
            "apply_patch",
            r#"{"input":"*** Begin Patch\n+ \"\u00e9\"\n*** End Patch"}"#,
        ))
        .await;
        let relay = Relay::start(&Setup::over(&[&b]).dialect("a", dialect)).await;
        let [call] = items(&post(&relay, "/v1/responses", &codex()).await).try_into().unwrap();
        assert_eq!(call["type"], "custom_tool_call", "{dialect}: {call}");
        assert_eq!((&call["name"], &call["input"]), (&json!("apply_patch"), &json!(text)));
        let mut whole = codex();
        whole["stream"] = json!(false);
        let response = post(&relay, "/v1/responses", &whole).await.json();
        assert_eq!(response["output"][0]["input"], text, "{dialect}: {response}");
    }
}

#[tokio::test]
async fn e7_what_codex_offers_and_a_dialect_lacks_is_noted_and_costs_no_failover() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("An answer.")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"300ms\"")).await;
    let answer = post(&relay, "/v1/responses", &codex()).await;
    assert!(answer.body_text().contains("An answer."), "{}", answer.body_text());
    let detail = relay.journaled(&answer.id()).await;
    let left_out: BTreeSet<&str> =
        detail.attempts.iter().flat_map(|it| &it.left_out).map(String::as_str).collect();
    for word in ["web_search", "tool_search", "client_metadata", "access_programs", "verbosity"] {
        assert!(left_out.contains(word), "{word}: {left_out:?}");
    }
    // A search that is all that was asked for is not left out.
    let alone = json!({"model": "chat", "input": "x", "tools": [{"type": "web_search"}]});
    let error = post(&relay, "/v1/responses", &alone).await.assert_error(400);
    assert_eq!(error["param"], "tools[0].type");
}

#[tokio::test]
async fn requests_of_codex_and_claude_code_arrive_in_every_dialect() {
    for (path, request) in [("/v1/responses", codex()), ("/v1/messages", claude())] {
        for dialect in DIALECTS {
            let a = Provider::always(Reply::status(503)).await;
            let relay = Relay::start(&Setup::over(&[&a]).dialect("a", dialect)).await;
            let answer = post(&relay, path, &request).await;
            assert_eq!(answer.status, 503, "{path} {dialect}: {}", answer.body_text());
            let told = a.call(0).await.json();
            for name in told_tools(&told) {
                assert!(is_told(&name, 64), "{path} {dialect}: {name}");
            }
            let text = told.to_string();
            for words in ["Read note 5", "Buy rope.", "read_note"] {
                assert!(text.contains(words), "{path} {dialect}: {words}");
            }
            let is_own =
                [("/v1/responses", "openai-responses"), ("/v1/messages", "anthropic-messages")]
                    .contains(&(path, dialect));
            if is_own {
                for (key, value) in request.as_object().unwrap() {
                    assert!(key == "model" || told[key] == *value, "{dialect}: {key}");
                }
            }
        }
    }
}

/// What Codex sends for models that take their tools from the conversation: the tools are an
/// item of the input, and no member of the request.
fn codex_with_late_tools() -> Value {
    let mut request = codex();
    let tools = request.as_object_mut().unwrap().remove("tools").unwrap();
    let input = request["input"].as_array_mut().unwrap();
    input.insert(1, json!({"type": "additional_tools", "role": "developer", "tools": tools}));
    request
}

#[tokio::test]
async fn e7_tools_that_codex_sends_in_the_conversation_are_offered_everywhere() {
    for dialect in ["openai-chat", "anthropic-messages", "gemini"] {
        let a = Provider::scripted(calls(dialect, "read_note", r#"{"id":"6"}"#)).await;
        let relay = Relay::start(&Setup::over(&[&a]).dialect("a", dialect)).await;
        let answer = post(&relay, "/v1/responses", &codex_with_late_tools()).await;
        assert_eq!(answer.status, 200, "{dialect}: {}", answer.body_text());
        let [call] = items(&answer).try_into().unwrap();
        let named = (&call["namespace"], &call["name"]);
        assert_eq!(named, (&json!("mcp__files"), &json!("read_note")), "{dialect}");
        let told = told_tools(&a.call(0).await.json());
        let wanted =
            ["exec_command", "apply_patch", "multi_agent_v1__close_agent", "mcp__files__read_note"];
        assert_eq!(told, wanted, "{dialect}");
    }
    // Its own dialect gets it as it is.
    let a = Provider::always(Reply::status(503)).await;
    let relay = Relay::start(&Setup::over(&[&a]).dialect("a", "openai-responses")).await;
    post(&relay, "/v1/responses", &codex_with_late_tools()).await;
    let told = a.call(0).await.json();
    assert_eq!(told["input"], codex_with_late_tools()["input"]);
}

/// A chat client's tool that takes free text, and a call of it in the turn before.
fn chat_with_free_text(stream: bool) -> Value {
    let grammar = json!({"syntax": "lark", "definition": "start: begin_patch"});
    let call = json!({"id": "call_1", "type": "custom",
        "custom": {"name": "apply.patch", "input": "*** Begin"}});
    json!({
        "model": "chat",
        "stream": stream,
        "messages": [
            {"role": "user", "content": "Patch it."},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "rejected"},
        ],
        "tools": [{"type": "custom", "custom": {"name": "apply.patch", "description": "Edits.",
            "format": {"type": "grammar", "grammar": grammar}}}],
        "tool_choice": {"type": "custom", "custom": {"name": "apply.patch"}},
    })
}

#[tokio::test]
async fn a_chat_clients_tool_that_takes_free_text_works_on_rungs_of_every_dialect() {
    const TEXT: &str = "*** Begin \"\u{e9}\"";
    let arguments = r#"{"input":"*** Begin \"\u00e9\""}"#;
    for dialect in ["anthropic-messages", "gemini", "openai-responses"] {
        let a = Provider::scripted(calls(dialect, "patch", arguments)).await;
        let relay = Relay::start(&Setup::over(&[&a]).dialect("a", dialect)).await;
        let answer = post(&relay, "/v1/chat/completions", &chat_with_free_text(false)).await;
        assert_eq!(answer.status, 200, "{dialect}: {}", answer.body_text());
        let call = answer.json()["choices"][0]["message"]["tool_calls"][0].clone();
        assert_eq!(call["type"], "custom", "{dialect}: {call}");
        assert_eq!(call["custom"], json!({"name": "apply.patch", "input": TEXT}), "{dialect}");
        let told = a.call(0).await.json().to_string();
        for words in ["start: begin_patch", "rejected", "*** Begin"] {
            assert!(told.contains(words), "{dialect}: {words} in {told}");
        }
        let answer = post(&relay, "/v1/chat/completions", &chat_with_free_text(true)).await;
        let entries: Vec<Value> = answer
            .chunks()
            .iter()
            .filter_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0").cloned())
            .collect();
        assert_eq!(entries[0]["type"], "custom", "{dialect}: {entries:?}");
        let input: String =
            entries.iter().filter_map(|entry| entry["custom"]["input"].as_str()).collect();
        assert_eq!((&entries[0]["custom"]["name"], input.as_str()), (&json!("apply.patch"), TEXT));
    }
    // Its own dialect is told what it said, in a name that it takes.
    let a = Provider::always(Reply::text("ok")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    post(&relay, "/v1/chat/completions", &chat_with_free_text(true)).await.assert_good("ok");
    assert_eq!(a.call(0).await.json()["tools"][0]["custom"]["name"], "apply_patch");
}
