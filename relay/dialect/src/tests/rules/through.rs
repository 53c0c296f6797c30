//! A client that speaks its provider's dialect gets the payloads as they are.

use super::*;

/// A stream of Anthropic with all that this relay does not know.
fn odd_message() -> String {
    let events = [
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"brand_new","x":1.50}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","y":[1, 2]}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"news"}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"h\u00e9"}   }"#,
        r#"{"type":"content_block_stop","index":1}"#,
    ];
    message(&events, "end_turn")
}

fn odd_response() -> String {
    response(
        &[
            r#"{"type":"response.news","sequence_number":2,"x":1.50}"#,
            r#"{"type":"response.output_text.delta","sequence_number":3,"output_index":0,"delta":"h\u00e9","obfuscation":"x"}"#,
        ],
        "completed",
    )
}

#[test]
fn every_payload_is_as_it_was_and_the_ending_waits() {
    for (from, body, last) in [
        (MESSAGES, odd_message(), "event: message_stop"),
        (RESPONSES, odd_response(), "event: response.completed"),
    ] {
        let unnamed: String = body
            .lines()
            .filter(|line| !line.starts_with("event:"))
            .map(|line| format!("{line}\n"))
            .collect();
        let commented = format!("\u{feff}: hello\n\n{}", body.replace('\n', "\r\n"));
        for sent in [&body, &unnamed, &commented] {
            let told = towards(from, from, Form::Stream, sent.as_bytes());
            assert_eq!(told.end, Some(End::Proper));
            assert_eq!(all_of(&told), body);
            assert!(
                told.terminator.starts_with(last) && told.terminator.matches("event:").count() == 1
            );
            assert_eq!(
                (told.facts.content, told.tokens > 0, told.first_token.is_some()),
                (true, true, true)
            );
            assert_eq!(told.whole.is_empty(), from == RESPONSES);
        }
    }
    let told = towards(MESSAGES, MESSAGES, Form::Stream, odd_message().as_bytes());
    assert!(
        told.tail.starts_with("event: message_delta") && !told.out.contains("stop_reason\":\"e")
    );
    let chat = [said("h\\u00e9").replace("\"choices\"", "\"x\":1.50,\"choices\""), finish("stop")];
    let told = towards(CHAT, CHAT, Form::Stream, (chat.concat() + DONE).as_bytes());
    assert_eq!(
        [told.out, told.tail, told.terminator],
        [chat[0].clone(), chat[1].clone(), DONE.to_owned()]
    );
}

#[test]
fn events_are_counted_where_they_are_numbered() {
    let mut reader = crate::answer::AnswerReader::new(AnswerSpec {
        from: RESPONSES,
        to: RESPONSES,
        ..spec(Form::Stream, true)
    });
    reader.read(odd_response().as_bytes(), &mut bytes::BytesMut::new());
    assert_eq!(reader.sequence(), 5);
}

