//! Probes: how a half-open breaker learns, and gets its slot back.

use super::{EARLY_HEDGE, NO_HEDGE, SHORT_COOLDOWN, ask_at_once, late, open_breaker, reaching};
use shared::PassedOver;
use tests::clock::{assert_within, eventually, ms, now};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

const OPENED: &str = "a open bad_run";
const COOLED: &str = "a half_open cooled_down";

/// A relay whose first rung is open, with a short cool-down; B answers.
async fn opened(ladder: &str) -> (Provider, Provider, Relay) {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(ladder).rung("a", SHORT_COOLDOWN);
    let relay = Relay::start(&setup).await;
    open_breaker(&relay, &a).await;
    (a, b, relay)
}

#[tokio::test]
async fn good_probes_close_it() {
    let (a, _b, relay) = opened(NO_HEDGE).await;
    a.now_answers(Reply::text("from A"));
    let probe = reaching(&relay, &a).await.finish().await;
    probe.assert_good("from A");
    let detail = relay.journaled(&probe.id()).await;
    assert_eq!(tried(&detail), ["a first ok"]);
    assert!(detail.attempts[0].probe);
    relay.tells(&[OPENED, COOLED]).await;
    let second = relay.ask().await;
    second.assert_good("from A");
    assert!(relay.journaled(&second.id()).await.attempts[0].probe);
    relay.tells(&[OPENED, COOLED, "a closed probes_good"]).await;
    let transitions = relay.transitions();
    let states: Vec<_> = transitions.iter().map(|one| one.before.as_str()).collect();
    assert_eq!(states, ["closed", "open", "half_open"]);
    assert!((transitions[2].weight - 0.1).abs() < 1e-9, "slow start: {transitions:?}");
}

#[tokio::test]
async fn a_bad_probe_opens_it_again_for_longer() {
    let (a, _b, relay) = opened(NO_HEDGE).await;
    let probe = reaching(&relay, &a).await.finish().await;
    probe.assert_good("from B");
    let again = [OPENED, COOLED, "a open probe_bad"];
    relay.tells(&again).await;
    let next = reaching(&relay, &a).await;
    let waited = a.call(6).await.at - a.call(5).await.at;
    assert!(waited >= ms(400), "twice the first cool-down: {waited:?}");
    next.finish().await;
}

#[tokio::test]
async fn one_probe_at_a_time() {
    let (a, _b, relay) = opened(NO_HEDGE).await;
    a.now_answers(late("from A", 700));
    let probe = reaching(&relay, &a).await;
    for answer in ask_at_once(&relay, 8).await {
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["b first ok"]);
        assert_eq!(detail.passed_over[0].reason, PassedOver::NoSlot);
    }
    assert_eq!(a.count(), 6, "one probe, and nothing beside it");
    probe.finish().await.assert_good("from A");
    relay.ask().await.assert_good("from A");
}

#[tokio::test]
async fn a_losing_probe_runs_on_unseen_until_its_first_token() {
    let (a, _b, relay) = opened(EARLY_HEDGE).await;
    // Its token would have been the client's, 700 ms after B's.
    a.now_answers(Reply::begins("from A").hold().after(ms(1_000)));
    for n in [5, 6] {
        let answer = reaching(&relay, &a).await.finish().await;
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        let lost = ["a first cancelled lost_race", "b hedge ok"];
        assert_eq!(tried(&detail), lost);
        assert!(detail.attempts[0].probe);
        let call = a.call(n).await;
        assert!(!call.is_closed(), "the client has its answer, the provider does not know");
        assert_eq!(call.writes(), 0, "and has said nothing yet");
        // Its slot stays taken meanwhile.
        relay.ask().await.assert_good("from B");
        assert_eq!(a.count(), n + 1);
        let token_at = call.wrote(0).await;
        assert_within("its end after the token", call.closed_after(token_at).await, ms(200));
    }
    // Nobody ever got an answer from A, and yet its breaker has closed.
    relay.tells(&[OPENED, COOLED, "a closed probes_good"]).await;
}

