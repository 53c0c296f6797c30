//! What an answer's end means: to clients of every dialect, and to the ladder.

use serde_json::{Value, json};
use shared::RequestOutcome;
use tests::clock::ms;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

/// What clients speak: path, and the request.
const CLIENTS: [(&str, &str); 3] = [
    ("chat", "/v1/chat/completions"),
    ("messages", "/v1/messages"),
    ("responses", "/v1/responses"),
];

fn request(client: &str, stream: bool) -> Value {
    let words = json!([{"role": "user", "content": "hi"}]);
    match client {
        "chat" => json!({"model": "chat", "stream": stream, "messages": words}),
        "messages" => {
            json!({"model": "chat", "stream": stream, "max_tokens": 64, "messages": words})
        }
        _ => json!({"model": "chat", "stream": stream, "input": "hi"}),
    }
}

async fn ask(relay: &Relay, client: &str, stream: bool) -> Answer {
    let path = CLIENTS.iter().find(|(name, _)| *name == client).unwrap().1;
    let body = request(client, stream).to_string();
    let headers = [("content-type", "application/json"), ("anthropic-version", "2023-06-01")];
    relay.call("POST", path, &headers, Some(body.as_bytes())).await
}

/// Fails unless the stream has `words` and then its dialect's error event, and nothing that
/// says it is whole.
#[track_caller]
fn assert_broken(client: &str, answer: &Answer, words: &str) {
    let body = answer.body_text();
    assert_eq!(answer.status, 200, "{client}: {body}");
    assert!(body.contains(words), "{client}: {body}");
    let (error, good): (&str, &[&str]) = match client {
        "chat" => ("data: {\"error\":{", &["[DONE]", "\"finish_reason\":\"stop\""]),
        "messages" => ("event: error\n", &["message_stop", "end_turn", "stop_reason\":\"tool"]),
        _ => ("event: error\n", &["response.completed", "response.incomplete"]),
    };
    assert!(body.contains(error), "{client}: {body}");
    for word in good {
        assert!(!body.contains(word), "{client}: '{word}' in {body}");
    }
}

/// Fails unless the stream came to its dialect's proper end.
#[track_caller]
fn assert_whole(client: &str, answer: &Answer, words: &str) {
    let body = answer.body_text();
    let end = match client {
        "chat" => "data: [DONE]\n\n",
        "messages" => "event: message_stop\n",
        _ => "event: response.completed\n",
    };
    assert!(body.contains(words) && body.contains(end), "{client}: {body}");
}

fn named(events: &[Value]) -> String {
    let event = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type"))
    };
    events.iter().map(event).collect()
}

fn message_start(id: &str) -> Value {
    json!({"type": "message_start", "message": {"id": id, "type": "message", "role": "assistant",
        "model": "m", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 5, "output_tokens": 1}}})
}

fn text_block(index: u32, text: &str) -> Vec<Value> {
    vec![
        json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}

fn message_end(reason: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

#[tokio::test]
async fn a1_a_finish_word_that_does_not_say_whole_ends_in_an_error() {
    for word in ["abort", "insufficient_system_resource", "network_error", "never_seen"] {
        let reply = Reply::begins("the part").send(openai::finish(word) + openai::DONE);
        let a = Provider::always(reply).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b])).await;
        for (client, _) in CLIENTS {
            let answer = ask(&relay, client, true).await;
            assert_broken(client, &answer, "the part");
            let kept = answer.body_text().contains(&format!("\"finish_reason\":\"{word}\""));
            assert_eq!(kept, client == "chat", "{client}: the provider's own word");
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(tried(&detail), ["a first stream_error"], "{client} {word}");
            assert_eq!(detail.request.outcome, Some(RequestOutcome::Failed), "{client} {word}");
        }
    }
}

