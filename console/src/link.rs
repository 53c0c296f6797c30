//! The way to the relays: a thread of its own, on which each relay's feed is read and
//! every call is made. What comes goes to the window over a channel; nothing here decides.

use crate::news::{News, NotDone};
use crate::task::Task;
use eventsource_stream::Eventsource as _;
use futures_util::StreamExt as _;
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;
use shared::admin::actions::Action;
use shared::remote::{CHECK_PATIENCE, CallError, PATIENCE, Remote};

use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Between two tries to open a feed, doubling up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(8);
/// A feed that is silent for so long is dead: it ticks every second.
const SILENT: Duration = Duration::from_secs(5);
/// How many transitions, and actions, from before this console began are read.
const PAST: &str = "20";
/// How often what was not confirmed is looked up.
const LOOKS: u32 = 3;

/// The near end of the link.
#[derive(Debug)]
pub struct Link(UnboundedSender<Task>);

/// Wakes the window up, after so long.
pub type Wake = Box<dyn Fn(Duration) + Send + Sync>;

/// What happened is seen at once; what moves all the time is drawn this often at the most.
const AT_ONCE: Duration = Duration::from_millis(20);
const CALMLY: Duration = Duration::from_millis(200);

impl Link {
    /// Starts watching `relays`.
    ///
    /// # Errors
    /// No thread, or no runtime on it.
    pub fn start(relays: Vec<Remote>, news: Sender<News>, wake: Wake) -> std::io::Result<Self> {
        let (give, tasks) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let work = move || runtime.block_on(run(relays, tasks, Far { news, wake: wake.into() }));
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
    news: Sender<News>,
    wake: std::sync::Arc<dyn Fn(Duration) + Send + Sync>,
}

impl Far {
    fn send(&self, news: News) {
        self.send_within(news, Some(AT_ONCE));
    }

    /// `None`: it changes nothing that is shown, and is read when the window wakes anyway.
    fn send_within(&self, news: News, soon: Option<Duration>) {
        // A window that is gone reads no news.
        let _window_gone = self.news.send(news);
        if let Some(soon) = soon {
            (self.wake)(soon);
        }
    }
}

async fn run(mut relays: Vec<Remote>, mut tasks: UnboundedReceiver<Task>, far: Far) {
    let start = |(index, remote): (usize, &Remote)| {
        tokio::spawn(follow(index, remote.clone(), far.clone()))
    };
    let mut feeds: Vec<_> = relays.iter().enumerate().map(start).collect();
    while let Some(task) = tasks.recv().await {
        let index = task.relay();
        let Some(remote) = relays.get_mut(index) else { continue };
        if let Task::Token { token, .. } = task {
            match remote.with_token(&token) {
                Ok(better) => *remote = better,
                Err(why) => far.send(News::Said(why.to_string())),
            }
            if let Some(feed) = feeds.get_mut(index) {
                feed.abort();
                *feed = tokio::spawn(follow(index, remote.clone(), far.clone()));
            }
            continue;
        }
        let (far, remote) = (far.clone(), remote.clone());
        tokio::spawn(async move {
            if let Some(news) = carry_out(&remote, task).await {
                far.send(news);
            }
        });
    }
}

/// How soon an event has to be seen. `last` is the tick before it, without its moment.
fn soon(kind: &str, data: &str, last: &mut String) -> Option<Duration> {
    match kind {
        "tick" => {
            let seen = shown(data);
            let changed = *last != seen;
            *last = seen;
            changed.then_some(CALMLY)
        }
        "ladder" | "curve" => Some(CALMLY),
        _ => Some(AT_ONCE),
    }
}

/// What of a tick is on the screen: not its moment, its memory and how far the journal is.
fn shown(data: &str) -> String {
    let Ok(tick) = serde_json::from_str::<shared::admin::Tick>(data) else {
        return data.to_owned();
    };
    let (ok, drain) = (tick.journal.ok, tick.drain);
    format!("{} {} {ok} {:?} {drain:?}", tick.streams, tick.waiting, tick.journal.error)
}

/// Keeps a relay's feed open, going on where it broke off.
async fn follow(relay: usize, remote: Remote, far: Far) {
    let (mut last, mut tick) = (String::new(), String::new());
    let mut wait = FIRST;
    loop {
        let (mut token, mut gone) = (false, false);
        let why = match remote.feed(&last).await {
            Err(error) => {
                token = matches!(&error, CallError::Refused(StatusCode::UNAUTHORIZED, ..));
                gone = matches!(error, CallError::NotSent(_));
                error.to_string()
            }
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
                            let soon = soon(&kind, &data, &mut tick);
                            // The window may read it later: how old it is counts from here.
                            let at = crate::clock::now();
                            far.send_within(News::Event { relay, kind, data, at }, soon);
                        }
                    }
                }
            }
        };
        far.send(News::Lost { relay, why, token, gone });
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST);
    }
}

