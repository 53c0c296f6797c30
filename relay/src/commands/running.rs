//! A running relay, from its listeners to its orderly end.

use super::common::{Failed, print_error};
use super::watching::Source;
use crate::config::Config;
use crate::drive::{Drain, Hub};
use crate::listen::{Limits, Listener};
use crate::{admin, drive, serve, stderr, wall};
use journal::{Journal, JournalOptions, Kept, ReadError};
use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing_subscriber::EnvFilter;

/// Connections of the admin plane; consoles and probes, not crowds.
const ADMIN_CONNECTIONS: usize = 256;
/// After the cut, every connection is gone within this.
const LAST_CONNECTION: Duration = Duration::from_millis(250);
/// A worker that has not ended by then is left behind: something of the system holds it.
const LAST_WORKER: Duration = Duration::from_secs(1);
/// So long may the journal take to write what it was given.
const LAST_ROWS: Duration = Duration::from_secs(2);
/// A sick disk may hold the start up for this long; then the relay serves without it.
const FIRST_OPENING: Duration = Duration::from_secs(2);
/// How often the drain looks whether it is done.
const LOOK: Duration = Duration::from_millis(10);

/// Where a relay that is ready can be reached.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) data: SocketAddr,
    pub(super) admin: SocketAddr,
}

/// TLS to providers needs a default crypto provider, once per process.
pub(super) fn install_tls() {
    // A second call finds it installed, which is just as well.
    let _already = rustls::crypto::ring::default_provider().install_default();
}

/// The two listeners of a relay, bound and not yet serving.
#[derive(Debug)]
pub(super) struct Listeners {
    data: Listener,
    admin: Listener,
}

impl Listeners {
    pub(super) fn bind(data: SocketAddr, admin: SocketAddr) -> Result<Self, Failed> {
        let data = bind("server.listen", data)?;
        Ok(Self { data, admin: bind("admin.listen", admin)? })
    }
}

/// Serves `config` until SIGTERM or SIGINT, then drains.
pub(super) async fn run_relay(
    config: Config,
    source: Source,
    listeners: Listeners,
    ready: impl FnOnce(&Ready),
) -> Result<(), Failed> {
    log_to_stderr()?;
    survive_signals();
    install_tls();
    let max_requests = config.server.max_requests;
    raise_open_files(max_requests);
    let Listeners { data, admin: ops } = listeners;
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let hangup = signal(SignalKind::hangup())?;
    let journal = open_journal(&config);
    let opening = journal.clone();
    tokio::task::spawn_blocking(move || opening.wait_for_file(FIRST_OPENING)).await?;
    let kept = read_kept(&journal).await;
    let relay = Arc::new(Hub::new(config, journal)?);
    drive::restore::restore(&relay, &kept);
    tokio::spawn(drive::restore::maintain_rungs(Arc::clone(&relay)));
    tokio::spawn(drive::snapshot::watch(Arc::clone(&relay)));
    tokio::spawn(drive::watch_workers());
    tokio::spawn(source.watch(Arc::clone(&relay), hangup));

    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let limits = Limits {
        connections: (max_requests.saturating_mul(2)).div_ceil(workers),
        until: Drain::Draining,
    };
    // The admin plane answers while the relay drains: not ready, but alive.
    let few = Limits { connections: ADMIN_CONNECTIONS, until: Drain::Cut };
    let addresses = Ready { data: data.addr, admin: ops.addr };
    let (alive, ended) = sync_channel(0);
    for number in 0..workers {
        worker(number, data.share()?, &relay, limits, alive.clone())?;
    }
    drop((data, alive));
    let watching = ops.serve(admin::router(&relay), Arc::clone(&relay), few);
    let watching = tokio::spawn(watching);
    ready(&addresses);

    stop_asked(&mut term, &mut int).await;
    let drain = relay.in_force().config.server.drain;
    tracing::info!(?drain, running = relay.load.running(), "draining");
    relay.set_drain(Drain::Draining);
    tokio::select! {
        () = finished(&relay) => {}
        () = tokio::time::sleep(drain) => {}
        () = stop_asked(&mut term, &mut int) => tracing::info!("told twice: ending now"),
    }
    relay.set_drain(Drain::Cut);
    watching.abort();
    let written = tokio::task::spawn_blocking(move || {
        let all_well = have_ended(&ended, LAST_WORKER);
        drive::restore::remember_all(&relay);
        relay.journal.close(LAST_ROWS) && all_well
    })
    .await?;
    if !written {
        tracing::warn!("not every record reached the journal");
    }
    Ok(())
}

/// Waits until every worker has ended, for `limit` at the most; whether all have.
fn have_ended(workers: &Receiver<()>, limit: Duration) -> bool {
    // Nothing is ever sent: each worker has a sender, and drops it when it ends.
    let all = workers.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected);
    if !all {
        tracing::warn!("a worker did not end within {limit:?}; the relay ends without it");
    }
    all
}

