//! Rungs that are asked less instead of being passed over, and answers that are checked.

use serde_json::{Value, json};
use shared::PassedOver;
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

/// Asks for an object with a whole number `n`.
fn schema() -> Value {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
        "required": ["n"], "additionalProperties": false});
    let format = json!({"name": "number", "strict": true, "schema": schema});
    json!({"response_format": {"type": "json_schema", "json_schema": format}})
}

const NO_SCHEMA: &str = "supports = [\"tools\"]\ndegrade = [\"json_schema\"]";

/// A provider that answers badly first, and well once it is told why.
async fn mends() -> Provider {
    Provider::scripted(|call| {
        let text = call.json().to_string();
        if text.contains("is not of type") {
            Reply::text(r#"{"n":3}"#)
        } else {
            Reply::text(r#"{"n":"x"}"#)
        }
    })
    .await
}

#[tokio::test]
async fn an_answer_that_breaks_its_schema_is_asked_for_once_more_with_the_reason() {
    let a = mends().await;
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", NO_SCHEMA)).await;
    let answer = relay.send(&openai::with(openai::ask_whole("chat"), &schema())).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["choices"][0]["message"]["content"], r#"{"n":3}"#);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first invalid", "a retry ok"]);
    assert_eq!(detail.attempts[0].verdict, Some(shared::TokenVerdict::Good));
    assert!(detail.attempts[0].left_out.contains(&"json_schema".to_owned()));
    let (first, second) = (a.call(0).await.json(), a.call(1).await.json());
    assert!(first.get("response_format").is_none(), "{first}");
    assert!(first["messages"].to_string().contains("additionalProperties"), "{first}");
    // The model sees its own answer, and what was wrong with it.
    let told = second["messages"].as_array().unwrap();
    assert!(told.len() >= first["messages"].as_array().unwrap().len() + 2, "{second}");
    let text = detail.attempts.iter().map(|one| format!("{one:?}")).collect::<String>();
    assert!(!text.contains("is not of type"), "an answer is nobody's business: {text}");
}

#[tokio::test]
async fn an_answer_that_stays_wrong_goes_to_the_next_rung_and_then_is_a_502() {
    let wrong = Provider::always(Reply::text("no json")).await;
    let b = Provider::always(Reply::text(r#"{"n":1}"#)).await;
    let setup = Setup::over(&[&wrong, &b]).rung("a", NO_SCHEMA);
    let relay = Relay::start(&setup).await;
    let asked = openai::with(openai::ask_whole("chat"), &schema());
    let answer = relay.send(&asked).await;
    assert_eq!(answer.json()["choices"][0]["message"]["content"], r#"{"n":1}"#);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first invalid", "a retry invalid", "b failover ok"]);
    assert!(b.call(0).await.json().get("response_format").is_some(), "B can be held to it");
    let relay = Relay::start(&Setup::over(&[&wrong]).rung("a", NO_SCHEMA)).await;
    let answer = relay.send(&asked).await;
    let error = answer.assert_error(502);
    assert_eq!(error["belay"]["tried"][0]["outcome"], "invalid", "{error}");
}

#[tokio::test]
async fn a_stream_cannot_be_checked_so_the_rung_is_off_the_plan() {
    let a = Provider::always(Reply::text("never")).await;
    let b = Provider::always(Reply::text(r#"{"n":1}"#)).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).rung("a", NO_SCHEMA)).await;
    let answer = relay.send(&openai::with(openai::ask("chat"), &schema())).await;
    answer.assert_good(r#"{"n":1}"#);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.passed_over[0].reason, PassedOver::Capability);
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn a_ladder_may_have_every_answer_checked() {
    let a = mends().await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder("validate = true")).await;
    let answer = relay.send(&openai::with(openai::ask_whole("chat"), &schema())).await;
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first invalid", "a retry ok"]);
    assert!(a.call(0).await.json().get("response_format").is_some(), "it can be held to it");
    let broken = json!({"response_format": {"type": "json_schema",
        "json_schema": {"name": "x", "schema": {"type": "nonsense"}}}});
    let answer = relay.send(&openai::with(openai::ask_whole("chat"), &broken)).await;
    assert_eq!(answer.assert_error(400)["code"], "invalid_schema");
    assert_eq!(a.count(), 2);
}

#[tokio::test]
async fn tools_come_one_at_a_time_where_a_rung_can_do_no_more() {
    let a = Provider::always(Reply::text("fine")).await;
    let setup =
        Setup::over(&[&a]).rung("a", "supports = [\"tools\"]\ndegrade = [\"parallel_tools\"]");
    let relay = Relay::start(&setup).await;
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": {}}});
    let fields = json!({"tools": [tool], "parallel_tool_calls": true});
    let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
    answer.assert_good("fine");
    assert_eq!(a.call(0).await.json()["parallel_tool_calls"], false);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.attempts[0].left_out, ["parallel_tools"]);
}

#[tokio::test]
async fn an_answer_may_be_shorter_than_asked_for_where_the_rung_says_so() {
    let a = Provider::always(Reply::text("short")).await;
    let setup = Setup::over(&[&a]).rung("a", "max_output = 100\ndegrade = [\"max_output\"]");
    let relay = Relay::start(&setup).await;
    let ask = |most: u64| openai::with(openai::ask("chat"), &json!({"max_tokens": most}));
    let answer = relay.send(&ask(5000)).await;
    answer.assert_good("short");
    assert_eq!(a.call(0).await.json()["max_tokens"], 100);
    assert_eq!(relay.journaled(&answer.id()).await.attempts[0].left_out, ["max_output"]);
    let answer = relay.send(&ask(50)).await;
    assert_eq!(a.call(1).await.json()["max_tokens"], 50);
    assert!(relay.journaled(&answer.id()).await.attempts[0].left_out.is_empty());
    // The new name counts; what stands under the old one is no way around the limit.
    let both = json!({"max_completion_tokens": 50, "max_tokens": 5000});
    relay.send(&openai::with(openai::ask("chat"), &both)).await.assert_good("short");
    let sent = a.call(2).await.json();
    assert_eq!((&sent["max_completion_tokens"], &sent["max_tokens"]), (&json!(50), &json!(100)));
}
