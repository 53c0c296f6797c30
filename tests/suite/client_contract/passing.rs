//! Same dialect on both sides: what passes is not touched.

use serde_json::{Value, json};
use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn payloads_pass_through_untouched() {
    let odd = r#"{"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"m-2026","x":{"deep":[1.50,null,"\u00fc"]},"choices":[{"index":0,"delta":{"content":"hi","reasoning_details":[{"k":1}]},"logprobs":null,"finish_reason":null}],"service_tier":"default"}"#;
    let body = format!(
        "{}id: 7\nretry: 10\ndata: {odd}\n\n{}{}",
        openai::role(),
        openai::finish("stop"),
        openai::DONE
    );
    let a = Provider::always(Reply::sse(body)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_good("hi");
    assert!(answer.body_text().contains(&format!("data: {odd}\n\n")), "{}", answer.body_text());
}

#[tokio::test]
async fn a_request_passes_but_for_model_and_stream_options() {
    let a = Provider::always(Reply::text("hi")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let body = r#"{"model": "chat", "stream": true, "temperature": 0.70, "big": 12345678901234567890, "messages": [{"role": "user", "content": "\ud83c\udf0d é\u0000"}], "metadata": {"b": 1, "a": 2}}"#;
    let answer = relay.call("POST", "/v1/chat/completions", &[], Some(body.as_bytes())).await;
    answer.assert_good("hi");
    let sent = String::from_utf8(a.call(0).await.body.clone()).unwrap();
    let mut sent_json: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(sent_json["model"], "model-a");
    assert_eq!(sent_json["stream_options"], json!({"include_usage": true}));
    sent_json["model"] = json!("chat");
    sent_json.as_object_mut().unwrap().remove("stream_options");
    assert_eq!(sent_json, serde_json::from_str::<Value>(body).unwrap());
    assert!(sent.contains("12345678901234567890"), "numbers keep their digits: {sent}");
}

#[tokio::test]
async fn other_stream_options_of_the_clients_are_kept() {
    let a = Provider::always(Reply::text("hi")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let fields = json!({"stream_options": {"include_obfuscation": false}});
    relay.send(&openai::with(openai::ask("chat"), &fields)).await.assert_good("hi");
    let expected = json!({"include_obfuscation": false, "include_usage": true});
    assert_eq!(a.call(0).await.json()["stream_options"], expected);
}

#[tokio::test]
async fn a_chunk_with_content_and_finish_is_passed_at_once() {
    let last = openai::chunk(&json!({"content": " end"}), Some("stop"));
    let a = Provider::always(Reply::begins("the").send(last).send(openai::DONE)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask().await.assert_good("the end");
}
