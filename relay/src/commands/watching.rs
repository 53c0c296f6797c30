//! Watches the config file and the key files it names, and reloads on a change.
//!
//! It looks once a second instead of asking the kernel for events: those do not
//! come through a network's or a container's file system, and are about a file
//! that an editor or Kubernetes has replaced already. A look reads a few files
//! and compares them; nothing is parsed unless something has changed.
//!
//! A change is acted on once the files hold still, so that half a file is not
//! taken for a whole one. SIGHUP is acted on at once: whoever sends it is done.

use super::common::variable;
use crate::config::{FilesRead, Refused, load_with_files};
use crate::drive::config_state;
use crate::drive::reload::{self, Reloaded};
use crate::drive::{Drain, Hub};
use crate::wall;
use shared::admin::ConfigError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::Signal;

/// How often it looks.
const LOOK: Duration = Duration::from_secs(1);
/// Files that have not changed for so long hold still.
const STILL: Duration = Duration::from_millis(250);
/// Files that never hold still are read all the same after so many looks.
const RESTLESS: usize = 20;

/// Where the config comes from, and what was last read there.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    seen: FilesRead,
}

/// What made it look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Time,
    Auth,
    Hangup,
}

impl Source {
    pub(super) fn new(path: &Path, seen: FilesRead) -> Self {
        Self { path: path.to_owned(), seen }
    }

    /// Reloads `relay`'s config whenever it has changed, until the relay drains.
    pub(super) async fn watch(mut self, relay: Arc<Hub>, mut hangup: Signal) {
        loop {
            let by = tokio::select! {
                () = relay.signals.until(Drain::Draining) => return,
                _ = hangup.recv() => By::Hangup,
                () = relay.signals.account_refused() => By::Auth,
                () = tokio::time::sleep(LOOK) => By::Time,
            };
            if by != By::Hangup && !self.has_changed().await {
                continue;
            }
            let relay = Arc::clone(&relay);
            // Off this thread: the files may lie on a disk that hangs.
            let read = tokio::task::spawn_blocking(move || self.read(&relay, by)).await;
            match read {
                Ok(source) => self = source,
                Err(error) => {
                    tracing::error!(%error, "the config is not watched any more; restart the relay");
                    return;
                }
            }
        }
    }

    /// Whether its files have changed; if so, not before they hold still.
    async fn has_changed(&self) -> bool {
        let mut before = self.seen.clone();
        let Some(mut now) = again(&before).await else { return false };
        if now == before {
            return false;
        }
        for _ in 0..RESTLESS {
            before = now;
            tokio::time::sleep(STILL).await;
            let Some(later) = again(&before).await else { return false };
            now = later;
            if now == before {
                break;
            }
        }
        // It may be again what it was.
        now != self.seen
    }

    fn read(mut self, relay: &Hub, by: By) -> Self {
        let (loaded, seen) = load_with_files(&self.path, &variable);
        self.seen = seen;
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(refused) => {
                let (line, text) = first(&refused);
                refuse(relay, &self.path, line, text);
                return self;
            }
        };
        let was_refused = config_state::config_state(relay).error.is_some();
        match reload::reload(relay, loaded.config) {
            Ok(reloaded) => {
                log_reload(&reloaded, by, was_refused);
                for warning in loaded.warnings.iter().filter(|_| reloaded.changed) {
                    tracing::warn!("{warning}");
                }
            }
            Err(error) => refuse(relay, &self.path, None, error.to_string()),
        }
        self
    }
}

async fn again(seen: &FilesRead) -> Option<FilesRead> {
    let seen = seen.clone();
    tokio::task::spawn_blocking(move || seen.again()).await.ok()
}

/// The first mistake with its line, and how many there are beside it.
fn first(refused: &Refused) -> (Option<u64>, String) {
    let mut errors = refused.errors();
    let Some(first) = errors.next() else { return (None, "it cannot be used".to_owned()) };
    let line = u64::try_from(first.line).ok().filter(|&line| line > 0);
    let text = match errors.count() {
        0 => first.to_string(),
        more => format!("{first} (and {more} more; belay check lists all)"),
    };
    (line, text)
}

fn refuse(relay: &Hub, path: &Path, line: Option<u64>, text: String) {
    let rev = config_state::config_state(relay).rev;
    let path = path.display();
    tracing::error!(rev, "the config in {path} is refused and the one before it goes on: {text}");
    config_state::set_refused(relay, Some(ConfigError { at: wall::unix(), line, text }));
}

/// Said as a warning, which is what is logged by default: whoever changes a config looks
/// here for what became of it.
fn log_reload(reloaded: &Reloaded, by: By, was_refused: bool) {
    let Reloaded { rev, changed, new, gone, kept, another_key } = reloaded;
    let by = match by {
        By::Time => "a change",
        By::Auth => "a refused account",
        By::Hangup => "SIGHUP",
    };
    if *changed {
        tracing::warn!(rev, by, kept, ?new, ?gone, ?another_key, "config reloaded");
    } else if was_refused {
        tracing::warn!(rev, by, "the config is again the one in force");
    } else {
        tracing::warn!(rev, by, "config read again: nothing has changed in it");
    }
}
