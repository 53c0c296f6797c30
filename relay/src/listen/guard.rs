//! Host and Origin: a web page of somebody else's must not be able to use a
//! relay that only its machine's owner is meant to reach.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use std::sync::Arc;

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
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
            Self::Host => "foreign_host",
            Self::Origin => "foreign_origin",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
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
#[derive(Debug, Clone)]
pub struct Guard {
    /// Whether every caller brings a key; if not, only loopback names are taken as Host.
    pub keyed: bool,
    /// Origins whose pages may call.
    pub origins: Arc<[String]>,
    /// Makes the refusal in the listener's own shape.
    pub refuse: fn(Foreign) -> Response,
}

impl Guard {
    /// Refuses foreign hosts and origins; answers preflights of named origins.
    pub async fn pass(self, request: Request, next: Next) -> Response {
        let headers = request.headers();
        if !self.keyed && !host(headers).is_none_or(is_loopback) {
            return (self.refuse)(Foreign::Host);
        }
        let Some(origin) = headers.get(header::ORIGIN).cloned() else {
            return next.run(request).await;
        };
        let named = self.origins.iter().any(|known| origin.as_bytes() == known.as_bytes());
        if !named && !is_same_origin(&origin, headers) {
            return (self.refuse)(Foreign::Origin);
        }
        if named { cross_origin(origin, request, next).await } else { next.run(request).await }
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
    } else {
        let exposed = HeaderValue::from_static(
            "x-should-retry, retry-after, x-belay-request-id, x-belay-rung, x-belay-attempts, \
             x-belay-hedged, x-belay-ttft-ms, x-belay-latency-ms, x-belay-input-tokens, \
             x-belay-output-tokens, x-belay-estimated, x-belay-cost-usd, x-belay-outcome",
        );
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

fn host(headers: &HeaderMap) -> Option<&str> {
    // An unreadable Host is a foreign one.
    headers.get(header::HOST).map(|value| value.to_str().unwrap_or("?"))
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A page that this very listener served, on the name it was called by.
fn is_same_origin(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
    origin.is_some() && origin == host(headers)
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
}
