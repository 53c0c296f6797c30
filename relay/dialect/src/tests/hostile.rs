//! Bytes that no honest provider sends.

use crate::answer::AnswerReader;
use crate::common::retry_after;
use crate::errors::{classify, parse_error};
use crate::request::ClientRequest;
use crate::stream::facts::{AnswerSpec, End, Form};
use crate::tests::{Told, by_byte, pieces, spec, tell};
use bytes::BytesMut;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde::de::IgnoredAny;
use shared::Dialect;

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
        "\"finish_reason\":\"abort\"",
        "\"finishReason\":\"NEW\"",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"network_error\"}]}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"abort\"}}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"cancelled\"}}\n\n",
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
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\ud83c\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"a\"}\n\n",
        "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\"}}\n\n",
        "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{}\"}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"completed\"}}\n\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\r\n\r\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}}}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
        "{\n \"error\": {\"code\": 503, \"message\": \"m\"}\n}\n",
        "\"type\":\"content_block_delta\",",
        "\"index\":9,",
        "\"functionCall\":{\"name\":\"g\",\"willContinue\":true,\"partialArgs\":[{\"jsonPath\":\"$.a[3].b\"}]}",
    ]);
    let piece = prop_oneof![
        9 => word.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..9),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Every provider's dialect with every client's.
fn pairs() -> Vec<(Dialect, Dialect)> {
    let clients = [Dialect::OpenaiChat, Dialect::AnthropicMessages, Dialect::OpenaiResponses];
    Dialect::ALL.iter().flat_map(|from| clients.map(|to| (*from, to))).collect()
}

fn dialects() -> impl Strategy<Value = (Dialect, Dialect)> {
    prop::sample::select(pairs())
}

/// What a client is sent as whole must be something that it can read.
fn well_formed(to: Dialect, form: Form, told: &Told) -> Result<(), TestCaseError> {
    let text = match form {
        Form::Stream => format!("{}{}{}", told.out, told.tail, told.terminator),
        Form::Whole => {
            let whole: Result<IgnoredAny, _> = serde_json::from_str(&told.whole);
            prop_assert!(whole.is_ok(), "{}", told.whole);
            return Ok(());
        }
    };
    prop_assert!(text.ends_with("\n\n"));
    let end = match to {
        Dialect::OpenaiChat | Dialect::Gemini => text.ends_with("data: [DONE]\n\n"),
        Dialect::AnthropicMessages => text.contains("event: message_stop\n"),
        Dialect::OpenaiResponses => ["completed", "incomplete"]
            .iter()
            .any(|end| text.contains(&format!("event: response.{end}\n"))),
    };
    prop_assert!(end, "{}", text);
    // Half a character passes as it was escaped, which only lenient readers take.
    for block in text.split_terminator("\n\n") {
        let data = block.split_once("data: ").map(|(_, data)| data);
        let is_json = data.is_some_and(|data| {
            data == "[DONE]" || serde_json::from_str::<IgnoredAny>(data).is_ok()
        });
        prop_assert!(is_json, "{}", block);
    }
    Ok(())
}

/// No ending is guessed: a good one needs a word that says so, and what has not ended well has
/// no good end in it.
fn ends_are_told(
    from: Dialect,
    to: Dialect,
    body: &[u8],
    told: &Told,
) -> Result<(), TestCaseError> {
    let body = String::from_utf8_lossy(body);
    if told.end == Some(End::Proper) {
        let words: &[&str] = match from {
            Dialect::OpenaiChat => &["\"stop\"", "[DONE]"],
            Dialect::AnthropicMessages => &["message_stop"],
            Dialect::OpenaiResponses => &["response.completed"],
            Dialect::Gemini => &["\"STOP\"", "\"stop\""],
        };
        prop_assert!(words.iter().any(|word| body.contains(word)), "{}", body);
        return Ok(());
    }
    let end = match to {
        Dialect::OpenaiChat | Dialect::Gemini => "data: [DONE]\n",
        Dialect::AnthropicMessages => "event: message_stop\n",
        Dialect::OpenaiResponses => "event: response.completed\n",
    };
    prop_assert!(!told.out.contains(end), "{}", told.out);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn any_cut_of_any_bytes_tells_the_same_to_every_client(
        body in nasty(),
        seed in any::<u64>(),
        (from, to) in dialects(),
    ) {
        let spec = |form| AnswerSpec { from, to, ..spec(form, true) };
        for form in [Form::Stream, Form::Whole] {
            let mut once = tell(spec(form), [&body[..]]);
            for mut other in [tell(spec(form), by_byte(&body)), tell(spec(form), pieces(&body, seed))] {
                (other.held, other.first_token) = (0, None);
                (once.held, once.first_token) = (0, None);
                prop_assert_eq!(&other, &once);
            }
            if once.end == Some(End::Proper) {
                well_formed(to, form, &once)?;
            }
            ends_are_told(from, to, &body, &once)?;
        }
    }

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
                well_formed(Dialect::OpenaiChat, form, &once)?;
                prop_assert!(once.whole.contains(r#""object":"chat.completion""#));
            }
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(body in nasty(), head in any::<bool>()) {
        let body = if head { [b"{\"model\":\"m\",\"choices\":[", &body[..], b"]}"].concat() } else { body };
        for (from, to) in pairs() {
            for form in [Form::Stream, Form::Whole] {
                let mut reader = AnswerReader::new(AnswerSpec { from, to, ..spec(form, true) });
                let progress = reader.read_whole(&body, &mut BytesMut::new());
                prop_assert!(progress.end.is_some());
            }
        }
        for dialect in Dialect::ALL {
            let _ = ClientRequest::parse(*dialect, &body);
        }
        let mut error = parse_error(&body);
        for dialect in Dialect::ALL {
            classify(*dialect, &[], None, &mut error, &|_| false);
        }
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
        let progress = reader.read(part.as_bytes(), &mut out);
        out.clear();
        most = most.max(reader.held());
        if progress.end.is_some() {
            return (most, progress.end);
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
        r#""tool_calls":[{"index":0,"id":"a","function":{"arguments":"0123456789012345678901234567890123456789"}}]"#,
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
            let _ = ClientRequest::parse(Dialect::OpenaiChat, body.as_bytes());
            let _ = parse_error(body.as_bytes());
        }
    }
}