#[tokio::test]
async fn a1_a_whole_answer_of_which_one_rung_was_interrupted_comes_from_the_next() {
    let reply = Reply::begins("the part").send(openai::finish("abort") + openai::DONE);
    let a = Provider::always(reply).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    for (client, _) in CLIENTS {
        let answer = ask(&relay, client, false).await;
        let body = answer.body_text();
        assert!(answer.status == 200 && body.contains("from B"), "{client}: {body}");
        assert!(!body.contains("the part"), "{client}: {body}");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first stream_error", "b failover ok"], "{client}");
    }
}

#[tokio::test]
async fn a1_words_for_length_and_for_filters_are_known() {
    for (word, told, outcome) in [
        ("model_context_window_exceeded", ["max_tokens", "max_output_tokens"], "ok"),
        ("max_tokens", ["max_tokens", "max_output_tokens"], "ok"),
        ("sensitive", ["refusal", "content_filter"], "refused"),
    ] {
        let reply = Reply::begins("the part").send(openai::finish(word) + openai::DONE);
        let a = Provider::always(reply).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        for (client, own) in [("chat", word), ("messages", told[0]), ("responses", told[1])] {
            let answer = ask(&relay, client, true).await;
            let body = answer.body_text();
            assert!(body.contains(&format!("\"{own}\"")), "{client} {word}: {body}");
            assert!(!body.contains("\"error\":{"), "{client} {word}: {body}");
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(tried(&detail), [format!("a first {outcome}")], "{client} {word}");
        }
    }
}

#[tokio::test]
async fn a3_a_second_message_within_the_first_ends_it_with_an_error() {
    let spliced = [
        vec![message_start("msg_1")],
        text_block(0, "the first"),
        vec![message_start("msg_2")],
        text_block(0, "the second"),
        message_end("end_turn"),
    ];
    let a = Provider::always(Reply::sse(named(&spliced.concat()))).await;
    let relay = Relay::start(&Setup::over(&[&a]).dialect("a", "anthropic-messages")).await;
    for (client, _) in CLIENTS {
        let answer = ask(&relay, client, true).await;
        assert_broken(client, &answer, "the first");
        let body = answer.body_text();
        assert!(!body.contains("the second") && !body.contains("msg_2"), "{client}: {body}");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first stream_error"], "{client}");
        let why = detail.attempts[0].detail.as_deref().unwrap_or_default();
        assert!(why.contains("protocol"), "{client}: {why}");
    }
}

#[tokio::test]
async fn a3_the_same_beginning_twice_is_one_and_what_follows_the_end_is_dropped() {
    let doubled = [
        vec![message_start("msg_1"), message_start("msg_1")],
        text_block(0, "the first"),
        message_end("end_turn"),
        vec![message_start("msg_2")],
        text_block(0, "the second"),
    ];
    let a = Provider::always(Reply::sse(named(&doubled.concat()))).await;
    let late = openai::stream("the first") + &openai::text("the second") + openai::DONE;
    let b = Provider::always(Reply::sse(late)).await;
    for (provider, dialect) in [(&a, "anthropic-messages"), (&b, "openai-chat")] {
        let relay = Relay::start(&Setup::over(&[provider]).dialect("a", dialect)).await;
        for (client, _) in CLIENTS {
            let answer = ask(&relay, client, true).await;
            assert_whole(client, &answer, "the first");
            let body = answer.body_text();
            assert!(!body.contains("the second"), "{client}: {body}");
            assert!(body.matches("event: message_start").count() <= 1, "{client}: {body}");
        }
    }
}

#[tokio::test]
async fn a4_text_after_a_stop_on_a_piece_of_reasoning_is_part_of_the_answer() {
    let early = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"reasoning_content": "hm"}, "finish_reason": "stop"}]});
    let reply = Reply::stream()
        .send(openai::role() + &openai::event(&early))
        // Longer than a stream is waited for after its finish reason.
        .pause(ms(2_600))
        .send(openai::text("the answer"))
        .stop();
    let a = Provider::always(reply).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for (client, _) in CLIENTS {
        let answer = ask(&relay, client, true).await;
        assert_whole(client, &answer, "the answer");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first ok"], "{client}");
    }
}

