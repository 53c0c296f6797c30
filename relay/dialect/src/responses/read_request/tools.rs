//! Tools of responses. Beside functions there are some that only this dialect has.
//!
//! Programs such as Codex offer all of them in every request, so a rung of another dialect
//! is asked for what it can do: a function in a namespace is a function with a longer name,
//! and one that takes free text is one that takes a text. What the provider would have run
//! is left out where there are others, since most answers need no search. Where it is all
//! that there is, it was what the client asked for.

use crate::common::members::{Members, Rule, Value};
use crate::common::openai::{CACHE_MARK, free_text, function};
use crate::common::reject::Reject;
use crate::neutral::{NAMESPACE_END, Request, Tool, ToolChoice};
use std::collections::HashSet;

const TOOL: &[Rule] = &[
    CACHE_MARK,
    // It is offered at once instead of once the model has looked for it.
    Rule::harmless("defer_loading"),
];

/// What a namespace is for, its functions say themselves.
const NAMESPACE: &[Rule] = &[CACHE_MARK, Rule::harmless("description")];

/// What is left out beside other tools, by the beginning of its type, and the word for that.
const SPARE: &[(&str, &str)] = &[
    ("web_search", "web_search"),
    ("image_generation", "image_generation"),
    // With it a model finds tools that are not offered yet.
    ("tool_search", "tool_search"),
];

/// The word for a tool, or an item, of this type where it is left out.
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

/// Reads tools that are offered. Those that stood in the conversation already are no new ones.
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
        // One within another would be a name that has no way back.
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

/// A tool's name behind its namespace, if it has one.
pub(crate) fn qualified(namespace: &str, name: String) -> String {
    if namespace.is_empty() { name } else { format!("{namespace}{NAMESPACE_END}{name}") }
}

/// The tool that is to be called.
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
