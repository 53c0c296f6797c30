//! What can only be sent to a rung of this dialect.

use super::*;
use crate::messages::write_request::write_request as to_messages;
use crate::neutral::{Degrade, Target};
use crate::table;
use shared::Dialect;

const TARGET: Target<'static> = Target {
    model: "up",
    max_output: None,
    ask_usage: false,
    system: None,
    degrade: Degrade { json_schema: false, parallel_tools: false, max_output: false },
    again: None,
};

#[track_caller]
fn assert_unsupported(fields: &Fields, path: &str) {
    let request = read_request(fields).unwrap();
    assert_eq!(request.unsupported, [path]);
    for written in [
        to_messages(&request, &TARGET),
        table::spec(Dialect::Gemini).write_request(&request, &TARGET),
    ] {
        assert_eq!(written.unwrap_err().field, path);
    }
}

#[test]
fn a_field_without_a_word_is_foreign() {
    for (more, path) in [
        (r#""x-new":1"#, "x-new"),
        (
            r#""context_management":{"edits":[{"type":"clear_thinking_1"},{"type":"compact_1"}]}"#,
            "context_management.edits[1].type",
        ),
        (r#""context_management":{"edits":[],"new":0}"#, "context_management.new"),
        (r#""mcp_servers":[{"type":"url","url":"u"}]"#, "mcp_servers"),
        (r#""container":"c""#, "container"),
        (r#""inference_geo":"us""#, "inference_geo"),
        (r#""tools":[{"type":"web_search_20260318","name":"web_search"}]"#, "tools[0].type"),
        (r#""tools":[{"name":"f","allowed_callers":["code"]}]"#, "tools[0].allowed_callers"),
        (r#""tools":[{"name":"f","new":0}]"#, "tools[0].new"),
        (r#""tool_choice":{"type":"magic"}"#, "tool_choice.type"),
        (r#""tool_choice":{"type":"auto","new":0}"#, "tool_choice.new"),
        (r#""thinking":{"type":"hard"}"#, "thinking.type"),
        (r#""thinking":{"type":"disabled","new":0}"#, "thinking.new"),
        (r#""output_config":{"effort":"extreme"}"#, "output_config.effort"),
        (r#""output_config":{"task_budget":{}}"#, "output_config.task_budget"),
        (r#""output_config":{"format":{"type":"grammar"}}"#, "output_config.format.type"),
        (r#""output_format":{"type":"json_schema","schema":{},"new":0}"#, "output_format.new"),
        (r#""system":[{"type":"image"}]"#, "system[0].type"),
        (r#""system":[{"type":"text","text":"a","new":0}]"#, "system[0].new"),
    ] {
        assert_unsupported(&fields(&format!("{HI},{more}")), path);
    }
}

#[test]
fn a_name_that_a_client_made_up_is_told_back_in_part() {
    let name = "é".repeat(40);
    let request = with(&format!(r#""{name}":1"#));
    assert_eq!(request.unsupported, ["é".repeat(32)]);
}

#[test]
fn a_block_without_a_word_is_foreign() {
    let image = r#"{"type":"image","source":{"type":"url","url":"u"}}"#;
    for (block, path) in [
        (r#"{"type":"server_tool_use","id":"i","name":"n","input":{}}"#, ".type"),
        (r#"{"type":"web_search_tool_result","tool_use_id":"i","content":[]}"#, ".type"),
        (r#"{"type":"container_upload","file_id":"f"}"#, ".type"),
        (r#"{"type":"compaction","content":"c"}"#, ".type"),
        (r#"{"type":"text","text":"a","new":0}"#, ".new"),
        (r#"{"type":"image","source":{"type":"s3","uri":"u"}}"#, ".source.type"),
        (r#"{"type":"image","source":{"type":"text","data":"u"}}"#, ".source.type"),
        (r#"{"type":"image","source":{"type":"url","url":"u","new":0}}"#, ".source.new"),
        (
            r#"{"type":"document","source":{"type":"url","url":"u"},"citations":{"enabled":true}}"#,
            ".citations",
        ),
        (
            r#"{"type":"tool_use","id":"i","name":"n","input":{},"caller":{"type":"code"}}"#,
            ".caller",
        ),
        (r#"{"type":"tool_result","content":[{"type":"search_result"}]}"#, ".content[0].type"),
        (r#"{"type":"tool_result","content":[{"type":"tool_result"}]}"#, ".content[0].type"),
        (
            r#"{"type":"document","source":{"type":"content","content":[{"type":"document"}]}}"#,
            ".source.content[0].type",
        ),
    ] {
        let messages = format!(r#""messages":[{{"role":"user","content":[{image},{block}]}}]"#);
        assert_unsupported(&fields(&messages), &format!("messages[0].content[1]{path}"));
    }
    let named = r#""messages":[{"role":"user","content":"a","name":"bob"}]"#;
    assert_unsupported(&fields(named), "messages[0].name");
}

#[test]
fn nulls_and_defaults_are_not_foreign() {
    for more in [
        r#""x-new":null"#,
        r#""mcp_servers":[ ]"#,
        r#""inference_geo":"global""#,
        r#""service_tier":"auto","speed":"fast","cache_control":{"type":"ephemeral"}"#,
        r#""tools":[{"name":"f","defer_loading":false,"allowed_callers":["direct"],"cache_control":{}}]"#,
    ] {
        assert_eq!(with(more).unsupported, [""; 0], "{more}");
    }
}

#[test]
fn earlier_thoughts_are_dropped_anyway_and_earlier_calls_are_a_wish() {
    let thoughts = r#"{"type":"clear_thinking_20251015","keep":"all"}"#;
    let calls = r#"{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens"}}"#;
    for (edits, left_out) in [
        (String::new(), &[][..]),
        (thoughts.to_owned(), &[]),
        (format!("{thoughts},{calls},{calls}"), &["context_management"]),
    ] {
        let request = with(&format!(r#""context_management":{{"edits":[{edits}]}}"#));
        assert_eq!(request.unsupported, [""; 0], "{edits}");
        assert_eq!(request.left_out, left_out, "{edits}");
    }
}

#[test]
fn any_new_field_anywhere_is_foreign() {
    // A value in each place that a table stands for; then one more key in each object.
    let body = concat!(
        r#"{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s"}],"messages":["#,
        r#"{"role":"user","content":[{"type":"text","text":"a"},"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}},"#,
        r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}},"#,
        r#"{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}]},"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},"#,
        r#"{"type":"redacted_thinking","data":"d"},{"type":"tool_use","id":"i","name":"f"}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":["#,
        r#"{"type":"text","text":"r"}]}]}],"tools":[{"name":"f"}],"tool_choice":{"type":"any"},"#,
        r#""thinking":{"type":"adaptive"},"output_config":{"format":{"type":"json_schema","schema":1}}}"#
    );
    let known: Fields = serde_json::from_str(body).unwrap();
    assert!(read_request(&known).unwrap().unsupported.is_empty());
    let places: Vec<usize> = body.match_indices('{').map(|(at, _)| at).collect();
    assert!(places.len() > 15);
    for at in places {
        let (before, after) = body.split_at(at + 1);
        let fields: Fields = serde_json::from_str(&format!(r#"{before}"zz":0,{after}"#)).unwrap();
        let unsupported = read_request(&fields).unwrap().unsupported;
        assert!(
            unsupported.len() == 1 && unsupported[0].ends_with("zz"),
            "{unsupported:?} at {at}"
        );
    }
}
