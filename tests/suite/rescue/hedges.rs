//! Hedges: when a second attempt starts, to whom it goes, and when it does not.

use super::{EARLY_HEDGE, failing, late};
use serde_json::json;
use shared::{Cause, TokenVerdict};
use tests::clock::{assert_within, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn a_hedge_answers_while_the_first_is_silent_and_the_loser_is_closed() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(EARLY_HEDGE)).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let hedged_at = b.call(0).await.at;
    assert!(hedged_at - answer.sent_at >= ms(300), "not before its delay");
    assert_within("the hedge", hedged_at - answer.sent_at, ms(1_000));
    assert_eq!(answer.header("x-belay-hedged"), Some("true"));
    assert_eq!(answer.header("x-belay-attempts"), Some("2"));
    assert_eq!(answer.roles(), 1, "nothing of A was shown");
    let answered_at = answer.sent_at + answer.end_at;
    assert_within("the loser's end", a.call(0).await.closed_after(answered_at).await, ms(200));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first cancelled lost_race", "b hedge ok"]);
    assert!(detail.request.hedged);
}

#[tokio::test]
async fn a_hedge_goes_to_another_failure_domain_first() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let c = Provider::always(Reply::text("from C")).await;
    let setup = Setup::over(&[&a, &b, &c])
        .domains("a", &["one", "east"])
        .domains("b", &["two", "east"])
        .domains("c", &["three", "west"]);
    let relay = Relay::start(&setup.clone().ladder(EARLY_HEDGE)).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first cancelled lost_race", "c hedge ok"]);
    // A failover follows the ladder, and where all share a domain so does a hedge.
    a.now_answers(failing());
    relay.ask().await.assert_good("from B");
    a.now_answers(Reply::silent());
    let relay = Relay::start(&setup.domains("c", &["east"]).ladder(EARLY_HEDGE)).await;
    relay.ask().await.assert_good("from B");
}

#[tokio::test]
async fn a_hedge_goes_to_a_closed_rung_before_a_half_open_one() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(failing()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let setup = Setup::over(&[&a, &b, &c])
        .ladder(EARLY_HEDGE)
        .ladder("max_hedges = 1\nmax_attempts = 9")
        .rung("b", super::SHORT_COOLDOWN);
    let relay = Relay::start(&setup).await;
    // Five failed hedges to B, each replaced by one to C, open B.
    for _ in 0..5 {
        relay.ask().await.assert_good("from C");
    }
    relay.tells(&["b open bad_run"]).await;
    // It has cooled down and may be probed when the next request is planned, but C is well.
    b.now_answers(Reply::text("from B"));
    tokio::time::sleep(ms(300)).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    assert!(relay.journaled(&answer.id()).await.passed_over.is_empty());
    assert_eq!(b.count(), 5);
}

#[tokio::test]
async fn a_failed_hedge_is_replaced_once() {
    let a = Provider::always(late("from A", 1_500)).await;
    let b = Provider::always(failing()).await;
    let c = Provider::always(failing()).await;
    let d = Provider::always(Reply::text("from D")).await;
    let setup = Setup::over(&[&a, &b, &c, &d]).ladder(EARLY_HEDGE);
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from A");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok", "b hedge server_error", "c hedge server_error"]);
    let replaced = c.call(0).await.at - b.call(0).await.at;
    assert_within("the replacement", replaced, ms(200));
    assert_eq!(d.count(), 0);
}

#[tokio::test]
async fn nothing_but_content_wins_a_race() {
    let error = openai::error_event("worker lost", "server_error", &json!(null));
    for (hedge, outcome) in [
        // A frame is no token: a role, a comment, an error, an end.
        (Reply::stream().send(openai::role() + ": ping\n\n").hold(), "cancelled lost_race"),
        (Reply::sse(openai::role() + &error), "server_error"),
        (Reply::sse(openai::DONE), "junk"),
        (Reply::sse(openai::role() + &openai::finish("stop") + openai::DONE), "empty"),
        (Reply::error(400, "no", "invalid_request_error", &json!(null)), "bad_request"),
    ] {
        let a = Provider::always(late("from A", 800)).await;
        let b = Provider::always(hedge).await;
        let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(EARLY_HEDGE)).await;
        let answer = relay.ask().await;
        answer.assert_good("from A");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first ok".to_owned(), format!("b hedge {outcome}")]);
    }
}

#[tokio::test]
async fn what_one_of_two_says_of_the_request_counts_if_the_other_fails_too() {
    let a = Provider::always(failing().after(ms(700))).await;
    let b = Provider::always(Reply::error(400, "no", "invalid_request_error", &json!(null))).await;
    let c = Provider::always(Reply::text("never")).await;
    // Nothing is left for a replacement of the hedge.
    let hedge = "hedge = { initial = \"300ms\", burst = 1, budget = 0.0 }";
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder(hedge)).await;
    let answer = relay.ask().await;
    answer.assert_error(400);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first server_error", "b hedge bad_request"]);
    assert_eq!(c.count(), 0, "the request is wrong: nobody else is asked");
}

