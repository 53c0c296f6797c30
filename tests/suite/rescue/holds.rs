//! Holds: a rung that asked for a pause gets it, whoever comes.

use super::{ask_at_once, late, limited};
use shared::PassedOver;
use tests::clock::{assert_within, eventually, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn a_hold_is_honoured_by_requests_that_come_at_once() {
    let a = Provider::always(limited().header("retry-after", "20")).await;
    let b = Provider::always(late("from B", 200)).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    relay.ask().await.assert_good("from B");
    for answer in ask_at_once(&relay, 12).await {
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["b first ok"]);
        assert_eq!(detail.passed_over[0].reason, PassedOver::Hold);
    }
    assert_eq!(a.count(), 1);
}

#[tokio::test]
async fn requests_that_wait_for_the_same_hold_all_keep_to_it() {
    // The first one is refused; those that come meanwhile wait, and are served after it.
    let a = Provider::in_turn(vec![limited().header("retry-after", "1"), Reply::text("at last")]);
    let a = a.await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let first = relay.open_stream().await;
    a.call(0).await.over().await;
    let (first, others) = tokio::join!(first.finish(), ask_at_once(&relay, 5));
    for answer in others.iter().chain([&first]) {
        answer.assert_good("at last");
    }
    let calls = a.calls();
    assert_eq!(calls.len(), 7);
    for call in &calls[1..] {
        assert!(call.at - calls[0].at >= ms(1_000), "{:?}", call.at - calls[0].at);
    }
}

#[tokio::test]
async fn a_later_hold_is_not_shortened_by_an_earlier_one() {
    // The longer one first, then the shorter one; and the other way round.
    for waits in [["5", "1"], ["1", "5"]] {
        let after =
            |n: usize| limited().header("retry-after", waits[n]).after(ms(400 + 200 * n as u64));
        let a = Provider::in_turn(vec![after(0), after(1), Reply::text("too soon")]).await;
        let b = Provider::always(Reply::text("from B")).await;
        let setup = Setup::over(&[&a, &b]).ladder(super::NO_HEDGE);
        let relay = Relay::start(&setup).await;
        let first = relay.open_stream().await;
        a.call(0).await;
        let second = relay.open_stream().await;
        let second_call = a.call(1).await;
        for stream in [first, second] {
            stream.finish().await.assert_good("from B");
        }
        let held_at = second_call.at + ms(600);
        // Past the shorter one of them.
        tokio::time::sleep_until((held_at + ms(1_600)).into()).await;
        relay.ask().await.assert_good("from B");
        assert_eq!(a.count(), 2, "{waits:?}");
    }
}

#[tokio::test]
async fn holds_without_a_time_double_until_a_token_comes() {
    let a = Provider::always(limited()).await;
    let relay = Relay::start(
        &Setup::over(&[&a]).ladder("fail_fast = true").rung("a", "hold_base = \"300ms\""),
    )
    .await;
    let mut spans = Vec::new();
    relay.ask().await.assert_error(429);
    for n in 0..3 {
        let refused = a.call(n).await;
        eventually("the hold to end", async || {
            relay.ask().await;
            (a.count() > n + 1).then_some(())
        })
        .await;
        // That call was refused as well, and began the next hold.
        spans.push(a.call(n + 1).await.at - refused.at);
    }
    // 300, 600 and 1200 ms, each 30 % up or down.
    for (span, base) in spans.iter().zip([300, 600, 1_200]) {
        assert!(*span >= ms(base * 7 / 10), "{spans:?}");
        assert_within("a hold", *span, ms(base * 13 / 10 + 300));
    }
    // The rung answers again: the next refusal starts from the beginning.
    a.now_answers(Reply::text("well"));
    eventually("the hold to end", async || (relay.ask().await.status == 200).then_some(())).await;
    a.now_answers(limited());
    relay.ask().await.assert_error(429);
    let calls = a.count();
    eventually("the hold to end", async || {
        relay.ask().await;
        (a.count() > calls).then_some(())
    })
    .await;
    let span = a.call(calls).await.at - a.call(calls - 1).await.at;
    assert_within("the first hold again", span, ms(390 + 300));
}
