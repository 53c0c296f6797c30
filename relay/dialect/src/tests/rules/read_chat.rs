//! How answers of chat providers are read.

use super::*;

fn role() -> String {
    delta(r#""role":"assistant","content":"""#)
}

/// A stream of these events, with `[DONE]` after them.
fn s(events: &[String]) -> String {
    events.concat() + DONE
}

#[test]
fn preludes_are_no_content_and_every_kind_of_first_content_is() {
    let azure = data(&[
        r#"{"id":"","model":"","created":0,"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
    ]);
    let late_filter = chunk(r#"{"index":0,"content_filter_offsets":{"check_offset":1}}"#);
    let usage_first = data(&[r#"{"id":"c-1","choices":[],"usage":{"prompt_tokens":9}}"#]);
    check(
        CHAT,
        &[
            (
                "an empty role chunk",
                s(&[role(), said("hi"), finish("stop")]),
                "text(hi) | Stop | @1 | done | proper",
            ),
            (
                "a bare role chunk",
                s(&[delta(r#""role":"assistant""#), said("hi"), finish("stop")]),
                "text(hi) | Stop | @1 | done | proper",
            ),
            (
                "content null",
                s(&[delta(r#""role":"assistant","content":null"#), said("hi"), finish("stop")]),
                "text(hi) | Stop | @1 | done | proper",
            ),
            (
                "role and text in one",
                s(&[delta(r#""role":"assistant","content":"hi""#), finish("stop")]),
                "text(hi) | Stop | @0 | done | proper",
            ),
            (
                "Azure's prelude and its filter afterwards",
                s(&[azure, role(), said("hi"), finish("stop"), late_filter]),
                "text(hi) | Stop | @2 | done | proper",
            ),
            (
                "usage first",
                s(&[usage_first, said("hi"), finish("stop")]),
                "text(hi) | Stop | 9 in | @1 | done | proper",
            ),
        ],
    );
}

#[test]
fn content_comes_in_many_shapes() {
    check(
        CHAT,
        &[
            (
                "a refusal",
                s(&[
                    role(),
                    delta(r#""refusal":"I ""#),
                    delta(r#""refusal":"no""#),
                    finish("stop"),
                ]),
                "no(I no) | Stop | @1 | done | proper",
            ),
            (
                "role and call in one",
                s(&[
                    delta(
                        r#""role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]"#,
                    ),
                    finish("tool_calls"),
                ]),
                "call(a f ) | ToolCalls | @0 | done | proper",
            ),
            (
                "role and reasoning in one",
                s(&[
                    delta(r#""role":"assistant","content":"","reasoning_content":"hm""#),
                    finish("stop"),
                ]),
                "think(hm) | Stop | @0 | done | proper",
            ),
            (
                "old completions",
                s(&[
                    chunk(r#"{"index":0,"text":"hi","finish_reason":null}"#),
                    chunk(r#"{"index":0,"text":"","finish_reason":"length"}"#),
                ]),
                "text(hi) | Length | @0 | done | proper",
            ),
            (
                "delta beside the old text",
                s(&[
                    chunk(
                        r#"{"index":0,"text":"hi","delta":{"content":"hi"},"finish_reason":null}"#,
                    ),
                    finish("stop"),
                ]),
                "text(hi) | Stop | @0 | done | proper",
            ),
            (
                "a message beside the delta is said already",
                s(&[
                    chunk(
                        r#"{"index":0,"delta":{"content":"hi"},"message":{"content":"said already"}}"#,
                    ),
                    finish("stop"),
                ]),
                "text(hi) | Stop | @0 | done | proper",
            ),
            (
                "whole messages as a stream",
                s(&[chunk(r#"{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}"#)]),
                "text(hi) | Stop | @0 | done | proper",
            ),
            (
                "another choice is not heard",
                s(&[
                    chunk(r#"{"index":1,"delta":{"content":"no"},"finish_reason":"length"}"#),
                    said("hi"),
                    finish("stop"),
                ]),
                "text(hi) | Stop | @1 | done | proper",
            ),
        ],
    );
}

#[test]
fn framing_and_junk_change_nothing() {
    check(
        CHAT,
        &[
            (
                "no index",
                s(&[chunk(r#"{"delta":{"content":"hi"},"finish_reason":"stop"}"#)]),
                "text(hi) | Stop | @0 | done | proper",
            ),
            (
                "comments",
                format!(
                    ": PROCESSING\n\n{}: PROCESSING\n\n{}",
                    role(),
                    s(&[said("hi"), finish("stop")])
                ),
                "text(hi) | Stop | @1 | done | proper",
            ),
            (
                "CRLF and two lines",
                s(&[said("hi"), finish("stop")])
                    .replace(r#""choices":"#, "\"choices\":\ndata: ")
                    .replace('\n', "\r\n"),
                "text(hi) | Stop | @0 | done | proper",
            ),
            (
                "junk",
                format!(
                    "data: ping\n\ndata: 12\n\ndata: [1]\n\n{}",
                    s(&[said("hi"), finish("stop")])
                ),
                "text(hi) | Stop | @3 | 3 dropped | done | proper",
            ),
        ],
    );
}

#[test]
fn id_and_model_are_those_of_the_first_chunk_that_has_any() {
    let azure = data(&[r#"{"id":"","model":"","choices":[]}"#]);
    let prelude = data(&[r#"{"id":"c-0","model":"m-0","choices":[]}"#]);
    for (first, id, model) in [(azure, "c-1", "m-1"), (prelude, "c-0", "m-0")] {
        let answer = read(CHAT, (first + &said("x") + &finish("stop")).as_bytes()).answer;
        assert_eq!((answer.id.as_str(), answer.model.as_str()), (id, model));
    }
}

#[test]
fn a_character_escaped_in_two_chunks_is_whole() {
    let stream = s(&[said(r"\ud83c"), said(r"\udf0d é"), finish("stop")]);
    let got = short(&read(CHAT, stream.as_bytes()));
    assert_eq!(got, "text(🌍 é) | Stop | @0 | done | proper");
    for to in [MESSAGES, RESPONSES] {
        let whole = towards(CHAT, to, Form::Whole, stream.as_bytes()).whole;
        assert!(short(&read_whole(to, whole.as_bytes())).starts_with("text(🌍 é) | Stop"));
    }
}

#[test]
fn reasoning_goes_by_many_names_and_is_taken_once() {
    check(
        CHAT,
        &[
            (
                "reasoning_content",
                s(&[delta(r#""reasoning_content":"hm""#), said("x"), finish("stop")]),
                "think(hm) text(x) | Stop | @0 | done | proper",
            ),
            (
                "reasoning",
                s(&[delta(r#""reasoning":"hm""#), said("x"), finish("stop")]),
                "think(hm) text(x) | Stop | @0 | done | proper",
            ),
            (
                "both",
                s(&[
                    delta(r#""reasoning":"h","reasoning_content":"h""#),
                    delta(r#""reasoning":"m","reasoning_content":"m""#),
                    finish("stop"),
                ]),
                "think(hm) | Stop | @0 | done | proper",
            ),
            (
                "one, then the other: both are said",
                s(&[
                    delta(r#""reasoning":"hm""#),
                    delta(r#""reasoning_content":"hm""#),
                    finish("stop"),
                ]),
                "think(hmhm) | Stop | @0 | done | proper",
            ),
            (
                "one of them empty",
                s(&[delta(r#""reasoning_content":"","reasoning":"hm""#), finish("stop")]),
                "think(hm) | Stop | @0 | done | proper",
            ),
            (
                "with content in one chunk",
                s(&[delta(r#""content":"x","reasoning":"hm""#), finish("stop")]),
                "think(hm) text(x) | Stop | @0 | done | proper",
            ),
            (
                "details beside it",
                s(&[
                    delta(
                        r#""reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]"#,
                    ),
                    delta(r#""reasoning_details":[{"type":"reasoning.text","signature":"sig"}]"#),
                    delta(r#""reasoning_details":[{"type":"reasoning.encrypted","data":"dat"}]"#),
                    said("x"),
                    finish("stop"),
                ]),
                "think(hm^sig) redacted(dat) text(x) | Stop | @0 | done | proper",
            ),
            (
                "two thoughts, each with its proof",
                s(&[
                    delta(r#""reasoning":"h""#),
                    delta(r#""reasoning_details":[{"type":"reasoning.text","signature":"s1"}]"#),
                    delta(
                        r#""reasoning":"m","reasoning_details":[{"type":"reasoning.text","signature":"s2"}]"#,
                    ),
                    finish("stop"),
                ]),
                "think(h^s1) think(m^s2) | Stop | @0 | done | proper",
            ),
            (
                "Mistral's parts",
                s(&[
                    delta(
                        r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]}]"#,
                    ),
                    delta(r#""content":[{"type":"text","text":"x"}]"#),
                    said("y"),
                    finish("stop"),
                ]),
                "think(hm) text(xy) | Stop | @0 | done | proper",
            ),
        ],
    );
}

#[test]
fn every_finish_reason_has_its_word() {
    let with = |reason: &str| s(&[said("x"), finish(reason)]);
    check(
        CHAT,
        &[
            ("stop", with("stop"), "text(x) | Stop | @0 | done | proper"),
            ("length", with("length"), "text(x) | Length | @0 | done | proper"),
            ("tool_calls", with("tool_calls"), "text(x) | ToolCalls | @0 | done | proper"),
            ("function_call", with("function_call"), "text(x) | ToolCalls | @0 | done | proper"),
            (
                "content_filter",
                with("content_filter"),
                "text(x) | ContentFilter | @0 | done | proper",
            ),
            (
                "unknown",
                with("brand_new"),
                "text(x) | @0 | error server_error brand_new: The provider ended its answer with the finish reason 'brand_new'.",
            ),
            ("\"\"", with(""), "text(x) | @0 | done | proper"),
            ("none", s(&[said("x")]), "text(x) | @0 | done | proper"),
            ("none, no content", s(&[role()]), "nothing | done | cut"),
            ("no content", s(&[role(), finish("stop")]), "nothing | Stop | done | proper"),
            (
                "twice",
                s(&[said("x"), finish("stop"), finish("stop")]),
                "text(x) | Stop | @0 | done | proper",
            ),
            (
                "with the last content",
                s(&[chunk(r#"{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}"#)]),
                "text(x) | Stop | @0 | done | proper",
            ),
            ("no [DONE]", said("x") + &finish("stop"), "text(x) | Stop | @0 | proper"),
            (
                "taken back, and no other",
                s(&[said("a"), finish("length"), said("b")]),
                "text(ab) | @0 | length? | done | proper",
            ),
            ("neither", said("x"), "text(x) | @0 | cut"),
            ("nothing", String::new(), "nothing | cut"),
            (
                "[DONE] without its blank line",
                said("x") + &finish("stop") + "data: [DONE]",
                "text(x) | Stop | @0 | proper",
            ),
            (
                "error",
                with("error"),
                "text(x) | @0 | error server_error error: The provider ended its answer with the finish reason 'error'.",
            ),
        ],
    );
}

#[test]
fn usage_is_read_wherever_it_is_and_the_last_word_counts() {
    let usage = |usage: &str| data(&[&format!(r#"{{"id":"c-1","choices":[],"usage":{usage}}}"#)]);
    let plain = r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}"#;
    let with = |counts: &str| s(&[said("x"), finish("stop"), usage(counts)]);
    let in_finish = |key: &str, value: &str| {
        finish("stop").replace(r#""choices""#, &format!(r#""{key}":{value},"choices""#))
    };
    let in_choice =
        chunk(&format!(r#"{{"index":0,"delta":{{}},"finish_reason":"stop","usage":{plain}}}"#));
    let growing = |n: u32| {
        said("x").replace(
            r#""choices""#,
            &format!(r#""usage":{{"prompt_tokens":10,"completion_tokens":{n}}},"choices""#),
        )
    };
    check(
        CHAT,
        &[
            (
                "a chunk of its own",
                with(plain),
                "text(x) | Stop | 10 in 5 out | @0 | done | proper",
            ),
            (
                "in the finish chunk",
                s(&[said("x"), in_finish("usage", plain)]),
                "text(x) | Stop | 10 in 5 out | @0 | done | proper",
            ),
            (
                "in a second finish chunk",
                s(&[said("x"), finish("stop"), in_finish("usage", plain)]),
                "text(x) | Stop | 10 in 5 out | @0 | done | proper",
            ),
            (
                "x_groq",
                s(&[said("x"), in_finish("x_groq", &format!(r#"{{"usage":{plain}}}"#))]),
                "text(x) | Stop | 10 in 5 out | @0 | done | proper",
            ),
            (
                "in the choice",
                s(&[said("x"), in_choice]),
                "text(x) | Stop | 10 in 5 out | @0 | done | proper",
            ),
            (
                "in every chunk",
                s(&[growing(1), growing(2), growing(5), finish("stop")]),
                "text(xxx) | Stop | 10 in 5 out | @0 | done | proper",
            ),
            (
                "null elsewhere",
                s(&[
                    said("x").replace(r#""choices""#, r#""usage":null,"choices""#),
                    finish("stop"),
                    usage(plain),
                    usage("null"),
                ]),
                "text(x) | Stop | 10 in 5 out | @0 | done | proper",
            ),
            ("never", s(&[said("x"), finish("stop")]), "text(x) | Stop | @0 | done | proper"),
        ],
    );
}

#[test]
fn vendors_count_in_their_own_ways() {
    let usage = |usage: &str| data(&[&format!(r#"{{"id":"c-1","choices":[],"usage":{usage}}}"#)]);
    let with = |counts: &str| s(&[said("x"), finish("stop"), usage(counts)]);
    check(
        CHAT,
        &[
            (
                "details",
                with(
                    r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}}"#,
                ),
                "text(x) | Stop | 10 in 5 out 4 cached 3 written 2 thought | @0 | done | proper",
            ),
            (
                "DeepSeek's cache",
                with(
                    r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}"#,
                ),
                "text(x) | Stop | 10 in 5 out 4 cached | @0 | done | proper",
            ),
            (
                "OpenAI's word before DeepSeek's",
                with(
                    r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}"#,
                ),
                "text(x) | Stop | 10 in 5 out 4 cached | @0 | done | proper",
            ),
            (
                "xAI leaves reasoning out",
                with(
                    r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":22,"completion_tokens_details":{"reasoning_tokens":7}}"#,
                ),
                "text(x) | Stop | 10 in 12 out 7 thought | @0 | done | proper",
            ),
            (
                "OpenRouter thinks more than it says",
                with(
                    r#"{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20,"completion_tokens_details":{"reasoning_tokens":11}}"#,
                ),
                "text(x) | Stop | 10 in 10 out 11 thought | @0 | done | proper",
            ),
            (
                "as JavaScript counts",
                with(r#"{"prompt_tokens":10.0,"completion_tokens":5.0}"#),
                "text(x) | Stop | 10 in 5 out | @0 | done | proper",
            ),
        ],
    );
}
