//! `[journal]`: where the record is kept, and how much of it.

use super::tree::Table;
use super::units::{GIB, MIB, RETENTION};
use std::path::PathBuf;
use std::time::Duration;

/// The journal's file and bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalConfig {
    /// The SQLite file. [`load`](super::load()) resolves a relative path against
    /// the config file's folder. Default `belay.db`.
    pub path: PathBuf,
    /// Older records are pruned; a minute to ten years. Default 30 days.
    pub retain: Duration,
    /// Largest size of the file, in bytes, 1 MiB to 16 TiB. Default 4 GiB.
    pub max_size: u64,
}

impl Default for JournalConfig {
    fn default() -> Self {
        Self {
            path: PathBuf::from("belay.db"),
            retain: Duration::from_secs(30 * 24 * 60 * 60),
            max_size: 4 * GIB,
        }
    }
}

/// Reads `[journal]`.
pub(super) fn read(root: &Table<'_>) -> JournalConfig {
    let default = JournalConfig::default();
    let Some(table) = root.get("journal").and_then(|value| value.table()) else { return default };
    let journal = JournalConfig {
        path: table.text("path").map_or(default.path, PathBuf::from),
        retain: table.duration("retain", &RETENTION).unwrap_or(default.retain),
        max_size: table.size("max_size", &(MIB..=16 * 1024 * GIB)).unwrap_or(default.max_size),
    };
    table.check_keys();
    journal
}
