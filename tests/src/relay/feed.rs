//! The relay's board and feed, as a console reads them.

use super::Relay;
use crate::client::{Exchange, request};
use serde::de::DeserializeOwned;
use serde_json::Value;
use shared::admin::Board;
use std::time::Instant;

/// One event of the feed.
#[derive(Debug, Clone)]
pub struct FeedEvent {
    /// The relay's life.
    pub boot: String,
    /// Its number.
    pub seq: u64,
    /// What it is about.
    pub kind: String,
    /// What it says.
    pub data: Value,
    /// When its last byte came.
    pub at: Instant,
}

impl FeedEvent {
    /// Its `Last-Event-ID`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}.{}", self.boot, self.seq)
    }

    /// What it says, as one of the admin API's types.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self) -> T {
        serde_json::from_value(self.data.clone())
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.kind, self.data))
    }
}

/// A feed being read.
#[derive(Debug)]
pub struct Feed {
    exchange: Exchange,
    /// Bytes of the body that were read as events.
    used: usize,
}

impl Feed {
    /// The next event; waits for it. `None` at the end.
    pub async fn next(&mut self) -> Option<FeedEvent> {
        loop {
            let (body, reads) = self.exchange.so_far();
            let rest = &body[self.used..];
            if let Some(length) = rest.windows(2).position(|two| two == b"\n\n") {
                let end = self.used + length + 2;
                let block = std::str::from_utf8(&rest[..length]).expect("events are UTF-8");
                let came = reads.iter().find(|read| read.end >= end).expect("it was read").at;
                let event = event(block, self.exchange.sent_at() + came);
                self.used = end;
                return Some(event);
            }
            if !self.exchange.more().await {
                return None;
            }
        }
    }

    /// The next event of this kind for which `holds`; those before it are dropped.
    pub async fn until(&mut self, kind: &str, holds: impl Fn(&Value) -> bool) -> FeedEvent {
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("the feed ended before {kind}"));
            if event.kind == kind && holds(&event.data) {
                return event;
            }
        }
    }

    /// Leaves.
    pub fn leave(self) {
        let _at = self.exchange.hang_up();
    }
}

fn event(block: &str, at: Instant) -> FeedEvent {
    let lines: Vec<&str> = block.split('\n').collect();
    let [id, kind, data] = lines.as_slice() else { panic!("three lines: {block:?}") };
    let field = |line: &str, name: &str| {
        line.strip_prefix(name).unwrap_or_else(|| panic!("{name:?} in {line:?}")).to_owned()
    };
    let id = field(id, "id: ");
    let (boot, seq) = id.split_once('.').expect("boot.seq");
    FeedEvent {
        boot: boot.to_owned(),
        seq: seq.parse().expect("a number"),
        kind: field(kind, "event: "),
        data: serde_json::from_str(&field(data, "data: ")).expect("data is JSON"),
        at,
    }
}

impl Relay {
    /// How it says that everything stands.
    pub async fn board(&self) -> Board {
        let answer = self.admin_get("/admin/v1/board").await;
        assert_eq!(answer.status, 200, "{}", answer.body_text());
        serde_json::from_slice(&answer.body)
            .unwrap_or_else(|error| panic!("{error}: {}", answer.body_text()))
    }

    /// Opens the feed after the event `last`, with this query, such as `?topics=requests`.
    pub async fn feed_after(&self, last: Option<&str>, query: &str) -> Feed {
        let headers: Vec<_> = last.map(|id| ("last-event-id", id)).into_iter().collect();
        let path = format!("/admin/v1/feed{query}");
        let bytes = request(self.admin(), "GET", &path, &headers, None);
        let mut exchange = Exchange::start(self.admin(), &bytes).await;
        let head = exchange.head().await;
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        Feed { exchange, used: 0 }
    }

    /// Opens the feed, which begins with a snapshot.
    pub async fn feed(&self) -> Feed {
        self.feed_after(None, "").await
    }
}
