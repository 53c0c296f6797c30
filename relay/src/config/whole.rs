//! The config as a whole: its text in, a sound config or every problem out.

use super::admin::Admin;
use super::clients::ClientConfig;
use super::env::Env;
use super::journal::JournalConfig;
use super::ladders::LadderConfig;
use super::problem::{Problem, Refused};
use super::providers::ProviderConfig;
use super::report::Report;
use super::rungs::RungConfig;
use super::server::Server;
use super::stamp::Stamp;
use super::tree::{Placed, Table};
use super::{
    admin, clients, exposure, journal, ladders, providers, rungs, server, unbuilt, unused,
};
use toml::de::DeTable;

/// A sound config.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The clients' listener.
    pub server: Server,
    /// The operators' listener.
    pub admin: Admin,
    /// The record.
    pub journal: JournalConfig,
    /// Who may call, in file order. Empty: anybody, on loopback alone.
    pub clients: Vec<ClientConfig>,
    /// Accounts, in file order.
    pub providers: Vec<ProviderConfig>,
    /// Models, in file order; each holds the index of its provider.
    pub rungs: Vec<RungConfig>,
    /// What clients ask for, in file order; each holds the indices of its rungs.
    pub ladders: Vec<LadderConfig>,
}

impl Config {
    /// The index of the ladder that a client means by `model`: by name or alias.
    #[must_use]
    pub fn ladder(&self, model: &str) -> Option<usize> {
        self.ladders
            .iter()
            .position(|ladder| ladder.name == model || ladder.aliases.iter().any(|a| a == model))
    }

    /// What `client` is told beside its answers. Everything where there are no clients,
    /// since then only this machine can call.
    #[must_use]
    pub fn stamp(&self, client: Option<&ClientConfig>) -> Stamp {
        let usual = if self.clients.is_empty() { Stamp::Full } else { Stamp::Id };
        client.and_then(|client| client.stamp).or(self.server.stamp).unwrap_or(usual)
    }
}

/// A sound config with what is odd about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The config.
    pub config: Config,
    /// What is probably not meant so, in the order of the lines.
    pub warnings: Vec<Problem>,
}

/// Reads and checks a config's text.
///
/// Paths stay as written, and problems name no file: [`load`](super::load()) knows the place.
///
/// # Errors
///
/// If anything is wrong: then with every problem, warnings included.
pub fn parse(text: &str, env: &dyn Env) -> Result<Loaded, Refused> {
    let report = Report::new(text);
    let config = match DeTable::parse(text) {
        Ok(tree) => Some(read(&Table::root(tree.get_ref(), &report), env)),
        Err(error) => {
            report.syntax(&error);
            None
        }
    };
    let warnings = report.finish()?;
    // Without a tree there was a syntax error, which has returned above.
    config.map(|config| Loaded { config, warnings }).ok_or_else(|| Refused { problems: Vec::new() })
}

/// Reads every section. The order matters: a section comes after those it refers to.
fn read(root: &Table<'_>, env: &dyn Env) -> Config {
    let server = server::read(root);
    let admin = admin::read(root);
    let journal = journal::read(root);
    let providers = providers::read(root, env);
    let rungs = rungs::read(root, &providers);
    let ladders = ladders::read(root, &providers, &rungs, env);
    let clients = clients::read(root, &ladders);
    unbuilt::root(root);
    root.check_keys();
    if ladders.is_empty() && !root.report.failed("ladders") {
        let text = "there is no ladder: clients would have nothing to ask for";
        let fix = "add a [providers.*], a [rungs.*] and a [ladders.*]";
        root.report.error(&root.at.child("ladders"), text, fix);
    }
    exposure::check(root, &server, &admin, !clients.is_empty());
    unused::check(root.report, &providers, &rungs, &ladders);
    Config {
        server,
        admin,
        journal,
        clients,
        providers: bare(providers),
        rungs: bare(rungs),
        ladders: bare(ladders),
    }
}

/// The things without their places.
fn bare<T>(placed: Vec<Placed<T>>) -> Vec<T> {
    placed.into_iter().map(|placed| placed.it).collect()
}
