//! The config as a whole: what is found, where, and what it becomes.

mod arbitrary;
mod example;
mod files;
mod mistakes;
mod oddities;
mod secrets;

use super::{Env, Loaded, Problem, Refused, Severity, parse};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Variables and files that exist only in a test.
#[derive(Debug, Default)]
struct Fake {
    vars: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<&'static str, &'static str>,
}

impl Env for Fake {
    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).map(|value| (*value).to_owned())
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        let found = path.to_str().and_then(|path| self.files.get(path));
        found.map(|text| (*text).to_owned()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The world of [`BASE`], with a few things that are there but no good.
fn fake() -> Fake {
    Fake {
        vars: [("ONE_KEY", "sk-one"), ("EMPTY_KEY", ""), ("TWO_LINES", "sk-a\nsk-b")].into(),
        files: [("two.key", "sk-two\n"), ("empty.key", "\n"), ("root.pem", "-----BEGIN")].into(),
    }
}

fn read(text: &str) -> Result<Loaded, Refused> {
    parse(text, &fake())
}

/// A sound config without warnings, from which each test departs.
const BASE: &str = r#"
[server]
listen = "127.0.0.1:8787"

[admin]
listen = "127.0.0.1:8788"

[clients.web]
key_sha256 = "0000000000000000000000000000000000000000000000000000000000000001"

[providers.one]
dialect = "openai-chat"
base_url = "https://one.example/v1"
api_key = { env = "ONE_KEY" }

[providers.two]
dialect = "openai-chat"
base_url = "https://two.example/v1"
api_key = { file = "two.key" }

[rungs.a]
provider = "one"
model = "a-1"
price = { input = 1, output = 2 }
context = 1000

[rungs.b]
provider = "two"
model = "b-1"
price = { input = 1, output = 2 }
context = 2000

[ladders.chat]
rungs = ["a", "b"]
aliases = ["gpt"]
"#;

/// [`BASE`] with `old` replaced by `new`, where a `¶` marks the place that a
/// problem is expected at; also gives that line and column. `#7#` is a hash.
fn depart(old: &str, new: &str) -> (String, (usize, usize)) {
    assert_eq!(BASE.matches(old).count(), 1, "{old}");
    let mut marked = BASE.replace(old, new);
    for digit in '1'..='9' {
        marked = marked.replace(&format!("#{digit}#"), &digit.to_string().repeat(64));
    }
    let before = marked.split_once('¶').expect(new).0;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (marked.replace('¶', ""), (before.matches('\n').count() + 1, column))
}

/// Whether `problems` hold exactly one of this severity: this one.
fn assert_only(
    problems: &[Problem],
    severity: Severity,
    place: (usize, usize),
    (key, text): (&str, &str),
    about: &str,
) {
    let found: Vec<&Problem> = problems.iter().filter(|it| it.severity == severity).collect();
    let [found] = found.as_slice() else { panic!("{about}: not exactly one: {found:#?}") };
    assert_eq!(found.key, key, "{about}: {found}");
    assert_eq!((found.line, found.column), place, "{about}: {found}");
    let said = format!("{}; {}", found.text, found.fix);
    assert!(said.contains(text), "{about}: {said}");
    assert!(!found.fix.is_empty() && !found.to_string().contains('\n'), "{about}");
}

#[test]
fn the_base_is_sound() {
    assert_eq!(read(BASE).map(|loaded| loaded.warnings), Ok(Vec::new()));
}