/// A thread with a reactor of its own. A stream stays on one core: its client's
/// connection, its driver and its upstream connections all live in one worker.
/// `alive` is dropped when it has ended.
fn worker(
    number: usize,
    data: Listener,
    relay: &Arc<Hub>,
    limits: Limits,
    alive: SyncSender<()>,
) -> io::Result<()> {
    let relay = Arc::clone(relay);
    let work = move || {
        let _alive = alive;
        let serving = async {
            relay.in_force().warm_up();
            tokio::spawn(drive::beat(Arc::clone(&relay)));
            let serving = data.serve(serve::router(&relay), Arc::clone(&relay), limits);
            tokio::pin!(serving);
            let last_moment = async {
                relay.signals.until(Drain::Cut).await;
                tokio::time::sleep(LAST_CONNECTION).await;
            };
            tokio::select! {
                served = serving => served,
                () = last_moment => {
                    tracing::warn!("some clients did not take their last bytes");
                    Ok(())
                }
            }
        };
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let served = builder.enable_all().on_thread_park(drive::nap).build().and_then(|runtime| {
            let served = runtime.block_on(serving);
            // What still blocks a thread is not waited for.
            runtime.shutdown_background();
            served
        });
        if let Err(error) = served {
            tracing::error!(%error, "a worker could not serve");
        }
    };
    std::thread::Builder::new().name(format!("worker-{number}")).spawn(work).map(drop)
}

fn bind(key: &str, addr: SocketAddr) -> Result<Listener, Failed> {
    Listener::bind(addr).map_err(|error| {
        Failed(format!("belay: {key}: cannot listen on {addr}: {error}. Is another relay running?"))
    })
}

fn open_journal(config: &Config) -> Journal {
    let settings = &config.journal;
    let options = JournalOptions::new(settings.path.clone(), wall::unix);
    Journal::open(JournalOptions {
        retain: settings.retain,
        max_size: settings.max_size,
        ..options
    })
}

/// What an earlier life left. A disk that does not answer, or a file that cannot be
/// read, gives nothing: the relay serves all the same.
async fn read_kept(journal: &Journal) -> Kept {
    let (tell, told) = oneshot::channel();
    let reader = journal.reader();
    // A thread of its own: one that hangs must not hold the runtime's end up.
    let reading = std::thread::Builder::new().name("kept".to_owned()).spawn(move || {
        let _nobody_waits_any_more = tell.send(reader.kept());
    });
    let why = match tokio::time::timeout(FIRST_OPENING, told).await {
        Ok(Ok(Ok(kept))) => return kept,
        // Nothing was ever kept there.
        Ok(Ok(Err(ReadError::NoFile(_)))) => return Kept::default(),
        Ok(Ok(Err(error))) => error.to_string(),
        Ok(Err(_)) => reading.err().map_or("its reader failed".to_owned(), |e| e.to_string()),
        Err(_) => format!("the disk did not answer within {FIRST_OPENING:?}"),
    };
    tracing::warn!(
        why,
        "the journal was not read: breakers, holds, references and overrides start afresh"
    );
    Kept::default()
}

async fn stop_asked(term: &mut Signal, int: &mut Signal) {
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

async fn finished(relay: &Hub) {
    while relay.load.running() > 0 {
        tokio::time::sleep(LOOK).await;
    }
}

/// A stream takes two sockets, and shells start programs with room for 1,024.
fn raise_open_files(max_requests: usize) {
    let wanted = u64::try_from(max_requests.saturating_mul(3)).unwrap_or(u64::MAX);
    match rlimit::increase_nofile_limit(wanted) {
        Ok(limit) if limit < wanted => tracing::warn!(
            limit,
            wanted,
            "the limit of open files does not allow for server.max_requests; raise it (ulimit -n)"
        ),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "the limit of open files could not be raised"),
    }
}

/// Signals that end a process unless it says otherwise, and that this one has no use for: a
/// full file (the write fails instead), a stray word of a log rotation, somebody's timer.
fn survive_signals() {
    use rustix::process::Signal as Number;
    for number in [Number::XFSZ, Number::XCPU, Number::USR1, Number::USR2, Number::VTALARM] {
        // Tokio now catches the signal, and no code waits for it, so it has no effect. If the
        // handler cannot be installed, the signal keeps its default action.
        let _noted = signal(SignalKind::from_raw(number.as_raw()));
    }
    let _noted = signal(SignalKind::alarm());
}

/// A panic is logged like everything else. Its message is left out: it may quote a prompt.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("?");
        tracing::error!(thread, "the relay panicked at {place}; report this place");
    }));
}

/// Logs go to standard error, through a queue; `BELAY_LOG` sets the level, `warn` by default.
fn log_to_stderr() -> io::Result<()> {
    stderr::start()?;
    log_panics();
    let wanted = std::env::var("BELAY_LOG").unwrap_or_default();
    let wanted = if wanted.trim().is_empty() { "warn" } else { wanted.trim() };
    // A bare word that is no level would be taken for a module's name, and silence the rest.
    let is_level = |part: &str| part.contains('=') || part.parse::<tracing::Level>().is_ok();
    let known = wanted.split(',').all(|part| is_level(part.trim()));
    let filter = EnvFilter::builder().parse(wanted).ok().filter(|_| known).unwrap_or_else(|| {
        print_error(
            "belay: BELAY_LOG is none of error, warn, info, debug and trace; logging at warn.",
        );
        EnvFilter::new("warn")
    });
    // A second relay in one process (tests) logs with the first one's settings.
    let _already = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr::Line::default)
        // It would print to standard error itself, and panic where that cannot be written.
        .log_internal_errors(false)
        // Whoever greps a log file for `rung=sol` must find it.
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .try_init();
    Ok(())
}