#[tokio::test]
async fn for_one_json_answer_the_first_token_ends_the_race_but_not_the_walk() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::begins("half").pause(ms(300)).cut()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder(EARLY_HEDGE)).await;
    let answer = relay.ask_whole().await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "from C"));
    let detail = relay.journaled(&answer.id()).await;
    let all = ["a first cancelled lost_race", "b hedge disconnect", "c failover ok"];
    assert_eq!(tried(&detail), all);
    assert!(a.call(0).await.closed().await < c.call(0).await.at, "cut at B's first token");
}

#[tokio::test]
async fn a_request_has_as_many_hedges_and_attempts_in_flight_as_it_may() {
    for (line, expected) in [
        ("max_in_flight = 1", ["a first ttft_timeout", "b failover ttft_timeout", "c failover ok"]),
        // The default: two in flight, one hedge.
        ("", ["a first ttft_timeout", "b hedge ttft_timeout", "c failover ok"]),
        (
            "max_hedges = 2\nmax_in_flight = 3",
            ["a first cancelled lost_race", "b hedge cancelled lost_race", "c hedge ok"],
        ),
        // A second hedge has to wait until the first attempt has made room for it.
        ("max_hedges = 2", ["a first ttft_timeout", "b hedge cancelled lost_race", "c hedge ok"]),
    ] {
        let a = Provider::always(Reply::silent()).await;
        let b = Provider::always(Reply::silent()).await;
        let c = Provider::always(Reply::text("from C")).await;
        let setup = Setup::over(&[&a, &b, &c]).ladder(EARLY_HEDGE).ladder(line);
        let relay = Relay::start(&setup.clocks("ttft = \"1s\"")).await;
        let answer = relay.ask().await;
        answer.assert_good("from C");
        assert_eq!(tried(&relay.journaled(&answer.id()).await), expected, "{line}");
    }
}

/// What a request with these fields tries on a ladder whose first rung takes a second.
async fn with_a_slow_first(ladder: &str, fields: &serde_json::Value) -> Vec<String> {
    let a = Provider::always(late("from A", 1_000)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(ladder)).await;
    let answer = relay.send(&openai::with(openai::ask("chat"), fields)).await;
    assert_eq!(answer.status, 200, "{}", answer.body_text());
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(a.count() + b.count(), detail.attempts.len(), "nobody is called unseen");
    tried(&detail)
}

const HEDGED: [&str; 2] = ["a first cancelled lost_race", "b hedge ok"];

#[tokio::test]
async fn a_request_with_side_effects_is_never_hedged() {
    for fields in [json!({"store": true}), json!({"web_search_options": {}})] {
        assert_eq!(with_a_slow_first(EARLY_HEDGE, &fields).await, ["a first ok"], "{fields}");
    }
    let allowed = format!("{EARLY_HEDGE}\nside_effects = \"none\"");
    assert_eq!(with_a_slow_first(&allowed, &json!({"store": true})).await, HEDGED);
}

#[tokio::test]
async fn a_ladder_that_nobody_waits_on_never_hedges() {
    let nothing = json!({});
    let batch = format!("{EARLY_HEDGE}\ninteractive = false");
    assert_eq!(with_a_slow_first(&batch, &nothing).await, ["a first ok"]);
    let off = "hedge = { initial = \"300ms\", enabled = false }";
    assert_eq!(with_a_slow_first(off, &nothing).await, ["a first ok"]);
    assert_eq!(with_a_slow_first("hedge = { delay = \"none\" }", &nothing).await, ["a first ok"]);
    assert_eq!(with_a_slow_first("hedge = { delay = \"300ms\" }", &nothing).await, HEDGED);
    assert_eq!(with_a_slow_first(EARLY_HEDGE, &nothing).await, HEDGED);
}

#[tokio::test]
async fn a_client_that_leaves_is_told_apart_from_a_lost_race() {
    // It leaves while two are in flight: both are cancelled, and neither lost a race.
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::silent()).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(EARLY_HEDGE)).await;
    let client = relay.open_stream().await;
    b.call(0).await;
    let left_at = client.hang_up();
    for provider in [&a, &b] {
        let took = provider.call(0).await.closed_after(left_at).await;
        assert_within("the upstream's end", took, ms(200));
    }
    let detail = relay.newest().await;
    let gone = ["a first cancelled client_gone", "b hedge cancelled client_gone"];
    assert_eq!(tried(&detail), gone);
    assert_eq!(detail.request.cause, Some(Cause::ClientGone));

    // It leaves after the race is decided: the loser lost, the winner's client left.
    b.now_answers(Reply::begins("from B").hold());
    let mut client = relay.open_stream().await;
    client.until_text("from B").await;
    let _ = client.hang_up();
    b.call(1).await.closed().await;
    let detail = relay.newest().await;
    assert_eq!(tried(&detail), ["a first cancelled lost_race", "b hedge cancelled client_gone"]);
    assert_eq!(detail.attempts[0].verdict, None, "cut before the mark: nothing is known");
    assert_eq!(detail.attempts[1].verdict, Some(TokenVerdict::Good));
}
