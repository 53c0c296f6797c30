//! Upstream bodies from `fixtures/`, played as the manifest says: where a
//! write ends, where the provider pauses, how the body ends.

use crate::clock::ms;
use crate::provider::Reply;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Debug, Deserialize)]
struct Manifest {
    files: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    status: u16,
    content_type: String,
    bytes: usize,
    end: String,
    #[serde(default)]
    cuts: Vec<usize>,
    #[serde(default)]
    pauses_ms: Vec<(usize, u64)>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn entry(name: &str) -> Entry {
    let text = std::fs::read_to_string(folder().join("manifest.json")).unwrap();
    let mut manifest: Manifest = serde_json::from_str(&text).unwrap();
    manifest.files.remove(name).unwrap_or_else(|| panic!("{name} is not in the manifest"))
}

/// The bytes of a fixture.
#[must_use]
pub fn bytes(name: &str) -> Vec<u8> {
    let bytes = std::fs::read(folder().join(name)).unwrap();
    assert_eq!(bytes.len(), entry(name).bytes, "{name} was altered");
    bytes
}

/// The fixture as a reply, with the manifest's cuts, pauses and end.
#[must_use]
pub fn reply(name: &str) -> Reply {
    play(name, entry(name).cuts)
}

/// The fixture as a reply, one byte per write.
#[must_use]
pub fn reply_bytewise(name: &str) -> Reply {
    play(name, (1..entry(name).bytes).collect())
}

fn play(name: &str, mut cuts: Vec<usize>) -> Reply {
    let entry = entry(name);
    let bytes = bytes(name);
    cuts.extend(entry.pauses_ms.iter().map(|&(offset, _)| offset));
    cuts.push(bytes.len());
    cuts.sort_unstable();
    cuts.dedup();
    let mut reply = Reply::status(entry.status).header("content-type", &entry.content_type);
    let mut start = 0;
    for cut in cuts {
        if let Some(&(_, pause)) = entry.pauses_ms.iter().find(|&&(offset, _)| offset == start) {
            reply = reply.pause(ms(pause));
        }
        reply = reply.send(&bytes[start..cut]);
        start = cut;
    }
    if entry.end == "hold" { reply.hold() } else { reply }
}
