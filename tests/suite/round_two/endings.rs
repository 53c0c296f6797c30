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
        assert_eq!(tried(&detail), ["a first stream_error", "b fallback ok"], "{client}");
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
