//! Reading what providers really send: odd splits, line ends, marks, sizes.

use serde_json::Value;
use tests::clock::{assert_within, ms};
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup, fixture, openai};

/// A reply from rung A, which must be a good answer with this text.
async fn good(reply: Reply, words: &str) -> Answer {
    let (a, b) = (Provider::always(reply).await, Provider::always(Reply::text("from B")).await);
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good(words);
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
    answer
}

/// A fixture as its manifest says, and again byte by byte.
async fn good_both_ways(name: &str, words: &str) {
    good(fixture::reply(name), words).await;
    good(fixture::reply_bytewise(name), words).await;
}

#[tokio::test]
async fn b01_a_character_cut_by_a_write_boundary_is_whole_again() {
    good_both_ways("B01-split-utf8.sse", "Grüße, 你好 🌍 fin").await;
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
    let mut reply = Reply::stream();
    for byte in body.as_bytes() {
        reply = reply.send([*byte]);
    }
    let a = Provider::always(reply).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    let chunks = answer.chunks();
    let call = chunks.iter().find_map(|chunk| chunk["choices"][0]["delta"].get("tool_calls"));
    assert_eq!(call.unwrap()[0]["function"]["arguments"], arguments);
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
    good_both_ways("B02-crlf.sse", "one two").await;
}

#[tokio::test]
async fn b02_cr_alone_ends_lines() {
    good_both_ways("B02-cr-only.sse", "one two").await;
}

#[tokio::test]
async fn b02_the_first_token_does_not_wait_for_the_rest() {
    for line_end in ["\r\n", "\r"] {
        let first = (openai::role() + &openai::text("one")).replace('\n', line_end);
        let rest = (openai::finish("stop") + openai::DONE).replace('\n', line_end);
        let a = Provider::always(Reply::stream().send(first).pause(ms(800)).send(rest)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.ask().await;
        answer.assert_good("one");
        let text_at = answer.events().iter().find(|event| event.data.is_some()).unwrap().at;
        assert_within("the first token", text_at, ms(600));
    }
}

#[tokio::test]
async fn b04_the_space_after_the_colon_is_optional() {
    good_both_ways("B04-nospace-openai.sse", " leading space kept").await;
}

#[tokio::test]
async fn b05_comments_are_not_data_and_not_tokens() {
    let a = Provider::always(Reply::fixture("B05-comments.sse")).await;
    let relay = Relay::start(&Setup::over(&[&a]).clocks("ttft = \"2s\"")).await;
    let answer = relay.ask().await;
    answer.assert_good("warm answer");
    assert!(!answer.body_text().contains("data: :"), "{}", answer.body_text());
    let ttft: u64 = answer.header("x-belay-ttft-ms").unwrap().parse().unwrap();
    assert!(ttft >= 600, "comments are no first token: {ttft}");
}

#[tokio::test]
async fn b07_one_leading_byte_order_mark_is_removed() {
    good_both_ways("B07-bom-data-first.sse", "first second \u{feff} kept").await;
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
    good_both_ways("B10-no-blank-line.sse", "done without blank").await;
    good_both_ways("B10-no-newline.sse", "done without newline").await;
}

#[tokio::test]
async fn b10_a_leftover_that_is_no_json_is_a_cut_stream() {
    let a = Provider::always(Reply::begins("cut").send("data: {\"id\":\"c-1\",\"cho")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_broken("cut");
    assert_eq!(answer.tried(), ["a disconnect"]);
}

#[tokio::test]
async fn b12_several_data_lines_are_one_event() {
    good_both_ways("B12-multiline-data.sse", "multi line").await;
}

#[tokio::test]
async fn b14_the_content_type_is_read_with_its_parameters_and_in_any_case() {
    good(Reply::fixture("B14-ct-params.sse"), "ok").await;
}

#[tokio::test]
async fn b14_html_in_a_200_is_never_shown() {
    let a = Provider::always(Reply::fixture("B14-html-200.html")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert!(!answer.body_text().contains("Sign in"));
}

#[tokio::test]
async fn b14_a_whole_json_answer_becomes_a_stream() {
    let a = Provider::always(Reply::fixture("B14-json-complete.json")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let usage = serde_json::json!({"stream_options": {"include_usage": true}});
    let answer = relay.send(&openai::with(openai::ask("chat"), &usage)).await;
    answer.assert_good("whole answer at once");
    assert_eq!(answer.roles(), 1);
    let chunks = answer.chunks();
    let last = chunks.last().unwrap();
    assert_eq!(last["choices"], serde_json::json!([]));
    assert_eq!(last["usage"]["prompt_tokens"], 7);
    assert_eq!(last["usage"]["completion_tokens"], 4);
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}

#[tokio::test]
async fn b14_a_json_error_in_a_200_is_an_error() {
    let a = Provider::always(Reply::fixture("B14-json-error-200.json")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    relay.ask().await.assert_good("from B");
}
