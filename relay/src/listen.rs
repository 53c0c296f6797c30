//! Listening: accepts connections, counts them, and stops when told to.
//!
//! What the data plane and the admin plane have in common stands here: bounded
//! connections, stuck clients, foreign hosts and origins.

mod connection;
mod guard;
mod seats;

pub use connection::Limits;
pub use guard::{Foreign, Guard};

use crate::drive::{Drain, Hub};
use axum::Router;
use seats::{Seat, Seats};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// After a failed accept (too many open files, mostly) the next try waits this long.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What the kernel holds for a client that is slower than its answer.
const SEND_BUFFER: usize = 128 * 1024;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// A bound socket, not yet serving.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    /// Where it listens; the port is known here, also where the config said 0.
    pub addr: SocketAddr,
}

impl Listener {
    /// Binds `addr`.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub fn bind(addr: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None)?;
        // A restart must not wait for the last one's connections to be forgotten.
        socket.set_reuse_address(true)?;
        // Accepted sockets inherit it: without it the kernel takes megabytes for a client
        // that does not read, and tells of its progress only once a minute.
        socket.set_send_buffer_size(SEND_BUFFER)?;
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let socket = TcpListener::from(socket);
        let addr = socket.local_addr()?;
        Ok(Self { socket, addr })
    }

    /// The same socket once more, for another worker to accept from.
    ///
    /// # Errors
    /// The process has too many files open.
    pub fn share(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()?, addr: self.addr })
    }

    /// Serves `router` until the relay's last moment, and until the last connection
    /// has closed. While it drains, connections are still taken, so that whoever
    /// comes is told instead of reset.
    ///
    /// # Errors
    /// The socket cannot be watched by this runtime.
    pub async fn serve(self, router: Router, relay: Arc<Hub>, limits: Limits) -> io::Result<()> {
        let socket = tokio::net::TcpListener::from_std(self.socket)?;
        let seats = Seats::new(limits.connections);
        let mut failures = 0_u64;
        loop {
            let accepted = tokio::select! {
                () = relay.signals.until(Drain::Cut) => break,
                accepted = accept(&socket, &seats) => accepted,
            };
            match accepted {
                Ok((socket, seat)) => {
                    let (router, relay) = (router.clone(), Arc::clone(&relay));
                    tokio::spawn(connection::serve(socket, router, relay, limits, seat));
                }
                Err(error) => {
                    failures += 1;
                    // Often enough to be seen, never a flood.
                    if failures.is_power_of_two() {
                        tracing::warn!(%error, failures, "no connection could be accepted");
                    }
                    // An idle one has a descriptor to give.
                    seats.make_room();
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        seats.all_free(limits.connections).await;
        Ok(())
    }
}

async fn accept(
    socket: &tokio::net::TcpListener,
    seats: &Seats,
) -> io::Result<(tokio::net::TcpStream, Arc<Seat>)> {
    let (socket, from) = socket.accept().await?;
    // Where every seat is at work, further ones wait in the kernel's queue.
    Ok((socket, seats.take(Some(from.ip().to_canonical())).await))
}
