//! The same request in other words, and in the client's own with the edits of a rung.

use super::*;

const CHAT: Dialect = Dialect::OpenaiChat;
const RESPONSES: Dialect = Dialect::OpenaiResponses;

/// One conversation in both dialects, each in the words in which it is written here.
const AS_CHAT: &str = r#"{"model":"up","messages":[
{"role":"system","content":"be kind"},
{"role":"user","content":[{"type":"text","text":"what is on it?"},
 {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},
 {"type":"file","file":{"file_data":"data:application/pdf;base64,QQ==","filename":"a.pdf"}}]},
{"role":"assistant","content":"I look.","tool_calls":[
 {"id":"c1","type":"function","function":{"name":"look","arguments":"{\"x\": 1}"}},
 {"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"a cat"},
{"role":"tool","tool_call_id":"c2","content":"a dog"},
{"role":"user","content":"go on"}],
"tools":[{"type":"function","function":{"name":"look","description":"looks","parameters":{"type":"object","properties":{"x":{"type":"number"}}},"strict":false}}],
"tool_choice":{"type":"function","function":{"name":"look"}},"parallel_tool_calls":true,
"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object","properties":{}},"strict":true}},
"max_completion_tokens":900,"temperature":0.5,"top_p":0.9,"reasoning_effort":"high","stream":true}"#;

const AS_RESPONSES: &str = r#"{"model":"up","instructions":"be kind","input":[
{"type":"message","role":"user","content":[{"type":"input_text","text":"what is on it?"},
 {"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},
 {"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,QQ=="}]},
{"type":"message","role":"assistant","content":"I look."},
{"type":"function_call","call_id":"c1","name":"look","arguments":"{\"x\": 1}"},
{"type":"function_call","call_id":"c2","name":"look","arguments":"{}"},
{"type":"function_call_output","call_id":"c1","output":"a cat"},
{"type":"function_call_output","call_id":"c2","output":"a dog"},
{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}],
"tools":[{"type":"function","name":"look","description":"looks","parameters":{"type":"object","properties":{"x":{"type":"number"}}},"strict":false}],
"tool_choice":{"type":"function","name":"look"},"parallel_tool_calls":true,
"text":{"format":{"type":"json_schema","name":"a","schema":{"type":"object","properties":{}},"strict":true}},
"max_output_tokens":900,"temperature":0.5,"top_p":0.9,"reasoning":{"effort":"high"},
"store":false,"stream":true}"#;

fn read(dialect: Dialect, body: &str) -> neutral::Request {
    let fields = serde_json::from_str(body).unwrap();
    table::client(dialect).read_request(&fields).unwrap()
}

fn write(dialect: Dialect, request: &neutral::Request, target: &Target<'_>) -> Value {
    let upstream = table::spec(dialect).write_request(request, target);
    serde_json::from_slice(&upstream.unwrap().body).unwrap()
}

#[test]
fn a_round_trip_changes_nothing_and_each_is_told_as_the_other() {
    for (own, body, other, same) in
        [(CHAT, AS_CHAT, RESPONSES, AS_RESPONSES), (RESPONSES, AS_RESPONSES, CHAT, AS_CHAT)]
    {
        let request = read(own, body);
        assert_eq!(request.unsupported, Vec::<String>::new());
        assert_eq!(write(own, &request, &TARGET), json(body), "{own} to itself");
        assert_eq!(told(own, body, other, &TARGET).unwrap(), json(same), "{own} to {other}");
        let again = read(own, &write(own, &request, &TARGET).to_string());
        assert_eq!(format!("{again:?}"), format!("{request:?}"));
    }
}

