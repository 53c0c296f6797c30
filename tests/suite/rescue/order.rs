//! What moves a rung behind the others: drills and shedding.

use super::{NO_HEDGE, failing, open_breaker};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn a_drill_goes_past_the_first_rung_and_may_come_back_to_it() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).ladder("drill = 1.0")).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["b drill ok"]);
    b.now_answers(failing());
    let answer = relay.ask().await;
    answer.assert_good("from A");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["b drill server_error", "a failover ok"]);
}

#[tokio::test]
async fn a_drill_waits_for_a_second_rung_that_is_well() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(failing()).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).ladder("drill = 1.0")).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from A");
    }
    relay.tells(&["b open bad_run"]).await;
    let answer = relay.ask().await;
    answer.assert_good("from A");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}

#[tokio::test]
async fn a_share_of_requests_is_drilled() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder("drill = 0.3")).await;
    for _ in 0..100 {
        let answer = relay.ask().await;
        answer.assert_good(&answer.text());
    }
    // Six standard deviations off the mean are one in a thousand million.
    assert!((3..=57).contains(&b.count()), "{} of 100 drilled", b.count());
}

#[tokio::test]
async fn shedding_moves_requests_past_a_degraded_rung_before_it_opens() {
    for (line, sheds) in [("shed = \"proportional\"", true), ("shed = \"off\"", false)] {
        let a = Provider::always(failing()).await;
        let b = Provider::always(Reply::text("from B")).await;
        let setup =
            Setup::over(&[&a, &b]).ladder(NO_HEDGE).ladder(line).rung("a", super::NEVER_OPENS);
        let relay = Relay::start(&setup).await;
        let mut last = None;
        // One more without a token would open it, shed or not: it never brought one.
        for _ in 0..13 {
            let answer = relay.ask().await;
            answer.assert_good("from B");
            last = Some(answer);
        }
        if !sheds {
            assert_eq!(a.count(), 13);
            continue;
        }
        // Each failure makes the next call rarer: about the root of twice as many are made.
        assert!((2..=10).contains(&a.count()), "{} calls of a broken rung", a.count());
        let detail = relay.journaled(&last.unwrap().id()).await;
        assert!(detail.passed_over.is_empty(), "moved behind, not left out: {detail:?}");
        assert_eq!(relay.story(), [""; 0], "nothing opened");
        // It is still there for those who need it.
        a.now_answers(Reply::text("from A"));
        b.now_answers(failing());
        for _ in 0..4 {
            relay.ask().await.assert_good("from A");
        }
    }
}

#[tokio::test]
async fn an_open_rung_is_passed_over_and_the_journal_says_why() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    open_breaker(&relay, &a).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!(a.count(), 5, "open: not called");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["b first ok"]);
    let reasons: Vec<_> = detail.passed_over.iter().map(|row| row.reason.as_str()).collect();
    assert_eq!(reasons, ["open"]);
}
