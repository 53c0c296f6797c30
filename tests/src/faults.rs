//! What lies outside a relay's control, failing or hanging on cue: its log, its disk, the
//! resolver, the clock, its descriptors.
//!
//! A small library in C is loaded into the relay and stands between it and the C library,
//! so no rights are needed and nothing else on the machine notices. It is built here with
//! the compiler that builds SQLite.

use crate::clock;
use crate::setup::Setup;
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const SOURCE: &str = include_str!("faults.c");

/// The faults of one relay. None at first.
#[derive(Debug)]
pub struct Faults {
    folder: TempDir,
}

impl Default for Faults {
    fn default() -> Self {
        Self::none()
    }
}

impl Faults {
    /// No fault yet.
    #[must_use]
    pub fn none() -> Self {
        let faults = Self { folder: TempDir::with_prefix("belay-faults-").unwrap() };
        faults.write("");
        faults
    }

    /// Puts a relay of this set-up at their mercy.
    #[must_use]
    pub fn over(&self, setup: Setup) -> Setup {
        setup
            .env("LD_PRELOAD", library().to_str().unwrap())
            .env("BELAY_FAULTS", self.file().to_str().unwrap())
    }

    /// From a few milliseconds on these faults are there, and no other.
    pub async fn set(&self, words: &[&str]) {
        self.write(&words.join(" "));
        // The library looks every five milliseconds.
        tokio::time::sleep(clock::ms(20)).await;
    }

    /// Everything is well again.
    pub async fn clear(&self) {
        self.set(&[]).await;
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("faults")
    }

    /// Whole or not at all: half a list would be another one.
    fn write(&self, text: &str) {
        let next = self.folder.path().join("next");
        std::fs::write(&next, text).unwrap();
        std::fs::rename(&next, self.file()).unwrap();
    }
}

/// The library, built once for each version of its source.
fn library() -> PathBuf {
    let version: String =
        Sha256::digest(SOURCE).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let program = std::env::current_exe().unwrap();
    let path = program.with_file_name(format!("faults-{version}.so"));
    if path.is_file() {
        return path;
    }
    let folder = TempDir::with_prefix_in("faults-", path.parent().unwrap()).unwrap();
    let (source, built) = (folder.path().join("faults.c"), folder.path().join("faults.so"));
    std::fs::write(&source, SOURCE).unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&built, &source])
        .arg("-ldl")
        .output()
        .expect("a C compiler: the relay's build needs one, too");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Other tests may do the same at this moment; whoever is last wins, with the same.
    std::fs::rename(&built, &path).unwrap();
    path
}
