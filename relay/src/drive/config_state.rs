//! Which config is in force, and why the newest one is not, where it is not.

use super::hub::Hub;
use crate::metrics::ConfigNow;
use shared::admin::{ConfigError, ConfigState, FeedKind};

/// The newest config was not put in force, and why; `None`: it was.
pub fn set_refused(hub: &Hub, why: Option<ConfigError>) {
    *hub.refused.lock() = why;
    publish_config(hub);
}

pub(super) fn publish_config(hub: &Hub) {
    hub.feed.publish(FeedKind::Config, &config_state(hub));
}

/// What is in force, and why the newest one is not, if it is not.
#[must_use]
pub fn config_state(hub: &Hub) -> ConfigState {
    let in_force = hub.in_force();
    let error = hub.refused.lock().clone();
    ConfigState { rev: in_force.rev, loaded_at: in_force.since, error }
}

pub(super) fn config_now(hub: &Hub) -> ConfigNow {
    let ConfigState { rev, loaded_at, error } = config_state(hub);
    ConfigNow { rev, loaded_at, ok: error.is_none() }
}
