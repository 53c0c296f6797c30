//! A tunnel to a relay's admin plane that has bad moments: it swallows an answer, hangs,
//! or is gone.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How the network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Everything passes.
    Fair,
    /// Connections are accepted, and nothing ever comes back.
    Silent,
    /// A change reaches the relay; its answer does not come back, and then it is so.
    LosesTheAnswer(Then),
    /// A change does not even reach the relay; what is asked afterwards does.
    LosesTheChange,
    /// Connections are closed at once.
    Gone,
}

/// What comes after a lost answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// [`Weather::Fair`].
    Fair,
    /// [`Weather::Gone`].
    Gone,
}

#[derive(Debug)]
struct State {
    relay: SocketAddr,
    weather: Mutex<Weather>,
    lost: AtomicUsize,
}

/// A tunnel; it closes when dropped.
#[derive(Debug)]
pub struct Tunnel {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Tunnel {
    /// A tunnel to this address.
    pub async fn to(relay: SocketAddr, weather: Weather) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let lost = AtomicUsize::new(0);
        let state = Arc::new(State { relay, weather: Mutex::new(weather), lost });
        let shared = Arc::clone(&state);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(carry(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state, accepting }
    }

    /// Its end that the engineer calls.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on the weather is this.
    pub fn turns(&self, weather: Weather) {
        *self.state.weather.lock().unwrap() = weather;
    }

    /// How many changes or answers to them it has lost.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.state.lost.load(Ordering::SeqCst)
    }
}

/// Carries one connection. A client of ours writes a request in one piece or two, head
/// first, and reads the answer before the next one.
async fn carry(mut near: TcpStream, state: Arc<State>) {
    let weather = || *state.weather.lock().unwrap();
    if weather() == Weather::Gone {
        return;
    }
    let Ok(mut far) = TcpStream::connect(state.relay).await else { return };
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut is_change = false;
    loop {
        tokio::select! {
            read = near.read(&mut asked) => {
                let Ok(read @ 1..) = read else { return };
                let text = &asked[..read];
                let change: &[u8] = b"POST /admin/v1/changes";
                is_change |= text.starts_with(change);
                match weather() {
                    Weather::Silent => continue,
                    Weather::Gone => return,
                    Weather::LosesTheChange if is_change => {
                        state.lost.fetch_add(1, Ordering::SeqCst);
                        return;
                    }
                    _ => {}
                }
                if far.write_all(text).await.is_err() {
                    return;
                }
            }
            read = far.read(&mut answered) => {
                let Ok(read @ 1..) = read else { return };
                if let Weather::LosesTheAnswer(then) = weather() && is_change {
                    state.lost.fetch_add(1, Ordering::SeqCst);
                    *state.weather.lock().unwrap() = match then {
                        Then::Fair => Weather::Fair,
                        Then::Gone => Weather::Gone,
                    };
                    return;
                }
                is_change = false;
                if near.write_all(&answered[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}
