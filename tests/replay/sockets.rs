//! A world on real sockets: a relay's process, scripted providers, clients in real time.

use crate::Res;
use futures_util::future::join_all;
use serde_json::{Value, json};
use simulate::incident::Fault;
use simulate::run::NEVER;
use simulate::world::{Fate, World};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tests::client::{Exchange, request};
use tests::provider::Call;
use tests::{Provider, Relay, Reply, Setup, clock, openai};

/// The time from the first token to the proper end, as in the simulation.
const STREAM: Duration = Duration::from_secs(1);
/// Time for everything to be ready before the first request.
const READY: Duration = Duration::from_millis(300);
/// The relay counts four bytes of the messages as a token; this many are not the prompt's text.
const AROUND: usize = 32;

/// What one relay's clients saw, and what its providers saw.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// Seconds from sending to the first token.
    pub(crate) times: Vec<f64>,
    /// Calls that reached a provider.
    pub(crate) calls: usize,
    /// Requests that never got a token.
    pub(crate) unanswered: usize,
    /// The longest delay of a request's start: it shows a busy machine, not a slow relay.
    pub(crate) latest: Duration,
}

/// Plays every world with a relay of its own, all at once.
///
/// # Errors
/// When the runtime does not start, or a part of it ends early.
pub(crate) fn play(worlds: Vec<World>) -> Res<Vec<Lane>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let lanes = worlds.into_iter().map(|world| lane(Arc::new(world)));
        let mut all = Vec::new();
        for lane in join_all(lanes).await {
            all.push(lane?);
        }
        Ok(all)
    })
}

type Sent = Result<Lane, tokio::task::JoinError>;

async fn lane(world: Arc<World>) -> Sent {
    // The providers are started before their time begins: it begins with the first request.
    let began = Arc::new(Mutex::new(clock::now()));
    let a = provider(0, &world, &began).await;
    let b = provider(1, &world, &began).await;
    let c = provider(2, &world, &began).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c])).await;
    let start = clock::now() + READY;
    *began.lock().unwrap_or_else(PoisonError::into_inner) = start;
    let mut asking = Vec::new();
    let mut lane = Lane::default();
    for (index, one) in world.requests.iter().enumerate() {
        let due = start + Duration::from_secs_f64(one.at);
        tokio::time::sleep_until(due.into()).await;
        lane.latest = lane.latest.max(clock::now().saturating_duration_since(due));
        asking.push(tokio::spawn(ask(relay.address(), index, one.prompt)));
    }
    for one in asking {
        let time = one.await?;
        lane.unanswered += usize::from(time.is_none());
        lane.times.push(time.unwrap_or(NEVER));
    }
    lane.calls = [&a, &b, &c].iter().map(|provider| provider.count()).sum();
    Ok(lane)
}

/// One request; seconds to its first token.
async fn ask(to: SocketAddr, index: usize, prompt: u32) -> Option<f64> {
    let text = usize::try_from(prompt).unwrap_or_default() * 4;
    let mut words = format!("{index} ");
    words.extend(std::iter::repeat_n('x', text.saturating_sub(AROUND + words.len())));
    let body = openai::with(
        openai::ask("chat"),
        &json!({ "messages": [{ "role": "user", "content": words }] }),
    );
    let bytes = request(to, "POST", "/v1/chat/completions", &[], Some(body.to_string().as_bytes()));
    let mut exchange = Exchange::start(to, &bytes).await;
    while exchange.more().await {
        if let Some(at) = first_token(&exchange) {
            exchange.finish().await;
            return Some(at.as_secs_f64());
        }
    }
    first_token(&exchange).map(|at| at.as_secs_f64())
}

fn first_token(exchange: &Exchange) -> Option<Duration> {
    let has_text = |data: &str| {
        let chunk: Value = serde_json::from_str(data).unwrap_or_default();
        let text = chunk.pointer("/choices/0/delta/content").and_then(Value::as_str);
        text.is_some_and(|text| !text.is_empty())
    };
    let events = exchange.events();
    let token = events.iter().find(|event| event.data.as_deref().is_some_and(has_text));
    token.map(|event| event.at)
}

/// A provider whose calls end as those of `rung` do in `world`.
async fn provider(rung: usize, world: &Arc<World>, began: &Arc<Mutex<Instant>>) -> Provider {
    let (world, began) = (Arc::clone(world), Arc::clone(began));
    let calls: Mutex<HashMap<usize, u64>> = Mutex::default();
    Provider::scripted(move |call| {
        let Some(index) = index(call) else {
            return Reply::status(400);
        };
        let nth = {
            let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
            let next = calls.entry(index).or_default();
            *next += 1;
            *next - 1
        };
        let began = *began.lock().unwrap_or_else(PoisonError::into_inner);
        let at = call.at.saturating_duration_since(began).as_secs_f64();
        reply(world.fate(index, rung, nth, at))
    })
    .await
}

/// Which request this is: its prompt begins with its number.
fn index(call: &Call) -> Option<usize> {
    let body: Value = serde_json::from_slice(&call.body).ok()?;
    let words = body.pointer("/messages/0/content")?.as_str()?;
    words.split(' ').next()?.parse().ok()
}

fn reply(fate: Fate) -> Reply {
    match fate {
        Fate::Token { after, dead } => {
            let reply = Reply::begins("word").after(Duration::from_secs_f64(after));
            if dead { reply.hold() } else { reply.pause(STREAM).stop() }
        }
        Fate::Fails { after, how } => fault(how).after(Duration::from_secs_f64(after)),
        Fate::Silent => Reply::silent(),
    }
}

fn fault(how: Fault) -> Reply {
    match how {
        Fault::Server => Reply::error(500, "broken", "server_error", &Value::Null),
        Fault::TooMany => Reply::error(429, "too many", "rate_limit", &Value::Null),
        Fault::Refused => Reply::closed(),
        Fault::ErrorEvent => {
            Reply::stream().send(openai::error_event("broken", "server_error", &Value::Null))
        }
    }
}
