//! B55: usage is asked for on behalf of clients that did not, and taken out again.

use super::client::{CLIENTS, Client};
use super::pair::{only_row, over};
use super::speech::Speech;
use serde_json::{Value, json};
use tests::{Provider, Relay, Reply, Setup, openai};

const UPSTREAMS: [&str; 3] =
    ["B55-usage-empty-choices.sse", "B55-usage-no-choices-key.sse", "B55-empty-choices-first.sse"];

#[tokio::test]
async fn b55_usage_is_recorded_and_shown_only_to_those_who_asked() {
    for upstream in UPSTREAMS {
        let a = Provider::always(Reply::fixture(upstream)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        for (asked, fields) in [
            (false, json!({})),
            (false, json!({"stream_options": null})),
            (false, json!({"stream_options": {"include_usage": false}})),
            (true, json!({"stream_options": {"include_usage": true}})),
        ] {
            let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
            answer.assert_good("counted");
            let chunks = answer.chunks();
            let is_bare = |chunk: &&Value| {
                chunk["choices"].as_array().is_none_or(Vec::is_empty)
                    && chunk.get("usage").is_some()
            };
            let bare: Vec<&Value> = chunks.iter().filter(is_bare).collect();
            if asked {
                assert_eq!(bare.len(), 1, "{upstream} {fields}");
                assert_eq!(bare[0]["choices"], json!([]), "{upstream} {fields}");
                assert_eq!(bare[0]["usage"]["total_tokens"], 26);
                assert_eq!(chunks.last(), Some(bare[0]), "just before the terminator");
            } else {
                assert!(bare.is_empty(), "{upstream} {fields}: {}", answer.body_text());
            }
            let attempt = &relay.journaled(&answer.id()).await.attempts[0];
            let tokens = (attempt.input_tokens, attempt.output_tokens);
            assert_eq!(tokens, (Some(20), Some(6)), "{upstream} {fields}");
            let stamp = answer.stamp().unwrap();
            assert_eq!((&stamp["input_tokens"], &stamp["output_tokens"]), (&json!(20), &json!(6)));
        }
        for call in a.calls() {
            assert_eq!(call.json()["stream_options"]["include_usage"], true, "always asked for");
        }
    }
}

#[tokio::test]
async fn b55_usage_is_recorded_for_clients_of_other_dialects_too() {
    for upstream in UPSTREAMS {
        let (relay, a) = over(Speech::Chat, Reply::fixture(upstream)).await;
        for client in CLIENTS {
            for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
                let said = client.assert_good(&answer, "counted");
                assert_eq!(said.usage, Some((20, 6)), "{client:?} {upstream}");
                let row = only_row(&relay, &answer, "ok").await;
                assert_eq!((row.input_tokens, row.output_tokens), (Some(20), Some(6)));
                assert!(!row.estimated);
            }
        }
        for call in a.calls() {
            assert_eq!(call.json()["stream_options"]["include_usage"], true, "always asked for");
        }
    }
}

/// An upstream that refuses a request with the field by name.
async fn refusing() -> Provider {
    Provider::scripted(|call| {
        if call.json().get("stream_options").is_some() {
            let message = "Unknown parameter: 'stream_options'.";
            Reply::error(400, message, "invalid_request_error", &json!("unknown_parameter"))
        } else {
            Reply::text("counted")
        }
    })
    .await
}

#[tokio::test]
async fn b55_a_provider_that_refuses_the_field_is_asked_again_without_it() {
    for client in [Client::Messages, Client::Responses] {
        let a = refusing().await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "counted");
        assert_eq!(a.count(), 2, "{client:?}");
        assert_eq!(a.call(1).await.json().get("stream_options"), None);
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tests::relay::tried(&detail), ["a first bad_request", "a retry ok"]);
        assert_eq!(detail.attempts[0].verdict, None);
    }
}

#[tokio::test]
async fn b55_a_rung_may_be_asked_without_the_field() {
    let a = refusing().await;
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", "stream_options = false")).await;
    for (n, client) in CLIENTS.into_iter().enumerate() {
        let request = openai::with(client.whole_request(), &json!({"stream": true}));
        let answer = client.open_with(&relay, &[], &request).await.finish().await;
        client.assert_good(&answer, "counted");
        assert_eq!(a.count(), n + 1, "{client:?}");
    }
}
