//! E: what is written in one dialect arrives in another one, within its limits.

mod agents;
mod references;

use crate::dialects::anthropic;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::provider::Call;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

/// Asks on a path other than chat's.
async fn post(relay: &Relay, path: &str, body: &Value) -> Answer {
    let json = [("content-type", "application/json")];
    relay.call("POST", path, &json, Some(body.to_string().as_bytes())).await
}

fn text_of(call: &Call) -> String {
    String::from_utf8_lossy(&call.body).into_owned()
}

fn is_told(text: &str, longest: usize) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=longest).contains(&text.len()) && text.chars().all(plain)
}

/// Names that some provider refuses.
const ODD: [&str; 4] = [
    "mcp.files/read",
    "werkzeug_für_alles",
    "a_tool_whose_name_goes_on_and_on_until_it_is_longer_than_any_provider_allows_one_to_be_one",
    "a_tool_whose_name_goes_on_and_on_until_it_is_longer_than_any_provider_allows_one_to_be_two",
];
/// As vLLM makes them: longer than OpenAI takes.
const LONG_ID: &str = "chatcmpl-tool-0123456789abcdef0123456789abcdef";

/// Calls the first tool that it is told, by the name that it is told.
fn calls_first(call: &Call) -> Reply {
    let name = call.json()["tools"][0]["function"]["name"].as_str().unwrap().to_owned();
    Reply::sse(
        [
            openai::role(),
            openai::tool_call(0, LONG_ID, &name, ""),
            openai::tool_arguments(0, "{}"),
            openai::finish("tool_calls"),
            openai::usage(11, 3),
            openai::DONE.to_owned(),
        ]
        .concat(),
    )
}

fn chat_tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}})
}

#[tokio::test]
async fn e3_names_and_ids_beyond_a_providers_limits_are_told_in_another_form_and_restored() {
    let a = Provider::scripted(calls_first).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for name in ODD {
        let fields = json!({
            "tools": [chat_tool(name), chat_tool("fine")],
            "tool_choice": {"type": "function", "function": {"name": name}},
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": LONG_ID, "type": "function",
                     "function": {"name": name, "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": LONG_ID, "content": "done"},
            ],
        });
        // Chat on both sides: a stream, and one body.
        let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
        let call = answer
            .chunks()
            .iter()
            .find_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0").cloned())
            .expect("a call");
        assert_eq!(call["function"]["name"], name);
        let whole = relay.send(&openai::with(openai::ask_whole("chat"), &fields)).await.json();
        let call = &whole["choices"][0]["message"]["tool_calls"][0];
        assert_eq!(call["function"]["name"], name, "{whole}");

        let told = a.call(a.count() - 1).await.json();
        let told_name = told["tools"][0]["function"]["name"].as_str().unwrap();
        assert!(is_told(told_name, 64), "{told_name}");
        assert_eq!(told["tools"][1]["function"]["name"], "fine");
        assert_eq!(told["tool_choice"]["function"]["name"], told_name);
        let past = &told["messages"][1]["tool_calls"][0];
        assert_eq!(past["function"]["name"], told_name);
        let id = past["id"].as_str().unwrap();
        assert!(is_told(id, 40) && id.starts_with("chatcmpl-tool-"), "{id}");
        assert_eq!(told["messages"][2]["tool_call_id"], id, "a call and its result go together");
    }
    // What fits is told as it is, byte for byte.
    let fields = json!({"tools": [chat_tool("fine")]});
    relay.send(&openai::with(openai::ask("chat"), &fields)).await;
    let told = a.call(a.count() - 1).await.json();
    assert_eq!(told["tools"], fields["tools"]);
}

#[tokio::test]
async fn e3_no_two_tools_get_the_same_name() {
    let a = Provider::always(Reply::text("ok")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let names = ["a.b", "a:b", "a_b", ODD[2], ODD[3]];
    let tools: Vec<Value> = names.into_iter().map(chat_tool).collect();
    relay.send(&openai::with(openai::ask("chat"), &json!({"tools": tools}))).await;
    let told = a.call(0).await.json();
    let told: BTreeSet<&str> = told["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(told.len(), names.len(), "{told:?}");
    assert!(told.contains("a_b"), "{told:?}");
}

#[tokio::test]
async fn e3_clients_of_other_dialects_get_their_own_names_back_too() {
    let a = Provider::scripted(calls_first).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for name in ODD {
        let body = json!({"model": "chat", "max_tokens": 99, "tools": [
            {"name": name, "input_schema": {"type": "object"}},
        ], "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": LONG_ID, "name": name, "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": LONG_ID, "content": "done"},
            ]},
        ]});
        let message = post(&relay, "/v1/messages", &body).await.json();
        assert_eq!(message["content"][0]["name"], name, "{message}");
        let told = a.call(a.count() - 1).await.json();
        let told_name = told["tools"][0]["function"]["name"].as_str().unwrap();
        assert!(is_told(told_name, 64), "{told_name}");
        let id = told["messages"][1]["tool_calls"][0]["id"].as_str().unwrap();
        assert!(is_told(id, 40), "{id}");
        assert_eq!(told["messages"][2]["tool_call_id"], id);

        let body = json!({"model": "chat", "store": false, "input": "go", "tools": [
            {"type": "function", "name": name, "parameters": {"type": "object"}},
        ]});
        let response = post(&relay, "/v1/responses", &body).await.json();
        assert_eq!(response["output"][0]["name"], name, "{response}");
    }
}

