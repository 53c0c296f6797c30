//! `ok`, `empty`, `refused`: answers that ended properly.

use serde_json::json;
use shared::RequestOutcome;
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

fn filtered(text: &str) -> Reply {
    let words = if text.is_empty() { String::new() } else { openai::text(text) };
    let finish = openai::finish("content_filter");
    Reply::sse([openai::role(), words, finish, openai::DONE.to_owned()].concat())
}

fn empty() -> Reply {
    Reply::sse([openai::role(), openai::finish("stop"), openai::DONE.to_owned()].concat())
}

#[tokio::test]
async fn ok_is_passed_on_and_journaled_in_full() {
    let a = Provider::always(Reply::text("hello there")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_good("hello there");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok"]);
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Ok));
    assert_eq!(detail.request.answered_by.as_deref(), Some("a"));
    assert_eq!(detail.request.status, Some(200));
    let attempt = &detail.attempts[0];
    assert_eq!((attempt.input_tokens, attempt.output_tokens), (Some(11), Some(3)));
    assert!(!attempt.estimated);
}

#[tokio::test]
async fn ok_includes_a_length_finish_without_content() {
    let body = [openai::role(), openai::finish("length"), openai::DONE.to_owned()].concat();
    let a = Provider::always(Reply::sse(body)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    assert_eq!(answer.status, 200, "{}", answer.body_text());
    assert_eq!(answer.finish_reasons(), ["length"]);
    assert!(answer.saw_done());
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
    assert_eq!(b.count(), 0);
}

#[tokio::test]
async fn ok_includes_reasoning_a_refusal_delta_and_tool_calls_as_first_tokens() {
    for (delta, finish) in [
        (json!({"reasoning_content": "hm"}), "stop"),
        (json!({"reasoning": "hm"}), "stop"),
        (
            json!({"tool_calls": [{"index": 0, "id": "x", "type": "function",
            "function": {"name": "f", "arguments": "{}"}}]}),
            "tool_calls",
        ),
    ] {
        let begins = Reply::stream().send(openai::role()).send(openai::chunk(&delta, None));
        let a = Provider::always(
            begins.pause(tests::clock::ms(600)).send(openai::finish(finish) + openai::DONE),
        )
        .await;
        let relay = Relay::start(&Setup::over(&[&a]).clocks("ttft = \"300ms\"")).await;
        let answer = relay.ask().await;
        assert_eq!(answer.status, 200, "{delta}: {}", answer.body_text());
        assert_eq!(answer.finish_reasons(), [finish], "{delta}");
        assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"], "{delta}");
    }
}

#[tokio::test]
async fn empty_goes_to_the_next_rung_by_default() {
    let a = Provider::always(empty()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first empty", "b failover ok"]);
    assert_eq!(detail.attempts[0].verdict, None, "an empty answer says nothing of the rung");
}

#[tokio::test]
async fn empty_with_on_empty_end_is_the_answer() {
    let a = Provider::always(empty()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).rung("a", "on_empty = \"end\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("");
    assert_eq!(b.count(), 0);
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first empty"]);
}

#[tokio::test]
async fn empty_by_price_goes_on_from_a_free_rung_and_ends_on_a_paid_one() {
    for (price, calls) in [("input = 0.0, output = 0.0", 1), ("input = 1.0, output = 2.0", 0)] {
        let a = Provider::always(empty()).await;
        let b = Provider::always(Reply::text("from B")).await;
        let setup = Setup::over(&[&a, &b])
            .rung("a", "on_empty = \"by_price\"")
            .rung("a", &format!("price = {{ {price} }}"));
        let relay = Relay::start(&setup).await;
        let answer = relay.ask().await;
        answer.assert_good(if calls == 1 { "from B" } else { "" });
        assert_eq!(b.count(), calls, "{price}");
    }
}

#[tokio::test]
async fn empty_twice_ends_the_walk() {
    let a = Provider::always(empty()).await;
    let b = Provider::always(empty()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c])).await;
    let answer = relay.ask().await;
    answer.assert_error(502);
    assert_eq!(answer.tried(), ["a empty", "b empty"]);
    assert_eq!(c.count(), 0);
}

#[tokio::test]
async fn empty_alone_is_a_502() {
    let a = Provider::always(empty()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask().await.assert_error(502);
    assert_eq!(a.count(), 1, "an empty answer is not asked for again");
}

#[tokio::test]
async fn empty_is_what_a_lone_done_is_not() {
    // `[DONE]` without a finish reason counts as an end only if there was content.
    let a = Provider::always(Reply::sse(openai::DONE)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first junk", "b failover ok"]);
}

#[tokio::test]
async fn refused_is_the_answer_with_or_without_text() {
    for text in ["", "I would rather"] {
        let a = Provider::always(filtered(text)).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b])).await;
        let answer = relay.ask().await;
        assert_eq!(answer.status, 200, "{}", answer.body_text());
        assert_eq!(answer.text(), text);
        assert_eq!(answer.finish_reasons(), ["content_filter"]);
        assert!(answer.saw_done());
        assert_eq!(b.count(), 0, "a refusal is not routed around");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first refused"]);
        assert_eq!(detail.request.outcome, Some(RequestOutcome::Refused));
    }
}

#[tokio::test]
async fn refused_with_on_refusal_next_is_held_back() {
    let refusal = [
        openai::role(),
        openai::chunk(&json!({"refusal": "I will not"}), None),
        openai::finish("stop"),
        openai::DONE.to_owned(),
    ];
    for reply in [filtered(""), Reply::sse(refusal.concat())] {
        let a = Provider::always(reply).await;
        let b = Provider::always(Reply::text("from B")).await;
        let setup = Setup::over(&[&a, &b]).rung("a", "on_refusal = \"next\"");
        let relay = Relay::start(&setup).await;
        let answer = relay.ask().await;
        answer.assert_good("from B");
        assert!(!answer.body_text().contains("I will not"), "held back");
        assert_eq!(
            tried(&relay.journaled(&answer.id()).await),
            ["a first refused", "b failover ok"]
        );
    }
}