#[tokio::test]
async fn d5_line_ends_of_a_body_in_one_piece_split_no_event() {
    let message = "{\r\n\"type\":\"message\",\r\n\"id\":\"msg_1\",\"role\":\"assistant\",\"model\":\"m\",\r\n\
         \"content\":[{\r\n\"type\":\"text\",\r\"text\":\"the answer\"}],\r\n\
         \"stop_reason\":\"end_turn\",\"stop_sequence\":null,\r\n\
         \"usage\":{\"input_tokens\":3,\r\n\"output_tokens\":2}}\r\n";
    let response = "{\r\n\"object\":\"response\",\"id\":\"r\",\"model\":\"m\",\"status\":\"completed\",\r\n\
         \"output\":[{\r\n\"type\":\"message\",\"id\":\"i\",\"role\":\"assistant\",\"status\":\"completed\",\
         \"content\":[{\r\n\"type\":\"output_text\",\r\n\"text\":\"the answer\",\"annotations\":[]}]}],\r\n\
         \"usage\":{\"input_tokens\":3,\r\n\"output_tokens\":2}}\r\n";
    for (client, dialect, body) in
        [("messages", "anthropic-messages", message), ("responses", "openai-responses", response)]
    {
        let a = Provider::always(Reply::body(200, "application/json", body)).await;
        let relay = Relay::start(&Setup::over(&[&a]).dialect("a", dialect)).await;
        let answer = ask(&relay, client, true).await;
        assert_whole(client, &answer, "the answer");
        // Read strictly: one line of data each, and nothing outside of events.
        for event in answer.events() {
            let data = event.data.unwrap_or_else(|| "null".to_owned());
            assert!(serde_json::from_str::<Value>(&data).is_ok(), "{client}: {data}");
        }
    }
}

/// A request in chat's dialect with tools, and the usage chunk asked for.
fn with_tools(stream: bool) -> Value {
    let tool = json!({"type": "function", "function": {"name": "edit_existing_file",
        "parameters": {"type": "object", "properties": {}}}});
    openai::with(request("chat", stream), &json!({"tools": [tool]}))
}

fn call_delta(entries: &Value) -> String {
    openai::chunk(&json!({"tool_calls": entries}), None)
}

/// Tool calls as OpenAI's SDKs put them together: by index, strings joined, the first `type`.
fn as_an_sdk_reads(answer: &Answer) -> Vec<[String; 3]> {
    let mut calls: Vec<(u64, [String; 3])> = Vec::new();
    for chunk in answer.chunks() {
        let entries = chunk["choices"][0]["delta"]["tool_calls"].as_array().cloned();
        for entry in entries.unwrap_or_default() {
            let index = entry["index"].as_u64().expect("an index in every entry of a stream");
            let at = calls.iter().position(|(known, _)| *known == index).unwrap_or_else(|| {
                calls.push((index, Default::default()));
                calls.len() - 1
            });
            let function = &entry["function"];
            let pieces = [&entry["id"], &function["name"], &function["arguments"]];
            for (text, piece) in calls[at].1.iter_mut().zip(pieces) {
                assert!(piece.is_null() || piece.is_string(), "{entry}");
                text.push_str(piece.as_str().unwrap_or_default());
            }
        }
    }
    calls.into_iter().map(|(_, call)| call).collect()
}

