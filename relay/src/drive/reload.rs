//! Another config in place of the one in force, while requests run.
//!
//! Everything that can go wrong goes wrong before anything is changed. Then the
//! board, the memory and the config in force change under the board's lock, so
//! that no request plans with one config and walks on another.

use super::config_state::publish_config;
use super::hub::{Hub, ladders};
use super::in_force::{InForce, Prepared, prepare};
use super::labels::labels;
use super::snapshot;
use crate::config::Config;
use crate::provider::CannotBuild;
use crate::wall;
use policy::RungIndex;
use std::fmt;
use std::sync::Arc;

/// What a reload did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    /// The number of the config in force now.
    pub rev: u64,
    /// Whether it is another one than before.
    pub changed: bool,
    /// Rungs that start with nothing known of them.
    pub new: Vec<Arc<str>>,
    /// Rungs that have gone.
    pub gone: Vec<Arc<str>>,
    /// Rungs whose state was kept.
    pub kept: usize,
    /// Rungs among them whose account has another key or other headers.
    pub another_key: Vec<Arc<str>>,
}

/// Why a sound config was not put in force.
#[derive(Debug)]
pub enum CannotReload {
    /// These keys cannot change while the relay runs.
    Fixed(Vec<&'static str>),
    /// A provider's settings.
    Provider(CannotBuild),
}

impl fmt::Display for CannotReload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(keys) => write!(
                f,
                "{} cannot change while the relay runs; put the old value back, or restart the relay",
                keys.join(", ")
            ),
            Self::Provider(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CannotReload {}

/// The keys that differ and cannot: sockets are bound, files are open, room was made.
///
/// Were the rest taken over without them, a config that closes a listener to the outside
/// would be half in force: its clients gone, its old address open to anybody.
fn fixed(before: &Config, after: &Config) -> Vec<&'static str> {
    let differ = [
        ("server.listen", before.server.listen != after.server.listen),
        ("server.max_requests", before.server.max_requests != after.server.max_requests),
        ("admin.listen", before.admin.listen != after.admin.listen),
        ("journal.path", before.journal.path != after.journal.path),
        ("journal.retain", before.journal.retain != after.journal.retain),
        ("journal.max_size", before.journal.max_size != after.journal.max_size),
    ];
    differ.into_iter().filter_map(|(key, differs)| differs.then_some(key)).collect()
}

/// Puts `config` in force. Rungs that are the same as before keep all that is known of
/// them; running requests end with what they began with. A key that has changed ends
/// its rungs' hard-down.
///
/// # Errors
/// It cannot be put in force as a whole; then nothing has changed.
pub fn reload(hub: &Hub, config: Config) -> Result<Reloaded, CannotReload> {
    let mut places = hub.reloading.lock();
    let before = hub.in_force();
    let fixed = fixed(&before.config, &config);
    if !fixed.is_empty() {
        return Err(CannotReload::Fixed(fixed));
    }
    let prepared = prepare(config, places.clone(), Some(&before));
    let prepared = prepared.map_err(CannotReload::Provider)?;
    let Prepared { in_force: after, places: new_places, rungs, identities } = prepared;
    *hub.refused.lock() = None;
    if after.is_same_as(&before) {
        publish_config(hub);
        return Ok(summary(&before, &before, &[], false));
    }
    let after = Arc::new(after);
    let renewed: Vec<_> =
        rungs.iter().filter(|placed| placed.another_key).map(|placed| placed.at).collect();
    hub.metrics.begin(&labels(&after));
    after.make_room(&hub.live);
    let now = wall::now();
    hub.with_board(now, |board| {
        board.reshape(now, rungs, ladders(&after));
        hub.memory().reshape(identities);
        *hub.in_force.write() = Arc::clone(&after);
    });
    *places = new_places;
    // Whoever watches knows rungs and ladders that may have gone.
    snapshot::start_over(hub);
    publish_config(hub);
    Ok(summary(&before, &after, &renewed, true))
}

fn summary(before: &InForce, after: &InForce, renewed: &[RungIndex], changed: bool) -> Reloaded {
    let not_in = |one: &InForce, other: &InForce| -> Vec<Arc<str>> {
        let missing = one.rungs.iter().filter(|rung| other.rung(rung.index).is_none());
        missing.map(|rung| Arc::clone(&rung.name)).collect()
    };
    let (new, gone) = (not_in(after, before), not_in(before, after));
    let kept = after.rungs.len() - new.len();
    let renewed = renewed.iter().filter_map(|&index| after.rung(index));
    let another_key = renewed.map(|rung| Arc::clone(&rung.name)).collect();
    Reloaded { rev: after.rev, changed, new, gone, kept, another_key }
}
