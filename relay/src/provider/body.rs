//! A request's body on its way out.
//!
//! A large body is handed over in pieces, and between two of them the reactor looks at the
//! sockets. A provider that refuses a body early answers and closes while it is still being
//! sent. Its answer has to be seen before the next write fails: the HTTP client gives up a
//! connection at a failed write, and the answer that lies in the socket is lost with it.

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A larger body is sent in pieces of this length. One that is smaller fits into the socket's
/// buffer.
pub(super) const PIECE: usize = 64 * 1024;

/// The body as it is sent.
pub(super) fn outgoing(body: Bytes) -> reqwest::Body {
    if body.len() <= PIECE {
        return body.into();
    }
    reqwest::Body::wrap(Pieces { rest: body, turn: None })
}

type Turn = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

struct Pieces {
    rest: Bytes,
    /// Waits for the reactor's next look at the sockets.
    turn: Option<Turn>,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(turn) = &mut self.turn {
            ready!(turn.as_mut().poll(cx));
            self.turn = None;
        }
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        self.turn = Some(Box::pin(tokio::task::yield_now()));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    #[tokio::test]
    async fn a_large_body_arrives_whole_and_its_length_is_known() {
        for length in [0, 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7] {
            let body: Bytes = (0..length).map(|n| n.to_le_bytes()[0]).collect();
            let out = outgoing(body.clone());
            let hint = http_body::Body::size_hint(&out).exact();
            assert_eq!(hint, Some(length as u64), "{length}");
            assert_eq!(out.collect().await.unwrap().to_bytes(), body, "{length}");
        }
    }
}
