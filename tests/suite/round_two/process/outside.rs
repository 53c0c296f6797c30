//! Log, disk, resolver, clock, signals and descriptors: each may fail or hang at any moment.

use tests::clock::{allow, assert_within, eventually, ms, now, within};
use tests::{Faults, Provider, Relay, Reply, Setup};

const LOST: &str = "belay_log_lost_lines_total";

/// A relay with one good rung and these faults to come.
async fn relay(faults: &Faults) -> (Provider, Relay) {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&faults.over(Setup::over(&[&a]))).await;
    (a, relay)
}

#[tokio::test]
async fn c1_a_log_that_cannot_be_written_is_counted_and_stops_nothing() {
    let faults = Faults::none();
    let (_a, mut relay) = relay(&faults).await;
    faults.set(&["log-broken", "disk-broken"]).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from A");
    }
    eventually("lost lines to be counted", async || {
        (relay.metrics().await.value(LOST) > 0.5).then_some(())
    })
    .await;
    faults.clear().await;
    // What is logged next is written again, and says that something is missing.
    relay.signal("HUP");
    eventually("a log that says what it lost", async || {
        let log = relay.log();
        (log.contains("log lines were lost") && log.contains("config read again")).then_some(())
    })
    .await;
    assert!(!relay.log().contains("panicked"), "{}", relay.log());
    relay.terminate();
    assert_eq!(relay.exited().await.code(), Some(0));
}

#[tokio::test]
async fn c1_a_log_that_nobody_reads_holds_up_neither_requests_nor_the_stop() {
    let faults = Faults::none();
    let a = Provider::always(Reply::text("from A")).await;
    let setup = Setup::over(&[&a]).env("BELAY_LOG", "trace");
    let mut relay = Relay::start(&faults.over(setup)).await;
    faults.set(&["log-hang"]).await;
    // Far more than a pipe or the queue holds: dozens of lines a request.
    let lost = within("more lines than are kept", async {
        loop {
            relay.ask().await.assert_good("from A");
            let lost = relay.metrics().await.value(LOST);
            if lost > 0.5 {
                return lost;
            }
        }
    })
    .await;
    let asked = now();
    relay.ask().await.assert_good("from A");
    assert_within("a request beside a log that hangs", asked.elapsed(), ms(1000));
    assert!(relay.metrics().await.value(LOST) > lost, "and further lines are counted");
    let told = now();
    relay.terminate();
    // The harness reads the log to its end: it must end with the process.
    assert_eq!(relay.exited().await.code(), Some(0));
    assert!(told.elapsed() < allow(ms(4000)), "{:?}", told.elapsed());
}
