//! The names that labels are made of.

use std::sync::Arc;

/// The names that labels are made of, as the config has them.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Every rung.
    pub rungs: Vec<RungNames>,
    /// Every ladder.
    pub ladders: Vec<LadderNames>,
}

/// A rung's names.
#[derive(Debug, Clone)]
pub struct RungNames {
    /// Its own.
    pub rung: Arc<str>,
    /// Its provider's, in the config.
    pub provider: Arc<str>,
    /// Its model's, in the config.
    pub model: Arc<str>,
}

/// A ladder's names.
#[derive(Debug, Clone)]
pub struct LadderNames {
    /// Its own.
    pub ladder: Arc<str>,
    /// Those of its rungs.
    pub rungs: Vec<Arc<str>>,
}
