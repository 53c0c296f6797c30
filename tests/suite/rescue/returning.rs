//! The way back: a rung whose breaker has closed gets a share first.

use super::{NO_HEDGE, SHORT_COOLDOWN, failing, open_breaker, reaching};
use tests::clock::eventually;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn a_rung_in_slow_start_gets_a_share_that_grows_to_all() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", SHORT_COOLDOWN);
    let relay = Relay::start(&setup).await;
    open_breaker(&relay, &a).await;
    a.now_answers(Reply::text("from A"));
    for _ in 0..2 {
        reaching(&relay, &a).await.finish().await.assert_good("from A");
    }
    let before = a.count();
    for _ in 0..40 {
        let answer = relay.ask().await;
        answer.assert_good(&answer.text());
    }
    // Twenty good ones bring it back to full weight; at first it gets one in ten.
    let share = a.count() - before;
    assert!(share < 30, "{share} of the first 40");
    eventually("the rung to be first choice again", async || {
        let mut in_a_row = 0;
        while relay.ask().await.text() == "from A" {
            in_a_row += 1;
            if in_a_row == 20 {
                return Some(());
            }
        }
        None
    })
    .await;
    relay.tells(&["a open bad_run", "a half_open cooled_down", "a closed probes_good"]).await;
}

#[tokio::test]
async fn a_rung_in_slow_start_still_rescues_others() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", SHORT_COOLDOWN);
    let relay = Relay::start(&setup).await;
    open_breaker(&relay, &a).await;
    a.now_answers(Reply::text("from A"));
    for _ in 0..2 {
        reaching(&relay, &a).await.finish().await.assert_good("from A");
    }
    // Its weight moves it behind B, never off the plan.
    b.now_answers(failing());
    for _ in 0..4 {
        relay.ask().await.assert_good("from A");
    }
}
