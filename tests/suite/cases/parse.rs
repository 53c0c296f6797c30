//! Reading what providers really send: odd splits, line ends, marks, sizes.

use super::client::{CLIENTS, Client};
use super::pair::{b_answers, only_row, over, two};
use super::speech::{SPEECHES, Speech};
use serde_json::Value;
use tests::clock::{assert_within, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, fixture, openai};

/// A reply from rung A, which must be a good answer with this text to every client.
/// Gives the tokens that its last row has.
async fn good(speech: Speech, reply: Reply, words: &str) -> (Option<u64>, Option<u64>) {
    let (setup, _a, b) = two((speech, reply), Speech::Chat).await;
    let relay = Relay::start(&setup).await;
    let mut tokens = (None, None);
    for client in CLIENTS {
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, words);
        let row = only_row(&relay, &answer, "ok").await;
        tokens = (row.input_tokens, row.output_tokens);
    }
    assert_eq!(b.count(), 0);
    tokens
}

/// A fixture as its manifest says, and again byte by byte.
async fn good_both_ways(speech: Speech, name: &str, words: &str) -> (Option<u64>, Option<u64>) {
    let tokens = good(speech, fixture::reply(name), words).await;
    assert_eq!(good(speech, fixture::reply_bytewise(name), words).await, tokens);
    tokens
}

#[tokio::test]
async fn b01_a_character_cut_by_a_write_boundary_is_whole_again() {
    good_both_ways(Speech::Chat, "B01-split-utf8.sse", "Grüße, 你好 🌍 fin").await;
}

/// Every byte in a write of its own.
fn bytewise(body: &str) -> Reply {
    body.as_bytes().iter().fold(Reply::stream(), |reply, byte| reply.send([*byte]))
}

#[tokio::test]
async fn b01_a_character_cut_anywhere_is_whole_again_in_every_dialect() {
    let words = "Grüße, 你好 🌍 fin";
    for speech in SPEECHES {
        let body = [speech.preamble(), speech.text(words), speech.stop()].concat();
        assert_eq!(good(speech, bytewise(&body), words).await, (Some(11), Some(3)), "{speech:?}");
    }
}

#[tokio::test]
async fn b01_a_character_cut_inside_tool_arguments_is_whole_again() {
    let arguments = "{\"t\":\"Grüße, 你好 🌍 fin\"}";
    let body = [
        openai::role(),
        openai::tool_call(0, "call_1", "note", arguments),
        openai::finish("tool_calls"),
        openai::DONE.to_owned(),
    ]
    .concat();
    let (relay, _a) = over(Speech::Chat, bytewise(&body)).await;
    for client in CLIENTS {
        let said = client.read_whole(&client.ask(&relay).await);
        assert_eq!(said.called(), [("note", arguments)], "{client:?}");
    }
}