#[tokio::test]
async fn a2_done_without_a_finish_reason_is_a_cut_once_the_rung_is_known_to_send_them() {
    let part = Reply::begins("the part").send(openai::DONE);
    let a = Provider::always(part.clone()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    // It may be one of those that never send any.
    for (client, _) in CLIENTS {
        let answer = ask(&relay, client, true).await;
        assert_whole(client, &answer, "the part");
        let detail = relay.journaled(&answer.id()).await;
        let note = detail.attempts[0].detail.as_deref().unwrap_or_default();
        assert!(note.contains("without a finish reason"), "{client}: {note}");
    }
    a.now_answers(Reply::text("the whole"));
    assert_whole("chat", &ask(&relay, "chat", true).await, "the whole");
    a.now_answers(part);
    for (client, _) in CLIENTS {
        let answer = ask(&relay, client, true).await;
        assert_broken(client, &answer, "the part");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first disconnect"], "{client}");
    }
    // Of a whole answer nothing has gone out: the next rung gives it.
    let answer = ask(&relay, "chat", false).await;
    assert!(answer.body_text().contains("from B"), "{}", answer.body_text());
}

#[tokio::test]
async fn a2_an_end_of_any_dialect_without_its_reason_is_a_cut_of_a_rung_that_sends_them() {
    let chat = |reason: &str| {
        let body = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "the words"}}]});
        body.to_string().replace("}]}", &format!("{reason}}}]}}"))
    };
    let message = |reason: &[Value]| {
        named(&[&[message_start("msg_1")], &text_block(0, "the words")[..], reason].concat())
    };
    let stop = json!({"type": "message_stop"});
    let one_piece = |body: String| Reply::body(200, "application/json", &body);
    for (dialect, without, with) in [
        ("openai-chat", one_piece(chat("")), one_piece(chat(",\"finish_reason\":\"stop\""))),
        (
            "anthropic-messages",
            Reply::sse(message(&[stop])),
            Reply::sse(message(&message_end("end_turn"))),
        ),
    ] {
        let a = Provider::always(without.clone()).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b]).dialect("a", dialect)).await;
        // It may be one of those that never send any: that is noted.
        let answer = ask(&relay, "chat", false).await;
        assert!(answer.body_text().contains("the words"), "{dialect}: {}", answer.body_text());
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first ok"], "{dialect}");
        let note = detail.attempts[0].detail.as_deref().unwrap_or_default();
        assert!(note.contains("without a finish reason"), "{dialect}: {note}");
        a.now_answers(with);
        assert!(ask(&relay, "chat", false).await.body_text().contains("the words"));
        a.now_answers(without);
        for (client, _) in CLIENTS {
            let answer = ask(&relay, client, false).await;
            assert!(answer.body_text().contains("from B"), "{dialect}: {}", answer.body_text());
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(tried(&detail), ["a first disconnect", "b failover ok"], "{dialect}");
        }
    }
}

#[tokio::test]
async fn a2_what_a_rung_is_known_to_send_outlives_the_relay() {
    let a = Provider::always(Reply::text("the whole")).await;
    let mut relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask().await.assert_good("the whole");
    tests::clock::eventually("the rung's row", async || {
        let known = "SELECT finishes FROM health WHERE rung = 'a'";
        let row = relay.open_journal().query_row(known, [], |row| row.get::<_, bool>(0));
        row.ok().filter(|known| *known)
    })
    .await;
    relay.kill().await;
    let relay = relay.restart().await;
    a.now_answers(Reply::begins("the part").send(openai::DONE));
    assert_broken("chat", &ask(&relay, "chat", true).await, "the part");
}

#[tokio::test]
async fn a2_a_call_whose_arguments_are_not_whole_is_always_a_cut() {
    for arguments in ["", "{\"path\": \"/et"] {
        let reply = Reply::sse(
            openai::role() + &openai::tool_call(0, "call_1", "f", arguments) + openai::DONE,
        );
        let a = Provider::always(reply).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        for (client, _) in CLIENTS {
            let answer = ask(&relay, client, true).await;
            let body = answer.body_text();
            for word in ["[DONE]", "message_stop", "tool_use\",\"stop_seq", "response.completed"] {
                assert!(!body.contains(word), "{client} '{arguments}': {body}");
            }
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(tried(&detail), ["a first disconnect"], "{client} '{arguments}'");
        }
    }
}

