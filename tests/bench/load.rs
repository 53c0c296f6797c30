//! The four loads. Each warms up, is measured in a window, then lets every open stream end whole.

use crate::client::{Clients, Seen};
use crate::process::{cpu_us, rss_kib};
use crate::random::Random;
use crate::targets::Target;
use crate::wire::Order;
use crate::{Res, clock};
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{JoinSet, spawn_local};
use tokio::time::{sleep, timeout};

/// How large and how long; `--quick` makes it smaller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Every target once per round.
    pub(crate) rounds: u32,
    /// Warm-up before each window.
    pub(crate) warm: Duration,
    /// The measured part of each load.
    pub(crate) window: Duration,
    /// Open streams of the steady load.
    pub(crate) steady_streams: u32,
    /// How long the quiet streams are left to settle before their memory is read.
    pub(crate) settle: Duration,
}

/// New streams a second of the sparse load, ten events each.
pub(crate) const SPARSE_RATE: f64 = 400.0;
/// Events of a sparse stream, and microseconds between them.
const SPARSE: Order = Order { events: 10, gap_us: 5_000 };
/// Events a second of each steady stream.
pub(crate) const STEADY_RATE: u32 = 15;
/// Clients of the short load, each asking again at once.
pub(crate) const SHORT_CLIENTS: u32 = 64;
/// Events of a short stream, without a gap.
pub(crate) const SHORT: Order = Order { events: 20, gap_us: 0 };
/// Streams of the quiet load.
pub(crate) const QUIET_STREAMS: u32 = 1_000;
const QUIET: Order = Order { events: 100, gap_us: 5_000_000 };
/// No load may hang the benchmark.
const LIMIT: Duration = Duration::from_secs(30);

/// What one load on one target gave.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// What the clients saw.
    pub(crate) seen: Seen,
    /// Length of the window in seconds.
    pub(crate) seconds: f64,
    /// Processor time of the target in the window; zero for no target.
    pub(crate) cpu_us: f64,
}

/// The window: what the target used while the clients noted.
async fn window(target: &Target, clients: &Clients, length: Duration) -> Res<(f64, f64)> {
    let cpu = || target.pid().map_or(Ok(0), cpu_us);
    let (began, before) = (clock::now(), cpu()?);
    clients.seen.borrow_mut().noting = true;
    sleep(length).await;
    clients.seen.borrow_mut().noting = false;
    let (after, ended) = (cpu()?, clock::now());
    Ok(((ended - began) as f64 / 1e9, (after - before) as f64))
}

/// Lets what is open end, then closes the books.
async fn finish(mut streams: JoinSet<()>, clients: &Clients, spent: (f64, f64)) -> Measured {
    let all = async { while streams.join_next().await.is_some() {} };
    let late = timeout(LIMIT, all).await.is_err();
    let mut seen = std::mem::take(&mut *clients.seen.borrow_mut());
    if late {
        seen.broken += 1;
        seen.first_trouble.get_or_insert_with(|| "streams that did not end".into());
    }
    Measured { seen, seconds: spent.0, cpu_us: spent.1 }
}

/// Few streams at a time, arriving at random: what one reader feels.
pub(crate) async fn sparse(target: &Target, plan: Plan) -> Res<Measured> {
    let clients = Rc::new(Clients::new(target.address));
    let length = (plan.warm + plan.window).as_secs_f64();
    let arrivals = spawn_local(arrivals(Rc::clone(&clients), SPARSE_RATE, length));
    sleep(plan.warm).await;
    let spent = window(target, &clients, plan.window).await?;
    Ok(finish(arrivals.await?, &clients, spent).await)
}

/// So many streams a second, arriving at random for so many seconds; gives those that still run.
pub(crate) async fn arrivals(load: Rc<Clients>, rate: f64, length: f64) -> JoinSet<()> {
    let mut random = Random::new(23);
    let mut streams = JoinSet::new();
    let (began, mut due) = (clock::now(), 0.0);
    while due < length {
        due += random.wait(1.0 / rate);
        let passed = (clock::now() - began) as f64 / 1e9;
        if due > passed {
            sleep(Duration::from_secs_f64(due - passed)).await;
        }
        let load = Rc::clone(&load);
        streams.spawn_local(async move { load.stream(SPARSE).await });
        while streams.try_join_next().is_some() {}
    }
    streams
}

/// Thousands of streams open all the time: what a busy evening costs.
pub(crate) async fn steady(target: &Target, plan: Plan) -> Res<Measured> {
    let clients = Rc::new(Clients::new(target.address));
    let gap_us = 1_000_000 / STEADY_RATE;
    let ramp = plan.warm * 2;
    // Those that came first still run when the window ends.
    let length = (ramp + plan.window).as_secs_f64() + 0.3;
    let events = whole(length * f64::from(STEADY_RATE));
    let mut streams = JoinSet::new();
    for number in 0..plan.steady_streams {
        let load = Rc::clone(&clients);
        let wait = ramp * number / plan.steady_streams;
        streams.spawn_local(async move {
            sleep(wait).await;
            load.stream(Order { events, gap_us }).await;
        });
    }
    sleep(ramp + Duration::from_millis(200)).await;
    let spent = window(target, &clients, plan.window).await?;
    Ok(finish(streams, &clients, spent).await)
}

/// Short answers as fast as they go: what a request costs.
pub(crate) async fn short(target: &Target, plan: Plan) -> Res<Measured> {
    let clients = Rc::new(Clients::new(target.address));
    let end = clock::now() + nanos(plan.warm + plan.window);
    let mut streams = JoinSet::new();
    for _ in 0..SHORT_CLIENTS {
        let load = Rc::clone(&clients);
        streams.spawn_local(async move {
            while clock::now() < end && load.seen.borrow().broken < 100 {
                load.stream(SHORT).await;
            }
        });
    }
    sleep(plan.warm).await;
    let spent = window(target, &clients, plan.window).await?;
    Ok(finish(streams, &clients, spent).await)
}

/// Resident memory of a fresh target, and with quiet streams open, in KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// After a few requests.
    pub(crate) idle: u64,
    /// With `QUIET_STREAMS` open.
    pub(crate) open: u64,
}

/// Many streams open that say little: what waiting costs.
pub(crate) async fn quiet(target: &Target, plan: Plan) -> Res<Memory> {
    let pid = target.pid().ok_or("nothing to measure")?;
    let clients = Rc::new(Clients::new(target.address));
    for _ in 0..5 {
        clients.stream(SHORT).await;
    }
    sleep(plan.settle / 2).await;
    let idle = rss_kib(pid)?;
    let mut streams = JoinSet::new();
    for number in 0..QUIET_STREAMS {
        let load = Rc::clone(&clients);
        streams.spawn_local(async move {
            sleep(Duration::from_millis(u64::from(number))).await;
            load.stream(QUIET).await;
        });
    }
    sleep(Duration::from_millis(u64::from(QUIET_STREAMS)) + plan.settle).await;
    let seen = clients.seen.borrow();
    if seen.open != QUIET_STREAMS as usize {
        let why = seen.first_trouble.as_deref().unwrap_or("no answer");
        return Err(format!("{} of {QUIET_STREAMS} streams open: {why}", seen.open).into());
    }
    // Dropping the streams closes their connections.
    Ok(Memory { idle, open: rss_kib(pid)? })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
fn whole(number: f64) -> u32 {
    number.ceil() as u32
}
