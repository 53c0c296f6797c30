//! What is read out of messages, what is unsupported to others, what is refused.

mod as_written;
mod unsupported;

use super::*;
use crate::common::needs::Needs;
use crate::messages::needs::needs;
use crate::neutral::Part;

/// A request's fields, beside model and limit.
pub(crate) fn fields(more: &str) -> Fields {
    serde_json::from_str(&format!(r#"{{"model":"chat","max_tokens":99,{more}}}"#)).unwrap()
}

const HI: &str = r#""messages":[{"role":"user","content":"hi"}]"#;

pub(crate) fn with(more: &str) -> Request {
    read_request(&fields(&format!("{HI},{more}"))).unwrap()
}

/// The parts of the turns of `messages`, with the first letter of each turn's role.
fn said(messages: &str) -> Vec<String> {
    let request = read_request(&fields(&format!(r#""messages":[{messages}]"#))).unwrap();
    assert!(request.unsupported.is_empty(), "{:?}", request.unsupported);
    let of_turn = |turn: &Turn| {
        let role = if turn.role == Role::User { 'u' } else { 'a' };
        turn.parts.iter().map(|part| format!("{role} {}", shown(part))).collect::<Vec<_>>()
    };
    request.turns.iter().flat_map(of_turn).collect()
}

fn shown(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("text {text}"),
        Part::Image(image) => format!("image {:?}", image.source),
        Part::File(file) => format!("file {:?} {:?}", file.name, file.source),
        Part::Reasoning { text, signed } => format!("reasoning {text} {}", proof(signed.as_ref())),
        Part::Redacted(signed) => format!("redacted {}", proof(Some(signed))),
        Part::Call { id, name, arguments, signed } => {
            assert!(signed.is_none());
            format!("call {id} {name} {arguments}")
        }
        Part::Result { id, parts, is_error } => {
            let parts: Vec<String> = parts.iter().map(shown).collect();
            format!("result {id} {is_error} {parts:?}")
        }
        other => panic!("messages have no {other:?}"),
    }
}

fn proof(signed: Option<&crate::neutral::Signed>) -> String {
    signed.map_or("-".to_owned(), |signed| format!("{} {}", signed.by, signed.data))
}

#[test]
fn every_block_has_its_part() {
    for (block, part) in [
        (r#"{"type":"text","text":"a\u00e9"}"#, "text aé"),
        (r#"{"type":"text","text":"a","text":"the last counts"}"#, "text the last counts"),
        (r#"{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}"#, "text a"),
        (r#"{"type":"text","text":"a","citations":[{"type":"char_location"}]}"#, "text a"),
        (
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}}"#,
            r#"image Base64 { media_type: "image/png", data: "QQ==" }"#,
        ),
        (
            r#"{"type":"image","source":{"type":"url","url":"http://x/y"}}"#,
            r#"image Url("http://x/y")"#,
        ),
        (r#"{"type":"image","source":{"type":"file","file_id":"f1"}}"#, r#"image Id("f1")"#),
        (
            concat!(
                r#"{"type":"document","title":"t","citations":{ "enabled" : false },"#,
                r#""source":{"type":"base64","media_type":"application/pdf","data":"QQ=="}}"#
            ),
            r#"file Some("t") Base64 { media_type: "application/pdf", data: "QQ==" }"#,
        ),
        (
            r#"{"type":"document","source":{"type":"url","url":"http://x/y.pdf"}}"#,
            r#"file None Url("http://x/y.pdf")"#,
        ),
        (
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"abc"}}"#,
            "text abc",
        ),
        (r#"{"type":"document","source":{"type":"content","content":"abc"}}"#, "text abc"),
        (
            r#"{"type":"tool_use","id":"i","name":"f","input":{"b": 1.50,"a":1e3}}"#,
            r#"call i f {"b": 1.50,"a":1e3}"#,
        ),
        (r#"{"type":"tool_use","id":"i","name":"f"}"#, "call i f {}"),
        (r#"{"type":"tool_result","tool_use_id":"i"}"#, "result i false []"),
        (
            r#"{"type":"tool_result","tool_use_id":"i","content":"no","is_error":true}"#,
            r#"result i true ["text no"]"#,
        ),
        (
            concat!(
                r#"{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"a"},"#,
                r#"{"type":"image","source":{"type":"url","url":"u"}}]}"#
            ),
            r#"result i false ["text a", "image Url(\"u\")"]"#,
        ),
        (
            r#"{"type":"thinking","thinking":"hm","signature":"sig="}"#,
            "reasoning hm anthropic-messages sig=",
        ),
        (r#"{"type":"thinking","thinking":"hm","signature":""}"#, "reasoning hm -"),
        (r#"{"type":"thinking","thinking":"hm"}"#, "reasoning hm -"),
        (
            r#"{"type":"thinking","thinking":"hm","signature":"belay.gemini.abc"}"#,
            "reasoning hm gemini abc",
        ),
        (r#"{"type":"redacted_thinking","data":"xyz"}"#, "redacted anthropic-messages xyz"),
        (
            r#"{"type":"redacted_thinking","data":"belay.openai-responses.x"}"#,
            "redacted openai-responses x",
        ),
    ] {
        for (role, letter) in [("user", 'u'), ("assistant", 'a')] {
            let messages = format!(r#"{{"role":"{role}","content":[{block}]}}"#);
            assert_eq!(said(&messages), [format!("{letter} {part}")], "{block}");
        }
    }
}

#[test]
fn a_document_keeps_its_title_and_context_as_text() {
    let document = |source: &str| {
        said(&format!(
            r#"{{"role":"user","content":[{{"type":"document","title":"T","context":"C","source":{source}}}]}}"#
        ))
    };
    let inline = r#"{"type":"content","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"u"}}]}"#;
    assert_eq!(document(inline), ["u text C", "u text T", "u text a", "u image Url(\"u\")"]);
    let by_address = r#"{"type":"url","url":"u"}"#;
    assert_eq!(document(by_address), ["u text C", r#"u file Some("T") Url("u")"#]);
}

#[test]
fn neighbours_of_one_role_are_one_turn_and_a_prefill_stays_last() {
    let messages = concat!(
        r#"{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b"}]},"#,
        r#"{"role":"system","content":"be brief"},{"role":"assistant","content":"{"}"#
    );
    let request =
        read_request(&fields(&format!(r#""messages":[{messages}],"system":"s""#))).unwrap();
    assert_eq!(request.turns.len(), 2);
    assert_eq!(request.turns[0].parts.len(), 2);
    assert_eq!(request.turns[1].role, Role::Assistant);
    assert_eq!(request.system, ["s", "be brief"]);
}

#[test]
fn every_field_has_its_word() {
    let system = r#""system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":""},{"type":"text","text":"b"}]"#;
    assert_eq!(with(system).system, ["a", "b"]);
    assert_eq!(with(r#""system":"a""#).system, ["a"]);
    assert!(with(r#""system":"""#).system.is_empty());
    assert_eq!(with(r#""stop_sequences":["x"," "]"#).stop, ["x", " "]);
    let sampled = with(r#""temperature":0.25,"top_p":1,"top_k":40"#);
    assert_eq!(
        (sampled.temperature, sampled.top_p, sampled.top_k),
        (Some(0.25), Some(1.0), Some(40))
    );
    assert_eq!(with(r#""metadata":{"user_id":"u","x":1}"#).user.as_deref(), Some("u"));
    assert_eq!(with(r#""metadata":null"#).max_output, Some(99));
    for (tool, seen) in [
        (r#"{"type":"auto"}"#, (Some(ToolChoice::Auto), None)),
        (
            r#"{"type":"any","disable_parallel_tool_use":true}"#,
            (Some(ToolChoice::Any), Some(false)),
        ),
        (r#"{"type":"none"}"#, (Some(ToolChoice::None), None)),
        (r#"{"type":"tool","name":"f"}"#, (Some(ToolChoice::Named("f".to_owned())), None)),
        (
            r#"{"type":"auto","disable_parallel_tool_use":false}"#,
            (Some(ToolChoice::Auto), Some(true)),
        ),
    ] {
        let request = with(&format!(r#""tool_choice":{tool}"#));
        assert_eq!((request.tool_choice, request.parallel_tools), seen, "{tool}");
    }
    for (how, thinking) in [
        (r#""thinking":{"type":"disabled"}"#, Thinking::Off),
        (r#""thinking":{"type":"adaptive","display":"omitted"}"#, Thinking::Adaptive),
        (r#""thinking":{"type":"enabled","budget_tokens":2048}"#, Thinking::Budget(2048)),
        (r#""output_config":{"effort":"low"}"#, Thinking::Effort(Effort::Low)),
        (r#""output_config":{"effort":"medium"}"#, Thinking::Effort(Effort::Medium)),
        (r#""output_config":{"effort":"xhigh"}"#, Thinking::Effort(Effort::Max)),
        (
            r#""thinking":{"type":"adaptive"},"output_config":{"effort":"high"}"#,
            Thinking::Effort(Effort::High),
        ),
        (
            r#""thinking":{"type":"enabled","budget_tokens":2048},"output_config":{"effort":"max"}"#,
            Thinking::Budget(2048),
        ),
        (r#""thinking":{"type":"disabled"},"output_config":{"effort":"max"}"#, Thinking::Off),
    ] {
        let request = with(how);
        assert_eq!(request.thinking, Some(thinking), "{how}");
        assert!(request.unsupported.is_empty(), "{how}");
    }
}

#[test]
fn schemas_keep_their_order_and_their_spelling() {
    let schema = r#"{"z": 1.50, "a" : {"minimum":1e2}}"#;
    let tool = format!(
        r#""tools":[{{"name":"f","description":"d","input_schema":{schema},"strict":true}},{{"type":"custom","name":"g"}}]"#
    );
    let request = with(&tool);
    let [first, second] = &request.tools[..] else { panic!("two tools") };
    assert_eq!((first.name.as_str(), first.description.as_deref()), ("f", Some("d")));
    assert_eq!(first.parameters.as_ref().unwrap().get(), schema);
    assert_eq!(first.strict, Some(true));
    assert!(second.parameters.is_none() && second.strict.is_none());
    for field in [
        format!(r#""output_config":{{"format":{{"type":"json_schema","schema":{schema}}}}}"#),
        format!(r#""output_format":{{"type":"json_schema","schema":{schema}}}"#),
    ] {
        let Some(Format::Schema { schema: read, .. }) = with(&field).format else {
            panic!("{field}")
        };
        assert_eq!(read.get(), schema);
    }
}

#[test]
fn a_schema_is_strict_where_openai_could_keep_to_it() {
    for (schema, expected) in [
        (r#"{"type":"object"}"#, None),
        (r#"{"type":"object","properties":{},"additionalProperties":false}"#, Some(true)),
    ] {
        let format =
            format!(r#""output_config":{{"format":{{"type":"json_schema","schema":{schema}}}}}"#);
        let Some(Format::Schema { strict, .. }) = with(&format).format else { panic!("{schema}") };
        assert_eq!(strict, expected, "{schema}");
    }
}

#[test]
fn what_a_request_needs_is_read_from_its_fields() {
    let needs = |more: &str| needs(&fields(&format!("{HI},{more}"))).unwrap();
    let plain = needs(r#""x":1"#);
    assert_eq!(plain, Needs { prompt_tokens: 8, max_output: Some(99), ..Needs::default() });
    let tool = r#""tools":[{"name":"f","input_schema":{}}]"#;
    assert!(needs(tool).tools && !needs(tool).side_effects && !needs(tool).parallel_tools);
    assert!(!needs(r#""tools":[]"#).tools);
    for (off, parallel) in [("false", true), ("true", false)] {
        let choice =
            format!(r#"{tool},"tool_choice":{{"type":"auto","disable_parallel_tool_use":{off}}}"#);
        assert_eq!(needs(&choice).parallel_tools, parallel);
    }
    assert!(needs(r#""output_config":{"format":{"type":"json_schema"}}"#).json_schema);
    assert!(needs(r#""output_format":{"type":"json_schema"}"#).json_schema);
    assert!(!needs(r#""output_config":{"effort":"low"}"#).json_schema);
    for served in [
        r#""tools":[{"type":"code_execution_20260120","name":"code_execution"}]"#,
        r#""mcp_servers":[{"url":"u"}]"#,
        r#""container":"c""#,
    ] {
        assert!(needs(served).side_effects, "{served}");
    }
    for harmless in [
        r#""mcp_servers":[],"container":null"#,
        r#""tools":[{"type":"web_search_20260318","name":"web_search"}]"#,
        r#""tools":[{"type":"bash_20250124","name":"bash"}]"#,
    ] {
        assert!(!needs(harmless).side_effects, "{harmless}");
    }

    let data = "A".repeat(40_000);
    let source =
        format!(r#""source":{{"type":"base64","media_type":"image/png","data":"{data}"}}"#);
    let of = |blocks: &str| {
        crate::messages::needs::needs(&fields(&format!(
            r#""messages":[{{"role":"user","content":[{blocks}]}}]"#
        )))
        .unwrap()
    };
    let image = of(&format!(r#"{{"type":"image",{source}}}"#));
    assert!(image.images && !image.files && image.prompt_tokens < 100);
    let file = of(&format!(r#"{{"type":"document",{source}}}"#));
    assert!(file.files && !file.images && file.prompt_tokens < 100);
    let text = of(&format!(r#"{{"type":"document","source":{{"type":"text","data":"{data}"}}}}"#));
    assert!(!text.files && text.prompt_tokens > 9_000, "text counts as text");
    let inner = of(&format!(r#"{{"type":"tool_result","content":[{{"type":"image",{source}}}]}}"#));
    assert!(inner.tools && inner.images && inner.prompt_tokens < 100);
    assert!(of(r#"{"type":"tool_use"}"#).tools);
}

#[test]
fn a_conversation_that_a_provider_would_keep_is_refused_for_every_rung() {
    for thread in [r#"{"type":"create"}"#, r#"{"type":"continue","previous_message_id":"m"}"#] {
        let reject = needs(&fields(&format!(r#"{HI},"thread":{thread}"#))).unwrap_err();
        assert_eq!((reject.status, reject.param.as_deref()), (400, Some("thread")));
        assert_eq!(reject.code, Some("thread_unsupported_request"));
    }
    assert!(needs(&fields(&format!(r#"{HI},"thread":null"#))).is_ok());
}

#[test]
fn a_rejection_names_the_field_and_never_quotes_the_prompt() {
    let secret = "launch code 0000";
    let message = format!(r#""messages":[{{"role":"user","content":"{secret}"}}]"#);
    let block = |block: &str| {
        format!(r#""max_tokens":9,"messages":[{{"role":"user","content":[{block}]}}]"#)
    };
    for (body, param, needle) in [
        (message.clone(), "max_tokens", "is missing"),
        (format!(r#"{message},"max_tokens":null"#), "max_tokens", "is missing"),
        (format!(r#"{message},"max_tokens":0"#), "max_tokens", "1 or more"),
        (format!(r#"{message},"max_tokens":-1"#), "max_tokens", "whole number"),
        (format!(r#"{message},"max_tokens":1.5"#), "max_tokens", "whole number"),
        (format!(r#"{message},"max_tokens":"9""#), "max_tokens", "whole number"),
        (r#""max_tokens":9"#.to_owned(), "messages", "is missing"),
        (r#""max_tokens":9,"messages":[ ]"#.to_owned(), "messages", "is empty"),
        (format!(r#""max_tokens":9,"messages":"{secret}""#), "messages", "an array"),
        (format!(r#"{message},"max_tokens":9,"tools":{{}}"#), "tools", "an array"),
        (format!(r#"{message},"max_tokens":9,"tools":[7]"#), "tools[0]", "an object"),
        (format!(r#"{message},"max_tokens":9,"tools":[{{}}]"#), "tools[0].name", "a string"),
        (format!(r#"{message},"max_tokens":9,"temperature":"hot""#), "temperature", "a number"),
        (format!(r#"{message},"max_tokens":9,"system":7"#), "system", "a string or"),
        (
            format!(r#"{message},"max_tokens":9,"thinking":{{"type":"enabled"}}"#),
            "thinking.budget_tokens",
            "whole number",
        ),
        (
            format!(r#""max_tokens":9,"messages":[{{"role":"{secret}","content":""}}]"#),
            "messages[0].role",
            "'assistant'",
        ),
        (
            r#""max_tokens":9,"messages":[{"role":"user"}]"#.to_owned(),
            "messages[0].content",
            "blocks",
        ),
        (block(&format!(r#""{secret}""#)), "messages[0].content[0]", "an object"),
        (block(r#"{"text":"x"}"#), "messages[0].content[0].type", "a string"),
        (block(r#"{"type":"text"}"#), "messages[0].content[0].text", "a string"),
        (block(r#"{"type":"image"}"#), "messages[0].content[0].source", "an object"),
        (
            block(r#"{"type":"tool_result","content":[{"type":"text","text":1}]}"#),
            "messages[0].content[0].content[0].text",
            "a string",
        ),
    ] {
        let fields: Fields = serde_json::from_str(&format!("{{{body}}}")).unwrap();
        let reject = read_request(&fields).unwrap_err();
        assert_eq!(reject.status, 400);
        assert_eq!(reject.param.as_deref(), Some(param), "{body}");
        assert!(reject.message.contains(needle), "{body}: {}", reject.message);
        assert!(!reject.message.contains(secret), "{}", reject.message);
        let is_missing = needle == "is missing";
        if matches!(param, "messages" | "tools") || (param == "max_tokens" && is_missing) {
            assert_eq!(needs(&fields).unwrap_err(), reject, "both look at it alike: {body}");
        }
    }
}
