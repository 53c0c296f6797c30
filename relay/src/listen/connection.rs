//! One client connection: HTTP/1.1 over a socket that is watched for a client
//! that does not read.
//!
//! Hyper notices a client that closes, also while an answer is awaited or
//! idle, and drops the request's future or body; with it go the upstream calls.
//! A client that neither closes nor reads would hold them for ever: a write
//! that makes no progress for too long ends the connection.

use super::seats::Seat;
use crate::drive::{Drain, Peer, Relay};
use crate::policy::Time;
use crate::wall;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// A connection that sends no request for this long is closed.
const HEADER_TIME: Duration = Duration::from_secs(60);
/// One that has never sent a whole head is closed after this.
const FIRST_HEAD: Duration = Duration::from_secs(10);
/// Request heads, and what a stream may hold for a slow client, are bounded by this.
const BUFFER: usize = 64 * 1024;

/// After the relay's last moment has come, so long may the last bytes take to their client.
const LAST_WORDS: Duration = Duration::from_millis(150);

/// A listener's limits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at the same time.
    pub connections: usize,
    /// From here on connections are closed once they are idle.
    pub until: Drain,
}

/// Serves one connection until it closes, or until it is idle and the relay drains.
pub(super) async fn serve(
    socket: TcpStream,
    router: Router,
    relay: Arc<Relay>,
    limits: Limits,
    seat: Arc<Seat>,
) {
    // Small writes must not wait for the client's acknowledgement of the one before.
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was refused");
    }
    let address = socket.peer_addr().ok().map(|from| from.ip().to_canonical());
    let peer = Arc::new(Peer::at(address));
    let write_timeout = relay.in_force().config.server.client_write_timeout;
    let io = Watched::new(socket, Arc::clone(&peer), write_timeout);
    let asking = Arc::clone(&seat);
    let service = tower::util::MapRequest::new(router, move |mut request: http::Request<_>| {
        asking.be_busy();
        peer.set_ends(Time::default());
        request.extensions_mut().insert(Arc::clone(&peer));
        request
    });
    let answering = Arc::clone(&seat);
    let service = tower::util::MapResponse::new(service, move |response: http::Response<_>| {
        let seat = Arc::clone(&answering);
        response.map(|body| Answer { body, seat })
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(io), TowerToHyperService::new(service));
    tokio::pin!(connection);
    // One that comes while the relay drains is there to be told so.
    let until = if relay.drain() < limits.until { limits.until } else { Drain::Cut };
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = seat.asked_to_leave() => Ok(()),
        () = never_asks(&seat) => Ok(()),
        () = relay.until(until) => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = last_words(&relay) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        // Clients leave in many ways; each is in the journal if a request ran.
        tracing::debug!(%error, "connection ended");
    }
}

/// A stranger may be silent for less time than a client between two requests.
async fn never_asks(seat: &Seat) {
    tokio::time::sleep(FIRST_HEAD).await;
    if seat.has_asked() {
        std::future::pending::<()>().await;
    }
}

/// An answer's body; its connection is at work until it is dropped.
struct Answer {
    body: axum::body::Body,
    seat: Arc<Seat>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.seat.be_idle();
    }
}

impl http_body::Body for Answer {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// A client that does not take its last bytes does not hold the exit up.
async fn last_words(relay: &Relay) {
    relay.until(Drain::Cut).await;
    tokio::time::sleep(LAST_WORDS).await;
}

/// A socket whose stuck writes run into a time limit.
struct Watched {
    socket: TcpStream,
    peer: Arc<Peer>,
    limit: Duration,
    /// Runs while a write is stuck.
    stuck: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    fn new(socket: TcpStream, peer: Arc<Peer>, limit: Duration) -> Self {
        Self { socket, peer, limit, stuck: None }
    }

    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.stuck = None;
            return progress;
        }
        let limit = self.peer.patience(wall::now(), self.limit);
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        match stuck.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                self.peer.set_stalled();
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.watch(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.watch(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
