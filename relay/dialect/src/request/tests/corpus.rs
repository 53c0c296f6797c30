//! Requests that were recorded, written in every dialect.

use super::*;
use crate::tests::{Corpus, corpora};
use std::path::Path;

/// What of them has no words elsewhere: two answers at once, the provider's own search, and
/// a system prompt with nothing behind it.
const UNABLE: &[&str] = &[
    "n",
    "tools[0].type",
    "messages: a conversation without a word of the user's",
    "gemini: a conversation without a word",
];

fn requests(dir: &Path) -> Vec<(String, String)> {
    let Ok(files) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut found = Vec::new();
    for path in files.filter_map(|file| Some(file.ok()?.path())) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".request.json") {
            let call = json(&std::fs::read_to_string(&path).unwrap());
            // Two are calls of an older endpoint.
            if call["body"].get("prompt").is_none() {
                found.push((name, call["body"].to_string()));
            }
        }
    }
    found
}

#[test]
fn recorded_requests_are_read_and_told_to_every_dialect() {
    for corpus in corpora() {
        are_told(&corpus);
    }
}

fn are_told(corpus: &Corpus) {
    let mut seen = 0;
    for (folder, dialect) in [
        ("openai-chat", Dialect::OpenaiChat),
        ("openai-compatible", Dialect::OpenaiChat),
        ("openai-responses", Dialect::OpenaiResponses),
    ] {
        for (name, body) in requests(&corpus.dir.join(folder)) {
            let request = ClientRequest::parse(dialect, body.as_bytes()).unwrap();
            for to in Dialect::ALL {
                seen += 1;
                match request.upstream(*to, &TARGET) {
                    Ok(upstream) => drop(json(std::str::from_utf8(&upstream.body).unwrap())),
                    // Responses have no stop sequences.
                    Err(Unsupported { field }) if field == "stop" => {
                        assert_eq!(*to, Dialect::OpenaiResponses, "{name}");
                    }
                    Err(Unsupported { field }) => {
                        assert!(UNABLE.contains(&field.as_str()), "{name} to {to}: {field}");
                    }
                }
                assert_eq!(
                    request.supported_by(*to).is_ok(),
                    request.upstream(*to, &TARGET).is_ok()
                );
            }
        }
    }
    assert!(seen >= corpus.at_least(100), "{seen}");
}
