//! The five incidents, each played by an engineer with the command line alone: what is read
//! on the terminal, and what the users get meanwhile.

mod dear;
mod hang;
mod key;
mod lost;
mod region;
mod two;

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use tests::clock::eventually;
use tests::{Engineer, Provider, Relay, Reply, Setup};

/// One attempt a rung, one after the other: what is read is always the same.
const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";
/// A breaker that stays open while somebody looks at it.
const LONG: &str = "breaker = { cooldown = \"10m\", max_cooldown = \"10m\", jitter = 0.0 }";

/// A rung that says who it is.
async fn says(words: &str) -> Provider {
    Provider::always(Reply::text(words)).await
}

/// A line of `admin.tokens`.
fn token(name: &str, role: &str, token: &str) -> String {
    let hash = Sha256::digest(token.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    format!("{{ name = \"{name}\", role = \"{role}\", sha256 = \"{hash}\" }}")
}
