//! Items of answers that clients may refer to by their ids instead of sending them.
//!
//! Where an answer came from another dialect's provider no provider knows its items. So
//! they are kept here for a while: per client, bounded in number, bytes and time. Whoever
//! has most loses its oldest first, so that one client cannot make others lose theirs.

use parking_lot::{Mutex, MutexGuard};
use policy::Time;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long an item is kept.
const KEPT: Duration = Duration::from_secs(4 * 3600);
/// The most items of one client.
const MOST: usize = 20_000;
/// The most bytes of all clients together.
const MOST_BYTES: usize = 64 << 20;
/// Larger items are not kept.
const LARGEST: usize = 1 << 20;
/// What an item costs in memory beside its text.
const BESIDE: usize = 160;

/// Whose items they are: a client key's name, if there are keys.
type Owner = Option<Arc<str>>;

/// All that are kept.
#[derive(Default)]
pub struct Items(Mutex<Shelves>);

#[derive(Default)]
struct Shelves {
    of: HashMap<Owner, Shelf>,
    bytes: usize,
}

#[derive(Default)]
struct Shelf {
    /// Each id with the number of its newest copy.
    items: HashMap<String, (u64, String)>,
    /// In their order, with their times and bytes.
    order: VecDeque<(u64, Time, String, usize)>,
    next: u64,
    bytes: usize,
}

/// Without the items: an answer has no place in a log.
impl std::fmt::Debug for Items {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Items").field("bytes", &self.lock().bytes).finish_non_exhaustive()
    }
}

impl Items {
    fn lock(&self) -> MutexGuard<'_, Shelves> {
        // Plain maps: a panic elsewhere leaves them usable.
        self.0.lock()
    }

    /// Keeps items with their ids for `owner`.
    pub fn keep(&self, now: Time, owner: &Owner, items: Vec<(String, String)>) {
        let mut shelves = self.lock();
        for (id, item) in items.into_iter().filter(|(_, item)| item.len() <= LARGEST) {
            shelves.keep(now, owner, id, item);
        }
    }

    /// The item of this id, if `owner` had it.
    pub fn find(&self, now: Time, owner: &Owner, id: &str) -> Option<String> {
        let mut shelves = self.lock();
        shelves.forget_old(now, owner);
        let (_, item) = shelves.of.get(owner)?.items.get(id)?;
        Some(item.clone())
    }
}

impl Shelves {
    fn keep(&mut self, now: Time, owner: &Owner, id: String, item: String) {
        self.forget_old(now, owner);
        let shelf = self.of.entry(owner.clone()).or_default();
        let bytes = item.len().saturating_add(id.len().saturating_mul(2)).saturating_add(BESIDE);
        shelf.next += 1;
        shelf.order.push_back((shelf.next, now, id.clone(), bytes));
        shelf.items.insert(id, (shelf.next, item));
        shelf.bytes = shelf.bytes.saturating_add(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        let too_many = shelf.order.len() > MOST;
        if too_many {
            self.forget_one(owner);
        }
        while self.bytes > MOST_BYTES {
            let largest = self.of.iter().max_by_key(|(_, shelf)| shelf.bytes);
            let Some(owner) = largest.map(|(owner, _)| owner.clone()) else { break };
            self.forget_one(&owner);
        }
    }

    fn forget_old(&mut self, now: Time, owner: &Owner) {
        let is_old =
            |shelf: &Shelf| shelf.order.front().is_some_and(|(_, at, ..)| now.since(*at) > KEPT);
        while self.of.get(owner).is_some_and(is_old) {
            self.forget_one(owner);
        }
    }

    fn forget_one(&mut self, owner: &Owner) {
        let Some(shelf) = self.of.get_mut(owner) else { return };
        let Some((number, _, id, bytes)) = shelf.order.pop_front() else { return };
        if shelf.items.get(&id).is_some_and(|(newest, _)| *newest == number) {
            shelf.items.remove(&id);
        }
        shelf.bytes = shelf.bytes.saturating_sub(bytes);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::default().plus(Duration::from_secs(seconds))
    }

    fn one(id: &str, item: &str) -> Vec<(String, String)> {
        vec![(id.to_owned(), item.to_owned())]
    }

    #[test]
    fn e6_an_item_is_its_clients_alone_and_only_for_a_while() {
        let items = Items::default();
        let (ann, bob) = (Some(Arc::from("ann")), Some(Arc::from("bob")));
        items.keep(at(0), &ann, one("msg_1", "A"));
        assert_eq!(items.find(at(1), &ann, "msg_1").as_deref(), Some("A"));
        assert_eq!(items.find(at(1), &bob, "msg_1"), None);
        assert_eq!(items.find(at(1), &None, "msg_1"), None);
        // Kept again it is as good as new.
        items.keep(at(10_000), &ann, one("msg_1", "B"));
        assert_eq!(items.find(at(4 * 3600 + 1), &ann, "msg_1").as_deref(), Some("B"));
        assert_eq!(items.find(at(4 * 3600 + 10_001), &ann, "msg_1"), None);
        assert_eq!(items.lock().bytes, 0);
    }

    #[test]
    fn e6_what_is_kept_has_bounds_and_who_fills_it_loses_its_own() {
        let items = Items::default();
        let (ann, eve) = (Some(Arc::from("ann")), Some(Arc::from("eve")));
        items.keep(at(0), &ann, one("msg_1", "A"));
        let large = "x".repeat(LARGEST);
        for n in 0..200 {
            items.keep(at(1), &eve, one(&format!("msg_{n}"), &large));
        }
        assert!(items.lock().bytes <= MOST_BYTES);
        assert!(items.find(at(2), &ann, "msg_1").is_some());
        assert!(items.find(at(2), &eve, "msg_199").is_some());
        assert_eq!(items.find(at(2), &eve, "msg_0"), None);
        items.keep(at(2), &ann, one("msg_2", &"x".repeat(LARGEST + 1)));
        assert_eq!(items.find(at(2), &ann, "msg_2"), None);
        let many = (0..MOST + 10).map(|n| (format!("rs_{n}"), String::new())).collect();
        items.keep(at(3), &ann, many);
        assert_eq!(items.find(at(3), &ann, "rs_9"), None);
        assert!(items.find(at(3), &ann, "rs_10").is_some());
        assert_eq!(items.lock().of[&ann].order.len(), MOST);
    }
}
