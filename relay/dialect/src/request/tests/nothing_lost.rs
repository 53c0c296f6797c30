//! Each field of a request is sent, named as left out, listed as harmless, or refused.

use super::*;

const CHAT: &str = r#"{"model":"chat","stream":true,"stream_options":{"include_usage":true},
"messages":[{"role":"system","content":[{"type":"text","text":"s"}]},
{"role":"user","content":[{"type":"text","text":"t"},
{"type":"image_url","image_url":{"url":"https://a/b.png"}},
{"type":"file","file":{"file_data":"data:application/pdf;base64,QQ=="}}]},
{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.text","text":"r"}],
"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},
"extra_content":{"google":{"thought_signature":"s"}}}]},
{"role":"tool","tool_call_id":"c","content":"x"}],
"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],
"tool_choice":{"type":"function","function":{"name":"f"}},
"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object"}}},
"reasoning":{"effort":"low"},"thinking":{"type":"enabled"}}"#;

const RESPONSES: &str = r#"{"model":"chat","stream":true,"instructions":"s",
"input":[{"role":"user","content":[{"type":"input_text","text":"t"},
{"type":"input_image","image_url":"https://a/b.png"},
{"type":"input_file","file_data":"data:application/pdf;base64,QQ=="}]},
{"type":"reasoning","summary":[{"type":"summary_text","text":"r"}],"encrypted_content":"e"},
{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]}],
"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}],
"tool_choice":{"type":"function","name":"f"},
"text":{"format":{"type":"json_schema","name":"a","schema":{"type":"object"}}},
"reasoning":{"effort":"low"}}"#;

/// A key that no dialect has.
const NEW: &str = "x_unheard_of";

/// Objects that are the client's own or passed on as they are.
fn is_closed(path: &str) -> bool {
    ["parameters", "schema", "stream_options", "metadata"].iter().any(|end| path.ends_with(end))
}

