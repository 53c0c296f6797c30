//! Names that people give: of providers, rungs, ladders, clients, and aliases.

use super::report::shown;
use super::suggest;
use super::tree::{Placed, Table, Value};

/// The longest name, in characters: long enough for model ids as aliases.
const LONGEST: usize = 128;

/// What a name may hold besides letters and digits. Names travel in headers
/// and in paths of the admin API, so blanks and quotes stay out.
const MARKS: &[char] = &['-', '_', '.', ':', '/', '@', '+'];

/// Whether `name` can be a name.
fn good(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || MARKS.contains(&c);
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(fits)
}

/// Reports a name that travels badly.
pub(super) fn check(name: &str, value: &Value<'_>) {
    if !good(name) {
        let text = format!("'{}' cannot be a name", shown(name));
        let fix = "use 1 to 128 letters, digits and - _ . : / @ +";
        value.report.error(&value.key_at(), text, fix);
    }
}

/// The named tables of a section, such as every `[rungs.*]`, in file order.
pub(super) fn tables<'t>(root: &Table<'t>, section: &'static str) -> Vec<(String, Table<'t>)> {
    let Some(section) = root.get(section).and_then(|value| value.table()) else {
        return Vec::new();
    };
    let mut tables = Vec::new();
    for (name, value) in section.entries() {
        check(name, &value);
        if let Some(table) = value.table() {
            tables.push((name.to_owned(), table));
        }
    }
    tables
}

/// The index of the thing that `value` names; `what` is "provider", "rung", ….
pub(super) fn resolve<T>(
    value: &Value<'_>,
    what: &str,
    among: &[Placed<T>],
    name: impl Fn(&T) -> &str,
) -> Option<usize> {
    let wanted = value.text()?;
    let found = among.iter().position(|placed| name(&placed.it) == wanted);
    if found.is_none() {
        let known: Vec<&str> = among.iter().map(|placed| name(&placed.it)).collect();
        let fix = suggest::fix(wanted, known.iter().copied());
        value.error(format!("no {what} is called '{}'", shown(wanted)), fix);
    }
    found
}
