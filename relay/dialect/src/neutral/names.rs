//! Names of tools and ids of calls within a provider's limits.
//!
//! A provider refuses names that are too long or have characters that it does not allow, and it
//! refuses every retry of such a request too. So a name that does not fit is sent in another form,
//! and the client's own name is restored in the answer. An id need not be restored: the client
//! keeps its own, and a provider makes new ones.

use crate::neutral::request::{Part, Request, ToolChoice};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Separates a namespace from a tool's name. No provider allows it in a name, so a name with a
/// namespace is always sent in another form.
pub const NAMESPACE_END: char = '\u{2063}';

/// How many characters are added to a shortened text: `_` and the digits of a hash.
const MARK: usize = 9;

/// What a provider accepts as a name or an id.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The fewest characters.
    pub shortest: usize,
    /// The most characters.
    pub longest: usize,
    /// Whether a character is accepted. Must be false for every character that is not ASCII.
    pub fits: fn(char) -> bool,
    /// Whether a text may begin with it.
    pub begins: fn(char) -> bool,
}

/// Letters, digits, `_` and `-`.
#[must_use]
pub const fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

impl Form {
    /// Up to `longest` letters, digits, `_` and `-`.
    #[must_use]
    pub const fn plain(longest: usize) -> Self {
        Self { shortest: 1, longest, fits: is_plain, begins: is_plain }
    }

    /// Whether `text` may be sent unchanged.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        (self.shortest..=self.longest).contains(&text.len())
            && text.starts_with(self.begins)
            && text.chars().all(self.fits)
    }

    /// `text` with `_` in place of each character that is not accepted. It may still be too long.
    fn cleaned(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                NAMESPACE_END => clean.push_str("__"),
                letter if (self.fits)(letter) => clean.push(letter),
                _ => clean.push('_'),
            }
        }
        if !clean.starts_with(self.begins) {
            clean.insert(0, '_');
        }
        clean
    }

    /// The beginning of `text` and a hash of all of it: equal texts give equal results, and
    /// different texts give different ones.
    #[must_use]
    pub fn hashed(&self, text: &str) -> String {
        let hash = Sha256::digest(text.as_bytes());
        let digits: String = hash.iter().take(MARK).map(|byte| format!("{byte:02x}")).collect();
        let mut short = self.cleaned(text);
        short.truncate(self.longest.saturating_sub(MARK));
        if !short.is_empty() {
            short.push('_');
        }
        // If there is only room for a hash, the hash takes all of it.
        let room = self.longest.saturating_sub(short.len()).min(MARK);
        short.extend(digits.chars().take(if short.is_empty() { room } else { MARK - 1 }));
        short
    }
}

/// What a provider accepts.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The form of a tool's name.
    pub name: Form,
    /// The form of a call's id; `None`: every id is accepted.
    pub id: Option<Form>,
}

impl Limits {
    /// The id that is sent for a call's id; `None`: it is sent unchanged.
    #[must_use]
    pub fn id_for_rung(&self, id: &str) -> Option<String> {
        let form = self.id.filter(|form| !id.is_empty() && !form.takes(id))?;
        Some(form.hashed(id))
    }

    fn shorten(&self, id: &mut String) {
        if let Some(told) = self.id_for_rung(id) {
            *id = told;
        }
    }

    /// Puts every name and id that does not fit into another form. The result restores the names.
    pub fn fit(&self, request: &mut Request) -> Names {
        let mut all: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        if let Some(ToolChoice::Named(name)) = &request.tool_choice {
            all.push(name);
        }
        let parts = || request.turns.iter().flat_map(|turn| &turn.parts);
        all.extend(parts().filter_map(|part| match part {
            Part::Call { name, .. } => Some(name.as_str()),
            _ => None,
        }));
        let names = Names::of(all, &self.name, &request.free_text);
        for tool in &mut request.tools {
            names.rename(&mut tool.name);
        }
        if let Some(ToolChoice::Named(name)) = &mut request.tool_choice {
            names.rename(name);
        }
        for part in request.turns.iter_mut().flat_map(|turn| &mut turn.parts) {
            match part {
                Part::Call { id, name, .. } => {
                    names.rename(name);
                    self.shorten(id);
                }
                Part::Result { id, .. } => self.shorten(id),
                _ => {}
            }
        }
        names
    }
}

/// The names that a rung gets for a client's tools, and the way back. Empty for nearly every
/// request, and then it costs nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    table: Option<Arc<Table>>,
    /// All names that the rung got, if its answer passes through.
    all: Option<Arc<[String]>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    given: HashMap<String, String>,
    own: HashMap<String, Own>,
}

/// A tool as its client knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Its name, after its namespace if it has one: see [`NAMESPACE_END`].
    pub name: String,
    /// Its input is free text, but the rung is asked for JSON: see [`FREE_TEXT`].
    pub free_text: bool,
}

/// The name of the one argument of a free-text tool, for rungs that support only JSON arguments.
pub const FREE_TEXT: &str = "input";