/// Every copy of `whole` that has one key more, with where it stands.
fn with_one_more(whole: &Value) -> Vec<(String, Value)> {
    fn places(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) if !is_closed(pointer) => {
                found.push(pointer.to_owned());
                for (key, inner) in members {
                    places(inner, &format!("{pointer}/{key}"), found);
                }
            }
            Value::Array(items) => {
                for (n, inner) in items.iter().enumerate() {
                    places(inner, &format!("{pointer}/{n}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    places(whole, "", &mut found);
    let more = |pointer: String| {
        let mut copy = whole.clone();
        copy.pointer_mut(&pointer).unwrap()[NEW] = Value::from(1);
        (pointer, copy)
    };
    found.into_iter().map(more).collect()
}

#[test]
fn a_field_that_nobody_has_heard_of_is_never_lost_wherever_it_stands() {
    for (dialect, body) in [(Dialect::OpenaiChat, CHAT), (Dialect::OpenaiResponses, RESPONSES)] {
        let whole = json(body);
        let others = Dialect::ALL.iter().filter(|to| **to != dialect);
        for to in others {
            told(dialect, body, *to, &TARGET).unwrap();
            let more = with_one_more(&whole);
            assert!(more.len() > 12, "{}", more.len());
            for (place, copy) in more {
                let refused = told(dialect, &copy.to_string(), *to, &TARGET).unwrap_err();
                assert!(refused.field.ends_with(NEW), "{place}: {}", refused.field);
            }
        }
        let (_, first) = with_one_more(&whole).swap_remove(0);
        let own = told(dialect, &first.to_string(), dialect, &TARGET).unwrap();
        assert_eq!(own[NEW], 1, "its own dialect is told");
    }
}

/// A field, and what becomes of it towards the other dialects: nothing, or its refusal.
type Case = (&'static str, Option<&'static str>);

const CHAT_FIELDS: &[Case] = &[
    (r#""n":1"#, None),
    (r#""n":2"#, Some("n")),
    (r#""logprobs":false"#, None),
    (r#""logprobs":true"#, Some("logprobs")),
    (r#""top_logprobs":0"#, None),
    (r#""top_logprobs":5"#, Some("top_logprobs")),
    (r#""logit_bias":{ }"#, None),
    (r#""logit_bias":{"1":1}"#, Some("logit_bias")),
    (r#""prediction":{"type":"content","content":"x"}"#, Some("prediction")),
    (r#""prediction":null"#, None),
    (r#""modalities":[ "text" ]"#, None),
    (r#""modalities":["text","audio"]"#, Some("modalities")),
    (r#""audio":{"voice":"x"}"#, Some("audio")),
    (r#""web_search_options":{}"#, Some("web_search_options")),
    (r#""store":false"#, None),
    (r#""store":true"#, Some("store")),
    (r#""functions":[]"#, None),
    (r#""functions":[{"name":"f"}]"#, Some("functions")),
    (r#""function_call":"auto""#, None),
    (r#""function_call":{"name":"f"}"#, Some("function_call")),
    (r#""session_id":"s""#, None),
    (r#""options":{"num_ctx":1}"#, None),
    (r#""chat_template_kwargs":{}"#, None),
    (r#""max_tokens":-1"#, None),
    (r#""max_tokens":256.0"#, None),
    (r#""max_tokens":256.5"#, Some("max_tokens")),
    (r#""max_tokens":"9""#, Some("max_tokens")),
    (r#""metadata":{"a":"b"}"#, None),
    (r#""user":"u""#, None),
    (r#""service_tier":"auto""#, None),
    (r#""prompt_cache_key":"k""#, None),
    (r#""seed":7"#, None),
    (r#""tools":[{"type":"web_search"}]"#, Some("tools[0].type")),
    (r#""tools":[{"type":"custom","custom":{"name":"x"}}]"#, None),
    (r#""tools":[{"type":"custom","custom":{"name":"x","news":1}}]"#, Some("tools[0].custom.news")),
    (r#""tools":[{"type":"news","news":{"name":"x"}}]"#, Some("tools[0].type")),
    (r#""tool_choice":{"type":"allowed_tools"}"#, Some("tool_choice.type")),
    (r#""response_format":{"type":"text"}"#, None),
    (r#""response_format":{"type":"grammar"}"#, Some("response_format.type")),
    (r#""seed":"x""#, Some("seed")),
    (
        r#""messages":[{"role":"user","content":[{"type":"video"}]}]"#,
        Some("messages[0].content[0].type"),
    ),
    (
        r#""messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}]"#,
        Some("messages[0].content[0].file.file_id"),
    ),
    (
        r#""messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///x"}}]}]"#,
        Some("messages[0].content[0].image_url.url"),
    ),
    (r#""messages":[{"role":"function","name":"f","content":"x"}]"#, Some("messages[0].role")),
    (
        r#""messages":[{"role":"assistant","function_call":{"name":"f"}},{"role":"user","content":"x"}]"#,
        Some("messages[0].function_call"),
    ),
    (r#""messages":[{"role":"user","content":7}]"#, Some("messages[0].content")),
];

const RESPONSES_FIELDS: &[Case] = &[
    (r#""previous_response_id":"r""#, Some("previous_response_id")),
    (r#""previous_response_id":null"#, None),
    (r#""conversation":"c""#, Some("conversation")),
    (r#""background":true"#, Some("background")),
    (r#""background":false"#, None),
    (r#""prompt":{"id":"p"}"#, Some("prompt")),
    (r#""truncation":"auto""#, Some("truncation")),
    (r#""truncation":"disabled""#, None),
    (r#""store":true"#, Some("store")),
    (r#""store":false"#, None),
    (r#""include":["reasoning.encrypted_content"]"#, None),
    (r#""include":["message.output_text.logprobs"]"#, Some("include[0]")),
    (r#""top_logprobs":3"#, Some("top_logprobs")),
    (r#""reasoning":{"summary":"auto"}"#, None),
    (r#""tools":[{"type":"web_search"}]"#, Some("tools[0].type")),
    (r#""tools":[{"type":"function","name":"f","parameters":{}},{"type":"web_search"}]"#, None),
    (
        r#""tools":[{"type":"web_search"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]}]"#,
        None,
    ),
    (
        r#""tools":[{"type":"function","name":"f"},{"type":"web_search"}],"tool_choice":{"type":"web_search"}"#,
        Some("tool_choice.type"),
    ),
    (
        r#""tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp"}]}]"#,
        Some("tools[0].tools[0].type"),
    ),
    (r#""tools":[{"type":"custom","name":"p","format":{"type":"text"}}]"#, None),
    (r#""client_metadata":{"x":"y"}"#, None),
    (r#""tools":[{"type":"mcp"}]"#, Some("tools[0].type")),
    (r#""input":[{"type":"web_search_call","id":"i"},{"role":"user","content":"x"}]"#, None),
    (
        r#""input":[{"type":"image_generation_call","id":"i","result":"AAAA"}]"#,
        Some("input[0].type"),
    ),
    (
        r#""input":[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]"#,
        Some("input[0].content[0].file_id"),
    ),
    (r#""input":[{"role":"robot","content":"x"}]"#, Some("input[0].role")),
];

#[test]
fn every_field_has_a_class_and_what_is_foreign_is_named() {
    for (dialect, cases, start) in [
        (
            Dialect::OpenaiChat,
            CHAT_FIELDS,
            r#"{"model":"m","messages":[{"role":"user","content":"hi"}]"#,
        ),
        (Dialect::OpenaiResponses, RESPONSES_FIELDS, r#"{"model":"m","input":"hi""#),
    ] {
        for (field, refused) in cases {
            let body = format!("{start},{field}}}");
            for to in Dialect::ALL.iter().filter(|to| **to != dialect) {
                let told = told(dialect, &body, *to, &TARGET);
                let feature = told.err().map(|unable| unable.field);
                assert_eq!(feature.as_deref(), *refused, "{field} to {to}");
            }
            assert!(told(dialect, &body, dialect, &TARGET).is_ok(), "{field}");
        }
    }
}

#[test]
fn a_wish_without_words_is_named_as_left_out() {
    for (dialect, body, to, expected) in [
        (
            Dialect::OpenaiChat,
            r#""verbosity":"low","min_p":0.1"#,
            Dialect::Gemini,
            vec!["verbosity", "min_p"],
        ),
        (
            Dialect::OpenaiChat,
            r#""seed":1,"top_k":5,"presence_penalty":1,"frequency_penalty":1"#,
            Dialect::OpenaiResponses,
            vec!["top_k", "presence_penalty", "frequency_penalty", "seed"],
        ),
        (Dialect::OpenaiChat, r#""max_tokens":5"#, Dialect::OpenaiResponses, vec!["max_output"]),
        (Dialect::OpenaiChat, r#""max_tokens":16"#, Dialect::OpenaiResponses, vec![]),
        (
            Dialect::OpenaiChat,
            r#""reasoning_effort":"none""#,
            Dialect::OpenaiResponses,
            vec!["thinking"],
        ),
        (
            Dialect::OpenaiResponses,
            r#""text":{"verbosity":"low"}"#,
            Dialect::OpenaiChat,
            vec!["verbosity"],
        ),
        (
            Dialect::OpenaiResponses,
            r#""reasoning":{"effort":"none"}"#,
            Dialect::OpenaiChat,
            vec!["thinking"],
        ),
    ] {
        let start = match dialect {
            Dialect::OpenaiChat => {
                r#"{"model":"m","messages":[{"role":"user","name":null,"content":"hi"}]"#
            }
            _ => r#"{"model":"m","input":"hi""#,
        };
        let request =
            ClientRequest::parse(dialect, format!("{start},{body}}}").as_bytes()).unwrap();
        assert_eq!(request.upstream(to, &TARGET).unwrap().left_out, expected, "{body}");
    }
    let named = r#"{"model":"m","messages":[{"role":"user","name":"Ann","content":"hi"}]}"#;
    let request = parse(named).unwrap();
    assert_eq!(request.upstream(Dialect::Gemini, &TARGET).unwrap().left_out, ["name"]);
}
