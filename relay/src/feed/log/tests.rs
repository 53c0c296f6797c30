//! The order of what is told, what is kept for whom, and what is not done at all.

use super::listener::Listener;
use super::*;
use shared::UnixMillis;
use shared::admin::board::{DrainState, FleetState, JournalState, RelayState};
use shared::admin::{Board, ConfigState, Role, You};
use std::sync::Arc;

fn feed() -> Arc<Feed> {
    Arc::new(Feed::new("b00".to_owned()))
}

fn somebody() -> OperatorHere {
    OperatorHere { name: Some("ana".to_owned()), since_at: UnixMillis(1), via: "t".to_owned() }
}

fn board(seq: u64) -> Board {
    let journal =
        JournalState { ok: true, queue: 0, lost: 0, lag_ms: 0, disk_free_bytes: None, error: None };
    Board {
        seq,
        at: UnixMillis(0),
        ladders: Vec::new(),
        rungs: Vec::new(),
        providers: Vec::new(),
        relay: RelayState {
            name: None,
            env: None,
            protected: false,
            version: String::new(),
            boot: "b00".to_owned(),
            started_at: UnixMillis(0),
            you: You { name: None, role: Role::Viewer },
            operators: Vec::new(),
            config: ConfigState { rev: 1, loaded_at: UnixMillis(0), error: None },
            journal,
            fleet: FleetState::default(),
            drain: DrainState { on: false, streams: 0, until_at: None },
            streams: 0,
            waiting: 0,
            rss_bytes: None,
        },
    }
}

/// What a listener is sent next, as `seq kind`, one word an event.
async fn read(listener: &mut Listener, feed: &Feed) -> Vec<String> {
    let text = listener.next(|| board(feed.seq())).await;
    let text = String::from_utf8(text.to_vec()).unwrap();
    let event = |event: &str| {
        let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        format!("{} {}", line("id: b00."), line("event: "))
    };
    text.split("\n\n").filter(|event| !event.is_empty()).map(event).collect()
}

fn listen(feed: &Arc<Feed>, last: Option<&str>) -> Listener {
    Listener::new(feed, somebody(), Topics::default(), last)
}

#[tokio::test]
async fn without_a_place_to_go_on_from_a_snapshot_comes_first() {
    let feed = feed();
    let before = "0ther.1";
    for last in [None, Some(before), Some("b00.99"), Some("b00.x"), Some("b00")] {
        let mut listener = listen(&feed, last);
        let news = read(&mut listener, &feed).await;
        assert_eq!(news, [format!("{} snapshot", feed.seq())], "{last:?}");
    }
}

#[tokio::test]
async fn what_happened_is_read_in_full_and_how_it_is_once() {
    let feed = feed();
    let mut listener = listen(&feed, Some("b00.0"));
    feed.publish(FeedKind::Transition, "first");
    for number in 0..100 {
        feed.set(FeedKind::Rung, 0, &number);
    }
    feed.set(FeedKind::Rung, 1, "other");
    feed.publish(FeedKind::Transition, "second");
    let news = read(&mut listener, &feed).await;
    let told = ["1 operators", "2 transition", "102 rung", "103 rung", "104 transition"];
    assert_eq!(news, told);
    // The same again is no news.
    feed.set(FeedKind::Rung, 1, "other");
    assert_eq!(feed.seq(), 104);
}

#[tokio::test]
async fn who_comes_back_misses_nothing() {
    let feed = feed();
    let mut listener = listen(&feed, Some("b00.0"));
    feed.publish(FeedKind::Action, "one");
    assert_eq!(read(&mut listener, &feed).await, ["1 operators", "2 action"]);
    drop(listener);
    // Somebody left, and two things happened meanwhile.
    feed.publish(FeedKind::Action, "two");
    feed.set(FeedKind::Ladder, 0, "moved");
    let mut listener = listen(&feed, Some("b00.2"));
    let news = read(&mut listener, &feed).await;
    assert_eq!(news, ["3 operators", "4 action", "5 ladder", "6 operators"]);
}