#[tokio::test]
async fn a5_counts_of_zero_beside_words_are_estimated_and_marked() {
    for (input, output) in [(0, 0), (0, 7), (9, 0)] {
        let body = openai::role()
            + &openai::text("forty words or so, and more of them than none")
            + &openai::finish("stop")
            + &openai::usage(input, output)
            + openai::DONE;
        let a = Provider::always(Reply::sse(body)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.ask().await;
        let detail = relay.journaled(&answer.id()).await;
        let attempt = &detail.attempts[0];
        assert!(attempt.estimated, "{input}/{output}: {attempt:?}");
        let told = [attempt.input_tokens, attempt.output_tokens];
        assert!(told.iter().all(|count| count.is_some_and(|count| count > 0)), "{told:?}");
        assert_eq!(answer.stamp().expect("a stamp")["estimated"], true);
    }
}

#[tokio::test]
async fn a5_the_usage_that_a_client_gets_last_is_the_newest() {
    let counted = |finish: Option<&str>, output: u64| {
        let usage = json!({"prompt_tokens": 10, "completion_tokens": output,
            "total_tokens": 10 + output});
        openai::event(&json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m-1", "usage": usage,
            "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    };
    let early =
        openai::role() + &openai::text("one") + &openai::usage(10, 1) + &openai::text(" two");
    let stale_last = openai::usage(10, 3) + &openai::usage(10, 1);
    let request =
        openai::with(request("chat", true), &json!({"stream_options": {"include_usage": true}}));
    for end in [counted(Some("stop"), 3), openai::finish("stop") + &stale_last] {
        let a = Provider::always(Reply::sse(early.clone() + &end + openai::DONE)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.send(&request).await;
        let chunks = answer.chunks();
        let bare: Vec<&Value> = chunks
            .iter()
            .filter(|chunk| chunk["choices"].as_array().is_some_and(Vec::is_empty))
            .collect();
        assert_eq!(bare.len(), 1, "{}", answer.body_text());
        assert_eq!(chunks.last(), Some(bare[0]), "it comes last");
        assert_eq!(bare[0]["usage"]["completion_tokens"], 3, "{}", answer.body_text());
        let whole = ask(&relay, "chat", false).await.json();
        assert_eq!(whole["usage"]["completion_tokens"], 3, "{whole}");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(detail.attempts[0].output_tokens, Some(3));
    }
}

#[tokio::test]
async fn e1_a_call_has_its_whole_name_whenever_that_comes() {
    let piece = |name: &str, arguments: &str| {
        call_delta(&json!([{"index": 0, "function": {"name": name, "arguments": arguments}}]))
    };
    let first = |name: &str| {
        call_delta(&json!([{"index": 0, "id": "call_1", "type": "function",
            "function": {"name": name, "arguments": ""}}]))
    };
    let arguments = piece("", "{\"a\":") + &piece("", "1}");
    for (what, deltas) in [
        ("late", first("") + &piece("edit_existing_file", "") + &arguments),
        ("late, after its arguments", first("") + &arguments + &piece("edit_existing_file", "")),
        ("in pieces", first("edit_ex") + &piece("isting_file", "") + &arguments),
        ("repeated", first("edit_existing_file") + &piece("edit_existing_file", "") + &arguments),
    ] {
        let stream = openai::role() + &deltas + &openai::finish("tool_calls") + openai::DONE;
        let a = Provider::always(Reply::sse(stream)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        for stream in [true, false] {
            for (client, _) in CLIENTS {
                let answer = ask(&relay, client, stream).await;
                let body = answer.body_text();
                // The chat client of a chat provider puts the pieces together itself.
                if client == "chat" && stream {
                    let calls = as_an_sdk_reads(&answer);
                    let [id, name, arguments] = &calls[0];
                    let told = [id.as_str(), name.as_str(), arguments.as_str()];
                    assert_eq!(told, ["call_1", "edit_existing_file", "{\"a\":1}"], "{what}");
                    assert_eq!(calls.len(), 1, "{what}: {body}");
                    continue;
                }
                let name = "\"name\":\"edit_existing_file\"";
                let others = ["\"name\":\"\"", "\"name\":\"edit_ex\"", "\"name\":\"isting_file\""];
                assert!(body.contains(name), "{what} to {client}: {body}");
                for other in others {
                    assert!(!body.contains(other), "{what} to {client}: {body}");
                }
            }
        }
    }
}

/// Names of tool calls as OpenAI's SDK for JavaScript has them: the last piece counts.
fn as_the_js_sdk_names(answer: &Answer) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for chunk in answer.chunks() {
        let entries = chunk["choices"][0]["delta"]["tool_calls"].as_array().cloned();
        for entry in entries.unwrap_or_default() {
            let index = usize::try_from(entry["index"].as_u64().unwrap()).unwrap();
            names.resize(names.len().max(index + 1), String::new());
            match entry["function"]["name"].as_str() {
                Some(name) if !name.is_empty() => name.clone_into(&mut names[index]),
                _ => {}
            }
        }
    }
    names
}

#[tokio::test]
async fn e1_every_sdk_has_the_whole_name_once_whatever_the_pieces() {
    const NAME: &str = "edit_existing_file";
    let entry = |id: Value, name: Value, arguments: &str| {
        call_delta(&json!([{"index": 0, "id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}]))
    };
    let first = |name: &str| entry(json!("call_1"), json!(name), "");
    let piece = |name: &str, arguments: &str| entry(Value::Null, json!(name), arguments);
    for (what, deltas, is_repaired) in [
        ("once", first(NAME) + &piece("", "{\"a\":") + &piece("", "1}"), false),
        ("in pieces", first("edit_ex") + &piece("isting_file", "") + &piece("", "{\"a\":1}"), true),
        ("empty first", first("") + &piece(NAME, "") + &piece("", "{\"a\":1}"), true),
        ("empty, with its arguments", first("") + &piece(NAME, "{\"a\":1}"), true),
        ("after them", first("") + &piece("", "{\"a\":1}") + &piece(NAME, ""), true),
        ("in each delta", first(NAME) + &piece(NAME, "{\"a\":") + &piece(NAME, "1}"), true),
        (
            "in pieces, then in each delta",
            first("edit_ex") + &piece("isting_file", "{\"a\":") + &piece(NAME, "1}"),
            true,
        ),
    ] {
        let stream = openai::role() + &deltas + &openai::finish("tool_calls");
        let a = Provider::always(Reply::sse(stream.clone() + openai::DONE)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.send(&with_tools(true)).await;
        let wanted = ["call_1", NAME, "{\"a\":1}"].map(str::to_owned);
        assert_eq!(as_an_sdk_reads(&answer), [wanted], "{what}: {}", answer.body_text());
        assert_eq!(as_the_js_sdk_names(&answer), [NAME], "{what}: {}", answer.body_text());
        let detail = relay.journaled(&answer.id()).await;
        let note = detail.attempts[0].detail.as_deref().unwrap_or_default();
        assert_eq!(note.contains("put right"), is_repaired, "{what}: {note}");
        if !is_repaired {
            assert!(answer.body_text().starts_with(&stream), "{what}: {}", answer.body_text());
        }
    }
    // Of the old way there is one call.
    let old = |members: &Value| openai::chunk(&json!({"function_call": members}), None);
    let stream = old(&json!({"name": NAME, "arguments": ""}))
        + &old(&json!({"name": NAME, "arguments": "{}"}))
        + &openai::finish("function_call")
        + openai::DONE;
    let a = Provider::always(Reply::sse(stream)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.send(&with_tools(true)).await;
    assert_eq!(answer.body_text().matches(NAME).count(), 1, "{}", answer.body_text());
}

#[tokio::test]
async fn e2_tool_calls_that_an_sdk_cannot_read_are_put_right_and_noted() {
    let whole = |entry: &Value| call_delta(&json!([entry]));
    let f = |arguments: Value| json!({"name": "f", "arguments": arguments});
    for (what, deltas, expected) in [
        (
            "no index",
            whole(&json!({"id": "c", "type": "function", "function": f(json!("{\"a\":"))}))
                + &whole(&json!({"function": {"arguments": "1}"}})),
            vec![["c", "f", "{\"a\":1}"]],
        ),
        (
            "arguments as the object",
            whole(
                &json!({"index": 0, "id": "c", "type": "function", "function": f(json!({"a": 1}))}),
            ),
            vec![["c", "f", "{\"a\":1}"]],
        ),
        (
            "no id",
            whole(&json!({"index": 0, "type": "function", "function": f(json!("{}"))})),
            vec![["*", "f", "{}"]],
        ),
        (
            "one index for all",
            whole(&json!({"index": 0, "id": "c", "function": f(json!("{}"))}))
                + &whole(&json!({"index": 0, "id": "d", "function": f(json!("{}"))})),
            vec![["c", "f", "{}"], ["d", "f", "{}"]],
        ),
        (
            "id and name in each piece",
            whole(&json!({"index": 0, "id": "c", "function": f(json!("{\"a\":"))}))
                + &whole(&json!({"index": 0, "id": "c", "function": f(json!("1}"))})),
            vec![["c", "f", "{\"a\":1}"]],
        ),
    ] {
        let stream = openai::role() + &deltas + &openai::finish("tool_calls") + openai::DONE;
        let a = Provider::always(Reply::sse(stream)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.send(&with_tools(true)).await;
        let check = |calls: Vec<[String; 3]>| {
            assert_eq!(calls.len(), expected.len(), "{what}: {calls:?}");
            for (call, expected) in calls.iter().zip(&expected) {
                let id_is_right =
                    if expected[0] == "*" { !call[0].is_empty() } else { call[0] == expected[0] };
                assert!(id_is_right && call[1..] == expected[1..], "{what}: {calls:?}");
            }
        };
        check(as_an_sdk_reads(&answer));
        let detail = relay.journaled(&answer.id()).await;
        let note = detail.attempts[0].detail.as_deref().unwrap_or_default();
        assert!(note.contains("put right"), "{what}: {note}");
        let body = relay.send(&with_tools(false)).await.json();
        let calls = body["choices"][0]["message"]["tool_calls"].as_array().cloned();
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        check(
            calls
                .unwrap_or_default()
                .iter()
                .map(|call| {
                    let function = &call["function"];
                    [text(&call["id"]), text(&function["name"]), text(&function["arguments"])]
                })
                .collect(),
        );
    }
}

#[tokio::test]
async fn e2_what_an_sdk_can_read_passes_untouched() {
    let deltas =
        openai::tool_call(0, "call_1", "edit_existing_file", "") + &openai::tool_arguments(0, "{}");
    let stream = openai::role() + &deltas + &openai::finish("tool_calls");
    let a = Provider::always(Reply::sse(stream.clone() + openai::DONE)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.send(&with_tools(true)).await;
    assert!(answer.body_text().starts_with(&stream), "{}", answer.body_text());
}

#[tokio::test]
async fn e7_a_responses_client_hears_of_a_failure_in_both_of_openais_words() {
    let a = Provider::always(Reply::begins("the part").reset()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = ask(&relay, "responses", true).await;
    assert_broken("responses", &answer, "the part");
    let told: Vec<Value> = answer
        .events()
        .iter()
        .filter_map(|event| serde_json::from_str(event.data.as_deref()?).ok())
        .collect();
    let [.., error, failed] = told.as_slice() else { panic!("{told:?}") };
    // The SDKs raise on the one, Codex reads the other.
    assert_eq!((&error["type"], &failed["type"]), (&json!("error"), &json!("response.failed")));
    assert_eq!(failed["response"]["status"], "failed");
    assert_eq!(failed["response"]["error"]["message"], error["error"]["message"]);
    assert_eq!(failed["response"]["error"]["code"], error["code"]);
    let numbers = [error, failed].map(|event| event["sequence_number"].as_u64());
    assert_eq!(numbers[1], numbers[0].map(|number| number + 1));
}
