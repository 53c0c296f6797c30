//! Reads tools of responses. Some of them exist only in this dialect.
//!
//! Programs such as Codex offer all of them in every request, so a rung of another dialect gets
//! those that it can have. A function in a namespace becomes a function with a longer name. A tool
//! that takes free text becomes a function with a text as its argument. A tool that the provider
//! would run is left out if there are other tools, since most answers need no search. If it is the
//! only tool, the client asked for it, so it is unsupported.

use crate::common::members::{Members, Rule, Value};
use crate::common::openai::{CACHE_MARK, free_text, function};
use crate::common::reject::Reject;
use crate::neutral::{NAMESPACE_END, Request, Tool, ToolChoice};
use std::collections::HashSet;

const TOOL: &[Rule] = &[
    CACHE_MARK,
    // The tool is offered at once, not after the model has searched for it.
    Rule::harmless("defer_loading"),
];

/// The functions of a namespace describe themselves.
const NAMESPACE: &[Rule] = &[CACHE_MARK, Rule::harmless("description")];

/// The tools that are left out if there are others: the beginning of the type, and the name under
/// which it is reported.
const SPARE: &[(&str, &str)] = &[
    ("web_search", "web_search"),
    ("image_generation", "image_generation"),
    // With it a model searches for tools that are not offered yet.
    ("tool_search", "tool_search"),
];

/// The name under which a tool or an item of this type is reported as left out.
pub(crate) fn spare(kind: &str) -> Option<&'static str> {
    SPARE.iter().find(|(start, _)| kind.starts_with(start)).map(|(_, word)| *word)
}

/// Reads all tools of one list.
fn read(tools: &[Value<'_>], request: &mut Request) -> Result<(), Reject> {
    let mut left_out = Vec::new();
    for value in tools {
        let mut members = value.members()?;
        let kind = members.required("type")?;
        match spare(&kind) {
            Some(word) => left_out.push((word, members.at("type"))),
            None => tool(members, &kind, "", request)?,
        }
    }
    for (word, path) in left_out {
        if request.tools.is_empty() {
            request.unsupported.push(path);
        } else if !request.left_out.contains(&word) {
            request.left_out.push(word);
        }
    }
    Ok(())
}

/// Reads tools that are offered. Tools that were already in the conversation are not added again.
pub(crate) fn read_all(tools: &[Value<'_>], request: &mut Request) -> Result<(), Reject> {
    read(tools, request)?;
    let mut seen = HashSet::new();
    request.tools.retain(|tool| seen.insert(tool.name.clone()));
    Ok(())
}

fn tool(
    mut members: Members<'_>,
    kind: &str,
    namespace: &str,
    request: &mut Request,
) -> Result<(), Reject> {
    match kind {
        "function" => {
            let tool = function(&mut members)?;
            request.tools.push(Tool { name: qualified(namespace, tool.name), ..tool });
            members.finish(TOOL, request);
        }
        "custom" => {
            let name = qualified(namespace, members.required("name")?);
            free_text(&mut members, name, request)?;
            members.finish(TOOL, request);
        }
        // The name of a namespace within another one could not be restored.
        "namespace" if namespace.is_empty() => {
            let name = members.required("name")?;
            for value in members.list("tools")? {
                let mut inner = value.members()?;
                let kind = inner.required("type")?;
                tool(inner, &kind, &name, request)?;
            }
            members.finish(NAMESPACE, request);
        }
        // A tool that the provider runs, or that has items of its own.
        _ => request.unsupported.push(members.at("type")),
    }
    Ok(())
}

/// A tool's name after its namespace, if it has one.
pub(crate) fn qualified(namespace: &str, name: String) -> String {
    if namespace.is_empty() { name } else { format!("{namespace}{NAMESPACE_END}{name}") }
}

/// The tool that must be called.
pub(crate) fn chosen(
    mut members: Members<'_>,
    request: &mut Request,
) -> Result<Option<ToolChoice>, Reject> {
    if !matches!(members.required("type")?.as_str(), "function" | "custom") {
        request.unsupported.push(members.at("type"));
        return Ok(None);
    }
    let namespace = members.string("namespace")?.unwrap_or_default();
    let name = qualified(&namespace, members.required("name")?);
    members.finish(&[], request);
    Ok(Some(ToolChoice::Named(name)))
}
