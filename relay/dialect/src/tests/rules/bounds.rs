//! No answer makes the relay hold more than its limits, in either form.

use super::*;
use crate::answer::AnswerReader;
use bytes::BytesMut;

/// Feeds `start` and then `parts` for ever; the most that was held, and the end.
fn feed(
    from: Dialect,
    to: Dialect,
    form: Form,
    start: &str,
    part: impl Fn(usize) -> String,
) -> (usize, Option<End>) {
    let limits =
        AnswerSpec { from, to, max_event: 10_000, max_answer: 100_000, ..spec(form, true) };
    let mut reader = AnswerReader::new(limits);
    let mut out = BytesMut::new();
    let mut most = 0;
    let parts = (0..20_000).map(part);
    for part in std::iter::once(start.to_owned()).chain(parts) {
        let progress = reader.read(part.as_bytes(), &mut out);
        out.clear();
        most = most.max(reader.held());
        if progress.end.is_some() {
            return (most, progress.end);
        }
    }
    (most, None)
}

fn is_bounded(from: Dialect, to: Dialect, form: Form, start: &str, part: impl Fn(usize) -> String) {
    let (held, end) = feed(from, to, form, start, part);
    assert_eq!(end, Some(End::TooLarge { limit: 100_000 }), "{from} to {to}, {form:?}");
    assert!((100_001..=115_000).contains(&held), "{from} to {to}, {form:?}: {held}");
}

/// How many of something large fit, one after another.
fn how_many_fit(from: Dialect, to: Dialect, form: Form, part: impl Fn(usize) -> String) -> usize {
    let fed = std::cell::Cell::new(0);
    let count = |n: usize| {
        fed.set(n);
        part(n)
    };
    let (_, end) = feed(from, to, form, "", count);
    assert_eq!(end, Some(End::TooLarge { limit: 100_000 }));
    fed.get()
}

fn long() -> String {
    "0123456789".repeat(10)
}

