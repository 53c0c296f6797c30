//! Proofs that a piece of an answer is the mock's own.
//!
//! Providers sign a model's reasoning, and refuse a conversation in which the signature is missing
//! or belongs to another text. The mock does the same, which shows whether a relay carries
//! signatures.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

/// The signature of a text; the same for the same text, in every mock. It is base64, because
/// clients check that.
pub(super) fn sign(what: &str, text: &str) -> String {
    (0..4u8).fold(String::from("Mock"), |mut signature, round| {
        let mut hasher = DefaultHasher::new();
        (round, what, text).hash(&mut hasher);
        signature.push_str(&format!("{:016x}", hasher.finish()));
        signature
    })
}

/// The signature of a call; the spacing and the order of its arguments do not change it.
pub(super) fn sign_call(name: &str, arguments: &Value) -> String {
    sign(name, &canonical(arguments))
}

/// A sealed value that carries its own proof.
pub(super) fn seal(text: &str) -> String {
    let inner = sign("sealed", text);
    format!("{inner}{}", sign("seal", &inner))
}

/// Whether a mock sealed this value.
pub(super) fn is_sealed(sealed: &str) -> bool {
    let half = sealed.len() / 2;
    sealed.split_at_checked(half).is_some_and(|(inner, proof)| sign("seal", inner) == proof)
}

fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            fields.iter().map(|(key, value)| format!("{key}={};", canonical(value))).collect()
        }
        Value::Array(items) => items.iter().map(|item| format!("{},", canonical(item))).collect(),
        other => other.to_string(),
    }
}
