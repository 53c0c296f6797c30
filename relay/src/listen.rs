//! Listening: accepts connections, counts them, and stops when told to.
//!
//! What the data plane and the admin plane have in common stands here: bounded
//! connections, stuck clients, foreign hosts and origins.

mod connection;
mod guard;

pub use connection::Limits;
pub use guard::{Foreign, Guard};

use crate::drive::{Drain, Relay};
use axum::Router;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// After a failed accept (too many open files, mostly) the next try waits this long.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound socket, not yet serving.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    /// Where it listens; the port is known here, also where the config said 0.
    pub addr: SocketAddr,
}

/// A listener that no longer accepts; its connections may still run.
#[derive(Debug)]
pub struct Stopped {
    slots: Arc<Semaphore>,
    connections: usize,
}

impl Listener {
    /// Binds `addr`.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn bind(addr: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(addr).await?;
        let addr = socket.local_addr()?;
        Ok(Self { socket, addr })
    }

    /// Serves `router` until the relay's last moment. While it drains, connections
    /// are still taken, so that whoever comes is told instead of reset.
    pub async fn serve(self, router: Router, relay: Arc<Relay>, limits: Limits) -> Stopped {
        let connections = limits.connections.min(Semaphore::MAX_PERMITS);
        let slots = Arc::new(Semaphore::new(connections));
        loop {
            let accepted = tokio::select! {
                () = relay.until(Drain::Cut) => return Stopped { slots, connections },
                accepted = accept(&self.socket, &slots) => accepted,
            };
            match accepted {
                Ok((socket, slot)) => {
                    let (router, relay) = (router.clone(), Arc::clone(&relay));
                    tokio::spawn(async move {
                        connection::serve(socket, router, relay, limits).await;
                        drop(slot);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

async fn accept(
    socket: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    // A full house leaves further connections in the kernel's queue.
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    let (socket, _from) = socket.accept().await?;
    Ok((socket, slot))
}

impl Stopped {
    /// Waits until the last connection has closed.
    pub async fn closed(&self) {
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let _all_slots = self.slots.acquire_many(all).await;
    }
}