#[tokio::test]
async fn who_has_fallen_behind_the_log_starts_again() {
    let feed = feed();
    let mut slow = listen(&feed, Some("b00.0"));
    assert_eq!(read(&mut slow, &feed).await, ["1 operators"]);
    for number in 0..LOG + 1 {
        feed.publish(FeedKind::Transition, &number);
    }
    let newest = feed.seq();
    assert_eq!(read(&mut slow, &feed).await, [format!("{newest} snapshot")]);
    feed.publish(FeedKind::Note, "after it");
    assert_eq!(read(&mut slow, &feed).await, [format!("{} note", newest + 1)]);
    assert!(feed.inner().log.len() <= LOG, "bounded");
}

#[tokio::test]
async fn a_wait_ends_with_the_next_event() {
    let feed = feed();
    let mut listener = listen(&feed, Some("b00.0"));
    read(&mut listener, &feed).await;
    let reader = {
        let feed = Arc::clone(&feed);
        tokio::spawn(async move { read(&mut listener, &feed).await })
    };
    tokio::task::yield_now().await;
    feed.publish(FeedKind::Config, "new");
    assert_eq!(reader.await.unwrap(), ["2 config"]);
}

fn row() -> RequestRow {
    RequestRow {
        id: shared::RequestId::from_number(1),
        at: UnixMillis(0),
        client: None,
        ladder: None,
        model: None,
        stream: true,
        outcome: None,
        cause: None,
        status: None,
        answered_by: None,
        attempts_made: 0,
        hedged: false,
        ttft_ms: None,
        latency_ms: None,
        input_tokens: None,
        output_tokens: None,
        cost_usd: None,
        bytes: 0,
        events: 0,
        trail: Vec::new(),
    }
}

#[tokio::test]
async fn requests_are_made_only_for_who_asks_for_them() {
    let feed = feed();
    let mut others = listen(&feed, Some("b00.0"));
    feed.request(|| panic!("nobody asked"));
    let topics = Topics { requests: true };
    let mut asks = Listener::new(&feed, somebody(), topics, Some("b00.0"));
    for _ in 0..BATCH_ROWS + 7 {
        feed.request(row);
    }
    feed.flush_requests();
    let text = asks.next(|| board(0)).await;
    let text = String::from_utf8(text.to_vec()).unwrap();
    let batch = text.lines().rfind(|line| line.starts_with("data: ")).unwrap();
    let batch: RequestBatch = serde_json::from_str(&batch[6..]).unwrap();
    assert_eq!((batch.items.len(), batch.skipped), (BATCH_ROWS, 7));
    assert_eq!(read(&mut others, &feed).await, ["1 operators", "2 operators"]);
    // A reader that missed whole batches is told how many rows that were.
    for _ in 0..BATCHES + 2 {
        feed.request(row);
        feed.flush_requests();
    }
    let text = asks.next(|| board(0)).await;
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(text.contains("data: {\"items\":[],\"skipped\":2}"), "{text}");
    assert_eq!(text.matches("event: requests").count(), BATCHES + 1);
    drop(asks);
    feed.request(|| panic!("nobody asks any more"));
}

#[tokio::test]
async fn who_is_there_is_known() {
    let feed = feed();
    assert!(!feed.is_watched());
    let one = listen(&feed, None);
    let two = listen(&feed, None);
    assert_eq!((feed.present().len(), feed.is_watched()), (2, true));
    drop(one);
    drop(two);
    assert_eq!((feed.present().len(), feed.is_watched()), (0, false));
}

#[tokio::test]
async fn another_config_is_a_new_start_for_everybody() {
    let feed = feed();
    let mut listener = listen(&feed, Some("b00.0"));
    feed.set(FeedKind::Rung, 0, "of a rung that goes");
    read(&mut listener, &feed).await;
    feed.start_over();
    assert_eq!(read(&mut listener, &feed).await, ["3 snapshot"]);
    feed.publish(FeedKind::Config, "the new one");
    assert_eq!(read(&mut listener, &feed).await, ["4 config"]);
    let mut back = listen(&feed, Some("b00.2"));
    assert_eq!(read(&mut back, &feed).await, ["5 snapshot"]);
}
