//! The load that must not be felt: what small requests wait while large ones are served.
//!
//! `bench --large`: so many clients send requests of 31 MiB, each again at once, while others
//! ask for short answers. The wait of the small ones is measured without and with the large
//! ones beside them, and the relay is asked how often and how long its workers stood still.

use crate::client::Clients;
use crate::load::{Plan, SHORT, arrivals};
use crate::targets::{Kind, Target, Targets};
use crate::wire::KEY;
use crate::{Res, clock, say};
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{JoinSet, spawn_local};
use tokio::time::sleep;

/// Clients that send large requests at the same time.
const LARGE_CLIENTS: usize = 8;
/// What each of them sends, about so many bytes.
const LARGE: usize = 31 << 20;
/// Small requests a second.
const RATE: f64 = 100.0;

/// How the large requests are made up.
const KINDS: [(&str, &str); 2] = [
    // Pictures and files.
    ("one long text", ""),
    // A conversation that never ends.
    ("many short messages", r#"{"role":"user","content":"What is \u0041?"},"#),
];

/// Measures, and says what came of it.
pub(crate) async fn measure(targets: &Targets, plan: Plan) -> Res<()> {
    let alone = waits(targets, plan, None).await?;
    say(&format!("small requests alone:                   {alone}"));
    for (name, message) in KINDS {
        let body = Rc::new(request(message));
        let beside = waits(targets, plan, Some(body)).await?;
        say(&format!("beside {LARGE_CLIENTS} of 31 MiB, {name}: {beside}"));
    }
    Ok(())
}

/// A request of `LARGE` bytes; without a message to repeat it is one text.
fn request(message: &str) -> Vec<u8> {
    let usual = r#"{"role":"user","content":"bench events=00000020 gap=00000000 usual"}"#;
    let filler = if message.is_empty() {
        format!(r#"{{"role":"user","content":"{}"}},"#, "x".repeat(LARGE))
    } else {
        message.repeat(LARGE / message.len())
    };
    let body = format!(r#"{{"model":"large","stream":true,"messages":[{filler}{usual}]}}"#);
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

async fn waits(targets: &Targets, plan: Plan, large: Option<Rc<Vec<u8>>>) -> Res<String> {
    // A fresh process, so that its counts are of this load alone.
    let target = targets.start(Kind::Belay)?;
    let clients = Rc::new(Clients::new(target.address));
    for _ in 0..20 {
        clients.stream(SHORT).await;
    }
    let done = Rc::new(Cell::new(0_u32));
    let mut senders = JoinSet::new();
    for _ in 0..LARGE_CLIENTS {
        let Some(large) = large.clone() else { break };
        let (done, address) = (Rc::clone(&done), target.address);
        senders.spawn_local(async move {
            while send(address, &large).await.is_ok() {
                done.set(done.get() + 1);
            }
        });
    }
    let length = (plan.warm + plan.window).as_secs_f64();
    let small = spawn_local(arrivals(Rc::clone(&clients), RATE, length));
    sleep(plan.warm).await;
    clients.seen.borrow_mut().noting = true;
    let (began, before) = (clock::now(), done.get());
    sleep(plan.window).await;
    clients.seen.borrow_mut().noting = false;
    let seconds = (clock::now() - began) as f64 / 1e9;
    let served = done.get() - before;
    senders.abort_all();
    drop(small.await?);
    let mut waits = std::mem::take(&mut clients.seen.borrow_mut().ttft);
    waits.sort_unstable();
    let at = |percent: usize| {
        let place = (waits.len() * percent / 100).min(waits.len().saturating_sub(1));
        waits.get(place).copied().unwrap_or_default() as f64 / 1e6
    };
    let longest = waits.last().copied().unwrap_or_default() as f64 / 1e6;
    Ok(format!(
        "first token p50 {:.1} ms, p99 {:.1} ms, longest {longest:.1} ms of {}; {:.1} large/s; {}",
        at(50),
        at(99),
        waits.len(),
        f64::from(served) / seconds,
        stalls(&target).await?
    ))
}

/// Sends one large request and reads its answer to the end.
async fn send(address: SocketAddr, bytes: &[u8]) -> Res<()> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(bytes).await?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await?;
    if answer.starts_with(b"HTTP/1.1 200") { Ok(()) } else { Err("no answer".into()) }
}

/// What the relay says of its workers.
async fn stalls(target: &Target) -> Res<String> {
    let address = target.admin.ok_or("the relay has no admin listener")?;
    let mut socket = TcpStream::connect(address).await?;
    socket
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await?;
    let mut page = String::new();
    let reading = socket.read_to_string(&mut page);
    tokio::time::timeout(Duration::from_secs(5), reading).await??;
    let value = |name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(name));
        line.map_or("?", str::trim).to_owned()
    };
    Ok(format!(
        "workers stood still {} times for over 50 ms, {} s together",
        value("belay_worker_stall_seconds_count"),
        value("belay_worker_stall_seconds_sum")
    ))
}