#[tokio::test]
async fn b01_an_invalid_byte_does_not_eat_the_next_event() {
    let mut bad = openai::text("bad X end").into_bytes();
    let at = bad.iter().position(|&byte| byte == b'X').unwrap();
    bad[at] = 0xff;
    let a =
        Provider::always(Reply::begins("one ").send(bad).send(openai::text("two")).stop()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    assert_eq!(answer.status, 200);
    if answer.error_object().is_none() {
        assert!(answer.text().starts_with("one "), "{}", answer.text());
        assert!(answer.text().ends_with("two"), "{}", answer.text());
        assert!(answer.saw_done());
    } else {
        assert_eq!(answer.tried(), ["a stream_error"]);
    }
}

#[tokio::test]
async fn b02_crlf_ends_lines() {
    good_both_ways(Speech::Chat, "B02-crlf.sse", "one two").await;
}

#[tokio::test]
async fn b02_cr_alone_ends_lines() {
    good_both_ways(Speech::Chat, "B02-cr-only.sse", "one two").await;
}

#[tokio::test]
async fn b02_line_ends_are_the_same_in_every_dialect() {
    for speech in [Speech::Messages, Speech::Responses, Speech::Gemini] {
        for line_end in ["\r\n", "\r"] {
            let body = [speech.preamble(), speech.text("one"), speech.text(" two"), speech.stop()];
            let body = body.concat().replace('\n', line_end);
            good(speech, Reply::sse(&body), "one two").await;
            good(speech, bytewise(&body), "one two").await;
        }
    }
}

#[tokio::test]
async fn b02_the_first_token_does_not_wait_for_the_rest() {
    for speech in SPEECHES {
        for line_end in ["\r\n", "\r"] {
            let first = (speech.preamble() + &speech.text("one")).replace('\n', line_end);
            let rest = speech.stop().replace('\n', line_end);
            let reply = Reply::stream().send(first).pause(ms(800)).send(rest);
            let (relay, _a) = over(speech, reply).await;
            let answer = relay.ask().await;
            answer.assert_good("one");
            let text_at = answer.first_token_at().expect("text");
            assert_within("the first token", text_at, ms(600));
        }
    }
}

#[tokio::test]
async fn b04_the_space_after_the_colon_is_optional() {
    good_both_ways(Speech::Chat, "B04-nospace-openai.sse", " leading space kept").await;
    good_both_ways(Speech::Messages, "B04-nospace-anthropic.sse", "no space").await;
}

#[tokio::test]
async fn b05_comments_are_not_data_and_not_tokens() {
    let a = Provider::always(Reply::fixture("B05-comments.sse")).await;
    let relay = Relay::start(&Setup::over(&[&a]).clocks("ttft = \"2s\"")).await;
    for client in CLIENTS {
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "warm answer");
        assert!(!answer.body_text().contains("data: :"), "{}", answer.body_text());
        let ttft: u64 = answer.header("x-belay-ttft-ms").unwrap().parse().unwrap();
        assert!(ttft >= 600, "comments are no first token: {ttft}");
    }
}

#[tokio::test]
async fn b05_comments_are_nothing_in_every_dialect() {
    for speech in SPEECHES {
        let body = [speech.preamble(), speech.text("warm"), speech.stop()].concat();
        let body = format!(": waiting\n\n{}", body.replace("\n\n", "\n: glued {\"x\":1}\n\n"));
        good(speech, Reply::sse(&body), "warm").await;
    }
}

#[tokio::test]
async fn b07_one_leading_byte_order_mark_is_removed() {
    good_both_ways(Speech::Chat, "B07-bom-data-first.sse", "first second \u{feff} kept").await;
    let tokens = good_both_ways(Speech::Messages, "B07-bom-event-first.sse", "bom ok").await;
    assert_eq!(tokens.0, Some(9), "the first event was heard");
}

#[tokio::test]
async fn b08_unicode_separators_do_not_end_lines() {
    for reply in [
        fixture::reply("B08-unicode-separators.sse"),
        fixture::reply_bytewise("B08-unicode-separators.sse"),
    ] {
        let a = Provider::always(reply).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.ask().await;
        assert_eq!(answer.finish_reasons(), ["tool_calls"], "{}", answer.body_text());
        assert!(answer.saw_done());
        let original = String::from_utf8(fixture::bytes("B08-unicode-separators.sse")).unwrap();
        let value = |pick: fn(&Value) -> &Value| {
            let of = |text: &str| {
                text.split("\n\n")
                    .filter_map(|block| block.strip_prefix("data: "))
                    .filter_map(|data| serde_json::from_str::<Value>(data).ok())
                    .find_map(|chunk| {
                        pick(&chunk["choices"][0]["delta"])
                            .as_str()
                            .filter(|text| !text.is_empty())
                            .map(str::to_owned)
                    })
                    .unwrap()
            };
            (of(&original), of(answer.body_text()))
        };
        let (sent, received) = value(|delta| &delta["content"]);
        assert!(sent.contains('\u{2028}'));
        assert_eq!(sent, received);
        let (sent, received) = value(|delta| &delta["tool_calls"][0]["function"]["arguments"]);
        assert_eq!(sent, received);
    }
}

