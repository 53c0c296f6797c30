//! `belay serve`: the relay itself.

use super::running::{Listeners, Ready, run_relay};
use super::{Failed, block_on, complain, config, say};
use std::path::Path;

pub(super) fn run(path: &Path) -> Result<(), Failed> {
    let loaded = config(path)?;
    for warning in &loaded.warnings {
        complain(warning);
    }
    let config = loaded.config;
    let listeners = Listeners::bind(config.server.listen, config.admin.listen)?;
    block_on(run_relay(config, listeners, |ready: &Ready| {
        say(format_args!("belay: serving on http://{}", ready.data));
        say(format_args!("belay: admin on http://{}", ready.admin));
    }))?
}
