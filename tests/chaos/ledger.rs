//! What clients saw, and whether it was right.

use super::crowd::{Kind, LONGEST};
use super::world::END;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use tests::clock::{allow, ms, now};
use tests::{Answer, Page, Relay};

/// Faults that are printed.
const SHOWN: usize = 20;
/// What a relay at rest may hold beyond what it held after its first requests. Pools, buffers
/// and the allocator's habits are in it; a leak over minutes is not.
const MEMORY: u64 = 192 << 20;
/// The same for descriptors: idle connections to providers, mostly.
const DESCRIPTORS: usize = 96;

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// As a whole one, with this text.
    Whole(String),
    /// With an error in the stream.
    Broken,
    /// With an error instead of an answer.
    Failed,
    /// With the connection.
    Cut,
    /// In no way that is allowed.
    Wrong(String),
}

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Ledger {
    counts: Mutex<BTreeMap<String, u64>>,
    /// Requests by their ids, and whether they were whole.
    ended: Mutex<HashMap<String, bool>>,
    wrong: Mutex<Vec<String>>,
    figures: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    pub fn count(&self, what: &str) {
        *lock(&self.counts).entry(what.to_owned()).or_default() += 1;
    }

    pub fn wrong(&self, what: String) {
        eprintln!("chaos: wrong: {what}");
        lock(&self.wrong).push(what);
    }

    /// A client saw an answer to its end.
    pub fn saw(&self, kind: Kind, answer: &Answer, seen: Seen) {
        let Some(id) = answer.header("x-belay-request-id") else {
            self.wrong(format!("{kind:?}: {} without an id", answer.status));
            return;
        };
        let word = match &seen {
            Seen::Whole(text) if text.ends_with(END) => "whole",
            Seen::Whole(text) => {
                self.wrong(format!("{id} {kind:?}: told as whole, and is not: {text:?}"));
                "lies"
            }
            Seen::Wrong(why) => {
                self.wrong(format!("{id} {kind:?}: {why}: {}", answer.body_text()));
                "lies"
            }
            Seen::Broken => "broken",
            Seen::Failed => "failed",
            Seen::Cut => "cut",
        };
        self.count(&format!("{kind:?} {word}"));
        if answer.end_at > allow(LONGEST) {
            self.wrong(format!("{id} {kind:?}: took {:?}", answer.end_at));
        }
        if seen != Seen::Cut {
            lock(&self.ended).insert(id.to_owned(), matches!(seen, Seen::Whole(_)));
        }
    }

    /// Once all is calm: the journal is complete, and everything is at rest.
    pub async fn check_after(&self, relay: &Relay, (memory, descriptors): (u64, usize)) {
        self.eventually("requests to end and the journal to be written", async || {
            let page = relay.metrics().await;
            page.value("belay_requests_in_flight") < 0.5
                && page.value("belay_journal_queue_records") < 0.5
        })
        .await;
        let page = relay.metrics().await;
        let lost = page.value("belay_journal_lost_requests_total");
        if lost > 0.5 {
            self.wrong(format!("the journal has lost {lost} requests"));
        }
        if page.value("belay_relay_faults_total") > 0.5 {
            self.wrong("requests failed inside the relay".to_owned());
        }
        self.check_journal(relay);
        self.eventually("descriptors to be closed", async || {
            relay.descriptors() <= descriptors + DESCRIPTORS
        })
        .await;
        self.eventually("memory to be given back", async || relay.memory() <= memory + MEMORY)
            .await;
        let mut figures = lock(&self.figures);
        figures.push(format!(
            "memory {} MiB, {} after the first requests",
            relay.memory() >> 20,
            memory >> 20
        ));
        figures.push(format!(
            "descriptors {}, {descriptors} after the first requests",
            relay.descriptors()
        ));
        figures.push(format!("log lines lost {}", page.value("belay_log_lost_lines_total")));
        figures.push(format!("longest stall of a worker {}", longest_stall(&page)));
    }

    fn check_journal(&self, relay: &Relay) {
        let file = relay.open_journal();
        let mut rows = HashMap::new();
        let read = file.prepare("SELECT id, outcome FROM requests").and_then(|mut query| {
            let all = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            for row in all {
                let (id, outcome): (i64, Option<String>) = row?;
                let id = shared::RequestId::from_number(u64::try_from(id).unwrap_or_default());
                rows.insert(id.to_string(), outcome);
            }
            Ok(())
        });
        if let Err(error) = read {
            self.wrong(format!("the journal cannot be read: {error}"));
        }
        for (id, whole) in lock(&self.ended).iter() {
            match rows.get(id) {
                None => self.wrong(format!("{id} is not in the journal")),
                Some(None) => self.wrong(format!("{id} still runs, says the journal")),
                Some(Some(outcome)) if (outcome == "ok") != *whole => {
                    self.wrong(format!(
                        "{id} is '{outcome}' in the journal; its client saw whole: {whole}"
                    ));
                }
                Some(Some(_)) => {}
            }
        }
        lock(&self.figures).push(format!("{} requests in the journal", rows.len()));
    }

    async fn eventually(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let since = now();
        while !holds().await {
            if since.elapsed() > allow(LONGEST * 2) {
                self.wrong(format!("waited in vain for {what}"));
                return;
            }
            tokio::time::sleep(ms(100)).await;
        }
    }

    pub fn is_clean(&self) -> bool {
        lock(&self.wrong).is_empty()
    }

    pub fn report(&self) {
        for (what, count) in lock(&self.counts).iter() {
            println!("{count:>8} {what}");
        }
        for figure in lock(&self.figures).iter() {
            println!("         {figure}");
        }
        let wrong = lock(&self.wrong);
        println!("{:>8} faults of the relay", wrong.len());
        for what in wrong.iter().take(SHOWN) {
            println!("         {what}");
        }
    }
}

/// By the histogram's buckets: the upper edge of the highest one that is not empty.
fn longest_stall(page: &Page) -> String {
    let stalls = page.buckets("belay_worker_stall_seconds");
    let total = stalls.last().map_or(0.0, |(_, count)| *count);
    if total < 0.5 {
        return "none".to_owned();
    }
    let edge = stalls.iter().find(|(_, count)| *count >= total - 0.5);
    edge.map_or("unknown".to_owned(), |(edge, _)| format!("under {edge} s, of {total}"))
}