#[test]
fn a_whole_answer_has_a_limit_whatever_grows() {
    let text = said(&long());
    let reasoning = delta(&format!(r#""reasoning":"{}""#, long()));
    let refusal = delta(&format!(r#""refusal":"{}""#, long()));
    let redacted = delta(&format!(
        r#""reasoning_details":[{{"type":"reasoning.encrypted","data":"{}"}}]"#,
        long()
    ));
    let signature = delta(&format!(
        r#""reasoning_details":[{{"type":"reasoning.text","signature":"{}"}}]"#,
        long()
    ));
    let arguments = calls(&format!(
        r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":"{}"}}}}"#,
        long()
    ));
    for to in [MESSAGES, RESPONSES] {
        for part in [&text, &reasoning, &refusal, &redacted, &signature, &arguments] {
            is_bounded(CHAT, to, Form::Whole, "", |_| part.clone());
        }
        is_bounded(CHAT, to, Form::Whole, "", |n| {
            calls(&format!(r#"{{"index":{n},"id":"{n}","function":{{"name":"f"}}}}"#))
        });
        let proof = "s".repeat(9000);
        is_bounded(CHAT, to, Form::Whole, "", |n| {
            calls(&format!(
                r#"{{"index":{n},"id":"{n}","function":{{"name":"f"}},"extra_content":{{"google":{{"thought_signature":"{proof}"}}}}}}"#
            ))
        });
    }
}

#[test]
fn an_own_whole_answer_has_one_too() {
    let start = message(&[], "end_turn");
    let start = &start[..start.find("event: message_delta").unwrap()];
    let one = |json: &str| named(&[json]);
    let open = format!(
        "{start}{}",
        one(
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#
        )
    );
    let deltas = [
        json!({"type": "text_delta", "text": long()}),
        json!({"type": "thinking_delta", "thinking": long()}),
        json!({"type": "citations_delta", "citation": {"x": long()}}),
        json!({"type": "citations_delta", "citation": 1}),
    ];
    for delta in deltas {
        let part =
            one(&json!({"type": "content_block_delta", "index": 0, "delta": delta}).to_string());
        is_bounded(MESSAGES, MESSAGES, Form::Whole, &open, |_| part.clone());
    }
    is_bounded(MESSAGES, MESSAGES, Form::Whole, start, |n| {
        one(&format!(r#"{{"type":"content_block_start","index":{n},"content_block":{{}}}}"#))
    });
    is_bounded(MESSAGES, MESSAGES, Form::Whole, start, |n| {
        one(&format!(r#"{{"type":"message_delta","delta":{{"key-{n}":1}}}}"#))
    });
    is_bounded(MESSAGES, MESSAGES, Form::Whole, start, |n| {
        one(&format!(r#"{{"type":"message_delta","delta":{{}},"usage":{{"key-{n}":1}}}}"#))
    });
    // What is repeated needs no more memory.
    let again = one(r#"{"type":"message_delta","delta":{"key":1},"usage":{"output_tokens":7}}"#);
    let (held, end) = feed(MESSAGES, MESSAGES, Form::Whole, start, |_| again.clone());
    assert!(end.is_none() && held < 10_000, "{held} {end:?}");
}

#[test]
fn a_stream_of_responses_repeats_all_and_so_has_the_same_limit() {
    let one = |json: &str| named(&[json]);
    let start = message(&[], "end_turn");
    let start = &start[..start.find("event: message_delta").unwrap()];
    let block = |n: usize, block: &str| {
        one(&format!(r#"{{"type":"content_block_start","index":{n},"content_block":{block}}}"#))
    };
    for open in [
        format!(r#"{{"type":"text","text":"{}"}}"#, long()),
        format!(r#"{{"type":"thinking","thinking":"{}"}}"#, long()),
        format!(r#"{{"type":"redacted_thinking","data":"{}"}}"#, long()),
        r#"{"type":"redacted_thinking","data":"d"}"#.to_owned(),
        r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#.to_owned(),
    ] {
        is_bounded(MESSAGES, RESPONSES, Form::Stream, start, |n| block(n, &open));
    }
    is_bounded(CHAT, RESPONSES, Form::Stream, "", |_| {
        calls(&format!(
            r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":"{}"}}}}"#,
            long()
        ))
    });
    is_bounded(CHAT, RESPONSES, Form::Stream, "", |_| delta(&format!(r#""refusal":"{}""#, long())));
}

#[test]
fn what_waits_for_a_block_has_one() {
    let open = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#);
    is_bounded(CHAT, MESSAGES, Form::Stream, &open, |_| said(&long()));
    is_bounded(CHAT, MESSAGES, Form::Stream, &open, |_| said("x"));
    let other = open.clone() + &calls(r#"{"index":1,"id":"b","function":{"name":"g"}}"#);
    is_bounded(CHAT, MESSAGES, Form::Stream, &other, |_| {
        calls(&format!(r#"{{"index":1,"function":{{"arguments":"{}"}}}}"#, long()))
    });
}

#[test]
fn a_thought_that_waits_for_its_proof_has_one() {
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#;
    let delta = json!({"type": "thinking_delta", "thinking": long()});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": delta}).to_string();
    is_bounded(MESSAGES, CHAT, Form::Stream, &named(&[start]), |_| named(&[&delta]));
}

#[test]
fn plain_text_streams_for_ever() {
    let text = said(&long());
    for to in [CHAT, MESSAGES] {
        let (held, end) = feed(CHAT, to, Form::Stream, "", |_| text.clone());
        assert!(end.is_none() && held < 10_000, "{to}: {held} {end:?}");
    }
}

#[test]
fn a_body_in_one_piece_has_the_limit_of_an_answer() {
    let body = format!(
        r#"{{"type":"message","content":[],"stop_reason":"end_turn","x":"{}"}}"#,
        "x".repeat(1000)
    );
    for (limit, fits) in [(body.len(), true), (body.len() - 1, false)] {
        for form in [Form::Stream, Form::Whole] {
            let spec =
                AnswerSpec { from: MESSAGES, to: MESSAGES, max_answer: limit, ..spec(form, true) };
            let end = AnswerReader::new(spec).read_whole(body.as_bytes(), &mut BytesMut::new()).end;
            assert_eq!(end, Some(if fits { End::Proper } else { End::TooLarge { limit } }));
        }
    }
}

#[test]
fn proofs_and_names_count_by_their_length() {
    let proof = "s".repeat(9000);
    let on_calls = |n: usize| {
        calls(&format!(
            r#"{{"index":{n},"id":"{n}","function":{{"name":"f","arguments":"{{}}"}},"extra_content":{{"google":{{"thought_signature":"{proof}"}}}}}}"#
        ))
    };
    let redacted = |_: usize| {
        delta(&format!(
            r#""reasoning_details":[{{"type":"reasoning.encrypted","data":"{proof}"}}]"#
        ))
    };
    for form in [Form::Stream, Form::Whole] {
        assert!(how_many_fit(CHAT, RESPONSES, form, on_calls) < 13);
        assert!(how_many_fit(CHAT, RESPONSES, form, redacted) < 13);
    }
    let name = "f".repeat(9000);
    let named =
        |n: usize| calls(&format!(r#"{{"index":{n},"id":"{n}","function":{{"name":"{name}"}}}}"#));
    assert!(how_many_fit(CHAT, RESPONSES, Form::Stream, named) < 12, "said with their arguments");
    assert!(how_many_fit(CHAT, MESSAGES, Form::Whole, on_calls) < 13);
    assert!(how_many_fit(CHAT, MESSAGES, Form::Whole, redacted) < 13);
}

#[test]
fn open_blocks_count_even_where_all_is_passed_on_and_calls_have_a_number() {
    let open = |n: usize| {
        named(&[&format!(
            r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"text","text":""}}}}"#
        )])
    };
    is_bounded(MESSAGES, CHAT, Form::Stream, "", open);
    let limits = AnswerSpec { from: GEMINI, max_answer: 1 << 30, ..spec(Form::Stream, true) };
    let mut reader = AnswerReader::new(limits);
    let one = parts(r#"{"functionCall":{"name":"f","args":{}}}"#);
    let ended = (0..6000).find_map(|n| {
        let progress = reader.read(one.as_bytes(), &mut BytesMut::new());
        progress.end.map(|end| (n, end))
    });
    assert_eq!(ended, Some((4096, End::TooLarge { limit: 1 << 30 })));
}