impl Names {
    /// Makes forms for those names in `all` that do not fit `form`. `free_text` are the tools among
    /// them whose input is free text.
    #[must_use]
    pub fn of(all: Vec<&str>, form: &Form, free_text: &[String]) -> Self {
        let (fine, odd): (HashSet<&str>, BTreeSet<&str>) = {
            let (fine, odd): (Vec<&str>, Vec<&str>) =
                all.into_iter().partition(|name| form.takes(name));
            (fine.into_iter().collect(), odd.into_iter().collect())
        };
        if odd.is_empty() && free_text.is_empty() {
            return Self::default();
        }
        let mut table = Table::default();
        for own in odd {
            let clean = form.cleaned(own);
            let is_free = form.takes(&clean)
                && !fine.contains(clean.as_str())
                && !table.own.contains_key(&clean);
            let told = if is_free { clean } else { form.hashed(own) };
            table.given.insert(own.to_owned(), told.clone());
            table.own.insert(told, Own { name: own.to_owned(), free_text: false });
        }
        for name in free_text {
            let told = table.given.get(name).unwrap_or(name).clone();
            table.own.insert(told, Own { name: name.clone(), free_text: true });
        }
        Self { table: Some(Arc::new(table)), all: None }
    }

    /// The same, with all names of a request that passes through.
    #[must_use]
    pub fn among(self, all: Vec<String>) -> Self {
        let told =
            all.into_iter().map(|name| self.name_for_rung(&name).map_or(name, str::to_owned));
        let all: Arc<[String]> = told.collect();
        Self { all: Some(all).filter(|all| !all.is_empty()), ..self }
    }

    /// Whether the names that the rung got are known.
    #[must_use]
    pub const fn are_known(&self) -> bool {
        self.all.is_some()
    }

    /// Whether a name from the rung may still be incomplete: it is none of the names that the rung
    /// got. If names were changed, it may also be the beginning of another name: a wrong guess
    /// would then restore a wrong name.
    #[must_use]
    pub fn may_go_on(&self, told: &str) -> bool {
        let Some(all) = &self.all else { return false };
        let is_beginning = |name: &String| name.len() > told.len() && name.starts_with(told);
        !all.iter().any(|name| name == told) || (!self.is_empty() && all.iter().any(is_beginning))
    }

    /// Whether every name is sent unchanged.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.table.is_none()
    }

    /// The name that is sent to the rung for `name`; `None`: it is sent unchanged.
    #[must_use]
    pub fn name_for_rung(&self, name: &str) -> Option<&str> {
        self.table.as_ref()?.given.get(name).map(String::as_str)
    }

    /// The tool that the rung knows as `told`; `None`: the tool that really has this name.
    #[must_use]
    pub fn own(&self, told: &str) -> Option<&Own> {
        self.table.as_ref()?.own.get(told)
    }

    fn rename(&self, name: &mut String) {
        if let Some(told) = self.name_for_rung(name) {
            told.clone_into(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_is_told_in_a_form_that_does() {
        let form = Form::plain(64);
        let long = "x".repeat(65);
        let others = format!("{}y", "x".repeat(64));
        for (all, told) in [
            (vec!["weather", "get-it_2"], vec![None, None]),
            (vec!["fs.read"], vec![Some("fs_read".to_owned())]),
            (vec!["files\u{2063}read"], vec![Some("files__read".to_owned())]),
            (vec!["日本"], vec![Some("__".to_owned())]),
            // A form that is another tool's name is not taken.
            (vec!["fs.read", "fs_read"], vec![Some(form.hashed("fs.read")), None]),
            (vec!["a.b", "a:b"], vec![Some("a_b".to_owned()), Some(form.hashed("a:b"))]),
            (vec![&long, &others], vec![Some(form.hashed(&long)), Some(form.hashed(&others))]),
            (vec![""], vec![Some("_".to_owned())]),
        ] {
            let names = Names::of(all.clone(), &form, &[]);
            let mut seen = HashSet::new();
            for (own, wanted) in all.iter().zip(told) {
                let found = names.name_for_rung(own);
                assert_eq!(found, wanted.as_deref(), "{own}");
                let found = found.unwrap_or(own);
                assert!(form.takes(found), "{found}");
                assert!(seen.insert(found.to_owned()), "{found} stands for two tools");
                let back = names.own(found).map_or(found, |own| own.name.as_str());
                assert_eq!(back, *own);
            }
        }
        assert!(Names::of(vec!["a", "b"], &form, &[]).is_empty());
        assert_eq!(form.hashed(&long), form.hashed(&long), "a cache at a provider counts on it");
        assert_eq!(form.hashed(&long).len(), 64);
    }

    #[test]
    fn ids_are_shortened_with_a_hash_of_all_of_them() {
        let limits = Limits { name: Form::plain(64), id: Some(Form::plain(40)) };
        let id = |end: char| format!("chatcmpl-tool-{}{end}", "0".repeat(40));
        let (one, other) =
            (limits.id_for_rung(&id('a')).unwrap(), limits.id_for_rung(&id('b')).unwrap());
        assert_ne!(one, other);
        assert!(one.len() == 40 && one.starts_with("chatcmpl-tool-"), "{one}");
        assert_eq!(limits.id_for_rung("call_1"), None);
        assert_eq!(limits.id_for_rung(""), None);
        let nine = Form { shortest: 9, longest: 9, ..Form::plain(9) };
        let nine = Limits { name: nine, id: Some(nine) };
        assert_eq!(nine.id_for_rung("abcdefghi"), None);
        let told = nine.id_for_rung("call_1").unwrap();
        assert!(told.len() == 9 && nine.id.unwrap().takes(&told), "{told}");
    }
}
