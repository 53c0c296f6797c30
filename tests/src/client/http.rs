//! As much HTTP/1.1 as a client needs, read strictly.

use serde_json::Value;
use std::fmt::Write as _;
use std::net::SocketAddr;

/// A response's head.
#[derive(Debug, Clone)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// Names in the case they came in.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The value of a header, whatever its case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// A request's bytes. `Host` and, with a body, `Content-Type` and its length
/// are supplied where `headers` do not name them.
#[must_use]
pub fn request(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&[u8]>,
) -> Vec<u8> {
    let named = |wanted: &str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    if !named("host") {
        let _ = write!(head, "Host: {to}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if let Some(body) = body {
        if !named("content-type") {
            head.push_str("Content-Type: application/json\r\n");
        }
        if !named("content-length") && !named("transfer-encoding") {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    bytes
}

/// A request for a completion.
#[must_use]
pub(crate) fn completion(to: SocketAddr, headers: &[(&str, &str)], body: &Value) -> Vec<u8> {
    request(to, "POST", "/v1/chat/completions", headers, Some(body.to_string().as_bytes()))
}

/// Reads a head; gives it and its length once it is whole.
pub(super) fn parse_head(bytes: &[u8]) -> Option<(Head, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&bytes[..end]).expect("a head is text");
    let mut lines = text.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line.split(' ').nth(1).and_then(|text| text.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no status line: {status_line:?}"));
    let headers = lines
        .map(|line| line.split_once(':').unwrap_or_else(|| panic!("no header line: {line:?}")))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    Some((Head { status, headers }, end + 4))
}

/// Takes a chunked body apart; gives it and its length once it is whole.
#[must_use]
pub fn dechunk(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let (length, start) = chunk_length(&bytes[at..])?;
        at += start;
        let chunk = bytes.get(at..at + length + 2)?;
        assert_eq!(&chunk[length..], b"\r\n", "a chunk ends with CRLF");
        body.extend_from_slice(&chunk[..length]);
        at += length + 2;
        if length == 0 {
            return Some((body, at));
        }
    }
}

/// The length of the chunk that begins here, and where its bytes start.
pub(super) fn chunk_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    let text = std::str::from_utf8(&bytes[..end]).expect("a chunk's length is text");
    let digits = text.split(';').next().unwrap_or_default().trim();
    Some((usize::from_str_radix(digits, 16).expect("a chunk's length is hex"), end + 2))
}
