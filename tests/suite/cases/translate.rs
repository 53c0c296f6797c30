//! Answers in one dialect for clients of another: tool calls, endings, refusals.

use super::client::{CLIENTS, Call, Client, Said};
use super::pair::{b_answers, only_row, over, two};
use super::speech::Speech;
use serde_json::{Value, json};
use shared::admin::AttemptRow;
use shared::{RequestOutcome, StreamVerdict, TokenVerdict};
use tests::{Relay, Reply, fixture, openai};

const OSLO: (&str, &str) = ("get_weather", r#"{"city":"Oslo"}"#);
const ROME: (&str, &str) = ("get_time", r#"{"city":"Rome"}"#);

/// What a client is told of a provider's fixture, as a stream, as the same byte by byte,
/// and as one JSON body.
async fn told(client: Client, speech: Speech, name: &str) -> Vec<(Said, AttemptRow)> {
    let mut all = Vec::new();
    let (relay, a) = over(speech, fixture::reply(name)).await;
    for (reply, is_stream) in [
        (fixture::reply(name), true),
        (fixture::reply_bytewise(name), true),
        (fixture::reply(name), false),
    ] {
        a.now_answers(reply);
        let asked =
            if is_stream { client.ask(&relay).await } else { client.ask_whole(&relay).await };
        let row = only_row(&relay, &asked, "ok").await;
        assert_eq!(row.verdict, Some(TokenVerdict::Good), "{client:?} {name}");
        assert_eq!(row.stream_verdict, Some(StreamVerdict::Good), "{client:?} {name}");
        all.push((client.read_whole(&asked), row));
    }
    all
}

fn tokens(row: &AttemptRow) -> (Option<u64>, Option<u64>) {
    (row.input_tokens, row.output_tokens)
}

#[tokio::test]
async fn b15_a_blocks_index_is_not_the_tools_index() {
    for client in CLIENTS {
        // The client's reader insists on calls that count from 0 and name themselves once.
        for (said, row) in told(client, Speech::Messages, "B15-anthropic-two-tools.sse").await {
            assert_eq!(said.text, "Checking both.", "{client:?}");
            assert_eq!(said.called(), [OSLO, ROME], "{client:?}");
            let ids: Vec<&str> = said.calls.iter().map(|call| call.id.as_str()).collect();
            assert_eq!(ids, ["tu_a", "tu_b"], "{client:?}");
            assert_eq!(said.finish.as_deref(), Some(client.tools()));
            assert_eq!(said.usage, Some((390, 61)), "{client:?}");
            assert_eq!(tokens(&row), (Some(390), Some(61)));
        }
    }
}

#[tokio::test]
async fn b16_calls_that_share_or_lack_an_index_stay_apart() {
    for client in [Client::Messages, Client::Responses] {
        for name in ["B16-all-index-zero.sse", "B16-no-index.sse"] {
            for (said, _) in told(client, Speech::Chat, name).await {
                assert_eq!(said.called(), [OSLO, ROME], "{client:?} {name}");
                assert_eq!(said.finish.as_deref(), Some(client.tools()));
            }
        }
    }
}

#[tokio::test]
async fn b16_a_chat_client_of_a_chat_provider_can_tell_such_calls_apart() {
    for name in ["B16-all-index-zero.sse", "B16-no-index.sse"] {
        let (relay, _a) = over(Speech::Chat, fixture::reply(name)).await;
        let answer = Client::Chat.ask_whole(&relay).await;
        assert_eq!(Client::Chat.read_whole(&answer).called(), [OSLO, ROME], "{name}");
        // A stream of the client's own dialect passes as it is: ids tell the calls apart.
        let answer = Client::Chat.ask(&relay).await;
        only_row(&relay, &answer, "ok").await;
        let calls: Vec<Value> = answer
            .chunks()
            .iter()
            .flat_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].as_array().cloned())
            .flatten()
            .collect();
        let ids: Vec<&Value> = calls.iter().map(|call| &call["id"]).collect();
        assert_eq!(ids, ["call_a", "call_b"], "{name}");
        assert_eq!(answer.finish_reasons(), ["tool_calls"]);
        assert!(answer.saw_done());
    }
}

#[tokio::test]
async fn b17_a_call_then_a_stop_of_gemini_is_a_call() {
    for client in CLIENTS {
        for (said, row) in told(client, Speech::Gemini, "B17-gemini-tool-then-stop.sse").await {
            let [Call { id, name, arguments }] = &said.calls[..] else { panic!("{said:?}") };
            assert!(!id.is_empty(), "{client:?}");
            assert_eq!(name, "get_weather");
            let arguments: Value = serde_json::from_str(arguments).expect("arguments are JSON");
            assert_eq!(arguments, json!({"city": "Oslo", "days": 2}), "{client:?}");
            assert_eq!((said.text.as_str(), said.finish.as_deref()), ("", Some(client.tools())));
            assert_eq!(said.usage, Some((107, 179)), "{client:?}");
            assert_eq!(tokens(&row), (Some(107), Some(179)));
            assert_eq!(row.reasoning_tokens, Some(148));
        }
    }
}

