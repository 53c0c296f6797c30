//! Tells whether a call went out on a new connection or on a reused one.
//!
//! A provider may close an idle connection at the very moment it is reused;
//! such a call died of the relay's own pooling, and the walk dials once more. To
//! know it, the connector leaves a mark in the task of the call that made it
//! connect. (A call that started a connection but was handed a freed one
//! instead counts as new: then the rung is blamed, and nothing is dialled for free.)

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tower::{Layer, Service};

tokio::task_local! {
    static CONNECTED: Arc<AtomicBool>;
}

/// Runs `call`; also returns whether it made a new connection.
pub(super) async fn watching<F: Future>(call: F) -> (F::Output, bool) {
    let mark = Arc::new(AtomicBool::new(false));
    let answer = CONNECTED.scope(Arc::clone(&mark), call).await;
    (answer, mark.load(Ordering::Relaxed))
}

/// The layer around reqwest's connector.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkLayer;

impl<S> Layer<S> for MarkLayer {
    type Service = FreshStream<S>;

    fn layer(&self, inner: S) -> FreshStream<S> {
        FreshStream { inner }
    }
}

/// A connector that leaves the mark.
#[derive(Debug, Clone)]
pub(super) struct FreshStream<S> {
    inner: S,
}

impl<S, R> Service<R> for FreshStream<S>
where
    S: Service<R>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> S::Future {
        // A connection made ahead belongs to no watched call.
        let _outside_a_call = CONNECTED.try_with(|mark| mark.store(true, Ordering::Relaxed));
        self.inner.call(request)
    }
}
