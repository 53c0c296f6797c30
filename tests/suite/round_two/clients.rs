//! What real clients need beside the answer.

use crate::cases::client::{CLIENTS, Client};
use serde_json::{Value, json};
use shared::AttemptOutcome;
use tests::clock::ms;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

/// What a client reads that looks at each line for itself, as Open WebUI does.
fn by_lines(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter(|data| data.trim() != "[DONE]").map(parsed).collect()
}

/// What a client reads that splits at blank lines, leaves out blocks that begin with a
/// comment, and takes the rest of a block for its data, as Dify does.
fn by_blocks(body: &str) -> Vec<Value> {
    let blocks = body.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let told = blocks.filter(|block| !block.starts_with(':'));
    let data = told.map(|block| block.strip_prefix("data:").unwrap_or(block).trim());
    data.filter(|data| *data != "[DONE]").map(|data| parsed(first_line(data))).collect()
}

fn first_line(data: &str) -> &str {
    data.lines().next().unwrap_or_default()
}

fn parsed(data: &str) -> Value {
    serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))
}

/// The text of a chat stream, however it was read.
fn text(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|one| one["choices"][0]["delta"]["content"].as_str()).collect()
}

/// Silent at first, so that the status goes out early, and between two words.
fn slow() -> Reply {
    Reply::begins("one ").after(ms(700)).words(&["two"], ms(700))
}

async fn beating(reply: Reply) -> (Relay, Provider) {
    let a = Provider::always(reply).await;
    let setup = Setup::over(&[&a]).server("early_headers = \"100ms\"\nheartbeat = \"150ms\"");
    (Relay::start(&setup.ladder("fail_fast = true")).await, a)
}

/// Fails unless there were heartbeats before the first word and between the two.
#[track_caller]
fn assert_beats(answer: &Answer) {
    let events = answer.events();
    let of = |event: &tests::client::Event| {
        event.beats + usize::from(event.event.as_deref() == Some("ping"))
    };
    assert!(of(&events[0]) > 0, "{}", answer.body_text());
    assert!(answer.beats() > 4, "{}", answer.body_text());
}

#[tokio::test]
async fn f1_no_block_is_without_data_and_no_event_is_hidden_by_a_comment() {
    let (relay, _a) = beating(slow().stop()).await;
    for client in CLIENTS {
        // `events` fails on a block without data.
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "one two");
        assert_beats(&answer);
        assert_eq!(answer.stamp().unwrap()["outcome"], "ok", "{client:?}");
        if client == Client::Chat {
            let body = answer.body_text();
            assert_eq!(text(&by_lines(body)), "one two");
            assert_eq!(text(&by_blocks(body)), "one two", "{body}");
        }
    }
}

#[tokio::test]
async fn f1_an_error_is_seen_by_whoever_reads_the_stream() {
    let (relay, _a) = beating(slow().pause(ms(400)).cut()).await;
    for client in CLIENTS {
        let answer = client.ask(&relay).await;
        client.assert_broken(&answer, "one two");
        assert_beats(&answer);
        assert_eq!(answer.stamp().unwrap()["outcome"], "disconnect", "{client:?}");
        if client == Client::Chat {
            for read in [by_lines, by_blocks] {
                let told = read(answer.body_text());
                assert_eq!(text(&told), "one two");
                assert!(told.last().unwrap()["error"]["message"].is_string(), "{told:?}");
            }
        }
    }
}

#[tokio::test]
async fn f1_what_ends_the_heartbeats_says_nothing() {
    let (relay, _a) = beating(slow().stop()).await;
    let answer = relay.send(&openai::ask("chat")).await;
    let chunks = answer.chunks();
    let is_idle = |chunk: &&Value| chunk["id"].as_str().is_some_and(|id| id.contains("req_"));
    let idle: Vec<_> = chunks.iter().filter(is_idle).collect();
    assert_eq!(idle.len(), 2, "one for each silence: {}", answer.body_text());
    for chunk in idle {
        assert_eq!(chunk["model"], "chat", "{chunk}");
        assert_eq!(chunk["choices"][0]["delta"], json!({}), "{chunk}");
        assert!(chunk["choices"][0]["finish_reason"].is_null(), "{chunk}");
    }
    assert_eq!(answer.finish_reasons(), ["stop"]);
}

const PRICE: &str = "price = { input = 1.0, output = 2.0 }";

/// A call on the data listener, as an SDK makes it.
async fn call(relay: &Relay, method: &str, path: &str, body: Option<&Value>) -> Answer {
    let body = body.map(Value::to_string);
    let json = [("Content-Type", "application/json")];
    let headers = if body.is_some() { &json[..] } else { &[] };
    relay.call(method, path, headers, body.as_deref().map(str::as_bytes)).await
}

