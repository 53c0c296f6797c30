//! Fields that clients and proxies send for their own accounting, caches and traces, whatever
//! dialect they speak. A rung of another dialect answers the same without them, so they are left
//! out, and the attempt records that. `server.ignore_fields` can name more.

use crate::neutral::Request;

/// The name under which the fields of the config are reported as left out.
const BY_CONFIG: &str = "ignore_fields";

/// Known fields that have no meaning of their own in any dialect.
const BOOKKEEPING: &[&str] = &[
    // Codex and other agents.
    "client_metadata",
    "access_programs",
    "session_id",
    "conversation_id",
    "thread_id",
    "trace_id",
    "request_id",
    // LiteLLM and its clients.
    "litellm_metadata",
    "litellm_call_id",
    "litellm_session_id",
    "litellm_trace_id",
    "tags",
    // Options of vLLM, SGLang and llama.cpp for templates and caches.
    "chat_template_kwargs",
    "add_generation_prompt",
    "skip_special_tokens",
    "spaces_between_special_tokens",
    "return_token_ids",
    "cache_salt",
    "cache_prompt",
    "id_slot",
    "timings_per_token",
    "return_progress",
    "priority",
    // Ollama.
    "options",
    "keep_alive",
];

/// Removes those fields from what is unsupported in `request`, and notes that they are left out.
/// `named` are the fields from the config.
pub(crate) fn leave_out(request: &mut Request, named: &[String]) {
    let Request { unsupported, left_out, .. } = request;
    unsupported.retain(|path| {
        let known = BOOKKEEPING.iter().find(|field| *field == path).copied();
        let Some(word) = known.or_else(|| is_named(path, named).then_some(BY_CONFIG)) else {
            return true;
        };
        if !left_out.contains(&word) {
            left_out.push(word);
        }
        false
    });
}

/// Whether the config says that the field at `path` may be left out. The config names paths without
/// indexes: `tools[].function.x_hint` is that member of every tool.
fn is_named(path: &str, named: &[String]) -> bool {
    if named.is_empty() {
        return false;
    }
    let mut bare = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('[') {
        bare.push_str(before);
        bare.push_str("[]");
        rest = after.split_once(']').map_or("", |(_, after)| after);
    }
    bare.push_str(rest);
    named.contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_names_a_field_without_its_place() {
        let named = ["x_trace".to_owned(), "tools[].function.x_hint".to_owned()];
        for (path, is) in [
            ("x_trace", true),
            ("tools[17].function.x_hint", true),
            ("tools[17].x_hint", false),
            ("metadata.x_trace", false),
        ] {
            assert_eq!(is_named(path, &named), is, "{path}");
        }
        assert!(!is_named("x_trace", &[]));
    }
}
