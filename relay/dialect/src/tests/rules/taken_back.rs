//! A finish reason that content cancels, and one that is repeated.

use super::*;

/// Each dialect: a start, content, a finish, the same finish again, more content, a finish
/// because of length, and what ends the body.
fn pieces(from: Dialect) -> [String; 7] {
    match from {
        CHAT => [
            String::new(),
            said("a"),
            finish("stop"),
            finish("stop"),
            said("b"),
            finish("length"),
            DONE.to_owned(),
        ],
        MESSAGES => {
            let end = |reason: &str| {
                named(&[&format!(
                    r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":5}}}}"#
                )])
            };
            let text = |at: u32, text: &str| {
                let events = block(
                    at,
                    r#"{"type":"text","text":""}"#,
                    &[&format!(r#"{{"type":"text_delta","text":"{text}"}}"#)],
                );
                named(&events.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let start = named(&[r#"{"type":"message_start","message":{"id":"m","content":[]}}"#]);
            [
                start,
                text(0, "a"),
                end("end_turn"),
                end("end_turn"),
                text(1, "b"),
                end("max_tokens"),
                named(&[r#"{"type":"message_stop"}"#]),
            ]
        }
        _ => {
            let text = |text: &str| parts(&format!(r#"{{"text":"{text}"}}"#));
            [
                String::new(),
                text("a"),
                ended("STOP"),
                ended("STOP"),
                text("b"),
                ended("MAX_TOKENS"),
                String::new(),
            ]
        }
    }
}

#[test]
fn content_takes_a_finish_reason_back() {
    for from in [CHAT, MESSAGES, GEMINI] {
        let [start, a, stop, again, b, length, end] = pieces(from);
        for to in CLIENTS {
            let tell = |parts: &[&String]| {
                let body: String = parts.iter().map(|part| part.as_str()).collect();
                towards(from, to, Form::Stream, body.as_bytes())
            };
            let name = format!("{from} to {to}");
            let told = tell(&[&start, &a, &stop, &again, &b, &length, &end]);
            assert_eq!((told.end.as_ref(), told.finished), (Some(&End::Proper), 1), "{name}");
            assert!(told.facts.length, "{name}");
            if from == to {
                let body = [&start, &a, &stop, &again, &b, &length, &end].map(|part| part.as_str());
                assert_eq!(all_of(&told), body.concat(), "{name}");
            }
            let back = read(to, all_of(&told).as_bytes());
            assert_eq!((back.text.as_str(), back.finish), ("ab", Some("length")), "{name}");
            // What waits for the ending is there once.
            let told = tell(&[&start, &a, &stop, &again, &end]);
            assert_eq!((told.end, told.finished), (Some(End::Proper), 1), "{name}");
            if from != to {
                assert_eq!(
                    told.tail.matches("finish_reason\":\"stop").count()
                        + told.tail.matches("end_turn").count()
                        + told.tail.matches("output_item.done\n").count(),
                    1,
                    "{name}: {}",
                    told.tail
                );
            }
            // It went on, and a body that ends then is cut.
            let told = tell(&[&start, &a, &stop, &b]);
            assert_eq!((told.end, told.finished), (Some(End::Cut), 0), "{name}");
        }
    }
}

#[test]
fn what_is_done_is_told_once_and_before_its_end() {
    for from in [CHAT, MESSAGES, GEMINI] {
        let [start, a, stop, again, _, _, end] = pieces(from);
        let body = [start, a, stop, again, end].concat();
        let mut reader = crate::answer::AnswerReader::new(AnswerSpec {
            from,
            to: CHAT,
            ..spec(Form::Stream, true)
        });
        let mut finished = 0;
        let mut out = bytes::BytesMut::new();
        for byte in body.as_bytes().chunks(1) {
            finished += u32::from(reader.read(byte, &mut out).finished);
        }
        reader.end_of_body(&mut out);
        assert_eq!(finished, 1, "{from}");
    }
}

#[test]
fn what_no_other_dialect_has_words_for_takes_it_back_too() {
    let code = parts(r#"{"executableCode":{"code":"1"}}"#);
    let body = parts(r#"{"text":"a"}"#) + &ended("STOP") + &code;
    assert_eq!(towards(GEMINI, CHAT, Form::Stream, body.as_bytes()).end, Some(End::Cut));
    let both =
        r#"{"index":0,"delta":{},"finish_reason":"stop"},{"index":0,"delta":{"content":"b"}}"#;
    let told = towards(CHAT, MESSAGES, Form::Stream, (said("a") + &chunk(both)).as_bytes());
    assert_eq!((told.end, told.finished), (Some(End::Cut), 0));
}
