//! `GET /admin/v1/feed`: what changes, in time, in order, without a gap.

use super::{NO_HEDGE, failing};
use shared::BreakerState;
use shared::admin::feed::Operators;
use shared::admin::{Board, RequestBatch, RungState, Tick, TransitionRow};
use tests::clock::{assert_within, ms, now};
use tests::relay::Feed;
use tests::{Provider, Relay, Reply, Setup};

async fn relay_with_a_sick_rung() -> (Relay, Provider, Provider) {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    (relay, a, b)
}

async fn snapshot(feed: &mut Feed) -> (String, Board) {
    let first = feed.next().await.unwrap();
    assert_eq!(first.kind, "snapshot", "{first:?}");
    let board: Board = first.read();
    assert_eq!((first.seq, &first.boot), (board.seq, &board.relay.boot));
    (first.id(), board)
}

#[tokio::test]
async fn it_ticks_while_nothing_happens_and_says_nothing_else() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut feed = relay.feed().await;
    snapshot(&mut feed).await;
    let mut ticks = Vec::new();
    let mut last = 0;
    while ticks.len() < 4 {
        let event = feed.next().await.unwrap();
        assert_eq!(event.kind, "tick", "{event:?}");
        assert!(event.seq > last);
        last = event.seq;
        let tick: Tick = event.read();
        assert!(tick.journal.ok && tick.streams == 0);
        ticks.push(event.at);
    }
    let whole = ticks[3] - ticks[0];
    assert!(whole >= ms(2_700), "four ticks in {whole:?}");
    assert_within("three seconds of ticks", whole, ms(3_400));
}

#[tokio::test]
async fn a_transition_is_told_at_once() {
    let (relay, _a, _b) = relay_with_a_sick_rung().await;
    let mut feed = relay.feed().await;
    snapshot(&mut feed).await;
    for _ in 0..4 {
        relay.ask().await.assert_good("from B");
    }
    let asked = now();
    let (answer, told) = tokio::join!(relay.ask(), feed.until("transition", |_| true));
    answer.assert_good("from B");
    let row: TransitionRow = told.read();
    assert_eq!(
        (row.rung.as_str(), row.after.as_str(), row.rule.as_str()),
        ("a", "open", "bad_run")
    );
    assert_within("the fifth failure to be told", told.at - asked, ms(250));
    // How it is follows within a look.
    let open = feed.until("rung", |data| data["health"]["state"] == "open").await;
    let rung: RungState = open.read();
    assert_eq!((rung.name.as_str(), rung.past.spark), ("a", None));
    assert_within("the rung's state", open.at - told.at, ms(500));
}

#[tokio::test]
async fn who_comes_back_goes_on_where_it_was() {
    let (relay, _a, _b) = relay_with_a_sick_rung().await;
    let mut feed = relay.feed().await;
    let (last, board) = snapshot(&mut feed).await;
    assert_eq!(board.rungs[0].health.state, BreakerState::Closed);
    feed.leave();
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    let mut feed = relay.feed_after(Some(&last), "").await;
    let mut seen = board.seq;
    let (mut transition, mut rung, mut ladder) = (false, false, false);
    while !(transition && rung && ladder) {
        let event = feed.next().await.unwrap();
        assert_ne!(event.kind, "snapshot", "it can go on: {event:?}");
        assert!(event.seq > seen, "ascending");
        seen = event.seq;
        transition |= event.kind == "transition" && event.data["after"] == "open";
        rung |= event.kind == "rung" && event.data["health"]["state"] == "open";
        ladder |= event.kind == "ladder" && event.data["users"]["rescued"] == 5;
    }
}

#[tokio::test]
async fn the_board_and_the_feed_fit_together() {
    let (relay, _a, _b) = relay_with_a_sick_rung().await;
    for _ in 0..3 {
        relay.ask().await.assert_good("from B");
    }
    let board = relay.board().await;
    let last = format!("{}.{}", board.relay.boot, board.seq);
    for _ in 0..2 {
        relay.ask().await.assert_good("from B");
    }
    let mut feed = relay.feed_after(Some(&last), "").await;
    let told = feed.until("transition", |_| true).await;
    assert!(told.seq > board.seq);
    feed.until("rung", |data| data["now"]["bad"] == 5).await;
}

#[tokio::test]
async fn another_life_is_another_relay() {
    let (relay, _a, _b) = relay_with_a_sick_rung().await;
    let mut feed = relay.feed().await;
    let (last, first) = snapshot(&mut feed).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    feed.until("transition", |_| true).await;
    let relay = relay.restart().await;
    while feed.next().await.is_some() {}
    let mut feed = relay.feed_after(Some(&last), "").await;
    let (id, second) = snapshot(&mut feed).await;
    assert_ne!(first.relay.boot, second.relay.boot);
    assert_ne!(id, last);
    assert_eq!(
        second.rungs[0].health.state,
        BreakerState::Open,
        "what survives a restart is in it"
    );
    for wrong in ["", "nonsense", "1.2.3", "x.18446744073709551616"] {
        let mut feed = relay.feed_after(Some(wrong), "").await;
        snapshot(&mut feed).await;
    }
}

#[tokio::test]
async fn requests_come_only_to_who_asks_for_them() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut plain = relay.feed().await;
    let mut asks = relay.feed_after(None, "?topics=requests").await;
    snapshot(&mut plain).await;
    snapshot(&mut asks).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(relay.ask().await.id());
    }
    let mut told = Vec::new();
    while told.len() < ids.len() {
        let batch: RequestBatch = asks.until("requests", |_| true).await.read();
        assert_eq!(batch.skipped, 0);
        told.extend(batch.items.iter().map(|row| row.id.to_string()));
    }
    assert_eq!(told, ids);
    // Two ticks later the other one would have had them too.
    let mut ticks = 0;
    while ticks < 2 {
        let event = plain.next().await.unwrap();
        assert_ne!(event.kind, "requests");
        ticks += usize::from(event.kind == "tick");
    }
    let wrong = relay.admin_get("/admin/v1/feed?topics=answers").await;
    assert_eq!(wrong.status, 400, "{}", wrong.body_text());
    assert_eq!(relay.admin_get("/admin/v1/feed?from=1").await.status, 400);
}

#[tokio::test]
async fn who_else_is_there_is_told() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut feed = relay.feed().await;
    let (_, board) = snapshot(&mut feed).await;
    assert_eq!(board.relay.operators.len(), 1);
    let other = relay.feed().await;
    let told: Operators = feed.until("operators", |_| true).await.read();
    assert_eq!(told.operators.len(), 2);
    other.leave();
    let told: Operators = feed.until("operators", |_| true).await.read();
    assert_eq!(told.operators.len(), 1);
}
