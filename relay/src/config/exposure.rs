//! Checks that no listener can be reached from outside without a key or token.

use super::admin::Admin;
use super::report::At;
use super::server::Server;
use super::tree::Table;
use std::net::{IpAddr, SocketAddr};

/// Checks both listeners; `clients` says whether any client is configured.
pub(super) fn check(root: &Table<'_>, server: &Server, admin: &Admin, clients: bool) {
    let report = root.report;
    // An address that could not be read has its error already; what stands in
    // for it proves nothing.
    let server_read = !report.failed("server.listen");
    let admin_read = !report.failed("admin.listen");
    if server_read && !clients && !report.failed("clients") && !loopback(server.listen.ip()) {
        let text = "without a client configured anybody could spend the providers' money";
        let fix = "add a [clients.*] with a key_sha256 (belay hash-key), or listen on 127.0.0.1";
        report.error(&place(root, "server"), text, fix);
    }
    if admin_read
        && admin.tokens.is_empty()
        && !report.failed("admin.tokens")
        && !loopback(admin.listen.ip())
    {
        let text = "without a token anybody could operate this relay";
        let fix = "add admin.tokens, or listen on 127.0.0.1";
        report.error(&place(root, "admin"), text, fix);
    }
    if server_read && admin_read && overlap(server.listen, admin.listen) {
        // At the address that was written, if the other one is a default.
        let (here, other, taken) = if root.peek("admin", "listen").is_some() {
            ("admin", "server", server.listen)
        } else {
            ("server", "admin", admin.listen)
        };
        let text = format!("takes the address of {other}.listen, {taken}");
        report.error(&place(root, here), text, "give each its own port");
    }
}

/// Where the address of a listener was written.
fn place(root: &Table<'_>, section: &str) -> At {
    let default = || root.at.child(section).child("listen");
    root.peek(section, "listen").map_or_else(default, |value| value.at)
}

fn loopback(ip: IpAddr) -> bool {
    // `::ffff:127.0.0.1` is loopback too.
    ip.to_canonical().is_loopback()
}

/// Whether two listeners cannot stand side by side. Port 0 is a free one each.
fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
    let (from, to) = (a.ip().to_canonical(), b.ip().to_canonical());
    // `[::]` takes IPv4 as well.
    let covers =
        |all: IpAddr, one: IpAddr| all.is_unspecified() && (all.is_ipv6() || one.is_ipv4());
    a.port() == b.port() && a.port() != 0 && (from == to || covers(from, to) || covers(to, from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listeners_that_cannot_stand_side_by_side_overlap() {
        for (a, b, expected) in [
            ("127.0.0.1:1", "127.0.0.1:1", true),
            ("127.0.0.1:1", "127.0.0.1:2", false),
            ("127.0.0.1:0", "127.0.0.1:0", false),
            ("0.0.0.0:1", "127.0.0.1:1", true),
            ("127.0.0.1:1", "[::]:1", true),
            ("127.0.0.1:1", "[::1]:1", false),
            ("0.0.0.0:1", "[::1]:1", false),
        ] {
            let (a, b): (SocketAddr, SocketAddr) = (a.parse().unwrap(), b.parse().unwrap());
            assert_eq!(overlap(a, b), expected, "{a} {b}");
            assert_eq!(overlap(b, a), expected, "{b} {a}");
        }
    }
}
