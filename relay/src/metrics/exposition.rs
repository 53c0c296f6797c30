//! The page's format: the Prometheus text that everybody reads, or `OpenMetrics`
//! for those who ask for it, as Prometheus itself does.

use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::registry::Registry;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus text, version 0.0.4: for `curl`, and for older scrapers.
    Prometheus,
    /// `OpenMetrics` 1.0.0.
    OpenMetrics,
}

impl Format {
    /// The format that an `Accept` header asks for; Prometheus text without one.
    #[must_use]
    pub fn accepted(accept: Option<&str>) -> Self {
        let refused = |range: &str| {
            let weight = range.split(';').find_map(|part| part.trim().strip_prefix("q="));
            weight.and_then(|weight| weight.parse::<f64>().ok()).is_some_and(|weight| weight <= 0.0)
        };
        let asks = |range: &str| {
            let kind = range.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/openmetrics-text") && !refused(range)
        };
        if accept.is_some_and(|accept| accept.split(',').any(asks)) {
            Self::OpenMetrics
        } else {
            Self::Prometheus
        }
    }

    /// Its `Content-Type`.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => prometheus_text::CONTENT_TYPE,
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

pub(super) fn encode(registry: &Registry, format: Format) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    match format {
        Format::Prometheus => prometheus_text::encode(&mut page, registry)?,
        Format::OpenMetrics => text::encode(&mut page, registry)?,
    }
    Ok(page)
}