#[test]
fn schemas_and_arguments_keep_their_spelling() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"b":1.50, "a":[ ]}}}]}"#;
    let request = parse(body).unwrap();
    for to in [RESPONSES, Dialect::AnthropicMessages] {
        let body = String::from_utf8(request.upstream(to, &TARGET).unwrap().body).unwrap();
        assert!(body.contains(r#"{"b":1.50, "a":[ ]}"#), "{to}: {body}");
    }
}

#[test]
fn a_schema_is_found_in_every_dialect() {
    let schema = r#"{"type": "object"}"#;
    for (dialect, field) in [
        (
            CHAT,
            format!(
                r#""messages":[{{"role":"user","content":"x"}}],"response_format":{{"type":"json_schema","json_schema":{{"name":"a","schema":{schema}}}}}"#
            ),
        ),
        (
            RESPONSES,
            format!(
                r#""input":"x","text":{{"format":{{"type":"json_schema","name":"a","schema":{schema}}}}}"#
            ),
        ),
        (
            Dialect::AnthropicMessages,
            format!(
                r#""max_tokens":9,"messages":[{{"role":"user","content":"x"}}],"output_config":{{"format":{{"type":"json_schema","schema":{schema}}}}}"#
            ),
        ),
    ] {
        let body = format!(r#"{{"model":"m",{field}}}"#);
        let request = ClientRequest::parse(dialect, body.as_bytes()).unwrap();
        assert_eq!(request.schema().map(RawValue::get), Some(schema), "{dialect}");
        assert!(request.needs().json_schema, "{dialect}");
        let free = body.replace("json_schema", "json_object");
        let free = ClientRequest::parse(dialect, free.as_bytes()).unwrap();
        assert!(free.schema().is_none(), "{dialect}");
    }
}

#[test]
fn what_responses_need_is_read_from_their_fields() {
    let needs = |fields: &str| {
        let body = format!(r#"{{"model":"m",{fields}}}"#);
        ClientRequest::parse(RESPONSES, body.as_bytes()).map(|request| request.needs())
    };
    let hi = r#""input":"12345678""#;
    assert_eq!(needs(hi), Ok(Needs { prompt_tokens: 2, ..Needs::default() }));
    let tool = r#""tools":[{"type":"function","name":"f"}]"#;
    assert!(needs(&format!("{hi},{tool}")).unwrap().tools);
    assert!(!needs(&format!("{hi},{tool}")).unwrap().parallel_tools);
    assert!(needs(&format!(r#"{hi},{tool},"parallel_tool_calls":true"#)).unwrap().parallel_tools);
    assert_eq!(needs(&format!(r#"{hi},"max_output_tokens":9"#)).unwrap().max_output, Some(9));
    assert!(
        !needs(&format!(r#"{hi},"text":{{"format":{{"type":"json_object"}}}}"#))
            .unwrap()
            .json_schema
    );
    for yes in [
        r#""store":true"#,
        r#""background":true"#,
        r#""tools":[{"type":"mcp"}]"#,
        r#""conversation":"c""#,
    ] {
        assert!(needs(&format!("{hi},{yes}")).unwrap().side_effects, "{yes}");
    }
    assert!(!needs(&format!(r#"{hi},"store":false"#)).unwrap().side_effects);
    let picture = "A".repeat(40_000);
    let parts = format!(
        r#""input":[{{"role":"user","content":[{{"type":"input_image","image_url":"data:{picture}"}},{{"type":"input_file","file_data":"x"}},{{"type":"input_audio","input_audio":{{}}}}]}},{{"type":"function_call_output","call_id":"c","output":[{{"type":"input_image","image_url":"{picture}"}}]}}]"#
    );
    let seen = needs(&parts).unwrap();
    assert!(seen.images && seen.files && seen.audio && seen.tools);
    assert!(seen.prompt_tokens < 150, "{}", seen.prompt_tokens);
    for (wrong, param) in [
        (r#""x":1"#, "input"),
        (r#""input":[]"#, "input"),
        (r#""input":7"#, "input"),
        (r#""input":"x","tools":{}"#, "tools"),
        (r#""input":"x","store":1"#, "store"),
    ] {
        assert_eq!(needs(wrong).unwrap_err().param.as_deref(), Some(param), "{wrong}");
    }
    assert!(needs(r#""previous_response_id":"r""#).is_ok());
}

#[test]
fn a_rungs_edits_change_only_what_they_are_about() {
    let degrade = Degrade { json_schema: true, parallel_tools: true, max_output: true };
    let again = Some(Again { answer: "{}", problem: "'a' is missing" });
    let target = Target { max_output: Some(100), degrade, again, ..TARGET };
    let schema = r#"{"type":"object","properties":{}}"#;
    let chat = told(CHAT, AS_CHAT, CHAT, &target).unwrap();
    assert!(chat.get("response_format").is_none());
    assert_eq!(chat["parallel_tool_calls"], false);
    assert_eq!(chat["max_completion_tokens"], 100);
    let messages = chat["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 8);
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.starts_with("be kind\n\n") && system.ends_with(schema), "{system}");
    assert_eq!(messages[1..6], json(AS_CHAT)["messages"].as_array().unwrap()[1..6]);
    assert_eq!(messages[6]["content"], "{}");
    assert!(messages[7]["content"].as_str().unwrap().contains("'a' is missing"));

    let responses = told(RESPONSES, AS_RESPONSES, RESPONSES, &target).unwrap();
    assert!(responses.get("text").is_none());
    assert_eq!(responses["parallel_tool_calls"], false);
    assert_eq!(responses["max_output_tokens"], 100);
    assert!(responses["instructions"].as_str().unwrap().starts_with("be kind\n\n"));
    let input = responses["input"].as_array().unwrap();
    assert_eq!(input.len(), 9);
    assert_eq!(input[..7], json(AS_RESPONSES)["input"].as_array().unwrap()[..7]);
    assert_eq!(input[7], json(r#"{"role":"assistant","content":"{}"}"#));

    for (own, body) in [(CHAT, AS_CHAT), (RESPONSES, AS_RESPONSES)] {
        let through_neutral = write(own, &read(own, body), &target);
        for limit in ["max_completion_tokens", "max_output_tokens", "parallel_tool_calls"] {
            let passed = told(own, body, own, &target).unwrap();
            assert_eq!(through_neutral.get(limit), passed.get(limit), "{own} {limit}");
        }
    }
}

#[test]
fn a_rungs_own_system_prompt_replaces_the_clients_wherever_it_stands() {
    let target = Target { system: Some("mine"), ..TARGET };
    let chat = r#"{"model":"m","messages":[{"role":"system","content":"a"},{"role":"user","content":"x"},{"role":"developer","content":"b"}]}"#;
    assert_eq!(
        told(CHAT, chat, CHAT, &target).unwrap()["messages"],
        json(r#"[{"role":"system","content":"mine"},{"role":"user","content":"x"}]"#)
    );
    let responses = r#"{"model":"m","instructions":"a","input":[{"role":"developer","content":"b"},{"role":"user","content":"x"}]}"#;
    let told_so = told(RESPONSES, responses, RESPONSES, &target).unwrap();
    assert_eq!(told_so["instructions"], "mine");
    assert_eq!(told_so["input"], json(r#"[{"role":"user","content":"x"}]"#));
    let text = told(RESPONSES, r#"{"model":"m","input":"x"}"#, RESPONSES, &target).unwrap();
    assert_eq!(text, json(r#"{"model":"up","instructions":"mine","input":"x","stream":true}"#));
    for to in [CHAT, RESPONSES] {
        let own = if to == CHAT { RESPONSES } else { CHAT };
        let body = if own == CHAT { chat } else { responses };
        let whole = told(own, body, to, &target).unwrap().to_string();
        assert!(whole.contains("mine") && !whole.contains("\"a\"") && !whole.contains("\"b\""));
    }
}

#[test]
fn instructions_after_the_models_last_turn_are_what_it_is_to_answer() {
    let chat = |last: &str| {
        format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"first"}},{{"role":"user","content":"x"}},{{"role":"system","content":"midst"}},{{"role":"assistant","content":"y"}},{{"role":"system","content":"late"}},{{"role":"developer","content":"later"}}{last}]}}"#
        )
    };
    let in_responses =
        |last: &str| chat(last).replace("messages", "input").replace("system", "developer");
    let in_messages = |last: &str| {
        chat(last).replace("developer", "system").replace("\"m\",", "\"m\",\"max_tokens\":9,")
    };
    let user = r#",{"role":"user","content":"z"}"#;
    for (own, closed, open) in [
        (CHAT, chat(user), chat("")),
        (RESPONSES, in_responses(user), in_responses("")),
        (Dialect::AnthropicMessages, in_messages(user), in_messages("")),
    ] {
        assert_eq!(read(own, &closed).system, ["first", "midst", "late", "later"], "{own}");
        let request = read(own, &open);
        assert_eq!(request.system, ["first", "midst"], "{own}");
        assert_eq!(request.turns.len(), 3, "{own}");
        let last = format!("{:?}", request.turns.last().unwrap());
        assert_eq!(last, r#"Turn { role: User, parts: [Text("late"), Text("later")] }"#);
    }
}

#[test]
fn an_objects_schema_says_what_it_may_have() {
    let body = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#;
    let schema = json(r#"{"type":"object","properties":{}}"#);
    for (to, place) in [(CHAT, "/tools/0/function/parameters"), (RESPONSES, "/tools/0/parameters")]
    {
        let told = told(Dialect::AnthropicMessages, body, to, &TARGET).unwrap();
        assert_eq!(told.pointer(place), Some(&schema), "{to}");
    }
}

#[test]
fn a_last_message_without_a_word_makes_no_prefill() {
    let last = |content: &str, key: &str, more: &str| {
        format!(
            r#"{{"model":"m",{more}"{key}":[{{"role":"user","content":"x"}},{{"role":"assistant","content":"y"}},{{"role":"user","content":{content}}}]}}"#
        )
    };
    for content in [r#""""#, "[]"] {
        for (own, body) in [
            (CHAT, last(content, "messages", "")),
            (RESPONSES, last(content, "input", "")),
            (Dialect::AnthropicMessages, last(content, "messages", r#""max_tokens":9,"#)),
        ] {
            for to in Dialect::ALL.iter().filter(|to| **to != own) {
                match told(own, &body, *to, &TARGET) {
                    Ok(body) => assert_eq!(body["messages"][2]["role"], "user", "{own} to {to}"),
                    Err(unable) => assert!(!unable.field.is_empty()),
                }
            }
        }
    }
}

#[test]
fn a_schema_goes_into_the_system_prompt_that_is_there() {
    let degrade = Degrade { json_schema: true, ..TARGET.degrade };
    let target = Target { degrade, ..TARGET };
    let format =
        r#""response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}}"#;
    for (messages, first, count) in [
        (r#"[{"role":"user","content":"x"}]"#, "system", 2),
        (
            r#"[{"role":"developer","name":"n","content":"s"},{"role":"user","content":"x"}]"#,
            "developer",
            2,
        ),
        (
            r#"[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"user","content":"x"}]"#,
            "system",
            2,
        ),
    ] {
        let body = format!(r#"{{"model":"m","messages":{messages},{format}}}"#);
        let told = told(CHAT, &body, CHAT, &target).unwrap();
        let messages = told["messages"].as_array().unwrap();
        assert_eq!((messages[0]["role"].as_str(), messages.len()), (Some(first), count));
        assert!(messages[0].to_string().contains("JSON schema"), "{}", messages[0]);
    }
    let free = format!(r#"{{"model":"m",{PLAIN},"response_format":{{"type":"json_object"}}}}"#);
    let told = told(CHAT, &free, CHAT, &target).unwrap();
    assert_eq!(told["response_format"]["type"], "json_object");
}

#[test]
fn limits_are_lowered_and_never_raised() {
    let degrade = Degrade { max_output: true, ..TARGET.degrade };
    for (asked, most, degrade, expected) in [
        (90, Some(50), degrade, 50),
        (40, Some(50), degrade, 40),
        (90, None, degrade, 90),
        (90, Some(50), TARGET.degrade, 90),
    ] {
        let target = Target { max_output: most, degrade, ..TARGET };
        let chat = format!(r#"{{"model":"m",{PLAIN},"max_tokens":{asked}}}"#);
        let responses = format!(r#"{{"model":"m","input":"x","max_output_tokens":{asked}}}"#);
        assert_eq!(told(CHAT, &chat, CHAT, &target).unwrap()["max_tokens"], expected);
        assert_eq!(told(CHAT, &chat, RESPONSES, &target).unwrap()["max_output_tokens"], expected);
        assert_eq!(
            told(RESPONSES, &responses, RESPONSES, &target).unwrap()["max_output_tokens"],
            expected
        );
        assert_eq!(told(RESPONSES, &responses, CHAT, &target).unwrap()["max_tokens"], expected);
    }
}

#[test]
fn no_prompt_is_in_a_debug_print() {
    let request =
        parse(r#"{"model":"m","messages":[{"role":"user","content":"launch code"}]}"#).unwrap();
    request.supported_by(RESPONSES).unwrap();
    assert!(!format!("{request:?}").contains("launch"));
}

#[test]
fn whether_a_rung_can_be_told_is_asked_of_its_dialect() {
    let stop = with(r#","stop":"x""#);
    let no = Unsupported { field: "stop".to_owned() };
    for _again in 0..2 {
        assert_eq!(stop.supported_by(RESPONSES), Err(no.clone()));
        assert_eq!(stop.supported_by(Dialect::Gemini), Ok(()));
        assert_eq!(stop.supported_by(CHAT), Ok(()));
    }
    let own = with(r#","x_new":1"#);
    assert_eq!(own.supported_by(CHAT), Ok(()));
    assert_eq!(own.supported_by(Dialect::Gemini).unwrap_err().field, "x_new");
}

#[test]
fn gemini_has_no_clients() {
    assert!(ClientRequest::parse(Dialect::Gemini, br#"{"model":"m","contents":[]}"#).is_err());
}

#[test]
fn only_chat_leaves_usage_and_the_number_of_answers_to_the_client() {
    let body = br#"{"model":"m","input":"x","n":3,"stream_options":{"include_usage":false}}"#;
    let request = ClientRequest::parse(RESPONSES, body).unwrap();
    assert_eq!((request.wants_usage(), request.choices()), (true, 1));
    let chat = with(r#","n":3"#);
    assert_eq!((chat.wants_usage(), chat.choices()), (false, 3));
}

proptest::proptest! {
    #[test]
    fn no_body_makes_a_writer_panic(at in 0usize..1500, with in proptest::sample::select(vec!["", "null", "7", "\"", "[]", "{}", "\u{e9}", ":", "{\"type\":1}"])) {
        for (own, whole) in [(CHAT, AS_CHAT), (RESPONSES, AS_RESPONSES)] {
            let start = whole.char_indices().map(|(n, _)| n).nth(at).unwrap_or(whole.len());
            let end = whole[start..].find([',', '}', ']']).map_or(whole.len(), |n| start + n);
            let body = format!("{}{with}{}", &whole[..start], &whole[end..]);
            let Ok(request) = ClientRequest::parse(own, body.as_bytes()) else { continue };
            for to in Dialect::ALL {
                if let Ok(upstream) = request.upstream(*to, &TARGET) {
                    proptest::prop_assert!(serde_json::from_slice::<Value>(&upstream.body).is_ok());
                }
            }
        }
    }
}
