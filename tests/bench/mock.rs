//! The provider: raw TCP, on threads of its own, stamping each event with the time it is sent.
//!
//! Requests are read by one small tokio loop. Events that are due later are written by the pacer,
//! one plain thread that sleeps until the next is due and writes straight to the socket: no
//! reactor, no timer wheel with its whole milliseconds, one system call per event.

use crate::wire::{HEAD, Order, find, put_end, put_event};
use crate::{Res, clock, random::Random};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};

/// A stream that has events left to send.
#[derive(Debug)]
struct Job {
    due: u64,
    socket: Arc<OwnedWriteHalf>,
    order: Order,
    next: u32,
    usage: bool,
    /// What the socket would not take yet.
    rest: Vec<u8>,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}
impl Eq for Job {}
impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Job {
    /// The earliest is the greatest, since the heap gives that first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.cmp(&self.due)
    }
}

/// Starts the mock; it runs until the process ends.
pub(crate) fn start() -> Res<SocketAddr> {
    let (ready, wait) = channel();
    std::thread::Builder::new().name("mock".into()).spawn(move || {
        let outcome = run(&ready);
        // Nobody listens any more once the address was given.
        let _ = ready.send(outcome.map_err(|error| error.to_string()));
    })?;
    Ok(wait.recv()??)
}

fn run(ready: &Sender<Result<SocketAddr, String>>) -> Res<SocketAddr> {
    let (jobs, queue) = channel();
    std::thread::Builder::new().name("pacer".into()).spawn(move || pace(&queue))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        ready.send(Ok(listener.local_addr()?))?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream, jobs.clone()));
        }
    })
}

/// Reads requests from one connection; answers at once what is due at once.
async fn serve(stream: TcpStream, jobs: Sender<Job>) {
    let (mut reader, writer) = stream.into_split();
    let socket = Arc::new(writer);
    let mut input = Vec::new();
    while let Some((order, usage)) = next_request(&mut reader, &mut input).await {
        let at_once = if order.gap_us == 0 { order.events } else { 1 };
        let mut out = HEAD.as_bytes().to_vec();
        for number in 0..at_once {
            put_event(&mut out, number, clock::now());
            if number + 1 == order.events {
                put_end(&mut out, order.events, usage);
            }
            if write_all(&socket, &out).await.is_err() {
                return;
            }
            out.clear();
        }
        if at_once < order.events {
            let due = clock::now() + u64::from(order.gap_us) * 1000;
            let socket = Arc::clone(&socket);
            if jobs.send(Job { due, socket, order, next: 1, usage, rest: Vec::new() }).is_err() {
                return;
            }
        }
    }
}

async fn write_all(socket: &OwnedWriteHalf, mut data: &[u8]) -> std::io::Result<()> {
    while !data.is_empty() {
        match socket.try_write(data) {
            Ok(written) => data = data.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                socket.writable().await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The next request on a connection, and whether it asks for usage.
async fn next_request(
    reader: &mut tokio::net::tcp::OwnedReadHalf,
    input: &mut Vec<u8>,
) -> Option<(Order, bool)> {
    loop {
        if let Some(end) = find(input, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(input.get(..end)?).to_ascii_lowercase();
            let length: usize =
                head.split("content-length:").nth(1)?.split("\r\n").next()?.trim().parse().ok()?;
            if input.len() >= end + 4 + length {
                let body = input.get(end + 4..end + 4 + length)?;
                let found = (Order::from_body(body)?, find(body, b"include_usage").is_some());
                input.drain(..end + 4 + length);
                return Some(found);
            }
        }
        if reader.read_buf(input).await.ok()? == 0 {
            return None;
        }
    }
}

/// Writes each event when it is due. Ends when the mock does.
fn pace(queue: &Receiver<Job>) {
    let mut heap: BinaryHeap<Job> = BinaryHeap::new();
    let mut random = Random::new(11);
    loop {
        let wait = heap.peek().map_or(1_000_000_000, |job| job.due.saturating_sub(clock::now()));
        match queue.recv_timeout(Duration::from_nanos(wait)) {
            Ok(job) => heap.push(job),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while heap.peek().is_some_and(|job| job.due <= clock::now()) {
            if let Some(job) = heap.pop().and_then(|job| write_next(job, &mut random)) {
                heap.push(job);
            }
        }
    }
}

/// Writes a job's next event; the job again if there is more to come.
fn write_next(mut job: Job, random: &mut Random) -> Option<Job> {
    let mut out = std::mem::take(&mut job.rest);
    if out.is_empty() {
        put_event(&mut out, job.next, clock::now());
        job.next += 1;
        if job.next == job.order.events {
            put_end(&mut out, job.order.events, job.usage);
        }
    }
    let written = match job.socket.try_write(&out) {
        Ok(written) => written,
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => 0,
        Err(_) => return None,
    };
    if written < out.len() {
        out.drain(..written);
        job.rest = out;
        job.due = clock::now() + 1_000_000;
        return Some(job);
    }
    if job.next == job.order.events {
        return None;
    }
    // Gaps from half to one and a half, so that streams do not march in step.
    job.due += random.around(u64::from(job.order.gap_us) * 1000);
    Some(job)
}
