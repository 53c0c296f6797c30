//! The mock's sockets.
//!
//! The mock has an accept loop of its own, for two things that axum's lacks. Every socket has
//! TCP_NODELAY, because a mock must keep its pace. And connections end with the mock, because a
//! provider that goes down takes its streams with it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::fault::FaultSpec;
use super::log::Report;
use super::options::{MockArgs, MockOptions};
use super::record::Record;
use super::routes::routes;
use super::state::Shared;
use super::wish::Wish;

/// A mock inside this process. When it is dropped, it and its open streams end.
#[derive(Debug)]
pub struct Mock {
    addr: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Mock {
    /// Starts a mock.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub async fn start(options: MockOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(options.listen).await?;
        let addr = listener.local_addr()?;
        let shared = Shared::new(options);
        let accepting = tokio::spawn(accept(listener, routes(Arc::clone(&shared))));
        Ok(Self { addr, shared, accepting })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Sets the standing fault, or removes it.
    pub fn set_fault(&self, fault: impl Into<Option<FaultSpec>>) {
        self.shared.set_fault(fault.into());
    }

    /// Sets the standing wish, or removes it.
    pub fn set_answer(&self, answer: impl Into<Option<Wish>>) {
        self.shared.set_answer(answer.into());
    }

    /// What `GET /mock` returns.
    #[must_use]
    pub fn report(&self) -> Report {
        self.shared.report()
    }

    /// What `GET /mock/requests` returns: the last hundred, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Record> {
        self.shared.records()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Runs a mock until the process ends, or until standard input ends if `exit_with_parent` is set.
///
/// # Errors
/// If the address cannot be listened on.
pub async fn serve(args: MockArgs, on_listening: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let with_parent = args.exit_with_parent;
    let mock = Mock::start(args.into()).await?;
    on_listening(mock.addr());
    if with_parent {
        end_of_input().await
    } else {
        std::future::pending().await
    }
    Ok(())
}

/// Waits for the end of standard input. A thread of its own reads it: with tokio's standard input a
/// runtime that shuts down for another reason would wait for a key.
async fn end_of_input() {
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // An input that cannot be read has ended as well.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        ended.send(())
    });
    let _ = end.await;
}

async fn accept(listener: TcpListener, routes: Router) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((socket, _)) => {
                connections.spawn(connection(socket, routes.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(socket: TcpStream, routes: Router) {
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let service = TowerToHyperService::new(routes);
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(socket), service);
    if let Err(error) = serving.await {
        tracing::debug!(%error, "connection ended");
    }
}
