//! The relay's journal, read over its admin API.

use super::Relay;
use crate::clock;
use rusqlite::{Connection, OpenFlags};
use shared::admin::{RequestDetail, RequestPage, RequestRow};

/// A breaker's change, as the journal has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Whose.
    pub rung: String,
    /// The state before.
    pub before: String,
    /// The state after.
    pub after: String,
    /// The rule that spoke.
    pub rule: String,
    /// The weight afterwards.
    pub weight: f64,
}

impl Relay {
    /// The newest requests, newest first.
    pub async fn requests(&self) -> Vec<RequestRow> {
        let answer = self.admin_get("/admin/v1/requests?limit=500").await;
        assert_eq!(answer.status, 200, "{}", answer.body_text());
        let page: RequestPage = serde_json::from_slice(&answer.body)
            .unwrap_or_else(|error| panic!("{error}: {}", answer.body_text()));
        page.items
    }

    /// A request as the journal has it once it is final.
    pub async fn journaled(&self, id: &str) -> RequestDetail {
        clock::eventually(&format!("{id} to be journaled"), async || {
            let answer = self.admin_get(&format!("/admin/v1/requests/{id}")).await;
            // 404: not there yet. 503: there is no journal yet, which has a test of its own.
            if matches!(answer.status, 404 | 503) {
                return None;
            }
            assert_eq!(answer.status, 200, "{}", answer.body_text());
            let detail: RequestDetail = serde_json::from_slice(&answer.body)
                .unwrap_or_else(|error| panic!("{error}: {}", answer.body_text()));
            let running = detail.request.outcome.is_none()
                || detail.attempts.iter().any(|attempt| attempt.outcome.is_none());
            (!running).then_some(detail)
        })
        .await
    }

    /// The newest request once it is final: for a client that left before it knew its id.
    pub async fn newest(&self) -> RequestDetail {
        let id = clock::eventually("a request in the journal", async || {
            self.requests().await.first().map(|row| row.id)
        })
        .await;
        self.journaled(&id.to_string()).await
    }
}

impl Relay {
    /// The journal's file, opened for reading beside the relay.
    #[must_use]
    pub fn open_journal(&self) -> Connection {
        Connection::open_with_flags(self.journal_file(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
    }

    /// Every breaker transition that the journal has, oldest first.
    #[must_use]
    pub fn transitions(&self) -> Vec<Transition> {
        let file = self.open_journal();
        let columns = "SELECT at, rung, before, after, rule, weight FROM transitions ORDER BY id";
        let mut query = file.prepare(columns).unwrap();
        let rows = query.query_map([], |row| {
            Ok(Transition {
                at: row.get(0)?,
                rung: row.get(1)?,
                before: row.get(2)?,
                after: row.get(3)?,
                rule: row.get(4)?,
                weight: row.get(5)?,
            })
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// The same as `rung state rule`, in words to compare with.
    #[must_use]
    pub fn story(&self) -> Vec<String> {
        let words = |one: &Transition| format!("{} {} {}", one.rung, one.after, one.rule);
        self.transitions().iter().map(words).collect()
    }

    /// Waits until the journal's transitions are these, no more and no fewer.
    pub async fn tells(&self, story: &[&str]) {
        let told = clock::eventually("the breakers' transitions", async || {
            let told = self.story();
            (told.len() >= story.len()).then_some(told)
        })
        .await;
        assert_eq!(told, story);
    }
}

/// What was tried, as `rung kind outcome`, with the cause after a cancellation.
#[must_use]
pub fn tried(detail: &RequestDetail) -> Vec<String> {
    detail
        .attempts
        .iter()
        .map(|attempt| {
            let outcome = attempt.outcome.map_or("running", shared::AttemptOutcome::as_str);
            let cause = attempt.cause.map(|cause| format!(" {cause}")).unwrap_or_default();
            format!("{} {} {outcome}{cause}", attempt.rung, attempt.kind)
        })
        .collect()
}
