//! What a rung's dialect has no words for takes it off the plan, by name.

use super::anthropic;
use serde_json::json;
use shared::{PassedOver, RequestOutcome};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn a_rung_whose_dialect_has_no_words_for_it_is_passed_over_and_the_field_is_named() {
    let a = Provider::always(Reply::sse(anthropic("from A"))).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).dialect("a", "anthropic-messages")).await;
    relay.ask().await.assert_good("from A");
    for (field, value) in [("logprobs", json!(true)), ("x_new", json!([1]))] {
        let answer = relay.send(&openai::with(openai::ask("chat"), &json!({field: value}))).await;
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["b first ok"], "{field}");
        let [passed] = detail.passed_over.as_slice() else { panic!("{detail:?}") };
        assert_eq!((passed.rung.as_str(), passed.reason), ("a", PassedOver::Dialect));
        assert_eq!(passed.feature.as_deref(), Some(field));
    }
    assert_eq!(a.count(), 1);
}

#[tokio::test]
async fn where_no_rung_has_words_for_it_the_client_hears_which_field_it_was() {
    let a = Provider::always(Reply::sse(anthropic("never"))).await;
    let relay = Relay::start(&Setup::over(&[&a]).dialect("a", "anthropic-messages")).await;
    let request = openai::with(openai::ask("chat"), &json!({"logit_bias": {"50256": -100}}));
    let answer = relay.send(&request).await;
    let error = answer.assert_error(400);
    assert_eq!(error["param"], "logit_bias", "{error}");
    assert!(error["message"].as_str().unwrap().contains("'logit_bias'"), "{error}");
    assert_eq!(a.count(), 0);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.outcome, Some(RequestOutcome::NoCandidate));
}

#[tokio::test]
async fn wishes_that_a_dialect_has_no_words_for_are_left_out_and_journaled() {
    let a = Provider::always(Reply::sse(anthropic("from A"))).await;
    let relay = Relay::start(&Setup::over(&[&a]).dialect("a", "anthropic-messages")).await;
    let fields = json!({"seed": 7, "presence_penalty": 0.5, "temperature": 1.5});
    let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
    answer.assert_good("from A");
    let body = a.call(0).await.json();
    assert!(body.get("seed").is_none() && body.get("presence_penalty").is_none(), "{body}");
    assert_eq!(body["temperature"], 1.0);
    let detail = relay.journaled(&answer.id()).await;
    let left_out: Vec<&str> = detail.attempts[0].left_out.iter().map(String::as_str).collect();
    for word in ["seed", "presence_penalty", "temperature"] {
        assert!(left_out.contains(&word), "{left_out:?}");
    }
}

#[tokio::test]
async fn a_400_about_the_relays_own_wording_goes_to_the_next_rung_and_any_other_does_not() {
    let refusal = |message: &str| {
        let error = json!({"type": "invalid_request_error", "message": message});
        Reply::json(400, &json!({"type": "error", "error": error}))
    };
    let a =
        Provider::always(refusal("thinking.budget_tokens: Extra inputs are not permitted")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).dialect("a", "anthropic-messages");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    let expected = ["a first bad_request", "a retry bad_request", "b failover ok"];
    assert_eq!(tried(&detail), expected);
    assert_eq!(detail.attempts[0].verdict, None, "no fault of the rung's");
    a.now_answers(refusal("messages: too many pictures"));
    let error = relay.ask().await.assert_error(400);
    assert!(error["message"].as_str().unwrap().contains("pictures"), "{error}");
    assert_eq!(b.count(), 1);
}
