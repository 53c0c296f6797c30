//! A request for a rung of the same dialect.

use super::*;
use crate::messages::pass_request::pass_request;
use crate::neutral::{Again, Degrade, Target};

const TARGET: Target<'static> = Target {
    model: "m\"1",
    max_output: None,
    ask_usage: true,
    system: None,
    degrade: Degrade { json_schema: false, parallel_tools: false, max_output: false },
    again: None,
};

fn sent(body: &str, target: &Target<'_>) -> (String, Vec<&'static str>) {
    let fields: Fields = serde_json::from_str(body).unwrap();
    let upstream = pass_request(&fields, target);
    (String::from_utf8(upstream.body).unwrap(), upstream.left_out)
}

/// `body` without its braces, beside what every request has.
#[track_caller]
fn assert_sent(more: &str, target: &Target<'_>, expected: &str, left_out: &[&str]) {
    let (body, left) = sent(&format!(r#"{{"model":"chat",{more}}}"#), target);
    assert_eq!(body, format!(r#"{{"model":"m\"1",{expected},"stream":true}}"#), "{more}");
    assert_eq!(left, left_out, "{more}");
}

#[test]
fn all_that_is_not_the_relays_goes_up_byte_for_byte() {
    let body = concat!(
        r#"{"x-new":{"a" : [1.0]}, "stream":false,"model":"chat","temperature":0.10, "messages":"#,
        r#"[ {"role":"user","content":"\u00e9 thinking\" é"} ],"max_tokens":1e3}"#
    );
    let (body, left_out) = sent(body, &Target { max_output: Some(1), ..TARGET });
    assert_eq!(
        body,
        concat!(
            r#"{"x-new":{"a" : [1.0]},"stream":true,"model":"m\"1","temperature":0.10,"messages":"#,
            r#"[ {"role":"user","content":"\u00e9 thinking\" é"} ],"max_tokens":1e3}"#
        )
    );
    assert!(left_out.is_empty());
}

const OWN: &str = r#"{"type":"thinking", "thinking":"hm","signature":"s"}"#;
const OTHER: &str = r#"{"type":"redacted_thinking","data":"belay.gemini.x"}"#;
const CALL: &str = r#"{"type":"tool_use","id":"i","name":"f","input":{"a": 1.0}}"#;
const BUDGET: &str = r#""thinking":{"type":"enabled","budget_tokens":2000}"#;

#[test]
fn proofs_that_others_made_are_taken_out() {
    for (blocks, left) in [
        (format!("[{OWN},{CALL}]"), Some(format!("[{OWN},{CALL}]"))),
        (format!("[{OWN}, {OTHER},{CALL}]"), Some(format!("[{OWN},{CALL}]"))),
        (
            format!(r#"[{{"type":"thinking","thinking":"x","signature":""}},{CALL}]"#),
            Some(format!("[{CALL}]")),
        ),
        (format!(r#"[{{"type":"thinking","thinking":"x"}},{CALL}]"#), Some(format!("[{CALL}]"))),
        (
            format!(
                r#"[{{"type":"thinking","thinking":"x","signature":"belay.gemini.x"}},{CALL}]"#
            ),
            Some(format!("[{CALL}]")),
        ),
        (
            r#"[{"type":"redacted_thinking","data":"x"}]"#.to_owned(),
            Some(r#"[{"type":"redacted_thinking","data":"x"}]"#.to_owned()),
        ),
        (format!("[{OTHER}]"), None),
    ] {
        let before = format!(
            r#""messages":[{{"role":"user","content":"a" }},{{"role":"assistant","content":{blocks}}}]"#
        );
        let turn = left
            .map_or(String::new(), |left| format!(r#",{{"role":"assistant","content":{left}}}"#));
        let after = format!(r#""messages":[{{"role":"user","content":"a" }}{turn}]"#);
        assert_sent(&before, &TARGET, &after, &[]);
    }
}

#[test]
fn what_another_dialects_answer_left_in_the_history_is_mended() {
    let history = |text: &str, id: &str| {
        format!(
            r#""messages":[{{"role":"user","content":"a" }},{{"role":"assistant","content":[{text}{{"type":"tool_use","id":"{id}","name":"f","input":{{"n": 1.0}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"1"}}]}}]"#
        )
    };
    let odd = history(r#"{"type":"text","text":"\n\n"},"#, "functions.f:0");
    assert_sent(&odd, &TARGET, &history("", "functions_f_0"), &[]);
    let fine = history("", "call_1");
    assert_sent(&fine, &TARGET, &fine, &[]);
}

#[test]
fn without_its_proof_anthropic_would_not_think_on() {
    let messages = |blocks: &str| {
        format!(
            r#""messages":[{{"role":"assistant","content":[{blocks}]}},{{"role":"user","content":[]}}]"#
        )
    };
    let bare = messages(CALL);
    let other = messages(&format!("{OTHER},{CALL}"));
    assert_sent(&format!("{other},{BUDGET}"), &TARGET, &bare, &["thinking"]);
    let adaptive = r#""thinking":{"type":"adaptive"}"#;
    assert_sent(&format!("{other},{adaptive}"), &TARGET, &format!("{bare},{adaptive}"), &[]);
    let both = messages(&format!("{OTHER},{OWN},{CALL}"));
    let own = messages(&format!("{OWN},{CALL}"));
    assert_sent(&format!("{both},{BUDGET}"), &TARGET, &format!("{own},{BUDGET}"), &[]);
    assert_sent(&format!("{bare},{BUDGET}"), &TARGET, &format!("{bare},{BUDGET}"), &[]);
    let earlier = |blocks: &str| {
        format!(
            r#""messages":[{{"role":"assistant","content":[{blocks}]}},{{"role":"assistant","content":"done"}}]"#
        )
    };
    let (before, after) = (earlier(&format!("{OTHER},{CALL}")), earlier(CALL));
    assert_sent(&format!("{before},{BUDGET}"), &TARGET, &format!("{after},{BUDGET}"), &[]);
}

#[test]
fn the_rungs_system_prompt_takes_the_place_of_every_other() {
    let target = Target { system: Some("m\"ine"), ..TARGET };
    let mine = r#""system":[{"type":"text","text":"m\"ine"}]"#;
    let user = r#"{"role":"user","content": "a"}"#;
    for system in [r#""system":"theirs""#, r#""system":[{"type":"text","text":"theirs"}]"#] {
        assert_sent(&format!("{system},{HI}"), &target, &format!("{mine},{HI}"), &[]);
    }
    assert_sent(
        r#""system":"theirs","x":1"#,
        &Target { system: Some(""), ..TARGET },
        r#""x":1"#,
        &[],
    );
    let before =
        format!(r#""system":"a","messages":[{user},{{"role":"system","content":"theirs"}}]"#);
    assert_sent(&before, &target, &format!(r#"{mine},"messages":[{user}]"#), &[]);
}

#[test]
fn a_schema_that_the_rung_lacks_is_asked_for_in_words() {
    let degrade = Degrade { json_schema: true, ..TARGET.degrade };
    let target = Target { degrade, ..TARGET };
    let raw = RawValue::from_string(r#"{"b": 1.0}"#.to_owned()).unwrap();
    let words = serde_json::to_string(&crate::neutral::schema_prompt(&raw)).unwrap();
    let words = format!(r#"{{"type":"text","text":{words}}}"#);
    let format = r#"{"type":"json_schema","schema":{"b": 1.0}}"#;
    let own = r#"{"type":"text","text":"a","cache_control":{ }}"#;
    for (before, after) in [
        (
            format!(r#""system":"a","output_config":{{"format":{format}}}"#),
            format!(r#""system":[{{"type":"text","text":"a"}},{words}]"#),
        ),
        (
            format!(r#""system":[{own}],"output_config":{{"effort":"low","format":{format}}}"#),
            format!(r#""system":[{own},{words}],"output_config":{{"effort":"low"}}"#),
        ),
        (format!(r#""system":"","output_format":{format}"#), format!(r#""system":[{words}]"#)),
        (
            r#""output_config":{"effort": "low"}"#.to_owned(),
            r#""output_config":{"effort": "low"}"#.to_owned(),
        ),
    ] {
        assert_sent(&before, &target, &after, &[]);
    }
}

#[test]
fn one_tool_at_a_time_is_asked_for_where_there_are_tools() {
    let degrade = Degrade { parallel_tools: true, ..TARGET.degrade };
    let target = Target { degrade, ..TARGET };
    let tools = r#""tools":[{"name":"f"}]"#;
    for (choice, after) in [
        (r#"{"type":"any"}"#, r#"{"type":"any","disable_parallel_tool_use":true}"#),
        (
            r#"{"disable_parallel_tool_use":false,"type":"tool","name":"f"}"#,
            r#"{"type":"tool","name":"f","disable_parallel_tool_use":true}"#,
        ),
        (r#"{"type": "none"}"#, r#"{"type": "none"}"#),
    ] {
        let before = format!(r#""tool_choice":{choice},{tools}"#);
        assert_sent(&before, &target, &format!(r#""tool_choice":{after},{tools}"#), &[]);
    }
    assert_sent(r#""tools":[]"#, &target, r#""tools":[]"#, &[]);
    let (body, _) = sent(&format!(r#"{{"model":"chat",{tools}}}"#), &target);
    assert!(body.contains(r#""tool_choice":{"type":"auto","disable_parallel_tool_use":true}"#));
}

#[test]
fn a_lowered_limit_lowers_the_budget_with_it() {
    let degrade = Degrade { max_output: true, ..TARGET.degrade };
    for (most, before, after, left_out) in [
        (Some(5000), r#""max_tokens":9000"#, r#""max_tokens":5000"#, &[][..]),
        (Some(9000), r#""max_tokens":5000"#, r#""max_tokens":5000"#, &[]),
        (None, r#""max_tokens":5000"#, r#""max_tokens":5000"#, &[]),
        (
            Some(4000),
            r#""max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":8000}"#,
            r#""max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":3000}"#,
            &[],
        ),
        (
            Some(4000),
            r#""max_tokens":9000,"thinking":{"type":"enabled","budget_tokens": 2000}"#,
            r#""max_tokens":4000,"thinking":{"type":"enabled","budget_tokens": 2000}"#,
            &[],
        ),
        (
            Some(1024),
            r#""max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":8000}"#,
            r#""max_tokens":1024"#,
            &["thinking"],
        ),
    ] {
        assert_sent(before, &Target { degrade, max_output: most, ..TARGET }, after, left_out);
    }
}

#[test]
fn a_lowered_limit_brings_no_thinking_back() {
    let degrade = Degrade { max_output: true, ..TARGET.degrade };
    let target = Target { degrade, max_output: Some(1500), ..TARGET };
    let messages = |blocks: &str| {
        format!(r#""messages":[{{"role":"assistant","content":[{blocks}]}}],"max_tokens":"#)
    };
    let before = format!("{}9000,{BUDGET}", messages(&format!("{OTHER},{CALL}")));
    assert_sent(&before, &target, &format!("{}1500", messages(CALL)), &["thinking"]);
}

#[test]
fn the_bad_answer_is_shown_to_the_model_and_it_is_asked_again() {
    let target = |answer| Target { again: Some(Again { answer, problem: "no 'a'" }), ..TARGET };
    let words = serde_json::to_string(&crate::neutral::again_prompt("no 'a'")).unwrap();
    let first = r#"{"role":"user" ,"content":"a"}"#;
    let ask = format!(r#"{{"role":"user","content":{words}}}"#);
    let before = format!(r#""messages":[{first}]"#);
    let answer = r#"{"role":"assistant","content":"{}"}"#;
    assert_sent(&before, &target("{} \n"), &format!(r#""messages":[{first},{answer},{ask}]"#), &[]);
    assert_sent(&before, &target(" "), &format!(r#""messages":[{first},{ask}]"#), &[]);
}
