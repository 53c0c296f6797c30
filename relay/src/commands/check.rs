//! `belay check`: every problem of a config at once.

use super::common::{Failed, config, print_error, print_line};
use std::path::Path;

pub(super) fn run(path: &Path) -> Result<(), Failed> {
    let loaded = config(path)?;
    for warning in &loaded.warnings {
        print_error(warning);
    }
    let config = loaded.config;
    // What a provider's client is built from is part of the config's soundness.
    let journal = journal::Journal::off();
    let (ladders, rungs) = (config.ladders.len(), config.rungs.len());
    let providers = config.providers.len();
    super::running::install_tls();
    crate::drive::Hub::new(config, journal)?;
    print_line(format_args!(
        "{}: sound. {ladders} ladder(s), {rungs} rung(s), {providers} provider(s), {} warning(s).",
        path.display(),
        loaded.warnings.len(),
    ));
    Ok(())
}
