//! Going on before the hard clock, and not waiting at all.

use super::{NO_HEDGE, get_known, limited};
use tests::clock::{assert_fired, assert_within, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn the_soft_clock_cuts_a_silent_attempt_and_goes_on() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    get_known(&relay).await;
    a.now_answers(Reply::silent());
    let answer = relay.ask().await;
    answer.assert_good("from B");
    // Six references of half a second each, the least there is.
    let failover_at = b.call(0).await.at;
    assert_fired("the soft clock", failover_at - answer.sent_at, ms(3_000));
    let silent = a.calls().pop().unwrap();
    assert_within("A's end", silent.closed_after(failover_at).await, ms(200));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover ok"]);
    assert_eq!(detail.attempts[0].verdict, Some(shared::TokenVerdict::Slow));
}

#[tokio::test]
async fn the_soft_clock_cuts_nothing_where_nobody_else_is_left() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder(NO_HEDGE)).await;
    get_known(&relay).await;
    a.now_answers(super::late("at last", 3_600));
    let answer = relay.ask().await;
    answer.assert_good("at last");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}

#[tokio::test]
async fn fail_fast_neither_retries_nor_waits_but_goes_on() {
    let a = Provider::always(limited().header("retry-after", "1")).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder("fail_fast = true")).await;
    let answer = relay.ask().await;
    answer.assert_error(429);
    assert_within("the answer", answer.end_at, ms(700));
    assert_eq!(a.count(), 1);

    let a = Provider::always(super::failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder("fail_fast = true\nretries = 3");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first server_error", "b failover ok"]);
}
