//! A relay's config, built up piece by piece.
//!
//! The usual set-up is one ladder, `chat`, over rungs `a`, `b`, `c`, each with
//! a provider and a key of its own.

use crate::provider::Provider;
use std::fmt::Write as _;

/// The start of every provider key that the tests hand to a relay. It must
/// never be seen anywhere but at a provider.
pub const KEY: &str = "UPSTREAM-KEY-PLACEHOLDER";

/// A relay's config in the making.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    server: String,
    admin: String,
    rungs: Vec<Rung>,
    ladder: String,
    journal: String,
    extra: String,
    env: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
struct Rung {
    name: String,
    dialect: String,
    base_url: String,
    key: String,
    provider: String,
    keys: String,
    domains: Vec<String>,
}

impl Setup {
    /// Ladder `chat` over these providers, as rungs `a`, `b`, `c` and so on.
    #[must_use]
    pub fn over(providers: &[&Provider]) -> Self {
        providers
            .iter()
            .fold(Self::default(), |setup, provider| setup.and_rung(&provider.base_url()))
    }

    /// One more rung at the ladder's end, at this base URL.
    #[must_use]
    pub fn and_rung(mut self, base_url: &str) -> Self {
        let name = ["a", "b", "c", "d", "e", "f"][self.rungs.len()].to_owned();
        self.env.push((key_variable(&name), key_of(&name)));
        self.rungs.push(Rung {
            key: format!("{{ env = \"{}\" }}", key_variable(&name)),
            domains: vec![name.clone()],
            name,
            dialect: "openai-chat".to_owned(),
            base_url: base_url.to_owned(),
            provider: String::new(),
            keys: String::new(),
        });
        self
    }

    /// Adds a line to `[server]`.
    #[must_use]
    pub fn server(mut self, line: &str) -> Self {
        let _ = writeln!(self.server, "{line}");
        self
    }

    /// Adds a line to `[admin]`.
    #[must_use]
    pub fn admin(mut self, line: &str) -> Self {
        let _ = writeln!(self.admin, "{line}");
        self
    }

    /// Adds a line to a rung.
    #[must_use]
    pub fn rung(mut self, name: &str, line: &str) -> Self {
        let _ = writeln!(self.find(name).keys, "{line}");
        self
    }

    /// Sets a rung's failure domains; without this each rung has one of its own.
    #[must_use]
    pub fn domains(mut self, name: &str, domains: &[&str]) -> Self {
        self.find(name).domains = domains.iter().map(|&domain| domain.to_owned()).collect();
        self
    }

    /// Adds a line to a rung's provider.
    #[must_use]
    pub fn provider(mut self, name: &str, line: &str) -> Self {
        let _ = writeln!(self.find(name).provider, "{line}");
        self
    }

    /// Sets the dialect of a rung's provider; without this it is `openai-chat`.
    #[must_use]
    pub fn dialect(mut self, name: &str, dialect: &str) -> Self {
        dialect.clone_into(&mut self.find(name).dialect);
        self
    }

    /// Has the relay read a rung's key from this file.
    #[must_use]
    pub fn key_file(mut self, name: &str, file: &std::path::Path) -> Self {
        self.find(name).key = format!("{{ file = {:?} }}", file.to_str().unwrap());
        self
    }

    fn find(&mut self, name: &str) -> &mut Rung {
        self.rungs.iter_mut().find(|rung| rung.name == name).expect("a rung of this set-up")
    }

    /// Adds a line to `[ladders.chat]`.
    #[must_use]
    pub fn ladder(mut self, line: &str) -> Self {
        let _ = writeln!(self.ladder, "{line}");
        self
    }

    /// Sets the ladder's clocks, such as `ttft = "1s"`.
    #[must_use]
    pub fn clocks(self, clocks: &str) -> Self {
        self.ladder(&format!("clocks = {{ {clocks} }}"))
    }

    /// Adds a line to `[journal]`.
    #[must_use]
    pub fn journal(mut self, line: &str) -> Self {
        let _ = writeln!(self.journal, "{line}");
        self
    }

    /// Adds whole tables.
    #[must_use]
    pub fn extra(mut self, tables: &str) -> Self {
        let _ = writeln!(self.extra, "{tables}");
        self
    }

    /// Sets a variable in the relay's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn environment(&self) -> &[(String, String)] {
        &self.env
    }

    /// The config as TOML, with its journal at `journal`.
    #[must_use]
    pub fn toml(&self, journal: &str) -> String {
        let mut toml = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n{}\n[admin]\nlisten = \"127.0.0.1:0\"\n{}\n[journal]\npath = \"{journal}\"\n{}\n",
            self.server, self.admin, self.journal
        );
        for Rung { name, dialect, base_url, key, provider, keys, domains } in &self.rungs {
            let _ = writeln!(
                toml,
                "[providers.p-{name}]\ndialect = \"{dialect}\"\nbase_url = \"{base_url}\"\napi_key = {key}\n{provider}"
            );
            let _ = writeln!(
                toml,
                "[rungs.{name}]\nprovider = \"p-{name}\"\nmodel = \"model-{name}\"\ndomains = {domains:?}\n{keys}"
            );
        }
        let names: Vec<String> =
            self.rungs.iter().map(|rung| format!("\"{}\"", rung.name)).collect();
        let _ = writeln!(
            toml,
            "[ladders.chat]\nrungs = [{}]\n{}\n{}",
            names.join(", "),
            self.ladder,
            self.extra
        );
        toml
    }
}

fn key_variable(rung: &str) -> String {
    format!("UPSTREAM_KEY_{}", rung.to_uppercase())
}

/// The key that the relay holds for a rung's provider.
#[must_use]
pub fn key_of(rung: &str) -> String {
    format!("{KEY}-{rung}")
}
