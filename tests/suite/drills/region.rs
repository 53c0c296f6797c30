//! Two rungs of one region stall, seen by three relays, one of which is hard to reach.

use super::*;
use tests::engineer::url;
use tests::{Tunnel, Weather};

async fn relay(name: &str, providers: [&Provider; 3]) -> Relay {
    let setup = Setup::over(&providers).ladder(NO_HEDGE).clocks("ttft = \"200ms\"");
    let setup = setup.domains("a", &["v1", "us-east"]).domains("b", &["v2", "us-east"]);
    let setup = setup.rung("a", LONG).rung("b", LONG).domains("c", &["v3", "eu"]);
    Relay::start(&setup.admin(&format!("name = \"{name}\""))).await
}

/// Five requests, one after the other: both sick rungs open.
async fn suffer(relay: &Relay) {
    for _ in 0..5 {
        relay.ask().await.assert_good("from C");
    }
}

#[tokio::test]
async fn a_region_is_taken_out_on_all_relays_and_the_one_that_is_lost_is_told() {
    let silent = || Provider::always(Reply::silent());
    let (a, b, c) = (silent().await, silent().await, says("from C").await);
    let rungs = [&a, &b, &c];
    let (one, two, three) =
        (relay("one", rungs).await, relay("two", rungs).await, relay("three", rungs).await);
    let tunnel = Tunnel::to(three.admin(), Weather::Fair).await;
    let urls = [url(&one), url(&two), tunnel.url()];
    let engineer = Engineer::at_urls(&urls);
    tokio::join!(suffer(&one), suffer(&two));

    // Each relay for itself: what two of them suffer is not averaged with the third.
    let board = engineer.runs(&["board"]).await;
    board.ends(0).shows("● three: all well");
    for name in ["one", "two"] {
        board.shows(&format!("{name}, 1 to know: domain us-east: all 2 rungs sick for"));
    }
    assert_eq!(board.out.matches("▲ domain us-east: all 2 rungs sick for").count(), 2);
    let worst: Vec<_> = board.lines().iter().take(3).map(|line| line.chars().next()).collect();
    assert_eq!(worst, [Some('▲'), Some('▲'), Some('●')], "the worst on top: {board:#?}");

    // One relay does not answer: said at once, done at the others, and the end says so.
    tunnel.turns(Weather::Silent);
    let words = ["override", "--domain", "us-east", "open", "--reason", "region stalls", "--yes"];
    let done = engineer.runs(&words).await;
    done.ends(1).tells(&format!("{} gave no answer within 5 s", tunnel.url()));
    done.tells("1 of 3 relays will not know");
    for url in &urls[..2] {
        done.shows(&format!("on {url} by local"));
    }
    done.tells(&format!("nothing was done on {}", tunnel.url()));
    assert!(!done.out.contains(&tunnel.url()), "{done:#?}");
    let calls = (a.count(), b.count());
    for relay in [&one, &two] {
        relay.ask().await.assert_good("from C");
    }
    assert_eq!((a.count(), b.count()), calls, "nobody waits for the region any more");

    tunnel.turns(Weather::Gone);
    let board = engineer.runs(&["board"]).await;
    board.ends(1).shows(&format!("◌ {}:", tunnel.url()));
    for name in ["one", "two"] {
        board.shows(&format!("{name}, "));
    }
    assert_eq!(board.out.matches("■ a forced open by local \"region stalls\"").count(), 2);

    // It is back: the same word again, for it alone.
    tunnel.turns(Weather::Fair);
    let third = Engineer::at_urls(&[tunnel.url()]);
    third.runs(&words).await.ends(0).shows("a: forced open").shows("b: forced open");
    three.ask().await.assert_good("from C");
    assert_eq!((a.count(), b.count()), calls);

    // All back with one word.
    a.now_answers(Reply::text("from A"));
    let back =
        ["override", "--domain", "us-east", "auto", "--reason", "the vendor is well", "--yes"];
    let back = engineer.runs(&back).await;
    back.ends(0);
    assert_eq!(back.out.matches("a: back to auto").count(), 3, "{back:#?}");
    for relay in [&one, &two, &three] {
        relay.ask().await.assert_good("from A");
    }
    engineer.runs(&["board", "--json"]).await.ends(0).shows("\"relay\":");
}
