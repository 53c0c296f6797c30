//! The orders in which a list of requests can be sorted, all of them greatest first.
//!
//! Rows without a value to sort by (no token, no known cost) come last. A list of the slowest must
//! not begin with requests that got no token, but nothing is left out.

use std::str::FromStr;

/// What a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Newest first.
    #[default]
    At,
    /// Most expensive first.
    Cost,
    /// Latest first token first.
    Ttft,
    /// Longest first.
    Total,
    /// Most attempts first.
    Attempts,
}

impl Sort {
    const ALL: [Self; 5] = [Self::At, Self::Cost, Self::Ttft, Self::Total, Self::Attempts];

    /// Its word in a query and in a cursor.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::At => "-at",
            Self::Cost => "-cost",
            Self::Ttft => "-ttft",
            Self::Total => "-total",
            Self::Attempts => "-attempts",
        }
    }

    /// The index that gives its order. By time there is none, so that the planner may use the index
    /// of a name.
    pub(super) const fn index(self) -> Option<&'static str> {
        match self {
            Self::At => None,
            Self::Cost => Some("requests_cost"),
            Self::Ttft => Some("requests_ttft"),
            Self::Total => Some("requests_total"),
            Self::Attempts => Some("requests_attempts"),
        }
    }

    pub(super) const fn column(self) -> &'static str {
        match self {
            Self::At => "r.at",
            Self::Cost => "r.cost_nano",
            Self::Ttft => "r.ttft_ms",
            Self::Total => "r.latency_ms",
            Self::Attempts => "r.attempts_made",
        }
    }
}

/// A word that names no sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSort;

impl std::fmt::Display for NoSort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<_> = Sort::ALL.into_iter().map(Sort::as_str).collect();
        write!(f, "this is no sort; these are: {}", words.join(", "))
    }
}

impl std::error::Error for NoSort {}

impl FromStr for Sort {
    type Err = NoSort;

    fn from_str(text: &str) -> Result<Self, NoSort> {
        Self::ALL.into_iter().find(|sort| sort.as_str() == text).ok_or(NoSort)
    }
}
