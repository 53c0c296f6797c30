//! Who is on the Board: providers, rungs and ladders.
//!
//! The names `chat`, `code`, `sol`, `opus` and `local` are those of the past that `history` writes,
//! so that a journal filled by it belongs to this Board.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

/// A simulated provider, with one rung of the same name as its model.
#[derive(Debug)]
pub(crate) struct Rung {
    /// Its name on the Board.
    pub(crate) name: &'static str,
    /// Its provider's.
    pub(crate) provider: &'static str,
    /// What it shares with others.
    domains: &'static [&'static str],
    /// Milliseconds to its first token.
    pub(crate) ttft_ms: u64,
    /// US dollars for a million tokens in, and out.
    price: (f64, f64),
}

const fn rung(
    name: &'static str,
    provider: &'static str,
    domains: &'static [&'static str],
    ttft_ms: u64,
    price: (f64, f64),
) -> Rung {
    Rung { name, provider, domains, ttft_ms, price }
}

/// Everybody.
pub(crate) const RUNGS: [Rung; 6] = [
    rung("sol", "openai", &["openai", "us-east"], 180, (2.5, 10.0)),
    rung("sol-eu", "azure", &["openai", "eu-west"], 220, (2.5, 10.0)),
    rung("opus", "anthropic", &["anthropic", "us-east"], 260, (5.0, 25.0)),
    rung("haiku", "bedrock", &["anthropic", "eu-west"], 120, (1.0, 5.0)),
    rung("gemini", "google", &["google", "eu-west"], 200, (1.25, 10.0)),
    rung("local", "vllm", &["rack-7"], 350, (0.0, 0.0)),
];

/// Who stands where.
pub(crate) const LADDERS: [(&str, &[&str]); 4] = [
    ("chat", &["sol", "opus", "gemini"]),
    ("code", &["sol", "opus", "sol-eu", "haiku"]),
    ("agents", &["opus", "sol-eu", "gemini", "local"]),
    ("cheap", &["haiku", "local", "gemini"]),
];

/// Whom the console is: an operator.
pub(crate) const ME: (&str, &str) = ("ana", "window-token-ana");
/// Somebody else who works the relay.
pub(crate) const OTHER: (&str, &str) = ("ben", "window-token-ben");

/// The relay's config; each provider is at its address.
pub(crate) fn config(folder: &Path, providers: &[SocketAddr]) -> String {
    let mut text = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n\
         [admin]\nlisten = \"127.0.0.1:0\"\nname = \"eu-1\"\nenv = \"PROD eu\"\n\
         tokens = [{}, {}]\n\
         [journal]\npath = \"{}\"\n",
        token(ME),
        token(OTHER),
        folder.join("belay.db").display(),
    );
    // Writing to a string does not fail.
    for (rung, address) in RUNGS.iter().zip(providers) {
        let Rung { name, provider, domains, price: (input, output), .. } = rung;
        let _ = write!(
            text,
            "[providers.{provider}]\ndialect = \"openai-chat\"\n\
             base_url = \"http://{address}/v1\"\nconnect = \"2s\"\n\
             [rungs.{name}]\nprovider = \"{provider}\"\nmodel = \"{name}-5\"\n\
             domains = {domains:?}\nprice = {{ input = {input:?}, output = {output:?} }}\n"
        );
    }
    for (name, rungs) in LADDERS {
        let _ = write!(
            text,
            "[ladders.{name}]\nrungs = {rungs:?}\n\
             clocks = {{ ttft = \"5s\", inter_token = \"5s\", total = \"60s\" }}\n"
        );
    }
    text
}

fn token((name, token): (&str, &str)) -> String {
    let hash = Sha256::digest(token.as_bytes());
    let hash = hash.iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    });
    format!("{{ name = \"{name}\", role = \"operator\", sha256 = \"{hash}\" }}")
}
