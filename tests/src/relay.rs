//! The real relay as a child process.

mod ask;
mod child;
mod feed;
mod journal;
mod metrics;

pub use feed::{Feed, FeedEvent};
pub use journal::{Transition, tried};

use crate::setup::Setup;
use child::Child;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::process::Stdio;
use tempfile::TempDir;

/// A running relay with a config and a journal of its own. It dies when dropped.
#[derive(Debug)]
pub struct Relay {
    child: Child,
    config: PathBuf,
    env: Vec<(String, String)>,
    // Dropped last: the child writes there.
    folder: TempDir,
}

/// The relay's program.
///
/// It lies where cargo puts it: beside this program, or one folder above this
/// test; neither can ask cargo to build another package's program.
#[must_use]
pub fn program() -> PathBuf {
    if let Some(path) = std::env::var_os("BELAY_BIN") {
        return PathBuf::from(path);
    }
    let test = std::env::current_exe().unwrap();
    let folders = test.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join("belay")).find(|program| program.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "no relay near {}: run `cargo build --workspace --bins` first (with --release for a \
             release program), or set BELAY_BIN",
            test.display()
        )
    })
}

/// Runs one of the relay's commands to its end, with this on its standard input.
pub async fn command(arguments: &[&str], input: &str) -> Output {
    use tokio::io::AsyncWriteExt as _;
    let mut child = tokio::process::Command::new(program())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the relay's program starts");
    let mut stdin = child.stdin.take().unwrap();
    // A command that reads nothing may have closed it already.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    crate::clock::within("a command to end", child.wait_with_output()).await.unwrap()
}

impl Relay {
    /// Starts a relay and waits until it serves.
    pub async fn start(setup: &Setup) -> Self {
        Self::start_in(setup, TempDir::with_prefix("belay-test-").unwrap()).await
    }

    /// As [`Relay::start`], in a folder that may hold anything as `belay.db` already.
    pub async fn start_in(setup: &Setup, folder: TempDir) -> Self {
        let journal = folder.path().join("belay.db");
        let config = folder.path().join("belay.toml");
        std::fs::write(&config, setup.toml(journal.to_str().unwrap())).unwrap();
        let env = setup.environment().to_vec();
        let child = Child::spawn(&config, &env).await;
        Self { child, config, env, folder }
    }

    /// Starts it again on the same config and journal.
    pub async fn restart(mut self) -> Self {
        self.child.kill().await;
        self.child = Child::spawn(&self.config, &self.env).await;
        self
    }

    /// Where clients connect.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.child.data
    }

    /// Where the admin API is.
    #[must_use]
    pub const fn admin(&self) -> SocketAddr {
        self.child.admin
    }

    /// Its config file.
    #[must_use]
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Its folder: config and journal.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its journal file.
    #[must_use]
    pub fn journal_file(&self) -> PathBuf {
        self.folder.path().join("belay.db")
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }

    /// Kills it without a chance to tidy up.
    pub async fn kill(&mut self) {
        self.child.kill().await;
    }

    /// Tells it to stop, as an init system does.
    pub fn terminate(&self) {
        self.child.signal("TERM");
    }

    /// Sends it a signal by its short name, such as `HUP`.
    pub fn signal(&self, name: &str) {
        self.child.signal(name);
    }

    /// Waits for its end; gives the exit status.
    pub async fn exited(&mut self) -> std::process::ExitStatus {
        self.child.exited().await
    }

    /// Its process.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Its open descriptors.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.pid());
        std::fs::read_dir(folder).expect("it runs").count()
    }

    /// Its threads: their names, and for how many of the system's ticks each has run code of
    /// the program.
    #[must_use]
    pub fn threads(&self) -> Vec<(String, u64)> {
        self.child.threads()
    }

    /// Its resident memory in bytes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.child.memory()
    }
}
