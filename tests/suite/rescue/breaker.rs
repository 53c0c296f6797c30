//! When a breaker opens, and when it must not.

use super::{NO_HEDGE, failing, get_known, late};
use serde_json::Value;
use shared::TokenVerdict;
use tests::clock::ms;
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn five_bad_ones_in_a_row_open_it_and_a_good_one_starts_the_count_again() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    for _ in 0..4 {
        relay.ask().await.assert_good("from B");
    }
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from A");
    a.now_answers(failing());
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    assert_eq!(a.count(), 10, "four, a good one, and five");
    let last = relay.requests().await[0].id;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 10, "open: not called");
    relay.tells(&["a open bad_run"]).await;
    // What is known of it is there for whoever is woken by it.
    let told: (String, i64, i64, String, i64, i64, i64, i64) = relay
        .open_journal()
        .query_row(
            "SELECT text, bad, slow, outcome, status, request, cooldown_ms, until - at
             FROM transitions",
            [],
            |row| {
                let number = |at| row.get(at);
                Ok((
                    row.get(0)?,
                    number(1)?,
                    number(2)?,
                    row.get(3)?,
                    number(4)?,
                    number(5)?,
                    number(6)?,
                    number(7)?,
                ))
            },
        )
        .unwrap();
    let (text, bad, slow, outcome, status, request, cooldown, until) = told;
    assert_eq!(text, "5 failed in a row");
    assert_eq!((bad, slow, outcome.as_str(), status), (9, 0, "server_error", 500));
    assert_eq!(request, last.number(), "the fifth one's");
    assert!((3_500..=6_500).contains(&cooldown), "5 s ± 30 %, not {cooldown} ms");
    assert!((until - cooldown).abs() <= 1, "{until} ms");
}

#[tokio::test]
async fn half_of_ten_calls_open_it() {
    let a =
        Provider::scripted(|call| if call.n % 2 == 0 { Reply::text("from A") } else { failing() })
            .await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    for n in 0..12 {
        let expected = if n % 2 == 0 && n < 10 { "from A" } else { "from B" };
        relay.ask().await.assert_good(expected);
    }
    assert_eq!(a.count(), 10);
    relay.tells(&["a open bad_share"]).await;
}

#[tokio::test]
async fn a_rung_that_never_brought_a_token_opens_after_twenty_four_attempts() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", super::NEVER_OPENS);
    let relay = Relay::start(&setup).await;
    // More than a full bucket has hedges: an honest slow rung
    // whose hedged attempts all lose gets to show a token on its first unhedged ones.
    for n in 1..=26 {
        relay.ask().await.assert_good("from B");
        assert_eq!(a.count(), n.min(24));
    }
    relay.tells(&["a open never_a_token"]).await;
}

#[tokio::test]
async fn a_race_lost_after_a_while_is_silence_and_one_lost_at_once_is_not() {
    for (initial, story) in [("300ms", [].as_slice()), ("2s", &["a open never_a_token"])] {
        let a = Provider::always(Reply::silent()).await;
        let b = Provider::always(Reply::text("from B")).await;
        let hedge = format!("hedge = {{ initial = \"{initial}\", burst = 50 }}");
        let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(&hedge)).await;
        for answer in super::ask_at_once(&relay, 26).await {
            answer.assert_good("from B");
            let detail = relay.journaled(&answer.id()).await;
            assert_eq!(tried(&detail), ["a first cancelled lost_race", "b hedge ok"]);
        }
        relay.tells(story).await;
    }
}

#[tokio::test]
async fn silence_counts_at_the_mark_while_the_call_still_runs() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    get_known(&relay).await;
    let known = a.count();
    // All five are silent for longer than the mark, and would answer late. When the last one
    // has passed its mark their rung opens, and none of them goes on waiting there.
    a.now_answers(late("late", 2_000));
    let five = super::ask_at_once(&relay, 5);
    let others = async {
        relay.tells(&["a open bad_run"]).await;
        assert!(a.calls()[known..].iter().all(|call| call.writes() == 0), "none has ended yet");
        relay.ask().await.assert_good("from B");
    };
    let (answers, ()) = tokio::join!(five, others);
    // The one that tipped it, and the four that were past their mark already.
    for answer in &answers {
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(detail.attempts[0].verdict, Some(TokenVerdict::Slow));
        answer.assert_good("from B");
        assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover ok"]);
    }
}

#[tokio::test]
async fn a_client_that_leaves_after_the_mark_has_seen_a_slow_rung() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    get_known(&relay).await;
    a.now_answers(Reply::silent());
    // The mark is 625 ms: 1.25 times half a second, the least that a reference can be.
    for (stays, verdict) in [(ms(0), None), (ms(1_000), Some(TokenVerdict::Slow))] {
        let known = a.count();
        let mut clients = Vec::new();
        for n in 0..4 {
            clients.push(relay.open_stream().await);
            a.call(known + n).await;
        }
        // They leave after this long: how long they waited is what the rule looks at.
        tokio::time::sleep(stays).await;
        for client in clients {
            let _ = client.hang_up();
        }
        for n in 0..4 {
            a.call(known + n).await.closed().await;
        }
        let rows = relay.requests().await;
        for row in &rows[..4] {
            let detail = relay.journaled(&row.id.to_string()).await;
            assert_eq!(tried(&detail), ["a first cancelled client_gone"]);
            assert_eq!(detail.attempts[0].verdict, verdict);
        }
        relay.tells(&[]).await;
    }
    // Four of those that stayed count, and no one of those that did not: the fifth tips it.
    relay.ask().await.assert_good("from B");
    relay.tells(&["a open bad_run"]).await;
}

