//! One request under way: reads step by step, so that a test can act in between.

use super::answer::{Answer, Read};
use super::http::{self, Head};
use super::sse::{self, Event};
use crate::clock;
use socket2::SockRef;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As HTTP says a body ends.
    Proper,
    /// The connection was closed before that.
    Cut,
    /// The connection was reset before that.
    Reset,
}

/// One request under way.
#[derive(Debug)]
pub struct Exchange {
    stream: TcpStream,
    sent_at: Instant,
    /// Undecoded bytes.
    pending: Vec<u8>,
    head: Option<(Head, Duration)>,
    body: Vec<u8>,
    reads: Vec<Read>,
    end: Option<(End, Duration)>,
}

impl Exchange {
    /// Connects and sends these bytes.
    pub async fn start(to: SocketAddr, bytes: &[u8]) -> Self {
        let stream = TcpStream::connect(to).await.expect("the relay accepts connections");
        Self::over(stream, bytes).await
    }

    /// As [`Exchange::start`], with a small receive buffer, for clients that do not read.
    pub async fn start_narrow(to: SocketAddr, bytes: &[u8]) -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 * 1024).unwrap();
        let stream = socket.connect(to).await.expect("the relay accepts connections");
        Self::over(stream, bytes).await
    }

    /// Sends these bytes on an open connection.
    pub async fn over(mut stream: TcpStream, bytes: &[u8]) -> Self {
        stream.set_nodelay(true).unwrap();
        let sent_at = clock::now();
        // A server may answer and close before it has read all; its answer is what counts.
        let _ = stream.write_all(bytes).await;
        Self {
            stream,
            sent_at,
            pending: Vec::new(),
            head: None,
            body: Vec::new(),
            reads: Vec::new(),
            end: None,
        }
    }

    /// When the request was sent.
    #[must_use]
    pub const fn sent_at(&self) -> Instant {
        self.sent_at
    }

    /// One read; false once the answer has ended.
    pub async fn more(&mut self) -> bool {
        self.more_at_most(256 * 1024).await
    }

    /// One read of at most so many bytes; false once the answer has ended.
    pub async fn more_at_most(&mut self, bytes: usize) -> bool {
        if self.end.is_some() {
            return false;
        }
        let mut block = vec![0; bytes];
        let read = clock::within("more of the answer", self.stream.read(&mut block)).await;
        let at = self.sent_at.elapsed();
        match read {
            Ok(0) => self.ended(at, self.length_is_open().then_some(End::Proper)),
            Ok(length) => {
                self.pending.extend_from_slice(&block[..length]);
                self.decode(at);
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                self.end = Some((End::Reset, at));
            }
            Err(_) => self.ended(at, None),
        }
        self.end.is_none()
    }

    fn ended(&mut self, at: Duration, end: Option<End>) {
        self.end = Some((end.unwrap_or(End::Cut), at));
    }

    /// Whether the end of the connection is the end of the body.
    fn length_is_open(&self) -> bool {
        self.head.as_ref().is_some_and(|(head, _)| {
            head.header("transfer-encoding").is_none() && head.header("content-length").is_none()
        })
    }

    fn decode(&mut self, at: Duration) {
        if self.head.is_none() {
            let Some((head, length)) = http::parse_head(&self.pending) else { return };
            self.pending.drain(..length);
            self.head = Some((head, at));
        }
        let Some((head, _)) = &self.head else { return };
        let before = self.body.len();
        let mut whole = head.status == 204;
        if head.header("transfer-encoding").is_some() {
            while let Some((length, start)) = http::chunk_length(&self.pending) {
                let Some(chunk) = self.pending.get(start..start + length + 2) else { break };
                assert_eq!(&chunk[length..], b"\r\n", "a chunk ends with CRLF");
                self.body.extend_from_slice(&chunk[..length]);
                self.pending.drain(..start + length + 2);
                whole |= length == 0;
            }
        } else {
            self.body.append(&mut self.pending);
            let length = head.header("content-length").and_then(|text| text.parse().ok());
            whole |= length.is_some_and(|length: usize| self.body.len() >= length);
        }
        if self.body.len() > before {
            self.reads.push(Read { at, end: self.body.len() });
        }
        if whole {
            self.end = Some((End::Proper, at));
        }
    }

    /// The head; waits for it.
    pub async fn head(&mut self) -> Head {
        while self.head.is_none() && self.more().await {}
        self.head.clone().expect("the relay answers").0
    }

    /// The head, if it is there.
    #[must_use]
    pub const fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// The body so far, and the reads that it came in.
    #[must_use]
    pub fn so_far(&self) -> (&[u8], &[Read]) {
        (&self.body, &self.reads)
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        sse::whole_events(&self.body, &self.reads)
    }

    /// Reads until the text so far ends with `words`.
    pub async fn until_text(&mut self, words: &str) {
        while !sse::text(&self.events()).ends_with(words) {
            assert!(self.more().await, "the answer ended before {words:?}: {self:?}");
        }
    }

    /// Reads to the end of the answer.
    pub async fn finish(mut self) -> Answer {
        while self.more().await {}
        let (head, head_at) = self.head.expect("the relay answers");
        let (end, end_at) = self.end.expect("read to its end");
        Answer {
            status: head.status,
            head,
            body: self.body,
            reads: self.reads,
            end,
            head_at,
            end_at,
            sent_at: self.sent_at,
        }
    }

    /// Reads to the answer's proper end, then sends these bytes on the same connection.
    pub async fn then(mut self, bytes: &[u8]) -> Self {
        while self.more().await {}
        assert!(matches!(self.end, Some((End::Proper, _))), "a proper end: {:?}", self.end);
        Self::over(self.stream, bytes).await
    }

    /// Leaves as a client does that closes its socket; gives when.
    #[must_use]
    pub fn hang_up(self) -> Instant {
        let at = clock::now();
        drop(self.stream);
        at
    }

    /// Leaves with a reset; gives when.
    #[must_use]
    pub fn reset(self) -> Instant {
        let at = clock::now();
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).unwrap();
        drop(self.stream);
        at
    }
}
