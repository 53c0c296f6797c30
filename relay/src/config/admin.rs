//! `[admin]`: the operators' listener, its tokens, and what the relay is called.

use super::hash;
use super::tree::{Table, Value};
use std::net::{Ipv4Addr, SocketAddr};

/// The admin listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    /// Where the console connects. Anything but loopback needs a token.
    /// Default 127.0.0.1:8788.
    pub listen: SocketAddr,
    /// What the console calls this relay, such as `eu-1`. Default none.
    pub name: Option<String>,
    /// Its environment, such as `production`. Default none.
    pub env: Option<String>,
    /// Whether taking a ladder's last rung needs `env` to be typed. Default false.
    pub protected: bool,
    /// Who may connect. Default nobody by name: then loopback alone.
    pub tokens: Vec<Token>,
}

impl Default for Admin {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8788)),
            name: None,
            env: None,
            protected: false,
            tokens: Vec::new(),
        }
    }
}

/// An operator's bearer token, known by its hash alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The author of what is done with it; no two tokens share it.
    pub name: String,
    /// What it permits.
    pub role: Role,
    /// SHA-256 of the token.
    pub sha256: [u8; 32],
}

/// What a token permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// To look.
    Viewer,
    /// To look and to change.
    Operator,
}

/// The roles and their words.
const ROLES: &[(&str, Role)] = &[("viewer", Role::Viewer), ("operator", Role::Operator)];

/// Reads `[admin]`.
pub(super) fn read(root: &Table<'_>) -> Admin {
    let default = Admin::default();
    let Some(table) = root.get("admin").and_then(|value| value.table()) else {
        return default;
    };
    let admin = Admin {
        listen: table.address("listen").unwrap_or(default.listen),
        name: table.text("name"),
        env: table.text("env"),
        protected: table.flag("protected").unwrap_or(default.protected),
        tokens: table.get("tokens").map(|value| tokens(&value)).unwrap_or_default(),
    };
    if admin.protected && admin.env.is_none() && !table.report.failed(&table.at.child("env").key) {
        let text = "a protected relay asks for its env to be typed, and has none";
        let fix = "add such as env = \"production\"";
        table.report.error(&table.at.child("env"), text, fix);
    }
    table.check_keys();
    admin
}

fn tokens(value: &Value<'_>) -> Vec<Token> {
    let example = "write [{ name = \"ann\", role = \"operator\", sha256 = \"…\" }]";
    let mut tokens: Vec<Token> = Vec::new();
    for element in value.list(example).unwrap_or_default() {
        let Some(table) = element.table() else { continue };
        let name = table.need("name", "\"ann\"").and_then(|value| {
            let name = value.text()?;
            if tokens.iter().any(|earlier| earlier.name == name) {
                value.error("another token has this name", "give each its own: it signs actions");
            }
            Some(name.to_owned())
        });
        let role = table.need("role", "\"operator\"").and_then(|value| value.word(ROLES));
        let sha256 = table.need("sha256", "\"<64 hex digits>\"").and_then(|value| {
            let sha256 = hash::read(&value)?;
            if tokens.iter().any(|earlier| earlier.sha256 == sha256) {
                value.error(
                    "another entry has this token",
                    "give each operator a token of their own",
                );
            }
            Some(sha256)
        });
        table.check_keys();
        if let (Some(name), Some(role), Some(sha256)) = (name, role, sha256) {
            tokens.push(Token { name, role, sha256 });
        }
    }
    tokens
}
