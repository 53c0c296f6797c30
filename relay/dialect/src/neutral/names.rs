//! Names of tools and ids of calls within a provider's limits.
//!
//! A provider refuses names that are too long or hold other letters than it knows, and a
//! refused request is refused by every retry. So what does not fit is told in another
//! form, and the answer is told to the client in the client's own words. An id needs no
//! way back: the client keeps its own, and a provider makes new ones.

use crate::neutral::request::{Part, Request, ToolChoice};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Stands between a namespace and a tool's name in it. No provider takes it in a name, so
/// a name with a namespace is always told in another form.
pub const NAMESPACE_END: char = '\u{2063}';

/// How many digits of a hash stand behind a shortened text, with their line.
const MARK: usize = 9;

/// What a provider takes as a name or an id.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The fewest letters.
    pub shortest: usize,
    /// The most letters.
    pub longest: usize,
    /// Whether it takes a letter. Must be false for all that is not ASCII.
    pub fits: fn(char) -> bool,
    /// Whether a text may begin with it.
    pub begins: fn(char) -> bool,
}

/// Letters, digits, lines.
#[must_use]
pub const fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

impl Form {
    /// Up to `longest` letters, digits and lines.
    #[must_use]
    pub const fn plain(longest: usize) -> Self {
        Self { shortest: 1, longest, fits: is_plain, begins: is_plain }
    }

    /// Whether `text` may be told as it is.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        (self.shortest..=self.longest).contains(&text.len())
            && text.starts_with(self.begins)
            && text.chars().all(self.fits)
    }

    /// `text` with a line for each letter that is not taken; may still be too long.
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

    /// The beginning of `text` and a hash of all of it: the same for the same text, and
    /// another one for another.
    #[must_use]
    pub fn hashed(&self, text: &str) -> String {
        let hash = Sha256::digest(text.as_bytes());
        let digits: String = hash.iter().take(MARK).map(|byte| format!("{byte:02x}")).collect();
        let mut short = self.cleaned(text);
        short.truncate(self.longest.saturating_sub(MARK));
        if !short.is_empty() {
            short.push('_');
        }
        // Where there is room for no more than a hash, it takes all of it.
        let room = self.longest.saturating_sub(short.len()).min(MARK);
        short.extend(digits.chars().take(if short.is_empty() { room } else { MARK - 1 }));
        short
    }
}

/// What a provider takes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// As a tool's name.
    pub name: Form,
    /// As a call's id; `None`: whatever it is.
    pub id: Option<Form>,
}

impl Limits {
    /// The id of a call as it is told; `None`: as it is.
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

    /// Puts what does not fit into another form. What it gives back knows the way back.
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

/// What a rung is told for the names of a client's tools, and back. Empty for nearly
/// every request, and costs nothing then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    table: Option<Arc<Table>>,
    /// All names that the rung was told, where its answer passes through.
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
    /// Its name, behind its namespace where it has one: see [`NAMESPACE_END`].
    pub name: String,
    /// Its input is free text, which the rung was asked for as JSON: see [`FREE_TEXT`].
    pub free_text: bool,
}

/// The one argument of a tool whose input is free text, for those who know only JSON.
pub const FREE_TEXT: &str = "input";

impl Names {
    /// Forms for those of `all` that do not fit, and the tools among them whose input is
    /// free text.
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

    /// The same, with all names of the request that passes through.
    #[must_use]
    pub fn among(self, all: Vec<String>) -> Self {
        let told =
            all.into_iter().map(|name| self.name_for_rung(&name).map_or(name, str::to_owned));
        let all: Arc<[String]> = told.collect();
        Self { all: Some(all).filter(|all| !all.is_empty()), ..self }
    }

    /// Whether it is known what names the rung was told.
    #[must_use]
    pub const fn are_known(&self) -> bool {
        self.all.is_some()
    }

    /// Whether a name that the rung says may go on: it is none that the rung was told. Where
    /// names were changed, it may also be the beginning of another one: a wrong guess there
    /// would give back a wrong name.
    #[must_use]
    pub fn may_go_on(&self, told: &str) -> bool {
        let Some(all) = &self.all else { return false };
        let is_beginning = |name: &String| name.len() > told.len() && name.starts_with(told);
        !all.iter().any(|name| name == told) || (!self.is_empty() && all.iter().any(is_beginning))
    }

    /// Whether every name is told as it is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.table.is_none()
    }

    /// What a rung is told for `name`; `None`: the name.
    #[must_use]
    pub fn name_for_rung(&self, name: &str) -> Option<&str> {
        self.table.as_ref()?.given.get(name).map(String::as_str)
    }

    /// The tool that a rung calls `told`; `None`: the one of that name.
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
