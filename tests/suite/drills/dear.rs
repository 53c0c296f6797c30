//! Traffic has gone to a dear rung because of last night's order.

use super::*;

const CHEAP: &str = "price = { input = 1.0, output = 2.0 }";
const DEAR: &str = "price = { input = 100.0, output = 400.0 }";

#[tokio::test]
async fn last_nights_order_is_found_with_its_author_and_cost_and_taken_back() {
    let (a, b) = (says("from A").await, says("from B").await);
    let tokens = [
        token("ana", "operator", "ANA-TOKEN"),
        token("ben", "operator", "BEN-TOKEN"),
        token("cho", "viewer", "CHO-TOKEN"),
    ];
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", CHEAP).rung("b", DEAR);
    let setup = setup.admin(&format!("tokens = [{}]", tokens.join(", ")));
    let relay = Relay::start(&setup).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "ANA-TOKEN\n").unwrap();
    let ana = Engineer::at(&[&relay]).with_token_file(&file);

    for _ in 0..3 {
        relay.ask().await.assert_good("from A");
    }
    let words = ["order", "chat", "b", "--reason", "a is slow, ticket 12", "--for", "12h"];
    let ordered = ana.runs(&[words.as_slice(), &["--yes"]].concat()).await;
    ordered.ends(0).tells("It lasts for 12h").shows("chat: b > a by ana");
    let id = ordered.action();
    for _ in 0..3 {
        relay.ask().await.assert_good("from B");
    }

    // The night passes, and with it the relay's first life.
    let night = "UPDATE actions SET at = at - 32400000; UPDATE orders SET at = at - 32400000";
    let relay = {
        let journal = rusqlite::Connection::open(relay.journal_file()).unwrap();
        journal.execute_batch(night).unwrap();
        relay.restart().await
    };
    let ben = Engineer::at(&[&relay]).with_token("BEN-TOKEN");
    for _ in 0..3 {
        relay.ask().await.assert_good("from B");
    }
    Engineer::at(&[&relay]).runs(&["board"]).await.ends(1).shows("it wants a token");
    let board = ben.runs(&["board"]).await;
    board
        .ends(0)
        .shows("■ chat order off config: b > a (config a > b) by ana \"a is slow, ticket 12\"");
    board.shows("for 9 h").shows("by b 100 %").shows("$/h");
    let found = ben.runs(&["actions", "--in-force"]).await;
    found.ends(0).shows("ana chat order b > a \"a is slow, ticket 12\"");
    found.shows(&format!("take it back: belay undo {id}")).lacks("PAST");

    // Who may only look is told so; nothing is changed.
    let cho = Engineer::at(&[&relay]).with_token("CHO-TOKEN");
    cho.runs(&["undo", &id, "--yes"])
        .await
        .ends(1)
        .tells("This token may look and not change")
        .tells("nothing was changed");
    relay.ask().await.assert_good("from B");

    let shown = ben.runs(&["undo", &id]).await;
    shown
        .ends(1)
        .tells("takes back: chat order b > a")
        .tells("by ana")
        .tells("a > b (the config's)");
    shown.tells("chat cost").tells("0 % → 100 %").tells("100 % → 0 %").tells("nothing was changed");
    ben.runs(&["undo", &id, "--yes", "--reason", "a is well"]).await.ends(0).shows("by ben");
    relay.ask().await.assert_good("from A");
    ben.runs(&["board"]).await.lacks("off config").lacks("*");
    let requests = ben.runs(&["requests", "--limit", "2"]).await;
    let trails: Vec<_> =
        requests.lines().iter().skip(1).take(2).map(|line| (*line).to_owned()).collect();
    assert!(trails[0].contains("a ●") && trails[1].contains("b ●"), "{requests:#?}");

    // What is taken back is taken back once; the other way leads to the same.
    ben.runs(&["undo", &id, "--yes"]).await.ends(1).lacks("present");
    let config = ["order", "chat", "--config", "--reason", "to be sure", "--yes"];
    ben.runs(&config).await.ends(0).shows("chat: a > b (the config's)");
}