/// Calls the first tool it is told, whose name comes in pieces, and the second without
/// arguments.
fn calls_in_pieces(call: &Call) -> Reply {
    let told = call.json();
    let name = |n: usize| told["tools"][n]["function"]["name"].as_str().unwrap().to_owned();
    let whole = name(0);
    let (first, rest) = whole.split_at(6);
    let piece = |name: &str, arguments: &str| {
        openai::chunk(
            &json!({"tool_calls": [{"index": 0, "function": {"name": name, "arguments": arguments}}]}),
            None,
        )
    };
    Reply::sse(
        [
            openai::role(),
            openai::tool_call(0, "call_1", first, ""),
            piece(rest, ""),
            piece("", "{\"a\":"),
            piece("", "1}"),
            openai::tool_call(1, "call_2", &name(1), ""),
            openai::finish("tool_calls"),
            openai::DONE.to_owned(),
        ]
        .concat(),
    )
}

#[tokio::test]
async fn e3_a_shortened_name_that_comes_back_in_pieces_is_restored() {
    let a = Provider::scripted(calls_in_pieces).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    // The second is told under a name with which the first one begins.
    let names = ["mcp.fi/les", "mcp.fi"];
    let fields = json!({"tools": names.map(chat_tool)});
    let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
    let told = a.call(0).await.json();
    assert_eq!(told["tools"][0]["function"]["name"], "mcp_fi_les");
    assert_eq!(told["tools"][1]["function"]["name"], "mcp_fi");
    let chunks = answer.chunks();
    let entries: Vec<Value> = chunks
        .iter()
        .filter_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls")?.as_array().cloned())
        .flatten()
        .collect();
    let begun: Vec<(&Value, &Value)> = entries
        .iter()
        .filter(|entry| entry["function"]["name"].as_str().is_some_and(|name| !name.is_empty()))
        .map(|entry| (&entry["id"], &entry["function"]["name"]))
        .collect();
    let wanted = [("call_1", names[0]), ("call_2", names[1])].map(|(a, b)| (json!(a), json!(b)));
    let wanted: Vec<(&Value, &Value)> = wanted.iter().map(|(id, name)| (id, name)).collect();
    assert_eq!(begun, wanted, "{}", answer.body_text());
    assert!(!answer.body_text().contains("mcp_fi"), "{}", answer.body_text());
    let whole = relay.send(&openai::with(openai::ask_whole("chat"), &fields)).await.json();
    let calls = &whole["choices"][0]["message"]["tool_calls"];
    for (n, arguments) in ["{\"a\":1}", ""].into_iter().enumerate() {
        assert_eq!(calls[n]["function"], json!({"name": names[n], "arguments": arguments}));
    }
}

