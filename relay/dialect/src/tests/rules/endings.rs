//! What the end of an answer means: every word of every table, and words that are in none,
//! for every client.

use super::*;
use crate::chat;
use crate::gemini;
use crate::messages;
use crate::neutral::{Meaning, Words};
use crate::responses;

/// Words that no provider is known to send.
const UNKNOWN: [&str; 3] = ["never_seen_before", "STOP!", "good"];

/// Each table, with a stream of its dialect that has the text `text` and ends with a word of the
/// table.
type Table = (&'static str, Dialect, Words, fn(&str) -> String);

fn tables() -> [Table; 6] {
    [
        ("finish_reason", CHAT, chat::finish::FINISH_REASONS, |word| {
            said("text") + &finish(word) + DONE
        }),
        ("stop_reason", MESSAGES, messages::finish::STOP_REASONS, |word| {
            let text = r#"{"type":"text","text":""}"#;
            blocks(&[block(0, text, &[r#"{"type":"text_delta","text":"text"}"#])], word)
        }),
        ("finishReason", GEMINI, gemini::finish::FINISH_REASONS, |word| {
            parts(r#"{"text":"text"}"#) + &ended(word)
        }),
        ("blockReason", GEMINI, gemini::finish::BLOCK_REASONS, |word| {
            data(&[&format!(r#"{{"promptFeedback":{{"blockReason":"{word}"}}}}"#)])
        }),
        ("status", RESPONSES, responses::finish::STATUSES, |word| {
            let reason = r#""incomplete_details":{"reason":"max_output_tokens"},"#;
            terminal(word, if word == "incomplete" { reason } else { "" })
        }),
        ("reason", RESPONSES, responses::finish::REASONS, |word| {
            terminal("incomplete", &format!(r#""incomplete_details":{{"reason":"{word}"}},"#))
        }),
    ]
}

/// A response with the text `text` and this status.
fn terminal(status: &str, more: &str) -> String {
    let kind = match status {
        "incomplete" | "failed" | "cancelled" => status,
        _ => "completed",
    };
    named(&[
        r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress"}}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"text"}"#,
        &format!(
            r#"{{"type":"response.{kind}","response":{{"id":"r","object":"response",{more}"status":"{status}"}}}}"#
        ),
    ])
}

/// The client's own words for a good end in what it was sent.
fn good_end(to: Dialect, told: &str) -> bool {
    let words: &[&str] = match to {
        MESSAGES => &["\"end_turn\"", "\"tool_use\"", "\"stop_sequence\",", "message_stop"],
        RESPONSES => &["response.completed"],
        _ => &["\"finish_reason\":\"stop\"", "\"finish_reason\":\"tool_calls\"", "[DONE]"],
    };
    words.iter().any(|word| told.contains(word))
}

#[test]
fn every_word_of_every_table_means_the_same_to_every_client() {
    for (name, from, table, stream) in tables() {
        let listed = table.0.iter().copied();
        let unknown = UNKNOWN.map(|word| (word, Meaning::Interrupted));
        for (word, meaning) in listed.chain(unknown) {
            assert_eq!(table.meaning(word), meaning, "{name} {word}: it stands there twice");
            for (to, form) in
                CLIENTS.into_iter().flat_map(|to| [(to, Form::Stream), (to, Form::Whole)])
            {
                let told = towards(from, to, form, stream(word).as_bytes());
                let what = format!("{name} {word} to {to} {form:?}: {told:?}");
                match meaning {
                    Meaning::Finished(finish) => {
                        assert_eq!(told.end, Some(End::Proper), "{what}");
                        assert_eq!(told.facts.length, finish == Finish::Length, "{what}");
                        let refused = matches!(finish, Finish::ContentFilter | Finish::Refusal);
                        assert_eq!(told.facts.refused, refused, "{what}");
                    }
                    // The event's own name counts where a status is stale.
                    Meaning::NotYet if name == "status" => {
                        assert_eq!(told.end, Some(End::Proper), "{what}");
                    }
                    Meaning::NotYet => {
                        let by_done = from == CHAT && told.facts.done;
                        assert!(by_done || matches!(told.end, Some(End::Cut)), "{what}");
                        assert_eq!(told.facts.finish, None, "{what}");
                    }
                    Meaning::Interrupted => {
                        let Some(End::Error(error)) = &told.end else { panic!("{what}") };
                        assert!(!error.message.is_empty(), "{what}");
                        assert_eq!((told.finished, told.facts.finish), (0, None), "{what}");
                        assert!(!good_end(to, &told.out), "{what}");
                        let keeps = from == CHAT && to == CHAT && form == Form::Stream;
                        assert_eq!(told.out.contains(&format!(":\"{word}\"")), keeps, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_body_in_one_piece_is_judged_by_the_same_words() {
    for word in ["never_seen_before", "abort", "network_error"] {
        let bodies = [
            (
                CHAT,
                format!(
                    r#"{{"id":"c","choices":[{{"index":0,"message":{{"content":"a"}},"finish_reason":"{word}"}}]}}"#
                ),
            ),
            (
                MESSAGES,
                format!(
                    r#"{{"type":"message","id":"m","content":[{{"type":"text","text":"a"}}],"stop_reason":"{word}"}}"#
                ),
            ),
            (
                RESPONSES,
                format!(
                    r#"{{"object":"response","id":"r","status":"{word}","output":[{{"type":"message","content":[{{"type":"output_text","text":"a"}}]}}]}}"#
                ),
            ),
            (
                GEMINI,
                format!(
                    r#"{{"candidates":[{{"content":{{"parts":[{{"text":"a"}}]}},"finishReason":"{word}"}}]}}"#
                ),
            ),
        ];
        for (from, body) in bodies {
            for to in CLIENTS {
                for form in [Form::Stream, Form::Whole] {
                    let spec = AnswerSpec { from, to, ..spec(form, true) };
                    let mut reader = crate::answer::AnswerReader::new(spec);
                    let mut out = bytes::BytesMut::new();
                    let progress = reader.read_whole(body.as_bytes(), &mut out);
                    let Some(End::Error(error)) = progress.end else {
                        panic!("{from} to {to} {word}: {progress:?}")
                    };
                    assert!(error.message.contains(word), "{}", error.message);
                }
            }
        }
    }
}

#[test]
fn an_items_status_and_its_responses_must_agree() {
    for (status, ends_well) in
        [("completed", true), ("in_progress", true), ("incomplete", false), ("new", false)]
    {
        let item = format!(
            r#"{{"id":"f","type":"function_call","call_id":"c","name":"f","arguments":"{{}}","status":"{status}"}}"#
        );
        let body = named(&[
            r#"{"type":"response.created","response":{"id":"r","object":"response"}}"#,
            &format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
            r#"{"type":"response.completed","response":{"id":"r","object":"response","status":"completed"}}"#,
        ]);
        for to in CLIENTS {
            let told = towards(RESPONSES, to, Form::Stream, body.as_bytes());
            assert_eq!(told.end == Some(End::Proper), ends_well, "{status} to {to}: {told:?}");
        }
    }
}

#[test]
fn a_second_beginning_within_an_answer_breaks_it_unless_nothing_has_come_yet() {
    let start = |id: &str| {
        named(&[&format!(r#"{{"type":"message_start","message":{{"id":"{id}","content":[]}}}}"#)])
    };
    let text = |text: &str| {
        let events = block(
            0,
            r#"{"type":"text","text":""}"#,
            &[&format!(r#"{{"type":"text_delta","text":"{text}"}}"#)],
        );
        named(&events.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let end = named(&[
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let created = |id: &str| {
        named(&[&format!(
            r#"{{"type":"response.created","response":{{"id":"{id}","object":"response"}}}}"#
        )])
    };
    let delta = |text: &str| {
        named(&[&format!(
            r#"{{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"{text}"}}"#
        )])
    };
    let completed = named(&[
        r#"{"type":"response.completed","response":{"id":"r","object":"response","status":"completed"}}"#,
    ]);
    for (from, body, ends_well) in [
        (MESSAGES, start("m") + &start("m") + &text("one") + &end, true),
        (MESSAGES, start("m") + &start("n") + &text("one") + &end, true),
        (MESSAGES, start("m") + &text("one") + &start("m") + &text("two") + &end, false),
        (MESSAGES, start("m") + &text("one") + &start("n") + &text("two") + &end, false),
        (MESSAGES, start("m") + &text("one") + &end + &start("n") + &text("two") + &end, true),
        (RESPONSES, created("r") + &created("r") + &delta("one") + &completed, true),
        (RESPONSES, created("r") + &created("s") + &delta("one") + &completed, true),
        (
            RESPONSES,
            created("r") + &delta("one") + &created("s") + &delta("two") + &completed,
            false,
        ),
    ] {
        for (to, form) in CLIENTS.into_iter().flat_map(|to| [(to, Form::Stream), (to, Form::Whole)])
        {
            let told = towards(from, to, form, body.as_bytes());
            assert_eq!(told.end == Some(End::Proper), ends_well, "to {to}: {told:?}");
            if form == Form::Stream {
                assert!(told.out.contains("one"), "{}", told.out);
            }
            assert!(!(all_of(&told) + &told.whole).contains("two"), "to {to}: {}", told.out);
        }
    }
}

#[test]
fn a_stop_after_nothing_but_reasoning_is_not_told_before_the_end() {
    let thought = r#"{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":"stop"}"#;
    for to in CLIENTS {
        let early = chunk(thought);
        let told = towards(CHAT, to, Form::Stream, (early.clone() + DONE).as_bytes());
        assert_eq!((told.end, told.finished), (Some(End::Proper), 0), "{to}");
        let body = early + &said("the answer") + &finish("stop") + DONE;
        let told = towards(CHAT, to, Form::Stream, body.as_bytes());
        assert_eq!((told.end.as_ref(), told.finished), (Some(&End::Proper), 1), "{to}");
        assert!(all_of(&told).contains("the answer"), "{to}: {}", all_of(&told));
        // A limit that was used up by thinking is believed at once.
        let told =
            towards(CHAT, to, Form::Stream, chunk(&thought.replace("stop", "length")).as_bytes());
        assert_eq!(told.finished, 1, "{to}");
    }
}

#[test]
fn a_call_is_said_with_its_whole_name() {
    let piece = |name: &str, json: &str| {
        calls(&format!(r#"{{"index":0,"function":{{"name":"{name}","arguments":"{json}"}}}}"#))
    };
    let first = |name: &str| {
        calls(&format!(r#"{{"index":0,"id":"c","function":{{"name":"{name}","arguments":""}}}}"#))
    };
    let json = piece("", r#"{\"a\":"#) + &piece("", "1}");
    for (name, deltas, expected) in [
        ("late", first("") + &piece("edit_file", "") + &json, Some("edit_file")),
        ("after the arguments", first("") + &json + &piece("edit_file", ""), Some("edit_file")),
        ("with the arguments", first("edit_") + &piece("file", r#"{\"a\":1}"#), Some("edit_file")),
        ("in pieces", first("edit_") + &piece("file", "") + &json, Some("edit_file")),
        ("repeated", first("edit_file") + &piece("edit_file", "") + &json, Some("edit_file")),
        ("never", first("") + &json, None),
    ] {
        let normal = read(CHAT, (deltas + &finish("tool_calls") + DONE).as_bytes());
        match expected {
            Some(expected) => {
                assert_eq!(normal.end, Some(End::Proper), "{name}");
                let call = ["c", expected, r#"{"a":1}"#].map(str::to_owned);
                assert_eq!(normal.calls, [call], "{name}");
            }
            None => assert!(matches!(normal.end, Some(End::Broken(_))), "{name}: {:?}", normal.end),
        }
    }
}
