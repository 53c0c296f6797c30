//! A metric's series by their labels, in a fixed order.
//!
//! The library's own family hashes them: fine for Prometheus, but a person at
//! night who reads the page with `curl` must find a rung's lines side by side,
//! and in the same place when they look again.

use parking_lot::RwLock;
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Series of one metric; clones share them.
#[derive(Debug)]
pub(super) struct Series<L, M> {
    by_labels: Arc<RwLock<BTreeMap<L, M>>>,
    make: fn() -> M,
}

impl<L, M> Clone for Series<L, M> {
    fn clone(&self) -> Self {
        Self { by_labels: Arc::clone(&self.by_labels), make: self.make }
    }
}

impl<L, M> Series<L, M>
where
    L: Ord + Clone + Debug + EncodeLabelSet + Send + Sync + 'static,
    M: Clone + Debug + EncodeMetric + TypedMetric + Send + Sync + 'static,
{
    /// None yet, registered as `name`; `make` makes one that has counted nothing.
    pub(super) fn made_by(
        make: fn() -> M,
        registry: &mut Registry,
        name: &str,
        help: &str,
    ) -> Self {
        let series = Self { by_labels: Arc::default(), make };
        registry.register(name, help, series.clone());
        series
    }

    /// None yet, registered as `name`.
    pub(super) fn new(registry: &mut Registry, name: &str, help: &str) -> Self
    where
        M: Default,
    {
        Self::made_by(M::default, registry, name, help)
    }

    /// The one with these labels; made where it is missing.
    pub(super) fn of(&self, labels: L) -> M {
        let known = self.by_labels.read();
        if let Some(metric) = known.get(&labels) {
            return metric.clone();
        }
        drop(known);
        let mut all = self.by_labels.write();
        all.entry(labels).or_insert_with(self.make).clone()
    }

    /// Forgets those whose labels are not worth keeping.
    pub(super) fn retain(&self, mut keep: impl FnMut(&L) -> bool) {
        let mut all = self.by_labels.write();
        all.retain(|labels, _| keep(labels));
    }

    /// Makes it, so that it is seen before anything happens.
    pub(super) fn begin(&self, labels: L) {
        drop(self.of(labels));
    }
}

impl<L, M: TypedMetric> TypedMetric for Series<L, M> {
    const TYPE: MetricType = M::TYPE;
}

impl<L: EncodeLabelSet, M: EncodeMetric + TypedMetric> EncodeMetric for Series<L, M> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let all = self.by_labels.read();
        for (labels, metric) in all.iter() {
            metric.encode(encoder.encode_family(labels)?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        M::TYPE
    }

    fn is_empty(&self) -> bool {
        self.by_labels.read().is_empty()
    }
}
