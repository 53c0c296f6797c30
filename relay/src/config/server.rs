//! `[server]`: the listener that clients connect to, and its limits.

use super::report::shown;
use super::stamp::{self, Stamp};
use super::tree::{Table, Value};
use super::units::{CLOCK, GIB, KIB, PAUSE};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// The data plane's listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Where clients connect. Anything but loopback needs a configured client.
    /// Default 127.0.0.1:8787.
    pub listen: SocketAddr,
    /// How long a stream's status is held back before the 200 goes out without
    /// a token. Default 20 s.
    pub early_headers: Duration,
    /// A comment follows whenever nothing was written for this long. Default 10 s.
    pub heartbeat: Duration,
    /// What clients are told beside their answers. Default `None`: see
    /// [`Config::stamp`](super::Config::stamp).
    pub stamp: Option<Stamp>,
    /// Largest request body, in bytes, 1 KiB to 1 GiB. Default 32 MiB.
    pub max_body: usize,
    /// The most bytes of requests, and of answers not yet passed on, that are held at the same
    /// time, 1 KiB to 1 TiB. Default 512 MiB.
    pub max_in_flight_bytes: usize,
    /// Largest upstream event, in bytes, 1 KiB to 1 GiB. Default 8 MiB.
    pub max_event: usize,
    /// Requests served at the same time, 1 to 1,000,000. Default 10,000.
    pub max_requests: usize,
    /// How long a client may leave its stream unread. Default 30 s.
    pub client_write_timeout: Duration,
    /// How long streams may run on after the order to stop; zero cuts them at
    /// once. Default 30 s.
    pub drain: Duration,
    /// Browser origins besides the relay's own, in lower case, such as
    /// `https://chat.example.com`. Default none.
    pub cors_origins: Vec<String>,
    /// Fields of clients' requests that rungs of other dialects may go without, as paths
    /// without places, such as `tools[].x_hint`. Default none beside those that are known.
    pub ignore_fields: Arc<[String]>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8787)),
            early_headers: policy::LadderSpec::default().early_headers,
            heartbeat: Duration::from_secs(10),
            stamp: None,
            max_body: 32 << 20,
            max_in_flight_bytes: 512 << 20,
            max_event: 8 << 20,
            max_requests: 10_000,
            client_write_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            cors_origins: Vec::new(),
            ignore_fields: Arc::default(),
        }
    }
}

/// Reads `[server]`.
pub(super) fn read(root: &Table<'_>) -> Server {
    let default = Server::default();
    let Some(table) = root.get("server").and_then(|value| value.table()) else {
        return default;
    };
    let size_up_to = |most, key, standard: usize| {
        let bytes = table.size(key, &(KIB..=most));
        bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(standard)
    };
    let size = |key, standard| size_up_to(GIB, key, standard);
    let server = Server {
        listen: table.address("listen").unwrap_or(default.listen),
        early_headers: table.duration("early_headers", &CLOCK).unwrap_or(default.early_headers),
        heartbeat: table.duration("heartbeat", &CLOCK).unwrap_or(default.heartbeat),
        stamp: table.get("stamp").and_then(|value| stamp::read(&value)),
        max_body: size("max_body", default.max_body),
        max_in_flight_bytes: size_up_to(
            1024 * GIB,
            "max_in_flight_bytes",
            default.max_in_flight_bytes,
        ),
        max_event: size("max_event", default.max_event),
        max_requests: table
            .integer("max_requests", 1..=1_000_000)
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(default.max_requests),
        client_write_timeout: table
            .duration("client_write_timeout", &CLOCK)
            .unwrap_or(default.client_write_timeout),
        drain: table.duration("drain", &PAUSE).unwrap_or(default.drain),
        cors_origins: table.get("cors_origins").map(|value| origins(&value)).unwrap_or_default(),
        ignore_fields: table.get("ignore_fields").map(|value| fields(&value)).unwrap_or_default(),
    };
    table.check_keys();
    server
}

fn origins(value: &Value<'_>) -> Vec<String> {
    let mut origins = Vec::new();
    for (text, element) in value.texts().unwrap_or_default() {
        let origin = text.to_ascii_lowercase();
        if is_origin(&origin) {
            origins.push(origin);
        } else {
            let fix = "write scheme and host as browsers send them, such as \
                       \"https://chat.example.com\": no path, no '*'";
            element.error(format!("'{}' is no origin", shown(text)), fix);
        }
    }
    origins
}

fn fields(value: &Value<'_>) -> Arc<[String]> {
    let mut fields = Vec::new();
    for (text, element) in value.texts().unwrap_or_default() {
        if is_path(text) {
            fields.push(text.to_owned());
        } else {
            let fix = "write its path as errors name it, without numbers, such as \
                       \"x_trace\" or \"tools[].x_hint\"";
            element.error(format!("'{}' is no field of a request", shown(text)), fix);
        }
    }
    fields.into()
}

/// Names with points between them, each for all elements where `[]` follows.
fn is_path(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    text.split('.').all(|name| {
        let name = name.strip_suffix("[]").unwrap_or(name);
        !name.is_empty() && name.chars().all(fits)
    })
}

/// `scheme://host[:port]` and nothing more: it is compared with the whole header.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host, None),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
    // Extensions and desktop shells have schemes of their own.
    !scheme.is_empty()
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !host.is_empty()
        && host.chars().all(fits)
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_without_their_places() {
        for good in ["x_trace", "a.b", "tools[].function.x-hint", "a[].b[]"] {
            assert!(is_path(good), "{good}");
        }
        for bad in ["", "a..b", "tools[0].x", "[]", "a b", "$.x"] {
            assert!(!is_path(bad), "{bad}");
        }
    }

    #[test]
    fn origins_are_scheme_host_port_alone() {
        for good in ["https://a.example", "http://localhost:3000", "http://[::1]:80", "app://x"] {
            assert!(is_origin(good), "{good}");
        }
        for bad in ["*", "null", "a.example", "https://a.example/", "https://", "https://a:0"] {
            assert!(!is_origin(bad), "{bad}");
        }
    }
}
