//! One reader of the feed: what it has read, and what comes next.

use super::{Feed, Gone, Present, Read, Topics, json, sse};
use bytes::{Bytes, BytesMut};
use shared::admin::FeedKind;
use shared::admin::board::{Board, OperatorHere};
use shared::admin::feed::Operators;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::watch;

/// One reader. It is among those present until it is dropped.
#[derive(Debug)]
pub struct Listener {
    feed: Arc<Feed>,
    id: u64,
    topics: Topics,
    /// Read up to here; `None`: a snapshot comes first.
    seen: Option<u64>,
    /// Rows of requests read, those left out included.
    rows: u64,
    news: watch::Receiver<u64>,
}

impl Listener {
    /// Starts reading after the event `last`, an id of this feed's; without one, or with
    /// one of another life, from a snapshot.
    #[must_use]
    pub fn new(feed: &Arc<Feed>, who: OperatorHere, topics: Topics, last: Option<&str>) -> Self {
        let seen = last.and_then(|last| last.strip_prefix(feed.boot())?.strip_prefix('.'));
        let seen = seen.and_then(|seq| seq.parse().ok());
        let news = feed.newest.subscribe();
        let (id, rows) = {
            let mut inner = feed.inner();
            inner.next_listener += 1;
            let id = inner.next_listener;
            inner.present.push(Present { id, who });
            (id, inner.requests.rows)
        };
        feed.wants_requests.fetch_add(usize::from(topics.requests), Ordering::Relaxed);
        feed.watching.send_modify(|count| *count += 1);
        feed.publish(FeedKind::Operators, &Operators { operators: feed.present() });
        Self { feed: Arc::clone(feed), id, topics, seen, rows, news }
    }

    /// What comes next, as it goes over the wire; waits for it. `snapshot` is asked where
    /// nothing leads from what was read to now.
    pub async fn next(&mut self, snapshot: impl Fn() -> Board) -> Bytes {
        loop {
            self.news.borrow_and_update();
            let rows = self.rows;
            let read = self.seen.map(|seq| Read { seq, rows }).ok_or(Gone);
            let Ok((read, texts)) = read.and_then(|read| self.feed.since(read, self.topics)) else {
                let board = snapshot();
                self.seen = Some(board.seq);
                let said = json(&board).unwrap_or_default();
                return sse(self.feed.boot(), board.seq, FeedKind::Snapshot, &said);
            };
            (self.seen, self.rows) = (Some(read.seq), read.rows);
            if !texts.is_empty() {
                let mut all = BytesMut::with_capacity(texts.iter().map(Bytes::len).sum());
                texts.iter().for_each(|text| all.extend_from_slice(text));
                return all.freeze();
            }
            if self.news.changed().await.is_err() {
                // The feed lives as long as its listeners: this does not happen.
                return Bytes::new();
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.feed.wants_requests.fetch_sub(usize::from(self.topics.requests), Ordering::Relaxed);
        self.feed.watching.send_modify(|count| *count = count.saturating_sub(1));
        let id = self.id;
        let present = {
            let mut inner = self.feed.inner();
            inner.present.retain(|present| present.id != id);
            if self.feed.wants_requests.load(Ordering::Relaxed) == 0 {
                inner.requests.pending.clear();
                inner.requests.batches.clear();
            }
            inner.present.iter().map(|present| present.who.clone()).collect()
        };
        self.feed.publish(FeedKind::Operators, &Operators { operators: present });
    }
}
