//! A counter of money: added up in whole nano-dollars, shown in dollars.
//!
//! Floating point sums drift: a million answers of a thousandth of a cent each
//! would not come out where the journal's sum does.

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::{MetricType, TypedMetric};
use shared::NanoUsd;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A sum of money; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Dollars(Arc<AtomicI64>);

impl Dollars {
    /// Adds a cost; one below zero, which no price gives, is left out.
    pub(super) fn add(&self, cost: NanoUsd) {
        self.0.fetch_add(cost.0.max(0), Ordering::Relaxed);
    }
}

impl TypedMetric for Dollars {
    const TYPE: MetricType = MetricType::Counter;
}

impl EncodeMetric for Dollars {
    fn encode(&self, encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        ConstCounter::new(NanoUsd(self.0.load(Ordering::Relaxed)).usd()).encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}