#[tokio::test]
async fn an_unseen_probe_ends_at_its_hard_clock_and_is_bad() {
    let ladder = format!("{EARLY_HEDGE}\nclocks = {{ ttft = \"1s\" }}");
    let (a, _b, relay) = opened(&ladder).await;
    a.now_answers(Reply::silent());
    let answer = reaching(&relay, &a).await.finish().await;
    answer.assert_good("from B");
    let call = a.call(5).await;
    assert!(!call.is_closed());
    let lived = call.closed_after(call.at).await;
    assert!(lived >= ms(900), "cut after {lived:?}");
    relay.tells(&[OPENED, COOLED, "a open probe_bad"]).await;
}

#[tokio::test]
async fn an_unseen_probe_that_fails_is_bad() {
    let (a, _b, relay) = opened(EARLY_HEDGE).await;
    a.now_answers(super::failing().after(ms(900)));
    let answer = reaching(&relay, &a).await.finish().await;
    answer.assert_good("from B");
    assert!(!a.call(5).await.is_closed());
    relay.tells(&[OPENED, COOLED, "a open probe_bad"]).await;
}

#[tokio::test]
async fn an_unseen_probe_that_is_told_to_wait_holds_its_rung() {
    let (a, _b, relay) = opened(EARLY_HEDGE).await;
    let told = super::limited().header("retry-after", "30").after(ms(700));
    a.now_answers(told);
    let answer = reaching(&relay, &a).await.finish().await;
    answer.assert_good("from B");
    // Until its refusal has been read the slot is taken, from then on the rung is held:
    // for the 30 s that it was told, not for the 2 s of a refusal without a time.
    a.call(5).await.over().await;
    a.now_answers(Reply::text("from A"));
    // The hold of a refusal without a time would be over by then.
    tokio::time::sleep(ms(2_800)).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.passed_over[0].reason, PassedOver::Hold);
}

#[tokio::test]
async fn an_unseen_probe_does_not_keep_a_relay_from_stopping() {
    let (a, _b, mut relay) = opened(EARLY_HEDGE).await;
    a.now_answers(Reply::silent());
    reaching(&relay, &a).await.finish().await.assert_good("from B");
    assert!(!a.call(5).await.is_closed());
    let told_at = now();
    relay.terminate();
    assert_eq!(relay.exited().await.code(), Some(0));
    assert_within("the relay's end", told_at.elapsed(), ms(1_500));
}

#[tokio::test]
async fn a_probe_that_is_told_to_wait_is_no_verdict() {
    let (a, _b, relay) = opened(NO_HEDGE).await;
    a.now_answers(super::limited().header("retry-after", "1"));
    reaching(&relay, &a).await.finish().await.assert_good("from B");
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 6, "held");
    a.now_answers(Reply::text("from A"));
    reaching(&relay, &a).await.finish().await.assert_good("from A");
    assert!(a.call(6).await.at - a.call(5).await.at >= ms(1_000));
    // Half-open all the while: one more good one closes it.
    relay.tells(&[OPENED, COOLED]).await;
    relay.ask().await.assert_good("from A");
    relay.tells(&[OPENED, COOLED, "a closed probes_good"]).await;
}

#[tokio::test]
async fn a_breaker_opened_by_broken_streams_waits_for_whole_ones() {
    let a = Provider::always(Reply::begins("x").cut()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", SHORT_COOLDOWN);
    let relay = Relay::start(&setup).await;
    for _ in 0..5 {
        relay.ask().await.assert_broken("x");
    }
    let opened = "a open broken_run";
    relay.tells(&[opened]).await;
    // A probe that brings a token and breaks says what the first five said.
    reaching(&relay, &a).await.finish().await.assert_broken("x");
    relay.tells(&[opened, COOLED, "a open probe_bad"]).await;
    // One that goes on keeps its slot: the token alone proves nothing.
    a.now_answers(Reply::begins("one").pause(ms(700)).send(openai::text(" two")).stop());
    let mut probe = reaching(&relay, &a).await;
    probe.until_text("one").await;
    relay.ask().await.assert_good("from B");
    assert_eq!(relay.story().len(), 4, "half-open still");
    probe.finish().await.assert_good("one two");
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from A");
    let story = eventually("the breaker to close", async || {
        let story = relay.story();
        (story.len() == 5).then_some(story)
    })
    .await;
    assert_eq!(story[4], "a closed probes_good");
}