#[tokio::test]
async fn b08_unicode_separators_are_content_in_every_dialect() {
    let words = "a\u{2028}b\u{2029}c\u{85}d";
    for speech in SPEECHES {
        let body = [speech.preamble(), speech.text(words), speech.stop()].concat();
        assert!(body.contains('\u{2028}'), "raw, not escaped");
        good(speech, Reply::sse(&body), words).await;
    }
    let reply = fixture::reply("B08-unicode-separators.sse");
    let (relay, _a) = over(Speech::Chat, reply).await;
    let said = Client::Messages.read_whole(&Client::Messages.ask(&relay).await);
    assert!(said.text.contains('\u{2028}'), "{said:?}");
    assert_eq!(said.calls.len(), 1, "{said:?}");
    let _: Value = serde_json::from_str(&said.calls[0].arguments).expect("arguments are JSON");
    assert!(said.calls[0].arguments.contains('\u{2028}'), "{said:?}");
}

#[tokio::test]
async fn b09_big_events_are_relayed_whole() {
    let answer = {
        let a = Provider::always(Reply::fixture("B09-big-event.sse")).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        relay.ask().await
    };
    assert!(answer.text().len() > 70_000 && answer.text().ends_with(" tail"));
    assert!(answer.saw_done());
    let big = "0123456789abcdef".repeat(96 * 1024);
    good(
        Speech::Chat,
        Reply::begins("").send(openai::text(&big)).send(openai::text(" tail")).stop(),
        &(big + " tail"),
    )
    .await;
}

/// An upstream that never ends its event: it must not cost the relay its memory.
async fn endless(name: &str, begin: &str, again: Vec<u8>) {
    let reply = Reply::stream().send(begin).step(tests::provider::Step::Flood(again));
    let a = Provider::always(reply).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"4s\"")).await;
    let before = relay.memory();
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let grown = relay.memory().saturating_sub(before);
    assert!(grown < 48 << 20, "{name}: grew by {grown} bytes");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first junk", "b failover ok"], "{name}");
    a.call(0).await.closed().await;
    assert!(a.call(0).await.bytes_sent() < 64 << 20, "{name}: read on and on");
}

#[tokio::test]
async fn b09_an_endless_event_ends_at_the_limit_and_costs_no_memory() {
    endless("one line", "data: {\"x\":\"", vec![b'x'; 64 * 1024]).await;
    endless("many lines", "", b"data: x\n".repeat(8 * 1024)).await;
}

#[tokio::test]
async fn b09_an_endless_line_without_a_field_ends_at_the_limit_and_costs_no_memory() {
    endless("no field", "", vec![b'x'; 64 * 1024]).await;
}

#[tokio::test]
async fn b09_an_endless_comment_ends_at_the_limit_and_costs_no_memory() {
    endless("a comment", ": ", vec![b'x'; 64 * 1024]).await;
}

#[tokio::test]
async fn b10_a_last_event_without_a_blank_line_counts() {
    good_both_ways(Speech::Chat, "B10-no-blank-line.sse", "done without blank").await;
    good_both_ways(Speech::Chat, "B10-no-newline.sse", "done without newline").await;
    let tokens = good_both_ways(Speech::Messages, "B10-anthropic-no-newline.sse", "x").await;
    assert_eq!(tokens, (Some(9), Some(7)));
    let tokens = good_both_ways(Speech::Gemini, "B10-gemini-no-newline.sse", "gem end").await;
    assert_eq!(tokens, (Some(5), Some(2)));
}

#[tokio::test]
async fn b10_a_leftover_that_is_no_json_is_a_cut_stream() {
    for speech in SPEECHES {
        let half: String = speech.stop().chars().take(60).collect();
        let (relay, _a) = over(speech, speech.begins("cut").send(half)).await;
        for client in CLIENTS {
            let answer = client.ask(&relay).await;
            client.assert_broken(&answer, "cut");
            assert_eq!(answer.tried(), ["a disconnect"], "{client:?} {speech:?}");
        }
    }
}

