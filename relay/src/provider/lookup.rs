//! Host names are looked up on threads of their own, once for all calls that need one at the same time.
//!
//! The system's look-up cannot be cancelled, and it may hang. If each call began one of its
//! own, an outage of name servers would cost one thread for each request, without a bound.

use crate::wall;
use parking_lot::{Mutex, MutexGuard};
use policy::Time;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::watch;

/// Who asks joins a look-up that is not older than this; behind one that hangs, another begins.
const JOINED: Duration = Duration::from_secs(5);
/// Look-ups of one name that run at the same time, at the most.
const MOST: usize = 4;

type Find = fn(&str) -> io::Result<Vec<SocketAddr>>;
type Found = Option<Result<Arc<[SocketAddr]>, NoAddress>>;

/// A name could not be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoAddress;

impl std::fmt::Display for NoAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the host name has no address")
    }
}

impl std::error::Error for NoAddress {}

/// The look-ups of one name.
struct Running {
    /// How many there are.
    count: usize,
    /// When the last one began.
    began: Time,
    /// What that one finds.
    found: watch::Receiver<Found>,
}

/// The look-ups that run, by their names.
pub(super) struct Lookups {
    find: Find,
    running: Mutex<HashMap<String, Running>>,
}

/// For all workers and providers.
static LOOKUPS: LazyLock<Arc<Lookups>> = LazyLock::new(|| {
    let find = |name: &str| Ok((name, 0).to_socket_addrs()?.collect());
    Arc::new(Lookups { find, running: Mutex::default() })
});

/// What reqwest asks.
pub(super) struct Resolver;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let found = LOOKUPS.ask(name.as_str(), wall::now());
        Box::pin(async move { Ok(Box::new(addresses(found).await?) as Addrs) })
    }
}

async fn addresses(
    mut found: watch::Receiver<Found>,
) -> Result<impl Iterator<Item = SocketAddr>, NoAddress> {
    // Its thread sends before it ends, unless it could not be started.
    let found = found.wait_for(Option::is_some).await.map_err(|_not_started| NoAddress)?;
    let all = found.clone().unwrap_or(Err(NoAddress))?;
    Ok((0..all.len()).filter_map(move |at| all.get(at).copied()))
}

impl Lookups {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        // Nothing that panics runs under it.
        self.running.lock()
    }

    /// What the look-up of `name` finds, which begins now or has begun.
    fn ask(self: &Arc<Self>, name: &str, now: Time) -> watch::Receiver<Found> {
        let mut all = self.lock();
        let before = all.get(name);
        if let Some(running) = before
            && (running.count >= MOST || now.since(running.began) < JOINED)
        {
            return running.found.clone();
        }
        let (tell, found) = watch::channel(None);
        let count = before.map_or(0, |running| running.count).saturating_add(1);
        let (lookups, own_name) = (Arc::clone(self), name.to_owned());
        let thread = std::thread::Builder::new().name("look-up".to_owned());
        let started = thread.spawn(move || {
            let found = (lookups.find)(&own_name).map_err(|_system| NoAddress);
            lookups.end(&own_name);
            tell.send_replace(Some(found.map(Arc::from)));
        });
        if started.is_ok() {
            all.insert(name.to_owned(), Running { count, began: now, found: found.clone() });
        }
        found
    }

    /// One of them is over. The next to ask begins another, unless some still run.
    fn end(&self, name: &str) {
        let mut all = self.lock();
        if let Some(running) = all.get_mut(name) {
            running.count = running.count.saturating_sub(1);
            if running.count == 0 {
                all.remove(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static HANG: Mutex<()> = Mutex::new(());
    static BEGUN: AtomicUsize = AtomicUsize::new(0);

    fn find(_name: &str) -> io::Result<Vec<SocketAddr>> {
        BEGUN.fetch_add(1, Ordering::SeqCst);
        drop(HANG.lock());
        Ok(vec!["127.0.0.1:0".parse().unwrap()])
    }

    #[tokio::test]
    async fn however_many_ask_few_look_ups_run_and_all_are_told() {
        let lookups = Arc::new(Lookups { find, running: Mutex::default() });
        let at = |seconds: u64| Time::default().plus(Duration::from_secs(seconds));
        let hang = HANG.lock();
        // Each second a hundred ask, for half a minute.
        let asked: Vec<_> = (0..3000).map(|n| lookups.ask("provider.test", at(n / 100))).collect();
        assert_eq!(lookups.lock()["provider.test"].count, MOST);
        drop(hang);
        for found in asked {
            let found: Vec<_> = addresses(found).await.unwrap().collect();
            assert_eq!(found, ["127.0.0.1:0".parse().unwrap()]);
        }
        assert_eq!(BEGUN.load(Ordering::SeqCst), MOST);
        assert!(lookups.lock().is_empty(), "what is over is forgotten");
    }

    #[tokio::test]
    async fn a_name_that_nobody_knows_has_no_address() {
        let find: Find = |_name| Err(io::Error::other("unknown"));
        let lookups = Arc::new(Lookups { find, running: Mutex::default() });
        let found = lookups.ask("nobody.test", Time::default());
        assert_eq!(addresses(found).await.err(), Some(NoAddress));
    }
}
