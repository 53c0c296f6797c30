//! `belay serve`: the relay itself.

use super::common::{Failed, block_on, complain, say, watched_config};
use super::running::{Listeners, Ready, run_relay};
use super::watching::Source;
use std::path::Path;

pub(super) fn run(path: &Path) -> Result<(), Failed> {
    let (loaded, seen) = watched_config(path)?;
    for warning in &loaded.warnings {
        complain(warning);
    }
    let config = loaded.config;
    let listeners = Listeners::bind(config.server.listen, config.admin.listen)?;
    let source = Source::new(path, seen);
    block_on(run_relay(config, source, listeners, |ready: &Ready| {
        say(format_args!("belay: serving on http://{}", ready.data));
        say(format_args!("belay: admin on http://{}", ready.admin));
    }))?
}
