//! Host and Origin: a foreign web page must not be able to use a
//! relay that only its machine's owner is meant to reach.
//!
//! A request must also say once, and only once, which host it is for: where two
//! proxies read two answers into it, one of them can be made to let it pass.

use crate::drive::Hub;
use crate::wall;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The second of the last log line about an origin: there is one a second at the most.
static LOGGED: AtomicI64 = AtomicI64::new(0);

/// Seconds for which a browser may remember a preflight's answer. Without it each request
/// costs a second one.
const PREFLIGHT_LASTS: &str = "3600";

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// It names no host, or more than one.
    Ambiguous,
    /// It came under a name that is not this machine's.
    Host,
    /// It came from a page of an origin that is not named.
    Origin,
}

impl Foreign {
    /// A short name for it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Ambiguous => "ambiguous_host",
            Self::Host => "foreign_host",
            Self::Origin => "foreign_origin",
        }
    }

    /// The status of the refusal.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Ambiguous => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Ambiguous => {
                "The request must have exactly one Host header, which names the relay. Send one."
            }
            Self::Host => {
                "This listener answers to localhost only. Call it by that name, or configure a \
                 client or token and a listen address of your own."
            }
            Self::Origin => {
                "Pages of this origin may not call the relay. Name it in server.cors_origins."
            }
        }
    }
}

/// What a listener lets in.
pub struct Guard {
    /// Counts what is refused.
    pub relay: Arc<Hub>,
    /// Whether every caller brings a key; if not, only loopback names are taken as Host.
    pub keyed: bool,
    /// Origins whose pages may call.
    pub origins: Arc<[String]>,
    /// Makes the refusal in the listener's own shape.
    pub refuse: fn(Foreign) -> Response,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("keyed", &self.keyed).finish_non_exhaustive()
    }
}

impl Guard {
    /// Refuses foreign hosts and origins; answers preflights of named origins.
    pub async fn pass(self, request: Request, next: Next) -> Response {
        let headers = request.headers();
        let Some(host) = host(&request) else { return self.refused(Foreign::Ambiguous, None) };
        if !self.keyed && !host.is_none_or(is_loopback) {
            return self.refused(Foreign::Host, None);
        }
        let Some(origin) = headers.get(header::ORIGIN).cloned() else {
            return next.run(request).await;
        };
        let named = self.origins.iter().any(|known| origin.as_bytes() == known.as_bytes());
        if !named && !is_same_origin(&origin, host) {
            return self.refused(Foreign::Origin, Some(&origin));
        }
        if named { cross_origin(origin, request, next).await } else { next.run(request).await }
    }

    /// An operator who forgot to name an origin finds it in the log; strangers cannot fill it.
    fn refused(&self, foreign: Foreign, origin: Option<&HeaderValue>) -> Response {
        self.relay.metrics.rejected(foreign.code());
        let second = wall::unix().0 / 1000;
        if let Some(origin) = origin
            && LOGGED.swap(second, Ordering::Relaxed) != second
        {
            tracing::warn!(?origin, "a page of this origin was refused; see server.cors_origins");
        }
        (self.refuse)(foreign)
    }
}

async fn cross_origin(origin: HeaderValue, request: Request, next: Next) -> Response {
    let preflight = request.method() == Method::OPTIONS;
    let asked = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let mut response =
        if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    allow(response.headers_mut(), origin, preflight, asked);
    response
}

fn allow(
    headers: &mut HeaderMap,
    origin: HeaderValue,
    preflight: bool,
    asked: Option<HeaderValue>,
) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if preflight {
        let methods = HeaderValue::from_static("GET, POST");
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        if let Some(asked) = asked {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked);
        }
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_LASTS));
    } else {
        let exposed = HeaderValue::from_static(
            "x-should-retry, retry-after, x-request-id, request-id, x-belay-request-id, \
             x-belay-rung, x-belay-attempts, \
             x-belay-hedged, x-belay-ttft-ms, x-belay-latency-ms, x-belay-input-tokens, \
             x-belay-output-tokens, x-belay-estimated, x-belay-cost-usd, x-belay-outcome",
        );
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

/// The host that the request is for: `None` if it names none or several. HTTP/1.0 need not
/// name one.
fn host(request: &Request) -> Option<Option<&str>> {
    let mut all = request.headers().get_all(header::HOST).iter();
    // An unreadable Host is a foreign one.
    let named = all.next().map(|value| value.to_str().unwrap_or("?"));
    let in_target = request.uri().authority().map(Authority::as_str);
    let may_be_missing = request.version() == Version::HTTP_10;
    let is_clear = all.next().is_none()
        && (named.is_some() || may_be_missing)
        && in_target.is_none_or(|target| named.is_none_or(|named| named == target));
    is_clear.then_some(named.or(in_target))
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A page that was served under the name by which this listener was called, by itself or by
/// a proxy in front of it that ends TLS.
fn is_same_origin(origin: &HeaderValue, host: Option<&str>) -> bool {
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let (Some((scheme, of)), Some(host)) = (origin, host) else { return false };
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    // Browsers leave a scheme's own port out of both.
    of == host.strip_suffix(port).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_loopback() {
        for name in ["localhost", "LOCALHOST:8787", "127.0.0.1:1", "127.8.8.8", "[::1]:8787"] {
            assert!(is_loopback(name), "{name}");
        }
        for name in ["evil.example", "localhost.evil.example", "10.0.0.1", "[fe80::1]", "", "?"] {
            assert!(!is_loopback(name), "{name}");
        }
    }
    #[test]
    fn a_page_of_the_same_host_is_no_stranger_whoever_ends_tls() {
        for (origin, host, same) in [
            ("http://127.0.0.1:8787", "127.0.0.1:8787", true),
            ("https://chat.example.com", "chat.example.com", true),
            ("https://chat.example.com", "chat.example.com:443", true),
            ("http://chat.example.com", "chat.example.com:80", true),
            ("https://chat.example.com:8443", "chat.example.com:8443", true),
            ("https://chat.example.com", "chat.example.com:8443", false),
            ("https://evil.example", "chat.example.com", false),
            ("null", "chat.example.com", false),
            ("file://chat.example.com", "chat.example.com", false),
        ] {
            let value = HeaderValue::from_static(origin);
            assert_eq!(is_same_origin(&value, Some(host)), same, "{origin} on {host}");
        }
    }

    #[test]
    fn a_request_names_its_host_once() {
        let request = |version, target: &str, hosts: &[&str]| {
            let builder = http::Request::builder().version(version).uri(target);
            let builder = hosts.iter().fold(builder, |all, host| all.header(header::HOST, *host));
            builder.body(axum::body::Body::empty()).unwrap()
        };
        let of = |version, target: &str, hosts: &[&str]| {
            host(&request(version, target, hosts)).map(|host| host.map(str::to_owned))
        };
        let one = |host: &str| Some(Some(host.to_owned()));
        assert_eq!(of(Version::HTTP_11, "/", &["a"]), one("a"));
        assert_eq!(of(Version::HTTP_11, "/", &["a", "a"]), None);
        assert_eq!(of(Version::HTTP_11, "/", &[]), None);
        assert_eq!(of(Version::HTTP_10, "/", &[]), Some(None));
        assert_eq!(of(Version::HTTP_11, "http://a/", &["a"]), one("a"));
        assert_eq!(of(Version::HTTP_11, "http://evil/", &["a"]), None);
    }
}
