//! The client: one keep-alive connection per open stream, taken from a pool, every byte checked.

use crate::chunked::Reader;
use crate::wire::{Answer, Order};
use crate::{Res, clock};
use std::cell::RefCell;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What the clients of one scenario saw, while they were told to note it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Whether this is the measured window.
    pub(crate) noting: bool,
    /// Token events in the window.
    pub(crate) events: u64,
    /// Reads that brought at least one of them.
    pub(crate) reads: u64,
    /// Streams that ended in the window.
    pub(crate) streams: u64,
    /// Request written to first token, in nanoseconds.
    pub(crate) ttft: Vec<u64>,
    /// Event sent by the mock to event read, in nanoseconds, first tokens left out.
    pub(crate) delay: Vec<u64>,
    /// Streams open now.
    pub(crate) open: usize,
    /// Complete, in order, byte for byte; over the whole run.
    pub(crate) whole: u64,
    /// All others.
    pub(crate) broken: u64,
    /// What was wrong with the first of those.
    pub(crate) first_trouble: Option<String>,
}

/// Clients of one target.
#[derive(Debug)]
pub(crate) struct Clients {
    target: SocketAddr,
    idle: RefCell<Vec<TcpStream>>,
    /// What they saw.
    pub(crate) seen: RefCell<Seen>,
}

impl Clients {
    /// Of this target; nothing is connected yet.
    pub(crate) fn new(target: SocketAddr) -> Self {
        Self { target, idle: RefCell::default(), seen: RefCell::default() }
    }

    /// Runs one stream to its end and counts it.
    pub(crate) async fn stream(&self, order: Order) {
        let outcome = self.run(order).await;
        let mut seen = self.seen.borrow_mut();
        match outcome {
            Ok(()) => {
                seen.whole += 1;
                seen.streams += u64::from(seen.noting);
            }
            Err(error) => {
                seen.broken += 1;
                seen.first_trouble.get_or_insert_with(|| error.to_string());
            }
        }
    }

    async fn connect(&self) -> Res<TcpStream> {
        let socket = TcpStream::connect(self.target).await?;
        socket.set_nodelay(true)?;
        Ok(socket)
    }

    async fn run(&self, order: Order) -> Res<()> {
        let pooled = self.idle.borrow_mut().pop();
        let reused = pooled.is_some();
        let mut socket = match pooled {
            Some(socket) => socket,
            None => self.connect().await?,
        };
        let mut buffer = Vec::with_capacity(8192);
        let request = order.request();
        let mut started = clock::now();
        let sent = socket.write_all(&request).await;
        let stale = sent.is_err() || socket.read_buf(&mut buffer).await.unwrap_or(0) == 0;
        if stale {
            if !reused {
                return Err("closed without an answer".into());
            }
            // The target closed an idle connection meanwhile: its right.
            socket = self.connect().await?;
            started = clock::now();
            socket.write_all(&request).await?;
        }
        self.seen.borrow_mut().open += 1;
        let outcome = self.read(&mut socket, &mut buffer, order, started).await;
        self.seen.borrow_mut().open -= 1;
        if !outcome? {
            self.idle.borrow_mut().push(socket);
        }
        Ok(())
    }

    /// Reads an answer to its end; true if the connection ends with it.
    async fn read(
        &self,
        socket: &mut TcpStream,
        buffer: &mut Vec<u8>,
        order: Order,
        started: u64,
    ) -> Res<bool> {
        let mut reader = Reader::new();
        let mut answer = Answer::default();
        loop {
            let now = clock::now();
            let over = {
                let seen = &mut *self.seen.borrow_mut();
                let before = seen.events;
                let mut token = |number: u32, sent: u64| {
                    if !seen.noting {
                        return;
                    }
                    seen.events += 1;
                    match number {
                        0 => seen.ttft.push(now - started),
                        _ => seen.delay.push(now.saturating_sub(sent)),
                    }
                };
                let over = reader.take(buffer, |data| answer.take(data, &mut token))?;
                seen.reads += u64::from(seen.events > before);
                over
            };
            buffer.clear();
            if over {
                break;
            }
            if socket.read_buf(buffer).await? == 0 {
                return Err("the body ended early".into());
            }
        }
        if !answer.complete(order.events) {
            return Err("the answer is not the one that was sent".into());
        }
        Ok(reader.close)
    }
}
