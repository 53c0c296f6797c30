//! Budgets: rescue is paid for, and ends where the budget does.

use super::{NEVER_OPENS, ask_at_once, failing, late, open_breaker, reaching, tried_by};
use tests::clock::{assert_fired, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

const HEDGED: [&str; 2] = ["a first cancelled lost_race", "b hedge ok"];

#[tokio::test]
async fn a_hedge_that_the_budget_does_not_carry_is_not_made() {
    let a = Provider::always(late("from A", 900)).await;
    let b = Provider::always(Reply::text("from B")).await;
    // One hedge in hand, and half a one more with every request.
    let hedge = "hedge = { initial = \"300ms\", burst = 1, budget = 0.5 }";
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(hedge)).await;
    for paid in [true, false, true, false] {
        let answer = relay.ask().await;
        answer.assert_good(if paid { "from B" } else { "from A" });
        assert_eq!(answer.header("x-belay-hedged"), Some(if paid { "true" } else { "false" }));
        let detail = relay.journaled(&answer.id()).await;
        let expected: &[&str] = if paid { &HEDGED } else { &["a first ok"] };
        assert_eq!(tried(&detail), expected);
        assert_eq!(detail.request.hedged, paid, "the journal says so, too");
        if !paid {
            // A refused hedge is not asked for again: the request waits for its first rung.
            assert!(answer.first_token_at() >= Some(ms(900)), "{:?}", answer.first_token_at());
        }
    }
    assert_eq!(b.count(), 2);
}

#[tokio::test]
async fn a_burst_of_hedges_is_bounded_by_the_burst() {
    let a = Provider::always(late("from A", 1_000)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let hedge = "hedge = { initial = \"300ms\", burst = 4, budget = 0.0 }";
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(hedge)).await;
    let answers = ask_at_once(&relay, 12).await;
    for answer in &answers {
        answer.assert_good(&answer.text());
    }
    assert_eq!((a.count(), b.count()), (12, 4));
    let hedged = tried_by(&relay, &answers).await.iter().filter(|tried| tried.len() == 2).count();
    assert_eq!(hedged, 4);
}

#[tokio::test]
async fn a_replacement_of_a_failed_hedge_is_paid_for() {
    let a = Provider::always(late("from A", 900)).await;
    let b = Provider::always(failing()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let hedge = "hedge = { initial = \"300ms\", burst = 1, budget = 0.0 }";
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder(hedge)).await;
    let answer = relay.ask().await;
    answer.assert_good("from A");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok", "b hedge server_error"]);
    assert_eq!(c.count(), 0);
}

#[tokio::test]
async fn a_probes_hedge_is_free() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b])
        .ladder("retries = 0\nhedge = { initial = \"300ms\", burst = 1, budget = 0.0 }")
        .rung("a", super::SHORT_COOLDOWN);
    let relay = Relay::start(&setup).await;
    a.now_answers(Reply::silent());
    relay.ask().await.assert_good("from B");
    open_breaker(&relay, &a).await;
    a.now_answers(late("from A", 1_000));
    let answer = reaching(&relay, &a).await.finish().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), HEDGED, "the budget was spent, yet the probe is hedged");
    assert!(detail.attempts[0].probe && !detail.attempts[1].probe);
}

#[tokio::test]
async fn retries_end_with_their_budget_and_other_ladders_keep_theirs() {
    let a = Provider::always(failing()).await;
    let other = Provider::in_turn(vec![failing(), Reply::text("from the other")]).await;
    let extra = format!(
        "[providers.p-other]\ndialect = \"openai-chat\"\nbase_url = \"{}\"\n\
         [rungs.other]\nprovider = \"p-other\"\nmodel = \"m\"\n[ladders.other]\nrungs = [\"other\"]",
        other.base_url()
    );
    let setup = Setup::over(&[&a]).ladder("retries = 1").rung("a", NEVER_OPENS).extra(&extra);
    let relay = Relay::start(&setup).await;
    // 20 in hand and a fifth of one more with each of 50 requests: 30 retries.
    for answer in ask_at_once(&relay, 50).await {
        answer.assert_error(502);
    }
    let made = a.count();
    assert!((50 + 20..=50 + 30).contains(&made), "{made} calls of 50 requests");
    let mut last = relay.ask().await;
    while last.tried().len() == 2 {
        last = relay.ask().await;
    }
    last.assert_error(502);
    assert_eq!(last.tried(), ["a server_error"], "its error at once, and no retry");
    let answer = relay.send(&tests::openai::ask("other")).await;
    answer.assert_good("from the other");
}

#[tokio::test]
async fn a_ladders_own_retry_budget_rules_it() {
    let a = Provider::always(failing()).await;
    let budget = "retries = 1\nretry_budget = { budget = 0.0, burst = 3 }";
    let relay = Relay::start(&Setup::over(&[&a]).ladder(budget).rung("a", NEVER_OPENS)).await;
    for _ in 0..6 {
        relay.ask().await.assert_error(502);
    }
    assert_eq!(a.count(), 6 + 3, "three of six requests had a retry");
}

#[tokio::test]
async fn a_soft_clock_without_budget_leaves_the_hard_one() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b])
        .ladder("hedge = { enabled = false }\nretries = 1")
        .clocks("ttft = \"4s\"")
        .rung("a", NEVER_OPENS);
    let relay = Relay::start(&setup).await;
    super::get_known(&relay).await;
    a.now_answers(failing());
    for answer in ask_at_once(&relay, 40).await {
        answer.assert_good("from B");
    }
    // Every fifth request may retry now. Right after such a one the bucket is empty.
    loop {
        let before = a.count();
        relay.ask().await.assert_good("from B");
        if a.count() == before + 2 {
            break;
        }
    }
    a.now_answers(Reply::silent());
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let waited = b.calls().last().unwrap().at - answer.sent_at;
    assert_fired("the hard clock", waited, ms(4_000));
}
