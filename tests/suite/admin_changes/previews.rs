//! What a change would do, before it is made.

use super::*;

async fn preview(relay: &Relay, changes: Value) -> Value {
    let body = json!({"id": "look", "reason": "to see", "changes": changes, "expect": {"chat": 0}});
    done(&call(relay, "POST", "/preview", &body).await)
}

fn shares(ladder: &Value) -> Vec<(String, f64, f64)> {
    let step = |step: &Value| {
        let share = &step["share"];
        (
            step["rung"].as_str().unwrap().to_owned(),
            share["before"].as_f64().unwrap(),
            share["after"].as_f64().unwrap(),
        )
    };
    ladder["steps"].as_array().unwrap().iter().map(step).collect()
}

fn kinds(preview: &Value) -> Vec<&str> {
    preview["warnings"].as_array().unwrap().iter().map(|w| w["kind"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_preview_replans_the_last_requests_and_changes_nothing() {
    let (a, b) = (says("from A").await, says("from B").await);
    let price = |output: f64| format!("price = {{ input = 0.0, output = {output:?} }}");
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE);
    let relay = Relay::start(&setup.rung("a", &price(1_000.0)).rung("b", &price(3_000.0))).await;
    let empty = preview(&relay, json!([{"rung": "a", "mode": "forced_open"}])).await;
    assert_eq!(empty["ladders"][0]["requests"], 0);
    assert_eq!(empty["ladders"][0]["steps"][0]["share"]["before"], Value::Null);
    for _ in 0..10 {
        relay.ask().await.assert_good("from A");
    }
    let seen = preview(&relay, json!([{"rung": "a", "mode": "forced_open"}])).await;
    let chat = &seen["ladders"][0];
    assert_eq!((chat["ladder"].as_str(), chat["requests"].as_u64()), (Some("chat"), Some(10)));
    assert_eq!(shares(chat), [("a".to_owned(), 1.0, 0.0), ("b".to_owned(), 0.0, 1.0)]);
    let cost = |when: &str| chat["cost_nps"][when].as_u64().unwrap();
    assert!(cost("before") > 0, "{chat}");
    // Dividing by the same seconds, apart from rounding.
    assert!(cost("after").abs_diff(3 * cost("before")) <= 3, "{chat}");
    assert_eq!(kinds(&seen), Vec::<&str>::new());
    let order = preview(&relay, json!([{"ladder": "chat", "order": ["b", "a"]}])).await;
    let steps = &order["ladders"][0]["steps"];
    assert_eq!(
        (&steps[0]["place"], &steps[1]["place"]),
        (&json!({"before": 1, "after": 2}), &json!({"before": 2, "after": 1}))
    );
    assert_eq!(shares(&order["ladders"][0])[1].2, 1.0);
    // Nothing was changed, and its id is free.
    assert_eq!(
        (mode_of(&relay, "a").await.as_str(), order_of(&relay).await),
        ("auto", vec!["a".into(), "b".into()])
    );
    done(&force_open(&relay, "look", "a").await);
}

#[tokio::test]
async fn a_preview_warns() {
    let (a, b) = (says("from A").await, says("from B").await);
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE);
    let setup = setup
        .rung("a", "supports = [\"tools\", \"json_schema\"]")
        .rung("b", "supports = [\"tools\"]");
    let relay = Relay::start(&setup).await;
    let all = json!([{"rung": "a", "mode": "forced_open"}, {"rung": "b", "mode": "forced_open"}]);
    let seen = preview(&relay, all).await;
    assert_eq!(kinds(&seen), ["last_rung"]);
    assert_eq!(seen["warnings"][0]["ladder"], "chat");
    let schema = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}});
    let schema = tests::openai::with(tests::openai::ask("chat"), &schema);
    relay.send(&schema).await.assert_good("from A");
    let seen = preview(&relay, json!([{"rung": "a", "mode": "forced_open"}])).await;
    assert_eq!(kinds(&seen), ["capability_lost"]);
    assert_eq!(seen["ladders"][0]["unserved"], json!({"before": 0.0, "after": 1.0}));
    crate::rescue::open_breaker(&relay, &a).await;
    let seen = preview(&relay, json!([{"rung": "b", "mode": "forced_open"}])).await;
    assert_eq!(kinds(&seen), ["only_sick"]);
    assert!(seen["warnings"][0]["text"].as_str().unwrap().contains(": a."), "{seen}");
}

#[tokio::test]
async fn a_preview_says_how_long_users_would_wait() {
    let (a, b) = (says("from A").await, says("from B").await);
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let force = |rung: &str| json!([{"rung": rung, "mode": "forced_open"}]);
    relay.ask().await.assert_good("from A");
    let seen = preview(&relay, force("a")).await;
    let half = &seen["ladders"][0]["ttft_p50_ms"];
    assert!(half["before"].is_u64() && half["after"].is_null(), "B was never called: {seen}");
    let taken = done(&force_open(&relay, "t1", "a").await);
    assert_eq!(taken["journaled"], true);
    relay.ask().await.assert_good("from B");
    let seen = preview(&relay, json!([{"rung": "a", "mode": "auto"}])).await;
    for quantile in ["ttft_p50_ms", "ttft_p95_ms"] {
        let of = &seen["ladders"][0][quantile];
        assert!(of["before"].is_u64() && of["after"].is_u64(), "{quantile}: {seen}");
    }
}

#[tokio::test]
async fn a_preview_warns_of_a_rung_that_would_carry_more_than_on_any_minute_of_the_day() {
    let (a, b) = (says("from A").await, says("from B").await);
    let mut relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    relay.kill().await;
    // An hour ago a minute of B's had one call, and one of A's had many.
    let file = rusqlite::Connection::open(relay.journal_file()).unwrap();
    let hour_ago = "(CAST(strftime('%s', 'now') AS INTEGER) / 60 - 60) * 60000";
    for (rung, calls) in [("a", 60_000), ("b", 1)] {
        let row = format!(
            "INSERT INTO minutes VALUES ({hour_ago}, 'chat', '{rung}', 1, {calls}, {calls}, \
             0, 0, 0, 0, 0, 0, 0, 0, '{{}}', '{{}}', '[]', 0, 0, 0, 0)"
        );
        assert_eq!(file.execute(&row, []).unwrap(), 1);
    }
    drop(file);
    let relay = relay.restart().await;
    for _ in 0..10 {
        relay.ask().await.assert_good("from A");
    }
    let seen = preview(&relay, json!([{"rung": "a", "mode": "forced_open"}])).await;
    assert_eq!(kinds(&seen), ["over_peak"], "{seen}");
    assert_eq!(seen["warnings"][0]["rung"], "b");
    let text = seen["warnings"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("b would carry ") && text.ends_with("had 0.02."), "{text}");
    let back = preview(&relay, json!([{"rung": "b", "mode": "forced_open"}])).await;
    assert_eq!(kinds(&back), Vec::<&str>::new(), "A has carried more than that: {back}");
}

#[tokio::test]
async fn a_preview_of_nonsense_is_refused() {
    let (relay, _rungs) = three().await;
    for (status, changes) in [
        (404, json!([{"rung": "z", "mode": "auto"}])),
        (400, json!([])),
        (400, json!([{"ladder": "chat", "order": ["a"]}])),
    ] {
        let body = json!({"id": "p", "reason": "r", "changes": changes});
        refused(&call(&relay, "POST", "/preview", &body).await, status);
    }
}
