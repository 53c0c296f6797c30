//! Two operators at once.

use super::*;

#[tokio::test]
async fn who_was_slower_with_an_order_is_told_and_shown_what_is_so() {
    let rungs = [says("from A").await, says("from B").await, says("from C").await];
    let setup = Setup::over(&[&rungs[0], &rungs[1], &rungs[2]]).ladder(NO_HEDGE);
    let relay = Relay::start(&setup).await;
    let (ana, ben) = (Engineer::at(&[&relay]), Engineer::at(&[&relay]));

    let mut thinking = ana.sits_down(80, &["order", "chat", "c", "--reason", "c is cheap"]);
    thinking.until("Do it? [y/N]").await;
    let words = ["order", "chat", "b", "--reason", "a is slow", "--yes"];
    ben.runs(&words).await.ends(0).shows("chat: b > a > c by local \"a is slow\"");
    thinking.types("y\n").await;
    let slower = thinking.ended().await;
    slower.ends(1).shows("refused").shows("Somebody was faster").lacks("present");
    slower.shows("chat: b > a > c by local \"a is slow\"");
    relay.ask().await.assert_good("from B");
    let actions = ben.runs(&["actions"]).await;
    actions.shows("chat order b > a > c").lacks("c is cheap");
}

#[tokio::test]
async fn who_would_take_the_last_rung_is_stopped_and_told_how_it_could_be_meant() {
    let (a, b) = (says("from A").await, says("from B").await);
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let (ana, ben) = (Engineer::at(&[&relay]), Engineer::at(&[&relay]));

    let mut thinking = ana.sits_down(80, &["override", "a", "open", "--reason", "a hangs"]);
    thinking.until("Do it? [y/N]").await;
    ben.runs(&["override", "b", "open", "--reason", "b is dear", "--yes"]).await.ends(0);
    thinking.types("y\n").await;
    let slower = thinking.ended().await;
    slower.ends(1).shows("chat").shows("--accept chat");
    relay.ask().await.assert_good("from A");

    // Whoever comes later is stopped by the preview already.
    let late = ana.runs(&["override", "a", "open", "--reason", "a hangs", "--yes"]).await;
    late.ends(1).tells("forced-open rungs only").tells("belay demote").tells("--accept chat");
    ana.runs(&["demote", "a", "--reason", "a hangs", "--yes"]).await.ends(0);
    relay.ask().await.assert_good("from A");
    let meant = ["override", "a", "open", "--reason", "both are mad", "--yes", "--accept", "chat"];
    ana.runs(&meant).await.ends(0);
    assert_eq!(relay.ask().await.status, 503);
    let board = ben.runs(&["board"]).await;
    board.shows("chat: no usable rung, all 2 are out, 2 of them by hand");
}
