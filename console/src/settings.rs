//! What the console remembers between two starts: relays' addresses and how it looks. No
//! token, ever.

use directories::BaseDirs;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::{fmt, io};

/// What is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The relays that were watched last.
    pub relays: Vec<String>,
    /// The light theme. Default: dark.
    pub light: bool,
    /// Times in UTC. Default: local.
    pub utc: bool,
    /// The scale of everything, 1.0 to 2.0 of the screen's own. Default 1.0.
    pub scale: f32,
    /// Alerts are shown by the desktop. Default: yes.
    pub desktop: bool,
    /// The desktop is asked to make a sound with them. Default: no.
    pub sound: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            relays: Vec::new(),
            light: false,
            utc: false,
            scale: 1.0,
            desktop: true,
            sound: false,
        }
    }
}

/// Where they are kept: `belay/console.json` in the user's config folder, on Linux below
/// `XDG_CONFIG_HOME` or `~/.config`; `None`: there is no such place.
#[must_use]
pub fn place() -> Option<PathBuf> {
    Some(BaseDirs::new()?.config_dir().join("belay").join("console.json"))
}

/// Where it is written why no window could be opened, for whoever started it from a menu and
/// sees no terminal: `belay/console.log` in the user's folder for state, on Linux below
/// `XDG_STATE_HOME` or `~/.local/state`.
#[must_use]
pub fn log_place() -> Option<PathBuf> {
    let folders = BaseDirs::new()?;
    let base = folders.state_dir().unwrap_or_else(|| folders.data_local_dir());
    Some(base.join("belay").join("console.log"))
}

/// Those of the last time; the defaults where there are none, or none that can be read.
#[must_use]
pub fn load() -> Settings {
    let text = place().and_then(|path| std::fs::read_to_string(path).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Why they were not kept.
#[derive(Debug)]
pub enum CannotSave {
    /// The user has no home folder.
    NoPlace,
    /// The file could not be written.
    Write(PathBuf, io::Error),
}

impl fmt::Display for CannotSave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlace => f.write_str(
                "settings are not remembered: you have no home folder; set HOME or XDG_CONFIG_HOME",
            ),
            Self::Write(path, error) => {
                write!(f, "settings are not remembered: {}: {error}", path.display())
            }
        }
    }
}

/// Keeps them.
///
/// # Errors
/// Where they could not be written, and why.
pub fn save(settings: &Settings) -> Result<(), CannotSave> {
    let Some(path) = place() else {
        return Err(CannotSave::NoPlace);
    };
    let write = || {
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let text = serde_json::to_string_pretty(settings)?;
        // Whole or not at all: a torn file would be none.
        let next = path.with_extension("new");
        std::fs::write(&next, text + "\n")?;
        std::fs::rename(&next, &path)
    };
    write().map_err(|error| CannotSave::Write(path.clone(), error))
}
