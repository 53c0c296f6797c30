//! Exactly what each kind of client is written, event by event.

use super::*;
use crate::neutral::{Answer, Event, Text};
use crate::stream::facts::{Facts, Progress};
use crate::stream::observer::{Observed, Observer, Sink, Writer};
use crate::table;
use bytes::BytesMut;
use shared::Usage;

/// What was written of a script.
struct Written {
    out: String,
    tail: String,
    terminator: String,
    whole: String,
}

fn writer(spec: &AnswerSpec) -> Box<dyn Writer> {
    table::client(spec.to).writer(spec)
}

fn write(to: Dialect, script: &[Event<'_>], usage: Usage) -> Written {
    let spec = AnswerSpec { from: GEMINI, to, ..spec(Form::Stream, true) };
    let mut writer = writer(&spec);
    let (mut observed, mut out) = (Observed::default(), BytesMut::new());
    let mut answer = Answer::default();
    for event in script {
        let mut observer = Observer::new(&mut observed, Sink::Stream(&mut *writer, &mut out));
        observer.usage(usage);
        observer.emit(event);
        observer.close(&mut Progress::default());
        answer.add(event);
    }
    let text = |out: &mut BytesMut| String::from_utf8(out.split().to_vec()).unwrap();
    let out_text = text(&mut out);
    let facts = observed.facts;
    writer.tail(&facts, &mut out);
    let tail = text(&mut out);
    writer.terminator(&facts, &mut out);
    let terminator = text(&mut out);
    let whole = String::from_utf8(writer.whole(&answer, &facts)).unwrap();
    Written { out: out_text, tail, terminator, whole }
}

/// Payloads line by line, with the names checked and the request's id made short.
fn lines(stream: &str) -> Vec<String> {
    if stream == DONE {
        return vec!["[DONE]".to_owned()];
    }
    life::events(stream);
    let line = |block: &str| block.split_once("data: ").unwrap().1.replace(&request(), "REQ");
    stream.split_terminator("\n\n").map(line).collect()
}

/// Compares with what stands in `written/`: the stream's payloads, the ending's after a
/// rule, the terminator's after another, and the whole answer after the last.
fn check_script(to: Dialect, script: &[Event<'_>], usage: Usage, expected: &str) {
    let written = write(to, script, usage);
    let parts =
        [&written.out, &written.tail, &written.terminator].map(|part| lines(part).join("\n"));
    let whole = written.whole.replace(&request(), "REQ");
    let got = format!("{}\n---\n{whole}\n", parts.join("\n---\n"));
    assert!(got == expected, "{to}\n{got}");
}

fn text(text: &str) -> Text<'static> {
    Text::plain(text)
}

fn begin(id: &str, model: &str) -> Event<'static> {
    Event::Begin { id: text(id), model: text(model) }
}

fn call(call: usize, id: &str, name: &str, custom: bool) -> Event<'static> {
    Event::Call { call, id: text(id), name: text(name), custom }
}

fn arguments(call: usize, json: &str) -> Event<'static> {
    Event::Arguments { call, json: text(json) }
}

const fn finish(finish: Finish) -> Event<'static> {
    Event::Finish { finish, stop_sequence: None }
}

const USAGE: Usage = Usage {
    input: Some(20),
    output: Some(5),
    cached: Some(4),
    cache_write: Some(3),
    reasoning: Some(2),
};

/// Something of everything, with a call that starts before another is whole.
fn everything() -> Vec<Event<'static>> {
    vec![
        begin("id-1", "m-1"),
        Event::Reasoning(text("h")),
        Event::Reasoning(text("\"m\"")),
        Event::Signature(text("s1")),
        Event::Redacted(text("d1")),
        Event::Text(text("a\n")),
        Event::Text(text("b")),
        Event::Refusal(text("no")),
        Event::CallSignature { call: 0, signature: text("s2") },
        call(0, "c-a", "f", false),
        arguments(0, "{\"x\""),
        call(1, "", "g", false),
        arguments(1, "{}"),
        Event::Text(text("late")),
        arguments(0, ":1}"),
        call(2, "c-c", "h", true),
        arguments(2, "free {"),
        finish(Finish::ToolCalls),
    ]
}

/// A call without arguments and one without an end, and no event that begins the answer.
fn bare() -> Vec<Event<'static>> {
    vec![
        call(0, "", "f", false),
        call(1, "c-b", "g", false),
        arguments(1, "{\"x\":\"lo"),
        finish(Finish::Length),
    ]
}

#[test]
fn chat_clients_get_chunks() {
    check_script(CHAT, &everything(), USAGE, include_str!("written/everything.chat.txt"));
    check_script(CHAT, &bare(), Usage::default(), include_str!("written/bare.chat.txt"));
    let nothing = [finish(Finish::Stop)];
    check_script(CHAT, &nothing, Usage::default(), include_str!("written/nothing.chat.txt"));
}

#[test]
fn anthropic_clients_get_blocks() {
    check_script(MESSAGES, &everything(), USAGE, include_str!("written/everything.messages.txt"));
    check_script(MESSAGES, &bare(), Usage::default(), include_str!("written/bare.messages.txt"));
    let nothing = [finish(Finish::Stop)];
    check_script(
        MESSAGES,
        &nothing,
        Usage::default(),
        include_str!("written/nothing.messages.txt"),
    );
}

