//! That nothing is computed for nobody, and that what is computed is promised.

use super::*;
use crate::config::{Env, parse};
use crate::feed::Topics;
use futures_util::FutureExt as _;
use journal::Journal;
use shared::UnixMillis;
use shared::admin::Role;
use shared::admin::board::OperatorHere;
use std::path::Path;

struct NoEnv;

impl Env for NoEnv {
    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn file(&self, _path: &Path) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

fn relay() -> Arc<Hub> {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let text = "[providers.p]\ndialect = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
         [rungs.a]\nprovider = \"p\"\nmodel = \"m\"\n[ladders.chat]\nrungs = [\"a\"]\n";
    Arc::new(Hub::new(parse(text, &NoEnv).unwrap().config, Journal::off()).unwrap())
}

fn listen(relay: &Arc<Hub>) -> Listener {
    let who = OperatorHere { name: None, since_at: UnixMillis(0), via: "t".to_owned() };
    Listener::new(&relay.feed, who, Topics::default(), None)
}

fn you() -> You {
    You { name: None, role: Role::Viewer }
}

#[tokio::test]
async fn nothing_is_computed_while_nobody_watches() {
    let relay = relay();
    let mut watching = Box::pin(watch(Arc::clone(&relay)));
    assert!(watching.as_mut().now_or_never().is_none());
    assert_eq!((relay.feed.snapshots(), relay.feed.seq()), (0, 0));
    let listener = listen(&relay);
    let mut turns = tokio::time::interval(INTERVAL / 10);
    while relay.feed.snapshots() < 2 {
        turns.tick().await;
        assert!(watching.as_mut().now_or_never().is_none());
    }
    drop(listener);
    // A look that was due may still be made; from then on it waits for somebody.
    for _ in 0..30 {
        turns.tick().await;
        assert!(watching.as_mut().now_or_never().is_none());
    }
    assert!(relay.feed.snapshots() <= 3, "{}", relay.feed.snapshots());
}

#[tokio::test]
async fn it_ends_with_the_relay() {
    let relay = relay();
    let _listener = listen(&relay);
    let watching = tokio::spawn(watch(Arc::clone(&relay)));
    relay.set_drain(Drain::Cut);
    watching.await.unwrap();
}

#[tokio::test]
async fn many_who_ask_do_not_make_watchers_be_told_more_often() {
    let relay = relay();
    let _asked_alone = board(&relay, you());
    let _asked_again = board(&relay, you());
    assert_eq!(relay.feed.snapshots(), 2, "with nobody watching each sees the moment");
    let _listener = listen(&relay);
    let first = board(&relay, you());
    let looks = relay.feed.snapshots();
    // Within a look's time; later ones may look again.
    let began = wall::now();
    let second = board(&relay, you());
    if wall::now().since(began) < INTERVAL / 2 {
        assert!(relay.feed.snapshots() <= looks + 1, "{looks}");
    }
    assert!(second.seq >= first.seq);
}

#[test]
fn a_drain_says_until_when() {
    let relay = relay();
    assert_eq!(board(&relay, you()).relay.drain.until_at, None);
    relay.set_drain(Drain::Draining);
    let drain = board(&relay, you()).relay.drain;
    assert!(drain.on && drain.until_at.is_some_and(|at| at >= wall::unix()), "{drain:?}");
}
