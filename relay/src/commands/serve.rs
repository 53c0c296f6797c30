//! `belay serve`: the relay itself.

use super::running::{Ready, run_relay};
use super::{Failed, block_on, complain, config, say};
use std::path::Path;

pub(super) fn run(path: &Path) -> Result<(), Failed> {
    let loaded = config(path)?;
    for warning in &loaded.warnings {
        complain(warning);
    }
    block_on(run_relay(loaded.config, |ready: &Ready| {
        say(format_args!("belay: serving on http://{}", ready.data));
        say(format_args!("belay: admin on http://{}", ready.admin));
    }))?
}
