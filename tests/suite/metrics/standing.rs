//! How the relay stands: read when somebody asks.

use super::{NO_HEDGE, failing};
use tests::clock::{eventually, ms};
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn a_breaker_that_opens_and_closes() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let breaker = "breaker = { cooldown = \"2s\", jitter = 0.0 }";
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", breaker)).await;
    let state = |state: &str| format!(r#"belay_breaker_state{{rung="a",state="{state}"}}"#);
    let turned = |to: &str, rule: &str| {
        format!(r#"belay_breaker_transitions_total{{rung="a",to="{to}",rule="{rule}"}}"#)
    };
    let page = relay.metrics().await;
    let states = |page: &tests::Page| {
        ["closed", "half_open", "open"].map(|word| page.value(&state(word)).to_string())
    };
    assert_eq!(states(&page), ["1", "0", "0"]);
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    let page = relay.metrics().await;
    assert_eq!(states(&page), ["0", "0", "1"]);
    assert_eq!(page.value(&turned("open", "bad_run")).to_string(), "1");
    let cools = page.value(r#"belay_breaker_cooldown_seconds{rung="a"}"#);
    assert!(cools > 0.0 && cools <= 2.0, "{cools}");
    relay.ask().await.assert_good("from B");
    let passed = relay.metrics().await.value(r#"belay_passed_over_total{rung="a",reason="open"}"#);
    assert_eq!(passed.to_string(), "1");

    a.now_answers(Reply::text("from A"));
    let page = eventually("the breaker to close", async || {
        relay.ask().await;
        let page = relay.metrics().await;
        (page.value(&turned("closed", "probes_good")) > 0.5).then_some(page)
    })
    .await;
    assert_eq!(states(&page), ["1", "0", "0"]);
    assert_eq!(page.value(&turned("half_open", "cooled_down")).to_string(), "1");
    assert_eq!(page.value(r#"belay_rung_weight{rung="a"}"#).to_string(), "0.1");
    assert_eq!(page.value(r#"belay_breaker_cooldown_seconds{rung="a"}"#).to_string(), "0");
}

#[tokio::test]
async fn a_losing_probes_verdict_counts_although_nobody_sees_it() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b])
        .ladder("hedge = { initial = \"250ms\" }\nretries = 0")
        .rung("a", "breaker = { cooldown = \"300ms\", jitter = 0.0 }");
    let relay = Relay::start(&setup).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    a.now_answers(Reply::begins("from A").after(ms(800)).stop());
    let good = r#"belay_first_token_verdicts_total{rung="a",verdict="good"}"#;
    eventually("a probe to be raced", async || {
        relay.ask().await.assert_good("from B");
        (a.count() > 5).then_some(())
    })
    .await;
    eventually("its verdict", async || (relay.metrics().await.value(good) > 0.5).then_some(()))
        .await;
    let lost =
        r#"belay_attempts_total{rung="a",kind="first",outcome="cancelled",cause="lost_race"}"#;
    assert!(relay.metrics().await.value(lost) > 0.5);
}

#[tokio::test]
async fn an_empty_budget_and_what_it_refused() {
    let a = Provider::always(Reply::begins("from A").after(ms(700)).stop()).await;
    let b = Provider::always(Reply::silent()).await;
    let hedge = "hedge = { initial = \"250ms\", budget = 0.01, burst = 1 }";
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(hedge)).await;
    let level = r#"belay_budget_tokens{ladder="chat",budget="hedge"}"#;
    let refused = r#"belay_budget_refusals_total{ladder="chat",budget="hedge"}"#;
    let page = relay.metrics().await;
    assert_eq!([page.value(level), page.value(refused)].map(|v| v.to_string()), ["1", "0"]);
    for _ in 0..2 {
        relay.ask().await.assert_good("from A");
    }
    let page = relay.metrics().await;
    assert!(page.value(level) < 0.1, "{}", page.value(level));
    assert_eq!(page.value(refused).to_string(), "1");
    assert_eq!(page.value(r#"belay_hedges_started_total{ladder="chat"}"#).to_string(), "1");
    let retry = r#"belay_budget_refusals_total{ladder="chat",budget="retry"}"#;
    assert_eq!(page.value(retry).to_string(), "0");
}

#[tokio::test]
async fn a_relay_that_is_well_says_so() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask().await.assert_good("from A");
    let page = relay.metrics().await;
    for (series, expected) in [
        ("belay_journal_ok", "1"),
        ("belay_journal_lost_requests_total", "0"),
        ("belay_relay_faults_total", "0"),
        ("belay_draining", "0"),
        ("belay_requests_in_flight", "0"),
        (r#"belay_breaker_override{rung="a",override="auto"}"#, "1"),
        (
            r#"belay_rung_info{rung="a",gen_ai_provider_name="p-a",gen_ai_request_model="model-a"}"#,
            "1",
        ),
    ] {
        assert_eq!(page.value(series).to_string(), expected, "{series}");
    }
    assert!(page.value("belay_uptime_seconds") > 0.0);
    assert!(page.samples().any(|(series, _)| series.starts_with("belay_build_info{version=")));
}
