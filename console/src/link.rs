//! The way to the relays: a thread of its own, on which each relay's feed is read and
//! every call is made. What comes goes to the window over a channel; nothing here decides.

use crate::update::{News, Task};
use eventsource_stream::Eventsource as _;
use futures_util::StreamExt as _;
use http::Method;
use serde::de::DeserializeOwned;
use shared::admin::actions::Action;
use shared::remote::{CHECK_PATIENCE, CallError, PATIENCE, Remote};

use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Between two tries to open a feed, doubling up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(8);
/// A feed that is silent for so long is dead: it ticks every second.
const SILENT: Duration = Duration::from_secs(5);
/// How often what was not confirmed is looked up.
const LOOKS: u32 = 3;

/// The near end of the link.
#[derive(Debug)]
pub struct Link(UnboundedSender<Task>);

/// Wakes the window up.
pub type Wake = Box<dyn Fn() + Send + Sync>;

impl Link {
    /// Starts watching `relays`.
    ///
    /// # Errors
    /// No thread, or no runtime on it.
    pub fn start(relays: Vec<Remote>, tell: Sender<News>, wake: Wake) -> std::io::Result<Self> {
        let (give, tasks) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let work = move || runtime.block_on(run(relays, tasks, Far { tell, wake: wake.into() }));
        std::thread::Builder::new().name("link".to_owned()).spawn(work)?;
        Ok(Self(give))
    }

    /// Has something done. A link whose thread has ended does nothing, and no news says so.
    pub fn give(&self, task: Task) {
        let _thread_ended = self.0.send(task);
    }
}

/// The far end: where news goes.
#[derive(Clone)]
struct Far {
    tell: Sender<News>,
    wake: std::sync::Arc<dyn Fn() + Send + Sync>,
}

impl Far {
    fn say(&self, news: News) {
        // A window that is gone reads no news.
        let _window_gone = self.tell.send(news);
        (self.wake)();
    }
}

async fn run(relays: Vec<Remote>, mut tasks: UnboundedReceiver<Task>, far: Far) {
    for (index, remote) in relays.iter().enumerate() {
        tokio::spawn(follow(index, remote.clone(), far.clone()));
    }
    while let Some(task) = tasks.recv().await {
        let Some(remote) = relays.get(task.relay()).cloned() else { continue };
        let far = far.clone();
        tokio::spawn(async move { far.say(carry_out(&remote, task).await) });
    }
}

/// Keeps a relay's feed open, going on where it broke off.
async fn follow(relay: usize, remote: Remote, far: Far) {
    let mut last = String::new();
    let mut wait = FIRST;
    loop {
        let why = match remote.feed(&last).await {
            Err(error) => error.to_string(),
            Ok(answer) => {
                let mut events = answer.bytes_stream().eventsource();
                loop {
                    match tokio::time::timeout(SILENT, events.next()).await {
                        Err(_elapsed) => break "it has been silent for 5 s".to_owned(),
                        Ok(None) => break "it closed the feed".to_owned(),
                        Ok(Some(Err(_broken))) => break "the feed broke off".to_owned(),
                        Ok(Some(Ok(event))) => {
                            wait = FIRST;
                            last = event.id;
                            let (kind, data) = (event.event, event.data);
                            far.say(News::Event { relay, kind, data });
                        }
                    }
                }
            }
        };
        far.say(News::Lost { relay, why });
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST);
    }
}

async fn read<T: DeserializeOwned>(
    remote: &Remote,
    path: &[&str],
    query: &[(String, String)],
) -> Result<T, String> {
    remote.get(path, query).await.map(|answer| answer.value).map_err(|error| error.to_string())
}

async fn carry_out(remote: &Remote, task: Task) -> News {
    match task {
        Task::Preview { relay, asked, request } => {
            let found = remote.send(Method::POST, &["preview"], &request, PATIENCE).await;
            let found = found.map(|answer| answer.value).map_err(|error| error.to_string());
            News::Previewed { relay, asked, found }
        }
        Task::Change { relay, request } => {
            let id = request.id.clone();
            let path = ["changes"];
            done(remote, (relay, id), &path, &request, PATIENCE).await
        }
        Task::Deed { relay, id, path, body } => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let patience = if path.last() == Some(&"check") { CHECK_PATIENCE } else { PATIENCE };
            done(remote, (relay, id), &path, &body, patience).await
        }
        Task::Requests { relay, query } => {
            News::Requests { relay, found: read(remote, &["requests"], &query).await }
        }
        Task::Request { relay, id } => {
            let name = id.to_string();
            News::Request { relay, id, found: read(remote, &["requests", &name], &[]).await }
        }
        Task::Transitions { relay } => {
            News::Transitions { relay, found: read(remote, &["transitions"], &[]).await }
        }
        Task::Actions { relay } => {
            News::Actions { relay, found: read(remote, &["actions"], &[]).await }
        }
    }
}

/// Sends it once, and looks it up by its id where no answer came.
async fn done(
    remote: &Remote,
    (relay, id): (usize, String),
    path: &[&str],
    body: &impl serde::Serialize,
    patience: Duration,
) -> News {
    let sent = remote.send::<serde_json::Value>(Method::POST, path, body, patience).await;
    let result = match sent {
        Ok(answer) => Ok(answer.value),
        Err(CallError::NotConfirmed(why)) => match look_up(remote, &id).await {
            Some(action) => Ok(serde_json::to_value(action).unwrap_or_default()),
            None => Err((true, why)),
        },
        Err(error) => Err((false, error.to_string())),
    };
    News::Done { relay, id, result }
}

async fn look_up(remote: &Remote, id: &str) -> Option<Action> {
    for _ in 0..LOOKS {
        tokio::time::sleep(FIRST).await;
        if let Ok(found) = remote.get::<Action>(&["actions", id], &[]).await {
            return Some(found.value);
        }
    }
    None
}
