//! Lost races: nobody's failure, nobody's absence, nobody's success.

use crate::rescue::{NO_HEDGE, failing, late};
use shared::{AttemptOutcome, Cause, TokenVerdict};
use tests::clock::ms;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup};

const HEDGE: &str = "retries = 0\nhedge = { delay = \"200ms\", burst = 1000 }";

/// Checks that exactly one rung answered and that nobody else is to blame; gives its name.
async fn decided(relay: &Relay, answer: &Answer) -> &'static str {
    let (winner, words) = if answer.text() == "from A" { ("a", "from A") } else { ("b", "from B") };
    answer.assert_good(words);
    assert_eq!(answer.header("x-belay-rung"), Some(winner));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.answered_by.as_deref(), Some(winner));
    assert_eq!(detail.request.cause, None);
    for attempt in &detail.attempts {
        if attempt.rung == winner {
            assert_eq!(attempt.outcome, Some(AttemptOutcome::Ok));
            assert_eq!(attempt.verdict, Some(TokenVerdict::Good));
        } else {
            assert_eq!(attempt.outcome, Some(AttemptOutcome::Cancelled), "{:?}", tried(&detail));
            assert_eq!(attempt.cause, Some(Cause::LostRace));
            assert_eq!(attempt.stream_verdict, None);
        }
    }
    assert!((1..=2).contains(&detail.attempts.len()));
    winner
}

/// So many requests, a few at a time; how many of them B answered.
async fn run(relay: &Relay, requests: usize) -> usize {
    let mut won = 0;
    for _ in 0..requests / 20 {
        for answer in crate::rescue::ask_at_once(relay, 20).await {
            won += usize::from(decided(relay, &answer).await == "b");
        }
    }
    won
}

#[tokio::test]
async fn b44_a_lost_race_is_nobodys_fault() {
    let a = Provider::always(late("from A", 1_000)).await;
    let b = Provider::always(late("from B", 100)).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(HEDGE)).await;
    let won = run(&relay, 100).await;
    assert!(won >= 95, "the hedge is far ahead: {won}");
    assert_eq!(relay.story(), [""; 0], "no breaker heard anything of it");
    // The first one is faster than its hedge: then the hedge is the loser.
    a.now_answers(late("from A", 350));
    b.now_answers(late("from B", 1_500));
    let answer = relay.ask().await;
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok", "b hedge cancelled lost_race"]);
}

#[tokio::test]
async fn b44_a_close_race_has_one_winner() {
    // Both tokens are due at 300 ms.
    let a = Provider::always(late("from A", 300)).await;
    let b = Provider::always(late("from B", 100)).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(HEDGE)).await;
    let requests = 200;
    let won = run(&relay, requests).await;
    println!("B won {won} of {requests}");
    assert_eq!(relay.story(), [""; 0]);
}

#[tokio::test]
async fn b44_a_lost_race_is_no_success_either() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(HEDGE)).await;
    for _ in 0..4 {
        relay.ask().await.assert_good("from B");
    }
    a.now_answers(late("from A", 1_000));
    let answer = relay.ask().await;
    assert_eq!(decided(&relay, &answer).await, "b");
    // It said nothing: the run of four goes on.
    a.now_answers(failing());
    relay.ask().await.assert_good("from B");
    relay.tells(&["a open bad_run"]).await;
}

#[tokio::test]
async fn b44_a_request_without_a_hedge_has_one_row() {
    let a = Provider::always(late("from A", 400)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let answer = relay.ask().await;
    assert!(answer.first_token_at() >= Some(ms(400)));
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}
