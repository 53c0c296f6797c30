//! `[clients.*]`: who may call, and on which ladders.

use super::hash;
use super::ladders::LadderConfig;
use super::names;
use super::stamp::{self, Stamp};
use super::tree::{Placed, Table, Value};
use toml::de::DeValue;

/// A client: anyone with one of its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// Its name in the journal.
    pub name: String,
    /// SHA-256 of each of its keys; several while keys are being changed. Never empty.
    pub keys: Vec<[u8; 32]>,
    /// The ladders it may use, as indices into [`Config::ladders`](super::Config::ladders).
    /// Default `None`: all.
    pub ladders: Option<Vec<usize>>,
    /// What it is told beside its answers. Default `None`: the server's.
    pub stamp: Option<Stamp>,
}

/// Reads every `[clients.*]`.
pub(super) fn read(root: &Table<'_>, ladders: &[Placed<LadderConfig>]) -> Vec<ClientConfig> {
    let mut clients: Vec<ClientConfig> = Vec::new();
    for (name, table) in names::tables(root, "clients") {
        let keys = table
            .need("key_sha256", "\"<64 hex digits>\" (run 'belay hash-key')")
            .map(|value| keys(&value, &clients))
            .unwrap_or_default();
        let ladders = table.get("ladders").map(|value| permitted(&value, ladders));
        let stamp = table.get("stamp").and_then(|value| stamp::read(&value));
        table.check_keys();
        clients.push(ClientConfig { name, keys, ladders, stamp });
    }
    clients
}

fn keys(value: &Value<'_>, earlier: &[ClientConfig]) -> Vec<[u8; 32]> {
    let elements = if matches!(value.raw, DeValue::String(_)) {
        vec![value.clone()]
    } else {
        value.list("write 64 hex digits, or a list of such").unwrap_or_default()
    };
    if elements.is_empty() && value.raw.is_array() {
        value.error("a client without a key cannot call", "write its key's hash");
    }
    let mut keys = Vec::new();
    for element in elements {
        let Some(key) = hash::read(&element) else { continue };
        if let Some(other) = earlier.iter().find(|client| client.keys.contains(&key)) {
            let text = format!("this key belongs to the client '{}' already", other.name);
            element.error(text, "give each client a key of its own");
        } else if keys.contains(&key) {
            element.error("this key stands here twice", "take one out");
        }
        keys.push(key);
    }
    keys
}

fn permitted(value: &Value<'_>, ladders: &[Placed<LadderConfig>]) -> Vec<usize> {
    let Some(texts) = value.texts() else { return Vec::new() };
    if texts.is_empty() && !value.report.failed(&value.at.key) {
        value.error("a client without a ladder cannot call", "name one, or leave the key out: all");
    }
    texts
        .iter()
        .filter_map(|(wanted, element)| {
            let alias = ladders.iter().find(|ladder| ladder.it.aliases.iter().any(|a| a == wanted));
            if let Some(ladder) = alias {
                let text = format!("'{wanted}' is an alias, not a ladder");
                element.error(text, format!("write the ladder's name, '{}'", ladder.it.name));
                return None;
            }
            names::resolve(element, "ladder", ladders, |ladder| &ladder.name)
        })
        .collect()
}