/// A provider of Anthropic's messages or of responses that calls the first tool it is told.
fn calls_in(dialect: &'static str) -> impl Fn(&Call) -> Reply + Send + Sync {
    move |call| {
        let told = call.json();
        let name = told["tools"][0]["name"].as_str().unwrap();
        let events: Vec<(&str, Value)> = if dialect == "anthropic-messages" {
            let usage = json!({"input_tokens": 5, "output_tokens": 1});
            vec![
                (
                    "message_start",
                    json!({"message": {"id": "msg_1", "type": "message",
                    "role": "assistant", "model": "m", "content": [], "usage": usage}}),
                ),
                (
                    "content_block_start",
                    json!({"index": 0, "content_block":
                    {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}}),
                ),
                (
                    "content_block_delta",
                    json!({"index": 0, "delta":
                    {"type": "input_json_delta", "partial_json": "{}"}}),
                ),
                ("content_block_stop", json!({"index": 0})),
                (
                    "message_delta",
                    json!({"delta": {"stop_reason": "tool_use"},
                    "usage": {"output_tokens": 7}}),
                ),
                ("message_stop", json!({})),
            ]
        } else {
            let item = |status: &str, arguments: &str| {
                json!({"id": "fc_1", "type": "function_call", "status": status,
                    "call_id": "call_1", "name": name, "arguments": arguments})
            };
            let response = |status: &str, output: Value| {
                json!({"response": {"id": "resp_1", "object": "response", "status": status,
                    "model": "m", "output": output,
                    "usage": {"input_tokens": 5, "output_tokens": 7}}})
            };
            vec![
                ("response.created", response("in_progress", json!([]))),
                (
                    "response.output_item.added",
                    json!({"output_index": 0, "item": item("in_progress", "")}),
                ),
                (
                    "response.function_call_arguments.delta",
                    json!({"output_index": 0, "item_id": "fc_1", "delta": "{}"}),
                ),
                (
                    "response.output_item.done",
                    json!({"output_index": 0, "item": item("completed", "{}")}),
                ),
                ("response.completed", response("completed", json!([item("completed", "{}")]))),
            ]
        };
        let event = |(kind, mut data): (&str, Value)| {
            data["type"] = json!(kind);
            format!("event: {kind}\ndata: {data}\n\n")
        };
        Reply::sse(events.into_iter().map(event).collect::<String>())
    }
}

#[tokio::test]
async fn e3_payloads_that_pass_through_have_the_clients_names_in_every_event() {
    for (dialect, path, longest) in
        [("anthropic-messages", "/v1/messages", 128), ("openai-responses", "/v1/responses", 64)]
    {
        let a = Provider::scripted(calls_in(dialect)).await;
        let relay = Relay::start(&Setup::over(&[&a]).dialect("a", dialect)).await;
        let name = format!("files.{}", "x".repeat(130));
        for stream in [true, false] {
            let body = json!({"model": "chat", "max_tokens": 99, "stream": stream,
                "messages": [{"role": "user", "content": "go"}], "input": "go",
                "tools": [{"type": "function", "name": name, "parameters": {},
                    "input_schema": {"type": "object"}}]});
            let answer = post(&relay, path, &body).await;
            let told = a.call(a.count() - 1).await.json();
            let told = told["tools"][0]["name"].as_str().unwrap();
            assert!(is_told(told, longest), "{told}");
            let text = answer.body_text();
            assert!(text.contains(&name) && !text.contains(told), "{dialect}: {text}");
        }
    }
}

/// A provider with the limits of OpenAI's.
fn openai_itself(call: &Call) -> Reply {
    let told = call.json();
    for (n, message) in told["messages"].as_array().unwrap().iter().enumerate() {
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let ids = calls.map(|call| &call["id"]).chain(message.get("tool_call_id"));
        if let Some(id) = ids.filter_map(Value::as_str).find(|id| id.len() > 40) {
            let words = format!(
                "Invalid 'messages[{n}].tool_calls[0].id': string too long. \
                Expected a string with maximum length 40, but got a string with length {}.",
                id.len()
            );
            return Reply::error(
                400,
                &words,
                "invalid_request_error",
                &json!("string_above_max_length"),
            );
        }
    }
    Reply::text("It is mild.")
}

#[tokio::test]
async fn e3_a_ladder_may_change_providers_in_the_middle_of_a_tool_loop() {
    let vllm = Provider::scripted(calls_first).await;
    let openai = Provider::scripted(openai_itself).await;
    let relay = Relay::start(&Setup::over(&[&vllm, &openai])).await;
    let tools = json!({"tools": [chat_tool("weather")]});
    let first = relay.send(&openai::with(openai::ask_whole("chat"), &tools)).await.json();
    let message = first["choices"][0]["message"].clone();
    assert_eq!(message["tool_calls"][0]["id"], LONG_ID, "the client has the provider's own id");
    vllm.now_answers(Reply::status(503));
    let turns = json!({"messages": [
        {"role": "user", "content": "How is it?"},
        message,
        {"role": "tool", "tool_call_id": LONG_ID, "content": "7 degrees"},
    ]});
    let body = openai::with(openai::with(openai::ask("chat"), &tools), &turns);
    let answer = relay.send(&body).await;
    answer.assert_good("It is mild.");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first overloaded", "b failover ok"]);
}

