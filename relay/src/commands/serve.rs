//! `belay serve`: the relay itself.

use super::common::{Failed, block_on, print_error, print_line, watched_config};
use super::running::{Listeners, Ready, run_relay};
use super::watching::Source;
use std::path::Path;

pub(super) fn run(path: &Path) -> Result<(), Failed> {
    let (loaded, seen) = watched_config(path)?;
    for warning in &loaded.warnings {
        print_error(warning);
    }
    let config = loaded.config;
    let listeners = Listeners::bind(config.server.listen, config.admin.listen)?;
    let source = Source::new(path, seen);
    block_on(run_relay(config, source, listeners, |ready: &Ready| {
        print_line(format_args!("belay: serving on http://{}", ready.data));
        print_line(format_args!("belay: admin on http://{}", ready.admin));
    }))?
}
