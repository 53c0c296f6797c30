//! One client connection: HTTP/1.1 over a socket that is watched for a client
//! that does not read.
//!
//! Hyper notices a client that closes, also while an answer is awaited or
//! idle, and drops the request's future or body; with it go the upstream calls.
//! A client that neither closes nor reads would hold them for ever: a write
//! that makes no progress for too long ends the connection.
//!
//! Hyper notices nothing while something of the client's is unread, be it a line end behind
//! the body or a request that was sent ahead: then the socket itself is asked, now and then.
//!
//! An answer that is given before the request was read to its end (it is too large, its key
//! is wrong) would be lost with a reset if the connection were closed at once: what still
//! comes is read for a moment, and thrown away.

use super::seats::Seat;
use crate::drive::{Drain, Hub, Peer};
use crate::wall;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use policy::Time;
use socket2::SockRef;
use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
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

/// How often a socket that is not read is asked whether its client has left.
const LOOK: Duration = Duration::from_millis(100);
/// What comes after the last answer is read for so long, and for so long while nothing comes.
const LINGER: Duration = Duration::from_secs(3);
const LINGER_SILENT: Duration = Duration::from_millis(500);

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
    relay: Arc<Hub>,
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
    let socket = Arc::new(Socket { stream: socket, is_heard: AtomicBool::new(false) });
    let io = Watched::new(Arc::clone(&socket), Arc::clone(&peer), write_timeout);
    let stalled = Arc::clone(&peer);
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
    let mut leaving = Leaving { socket: &socket, look: None };
    // One that comes while the relay drains is there to be told so.
    let until = if relay.signals.drain() < limits.until { limits.until } else { Drain::Cut };
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        // Another connection waits for the seat, or this one never sent a request: close at once.
        () = seat.asked_to_leave() => return,
        () = never_asks(&seat) => return,
        // After the connection, so that it sees how that has left the socket.
        () = std::future::poll_fn(|cx| leaving.poll(cx)) => return,
        () = relay.signals.until(until) => {
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
    if !stalled.is_stalled() {
        tokio::select! {
            () = linger(&socket.stream) => {}
            () = relay.signals.until(Drain::Cut) => {}
        }
    }
}

/// Reads what a client still sends, so that it can read what it was told.
async fn linger(socket: &TcpStream) {
    let _gone = SockRef::from(socket).shutdown(Shutdown::Write);
    let mut nothing = vec![0; 16 * 1024];
    let reading = async {
        while let Ok(Ok(())) = tokio::time::timeout(LINGER_SILENT, socket.readable()).await {
            match socket.try_read(&mut nothing) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_reset) => return,
            }
        }
    };
    let _read_or_enough = tokio::time::timeout(LINGER, reading).await;
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
async fn last_words(relay: &Hub) {
    relay.signals.until(Drain::Cut).await;
    tokio::time::sleep(LAST_WORDS).await;
}

/// A client's socket, and whether a reader waits for its next bytes.
struct Socket {
    stream: TcpStream,
    /// The last read found nothing and will be told of more, of a client that leaves too.
    is_heard: AtomicBool,
}

/// Finds that a client has left whom nobody hears.
struct Leaving<'s> {
    socket: &'s Socket,
    look: Option<Pin<Box<Sleep>>>,
}

impl Leaving<'_> {
    /// Ready: it has left.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.socket.is_heard.load(Ordering::Relaxed) {
                self.look = None;
                return Poll::Pending;
            }
            let look = self.look.get_or_insert_with(|| Box::pin(tokio::time::sleep(LOOK)));
            if look.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.look = None;
            let ready = std::pin::pin!(self.socket.stream.ready(Interest::READABLE));
            if let Poll::Ready(ready) = ready.poll(cx)
                && ready.map_or(true, |ready| ready.is_read_closed())
            {
                return Poll::Ready(());
            }
        }
    }
}

/// A socket whose stuck writes run into a time limit.
struct Watched {
    socket: Arc<Socket>,
    peer: Arc<Peer>,
    limit: Duration,
    /// Runs while a write is stuck.
    stuck: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    fn new(socket: Arc<Socket>, peer: Arc<Peer>, limit: Duration) -> Self {
        Self { socket, peer, limit, stuck: None }
    }

    /// Writes as soon as there is room, within the time limit.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream = &self.socket.stream;
        let progress = loop {
            match stream.poll_write_ready(cx) {
                Poll::Pending => break Poll::Pending,
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => match write(stream) {
                    // There was no room after all: it is waited for anew.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    wrote => break Poll::Ready(wrote),
                },
            }
        };
        self.watch(cx, progress)
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
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Socket { stream, is_heard } = &*self.socket;
        let read = loop {
            match stream.poll_read_ready(cx) {
                Poll::Pending => break Poll::Pending,
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => match stream.try_read_buf(buf) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => break Poll::Ready(read.map(drop)),
                },
            }
        };
        is_heard.store(read.is_pending(), Ordering::Relaxed);
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, |stream| stream.try_write(buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, |stream| stream.try_write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.socket.stream).shutdown(Shutdown::Write))
    }
}