#[test]
fn responses_clients_get_items() {
    check_script(RESPONSES, &everything(), USAGE, include_str!("written/everything.responses.txt"));
    check_script(RESPONSES, &bare(), Usage::default(), include_str!("written/bare.responses.txt"));
    let nothing = [finish(Finish::Stop)];
    check_script(
        RESPONSES,
        &nothing,
        Usage::default(),
        include_str!("written/nothing.responses.txt"),
    );
}

#[test]
fn every_finish_has_its_word_for_every_client() {
    let word = |to, finish: Finish, called: bool, refused: bool| {
        let mut script = vec![begin("i", "m")];
        if refused {
            script.push(Event::Refusal(text("no")));
        }
        if called {
            script.extend([call(0, "a", "f", false), arguments(0, "{}")]);
        }
        script.push(self::finish(finish));
        let written = write(to, &script, Usage::default());
        let (_, last) = life::events(&(written.tail + written.terminator.trim_start_matches(DONE)))
            .into_iter()
            .rfind(|(name, json)| name != "message_stop" && json["choices"] != json!([]))
            .unwrap();
        let whole: Value = serde_json::from_str(&written.whole).unwrap();
        let (said, whole) = match to {
            MESSAGES => (last["delta"]["stop_reason"].clone(), whole["stop_reason"].clone()),
            RESPONSES => {
                let of = |response: &Value| {
                    let reason = &response["incomplete_details"]["reason"];
                    if reason.is_null() { response["status"].clone() } else { reason.clone() }
                };
                (of(&last["response"]), of(&whole))
            }
            _ => (
                last["choices"][0]["finish_reason"].clone(),
                whole["choices"][0]["finish_reason"].clone(),
            ),
        };
        assert_eq!(said, whole);
        said.as_str().unwrap().to_owned()
    };
    for (finish, called, refused, expected) in [
        (Finish::Stop, false, false, ["stop", "end_turn", "completed"]),
        (Finish::Stop, true, false, ["tool_calls", "tool_use", "completed"]),
        (Finish::StopSequence, false, false, ["stop", "stop_sequence", "completed"]),
        (Finish::StopSequence, true, false, ["tool_calls", "tool_use", "completed"]),
        (Finish::Length, false, false, ["length", "max_tokens", "max_output_tokens"]),
        (Finish::Length, true, false, ["length", "max_tokens", "max_output_tokens"]),
        (Finish::ToolCalls, true, false, ["tool_calls", "tool_use", "completed"]),
        (Finish::ToolCalls, false, false, ["stop", "end_turn", "completed"]),
        (Finish::ContentFilter, false, false, ["content_filter", "refusal", "content_filter"]),
        (Finish::ContentFilter, true, false, ["content_filter", "refusal", "content_filter"]),
        (Finish::Refusal, false, false, ["content_filter", "refusal", "content_filter"]),
        (Finish::Stop, false, true, ["stop", "refusal", "completed"]),
        (Finish::Length, false, true, ["length", "max_tokens", "max_output_tokens"]),
        (Finish::Pause, false, false, ["stop", "pause_turn", "completed"]),
    ] {
        let got = CLIENTS.map(|to| word(to, finish, called, refused));
        assert_eq!(got, expected, "{finish:?} {called} {refused}");
    }
}

#[test]
fn a_chat_client_gets_usage_only_if_it_asked() {
    let mut writer =
        table::client(CHAT).writer(&AnswerSpec { from: GEMINI, ..spec(Form::Stream, false) });
    let mut out = BytesMut::new();
    writer.tail(&Facts { usage: USAGE, ..Facts::default() }, &mut out);
    let text = String::from_utf8(out.to_vec()).unwrap();
    assert!(text.contains(r#""finish_reason":"stop""#) && !text.contains("usage"), "{text}");
}

#[test]
fn what_waits_for_a_block_is_held_and_set_free() {
    let mut writer = table::client(MESSAGES).writer(&AnswerSpec {
        from: CHAT,
        to: MESSAGES,
        ..spec(Form::Stream, false)
    });
    let (facts, mut out) = (Facts::default(), BytesMut::new());
    let mut say = |event: Event<'_>| {
        writer.event(&event, &facts, &mut out);
        let text = String::from_utf8(out.split().to_vec()).unwrap();
        (text, writer.held())
    };
    say(call(0, "a", "f", false));
    let (text, held) = say(Event::Text(text("waits")));
    assert!(text.is_empty() && held >= 5, "{text} {held}");
    let (text, more) = say(call(1, "b", "g", false));
    assert!(text.is_empty() && more >= held + 2, "{text} {more}");
    let (text, held) = say(arguments(0, "{}"));
    assert!(text.contains("waits") && text.contains("\"g\""), "{text}");
    assert_eq!(held, 0);
}

#[test]
fn a_stop_sequence_is_told_to_who_has_a_word_for_it() {
    let stop_sequence = Some(text("E\nD"));
    let script = [Event::Finish { finish: Finish::StopSequence, stop_sequence }];
    let written = write(MESSAGES, &script, USAGE);
    let both = r#""stop_reason":"stop_sequence","stop_sequence":"E\nD""#;
    assert!(written.tail.contains(both) && written.whole.contains(both), "{}", written.tail);
}