fn vectors(tokens: u64) -> Reply {
    Reply::json(
        200,
        &json!({
            "object": "list",
            "data": [{"object": "embedding", "index": 0, "embedding": [0.25, -0.5]}],
            "model": "m-1",
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }),
    )
}

#[tokio::test]
async fn f3_models_are_listed_with_their_aliases_and_read_one_by_one() {
    let a = Provider::always(Reply::text("hello")).await;
    let setup = Setup::over(&[&a]).ladder("aliases = [\"openai/gpt-4o\", \"claude-5\"]");
    let relay = Relay::start(&setup.extra("[ladders.\"a/b\"]\nrungs = [\"a\"]")).await;
    for path in ["/v1/models", "/v1/models/"] {
        let list = call(&relay, "GET", path, None).await.json();
        let ids: Vec<_> = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["chat", "openai/gpt-4o", "claude-5", "a/b"], "{path}");
    }
    for (path, id) in [
        ("chat", "chat"),
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("openai%2Fgpt-4o", "openai/gpt-4o"),
        ("a/b", "a/b"),
    ] {
        let one = call(&relay, "GET", &format!("/v1/models/{path}"), None).await;
        assert_eq!(one.status, 200, "{path}: {}", one.body_text());
        assert_eq!((&one.json()["id"], &one.json()["object"]), (&json!(id), &json!("model")));
    }
    let answer = call(&relay, "GET", "/v1/models/none/such", None).await;
    let error = answer.assert_error(404);
    assert_eq!(error["code"], "model_not_found");
}

#[tokio::test]
async fn f3_what_is_not_there_is_told_with_what_is() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for path in ["/health", "/healthz"] {
        let answer = call(&relay, "GET", path, None).await;
        assert_eq!((answer.status, answer.body_text()), (200, "ok\n"), "{path}");
    }
    for path in ["/v1/files", "/chat/completions", "/v1/v1/messages"] {
        let answer = call(&relay, "POST", path, Some(&json!({}))).await;
        let error = answer.assert_error(404);
        let message = error["message"].as_str().unwrap();
        for there in ["POST /v1/chat/completions", "/v1/embeddings", "GET /v1/models/{model}"] {
            assert!(message.contains(there), "{path}: {message}");
        }
    }
    for (method, path, right) in [
        ("GET", "/v1/chat/completions", "POST"),
        ("GET", "/v1/messages", "POST"),
        ("PUT", "/v1/embeddings", "POST"),
        ("GET", "/v1/messages/count_tokens", "POST"),
        ("POST", "/v1/models", "GET"),
        ("POST", "/v1/models/", "GET"),
        ("DELETE", "/v1/models/chat", "GET"),
    ] {
        let answer = call(&relay, method, path, None).await;
        assert_eq!(answer.status, 405, "{method} {path}: {}", answer.body_text());
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(&format!("use {right}.")), "{method} {path}: {message}");
        assert!(answer.header("allow").is_some_and(|allow| allow.contains(right)), "{path}");
    }
}

#[tokio::test]
async fn f3_embeddings_fail_over_within_one_model_and_are_priced() {
    let a = Provider::always(Reply::error(500, "x", "x", &Value::Null)).await;
    let b = Provider::always(vectors(8)).await;
    let setup = Setup::over(&[&a, &b]).rung("a", PRICE).rung("b", PRICE);
    let relay = Relay::start(&setup.ladder("one_model = true")).await;
    let asked = json!({"model": "chat", "input": ["one", "two"], "dimensions": 2});
    let answer = call(&relay, "POST", "/v1/embeddings", Some(&asked)).await;
    assert_eq!(answer.status, 200, "{}", answer.body_text());
    assert_eq!(answer.json()["data"][0]["embedding"], json!([0.25, -0.5]));
    assert_eq!(answer.header("x-belay-rung"), Some("b"));
    assert_eq!(answer.header("x-belay-cost-usd"), Some("0.000008"));
    let told = b.call(0).await;
    assert!(told.request_line.starts_with("POST /v1/embeddings "), "{}", told.request_line);
    assert_eq!(told.json(), json!({"model": "model-b", "input": ["one", "two"], "dimensions": 2}));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first server_error", "b failover ok"]);
    let won = &detail.attempts[1];
    assert_eq!((won.input_tokens, won.output_tokens, won.estimated), (Some(8), Some(0), false));
}