#[tokio::test]
async fn e4_a_picture_arrives_under_the_media_type_that_providers_know() {
    let a = Provider::always(Reply::sse(anthropic("a cat"))).await;
    let relay = Relay::start(&Setup::over(&[&a]).dialect("a", "anthropic-messages")).await;
    for (spelled, wanted) in [
        ("image/jpeg;charset=utf-8", "image/jpeg"),
        ("image/png;name=a.png", "image/png"),
        ("image/PNG", "image/png"),
        ("image/jpg", "image/jpeg"),
    ] {
        let url = format!("data:{spelled};base64,AAAA");
        let part = json!({"type": "image_url", "image_url": {"url": url}});
        let messages = json!({"messages": [{"role": "user", "content": [part]}]});
        relay.send(&openai::with(openai::ask("chat"), &messages)).await.assert_good("a cat");
        let told = a.call(a.count() - 1).await.json();
        let source = &told["messages"][0]["content"][0]["source"];
        assert_eq!(*source, json!({"type": "base64", "media_type": wanted, "data": "AAAA"}));
    }
}

#[tokio::test]
async fn e5_bookkeeping_fields_are_left_out_for_other_dialects_and_noted() {
    let a = Provider::always(Reply::sse(anthropic("from A"))).await;
    let setup = Setup::over(&[&a])
        .dialect("a", "anthropic-messages")
        .server(r#"ignore_fields = ["x_trace", "tools[].function.x_hint"]"#);
    let relay = Relay::start(&setup).await;
    let mut tool = chat_tool("f");
    tool["function"]["x_hint"] = json!(1);
    let fields = json!({
        "client_metadata": {"a": "b"}, "access_programs": ["x"], "session_id": "s",
        "chat_template_kwargs": {"enable_thinking": false}, "options": {"num_ctx": 9},
        "function_call": "auto", "x_trace": "t", "tools": [tool],
    });
    let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
    answer.assert_good("from A");
    let told = text_of(&*a.call(0).await);
    for field in
        ["client_metadata", "access_programs", "session_id", "options", "x_trace", "x_hint"]
    {
        assert!(!told.contains(field), "{field}: {told}");
    }
    let detail = relay.journaled(&answer.id()).await;
    let left_out: Vec<&str> = detail.attempts[0].left_out.iter().map(String::as_str).collect();
    for word in
        ["client_metadata", "session_id", "chat_template_kwargs", "options", "ignore_fields"]
    {
        assert!(left_out.contains(&word), "{word}: {left_out:?}");
    }
    // What is not known to be harmless is still named.
    let strange = openai::with(openai::ask("chat"), &json!({"x_other": 1}));
    assert_eq!(relay.send(&strange).await.assert_error(400)["param"], "x_other");
}

#[tokio::test]
async fn e8_a_limit_is_for_a_provider_of_the_clients_dialect_to_judge() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for (spelled, value) in [("-1", json!(-1)), ("256.0", json!(256.0)), ("\"9\"", json!("9"))] {
        let body = openai::with(openai::ask("chat"), &json!({"max_tokens": value}));
        relay.send(&body).await.assert_good("from A");
        let told = text_of(&*a.call(a.count() - 1).await);
        assert!(told.contains(&format!("\"max_tokens\":{spelled}")), "{told}");
    }
    let b = Provider::always(Reply::sse(anthropic("from B"))).await;
    let relay = Relay::start(&Setup::over(&[&b]).dialect("a", "anthropic-messages")).await;
    for (value, wanted) in [(json!(-1), None), (json!(256.0), Some(256))] {
        let body = openai::with(openai::ask("chat"), &json!({"max_tokens": value}));
        relay.send(&body).await.assert_good("from B");
        let told = b.call(b.count() - 1).await.json();
        assert!(wanted.is_none_or(|wanted| told["max_tokens"] == wanted), "{told}");
    }
    let odd = openai::with(openai::ask("chat"), &json!({"max_tokens": 1.5}));
    assert_eq!(relay.send(&odd).await.assert_error(400)["param"], "max_tokens");
}

#[tokio::test]
async fn d7_a_field_path_is_no_host_and_no_key() {
    for path in [
        "tools[0].function.name",
        "messages.0.content.1.image.source.base64.media_type",
        "input[3].call_id",
        "messages[1].tool_calls[0].function.arguments",
    ] {
        let error = json!({"error": {"message": format!("Invalid '{path}': string too long."),
            "type": "invalid_request_error", "param": path, "code": "string_above_max_length"}});
        let a = Provider::always(Reply::json(400, &error)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let told = relay.ask().await.assert_error(400);
        assert_eq!(told["param"], path, "{told}");
        assert!(told["message"].as_str().unwrap().contains(path), "{told}");
    }
}