#[tokio::test]
async fn b17_two_calls_of_one_name_have_ids_of_their_own() {
    let part = json!({"functionCall": {"name": "get_weather", "args": {}}});
    let chunk = openai::event(&json!({
        "candidates": [{"content": {"role": "model", "parts": [part, part]},
            "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1},
    }));
    let (relay, _a) = over(Speech::Gemini, Reply::sse(chunk)).await;
    for client in CLIENTS {
        let said = client.read_whole(&client.ask(&relay).await);
        assert_eq!(said.called(), [("get_weather", "{}"); 2], "{client:?}");
        assert_ne!(said.calls[0].id, said.calls[1].id, "{client:?}");
    }
}

#[tokio::test]
async fn b19_an_explicit_null_is_no_finish() {
    for client in CLIENTS {
        for (said, _) in told(client, Speech::Chat, "B19-null-finish.sse").await {
            assert_eq!(
                (said.text.as_str(), said.reasoning.as_str()),
                ("hello", "hm"),
                "{client:?}"
            );
            assert_eq!(said.finish.as_deref(), Some(client.stop()));
        }
    }
}

#[tokio::test]
async fn b20_a_finish_and_a_terminator_that_come_apart_are_one_end() {
    for client in CLIENTS {
        for (said, _) in told(client, Speech::Chat, "B20-finish-and-done-apart.sse").await {
            assert_eq!((said.text.as_str(), said.finish.as_deref()), ("hi", Some(client.stop())));
        }
        let (relay, _a) = over(Speech::Chat, Reply::fixture("B20-finish-and-done-apart.sse")).await;
        let answer = client.ask(&relay).await;
        let is_done = answer.body_text().contains("[DONE]");
        assert_eq!(is_done, client == Client::Chat, "{}", answer.body_text());
    }
}

#[tokio::test]
async fn b20_a_filtered_answer_without_content_is_an_answer() {
    for client in CLIENTS {
        let reply = Reply::fixture("B20-finish-only.sse");
        let (setup, _a, b) = two((Speech::Chat, reply), Speech::Chat).await;
        let relay = Relay::start(&setup).await;
        for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
            let said = client.read_whole(&answer);
            assert_eq!((said.text.as_str(), said.finish.as_deref()), ("", Some(client.filtered())));
            // A refusal by the outcome table: no verdict without a token, no next rung.
            let row = only_row(&relay, &answer, "refused").await;
            assert_eq!(row.verdict, None);
        }
        assert_eq!(b.count(), 0, "nobody else is asked");
    }
}

#[tokio::test]
async fn b20_a_terminator_alone_is_no_answer() {
    for client in CLIENTS {
        let reply = Reply::fixture("B20-done-only.sse");
        let row = b_answers(client, (Speech::Chat, reply), Speech::Chat, "junk").await;
        assert_eq!(row.verdict, Some(TokenVerdict::Bad));
    }
}

#[tokio::test]
async fn b23_a_blocked_prompt_is_a_refusal_and_nobody_else_is_asked() {
    for client in CLIENTS {
        let reply = Reply::fixture("B23-gemini-prompt-blocked.sse");
        let (setup, _a, b) = two((Speech::Gemini, reply), Speech::Chat).await;
        let relay = Relay::start(&setup).await;
        for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
            let said = client.read_whole(&answer);
            assert_eq!((said.text.as_str(), said.finish.as_deref()), ("", Some(client.filtered())));
            let row = only_row(&relay, &answer, "refused").await;
            assert_eq!((row.verdict, row.input_tokens), (None, Some(12)), "{client:?}");
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(detail.request.outcome, Some(RequestOutcome::Refused));
        }
        assert_eq!(b.count(), 0, "nobody else is asked");
    }
}

#[tokio::test]
async fn b23_a_blocked_prompt_goes_on_where_the_config_says_so() {
    let reply = Reply::fixture("B23-gemini-prompt-blocked.sse");
    let (setup, _a, b) = two((Speech::Gemini, reply), Speech::Messages).await;
    let relay = Relay::start(&setup.rung("a", "on_refusal = \"next\"")).await;
    for client in CLIENTS {
        client.assert_good(&client.ask(&relay).await, "from B");
    }
    assert_eq!(b.count(), 3);
}

#[tokio::test]
async fn b23_an_answer_blocked_in_the_middle_keeps_what_it_said() {
    for client in CLIENTS {
        let reply = Reply::fixture("B23-gemini-safety-midstream.sse");
        let (setup, _a, b) = two((Speech::Gemini, reply), Speech::Chat).await;
        let relay = Relay::start(&setup).await;
        for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
            let said = client.read_whole(&answer);
            assert_eq!(said.text, "Partial ", "{client:?}");
            assert_eq!(said.finish.as_deref(), Some(client.filtered()), "{client:?}");
            let row = only_row(&relay, &answer, "refused").await;
            assert_eq!(row.verdict, Some(TokenVerdict::Good));
            assert_eq!(tokens(&row), (Some(12), Some(2)));
        }
        assert_eq!(b.count(), 0);
    }
}
