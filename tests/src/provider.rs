//! A provider that does exactly what a script says, bad manners included.
//!
//! It speaks HTTP/1.1 by hand on plain sockets, since no server library will
//! send half a chunk and then reset the connection. It keeps every request as
//! it came, with the case of its header names, and notices at once when its
//! peer closes: that is how a test sees that the relay cancelled a call.

mod call;
mod reply;
mod wire;

pub use call::Call;
pub use reply::{Framing, Reply, Step};

use crate::clock;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

type Script = Box<dyn Fn(&Call) -> Reply + Send + Sync>;

/// What a provider's connections share.
struct State {
    script: Mutex<Script>,
    calls: Mutex<Vec<Arc<Call>>>,
    connections: AtomicUsize,
    open: AtomicUsize,
}

/// A scripted provider on a port of its own; it stops when dropped.
pub struct Provider {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Provider {
    /// A provider that answers every request with `reply`.
    pub async fn always(reply: Reply) -> Self {
        Self::scripted(move |_| reply.clone()).await
    }

    /// A provider that answers with these replies in turn, then with the last for ever.
    pub async fn in_turn(replies: Vec<Reply>) -> Self {
        Self::scripted(move |call| {
            replies.get(call.n).or(replies.last()).expect("a script with a reply").clone()
        })
        .await
    }

    /// A provider whose reply depends on the request.
    pub async fn scripted(script: impl Fn(&Call) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(Box::new(script), None).await
    }

    /// As [`Provider::always`], behind TLS.
    pub async fn behind_tls(acceptor: TlsAcceptor, reply: Reply) -> Self {
        Self::listen(Box::new(move |_| reply.clone()), Some(acceptor)).await
    }

    async fn listen(script: Script, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            script: Mutex::new(script),
            calls: Mutex::default(),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        });
        let accepting = tokio::spawn(wire::accept(listener, state.clone(), tls));
        Self { address, state, accepting }
    }

    /// From now on every new request is answered with `reply`.
    pub fn now_answers(&self, reply: Reply) {
        *self.state.script.lock().unwrap() = Box::new(move |_| reply.clone());
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What an OpenAI SDK would be given as its base URL.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far, in the order of arrival.
    #[must_use]
    pub fn calls(&self) -> Vec<Arc<Call>> {
        self.state.calls.lock().unwrap().clone()
    }

    /// How many requests came.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.calls.lock().unwrap().len()
    }

    /// How many connections were ever accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// How many connections are open.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.state.open.load(Ordering::SeqCst)
    }

    /// The n-th request, from 0; waits for it.
    pub async fn call(&self, n: usize) -> Arc<Call> {
        clock::eventually(&format!("request {n} at the provider"), async || {
            self.state.calls.lock().unwrap().get(n).cloned()
        })
        .await
    }

    /// Waits until no connection is open.
    pub async fn idle(&self) {
        clock::eventually("the provider's connections to close", async || {
            (self.open_connections() == 0).then_some(())
        })
        .await;
    }
}
