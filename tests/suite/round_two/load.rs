//! C: no request holds up another one, whatever its size.

use shared::TokenVerdict;
use tests::clock::{eventually, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

/// How often the workers have stood still.
async fn stalls(relay: &Relay) -> f64 {
    relay.metrics().await.value("belay_worker_stall_seconds_count")
}

/// Stops the whole process for a while, as a machine without time for it does.
async fn stand_still(relay: &Relay, millis: u64) {
    relay.signal("STOP");
    tokio::time::sleep(ms(millis)).await;
    relay.signal("CONT");
}

#[tokio::test]
async fn b5_a_provider_is_not_blamed_for_the_time_in_which_the_relay_stood_still() {
    let a = Provider::always(Reply::text("from A").after(ms(300))).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b])
        .ladder("hedge = { initial = \"1s\" }")
        .clocks("ttft = \"2s\", inter_token = \"2s\"");
    let relay = Relay::start(&setup).await;
    for n in 0..6 {
        let (answer, call) = tokio::join!(relay.ask(), async {
            a.call(n).await;
            stand_still(&relay, 2_500).await;
        });
        let () = call;
        answer.assert_good("from A");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first ok"], "neither cut nor hedged");
        assert_eq!(detail.attempts[0].verdict, Some(TokenVerdict::Good));
    }
    assert_eq!(b.count(), 0);
    let counted = eventually("the pauses to be counted", async || {
        let counted = stalls(&relay).await;
        (counted >= 6.0).then_some(counted)
    });
    counted.await;
    assert!(relay.log().contains("a worker stood still"), "{}", relay.log());
}

#[tokio::test]
async fn b5_a_provider_that_is_late_is_late_beside_a_relay_that_runs() {
    let a = Provider::always(Reply::text("from A").after(ms(5_000))).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"500ms\"")).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
}
