//! The relay's numbers, as a scraper reads them.

use super::Relay;
use crate::page::Page;

impl Relay {
    /// The page of metrics at this moment.
    pub async fn metrics(&self) -> Page {
        Page::read(&self.metrics_text().await)
    }

    /// The same as it was sent.
    pub async fn metrics_text(&self) -> String {
        let answer = self.admin_get("/metrics").await;
        assert_eq!(answer.status, 200, "{}", answer.body_text());
        answer.body_text().to_owned()
    }
}
