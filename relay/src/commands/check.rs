//! `belay check`: every problem of a config at once.

use super::common::{Failed, complain, config, say};
use std::path::Path;

pub(super) fn run(path: &Path) -> Result<(), Failed> {
    let loaded = config(path)?;
    for warning in &loaded.warnings {
        complain(warning);
    }
    let config = loaded.config;
    // What a provider's client is built from is part of the config's soundness.
    let journal = journal::Journal::off();
    let (ladders, rungs) = (config.ladders.len(), config.rungs.len());
    let providers = config.providers.len();
    super::running::install_tls();
    crate::drive::Hub::new(config, journal)?;
    say(format_args!(
        "{}: sound. {ladders} ladder(s), {rungs} rung(s), {providers} provider(s), {} warning(s).",
        path.display(),
        loaded.warnings.len(),
    ));
    Ok(())
}
