//! Provider keys: read from the environment or a file, never from the config.

use super::Env;
use super::report::shown;
use super::tree::{Table, Value};
use std::fmt;
use std::path::Path;
use toml::de::DeValue;

/// A provider's key. `Debug` does not show it and there is no `Display`.
///
/// Equality is for telling whether a reload changed the key. It takes time
/// that depends on the content, so it must not check what a client sends.
#[derive(Clone)]
pub struct Secret {
    key: String,
    source: Option<&'static str>,
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Secret {}

impl Secret {
    /// Wraps a key that came from elsewhere, such as a re-read key file.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), source: None }
    }

    /// The key itself: for the request's header and nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.key
    }

    /// Where it came from: `env` or `file`; `None` where it was handed in.
    #[must_use]
    pub const fn source(&self) -> Option<&'static str> {
        self.source
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

const SOURCES: &str = "write { env = \"NAME\" } or { file = \"path\" }";

/// Reads `{ env = "NAME" }` or `{ file = "path" }`.
///
/// No message repeats what was written: people paste keys into any of these.
pub(super) fn read(value: &Value<'_>, env: &dyn Env) -> Option<Secret> {
    if matches!(value.raw, DeValue::String(_)) {
        let text = "a key does not belong in the config file";
        value.error(text, format!("{SOURCES} instead"));
        return None;
    }
    let table = value.table()?;
    let secret = from_table(&table, env);
    table.check_keys();
    secret
}

fn from_table(table: &Table<'_>, env: &dyn Env) -> Option<Secret> {
    match (table.get("env"), table.get("file")) {
        (Some(name), None) => from_env(&name, env),
        (None, Some(path)) => from_file(&path, env),
        (Some(_), Some(file)) => {
            file.error("both 'env' and 'file' are given", "keep one of them");
            None
        }
        (None, None) => {
            table.report.error(&table.at, "says neither 'env' nor 'file'", SOURCES);
            None
        }
    }
}

fn from_env(value: &Value<'_>, env: &dyn Env) -> Option<Secret> {
    let name = value.text()?;
    let Some(key) = variable(name).then(|| env.var(name)).flatten() else {
        // Only what is spelled like a variable is shown; the rest may be a key.
        let text = if looks_like_a_variable(name) {
            format!("the environment variable '{}' is not set", shown(name))
        } else {
            "no environment variable of this name is set".to_owned()
        };
        value.error(text, "name the variable here, and set it before the relay starts");
        return None;
    };
    usable(value, &key, &ENV)
}

/// `OPENAI_API_KEY` does; a key pasted by mistake hardly ever.
fn looks_like_a_variable(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.contains('_') && name.chars().all(fits)
}

/// Whether the system can be asked for it: `std::env::var` wants no `=` and no NUL.
fn variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn from_file(value: &Value<'_>, env: &dyn Env) -> Option<Secret> {
    let path = value.text()?;
    match env.file(Path::new(path)) {
        Ok(key) => usable(value, &key, &FILE),
        Err(error) => {
            let fix = "name a readable file; a relative path starts at the config file's folder";
            value.error(format!("the key file cannot be read: {error}"), fix);
            None
        }
    }
}

/// Where a key comes from: its word in the admin API, and its name in messages.
struct Source {
    word: &'static str,
    name: &'static str,
}

const ENV: Source = Source { word: "env", name: "the environment variable" };
const FILE: Source = Source { word: "file", name: "the key file" };

/// The key, if a header can carry it.
fn usable(value: &Value<'_>, key: &str, source: &Source) -> Option<Secret> {
    // Editors and `echo` end files with a newline.
    let key = key.trim_end_matches(['\r', '\n']);
    if key.is_empty() {
        value.error(format!("{} is empty", source.name), "put the provider's key into it");
        return None;
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let text =
            format!("{} holds something besides a key: a blank, a line break, …", source.name);
        value.error(text, "put the key alone into it");
        return None;
    }
    Some(Secret { key: key.to_owned(), source: Some(source.word) })
}
