//! A key is refused after its rotation, and replaced on disk.

use super::*;
use tests::setup::KEY;

#[tokio::test]
async fn a_refused_key_is_named_and_a_new_one_on_disk_brings_the_traffic_back() {
    let fresh = format!("{KEY}-fresh");
    let bearer = format!("Bearer {fresh}");
    let stale = format!("{KEY}-stale");
    let said = format!("Incorrect API key provided: {stale}.");
    let a = Provider::scripted(move |call| {
        if call.header("authorization") == Some(&bearer) {
            return Reply::text("from A");
        }
        Reply::error(401, &said, "invalid_request_error", &"invalid_api_key".into())
    })
    .await;
    let b = says("from B").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, format!("{stale}\n")).unwrap();
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).key_file("a", &file);
    let relay = Relay::start(&setup).await;
    let engineer = Engineer::at(&[&relay]);

    relay.ask().await.assert_good("from B");
    let board = engineer.runs(&["board"]).await;
    assert!(board.lines()[1].starts_with("▲ p-a refuses our key (HTTP 401) for"), "{board:#?}");
    board.shows("a out; key").shows("from file, read");
    board.shows("next try in").shows("chat answered by b (100 %), 0 failed");
    board.shows("× a").shows("KEY REFUSED");
    let check = engineer.runs(&["check-rung", "a"]).await;
    check.ends(1).shows("× a: auth, HTTP 401").shows("Incorrect API key provided");
    let calls = a.count();
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), calls, "nobody waits for a refusal");

    // The relay looks at the file by itself; nobody has to tell it.
    std::fs::write(&file, format!("{fresh}\n")).unwrap();
    eventually("the new key at the provider", async || {
        (engineer.runs(&["check-rung", "a"]).await.code == 0).then_some(())
    })
    .await;
    let board = engineer.runs(&["board"]).await;
    board.lacks("refuses").lacks("KEY REFUSED").shows("another key is in force, probing; chat");
    relay.ask().await.assert_good("from A");
    relay.ask().await.assert_good("from A");
    engineer.runs(&["board"]).await.lacks("▲").lacks("×");
    let last = engineer.runs(&["requests", "--limit", "1"]).await;
    last.ends(0).shows("a ●");

    // No key in what is kept and written; what is printed is looked at each time.
    for file in ["belay.db", "belay.db-wal"] {
        let Ok(bytes) = std::fs::read(relay.folder().join(file)) else { continue };
        let found = bytes.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes());
        assert!(!found, "a key in {file}");
    }
    assert!(!relay.log().contains(KEY), "a key in the log: {}", relay.log());
    assert!(!engineer.runs(&["board", "--json"]).await.out.contains(KEY));
}
