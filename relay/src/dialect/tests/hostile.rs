//! Bytes that no honest provider sends.

use super::super::answer::{AnswerReader, AnswerSpec, End, Form};
use super::super::request::ClientRequest;
use super::super::{matchers, retry_after};
use super::{by_byte, pieces, spec, tell};
use bytes::BytesMut;
use proptest::prelude::*;

/// Pieces that mean something to some part of the reader, strung together at random.
fn nasty() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "data: ",
        "data:",
        "event: error\n",
        ": c\n",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "{",
        "}",
        "[",
        "]",
        "\"choices\":",
        "\"delta\":",
        "\"message\":",
        "\"content\":",
        "\"tool_calls\":",
        "\"index\":0,",
        "\"finish_reason\":\"stop\"",
        "\"usage\":{\"prompt_tokens\":1}",
        "\"error\":",
        "null",
        "\"x\"",
        "\"\\ud83d\"",
        ",",
        ":",
        "7",
        "-1e999",
        "[DONE]",
        "\u{2028}",
        "\u{feff}",
        "é",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"q\"}]}}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"total_tokens\":5}}\n\n",
    ]);
    let piece = prop_oneof![
        9 => word.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..9),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn any_cut_of_any_bytes_tells_the_same(body in nasty(), seed in any::<u64>(), usage in any::<bool>()) {
        for form in [Form::Stream, Form::Whole] {
            let mut once = tell(spec(form, usage), [&body[..]]);
            for mut other in [tell(spec(form, usage), by_byte(&body)), tell(spec(form, usage), pieces(&body, seed))] {
                (other.held, other.first_token) = (0, None);
                (once.held, once.first_token) = (0, None);
                prop_assert_eq!(&other, &once);
            }
            if form == Form::Whole && once.end == Some(End::Proper) {
                let whole: serde_json::Value = serde_json::from_str(&once.whole).unwrap();
                prop_assert_eq!(&whole["object"], "chat.completion");
            }
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(body in nasty(), head in any::<bool>()) {
        let body = if head { [b"{\"model\":\"m\",\"choices\":[", &body[..], b"]}"].concat() } else { body };
        for form in [Form::Stream, Form::Whole] {
            let mut reader = AnswerReader::new(spec(form, true));
            let heard = reader.read_whole(&body, &mut BytesMut::new());
            prop_assert!(heard.end.is_some());
        }
        let _ = ClientRequest::parse(shared::Dialect::OpenaiChat, &body);
        let mut error = matchers::parse_error(&body);
        matchers::classify(matchers::OPENAI_CHAT, &[], None, &mut error);
        let text = String::from_utf8_lossy(&body);
        let _ = retry_after::retry_after(|_| Some(text.as_ref()), Some(&body), shared::UnixMillis(0));
    }
}

fn small(form: Form) -> AnswerSpec {
    AnswerSpec { max_event: 10_000, max_answer: 100_000, ..spec(form, true) }
}

/// Feeds `part` for as long as the reader reads and looks at what it holds.
fn feed_for_ever(form: Form, parts: impl Iterator<Item = String>) -> (usize, Option<End>) {
    let mut reader = AnswerReader::new(small(form));
    let mut out = BytesMut::new();
    let mut most = 0;
    for part in parts.take(3000) {
        let heard = reader.read(part.as_bytes(), &mut out);
        out.clear();
        most = most.max(reader.held());
        if heard.end.is_some() {
            return (most, heard.end);
        }
    }
    (most, None)
}

#[test]
fn no_stream_makes_a_reader_hold_more_than_its_limits() {
    let finish = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let chunk =
        |delta: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n");
    // An endless event, an endless ending, endless usage.
    let (held, end) = feed_for_ever(Form::Stream, std::iter::repeat("data: xxxxxxxx\n".to_owned()));
    assert!(held < 40_000, "{held}");
    assert_eq!(end, Some(End::TooLarge { limit: 10_000 }));
    let (held, end) = feed_for_ever(Form::Stream, std::iter::repeat(format!("{finish}\n\n")));
    assert!(held < 12_000, "{held}");
    assert_eq!(end, None);
    let usage = "data: {\"choices\":[],\"usage\":{}}\n\n";
    let (held, _) = feed_for_ever(Form::Stream, std::iter::repeat(usage.to_owned()));
    assert!(held < 1000, "{held}");

    // Endless text, choices, calls, keys, parts: the whole answer has a limit.
    let many = (0..).map(|n| format!("data: {{\"choices\":[{{\"index\":{n}}}]}}\n\n"));
    assert_eq!(feed_for_ever(Form::Whole, many).1, Some(End::TooLarge { limit: 100_000 }));
    for part in [
        r#""content":"0123456789012345678901234567890123456789""#,
        r#""content":[{"type":"t"}]"#,
        r#""tool_calls":[{"id":"ID"}]"#,
        r#""tool_calls":[{"index":0,"function":{"arguments":"0123456789012345678901234567890123456789"}}]"#,
        r#""reasoning_details":[1,2,3]"#,
        r#""key-ID":1"#,
    ] {
        let parts = (0..).map(|n| chunk(&part.replace("ID", &n.to_string())));
        let (held, end) = feed_for_ever(Form::Whole, parts);
        assert_eq!(end, Some(End::TooLarge { limit: 100_000 }), "{part}");
        assert!(held <= 110_000, "{part}: {held}");
    }
}

#[test]
fn deep_nesting_is_no_stack_overflow() {
    for (open, close) in [("[", "]"), ("{\"choices\":[", "]}"), ("{\"delta\":", "}")] {
        let deep = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
        for body in [
            deep.clone(),
            format!("{{\"error\":{deep}}}"),
            format!(
                "{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"x\",\"y\":{deep}}}}}]}}"
            ),
        ] {
            for form in [Form::Stream, Form::Whole] {
                let stream = format!("data: {body}\n\n");
                let _ = tell(spec(form, true), [stream.as_bytes()]);
                let mut reader = AnswerReader::new(spec(form, true));
                let _ = reader.read_whole(body.as_bytes(), &mut BytesMut::new());
            }
            let _ = ClientRequest::parse(shared::Dialect::OpenaiChat, body.as_bytes());
            let _ = matchers::parse_error(body.as_bytes());
        }
    }
}
