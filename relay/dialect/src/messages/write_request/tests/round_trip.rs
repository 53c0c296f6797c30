//! Messages read into neutral words and written again mean the same.

use super::*;
use crate::common::fields::Fields;
use crate::messages::read_request::read_request;

#[track_caller]
fn there_and_back(body: &str) -> Value {
    let fields: Fields = serde_json::from_str(body).unwrap();
    let request = read_request(&fields).unwrap();
    let (body, left_out) = written(&request, &TARGET);
    assert!(left_out.is_empty(), "{left_out:?}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn all_that_a_request_says_comes_back() {
    let body = concat!(
        r#"{"model":"opus","max_tokens":4000,"system":[{"type":"text","text":"s"}],"messages":["#,
        r#"{"role":"user","content":[{"type":"text","text":"q"},{"type":"image","source":"#,
        r#"{"type":"base64","media_type":"image/png","data":"QQ=="}},{"type":"document","source":"#,
        r#"{"type":"url","url":"u"},"title":"t"}]},{"role":"assistant","content":["#,
        r#"{"type":"thinking","thinking":"hm","signature":"sig"},"#,
        r#"{"type":"redacted_thinking","data":"opaque"},{"type":"text","text":"a"},"#,
        r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1}}]},{"role":"user","content":["#,
        r#"{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"r"}],"is_error":true},"#,
        r#"{"type":"text","text":"and?"}]}],"tools":[{"name":"f","description":"d","#,
        r#""input_schema":{"type":"object"},"strict":true}],"tool_choice":{"type":"auto","#,
        r#""disable_parallel_tool_use":true},"output_config":{"format":{"type":"json_schema","#,
        r#""schema":{"type":"object","additionalProperties":false}}},"thinking":{"type":"enabled","budget_tokens":2000},"#,
        r#""stop_sequences":["x"],"metadata":{"user_id":"u"},"stream":true}"#
    );
    assert_eq!(there_and_back(body), serde_json::from_str::<Value>(body).unwrap());
}

#[test]
fn sampling_comes_back() {
    let body = concat!(
        r#"{"model":"opus","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","#,
        r#""text":"q"}]}],"temperature":0.5,"top_k":4,"stream":true}"#
    );
    assert_eq!(there_and_back(body), serde_json::from_str::<Value>(body).unwrap());
}

#[test]
fn proofs_of_others_do_not_come_back() {
    let body = concat!(
        r#"{"max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":["#,
        r#"{"type":"thinking","thinking":"a","signature":"belay.gemini.x"},"#,
        r#"{"type":"thinking","thinking":"b","signature":""},"#,
        r#"{"type":"redacted_thinking","data":"belay.openai-responses.x"},"#,
        r#"{"type":"thinking","thinking":"c","signature":"own"},{"type":"text","text":"t"}]}]}"#
    );
    let expected =
        r#"[{"type":"thinking","thinking":"c","signature":"own"},{"type":"text","text":"t"}]"#;
    let expected: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(there_and_back(body)["messages"][1]["content"], expected);
}

#[test]
fn every_recorded_request_is_read_and_written_or_refused_by_name() {
    for corpus in crate::tests::corpora() {
        are_read_and_written(&corpus);
    }
}

fn are_read_and_written(corpus: &crate::tests::Corpus) {
    let gemini = crate::table::spec(shared::Dialect::Gemini);
    let mut refused = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(corpus.dir.join("anthropic-messages")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".request.json") else { continue };
        let recorded: Fields = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let fields: Fields = serde_json::from_str(recorded.text("body").unwrap()).unwrap();
        let request = read_request(&fields).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}"));
        seen += 1;
        for (to, written) in [
            ("messages", write_request(&request, &TARGET)),
            ("gemini", gemini.write_request(&request, &TARGET)),
        ] {
            match written {
                Ok(upstream) => {
                    let body: Value = serde_json::from_slice(&upstream.body).unwrap();
                    assert!(body.is_object() && upstream.left_out.is_empty(), "{name}");
                }
                Err(unable) => refused.push(format!("{name} {to} {}", unable.field)),
            }
        }
    }
    refused.sort();
    assert!(seen >= corpus.at_least(16), "{seen} requests");
    let expected = corpus.recorded(&[
        "code-execution gemini tools[0].type",
        "code-execution messages tools[0].type",
        "compaction gemini context_management.edits[0].type",
        "compaction messages context_management.edits[0].type",
        "web-search gemini tools[0].type",
        "web-search messages tools[0].type",
    ]);
    assert_eq!(refused, expected);
}
