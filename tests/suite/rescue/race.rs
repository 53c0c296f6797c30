//! `race = N`: so many rungs from the start.

use super::{failing, late};
use serde_json::json;
use tests::clock::{assert_within, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn a_race_calls_so_many_from_the_start_and_cuts_the_losers() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(late("from B", 100)).await;
    let c = Provider::always(Reply::silent()).await;
    let d = Provider::always(Reply::text("from D")).await;
    // Outside the hedge budget, and with no hedge beside it.
    let ladder =
        "race = 3\nmax_in_flight = 4\nhedge = { initial = \"300ms\", burst = 1, budget = 0.0 }";
    let relay = Relay::start(&Setup::over(&[&a, &b, &c, &d]).ladder(ladder)).await;
    for n in 0..4 {
        let answer = relay.ask().await;
        answer.assert_good("from B");
        let answered_at = answer.sent_at + answer.end_at;
        for loser in [&a, &c] {
            let took = loser.call(n).await.closed_after(answered_at).await;
            assert_within("a loser's end", took, ms(200));
        }
        let detail = relay.journaled(&answer.id()).await;
        let lost = ["a first cancelled lost_race", "b hedge ok", "c hedge cancelled lost_race"];
        assert_eq!(tried(&detail), lost);
    }
    assert_eq!(d.count(), 0);
    // All silent for longer than a hedge waits: still nobody beside the three.
    b.now_answers(late("from B", 900));
    relay.ask().await.assert_good("from B");
    assert_eq!(d.count(), 0);
}

#[tokio::test]
async fn a_runner_that_fails_is_replaced_at_once() {
    let a = Provider::always(late("from A", 1_500)).await;
    let b = Provider::always(failing()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder("race = 2")).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    let detail = relay.journaled(&answer.id()).await;
    let expected = ["a first cancelled lost_race", "b hedge server_error", "c hedge ok"];
    assert_eq!(tried(&detail), expected);
}

#[tokio::test]
async fn whichever_runner_fails_is_replaced_at_once() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(late("from B", 1_500)).await;
    let c = Provider::always(Reply::text("from C")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder("race = 2")).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    let detail = relay.journaled(&answer.id()).await;
    let expected = ["a first server_error", "b hedge cancelled lost_race", "c hedge ok"];
    assert_eq!(tried(&detail), expected);
}

#[tokio::test]
async fn a_request_with_side_effects_runs_no_race() {
    let a = Provider::always(late("from A", 300)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder("race = 2")).await;
    let acting = openai::with(openai::ask("chat"), &json!({"store": true}));
    relay.send(&acting).await.assert_good("from A");
    assert_eq!(b.count(), 0);
    relay.ask().await.assert_good("from B");
}
