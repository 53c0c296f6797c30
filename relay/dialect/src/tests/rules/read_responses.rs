//! How answers of responses providers are read.

use super::*;

fn added(at: u32, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.added","output_index":{at},"item":{item}}}"#)
}

fn done(at: u32, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":{at},"item":{item}}}"#)
}

/// An event of one item; `members` are its own.
fn of(at: u32, kind: &str, members: &str) -> String {
    format!(r#"{{"type":"response.{kind}","item_id":"i_{at}","output_index":{at},{members}}}"#)
}

fn open_message(at: u32) -> String {
    added(
        at,
        r#"{"id":"i","type":"message","role":"assistant","status":"in_progress","content":[]}"#,
    )
}

fn whole_message(at: u32, text: &str) -> String {
    done(
        at,
        &format!(
            r#"{{"id":"i","type":"message","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
        ),
    )
}

fn said(at: u32, text: &str) -> String {
    of(at, "output_text.delta", &format!(r#""content_index":0,"delta":"{text}""#))
}

fn open_call(at: u32, id: &str, name: &str) -> String {
    added(
        at,
        &format!(
            r#"{{"id":"fc_{id}","type":"function_call","status":"in_progress","arguments":"","call_id":"{id}","name":"{name}"}}"#
        ),
    )
}

fn arguments(at: u32, piece: &str) -> String {
    of(at, "function_call_arguments.delta", &format!(r#""delta":{}"#, json!(piece)))
}

fn whole_call(at: u32, id: &str, name: &str, arguments: &str) -> String {
    done(at, &json!({"id": "fc", "type": "function_call", "arguments": arguments, "call_id": id, "name": name}).to_string())
}

fn s(events: &[String]) -> String {
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    response(&events, "completed")
}

fn checked(rows: &[(&str, String, &str)]) {
    check(RESPONSES, rows);
}

#[test]
fn preludes_are_no_content_and_every_kind_of_first_content_is() {
    let part =
        of(0, "content_part.added", r#""content_index":0,"part":{"type":"output_text","text":""}"#);
    let plain = s(&[
        open_message(0),
        part.clone(),
        said(0, "h"),
        said(0, "i"),
        of(0, "output_text.done", r#""content_index":0,"text":"hi""#),
        of(0, "content_part.done", r#""part":{"type":"output_text","text":"hi"}"#),
        whole_message(0, "hi"),
    ]);
    let usual = "text(hi) | Stop | 10 in 5 out | @4 | done | proper";
    let unnamed: String = plain
        .lines()
        .filter(|line| !line.starts_with("event:"))
        .map(|line| format!("{line}\n"))
        .collect();
    let queued = named(&[r#"{"type":"response.queued","response":{"id":"resp_1","model":"m-1"}}"#]);
    let search = added(0, r#"{"id":"ws","type":"web_search_call","status":"in_progress"}"#);
    let searching = of(0, "web_search_call.searching", r#""x":1"#);
    checked(&[
        ("the usual order", plain.clone(), usual),
        ("no names, and [DONE] after it", unnamed + DONE, usual),
        ("queued", queued + &plain, "text(hi) | Stop | 10 in 5 out | @5 | done | proper"),
        (
            "no item was added",
            s(&[said(0, "hi")]),
            "text(hi) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "an empty delta",
            s(&[open_message(0), said(0, ""), said(0, "hi")]),
            "text(hi) | Stop | 10 in 5 out | @4 | done | proper",
        ),
        (
            "a call's name",
            s(&[open_call(0, "a", "f"), arguments(0, "{}")]),
            "call(a f {}) | ToolCalls | 10 in 5 out | @2 | done | proper",
        ),
        (
            "the provider's own tool",
            s(&[search, searching, open_message(1), said(1, "hi")]),
            "text(hi) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "a refusal",
            s(&[
                open_message(0),
                of(0, "refusal.delta", r#""delta":"no""#),
                of(0, "refusal.done", r#""refusal":"no""#),
            ]),
            "no(no) | Stop | 10 in 5 out | @3 | done | proper",
        ),
        (
            "unknown events",
            s(&[r#"{"type":"response.news","text":"no"}"#.to_owned(), said(0, "hi")]),
            "text(hi) | Stop | 10 in 5 out | @3 | done | proper",
        ),
        (
            "unknown deltas are a sign of work",
            s(&[of(0, "new.delta", r#""delta":"no""#), said(1, "hi")]),
            "text(hi) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "obfuscation is no content",
            s(&[of(0, "output_text.delta", r#""delta":"hi","obfuscation":"xyz""#)]),
            "text(hi) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "an annotation is no content",
            s(&[
                of(0, "output_text.annotation.added", r#""annotation":{"type":"url_citation"}"#),
                said(0, "hi"),
            ]),
            "text(hi) | Stop | 10 in 5 out | @3 | done | proper",
        ),
    ]);
}

#[test]
fn what_was_not_said_in_pieces_is_said_when_it_is_done() {
    let text_done = |at: u32, text: &str| {
        of(at, "output_text.done", &format!(r#""content_index":0,"text":"{text}""#))
    };
    let call_done = of(0, "function_call_arguments.done", r#""arguments":"{\"x\":1}""#);
    let call = "call(a f {\"x\":1}) | ToolCalls | 10 in 5 out | @2 | done | proper";
    let text = "text(hi) | Stop | 10 in 5 out | @3 | done | proper";
    let in_last = response(&[], "completed").replace(r#""status":"completed""#, r#""status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]"#);
    checked(&[
        ("arguments done", s(&[open_call(0, "a", "f"), call_done.clone()]), call),
        (
            "arguments in both done events",
            s(&[open_call(0, "a", "f"), call_done.clone(), whole_call(0, "a", "f", "{\"x\":1}")]),
            call,
        ),
        (
            "arguments in the item alone",
            s(&[open_call(0, "a", "f"), whole_call(0, "a", "f", "{\"x\":1}")]),
            call,
        ),
        ("the item alone", s(&[whole_call(0, "a", "f", "{\"x\":1}")]), call),
        (
            "pieces and both",
            s(&[
                open_call(0, "a", "f"),
                arguments(0, "{\"x\""),
                arguments(0, ":1}"),
                call_done,
                whole_call(0, "a", "f", "{\"x\":1}"),
            ]),
            call,
        ),
        (
            "no arguments",
            s(&[open_call(0, "a", "f"), whole_call(0, "a", "f", "")]),
            "call(a f ) | ToolCalls | 10 in 5 out | @2 | done | proper",
        ),
        ("text done", s(&[open_message(0), text_done(0, "hi"), whole_message(0, "hi")]), text),
        ("text in the item alone", s(&[open_message(0), whole_message(0, "hi")]), text),
        (
            "text in pieces and done",
            s(&[open_message(0), said(0, "hi"), text_done(0, "hi"), whole_message(0, "hi")]),
            text,
        ),
        (
            "two parts, each done",
            s(&[
                open_message(0),
                text_done(0, "h"),
                of(0, "output_text.done", r#""content_index":1,"text":"i""#),
                whole_message(0, "hi"),
            ]),
            text,
        ),
        (
            "a refusal in the item alone",
            s(&[done(0, r#"{"type":"message","content":[{"type":"refusal","refusal":"no"}]}"#)]),
            "no(no) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "a refusal done",
            s(&[of(0, "refusal.done", r#""refusal":"no""#)]),
            "no(no) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "all in the last event",
            in_last,
            "text(hi) call(a f {}) | ToolCalls | 10 in 5 out | @2 | done | proper",
        ),
    ]);
}

#[test]
fn items_are_told_apart_by_their_place() {
    let two =
        "call(a f {\"x\":1}) call(b g {\"y\":2}) | ToolCalls | 10 in 5 out | @2 | done | proper";
    let rotating = [
        open_call(0, "a", "f"),
        arguments(0, "{\"x\"").replace("i_0", "r1"),
        arguments(0, ":1}").replace("i_0", "r2"),
        whole_call(0, "a", "f", "{\"x\":1}").replace("\"fc\"", "\"r3\""),
        open_call(1, "b", "g"),
        arguments(1, "{\"y\":2}").replace("i_1", "r4"),
    ];
    checked(&[
        ("ids that rotate", s(&rotating), two),
        (
            "interleaved",
            s(&[
                open_call(0, "a", "f"),
                open_call(1, "b", "g"),
                arguments(0, "{\"x\""),
                arguments(1, "{\"y\""),
                arguments(0, ":1}"),
                arguments(1, ":2}"),
            ]),
            two,
        ),
        (
            "a custom tool",
            s(&[
                added(0, r#"{"type":"custom_tool_call","call_id":"a","name":"f","input":""}"#),
                of(0, "custom_tool_call_input.delta", r#""delta":"free {""#),
                of(0, "custom_tool_call_input.done", r#""input":"free {""#),
            ]),
            "custom(a f free {) | ToolCalls | 10 in 5 out | @2 | done | proper",
        ),
        (
            "a custom tool, done alone",
            s(&[done(0, r#"{"type":"custom_tool_call","call_id":"a","name":"f","input":"free"}"#)]),
            "custom(a f free) | ToolCalls | 10 in 5 out | @2 | done | proper",
        ),
        (
            "an id for want of a call_id",
            s(&[done(0, r#"{"type":"function_call","id":"fc_1","name":"f","arguments":"{}"}"#)]),
            "call(fc_1 f {}) | ToolCalls | 10 in 5 out | @2 | done | proper",
        ),
        (
            "text beside a call",
            s(&[
                open_message(0),
                said(0, "x"),
                open_call(1, "a", "f"),
                arguments(1, "{\"x\""),
                said(0, "y"),
                arguments(1, ":1}"),
            ]),
            "text(x) call(a f {\"x\":1}) text(y) | ToolCalls | 10 in 5 out | @3 | done | proper",
        ),
    ]);
}

#[test]
fn reasoning_is_summary_or_text_and_keeps_its_proof() {
    let open = || added(0, r#"{"type":"reasoning","summary":[]}"#);
    let summary = |text: &str| {
        of(0, "reasoning_summary_text.delta", &format!(r#""summary_index":0,"delta":"{text}""#))
    };
    let whole = |more: &str| {
        done(
            0,
            &format!(
                r#"{{"type":"reasoning","summary":[{{"type":"summary_text","text":"hm"}}]{more}}}"#
            ),
        )
    };
    let proven = r#","encrypted_content":"enc=""#;
    checked(&[
        (
            "a summary",
            s(&[open(), summary("h"), summary("m"), whole("")]),
            "think(hm) | Stop | 10 in 5 out | @3 | done | proper",
        ),
        (
            "its text",
            s(&[open(), of(0, "reasoning_text.delta", r#""delta":"hm""#)]),
            "think(hm) | Stop | 10 in 5 out | @3 | done | proper",
        ),
        (
            "a summary with its proof",
            s(&[open(), summary("hm"), whole(proven), open_message(1), said(1, "x")]),
            "think(hm^enc=) text(x) | Stop | 10 in 5 out | @3 | done | proper",
        ),
        (
            "a proof alone",
            s(&[
                open(),
                done(0, r#"{"type":"reasoning","summary":[],"encrypted_content":"enc="}"#),
                said(1, "x"),
            ]),
            "think(^enc=) text(x) | Stop | 10 in 5 out | @4 | done | proper",
        ),
        (
            "the item alone",
            s(&[whole(proven)]),
            "think(hm^enc=) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "its content alone",
            s(&[done(
                0,
                r#"{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}"#,
            )]),
            "think(hm) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "the summary done",
            s(&[of(0, "reasoning_summary_text.done", r#""text":"hm""#), whole(proven)]),
            "think(hm^enc=) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "two parts of a summary, each done",
            s(&[
                of(0, "reasoning_summary_text.done", r#""summary_index":0,"text":"h""#),
                of(0, "reasoning_summary_text.done", r#""summary_index":1,"text":"m""#),
            ]),
            "think(hm) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "two proofs",
            s(&[whole(proven), whole(proven).replace("\"output_index\":0", "\"output_index\":1")]),
            "think(hm^enc=) think(hm^enc=) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "the text done",
            s(&[of(0, "reasoning_text.done", r#""text":"hm""#)]),
            "think(hm) | Stop | 10 in 5 out | @2 | done | proper",
        ),
        (
            "the proof is said once",
            s(&[open(), summary("hm"), whole(proven), whole(proven)]),
            "think(hm^enc=) | Stop | 10 in 5 out | @3 | done | proper",
        ),
    ]);
}

#[test]
fn every_status_has_its_word() {
    let with = |status: &str, more: &str| {
        response(&[&said(0, "x")], status)
            .replace(&format!(r#""status":"{status}","#), &format!(r#""status":"{status}",{more}"#))
    };
    let details = |reason: &str| format!(r#""incomplete_details":{{"reason":"{reason}"}},"#);
    let whole = with("completed", "");
    let at = whole.find("event: response.completed").unwrap();
    checked(&[
        ("completed", whole.clone(), "text(x) | Stop | 10 in 5 out | @2 | done | proper"),
        ("max_output_tokens", with("incomplete", &details("max_output_tokens")), "text(x) | Length | 10 in 5 out | @2 | done | proper"),
        ("max_tokens", with("incomplete", &details("max_tokens")), "text(x) | Length | 10 in 5 out | @2 | done | proper"),
        ("content_filter", with("incomplete", &details("content_filter")), "text(x) | ContentFilter | 10 in 5 out | @2 | done | proper"),
        ("incomplete for another reason", with("incomplete", &details("brand_new")), "text(x) | 10 in 5 out | @2 | done | error server_error brand_new: The provider ended its answer with the finish reason 'brand_new'."),
        ("incomplete by its name alone", with("incomplete", "").replace(r#""status":"incomplete","#, ""), "text(x) | 10 in 5 out | @2 | done | error server_error incomplete: The provider ended its answer with the finish reason 'incomplete'."),
        ("details null", with("completed", r#""incomplete_details":null,"#), "text(x) | Stop | 10 in 5 out | @2 | done | proper"),
        ("usage", with("completed", "").replace(r#"{"input_tokens":10,"output_tokens":5,"total_tokens":15}"#, r#"{"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":15}"#), "text(x) | Stop | 10 in 5 out 4 cached 3 written 2 thought | @2 | done | proper"),
        ("usage null", with("completed", "").replace(r#"{"input_tokens":10,"output_tokens":5,"total_tokens":15}"#, "null"), "text(x) | Stop | @2 | done | proper"),
        ("usage of one count", with("completed", "").replace(r#"{"input_tokens":10,"output_tokens":5,"total_tokens":15}"#, r#"{"output_tokens":5}"#), "text(x) | Stop | 5 out | @2 | done | proper"),
        ("no terminal event", whole[..at].to_owned(), "text(x) | @2 | cut"),
        ("[DONE] in its stead", whole[..at].to_owned() + DONE, "text(x) | @2 | 1 dropped | cut"),
        ("the terminal event without its blank line", whole.trim_end().to_owned(), "text(x) | Stop | 10 in 5 out | @2 | done | proper"),
        ("a terminal event without its response", whole[..at].to_owned() + &named(&[r#"{"type":"response.completed"}"#]), "text(x) | @2 | broken: a terminal event without its response"),
        ("nothing was said", response(&[], "completed"), "nothing | Stop | 10 in 5 out | done | proper"),
    ]);
}
