//! `[providers.*]`: accounts at inference endpoints.

use super::Env;
use super::names;
use super::report::shown;
use super::secret::{self, Secret};
use super::suggest;
use super::tree::{Placed, Table, Value};
use super::units::CLOCK;
use super::{base_url, headers};
use dialect::errors::{Field, Matcher};
use shared::{Dialect, Signature};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An account at one inference endpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Its name, which rungs refer to.
    pub name: String,
    /// The wire format it speaks.
    pub dialect: Dialect,
    /// Where it is, without a trailing slash, query, fragment or user-info.
    pub base_url: String,
    /// The key of our account. Default none, as for a local server.
    pub api_key: Option<Secret>,
    /// Headers for every call, names in lower case, in file order. Values may
    /// be secret: `Debug` shows the names alone.
    pub headers: Vec<(String, String)>,
    /// Whether streams may share connections over HTTP/2. Default false: one
    /// connection per stream over HTTP/1.1.
    pub http2: bool,
    /// Most connections at a time, 1 to 100,000. Default no limit.
    pub max_connections: Option<usize>,
    /// How long connecting may take, DNS and TLS included. Default 5 s.
    pub connect: Duration,
    /// A file of PEM root certificates to trust besides the public ones. It
    /// was readable; its content was not parsed. [`load`](super::load())
    /// resolves a relative path against the config file's folder. Default none.
    pub ca_file: Option<PathBuf>,
    /// What its error messages mean, before the dialect's own table.
    pub matchers: Vec<Matcher>,
}

impl ProviderConfig {
    /// The default of [`connect`](Self::connect).
    pub const CONNECT: Duration = Duration::from_secs(5);
}

/// Written by hand, so that a field that may hold a secret must be put here to be shown.
impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("ProviderConfig")
            .field("name", &self.name)
            .field("dialect", &self.dialect)
            .field("base_url", &self.base_url)
            .field("api_key", &self.api_key)
            .field("headers", &names)
            .field("http2", &self.http2)
            .field("max_connections", &self.max_connections)
            .field("connect", &self.connect)
            .field("ca_file", &self.ca_file)
            .field("matchers", &self.matchers)
            .finish()
    }
}

/// The fields and their words.
const FIELDS: &[(&str, Field)] =
    &[("code", Field::Code), ("type", Field::Type), ("message", Field::Message)];

/// Reads every `[providers.*]`, in file order; each placed where its name stands.
pub(super) fn read(root: &Table<'_>, env: &dyn Env) -> Vec<Placed<ProviderConfig>> {
    names::tables(root, "providers")
        .into_iter()
        .map(|(name, table)| Placed { at: table.at.clone(), it: provider(name, &table, env) })
        .collect()
}

fn provider(name: String, table: &Table<'_>, env: &dyn Env) -> ProviderConfig {
    let dialects: Vec<_> = Dialect::ALL.iter().map(|it| (it.as_str(), *it)).collect();
    let api_key = table.get("api_key");
    let provider = ProviderConfig {
        name,
        dialect: table
            .need("dialect", "\"openai-chat\"")
            .and_then(|value| value.word(&dialects))
            .unwrap_or(Dialect::OpenaiChat),
        base_url: table
            .need("base_url", "\"https://api.example.com/v1\"")
            .map(|value| base_url::read(&value))
            .unwrap_or_default(),
        headers: table
            .get("headers")
            .map(|value| headers::read(&value, api_key.is_some(), env))
            .unwrap_or_default(),
        api_key: api_key.and_then(|value| secret::read(&value, env)),
        http2: table.flag("http2").unwrap_or(false),
        max_connections: table
            .integer("max_connections", 1..=100_000)
            .and_then(|count| usize::try_from(count).ok()),
        connect: table.duration("connect", &CLOCK).unwrap_or(ProviderConfig::CONNECT),
        ca_file: table.get("ca_file").and_then(|value| ca_file(&value, env)),
        matchers: table.get("matchers").map(|value| matchers(&value)).unwrap_or_default(),
    };
    if let Some(value) = table.get("ca_file")
        && provider.base_url.starts_with("http://")
    {
        value.warn("has no effect: base_url is http", "use https, or take it out");
    }
    table.check_keys();
    provider
}

fn ca_file(value: &Value<'_>, env: &dyn Env) -> Option<PathBuf> {
    let path = Path::new(value.text()?);
    if let Err(error) = env.file(path) {
        let text = format!("'{}' cannot be read: {error}", shown(&path.to_string_lossy()));
        let fix = "name a readable PEM file; a relative path starts at the config file's folder";
        value.error(text, fix);
    }
    Some(path.to_owned())
}

fn matchers(value: &Value<'_>) -> Vec<Matcher> {
    let example =
        "write [{ status = 403, field = \"code\", contains = \"…\", signature = \"auth\" }]";
    let elements = value.list(example).unwrap_or_default();
    elements.iter().filter_map(|element| matcher(&element.table()?)).collect()
}

fn matcher(table: &Table<'_>) -> Option<Matcher> {
    let status = table.integer("status", 100..=599).and_then(|code| u16::try_from(code).ok());
    let field = table.need("field", "\"message\"").and_then(|value| value.word(FIELDS));
    let contains = table.need("contains", "\"insufficient_quota\"").and_then(|value| value.text());
    let signature = table.need("signature", "\"auth\"").and_then(|value| signature(&value));
    table.check_keys();
    Some(Matcher { status, field: field?, contains: contains?.to_owned(), signature: signature? })
}

fn signature(value: &Value<'_>) -> Option<Signature> {
    let text = value.string()?;
    let found = text.parse().ok();
    if found.is_none() {
        let fix = suggest::fix(text, Signature::ALL.iter().map(|known| known.as_str()));
        value.error(format!("'{}' is no meaning of an error", shown(text)), fix);
    }
    found
}
