//! A small HTTP client that shows what a real one hides: where chunks begin, and whether a body
//! came to its proper end.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::super::pace::Pace;

/// How a body ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With its last chunk.
    Proper,
    /// Without its last chunk.
    Cut,
    /// It was still open when the test stopped reading.
    Open,
}

/// A response as it came.
#[derive(Debug)]
pub(super) struct Reply {
    /// Empty if none came.
    pub(super) head: String,
    /// The chunks and when they came, in milliseconds since the request.
    pub(super) chunks: Vec<(u64, Vec<u8>)>,
    pub(super) end: End,
}

impl Reply {
    pub(super) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }

    pub(super) fn body(&self) -> String {
        let bytes = self.chunks.iter().flat_map(|(_, chunk)| chunk.clone()).collect();
        String::from_utf8(bytes).unwrap()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body()).unwrap()
    }

    /// The data of all events.
    pub(super) fn data(&self) -> Vec<String> {
        let body = self.body();
        let events = body.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
        events.map(Into::into).collect()
    }

    /// The same as JSON, without data that is not JSON.
    pub(super) fn events(&self) -> Vec<Value> {
        self.data().iter().filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// All events of any dialect, with their names.
    pub(super) fn frames(&self) -> Vec<(String, Value)> {
        let body = self.body().replace("\r\n", "\n");
        let frames = body.split_terminator("\n\n").filter_map(|frame| {
            let mut lines = frame.lines();
            let first = lines.next()?;
            let (name, data) = match first.strip_prefix("event: ") {
                Some(name) => (name, lines.next()?),
                None => ("", first),
            };
            let data = serde_json::from_str(data.strip_prefix("data: ")?).unwrap_or_default();
            Some((name.into(), data))
        });
        frames.collect()
    }

    /// The names of all events, a run of the same one counting as one.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.frames().into_iter().map(|(name, _)| name).collect();
        names.dedup();
        names
    }

    /// The texts at this pointer in all events, joined.
    pub(super) fn said(&self, pointer: &str) -> String {
        let frames = self.frames();
        let texts = frames.iter().filter_map(|(_, data)| data.pointer(pointer)?.as_str());
        texts.collect()
    }

    /// The tokens of text.
    pub(super) fn tokens(&self) -> Vec<String> {
        let tokens = self.events().into_iter().filter_map(|event| {
            let token = event["choices"][0]["delta"]["content"].as_str()?.to_owned();
            (!token.is_empty()).then_some(token)
        });
        tokens.collect()
    }

    /// The finish reason.
    pub(super) fn finish(&self) -> Option<String> {
        let events = self.events();
        let mut reasons =
            events.iter().filter_map(|event| event["choices"][0]["finish_reason"].as_str());
        reasons.next().map(Into::into)
    }
}

/// Sends a request and reads the answer until it ends, for a second and a half at most.
pub(super) async fn ask(addr: SocketAddr, body: &Value) -> Reply {
    watch(addr, body, Duration::from_millis(1500)).await
}

/// Sends a request and reads the answer for this long; then the connection is dropped.
pub(super) async fn watch(addr: SocketAddr, body: &Value, time: Duration) -> Reply {
    let extra = "authorization: Bearer sk-secret\r\n";
    send(addr, "POST /v1/chat/completions", extra, &body.to_string(), time).await
}

/// Sends any request.
pub(super) async fn call(addr: SocketAddr, line: &str, body: &str) -> Reply {
    send(addr, line, "", body, Duration::from_secs(2)).await
}

/// Sends any request with these headers, `a: b` each.
pub(super) async fn post(addr: SocketAddr, path: &str, headers: &[&str], body: &Value) -> Reply {
    let extra: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let time = Duration::from_millis(1500);
    send(addr, &format!("POST {path}"), &extra, &body.to_string(), time).await
}

async fn send(addr: SocketAddr, line: &str, extra: &str, body: &str, time: Duration) -> Reply {
    let pace = Pace::start();
    let mut socket = TcpStream::connect(addr).await.unwrap();
    let length = body.len();
    let request =
        format!("{line} HTTP/1.1\r\nhost: mock\r\n{extra}content-length: {length}\r\n\r\n{body}");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut reply = Reply { head: String::new(), chunks: Vec::new(), end: End::Open };
    let _ = timeout(time, reply.read(&mut socket, pace)).await;
    reply
}

impl Reply {
    async fn read(&mut self, socket: &mut TcpStream, pace: Pace) {
        let mut raw = Vec::new();
        loop {
            let end = self.take(&mut raw, pace);
            if end != End::Open {
                self.end = end;
                return;
            }
            if socket.read_buf(&mut raw).await.unwrap_or(0) == 0 {
                self.end = End::Cut;
                return;
            }
        }
    }

    /// Takes complete parts off what was read.
    fn take(&mut self, raw: &mut Vec<u8>, pace: Pace) -> End {
        if self.head.is_empty() {
            let Some(end) = raw.windows(4).position(|four| four == b"\r\n\r\n") else {
                return End::Open;
            };
            let head: Vec<u8> = raw.drain(..end + 4).collect();
            self.head = String::from_utf8(head).unwrap();
        }
        if let Some(length) = self.header("content-length") {
            if raw.len() < length.parse().unwrap() {
                return End::Open;
            }
            self.chunks.push((pace.elapsed_ms(), std::mem::take(raw)));
            return End::Proper;
        }
        while let Some(line) = raw.windows(2).position(|two| two == b"\r\n") {
            let size = std::str::from_utf8(&raw[..line]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            if raw.len() < line + 2 + size + 2 {
                break;
            }
            let chunk = raw[line + 2..line + 2 + size].to_vec();
            raw.drain(..line + 2 + size + 2);
            if size == 0 {
                return End::Proper;
            }
            self.chunks.push((pace.elapsed_ms(), chunk));
        }
        End::Open
    }
}