#[tokio::test]
async fn b12_several_data_lines_are_one_event() {
    good_both_ways(Speech::Chat, "B12-multiline-data.sse", "multi line").await;
    for speech in [Speech::Messages, Speech::Responses, Speech::Gemini] {
        let body = [speech.preamble(), speech.text("multi line"), speech.stop()].concat();
        // As pretty-printed JSON comes: a line end after each brace, in an event of its own.
        let body = body.replace("\":{", "\":{\ndata: ");
        assert!(body.contains("{\ndata: "), "{body}");
        good(speech, Reply::sse(&body), "multi line").await;
    }
}

#[tokio::test]
async fn b14_the_content_type_is_read_with_its_parameters_and_in_any_case() {
    good(Speech::Chat, Reply::fixture("B14-ct-params.sse"), "ok").await;
}

#[tokio::test]
async fn b14_html_in_a_200_is_never_shown() {
    for speech in SPEECHES {
        let reply = Reply::fixture("B14-html-200.html");
        for client in CLIENTS {
            let row = b_answers(client, (speech, reply.clone()), Speech::Chat, "junk").await;
            assert!(!row.detail.unwrap_or_default().contains("Sign in"), "{client:?}");
        }
        let (relay, _a) = over(speech, reply).await;
        let answer = Client::Messages.ask(&relay).await;
        Client::Messages.assert_error(&answer, 502);
        assert!(!answer.body_text().contains("Sign in"), "{}", answer.body_text());
    }
}

#[tokio::test]
async fn b14_a_whole_json_answer_becomes_a_stream() {
    let (relay, _a) = over(Speech::Chat, Reply::fixture("B14-json-complete.json")).await;
    for client in CLIENTS {
        let answer = client.ask(&relay).await;
        let said = client.assert_good(&answer, "whole answer at once");
        assert_eq!(said.usage, Some((7, 4)), "{client:?}");
        only_row(&relay, &answer, "ok").await;
        if client == Client::Chat {
            let last = answer.chunks().pop().unwrap();
            assert_eq!(last["choices"], serde_json::json!([]));
        }
    }
}

#[tokio::test]
async fn b14_a_whole_json_answer_of_any_dialect_becomes_a_stream() {
    let usage = serde_json::json!({"input_tokens": 7, "output_tokens": 4});
    for (speech, body) in [
        (
            Speech::Messages,
            serde_json::json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m-a",
                "content": [{"type": "text", "text": "at once"}],
                "stop_reason": "end_turn", "stop_sequence": null, "usage": usage,
            }),
        ),
        (
            Speech::Responses,
            serde_json::json!({
                "id": "resp_1", "object": "response", "model": "m-r", "status": "completed",
                "output": [{"id": "m", "type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": "at once"}]}],
                "usage": usage,
            }),
        ),
        (
            Speech::Gemini,
            serde_json::json!({
                "candidates": [{"content": {"role": "model", "parts": [{"text": "at once"}]},
                    "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 4},
            }),
        ),
    ] {
        let (relay, _a) = over(speech, Reply::json(200, &body)).await;
        for client in CLIENTS {
            for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
                let said = client.assert_good(&answer, "at once");
                assert_eq!(said.usage, Some((7, 4)), "{client:?} {speech:?}");
            }
        }
    }
}

#[tokio::test]
async fn b14_a_json_error_in_a_200_is_an_error() {
    for client in CLIENTS {
        let (setup, _a, _b) =
            two((Speech::Chat, Reply::fixture("B14-json-error-200.json")), Speech::Chat).await;
        let relay = Relay::start(&setup).await;
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "from B");
        let tried = tried(&relay.journaled(&answer.id()).await);
        assert!(!tried[0].ends_with(" ok"), "{tried:?}");
    }
}
