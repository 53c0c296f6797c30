//! The relay's journal, read over its admin API.

use super::Relay;
use crate::clock;
use shared::admin::{RequestDetail, RequestPage, RequestRow};

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
