//! A listener's connections: how many there may be, and which has to leave when there is no
//! room for another one.
//!
//! A connection holds a *seat*. While a request runs on it, it is left alone. Otherwise it is
//! idle, and a new connection takes the place of an idle one if all are taken: first of one that
//! has never sent a whole request, of the address that has the most of those; then of the one
//! that has been idle for longest. So a client that sends a request gets in at once, however many
//! silent or half-sent connections a stranger keeps.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// All seats of a listener.
#[derive(Debug, Clone)]
pub(super) struct Seats {
    free: Arc<Semaphore>,
    idle: Arc<Mutex<Idle>>,
}

/// Idle connections, those that have been idle for longest first.
#[derive(Debug, Default)]
struct Idle {
    next: u64,
    /// New connections that wait for a seat.
    waiting: usize,
    seats: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    address: Option<IpAddr>,
    has_asked: bool,
    leave: Arc<Notify>,
}

impl Seats {
    pub(super) fn new(connections: usize) -> Self {
        let free = Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS)));
        Self { free, idle: Arc::default() }
    }

    /// A seat for a new connection; waits only if a request runs on every other one.
    pub(super) async fn take(&self, address: Option<IpAddr>) -> Arc<Seat> {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_full) => {
                let _waiting = Waiting::at(self);
                self.make_room();
                // Never closed. Without a permit it would be one connection too many.
                Arc::clone(&self.free).acquire_owned().await.ok()
            }
        };
        let seat = Seat {
            address,
            seats: self.clone(),
            leave: Arc::new(Notify::new()),
            state: Mutex::default(),
            _permit: permit,
        };
        seat.be_idle();
        Arc::new(seat)
    }

    /// Asks one idle connection to leave, if there is one.
    pub(super) fn make_room(&self) {
        self.idle().make_room();
    }

    /// Waits until every seat is free.
    pub(super) async fn all_free(&self, connections: usize) {
        let all = u32::try_from(connections).unwrap_or(u32::MAX);
        // The semaphore is never closed: this is the last connection's end.
        let _all = self.free.acquire_many(all).await;
    }

    /// Plain data: a panic under the lock leaves it usable.
    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock()
    }
}

/// A new connection that waits, until it is dropped.
struct Waiting<'a>(&'a Seats);

impl<'a> Waiting<'a> {
    fn at(seats: &'a Seats) -> Self {
        seats.idle().waiting += 1;
        Self(seats)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.idle().waiting -= 1;
    }
}

impl Idle {
    fn make_room(&mut self) {
        if let Some(entry) = self.least_wanted().and_then(|place| self.seats.remove(&place)) {
            entry.leave.notify_one();
        }
    }

    /// Somebody waits, and what was to make room for it does not, or just could.
    fn make_room_if_wanted(&mut self) {
        if self.waiting > 0 {
            self.make_room();
        }
    }

    fn least_wanted(&self) -> Option<u64> {
        let mut silent: HashMap<Option<IpAddr>, (usize, u64)> = HashMap::new();
        for (place, entry) in self.seats.iter().filter(|(_, entry)| !entry.has_asked) {
            let (count, _first) = silent.entry(entry.address).or_insert((0, *place));
            *count += 1;
        }
        let most = silent.values().max_by_key(|(count, first)| (*count, std::cmp::Reverse(*first)));
        most.map(|(_, first)| *first).or_else(|| self.seats.keys().next().copied())
    }
}

#[derive(Debug, Default)]
struct State {
    /// Its place among the idle ones.
    idle: Option<u64>,
    has_asked: bool,
}

/// A connection's seat, until it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    address: Option<IpAddr>,
    seats: Seats,
    leave: Arc<Notify>,
    state: Mutex<State>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Seat {
    /// A request has come whole, or its head has.
    pub(super) fn be_busy(&self) {
        let mut state = self.state();
        state.has_asked = true;
        if let Some(place) = state.idle.take() {
            let mut idle = self.seats.idle();
            // It was asked to leave a moment ago, and has work now: another one has to.
            if idle.seats.remove(&place).is_none() {
                idle.make_room_if_wanted();
            }
        }
    }

    /// Its answer has been handed over, or none was asked for yet.
    pub(super) fn be_idle(&self) {
        let mut state = self.state();
        let mut idle = self.seats.idle();
        let place = idle.next;
        idle.next += 1;
        let entry = Entry {
            address: self.address,
            has_asked: state.has_asked,
            leave: Arc::clone(&self.leave),
        };
        idle.seats.insert(place, entry);
        if let Some(before) = state.idle.replace(place) {
            idle.seats.remove(&before);
        }
        idle.make_room_if_wanted();
    }

    /// Whether it has ever sent a request.
    pub(super) fn has_asked(&self) -> bool {
        self.state().has_asked
    }

    /// Waits until its place is wanted and it is idle.
    pub(super) async fn asked_to_leave(&self) {
        loop {
            self.leave.notified().await;
            let mut state = self.state();
            // A request may have come a moment after the word.
            let is_gone = |place: u64| !self.seats.idle().seats.contains_key(&place);
            if state.idle.is_some_and(is_gone) {
                state.idle = None;
                return;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(place) = self.state().idle.take() {
            self.seats.idle().seats.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn from(last: u8) -> Option<IpAddr> {
        Some(Ipv4Addr::new(10, 0, 0, last).into())
    }

    async fn has_to_leave(seat: &Seat) -> bool {
        let wait = std::time::Duration::from_millis(20);
        tokio::time::timeout(wait, seat.asked_to_leave()).await.is_ok()
    }

    #[tokio::test]
    async fn who_leaves_is_who_is_least_wanted() {
        let seats = Seats::new(5);
        let (asked, silent) = (seats.take(from(1)).await, seats.take(from(2)).await);
        let many = [seats.take(from(3)).await, seats.take(from(3)).await];
        let busy = seats.take(from(3)).await;
        asked.be_busy();
        asked.be_idle();
        busy.be_busy();
        // The first of the address with the most, the next one, the other silent one, and only
        // then one that has asked. Never one that is at work.
        for (turn, leaves) in [&many[0], &silent, &many[1], &asked].into_iter().enumerate() {
            seats.make_room();
            assert!(has_to_leave(leaves).await, "turn {turn}");
        }
        seats.make_room();
        assert!(!has_to_leave(&busy).await);
    }

    #[tokio::test]
    async fn a_full_house_takes_whoever_comes_for_one_that_is_idle() {
        let seats = Seats::new(2);
        let (busy, idle) = (seats.take(from(1)).await, seats.take(from(1)).await);
        busy.be_busy();
        let leaving = async {
            idle.asked_to_leave().await;
            drop(idle);
        };
        let (newcomer, ()) = tokio::join!(seats.take(from(2)), leaving);
        assert!(!newcomer.has_asked());
        // If requests run on all, the first that ends makes room.
        newcomer.be_busy();
        let done = async {
            busy.be_idle();
            busy.asked_to_leave().await;
            drop(busy);
        };
        let (third, ()) = tokio::join!(seats.take(from(3)), done);
        drop((newcomer, third));
        seats.all_free(2).await;
    }

    #[tokio::test]
    async fn a_request_that_comes_with_the_word_stays() {
        let seats = Seats::new(1);
        let seat = seats.take(from(1)).await;
        seats.make_room();
        seat.be_busy();
        assert!(!has_to_leave(&seat).await, "it has work");
        seat.be_idle();
        seats.make_room();
        assert!(has_to_leave(&seat).await);
    }
}
