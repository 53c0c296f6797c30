//! How tool calls of chat providers are read.

use super::*;

/// A stream of these events, with `[DONE]` after them.
fn s(events: &[String]) -> String {
    events.concat() + DONE
}

/// One call in one entry.
fn call(members: &str, id: &str, name: &str, arguments: &str) -> String {
    let arguments = arguments.replace('"', r#"\""#);
    format!(
        r#"{{{members}"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#
    )
}

/// More arguments for a call.
fn more(members: &str, arguments: &str) -> String {
    let arguments = arguments.replace('"', r#"\""#);
    format!(r#"{{{members}"function":{{"arguments":"{arguments}"}}}}"#)
}

const I0: &str = r#""index":0,"#;
const I1: &str = r#""index":1,"#;

#[test]
fn calls_are_told_apart_whatever_their_index_and_id_are() {
    let (a, b) = (call(I0, "a", "f", ""), call(I1, "b", "g", ""));
    let two = "call(a f {\"x\":1}) call(b g {\"y\":2}) | ToolCalls | @0 | done | proper";
    let end = || finish("tool_calls");
    check(
        CHAT,
        &[
            (
                "pieces",
                s(&[
                    calls(&a),
                    calls(&more(I0, "{\"x\"")),
                    calls(&more(I0, ":1}")),
                    calls(&b),
                    calls(&more(I1, "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "interleaved",
                s(&[
                    calls(&a),
                    calls(&b),
                    calls(&more(I0, "{\"x\"")),
                    calls(&more(I1, "{\"y\"")),
                    calls(&more(I0, ":1}")),
                    calls(&more(I1, ":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "interleaved in one chunk",
                s(&[
                    calls(&format!("{a},{b}")),
                    calls(&format!("{},{}", more(I0, "{\"x\":1}"), more(I1, "{\"y\":2}"))),
                    end(),
                ]),
                two,
            ),
            (
                "whole, in one chunk",
                s(&[
                    calls(&format!(
                        "{},{}",
                        call(I0, "a", "f", "{\"x\":1}"),
                        call(I1, "b", "g", "{\"y\":2}")
                    )),
                    end(),
                ]),
                two,
            ),
            (
                "whole, in one chunk with the finish",
                s(&[chunk(&format!(
                    r#"{{"delta":{{"tool_calls":[{},{}]}},"finish_reason":"tool_calls"}}"#,
                    call("", "a", "f", "{\"x\":1}"),
                    call("", "b", "g", "{\"y\":2}")
                ))]),
                two,
            ),
        ],
    );
}

#[test]
fn calls_without_an_index_are_told_apart() {
    let two = "call(a f {\"x\":1}) call(b g {\"y\":2}) | ToolCalls | @0 | done | proper";
    let end = || finish("tool_calls");
    check(
        CHAT,
        &[
            (
                "no index",
                s(&[
                    calls(&call("", "a", "f", "{\"x\":1}")),
                    calls(&call("", "b", "g", "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "an empty entry says nothing",
                s(&[calls("{}"), said("x"), finish("stop")]),
                "text(x) | Stop | @1 | done | proper",
            ),
            (
                "the rest of a call whose beginning was lost",
                s(&[calls(&more(I0, "{}"))]),
                "nothing | broken: arguments of a tool call that never began",
            ),
            (
                "no index, in pieces",
                s(&[
                    calls(&call("", "a", "f", "")),
                    calls(&more("", "{\"x\":1}")),
                    calls(&call("", "b", "g", "{\"y\"")),
                    calls(&more("", ":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "no index, the id again",
                s(&[
                    calls(&call("", "a", "f", "{\"x\"")),
                    calls(&call("", "a", "f", ":1}")),
                    calls(&call("", "b", "g", "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
        ],
    );
}

#[test]
fn calls_that_share_an_index_are_told_apart() {
    let two = "call(a f {\"x\":1}) call(b g {\"y\":2}) | ToolCalls | @0 | done | proper";
    let end = || finish("tool_calls");
    check(
        CHAT,
        &[(
            "index 0 for all",
            s(&[
                calls(&call(I0, "a", "f", "{\"x\":1}")),
                calls(&call(I0, "b", "g", "{\"y\"")),
                calls(&more(I0, ":2}")),
                end(),
            ]),
            two,
        )],
    );
}

#[test]
fn an_index_may_skip_be_a_fraction_or_be_shared() {
    let (a, b) = (call(I0, "a", "f", ""), call(I1, "b", "g", ""));
    let two = "call(a f {\"x\":1}) call(b g {\"y\":2}) | ToolCalls | @0 | done | proper";
    let end = || finish("tool_calls");
    check(
        CHAT,
        &[
            (
                "index that skips",
                s(&[
                    calls(&call(r#""index":1,"#, "a", "f", "{\"x\":1}")),
                    calls(&call(r#""index":3,"#, "b", "g", "")),
                    calls(&more(r#""index":3,"#, "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "index as 0.0",
                s(&[
                    calls(&call(r#""index":0.0,"#, "a", "f", "{\"x\":1}")),
                    calls(&call(r#""index":1.0,"#, "b", "g", "")),
                    calls(&more(r#""index":1.0,"#, "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "index 0 for all, one tool twice",
                s(&[
                    calls(&call(I0, "a", "f", "")),
                    calls(&more(I0, "{\"x\":1}")),
                    calls(&call(I0, "b", "f", "")),
                    calls(&more(I0, "{\"y\":2}")),
                    end(),
                ]),
                "call(a f {\"x\":1}) call(b f {\"y\":2}) | ToolCalls | @0 | done | proper",
            ),
            (
                "index 0 for all, one tool twice, the first without arguments",
                s(&[calls(&call(I0, "a", "f", "")), calls(&call(I0, "b", "f", "{}")), end()]),
                "call(a f ) call(b f {}) | ToolCalls | @0 | done | proper",
            ),
            (
                "index 0 for all, no ids",
                s(&[
                    calls(r#"{"index":0,"function":{"name":"f","arguments":""}}"#),
                    calls(r#"{"index":0,"function":{"name":"g","arguments":"{}"}}"#),
                    end(),
                ]),
                "call( f ) call( g {}) | ToolCalls | @0 | done | proper",
            ),
            (
                "no index and no id, one tool twice without arguments",
                s(&[calls(r#"{"function":{"name":"f"}},{"function":{"name":"f"}}"#), end()]),
                "call( f ) call( f ) | ToolCalls | @0 | done | proper",
            ),
            (
                "interleaved, with text between",
                s(&[
                    calls(&a),
                    calls(&more(I0, "{\"x\"")),
                    calls(&b),
                    calls(&more(I1, "{\"y\"")),
                    said("t"),
                    calls(&more(I0, ":1}")),
                    calls(&more(I1, ":2}")),
                    end(),
                ]),
                "call(a f {\"x\":1}) call(b g {\"y\":2}) text(t) | ToolCalls | @0 | done | proper",
            ),
        ],
    );
}

#[test]
fn what_is_repeated_or_missing_is_taken_once() {
    let two = "call(a f {\"x\":1}) call(b g {\"y\":2}) | ToolCalls | @0 | done | proper";
    let end = || finish("tool_calls");
    check(
        CHAT,
        &[
            (
                "id and name repeated",
                s(&[
                    calls(&call(I0, "a", "f", "{\"x\"")),
                    calls(&call(I0, "a", "f", ":1}")),
                    calls(&call(I1, "b", "g", "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "id and name \"\" later",
                s(&[
                    calls(&call(I0, "a", "f", "{\"x\"")),
                    calls(&call(I0, "", "", ":1}")),
                    calls(&call(I1, "b", "g", "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "null arguments first",
                s(&[
                    calls(
                        r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":null}}"#,
                    ),
                    calls(&more(I0, "{\"x\":1}")),
                    calls(&call(I1, "b", "g", "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "arguments as an object",
                s(&[
                    calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}"#),
                    calls(&call(I1, "b", "g", "{\"y\":2}")),
                    end(),
                ]),
                two,
            ),
            (
                "no index and no id, in one chunk",
                s(&[
                    calls(
                        r#"{"function":{"name":"f","arguments":"{\"x\":1}"}},{"function":{"name":"g","arguments":"{\"y\":2}"}}"#,
                    ),
                    end(),
                ]),
                "call( f {\"x\":1}) call( g {\"y\":2}) | ToolCalls | @0 | done | proper",
            ),
            (
                "no id at all",
                s(&[
                    calls(r#"{"index":0,"function":{"name":"f","arguments":"{}"}}"#),
                    calls(r#"{"index":1,"function":{"name":"f","arguments":"{}"}}"#),
                    end(),
                ]),
                "call( f {}) call( f {}) | ToolCalls | @0 | done | proper",
            ),
            (
                "an id that comes late",
                s(&[
                    calls(r#"{"index":0,"function":{"name":"f","arguments":"{"}}"#),
                    calls(&call(I0, "a", "", "}")),
                    end(),
                ]),
                "call( f {}) | ToolCalls | @0 | done | proper",
            ),
        ],
    );
}

#[test]
fn arguments_may_be_missing_cut_or_no_json() {
    let a = || calls(&call(I0, "a", "f", ""));
    check(
        CHAT,
        &[
            (
                "none",
                s(&[a(), finish("tool_calls")]),
                "call(a f ) | ToolCalls | @0 | done | proper",
            ),
            (
                "cut",
                s(&[a(), calls(&more(I0, "{\"x\":\"lo")), finish("length")]),
                "call(a f {\"x\":\"lo) | Length | @0 | done | proper",
            ),
            (
                "the finish is stop",
                s(&[a(), calls(&more(I0, "{}")), finish("stop")]),
                "call(a f {}) | Stop | @0 | done | proper",
            ),
            (
                "the old function_call",
                s(&[
                    delta(r#""function_call":{"name":"f","arguments":""}"#),
                    delta(r#""function_call":{"arguments":"{}"}"#),
                    finish("function_call"),
                ]),
                "call( f {}) | ToolCalls | @0 | done | proper",
            ),
            (
                "function_call null",
                s(&[
                    delta(r#""content":"x","function_call":null,"tool_calls":null"#),
                    finish("stop"),
                ]),
                "text(x) | Stop | @0 | done | proper",
            ),
            (
                "a custom tool",
                s(&[
                    calls(
                        r#"{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":""}}"#,
                    ),
                    calls(r#"{"index":0,"custom":{"input":"free {text"}}"#),
                    finish("tool_calls"),
                ]),
                "custom(a f free {text) | ToolCalls | @0 | done | proper",
            ),
            (
                "text in the middle of a call",
                s(&[
                    said("x"),
                    a(),
                    calls(&more(I0, "{\"x\"")),
                    said("y"),
                    calls(&more(I0, ":1}")),
                    finish("tool_calls"),
                ]),
                "text(x) call(a f {\"x\":1}) text(y) | ToolCalls | @0 | done | proper",
            ),
            (
                "Gemini's proof, as Google's own endpoint writes it",
                s(&[
                    calls(
                        r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig"}}}"#,
                    ),
                    finish("tool_calls"),
                ]),
                "call(a f {}^sig) | ToolCalls | @0 | done | proper",
            ),
        ],
    );
}

#[test]
fn a_call_that_nobody_called_whole_is_cut() {
    let within = calls(&call(I0, "a", "f", "{\"x\""));
    for to in [MESSAGES, RESPONSES] {
        let end = |body: String| towards(CHAT, to, Form::Stream, body.as_bytes()).end;
        assert_eq!(end(s(std::slice::from_ref(&within))), Some(End::Cut), "{to}");
        let rest = calls(&more(I0, ":1}"));
        assert_eq!(end(s(&[within.clone(), rest])), Some(End::Proper), "{to}");
        let length = finish("length");
        assert_eq!(end(s(&[within.clone(), length])), Some(End::Proper), "{to}");
    }
}

#[test]
fn arguments_of_a_call_that_had_ended_are_white_space_or_a_break() {
    let (a, b) = (calls(&call(I0, "a", "f", "{")), calls(&call(I1, "b", "g", "{}")));
    let (end, text) = (calls(&more(I0, "}")), said("t"));
    let told = |late: &str| {
        // The first is open while the second waits; both have ended before the text.
        let body =
            s(&[a.clone(), b.clone(), end.clone(), text.clone(), calls(late), finish("stop")]);
        towards(CHAT, MESSAGES, Form::Stream, body.as_bytes())
    };
    for index in [I0, I1] {
        let blank = told(&more(index, " "));
        assert_eq!(blank.end, Some(End::Proper), "{index}");
        life::follow(MESSAGES, &blank, true);
        let broken = Some(End::Broken("arguments of a tool call that had ended"));
        assert_eq!(told(&more(index, "{}")).end, broken, "{index}");
    }
}
