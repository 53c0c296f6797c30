//! B55: usage is asked for on behalf of clients that did not, and taken out again.

use serde_json::{Value, json};
use tests::{Provider, Relay, Reply, Setup, openai};

const UPSTREAMS: [&str; 3] =
    ["B55-usage-empty-choices.sse", "B55-usage-no-choices-key.sse", "B55-empty-choices-first.sse"];

#[tokio::test]
async fn b55_usage_is_recorded_and_shown_only_to_those_who_asked() {
    for upstream in UPSTREAMS {
        let a = Provider::always(Reply::fixture(upstream)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        for (asked, fields) in [
            (false, json!({})),
            (false, json!({"stream_options": null})),
            (false, json!({"stream_options": {"include_usage": false}})),
            (true, json!({"stream_options": {"include_usage": true}})),
        ] {
            let answer = relay.send(&openai::with(openai::ask("chat"), &fields)).await;
            answer.assert_good("counted");
            let chunks = answer.chunks();
            let is_bare = |chunk: &&Value| {
                chunk["choices"].as_array().is_none_or(Vec::is_empty)
                    && chunk.get("usage").is_some()
            };
            let bare: Vec<&Value> = chunks.iter().filter(is_bare).collect();
            if asked {
                assert_eq!(bare.len(), 1, "{upstream} {fields}");
                assert_eq!(bare[0]["choices"], json!([]), "{upstream} {fields}");
                assert_eq!(bare[0]["usage"]["total_tokens"], 26);
                assert_eq!(chunks.last(), Some(bare[0]), "just before the terminator");
            } else {
                assert!(bare.is_empty(), "{upstream} {fields}: {}", answer.body_text());
            }
            let attempt = &relay.journaled(&answer.id()).await.attempts[0];
            let tokens = (attempt.input_tokens, attempt.output_tokens);
            assert_eq!(tokens, (Some(20), Some(6)), "{upstream} {fields}");
            let stamp = answer.stamp().unwrap();
            assert_eq!((&stamp["input_tokens"], &stamp["output_tokens"]), (&json!(20), &json!(6)));
        }
        for call in a.calls() {
            assert_eq!(call.json()["stream_options"]["include_usage"], true, "always asked for");
        }
    }
}

#[tokio::test]
async fn b55_cost_follows_price_and_usage() {
    let a = Provider::always(Reply::fixture(UPSTREAMS[0])).await;
    let price = "price = { input = 3.0, cached_input = 0.3, output = 15.0 }";
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", price)).await;
    let answer = relay.ask().await;
    let detail = relay.journaled(&answer.id()).await;
    // 20 × 3 + 6 × 15 dollars per million tokens.
    let cost = detail.attempts[0].cost_usd.expect("a cost");
    assert!((cost - 0.000_15).abs() < 1e-12, "{cost}");
    assert_eq!(answer.stamp().unwrap()["cost_usd"].as_f64(), Some(cost));
}

#[tokio::test]
async fn b55_without_a_price_there_is_no_cost() {
    let a = Provider::always(Reply::fixture(UPSTREAMS[0])).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.attempts[0].cost_usd, None);
    assert_eq!(detail.attempts[0].no_cost.as_deref(), Some("no price"));
    assert_eq!(answer.stamp().unwrap()["cost_usd"], Value::Null);
}
