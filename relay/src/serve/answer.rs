//! A driver as an HTTP answer: first the head or a whole reply, then the body.
//!
//! A panic while a request is driven ends that request, truthfully, and
//! nothing else.

use crate::drive::{Driver, Head, Out, Reply};
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body, Frame};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// What a driver's request turned out to be.
pub(super) enum First {
    Stream(Head),
    Whole(Reply),
}

/// A request's own code failed twice: there is no truthful ending to be had from it.
#[derive(Debug)]
pub(super) struct Fault;

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the relay failed on this request")
    }
}

impl std::error::Error for Fault {}

/// A driver whose panics stay its own.
pub(super) struct Guarded {
    driver: Box<Driver>,
    faults: u8,
}

impl Guarded {
    pub(super) fn new(driver: Driver) -> Self {
        Self { driver: Box::new(driver), faults: 0 }
    }

    /// Waits for the head or the whole reply.
    pub(super) async fn first(&mut self) -> Result<First, Fault> {
        match std::future::poll_fn(|cx| self.poll(cx)).await? {
            Some(Out::Head(head)) => Ok(First::Stream(head)),
            Some(Out::Answer(reply)) => Ok(First::Whole(reply)),
            // A driver begins with one of the two.
            Some(Out::Bytes(_)) | None => Err(Fault),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Out>, Fault>> {
        loop {
            let driver = &mut self.driver;
            match catch_unwind(AssertUnwindSafe(|| driver.poll_out(cx))) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(out)) => return Poll::Ready(Ok(out)),
                Err(_panic) if self.faults == 0 => {
                    self.faults = 1;
                    let told = catch_unwind(AssertUnwindSafe(|| self.driver.fault()));
                    if !told.unwrap_or(false) {
                        return Poll::Ready(Err(Fault));
                    }
                }
                Err(_panic) => return Poll::Ready(Err(Fault)),
            }
        }
    }
}

/// A stream's body.
pub(super) struct StreamBody(Guarded);

impl StreamBody {
    pub(super) fn response(guarded: Guarded, head: Head) -> Response {
        let mut response = Response::new(axum::body::Body::new(Self(guarded)));
        *response.headers_mut() = head.headers;
        response
    }
}

impl Body for StreamBody {
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        match self.0.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(Some(Out::Bytes(bytes)))) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Poll::Ready(Ok(None)) => Poll::Ready(None),
            // Heads come once, before the body.
            Poll::Ready(Ok(Some(Out::Head(_) | Out::Answer(_))) | Err(Fault)) => {
                Poll::Ready(Some(Err(Fault)))
            }
        }
    }
}
