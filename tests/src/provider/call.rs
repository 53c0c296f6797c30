//! One request as the provider saw it, and what became of it.

use crate::clock;
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// One request at a provider.
#[derive(Debug)]
pub struct Call {
    /// Its number at this provider, from 0.
    pub n: usize,
    /// Its connection's number, from 0.
    pub connection: usize,
    /// Its number on that connection, from 0.
    pub on_connection: usize,
    /// When it had been read.
    pub at: Instant,
    /// Such as `POST /v1/chat/completions HTTP/1.1`.
    pub request_line: String,
    /// Names in the case they came in.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    pub(super) writes: Mutex<Vec<(Instant, usize)>>,
    pub(super) whole: AtomicBool,
    pub(super) closed: watch::Receiver<Option<Instant>>,
}

impl Call {
    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the relay sends JSON")
    }

    /// The value of a header, whatever its case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// How many writes of body were made.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.writes.lock().unwrap().len()
    }

    /// How many bytes of body were written.
    #[must_use]
    pub fn bytes_sent(&self) -> usize {
        self.writes.lock().unwrap().iter().map(|&(_, bytes)| bytes).sum()
    }

    /// When the n-th write of body was made, from 0; waits for it.
    pub async fn wrote(&self, n: usize) -> Instant {
        clock::eventually("the provider's write", async || {
            self.writes.lock().unwrap().get(n).map(|&(at, _)| at)
        })
        .await
    }

    /// Whether the connection is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.borrow().is_some()
    }

    /// When the connection was closed, by the peer unless the script did; waits for it.
    pub async fn closed(&self) -> Instant {
        let mut closed = self.closed.clone();
        clock::within("the relay to close the provider's connection", async {
            let at = *closed.wait_for(Option::is_some).await.expect("the connection's task lives");
            at.expect("just waited for")
        })
        .await
    }

    /// Waits until nothing more can come of this call: its connection is closed,
    /// or its reply was sent to its proper end, after which the connection may live on.
    pub async fn over(&self) {
        clock::eventually("the call to be over", async || {
            (self.is_closed() || self.whole.load(Ordering::SeqCst)).then_some(())
        })
        .await;
    }

    /// How long after `since` the connection was closed; waits for it.
    pub async fn closed_after(&self, since: Instant) -> Duration {
        self.closed().await.saturating_duration_since(since)
    }
}
