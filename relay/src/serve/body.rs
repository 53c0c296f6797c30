//! A request's body: read into one buffer, within its own limit and that of all together.

use super::reject::Rejection;
use crate::config::Server;
use crate::drive::Held;
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use std::time::Duration;

/// A client that takes longer to send its request is not a chat frontend.
const BODY_TIME: Duration = Duration::from_secs(60);

/// After so many pieces others have their turn: a body may come byte by byte, a thousand
/// pieces with each read.
const PIECES: usize = 128;

/// Reads `body`. What it takes is counted in `held` as it comes: a length that is only
/// announced takes nothing.
///
/// # Errors
/// It is too large, too slow, or broken off, or the relay has no room for it now.
pub(super) async fn read(body: Body, server: &Server, held: &mut Held) -> Result<Bytes, Rejection> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    // What says that it is too large is not read, and not asked to continue.
    if announced > server.max_body {
        return Err(Rejection::too_large(server.max_body));
    }
    let reading = pieces(body, BytesMut::with_capacity(announced), server, held);
    tokio::time::timeout(BODY_TIME, reading).await.unwrap_or_else(|_elapsed| {
        Err(Rejection::new(
            StatusCode::REQUEST_TIMEOUT,
            "slow_body",
            format!("The request's body did not come within {BODY_TIME:?}. Send it again."),
        ))
    })
}

async fn pieces(
    mut body: Body,
    mut whole: BytesMut,
    server: &Server,
    held: &mut Held,
) -> Result<Bytes, Rejection> {
    let mut pieces = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(Rejection::new(
                StatusCode::BAD_REQUEST,
                "incomplete_body",
                "The request's body broke off. Send it again.",
            ));
        };
        let Ok(piece) = frame.into_data() else { continue };
        if whole.len().saturating_add(piece.len()) > server.max_body {
            return Err(Rejection::too_large(server.max_body));
        }
        grow(held, piece.len(), server)?;
        whole.extend_from_slice(&piece);
        pieces = pieces.wrapping_add(1);
        if pieces.is_multiple_of(PIECES) {
            tokio::task::yield_now().await;
        }
    }
    Ok(whole.freeze())
}

/// Counts `more` bytes.
///
/// # Errors
/// All requests together hold as many as they may.
pub(super) fn grow(held: &mut Held, more: usize, server: &Server) -> Result<(), Rejection> {
    if held.grow(more, server.max_in_flight_bytes) {
        return Ok(());
    }
    Err(Rejection::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too_many_bytes_in_flight",
        "The relay holds as many bytes of requests as server.max_in_flight_bytes allows. Send it \
         again shortly.",
    )
    .retry_after(Duration::from_secs(1)))
}
