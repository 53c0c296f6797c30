//! Somebody who watches the relay: a reader of its feed, and how soon it is told of a change.
//!
//! While `watched` is measured, such a reader asks for all there is, requests included. What it
//! costs the data path is the difference between that target and `belay`, whom nobody watches.

use crate::client::Clients;
use crate::targets::Target;
use crate::{Res, clock, load};
use shared::admin::TransitionRow;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tokio::task::{spawn_blocking, spawn_local};

/// Requests a second that go on while changes are made.
pub(crate) const RATE: f64 = 500.0;
/// Nobody waits longer than this for what the feed owes.
const OWED: Duration = Duration::from_secs(5);
/// The feed tells how a rung is once in so many milliseconds. What is measured must fall on every
/// part of that, and the measuring itself ends with it: so each change waits a while longer.
const LOOK: u64 = 250;
/// Longer by this: no divisor of it.
const LONGER: u64 = 37;
/// Failures in a row that open a breaker.
const MOST: u32 = 5;

/// One event: when it was read, its name and its data.
struct Event {
    at: u64,
    /// The same on the calendar.
    unix: Duration,
    name: String,
    data: String,
}

/// A reader of the feed; it ends with the relay.
pub(crate) struct Watcher {
    events: Receiver<Event>,
}

impl Watcher {
    /// Opens the feed and reads it from a thread of its own.
    pub(crate) fn start(admin: SocketAddr) -> Res<Self> {
        let mut socket = TcpStream::connect(admin)?;
        let path = "/admin/v1/feed?topics=requests";
        write!(socket, "GET {path} HTTP/1.1\r\nHost: {admin}\r\n\r\n")?;
        let (tell, events) = channel();
        std::thread::spawn(move || {
            let mut name = String::new();
            for line in BufReader::new(socket).lines() {
                let Ok(line) = line else { return };
                if let Some(said) = line.strip_prefix("event: ") {
                    said.clone_into(&mut name);
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let data = data.to_owned();
                    let (at, unix) = (clock::now(), ::tests::clock::unix());
                    let event = Event { at, unix, name: name.clone(), data };
                    if tell.send(event).is_err() {
                        return;
                    }
                }
            }
        });
        let this = Self { events };
        this.until("snapshot", |_| true)?;
        Ok(this)
    }

    /// Throws away what has come so far.
    fn drain(&self) {
        while self.events.try_recv().is_ok() {}
    }

    /// The next such event.
    fn until(&self, name: &str, is_it: impl Fn(&str) -> bool) -> Res<Event> {
        let end = clock::now() + u64::try_from(OWED.as_nanos())?;
        while clock::now() < end {
            let event = self.events.recv_timeout(OWED)?;
            if event.name == name && is_it(&event.data) {
                return Ok(event);
            }
        }
        Err(format!("the feed told no {name}").into())
    }
}

/// How late the feed tells of things, in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// From a breaker's opening, by the relay's clock, to the transition, which is told at once.
    transition: Vec<f64>,
    /// From the same moment to the rung as it is then, which is told four times a second.
    rung: Vec<f64>,
    /// From a change's first byte to the action.
    action: Vec<f64>,
}

impl Told {
    /// Opens the breaker of the rung that leads nowhere, after closing it by hand.
    fn note(&mut self, target: (SocketAddr, SocketAddr), watcher: &Watcher) -> Res<()> {
        let (data, admin) = target;
        let count = self.action.len();
        watcher.drain();
        let sent = clock::now();
        change(admin, &format!("close-{count}"), "PUT", ",\"mode\":\"forced_closed\"")?;
        let action = watcher.until("action", |data| data.contains("forced_closed"))?;
        self.action.push(action.at.saturating_sub(sent) as f64 / 1e6);
        change(admin, &format!("let-go-{count}"), "DELETE", "")?;
        watcher.drain();
        (0..MOST).try_for_each(|_| ask(data))?;
        let opened = watcher.until("transition", |data| data.contains("\"after\":\"open\""))?;
        let at = when(&opened.data)?;
        let rung = watcher.until("rung", |data| {
            data.contains("\"name\":\"nobody\"") && data.contains("\"state\":\"open\"")
        })?;
        // What is told later was read on the same clock of the bench.
        let late = (opened.unix.as_secs_f64() - at) * 1e3;
        self.transition.push(late);
        self.rung.push(late + rung.at.saturating_sub(opened.at) as f64 / 1e6);
        Ok(())
    }

    /// In lines.
    pub(crate) fn words(mut self) -> String {
        let mut out = format!(
            "{} breakers opened and {} changes at {RATE:.0} requests/s; until a watcher knew:\n",
            self.transition.len(),
            self.action.len(),
        );
        let rows = [
            ("transition", &mut self.transition),
            ("rung as it is then", &mut self.rung),
            ("change", &mut self.action),
        ];
        for (what, times) in rows {
            times.sort_by(f64::total_cmp);
            let at = |part: usize| {
                let index = (times.len() * part / 100).min(times.len().saturating_sub(1));
                times.get(index).copied().unwrap_or(f64::NAN)
            };
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "  {what:<20} p50 {:.1} ms, p95 {:.1} ms, longest {:.1} ms",
                at(50),
                at(95),
                at(100)
            );
        }
        out
    }
}

/// Opens a breaker, over and over, while requests run.
pub(crate) async fn told(target: &Target, watcher: Watcher, length: Duration) -> Res<Told> {
    let admin = target.admin.ok_or("no admin plane to ask")?;
    let data = target.address;
    let clients = Rc::new(Clients::new(target.address));
    let arrivals = spawn_local(load::arrivals(Rc::clone(&clients), RATE, length.as_secs_f64()));
    let changing = spawn_blocking(move || {
        let end = clock::now() + u64::try_from(length.as_nanos())?;
        let mut all = Told::default();
        while clock::now() < end {
            let count = all.action.len() as u64;
            std::thread::sleep(Duration::from_millis(count * LONGER % LOOK));
            all.note((data, admin), &watcher)?;
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(all)
    });
    let all = changing.await??;
    let mut streams = arrivals.await?;
    while streams.join_next().await.is_some() {}
    match &clients.seen.borrow().first_trouble {
        None => Ok(all),
        Some(trouble) => Err(trouble.clone().into()),
    }
}

/// The moment in an event's `at`, in seconds since 1970.
fn when(data: &str) -> Res<f64> {
    let row: TransitionRow = serde_json::from_str(data)?;
    Ok(row.at.0 as f64 / 1e3)
}

/// A request to the ladder whose first rung leads nowhere.
fn ask(to: SocketAddr) -> Res<()> {
    let request = String::from_utf8(load::SHORT.request_to("doomed"))?;
    let request = request.replacen("Host:", "Connection: close\r\nHost:", 1);
    let mut socket = TcpStream::connect(to)?;
    socket.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer)?;
    let is_good = answer.starts_with(b"HTTP/1.1 200");
    is_good.then_some(()).ok_or_else(|| "the next rung did not answer".into())
}

fn change(admin: SocketAddr, id: &str, method: &str, mode: &str) -> Res<()> {
    let body = format!("{{\"id\":\"{id}\",\"reason\":\"measured\"{mode}}}");
    let mut socket = TcpStream::connect(admin)?;
    write!(
        socket,
        "{method} /admin/v1/rungs/nobody/override HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 200") {
        return Ok(());
    }
    Err(format!("a change was refused: {answer}").into())
}
