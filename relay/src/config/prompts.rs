//! `prompts` of a ladder: named variants of its system prompt, a file for each rung.
//!
//! Prompts do not carry over between model families: what was tuned for one is not the
//! best for the next. So a ladder may hold several, and a rung is told its own.

use super::Env;
use super::names;
use super::report::shown;
use super::rungs::RungConfig;
use super::tree::{Placed, Table, Value};
use policy::RungIndex;
use std::fmt;
use std::path::Path;

/// One variant of a ladder's system prompt.
#[derive(Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its name: what clients send in `x-belay-prompt`.
    pub name: String,
    /// Each rung that has a text of its own, as an index into
    /// [`Config::rungs`](super::Config::rungs), and the text. Others keep the client's.
    pub texts: Vec<(RungIndex, String)>,
}

/// Without the texts: they are prompts.
impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rungs: Vec<_> = self.texts.iter().map(|(rung, _)| rung).collect();
        f.debug_struct("Prompt").field("name", &self.name).field("rungs", &rungs).finish()
    }
}

/// Reads `[ladders.*.prompts.*]`; `own` are the ladder's rungs.
pub(super) fn read(
    value: &Value<'_>,
    own: &[RungIndex],
    rungs: &[Placed<RungConfig>],
    env: &dyn Env,
) -> Vec<Prompt> {
    let Some(table) = value.table() else { return Vec::new() };
    let variant = |(name, value): (&str, Value<'_>)| {
        names::check(name, &value);
        let texts = value.table().map(|table| texts(&table, own, rungs, env)).unwrap_or_default();
        Prompt { name: name.to_owned(), texts }
    };
    table.entries().into_iter().map(variant).collect()
}

fn texts(
    table: &Table<'_>,
    own: &[RungIndex],
    rungs: &[Placed<RungConfig>],
    env: &dyn Env,
) -> Vec<(RungIndex, String)> {
    let mut texts = Vec::new();
    for (name, value) in table.entries() {
        let rung = own.iter().find(|&&rung| rungs.get(rung.0).is_some_and(|it| it.it.name == name));
        let Some(&rung) = rung else {
            let text = format!("'{}' is no rung of this ladder", shown(name));
            value.error(text, "name one of the ladder's rungs, or take it out");
            continue;
        };
        let Some(path) = value.text() else { continue };
        match env.file(Path::new(path)) {
            Ok(text) if text.trim().is_empty() => {
                value.error("the prompt's file is empty", "write a prompt into it, or take it out");
            }
            Ok(text) => texts.push((rung, text)),
            Err(error) => {
                let text = format!("'{}' cannot be read: {error}", shown(path));
                let fix =
                    "name a readable file; a relative path starts at the config file's folder";
                value.error(text, fix);
            }
        }
    }
    texts
}

/// Reads `prompt`: the variant for requests that name none.
pub(super) fn default(value: &Value<'_>, prompts: &[Prompt]) -> Option<String> {
    let name = value.text()?;
    if !prompts.iter().any(|prompt| prompt.name == name) {
        let text = format!("'{}' is no variant of this ladder's prompts", shown(name));
        value.error(text, "add [ladders.NAME.prompts.VARIANT], or name one that is there");
        return None;
    }
    Some(name.to_owned())
}