#[test]
fn what_follows_the_stop_reason_waits_and_content_sets_it_free() {
    let ping = named(&[r#"{"type":"ping"}"#]);
    let whole = odd_message();
    let at = whole.find("event: message_stop").unwrap();
    let late = named(&[
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}"#,
    ]);
    let (before, stop) = whole.split_at(at);
    let told =
        towards(MESSAGES, MESSAGES, Form::Stream, format!("{before}{ping}{stop}").as_bytes());
    assert!(told.tail.starts_with("event: message_delta") && told.tail.ends_with(&ping));
    let told =
        towards(MESSAGES, MESSAGES, Form::Stream, format!("{before}{ping}{late}{stop}").as_bytes());
    assert_eq!(told.tail, "");
    assert_eq!(told.out, format!("{before}{ping}{late}"));
    // There is room for no more than one event's worth.
    let mut small = AnswerSpec { from: MESSAGES, to: MESSAGES, ..spec(Form::Stream, true) };
    small.max_event = 1000;
    let pings = ping.repeat(200);
    let told = tell_every_way(small, format!("{before}{pings}{stop}").as_bytes());
    assert!(told.facts.dropped > 100 && told.tail.len() < 4000, "{}", told.tail.len());
    assert_eq!(told.end, Some(End::Proper));
}

/// No event of any dialect that names its events.
const UNTYPED: &str = "event: note\ndata: {\"secret\":1}\n\n";

#[test]
fn junk_is_not_passed_on() {
    for (from, body) in [(MESSAGES, odd_message()), (RESPONSES, odd_response())] {
        let at = body.rfind("event: ").unwrap();
        let (before, last) = body.split_at(at);
        let told = towards(
            from,
            from,
            Form::Stream,
            format!(
                "data: junk\n\n{before}data: {{\n\ndata: [DONE]\n\n{UNTYPED}{last}data: late\n\n"
            )
            .as_bytes(),
        );
        assert_eq!((all_of(&told), told.facts.dropped), (body, 4));
    }
}

#[test]
fn an_ending_that_was_left_out_is_written() {
    let body = odd_message();
    let at = body.find("event: message_stop").unwrap();
    let told = towards(MESSAGES, MESSAGES, Form::Stream, &body.as_bytes()[..at]);
    assert_eq!(told.end, Some(End::Cut));
    assert_eq!(told.terminator, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

#[test]
fn a_second_message_start_is_not_passed_on_and_foreign_events_are_none() {
    let body = odd_message();
    let again = named(&[r#"{"type":"message_start","message":{"id":"msg_2","content":[]}}"#]);
    let at = body.find("event: ping").unwrap();
    let twice = format!("{}{again}{}", &body[..at], &body[at..]);
    assert_eq!(all_of(&towards(MESSAGES, MESSAGES, Form::Stream, twice.as_bytes())), body);
    let body = odd_response();
    let told = towards(
        RESPONSES,
        RESPONSES,
        Form::Stream,
        (named(&[r#"{"type":"ping"}"#]) + &body).as_bytes(),
    );
    assert_eq!((all_of(&told), told.facts.dropped), (body, 1));
}

#[test]
fn a_provider_at_its_own_tools_has_answered_its_own_client() {
    let served = block(0, r#"{"type":"server_tool_use","id":"s","name":"n","input":{}}"#, &[]);
    let body = blocks(&[served], "pause_turn");
    let told = towards(MESSAGES, MESSAGES, Form::Stream, body.as_bytes());
    assert_eq!((told.end, told.facts.content), (Some(End::Proper), true));
}

#[test]
fn a_chat_clients_text_is_measured_once() {
    let twice = chunk(r#"{"index":0,"text":"hi","delta":{"content":"hi"}}"#);
    let told = towards(CHAT, CHAT, Form::Stream, (twice + &finish("stop") + DONE).as_bytes());
    assert_eq!((told.facts.text_bytes, told.facts.tool_open), (2, false));
    let call = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    let told = towards(CHAT, CHAT, Form::Stream, (call.clone() + &finish("tool_calls")).as_bytes());
    assert_eq!((told.facts.text_bytes, told.facts.tool_open), (3, false));
    assert!(towards(CHAT, CHAT, Form::Stream, call.as_bytes()).facts.tool_open);
}

#[test]
fn a_chat_client_that_did_not_ask_gets_no_usage_chunk() {
    let usage =
        data(&[r#"{"id":"c-1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#]);
    let body = said("x") + &usage + DONE;
    for asked in [true, false] {
        let told = tell_every_way(spec(Form::Stream, asked), body.as_bytes());
        assert_eq!(told.end, Some(End::Proper), "without a finish reason [DONE] is believed");
        assert_eq!(
            (told.out, told.tail),
            (said("x"), if asked { usage.clone() } else { String::new() })
        );
    }
}

#[test]
fn a_call_that_nobody_called_whole_is_cut_here_too() {
    let start = r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#;
    let half = r#"{"type":"input_json_delta","partial_json":"{\"x\""}"#;
    let body = blocks(&[block(0, start, &[half])], "max_tokens");
    let end = |body: &str| towards(MESSAGES, MESSAGES, Form::Stream, body.as_bytes()).end;
    assert_eq!(end(&body), Some(End::Proper));
    assert_eq!(end(&body.replace("\"max_tokens\"", "null")), Some(End::Cut));
}

#[test]
fn an_empty_list_of_parts_is_no_token() {
    let body = [delta(r#""content":[]"#), said("x"), finish("stop")].concat();
    assert_eq!(towards(CHAT, CHAT, Form::Stream, body.as_bytes()).tokens, 1);
}