#[tokio::test]
async fn f3_embeddings_of_several_models_are_never_mixed() {
    let a = Provider::always(vectors(8)).await;
    let b = Provider::always(vectors(8)).await;
    let setup = Setup::over(&[&a, &b]).extra("[ladders.alone]\nrungs = [\"b\"]");
    let relay = Relay::start(&setup).await;
    let asked = |model: &str| json!({"model": model, "input": "one"});
    let answer = call(&relay, "POST", "/v1/embeddings", Some(&asked("chat"))).await;
    let error = answer.assert_error(400);
    assert_eq!(error["code"], "embeddings_not_comparable");
    assert_eq!((a.count(), b.count()), (0, 0));
    let answer = call(&relay, "POST", "/v1/embeddings", Some(&asked("alone"))).await;
    assert_eq!(answer.status, 200, "one rung is one model: {}", answer.body_text());
    let answer = call(&relay, "POST", "/v1/embeddings", Some(&json!({"model": "alone"}))).await;
    assert_eq!(answer.assert_error(400)["param"], "input");
}

#[tokio::test]
async fn f3_what_is_no_list_is_not_passed_on() {
    for (reply, outcome) in [
        (Reply::text("hello"), AttemptOutcome::Junk),
        (Reply::json(200, &json!({"data": "none"})), AttemptOutcome::Junk),
        (
            Reply::json(200, &json!({"error": {"message": "worker lost"}})),
            AttemptOutcome::ServerError,
        ),
        (Reply::body(200, "text/html", "<html>"), AttemptOutcome::Junk),
    ] {
        let a = Provider::always(reply).await;
        let b = Provider::always(vectors(8)).await;
        let relay = Relay::start(&Setup::over(&[&a, &b]).ladder("one_model = true")).await;
        let asked = json!({"model": "chat", "input": "one"});
        let answer = call(&relay, "POST", "/v1/embeddings", Some(&asked)).await;
        assert_eq!(answer.status, 200, "{}", answer.body_text());
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(detail.attempts[0].outcome, Some(outcome));
    }
}

#[tokio::test]
async fn f3_moderations_pass_through_on_rungs_that_have_them() {
    let other = Provider::always(Reply::text("never asked")).await;
    let results = json!({"id": "modr-1", "model": "m-1", "results": [{"flagged": false}]});
    let a = Provider::always(Reply::json(200, &results)).await;
    let setup = Setup::over(&[&other, &a]).dialect("a", "anthropic-messages");
    let relay = Relay::start(&setup).await;
    let asked = json!({"model": "chat", "input": "hello"});
    let answer = call(&relay, "POST", "/v1/moderations", Some(&asked)).await;
    assert_eq!((answer.status, answer.json()), (200, results));
    assert_eq!(other.count(), 0, "its dialect has none");
    assert!(a.call(0).await.request_line.starts_with("POST /v1/moderations "));
    let alone = Setup::over(&[&other]).dialect("a", "anthropic-messages");
    let relay = Relay::start(&alone).await;
    let answer = call(&relay, "POST", "/v1/moderations", Some(&asked)).await;
    let error = answer.assert_error(400);
    assert!(error["message"].as_str().unwrap().contains("moderations"), "{error}");
}

/// A piece of an old completion.
fn piece(text: &str, finish: Option<&str>) -> String {
    openai::event(&json!({
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1_700_000_000,
        "model": "m-1",
        "choices": [{"index": 0, "text": text, "logprobs": null, "finish_reason": finish}],
    }))
}

