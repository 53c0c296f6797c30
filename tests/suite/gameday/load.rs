//! Steady load: a request every 50 ms, whatever became of those before it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tests::clock::{ms, now, unix};
use tests::{Answer, Exchange, client, openai};
use tokio::task::JoinSet;

/// Twenty requests a second.
const EVERY: Duration = ms(50);

/// One client that has its answer.
#[derive(Debug)]
pub(super) struct Client {
    /// Its place in the order of requests.
    n: usize,
    /// What was going on when it asked.
    phase: &'static str,
    pub(super) answer: Answer,
}

impl Client {
    /// How long it waited for its first token; for ever, if there was none.
    pub(super) fn waited(&self) -> Duration {
        self.answer.first_token_at().unwrap_or(Duration::MAX)
    }
}

#[derive(Debug)]
struct Shared {
    phase: Mutex<&'static str>,
    done: Mutex<Vec<Client>>,
    stop: AtomicBool,
}

/// Load that runs until it is stopped.
pub(super) struct Load {
    shared: Arc<Shared>,
    running: tokio::task::JoinHandle<()>,
}

impl Load {
    pub(super) fn start(relay: SocketAddr) -> Self {
        let shared = Arc::new(Shared {
            phase: Mutex::new("calm"),
            done: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let running = tokio::spawn(run(relay, Arc::clone(&shared)));
        Self { shared, running }
    }

    /// Names what begins now; gives the time, in milliseconds since 1970.
    pub(super) fn phase(&self, name: &'static str) -> i64 {
        *self.shared.phase.lock().unwrap() = name;
        i64::try_from(unix().as_millis()).unwrap()
    }

    /// Whether the newest so many requests that have ended were answered by this provider,
    /// and all of them came in the present phase.
    pub(super) fn last_came_from(&self, words: &str, count: usize) -> bool {
        let phase = *self.shared.phase.lock().unwrap();
        let mut done = self.shared.done.lock().unwrap();
        done.sort_by_key(|client| client.n);
        let newest = done.iter().rev().take(count);
        newest.clone().count() == count
            && newest.clone().all(|client| client.phase == phase)
            && newest.clone().all(|client| client.answer.text().starts_with(words))
    }

    /// No more requests; gives every client once all have their answers.
    pub(super) async fn stop(self) -> Vec<Client> {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.running.await.expect("no client failed");
        let mut done = std::mem::take(&mut *self.shared.done.lock().unwrap());
        done.sort_by_key(|client| client.n);
        done
    }
}

async fn run(relay: SocketAddr, shared: Arc<Shared>) {
    let body = openai::ask("chat").to_string();
    let path = "/v1/chat/completions";
    let bytes = client::request(relay, "POST", path, &[], Some(body.as_bytes()));
    let began = now();
    let mut clients = JoinSet::new();
    for n in 0.. {
        tokio::time::sleep_until((began + EVERY * n).into()).await;
        if shared.stop.load(Ordering::SeqCst) {
            break;
        }
        let (shared, bytes) = (Arc::clone(&shared), bytes.clone());
        let phase = *shared.phase.lock().unwrap();
        clients.spawn(async move {
            let answer = Exchange::start(relay, &bytes).await.finish().await;
            let n = usize::try_from(n).unwrap();
            shared.done.lock().unwrap().push(Client { n, phase, answer });
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.expect("a client's task ends well");
    }
}

/// How many clients of each phase waited longer than `limit`, in words.
pub(super) fn by_phase(clients: &[Client], limit: Duration) -> String {
    let mut counts = BTreeMap::new();
    for client in clients {
        *counts.entry(client.phase).or_insert(0_u32) += u32::from(client.waited() > limit);
    }
    let words = |(phase, count): (&&str, &u32)| format!("{phase} {count}");
    counts.iter().map(words).collect::<Vec<_>>().join(", ")
}
