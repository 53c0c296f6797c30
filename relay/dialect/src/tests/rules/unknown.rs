//! What readers make of a value that no table of theirs knows, and of an end that lacks its
//! word. Each place where an unknown value becomes a default is a row here: there is no other
//! place for such a decision.

use super::*;
use Taken::{Broken, Call, Content, Error, Nothing, Text, Thought};

/// What the reader takes an unknown thing for, within an answer that is otherwise good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// It has no content: a sign of life.
    Nothing,
    /// Content that no other dialect has words for.
    Content,
    /// Text of the answer.
    Text,
    /// Reasoning.
    Thought,
    /// A call with these arguments.
    Call(&'static str),
    /// An error that the provider sends.
    Error,
    /// No answer in this dialect.
    Broken,
}

/// Its name, its dialect, its events, and what they are taken for.
type Unknown = (&'static str, Dialect, String, Taken);

fn unknown_to_chat() -> Vec<Unknown> {
    let row = |name, event, taken| (name, CHAT, event, taken);
    let call = |function: &str| calls(&format!(r#"{{"index":0,"id":"c","function":{function}}}"#));
    vec![
        row("a member of a chunk", data(&[r#"{"id":"c-1","news":{"a":1}}"#]), Nothing),
        row("a member of a choice", chunk(r#"{"index":0,"news":"x","delta":{}}"#), Nothing),
        row("a member of a delta", delta(r#""news":"x""#), Nothing),
        row("an object of another kind", data(&[r#"{"object":"news","choices":[]}"#]), Nothing),
        row("choices of another type", data(&[r#"{"id":"c-1","choices":7}"#]), Nothing),
        row("a choice of another type", chunk("7"), Nothing),
        row("a choice without an index", chunk(r#"{"delta":{"content":"x"}}"#), Text),
        row("an index in quotes", chunk(r#"{"index":"0","delta":{"content":"x"}}"#), Text),
        row(
            "another choice, in quotes",
            chunk(r#"{"index":"1","delta":{"content":"x"}}"#),
            Content,
        ),
        row("a delta of another type", chunk(r#"{"index":0,"delta":"x"}"#), Nothing),
        row("another role", delta(r#""role":"news""#), Nothing),
        row("content of another type", delta(r#""content":{"text":"x"}"#), Nothing),
        row(
            "a part of another kind with a text",
            delta(r#""content":[{"type":"news","text":"x"}]"#),
            Text,
        ),
        row(
            "a part of another kind without",
            delta(r#""content":[{"type":"news","x":"x"}]"#),
            Content,
        ),
        row("reasoning of another type", delta(r#""reasoning_content":{"text":"x"}"#), Nothing),
        row(
            "a detail of another kind",
            delta(r#""reasoning_details":[{"type":"news","x":"x"}]"#),
            Nothing,
        ),
        row("a refusal of another type", delta(r#""refusal":true"#), Nothing),
        row("tool calls of another type", delta(r#""tool_calls":{"a":1}"#), Nothing),
        row("an entry that says nothing", calls(r#"{"index":0}"#), Content),
        row(
            "a call of another kind",
            calls(r#"{"index":0,"id":"c","type":"news","news":{"x":1}}"#),
            Broken,
        ),
        row("a call without a name", call(r#"{"arguments":"{}"}"#), Broken),
        row("a name of another type", call(r#"{"name":7,"arguments":"{}"}"#), Broken),
        row(
            "arguments as the object",
            call(r#"{"name":"f","arguments":{"a":1}}"#),
            Call(r#"{"a":1}"#),
        ),
        row("arguments as a list", call(r#"{"name":"f","arguments":[1]}"#), Call("[1]")),
        row("arguments as a number", call(r#"{"name":"f","arguments":7}"#), Call("7")),
        row("no arguments", call(r#"{"name":"f","arguments":null}"#), Call("")),
        row(
            "arguments of a call that never began",
            calls(r#"{"index":0,"function":{"arguments":"{}"}}"#),
            Broken,
        ),
        row(
            "a finish reason of another type",
            chunk(r#"{"index":0,"delta":{},"finish_reason":7}"#),
            Nothing,
        ),
        row(
            "another choice's end",
            chunk(r#"{"index":1,"delta":{},"finish_reason":"stop"}"#),
            Nothing,
        ),
        row("usage of another type", data(&[r#"{"choices":[],"usage":7}"#]), Nothing),
        row("an error that says nothing", data(&[r#"{"choices":[],"error":{}}"#]), Nothing),
        row("an error of another type", data(&[r#"{"choices":[],"error":7}"#]), Error),
        row("an event of another name", format!("event: news\n{}", said("x")), Text),
        row("words that are no JSON", data(&["news"]), Nothing),
    ]
}

fn unknown_to_responses() -> Vec<Unknown> {
    let row = |name, event, taken| (name, RESPONSES, event, taken);
    let added = |item: &str| {
        named(&[&format!(
            r#"{{"type":"response.output_item.added","output_index":5,"item":{item}}}"#
        )])
    };
    let done = |item: &str| {
        named(&[&format!(
            r#"{{"type":"response.output_item.done","output_index":5,"item":{item}}}"#
        )])
    };
    let call =
        |members: &str| done(&format!(r#"{{"type":"function_call","call_id":"c",{members}}}"#));
    vec![
        row("an event", named(&[r#"{"type":"response.news"}"#]), Nothing),
        row("an event of no type", data(&[r#"{"delta":"x"}"#]), Nothing),
        row("a delta", named(&[r#"{"type":"response.news.delta","delta":"x"}"#]), Content),
        row(
            "a delta of another type",
            named(&[r#"{"type":"response.output_text.delta","delta":{"text":"x"}}"#]),
            Nothing,
        ),
        row(
            "a delta without its places",
            named(&[r#"{"type":"response.output_text.delta","delta":"x"}"#]),
            Text,
        ),
        row(
            "a piece that is done",
            named(&[r#"{"type":"response.news.done","text":"x"}"#]),
            Nothing,
        ),
        row("an item", added(r#"{"type":"news"}"#), Content),
        row("an item that is done", done(r#"{"type":"news","status":"news"}"#), Content),
        row("an item of no type", added("{}"), Nothing),
        row(
            "another role",
            done(
                r#"{"type":"message","role":"news","content":[{"type":"output_text","text":"x"}]}"#,
            ),
            Text,
        ),
        row(
            "a part with a text",
            done(r#"{"type":"message","content":[{"type":"news","text":"x"}]}"#),
            Text,
        ),
        row(
            "a part without",
            done(r#"{"type":"message","content":[{"type":"news","x":"x"}]}"#),
            Nothing,
        ),
        row(
            "a part of reasoning",
            done(r#"{"type":"reasoning","content":[{"type":"news","text":"x"}]}"#),
            Thought,
        ),
        row("a call without a name", call(r#""arguments":"{}""#), Broken),
        row(
            "a call named late",
            added(r#"{"type":"function_call","call_id":"c"}"#)
                + &call(r#""name":"f","arguments":"{}""#),
            Call("{}"),
        ),
        row(
            "arguments as the object",
            call(r#""name":"f","arguments":{"a":1}"#),
            Call(r#"{"a":1}"#),
        ),
        row(
            "arguments of a call that never began",
            named(&[
                r#"{"type":"response.function_call_arguments.delta","output_index":9,"delta":"{}"}"#,
            ]),
            Broken,
        ),
        row("an error of no type", data(&[r#"{"error":{"message":"m"}}"#]), Error),
        row("words that are no JSON", data(&["news"]), Nothing),
    ]
}

fn unknown_to_messages() -> Vec<Unknown> {
    let row = |name, event, taken| (name, MESSAGES, event, taken);
    let start = |block: &str| {
        named(&[&format!(r#"{{"type":"content_block_start","index":7,"content_block":{block}}}"#)])
    };
    let delta = |delta: &str| {
        named(&[&format!(r#"{{"type":"content_block_delta","index":7,"delta":{delta}}}"#)])
    };
    let ended = |delta: &str| named(&[&format!(r#"{{"type":"message_delta","delta":{delta}}}"#)]);
    let call = |members: &str| start(&format!(r#"{{"type":"tool_use","id":"c",{members}}}"#));
    vec![
        row(
            "an event",
            named(&[r#"{"type":"news","delta":{"type":"text_delta","text":"no"}}"#]),
            Nothing,
        ),
        row("a block", start(r#"{"type":"news"}"#), Content),
        row("a block of no type", start("{}"), Nothing),
        row("a delta", delta(r#"{"type":"news","text":"no"}"#), Nothing),
        row("a text of another type", delta(r#"{"type":"text_delta","text":{"a":1}}"#), Nothing),
        row(
            "a text in a block that never began",
            delta(r#"{"type":"text_delta","text":"x"}"#),
            Text,
        ),
        row(
            "arguments in a block that never began",
            delta(r#"{"type":"input_json_delta","partial_json":"{}"}"#),
            Broken,
        ),
        row("a call without a name", call(r#""input":{}"#), Broken),
        row("a name of another type", call(r#""name":7,"input":{}"#), Broken),
        row("input as the object", call(r#""name":"f","input":{"a":1}"#), Call(r#"{"a":1}"#)),
        row("input as a text", call(r#""name":"f","input":"{\"a\":1}""#), Call(r#"{"a":1}"#)),
        row("input as a list", call(r#""name":"f","input":[1]"#), Call("[1]")),
        row("no input", call(r#""name":"f","input":null"#), Call("")),
        row(
            "a piece of input as the object",
            call(r#""name":"f","input":{}"#)
                + &delta(r#"{"type":"input_json_delta","partial_json":{"a":1}}"#),
            Call(r#"{"a":1}"#),
        ),
        row("a stop reason of another type", ended(r#"{"stop_reason":7}"#), Nothing),
        row(
            "a stop sequence of another type",
            ended(r#"{"stop_reason":"end_turn","stop_sequence":7}"#),
            Nothing,
        ),
        row(
            "usage of another type",
            named(&[r#"{"type":"message_delta","delta":{},"usage":7}"#]),
            Nothing,
        ),
        row("an error of no type", data(&[r#"{"error":{"message":"m"}}"#]), Error),
        row("words that are no JSON", data(&["news"]), Nothing),
    ]
}

fn unknown_to_gemini() -> Vec<Unknown> {
    let row = |name, event, taken| (name, GEMINI, event, taken);
    let call = |call: &str| parts(&format!(r#"{{"functionCall":{call}}}"#));
    vec![
        row("a member", data(&[r#"{"news":1}"#]), Nothing),
        row("candidates of another type", data(&[r#"{"candidates":{"a":1}}"#]), Nothing),
        row("another candidate's end", candidate(r#"{"index":1,"finishReason":"NEW"}"#), Nothing),
        row(
            "a finish reason of another type",
            candidate(r#"{"index":0,"finishReason":1}"#),
            Nothing,
        ),
        row(
            "a block reason beside candidates",
            data(&[r#"{"candidates":[{"content":{}}],"promptFeedback":{"blockReason":"NEW"}}"#]),
            Nothing,
        ),
        row(
            "another role",
            candidate(r#"{"content":{"role":"news","parts":[{"text":"x"}]}}"#),
            Text,
        ),
        row("a part", parts(r#"{"news":"x"}"#), Nothing),
        row("a text of another type", parts(r#"{"text":{"a":1}}"#), Nothing),
        row(
            "a thought that says so in another way",
            parts(r#"{"text":"x","thought":"yes"}"#),
            Text,
        ),
        row("a call without a name", call(r#"{"args":{"a":1}}"#), Broken),
        row("a call that says nothing", call("{}"), Nothing),
        row("a name of another type", call(r#"{"name":7,"args":{"a":1}}"#), Broken),
        row("no arguments", call(r#"{"name":"f"}"#), Call("{}")),
        row("usage of another type", data(&[r#"{"usageMetadata":7}"#]), Nothing),
        row("an error of another type", data(&[r#"{"error":7}"#]), Error),
        row("words that are no JSON", data(&["news"]), Nothing),
    ]
}

/// An answer with the text `text`, before its end, and the end.
fn answer_in(dialect: Dialect) -> (String, String) {
    let cut = |all: String, at: &str| {
        let (start, end) = all.split_at(all.find(at).unwrap());
        (start.to_owned(), end.to_owned())
    };
    match dialect {
        CHAT => (said("text"), finish("stop") + DONE),
        MESSAGES => {
            let text = r#"{"type":"text","text":""}"#;
            let text = block(0, text, &[r#"{"type":"text_delta","text":"text"}"#]);
            cut(blocks(&[text], "end_turn"), "event: message_delta")
        }
        RESPONSES => {
            let delta = r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"text"}"#;
            cut(response(&[delta], "completed"), "event: response.completed")
        }
        _ => (parts(r#"{"text":"text"}"#), ended("STOP")),
    }
}

/// What was added to a good answer.
fn taken(good: &Normal, with: &Normal, more_tokens: bool) -> Taken {
    match &with.end {
        Some(End::Error(_)) => return Error,
        Some(End::Broken(_)) => return Broken,
        _ => {}
    }
    if with.text != good.text {
        Text
    } else if with.reasoning != good.reasoning {
        Thought
    } else if let Some([_, _, arguments]) = with.calls.first() {
        Call(String::leak(arguments.clone()))
    } else if more_tokens {
        Content
    } else {
        Nothing
    }
}

#[test]
fn what_is_unknown_is_taken_for_what_this_table_says() {
    let tables =
        [unknown_to_chat(), unknown_to_responses(), unknown_to_messages(), unknown_to_gemini()];
    let mut wrong = String::new();
    for (name, from, event, expected) in tables.into_iter().flatten() {
        let (start, end) = answer_in(from);
        let good = read(from, (start.clone() + &end).as_bytes());
        assert_eq!(good.end, Some(End::Proper), "{from} {name}");
        let with = start.clone() + &event + &end;
        let tokens = |body: &str| towards(from, CHAT, Form::Stream, body.as_bytes()).tokens;
        let more = tokens(&(start.clone() + &event)) > tokens(&start);
        let got = taken(&good, &read(from, with.as_bytes()), more);
        if got != expected {
            let _ = writeln!(wrong, "{from}: {name}\n  got      {got:?}\n  expected {expected:?}");
        }
        if matches!(got, Error | Broken) {
            continue;
        }
        for (to, form) in CLIENTS.into_iter().flat_map(|to| [(to, Form::Stream), (to, Form::Whole)])
        {
            let told = towards(from, to, form, with.as_bytes());
            assert_eq!(told.end, Some(End::Proper), "{from} {name} to {to} {form:?}");
            // What goes on as it is, a whole answer has as well.
            let said = all_of(&told) + &told.whole;
            assert!(got != Text || said.matches('x').count() > 0, "{from} {name} to {to}: {said}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// How an answer ends that has its dialect's end, but no word for why.
struct Unsaid {
    name: &'static str,
    from: Dialect,
    body: String,
    /// It is one JSON body.
    whole: bool,
    /// From a provider that may never send one, and from one that is known to.
    ends: [End; 2],
}

const OLD_RULE: [End; 2] = [End::Proper, End::Cut];
const ALWAYS_CUT: [End; 2] = [End::Cut, End::Cut];
const WHOLE: [End; 2] = [End::Proper, End::Proper];

const fn broken(why: &'static str) -> [End; 2] {
    [End::Broken(why), End::Broken(why)]
}

const fn stream(name: &'static str, from: Dialect, body: String, ends: [End; 2]) -> Unsaid {
    Unsaid { name, from, body, whole: false, ends }
}

fn piece(name: &'static str, from: Dialect, body: &str, ends: [End; 2]) -> Unsaid {
    Unsaid { name, from, body: body.to_owned(), whole: true, ends }
}

fn unsaid_by_chat() -> Vec<Unsaid> {
    let done = |body: String| body + DONE;
    let call = |arguments: &str| {
        calls(&format!(
            r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":"{arguments}"}}}}"#
        ))
    };
    vec![
        stream("text", CHAT, done(said("text")), OLD_RULE),
        stream("a whole call", CHAT, done(call(r#"{\"a\":1}"#)), OLD_RULE),
        stream("half a call", CHAT, done(call(r#"{\"a\":"#)), ALWAYS_CUT),
        stream("a call without arguments", CHAT, done(call("")), ALWAYS_CUT),
        stream(
            "half an old call",
            CHAT,
            done(delta(r#""function_call":{"name":"f","arguments":"{"}"#)),
            ALWAYS_CUT,
        ),
        stream("nothing", CHAT, DONE.to_owned(), ALWAYS_CUT),
        stream("no [DONE]", CHAT, said("text"), ALWAYS_CUT),
        stream("a finish reason", CHAT, done(said("text") + &finish("stop")), WHOLE),
        piece("text", CHAT, r#"{"choices":[{"message":{"content":"text"}}]}"#, OLD_RULE),
        piece(
            "a null",
            CHAT,
            r#"{"choices":[{"message":{"content":"text"},"finish_reason":null}]}"#,
            OLD_RULE,
        ),
        piece(
            "another type",
            CHAT,
            r#"{"choices":[{"message":{"content":"text"},"finish_reason":7}]}"#,
            OLD_RULE,
        ),
        piece("an old text", CHAT, r#"{"choices":[{"text":"text"}]}"#, OLD_RULE),
        piece(
            "a whole call",
            CHAT,
            r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#,
            OLD_RULE,
        ),
        piece(
            "half a call",
            CHAT,
            r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}}]}"#,
            ALWAYS_CUT,
        ),
        piece(
            "nothing",
            CHAT,
            r#"{"choices":[{"message":{}}]}"#,
            broken("the body has neither content nor a finish reason"),
        ),
        piece(
            "a finish reason",
            CHAT,
            r#"{"choices":[{"message":{"content":"text"},"finish_reason":"stop"}]}"#,
            WHOLE,
        ),
    ]
}

fn unsaid_by_messages() -> Vec<Unsaid> {
    let message = |members: &str| format!(r#"{{"type":"message","id":"m",{members}}}"#);
    let (said_message, end) = answer_in(MESSAGES);
    let nothing_said =
        said_message[..said_message.find("event: content_block").unwrap()].to_owned();
    let stop = end[end.find("event: message_stop").unwrap()..].to_owned();
    let used = |input: &str| {
        let block = format!(r#"{{"type":"tool_use","id":"a","name":"f","input":{input}}}"#);
        named(&[&format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#)])
    };
    let half = named(&[
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
    ]);
    vec![
        stream("text", MESSAGES, said_message.clone() + &stop, OLD_RULE),
        stream(
            "a whole call",
            MESSAGES,
            nothing_said.clone() + &used(r#"{"a":1}"#) + &stop,
            OLD_RULE,
        ),
        stream(
            "a call without arguments",
            MESSAGES,
            nothing_said.clone() + &used("{}") + &stop,
            OLD_RULE,
        ),
        stream(
            "half a call",
            MESSAGES,
            nothing_said.clone() + &used("{}") + &half + &stop,
            ALWAYS_CUT,
        ),
        // It is the ladder's to judge an answer of nothing.
        stream("nothing", MESSAGES, nothing_said + &stop, WHOLE),
        stream("no message_stop", MESSAGES, said_message, ALWAYS_CUT),
        piece("text", MESSAGES, &message(r#""content":[{"type":"text","text":"text"}]"#), OLD_RULE),
        piece(
            "a null",
            MESSAGES,
            &message(r#""content":[{"type":"text","text":"text"}],"stop_reason":null"#),
            OLD_RULE,
        ),
        piece(
            "nothing",
            MESSAGES,
            &message(r#""content":[]"#),
            broken("the body has neither content nor a stop reason"),
        ),
        piece(
            "a stop reason",
            MESSAGES,
            &message(r#""content":[{"type":"text","text":"text"}],"stop_reason":"end_turn""#),
            WHOLE,
        ),
    ]
}

fn unsaid_by_others() -> Vec<Unsaid> {
    vec![
        stream("text", GEMINI, answer_in(GEMINI).0, ALWAYS_CUT),
        piece(
            "text",
            GEMINI,
            r#"{"candidates":[{"content":{"parts":[{"text":"text"}]}}]}"#,
            broken("the body has no finish reason"),
        ),
        stream(
            "no status",
            RESPONSES,
            answer_in(RESPONSES).0
                + &named(&[r#"{"type":"response.completed","response":{"id":"r"}}"#]),
            WHOLE,
        ),
        stream("no terminal event", RESPONSES, answer_in(RESPONSES).0, ALWAYS_CUT),
        piece(
            "no status",
            RESPONSES,
            r#"{"object":"response","id":"r","output":[{"type":"message","content":[{"type":"output_text","text":"text"}]}]}"#,
            broken("the response has not ended"),
        ),
    ]
}

#[test]
fn an_end_without_its_word_is_believed_only_of_who_never_sends_one() {
    let mut wrong = String::new();
    let tables = [unsaid_by_chat(), unsaid_by_messages(), unsaid_by_others()];
    for Unsaid { name, from, body, whole, ends } in tables.into_iter().flatten() {
        let ways = CLIENTS.into_iter().flat_map(|to| [(to, Form::Stream), (to, Form::Whole)]);
        for ((to, form), finishes) in ways.flat_map(|way| [(way, false), (way, true)]) {
            let spec = AnswerSpec { from, to, finishes, ..spec(form, true) };
            let (end, facts) = if whole {
                let mut reader = crate::answer::AnswerReader::new(spec);
                let progress = reader.read_whole(body.as_bytes(), &mut bytes::BytesMut::new());
                (progress.end, reader.facts().clone())
            } else {
                let told = tell_every_way(spec, body.as_bytes());
                (told.end, told.facts)
            };
            let expected = &ends[usize::from(finishes)];
            if end.as_ref() != Some(expected) {
                let _ = writeln!(
                    wrong,
                    "{from} whole {whole}: {name} to {to} {form:?} finishes {finishes}\n  got      {end:?}\n  expected {expected:?}"
                );
            }
            // It is noted where a reason is missing: `done`, and no finish.
            let is_noted = facts.done && facts.finish.is_none();
            if ends == [End::Proper, End::Cut] && !finishes && !is_noted {
                let _ =
                    writeln!(wrong, "{from} whole {whole}: {name} to {to} {form:?} is not noted");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn of_several_choices_one_reason_is_enough_but_not_one_that_is_taken_back() {
    let choice = |index: u8, members: &str| chunk(&format!(r#"{{"index":{index},{members}}}"#));
    let text = |index| choice(index, r#""delta":{"content":"x"}"#);
    let end = |index| choice(index, r#""delta":{},"finish_reason":"stop""#);
    for (name, body, expected) in [
        ("both", text(0) + &text(1) + &end(0) + &end(1), End::Proper),
        ("one of two", text(0) + &text(1) + &end(0), End::Proper),
        ("one that goes on", text(0) + &text(1) + &end(0) + &end(1) + &text(1), End::Cut),
        ("fewer than were asked for", text(0) + &end(0), End::Proper),
        ("neither", text(0) + &text(1), End::Cut),
    ] {
        for form in [Form::Stream, Form::Whole] {
            let spec = AnswerSpec { choices: 2, finishes: true, ..spec(form, true) };
            let told = tell_every_way(spec, (body.clone() + DONE).as_bytes());
            assert_eq!(told.end.as_ref(), Some(&expected), "{name} {form:?}");
        }
    }
}
