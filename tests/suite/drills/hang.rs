//! One provider hangs.

use super::*;
use tests::clock::{assert_within, ms};

#[tokio::test]
async fn a_provider_that_hangs_is_named_taken_out_and_taken_back_when_it_is_well() {
    let (a, b) = (Provider::always(Reply::silent()).await, says("from B").await);
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", LONG).clocks("ttft = \"300ms\"");
    let relay = Relay::start(&setup).await;
    let engineer = Engineer::at(&[&relay]);

    engineer.runs(&["board"]).await.ends(0).shows("all well");
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }

    // What is wrong, since when, and who answers instead, before anything else.
    let board = engineer.runs(&["board"]).await;
    board
        .ends(0)
        .shows("▲ a open for")
        .shows("ttft_timeout")
        .shows("chat answered by b (100 %), 0 failed");
    assert!(board.lines()[1].starts_with("▲ a open"), "on top: {board:#?}");
    board.shows("OPEN probe in").shows("by b 100 %");

    // A stranger's first step is refused in words.
    engineer.runs(&["override", "a"]).await.ends(2).tells("open");
    let words = ["override", "a", "open", "--reason", "hangs, ticket 4711"];
    let asked = engineer.runs(&words).await;
    asked.ends(1).tells("nothing was changed").tells("--yes");
    let done = engineer.runs(&[words.as_slice(), &["--yes"]].concat()).await;
    done.ends(0).tells("To be done: a forced open").tells("It lasts for 15m").shows("done");
    done.shows("a: forced open by local \"hangs, ticket 4711\", until").shows("(15:00 left)");
    let calls = a.count();
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_within("an answer of the next rung", answer.end_at, ms(300));
    assert_eq!(a.count(), calls, "no traffic to it");
    let board = engineer.runs(&["board"]).await;
    board.shows("■ a forced open by local \"hangs, ticket 4711\"").shows("FORCED OPEN");

    // Is it well? Not yet, and then.
    let check = engineer.runs(&["check-rung", "a"]).await;
    check.ends(1).shows("× a: ttft_timeout").shows("the clock of 300ms ran out").lacks("HTTP");
    engineer.runs(&["check-rung", "a", "--json"]).await.ends(1).shows("\"ttft_timeout\"");
    a.now_answers(Reply::text("from A"));
    engineer.runs(&["check-rung", "a"]).await.ends(0).shows("● a: ok, HTTP 200, first token");
    relay.ask().await.assert_good("from B");

    // A probe is for a breaker's sake; this is an operator's.
    engineer.runs(&["probe", "a"]).await.ends(1).tells("forced");
    let back = engineer.runs(&["undo", &done.action(), "--yes"]).await;
    back.ends(0).tells("takes back: a forced open").tells("hangs, ticket 4711");
    back.tells("a: back to auto").shows("a: back to auto");
    relay.ask().await.assert_good("from A");
    engineer.runs(&["board"]).await.shows("HALF-OPEN 1/2 good");
    relay.ask().await.assert_good("from A");
    engineer.runs(&["board"]).await.shows("● b").lacks("HALF-OPEN").lacks("■").lacks("▲");

    let past = engineer.runs(&["actions"]).await;
    past.ends(0).shows("IN FORCE nothing").shows(&format!("took back {}", done.action()));
    let requests = engineer.runs(&["requests", "--tried", "a", "--limit", "500"]).await;
    requests.shows("chat a ▲3").shows("chat a ●").shows("(check) a ▲").shows("(check) a ●");
}

#[tokio::test]
async fn a_probe_shows_on_live_traffic_that_it_is_well() {
    let (a, b) = (Provider::always(Reply::silent()).await, says("from B").await);
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", LONG).clocks("ttft = \"300ms\"");
    let relay = Relay::start(&setup).await;
    let engineer = Engineer::at(&[&relay]);
    engineer.runs(&["probe", "a"]).await.ends(1).tells("nothing to end");
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from B");
    let probe = engineer.runs(&["probe", "a", "--reason", "vendor says it is mended"]).await;
    probe.ends(0).shows("a: the next request is its probe");
    engineer.runs(&["board"]).await.shows("HALF-OPEN 0/2 good");
    relay.ask().await.assert_good("from A");
    relay.ask().await.assert_good("from A");
    engineer.runs(&["board"]).await.shows("◐ a").shows("SLOW START").lacks("▲");
}