#[tokio::test]
async fn f3_old_completions_stream_fail_over_and_come_whole() {
    let words = [piece("one ", None), piece("two", None)].concat();
    let whole = words.clone() + &piece("", Some("stop")) + &openai::usage(11, 3) + openai::DONE;
    let a = Provider::in_turn(vec![Reply::sse(""), Reply::sse(&whole)]).await;
    let b = Provider::always(Reply::sse(&whole)).await;
    let setup = Setup::over(&[&a, &b]).rung("a", PRICE).rung("b", PRICE);
    let relay = Relay::start(&setup).await;
    let asked = json!({"model": "chat", "prompt": "Count.", "max_tokens": 9, "stream": true});
    let answer = call(&relay, "POST", "/v1/completions", Some(&asked)).await;
    let text: String = answer
        .chunks()
        .iter()
        .filter_map(|one| one["choices"][0]["text"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(text, "one two", "{}", answer.body_text());
    assert_eq!(answer.finish_reasons(), ["stop"]);
    assert!(answer.saw_done());
    assert!(!answer.body_text().contains("usage\""), "not asked for: {}", answer.body_text());
    assert_eq!(answer.stamp().unwrap()["output_tokens"], 3);
    let told = b.call(0).await;
    assert!(told.request_line.starts_with("POST /v1/completions "), "{}", told.request_line);
    assert_eq!(told.json()["prompt"], "Count.");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first junk", "b failover ok"]);

    let asked = json!({"model": "chat", "prompt": "Count."});
    let answer = call(&relay, "POST", "/v1/completions", Some(&asked)).await;
    let body = answer.json();
    assert_eq!(body["object"], "text_completion", "{body}");
    assert_eq!(body["choices"][0]["text"], "one two", "{body}");
    assert_eq!(body["choices"][0]["finish_reason"], "stop", "{body}");
    assert_eq!(body["usage"]["completion_tokens"], 3, "{body}");

    // A stream that breaks is not told as whole.
    let broken = Provider::always(Reply::sse(&words)).await;
    let relay = Relay::start(&Setup::over(&[&broken])).await;
    let asked = json!({"model": "chat", "prompt": "Count.", "stream": true});
    let answer = call(&relay, "POST", "/v1/completions", Some(&asked)).await;
    assert!(answer.error_object().is_some() && !answer.saw_done(), "{}", answer.body_text());
}

#[tokio::test]
async fn f3_a_whole_old_completion_is_a_stream_for_whoever_wants_one() {
    let body = json!({
        "id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "text": "one two", "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    });
    let a = Provider::always(Reply::json(200, &body)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let asked = json!({"model": "chat", "prompt": "Count.", "stream": true});
    let answer = call(&relay, "POST", "/v1/completions", Some(&asked)).await;
    assert_eq!(answer.chunks(), std::slice::from_ref(&body));
    assert!(answer.saw_done());
    let asked = json!({"model": "chat", "prompt": "Count."});
    let answer = call(&relay, "POST", "/v1/completions", Some(&asked)).await;
    assert_eq!(answer.json(), body);
}

#[tokio::test]
async fn f3_tokens_are_counted_by_who_can_and_estimated_otherwise() {
    let asked = json!({
        "model": "chat",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "word ".repeat(400)}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    });
    let path = "/v1/messages/count_tokens";
    let a = Provider::always(Reply::text("never asked")).await;
    let b = Provider::always(Reply::json(200, &json!({"input_tokens": 4711}))).await;
    let setup = Setup::over(&[&a, &b]).dialect("b", "anthropic-messages");
    let relay = Relay::start(&setup).await;
    let answer = call(&relay, "POST", path, Some(&asked)).await;
    assert_eq!((answer.status, answer.json()), (200, json!({"input_tokens": 4711})));
    assert_eq!(answer.header("x-belay-estimated"), Some("false"));
    let told = b.call(0).await;
    assert!(told.request_line.starts_with("POST /v1/messages/count_tokens "));
    let mut expected = asked.clone();
    expected["model"] = json!("model-b");
    assert_eq!(told.json(), expected, "nothing else is changed");
    assert_eq!(told.header("anthropic-version"), Some("2023-06-01"));

    for reply in [
        Reply::error(529, "x", "overloaded_error", &Value::Null),
        Reply::json(200, &json!({"tokens": 1})),
        Reply::closed(),
    ] {
        b.now_answers(reply);
        let answer = call(&relay, "POST", path, Some(&asked)).await;
        assert_eq!(answer.header("x-belay-estimated"), Some("true"), "{}", answer.body_text());
        let tokens = answer.json()["input_tokens"].as_u64().unwrap();
        assert!((450..650).contains(&tokens), "{tokens}");
        assert_eq!(answer.json()["estimated"], true);
    }
    assert_eq!(a.count(), 0);
    let board = relay.admin_get("/admin/v1/board").await.json();
    let rung = board["rungs"].as_array().unwrap().iter().find(|rung| rung["name"] == "b").unwrap();
    assert_eq!(rung["health"]["state"], "closed", "a count says nothing about a rung: {rung}");

    let answer = call(&relay, "POST", path, Some(&json!({"model": "chat"}))).await;
    Client::Messages.assert_error(&answer, 400);
    let answer = call(&relay, "POST", path, Some(&json!({"model": "none", "messages": [1]}))).await;
    Client::Messages.assert_error(&answer, 404);
}

#[tokio::test]
async fn f5_azures_deployments_are_called_where_they_are() {
    let a = Provider::always(Reply::text("hello")).await;
    let url = format!("http://{}/openai/deployments/{{model}}?api-version=2026-10-01", a.address());
    let setup = Setup::default()
        .and_rung(&url)
        .provider("a", "headers = { api-key = { env = \"AZURE\" } }");
    let relay = Relay::start(&setup.env("AZURE", "azure-key-placeholder")).await;
    relay.ask().await.assert_good("hello");
    let told = a.call(0).await;
    let line = "POST /openai/deployments/model-a/chat/completions?api-version=2026-10-01 HTTP/1.1";
    assert_eq!(told.request_line, line);
    assert_eq!(told.header("api-key"), Some("azure-key-placeholder"));
}
