//! `ttft_timeout` and `deadline`: the first and the third clock.

use super::belay;
use shared::RequestOutcome;
use tests::clock::{assert_fired, assert_within, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn ttft_timeout_goes_to_the_next_rung() {
    let prelude = Reply::stream().send(openai::role()).hold();
    for silent in [Reply::silent(), Reply::stream().hold(), prelude] {
        let a = Provider::always(silent).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"400ms\"")).await;
        let answer = relay.ask().await;
        answer.assert_good("from B");
        assert_eq!(answer.roles(), 1, "nothing of A was shown");
        let silent = a.call(0).await;
        assert_fired("the first clock", b.call(0).await.at - answer.sent_at, ms(400));
        assert_within("A's end", silent.closed_after(b.call(0).await.at).await, ms(200));
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover ok"]);
        assert_eq!(a.count(), 1, "a silent rung is not asked again");
    }
}

#[tokio::test]
async fn ttft_timeout_alone_is_a_504() {
    let a = Provider::always(Reply::silent()).await;
    let relay = Relay::start(&Setup::over(&[&a]).clocks("ttft = \"400ms\"")).await;
    let answer = relay.ask().await;
    answer.assert_error(504);
    assert_fired("the first clock", answer.end_at, ms(400));
    assert_eq!(answer.tried(), ["a ttft_timeout"]);
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Failed));
}

#[tokio::test]
async fn ttft_may_be_set_on_a_rung() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).clocks("ttft = \"5s\"").rung("a", "ttft = \"300ms\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_fired("the rung's own clock", b.call(0).await.at - answer.sent_at, ms(300));
}

#[tokio::test]
async fn deadline_before_a_token_is_a_504() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::silent()).await;
    let setup = Setup::over(&[&a, &b]).clocks("ttft = \"400ms\", total = \"600ms\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_error(504);
    assert_fired("the third clock", answer.end_at, ms(600));
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ttft_timeout", "b failover deadline"]);
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Deadline));
    assert_eq!(detail.attempts[1].verdict, None, "the request's time was short, not the rung's");
    b.call(0).await.closed().await;
}

#[tokio::test]
async fn deadline_in_the_stream_is_an_error_event() {
    let words = ["w"; 30];
    let a = Provider::always(Reply::begins("w").words(&words, ms(100)).stop()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let clocks =
        "ttft = \"500ms\", inter_token = \"500ms\", total = \"600ms\", stream_total = \"800ms\"";
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks(clocks)).await;
    let answer = relay.ask().await;
    answer.assert_broken(&answer.text());
    assert!(answer.text().len() >= 5, "{}", answer.text());
    assert_fired("the third clock", answer.end_at, ms(800));
    assert_eq!(answer.tried(), ["a deadline"]);
    assert_eq!(b.count(), 0);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Deadline));
    assert!(belay(&answer)["request_id"].is_string());
}
