//! Requests: what is kept, what is changed, what is refused.

mod corpus;
mod nothing_lost;
mod told;

use super::*;
use crate::neutral::{Again, Degrade};
use serde_json::Value;

const TARGET: Target<'static> = Target {
    model: "up",
    max_output: None,
    ask_usage: false,
    system: None,
    degrade: Degrade { json_schema: false, parallel_tools: false, max_output: false },
    again: None,
};

/// A request of `dialect`, written for a rung of `to`.
fn told(
    dialect: Dialect,
    body: &str,
    to: Dialect,
    target: &Target<'_>,
) -> Result<Value, Unsupported> {
    let request = ClientRequest::parse(dialect, body.as_bytes()).unwrap();
    let upstream = request.upstream(to, target)?;
    Ok(serde_json::from_slice(&upstream.body).unwrap())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const PLAIN: &str = r#""messages":[{"role":"user","content":"hi"}]"#;

fn parse(body: &str) -> Result<ClientRequest, Reject> {
    ClientRequest::parse(Dialect::OpenaiChat, body.as_bytes())
}

fn with(fields: &str) -> ClientRequest {
    parse(&format!(r#"{{"model":"chat",{PLAIN}{fields}}}"#)).unwrap()
}

fn upstream(fields: &str, ask_usage: bool) -> String {
    passed(&with(fields), &Target { model: "m\"1", ask_usage, ..TARGET })
}

fn passed(request: &ClientRequest, target: &Target<'_>) -> String {
    let upstream = request.upstream(request.dialect(), target).unwrap();
    assert!(upstream.left_out.is_empty());
    String::from_utf8(upstream.body).unwrap()
}

#[test]
fn all_that_is_not_the_relays_goes_up_byte_for_byte() {
    let body = concat!(
        r#"{"seed":12345678901234567890123, "model":"x","temperature":0.10, "messages":"#,
        r#"[ {"role":"user","content":"\u00e9 \ud83c\udf0d é"} ],"x-new":{"a" : [1.0]},"model":"chat"}"#
    );
    let request = parse(body).unwrap();
    assert_eq!(request.model(), "chat");
    assert_eq!(
        passed(&request, &TARGET),
        concat!(
            r#"{"seed":12345678901234567890123,"model":"up","temperature":0.10,"messages":"#,
            r#"[ {"role":"user","content":"\u00e9 \ud83c\udf0d é"} ],"x-new":{"a" : [1.0]},"stream":true}"#
        )
    );
}

#[test]
fn reasoning_that_another_dialect_proves_is_taken_out() {
    let told = |assistant: &str| {
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"\"belay.\" \u00e9"}},{{"role":"assistant", {assistant}"content":"hi" }}]}}"#
        );
        let sent: Value = serde_json::from_str(&passed(&parse(&body).unwrap(), &TARGET)).unwrap();
        (passed(&parse(&body).unwrap(), &TARGET), sent["messages"][1].clone())
    };
    let mine = r#"{"type":"reasoning.text","text":"a","signature":"AA","index":0}"#;
    let theirs = concat!(
        r#"{"type":"reasoning.text","text":"b","index":1},"#,
        r#"{"type":"reasoning.text","signature":"belay.anthropic_messages.BB","index":1},"#,
        r#"{"type":"reasoning.encrypted","data":"belay.gemini.CC"}"#
    );
    let same = format!(r#""reasoning_content":"x", "reasoning_details":[ {mine} ],"#);
    assert!(told(&same).0.contains(&format!(r#"{{"role":"assistant", {same}"content":"hi" }}"#)));
    let plain = json(r#"{"role":"assistant","content":"hi"}"#);
    let all = format!(r#""reasoning_content":"b","reasoning":"b","reasoning_details":[{theirs}],"#);
    assert_eq!(told(&all).1, plain);
    let both = format!(r#""reasoning_content":"ab","reasoning_details":[{mine},{theirs}],"#);
    let expected = format!(r#"{{"role":"assistant","reasoning_details":[{mine}],"content":"hi"}}"#);
    assert_eq!(told(&both).1, json(&expected));
}

#[test]
fn usage_is_asked_for_without_losing_what_the_client_said() {
    let head = format!(r#"{{"model":"m\"1",{PLAIN}"#);
    for (fields, ask, tail) in [
        ("", true, r#","stream":true,"stream_options":{"include_usage":true}}"#),
        ("", false, r#","stream":true}"#),
        (r#","stream":false"#, false, r#","stream":true}"#),
        (
            r#","stream_options":null"#,
            true,
            r#","stream_options":{"include_usage":true},"stream":true}"#,
        ),
        (r#","stream_options":null"#, false, r#","stream":true}"#),
        (r#","stream_options":{"include_usage":false}"#, false, r#","stream":true}"#),
        (
            r#","stream_options":{"include_obfuscation":false,"include_usage":false}"#,
            true,
            r#","stream_options":{"include_obfuscation":false,"include_usage":true},"stream":true}"#,
        ),
        (
            r#","stream_options":{"include_usage":false,"include_obfuscation":false}"#,
            false,
            r#","stream_options":{"include_obfuscation":false},"stream":true}"#,
        ),
        (
            r#","stream_options":{"include_usage": true}"#,
            false,
            r#","stream_options":{"include_usage": true},"stream":true}"#,
        ),
        (
            r#","stream_options":{"include_usage": true}"#,
            true,
            r#","stream_options":{"include_usage": true},"stream":true}"#,
        ),
    ] {
        assert_eq!(upstream(fields, ask), format!("{head}{tail}"), "{fields} {ask}");
    }
}

#[test]
fn absent_null_and_false_all_mean_that_no_usage_is_wanted() {
    for no in [
        "",
        r#","stream_options":null"#,
        r#","stream_options":{}"#,
        r#","stream_options":{"include_usage":null}"#,
        r#","stream_options":{"include_usage":false}"#,
    ] {
        assert!(!with(no).wants_usage(), "{no}");
    }
    assert!(with(r#","stream_options":{"include_usage":true}"#).wants_usage());
}

#[test]
fn a_rejection_names_the_field_and_never_quotes_the_prompt() {
    let secret = "launch code 0000";
    let messages = format!(r#""messages":[{{"role":"user","content":"{secret}"}}]"#);
    for (body, param, needle) in [
        (String::new(), None, "is empty"),
        (format!("{{{messages}"), None, "ends at line 1"),
        (format!("{{\n{messages}\n oops}}"), None, "line 3"),
        (format!("[{{{messages}}}]"), None, "one JSON object"),
        (format!("\"{secret}\""), None, "one JSON object"),
        (format!("{{{messages}}}"), Some("model"), "missing"),
        (format!(r#"{{"model":null,{messages}}}"#), Some("model"), "missing"),
        (format!(r#"{{"model":" ",{messages}}}"#), Some("model"), "empty"),
        (format!(r#"{{"model":7,{messages}}}"#), Some("model"), "a string"),
        (r#"{"model":"m"}"#.to_owned(), Some("messages"), "missing"),
        (r#"{"model":"m","messages":[ ]}"#.to_owned(), Some("messages"), "empty"),
        (format!(r#"{{"model":"m","messages":"{secret}"}}"#), Some("messages"), "an array"),
        (format!(r#"{{"model":"m",{messages},"stream":"yes"}}"#), Some("stream"), "true or false"),
        (
            format!(r#"{{"model":"m",{messages},"stream_options":[]}}"#),
            Some("stream_options"),
            "object",
        ),
        (
            format!(r#"{{"model":"m",{messages},"stream_options":{{"include_usage":1}}}}"#),
            Some("stream_options.include_usage"),
            "true or false",
        ),
        (format!(r#"{{"model":"m",{messages},"n":0}}"#), Some("n"), "from 1 to 128"),
        (format!(r#"{{"model":"m",{messages},"n":129}}"#), Some("n"), "from 1 to 128"),
        (format!(r#"{{"model":"m",{messages},"n":1.5}}"#), Some("n"), "whole number"),
        (format!(r#"{{"model":"m",{messages},"tools":{{}}}}"#), Some("tools"), "an array"),
    ] {
        let reject = parse(&body).unwrap_err();
        assert_eq!(reject.status, 400);
        assert_eq!(reject.param.as_deref(), param, "{body}");
        assert!(reject.message.contains(needle), "{body}: {}", reject.message);
        assert!(!reject.message.contains(secret), "{}", reject.message);
    }
    let latin = [b"{\"model\":\"", &[0xE9][..], b"\"}"].concat();
    assert!(
        ClientRequest::parse(Dialect::OpenaiChat, &latin)
            .unwrap_err()
            .message
            .contains("UTF-8: byte 10")
    );
}

#[test]
fn what_a_request_needs_is_read_from_its_fields() {
    let none = with("").needs();
    assert_eq!(none, Needs { prompt_tokens: 8, ..Needs::default() });

    let tools = r#","tools":[{"type":"function","function":{"name":"f"}}]"#;
    assert!(with(tools).needs().tools && !with(tools).needs().side_effects);
    assert!(!with(r#","tools":[]"#).needs().tools);
    assert!(with(&format!(r#"{tools},"parallel_tool_calls":true"#)).needs().parallel_tools);
    assert!(with(r#","response_format":{"type":"json_schema"}"#).needs().json_schema);
    assert!(!with(r#","response_format":{"type":"json_object"}"#).needs().json_schema);
    assert!(with(r#","modalities":["text","audio"]"#).needs().audio);
    for yes in [
        r#","store":true"#,
        r#","background":true"#,
        r#","web_search_options":{}"#,
        r#","tools":[{"type":"mcp"}]"#,
    ] {
        assert!(with(yes).needs().side_effects, "{yes}");
    }
    for no in [
        r#","store":false"#,
        r#","tools":[{"type":"web_search"},{"type":"namespace","name":"n","tools":[]}]"#,
    ] {
        assert!(!with(no).needs().side_effects, "{no}");
    }
    assert_eq!(with(r#","max_tokens":9"#).needs().max_output, Some(9));
    assert_eq!(with(r#","max_tokens":9,"max_completion_tokens":7"#).needs().max_output, Some(7));
    assert_eq!(with(r#","max_tokens":256.0"#).needs().max_output, Some(256));
    for odd in [r#","max_tokens":-1"#, r#","max_tokens":"9""#, r#","max_tokens":1e3"#] {
        assert_eq!(with(odd).needs().max_output, None, "its own provider may take it: {odd}");
    }

    let picture = "A".repeat(40_000);
    let parts = format!(
        concat!(
            r#"{{"model":"m","messages":[{{"role":"user","content":["#,
            r#"{{"type":"image_url","image_url":{{"url":"data:{}"}}}},"#,
            r#"{{"type":"input_audio","input_audio":{{}}}},{{"type":"file","file":{{}}}}]}}]}}"#
        ),
        picture
    );
    let needs = parse(&parts).unwrap().needs();
    assert!(needs.images && needs.audio && needs.files);
    assert!(needs.prompt_tokens < 100, "a picture's bytes are not tokens: {}", needs.prompt_tokens);
}
