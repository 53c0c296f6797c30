//! B68: every request and every attempt gets exactly one final row.

use serde_json::Value;
use tests::clock::ms;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn b68_no_row_is_left_running() {
    let replies = vec![
        Reply::text("fine"),
        Reply::error(400, "no", "invalid_request_error", &Value::Null),
        Reply::begins("x").cut(),
        Reply::begins("x").hold(),
        Reply::fixture("B14-html-200.html"),
        Reply::begins("x").hold(),
    ];
    let requests = replies.len();
    let a = Provider::in_turn(replies).await;
    let setup = Setup::over(&[&a])
        .clocks("ttft = \"1s\", inter_token = \"300ms\"")
        .ladder("fail_fast = true");
    let relay = Relay::start(&setup).await;
    for _ in 0..requests - 1 {
        relay.ask().await;
    }
    let mut leaving = relay.open_stream().await;
    leaving.until_text("x").await;
    let _ = leaving.hang_up();
    let rows = tests::clock::eventually("every row to be final", async || {
        let rows = relay.requests().await;
        let done = rows.iter().filter(|row| row.outcome.is_some()).count();
        (done == requests).then_some(rows)
    })
    .await;
    let outcomes: Vec<&str> = rows.iter().rev().map(|row| row.outcome.unwrap().as_str()).collect();
    assert_eq!(outcomes, ["ok", "rejected", "failed", "failed", "failed", "cancelled"]);
    for row in &rows {
        assert_eq!(row.attempts_made, 1);
        assert!(row.latency_ms.is_some(), "{row:?}");
        let detail = relay.journaled(&row.id.to_string()).await;
        assert_eq!(detail.attempts.len(), 1);
        assert!(detail.attempts[0].latency_ms.is_some());
    }
    // A second row would be written after the first one: nothing says that none will come.
    tokio::time::sleep(ms(300)).await;
    assert_eq!(relay.requests().await.len(), requests, "one row per request");
}