#[tokio::test]
async fn an_attempt_that_is_slow_and_then_cut_counts_once() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).clocks("ttft = \"800ms\"");
    let relay = Relay::start(&setup).await;
    get_known(&relay).await;
    a.now_answers(Reply::silent());
    for answer in super::ask_at_once(&relay, 4).await {
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover ok"]);
    }
    assert_eq!(relay.story(), [""; 0]);
    relay.ask().await.assert_good("from B");
    relay.tells(&["a open bad_run"]).await;
}

#[tokio::test]
async fn an_overloaded_rung_that_names_no_time_is_a_bad_one() {
    let overloaded = Reply::error(529, "Overloaded", "overloaded_error", &Value::Null);
    let a = Provider::always(overloaded).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    for _ in 0..6 {
        relay.ask().await.assert_good("from B");
    }
    assert_eq!(a.count(), 5);
    relay.tells(&["a open bad_run"]).await;
}

#[tokio::test]
async fn without_a_reference_silence_is_no_verdict() {
    let a = Provider::always(late("from A", 900)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    for answer in super::ask_at_once(&relay, 12).await {
        answer.assert_good("from A");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(detail.attempts[0].verdict, Some(TokenVerdict::Good));
    }
    assert_eq!(relay.story(), [""; 0]);
}

#[tokio::test]
async fn a_black_hole_hurts_nobody_and_is_left_after_a_few() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder("retries = 0")).await;
    get_known(&relay).await;
    let known = a.count();
    a.now_answers(Reply::silent());
    for _ in 0..12 {
        let answer = relay.ask().await;
        answer.assert_good("from B");
        assert!(answer.first_token_at() < Some(ms(3_000)), "{:?}", answer.first_token_at());
    }
    // A loser that is cut just before its mark says nothing: allow some of those.
    let called = a.count() - known;
    assert!((5..=11).contains(&called), "opened after five slow ones: {called} calls");
    assert_eq!(relay.story().first().unwrap(), "a open bad_run");
}

#[tokio::test]
async fn the_last_usable_rung_is_never_opened() {
    let a = Provider::always(failing()).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder("fail_fast = true")).await;
    for n in 1..=22 {
        relay.ask().await.assert_error(502);
        assert_eq!(a.count(), n, "still called");
    }
    relay.tells(&["a closed spared"; 4]).await;
    let weights: Vec<_> = relay.transitions().iter().map(|one| one.weight).collect();
    assert_eq!(weights, [0.5, 0.25, 0.125, 0.0625]);
    for _ in 0..8 {
        relay.ask().await.assert_error(502);
    }
    relay.tells(&["a closed spared"; 6]).await;
    assert_eq!(relay.transitions()[5].weight, 0.05, "never less");
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from A");
}

#[tokio::test]
async fn a_rung_that_another_ladder_stands_on_alone_is_not_opened() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).extra("[ladders.solo]\nrungs = [\"a\"]");
    let relay = Relay::start(&setup).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    relay.tells(&["a closed spared"]).await;
    a.now_answers(Reply::text("from A"));
    let answer = relay.send(&tests::openai::ask("solo")).await;
    answer.assert_good("from A");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}

#[tokio::test]
async fn a_rung_is_not_opened_while_the_others_are_held() {
    let a = Provider::always(super::limited().header("retry-after", "30")).await;
    let b = Provider::always(failing()).await;
    let setup = Setup::over(&[&a, &b]).ladder("fail_fast = true");
    let relay = Relay::start(&setup).await;
    for _ in 0..5 {
        relay.ask().await.assert_error(503);
    }
    assert_eq!((a.count(), b.count()), (1, 5));
    relay.tells(&["b closed spared"]).await;
}

#[tokio::test]
async fn auth_takes_a_rung_out_until_its_account_is_mended() {
    let a = Provider::always(Reply::error(401, "no", "invalid_request_error", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    for _ in 0..4 {
        relay.ask().await.assert_good("from B");
    }
    assert_eq!(a.count(), 1, "a refused account is not asked again for five minutes");
    relay.tells(&["a open auth"]).await;
}

#[tokio::test]
async fn a_403_that_says_nothing_of_the_account_opens_on_the_second_one() {
    let odd = Reply::body(403, "text/plain", "no");
    let a = Provider::always(odd.clone()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    relay.ask().await.assert_good("from B");
    // A good one between says that the account is fine.
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from A");
    a.now_answers(odd);
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 3, "one alone may be about the request");
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 4);
    relay.tells(&["a open auth"]).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 4);
}

#[tokio::test]
async fn a_breaker_opens_for_its_own_rung_alone() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(failing()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let setup = Setup::over(&[&a, &b, &c])
        .ladder(NO_HEDGE)
        .rung("a", "breaker = { open_consecutive = 3 }")
        .rung("b", "breaker = { open_consecutive = 8 }");
    let relay = Relay::start(&setup).await;
    for _ in 0..3 {
        relay.ask().await.assert_good("from C");
    }
    relay.tells(&["a open bad_run"]).await;
    assert_eq!((a.count(), b.count()), (3, 3));
    b.now_answers(Reply::text("from B"));
    relay.ask().await.assert_good("from B");
}