async fn read<T: DeserializeOwned>(
    remote: &Remote,
    path: &[&str],
    query: &[(String, String)],
) -> Result<T, CallError> {
    remote.get(path, query).await.map(|answer| answer.value)
}

async fn carry_out(remote: &Remote, task: Task) -> Option<News> {
    Some(match task {
        Task::Preview { relay, asked, request } => {
            let found = remote.send(Method::POST, &["preview"], &request, PATIENCE).await;
            let found = found.map(|answer| answer.value);
            News::Previewed { relay, asked, found }
        }
        Task::Change { relay, request } => {
            let id = request.id.clone();
            done(
                remote,
                relay,
                id,
                Call { method: Method::POST, path: &["changes"] },
                &request,
                PATIENCE,
            )
            .await
        }
        Task::Action { relay, id, path, ends, body } => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let patience = if path.last() == Some(&"check") { CHECK_PATIENCE } else { PATIENCE };
            let method = if ends { Method::DELETE } else { Method::POST };
            done(remote, relay, id, Call { method, path: &path }, &body, patience).await
        }
        Task::Requests { relay, asked, what, query } => {
            let found = read(remote, &["requests"], &query).await;
            News::Requests { relay, asked, what, found }
        }
        Task::Request { relay, id } => {
            let name = id.to_string();
            let found = read(remote, &["requests", &name], &[]).await.map(Box::new);
            News::Request { relay, id, found }
        }
        Task::Transitions { relay, query } => {
            News::Transitions { relay, found: read(remote, &["transitions"], &query).await }
        }
        Task::Series { relay, of, asked, query } => {
            News::Series { relay, of, asked, found: read(remote, &["series"], &query).await }
        }
        Task::Summary { relay, asked, query } => {
            News::Summary { relay, asked, found: read(remote, &["summary"], &query).await }
        }
        Task::Past { relay } => {
            let query = [("limit".to_owned(), PAST.to_owned())];
            let transitions = read(remote, &["transitions"], &query).await;
            let actions = read(remote, &["actions"], &query).await;
            let found = transitions.and_then(|transitions| Ok((transitions, actions?)));
            News::Past { relay, found }
        }
        Task::Actions { relay } => {
            let query = [("limit".to_owned(), "200".to_owned())];
            News::Actions { relay, found: read(remote, &["actions"], &query).await }
        }
        Task::LookUp { relay, id } => {
            let found = match remote.get::<Action>(&["actions", &id], &[]).await {
                Ok(answer) => Ok(Some(answer.value)),
                Err(CallError::Refused(StatusCode::NOT_FOUND, ..)) => Ok(None),
                Err(error) => Err(error),
            };
            News::LookedUp { relay, id, found: found.map(|found| found.map(Box::new)) }
        }
        Task::InForce { relay } => {
            let query = ["in_force", "limit"].iter().zip(["true", "200"]);
            let query: Vec<_> =
                query.map(|(key, value)| ((*key).to_owned(), value.to_owned())).collect();
            News::InForce { relay, found: read(remote, &["actions"], &query).await }
        }
        // It was taken before it came here.
        Task::Token { .. } => return None,
    })
}

/// How the admin API is called.
struct Call<'a> {
    method: Method,
    path: &'a [&'a str],
}

/// Sends it once, and looks it up by its id where no answer came.
async fn done(
    remote: &Remote,
    relay: usize,
    id: String,
    Call { method, path }: Call<'_>,
    body: &impl serde::Serialize,
    patience: Duration,
) -> News {
    let sent = remote.send::<serde_json::Value>(method, path, body, patience).await;
    let result = match sent {
        Ok(answer) => Ok(answer.value),
        Err(CallError::NotConfirmed(why)) => match look_up(remote, &id).await {
            Some(action) => Ok(serde_json::to_value(action).unwrap_or_default()),
            None => Err(NotDone::MayBeDone(why)),
        },
        Err(error) => Err(NotDone::Refused(error.to_string())),
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
