//! `GET /admin/v1/transitions`, `/series` and `/summary`.

use super::{NO_HEDGE, PRICE, failing};
use crate::openapi::contract;
use serde::de::DeserializeOwned;
use shared::admin::{Series, Summary, TransitionPage};
use tests::clock::eventually;
use tests::{Provider, Relay, Reply, Setup};

async fn get<T: DeserializeOwned>(relay: &Relay, path: &str) -> T {
    let answer = relay.admin_get(&format!("/admin/v1/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body_text());
    contract::conforms("GET", &format!("/admin/v1/{path}"), &answer);
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[tokio::test]
async fn transitions_are_listed_newest_first_and_page_by_page() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let cooldown = "breaker = { cooldown = \"100ms\", jitter = 0.0 }";
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", cooldown);
    let relay = Relay::start(&setup).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    // A bad probe, sooner or later.
    let page: TransitionPage = eventually("three transitions", async || {
        relay.ask().await.assert_good("from B");
        let page: TransitionPage = get(&relay, "transitions").await;
        (page.items.len() >= 3).then_some(page)
    })
    .await;
    let story: Vec<_> = page.items.iter().rev().take(3).map(|row| row.rule.as_str()).collect();
    assert_eq!(story, ["bad_run", "cooled_down", "probe_bad"]);
    assert!(
        page.items.iter().all(|row| row.rung == "a" && row.text.len() > row.rule.as_str().len())
    );
    assert!(page.items.windows(2).all(|pair| pair[0].id > pair[1].id));

    let oldest = page.items.last().unwrap();
    let mut paged = Vec::new();
    let mut path = "transitions?limit=2".to_owned();
    loop {
        let page: TransitionPage = get(&relay, &path).await;
        paged.extend(page.items);
        let Some(next) = page.next else { break };
        path = format!("transitions?limit=2&cursor={next}");
    }
    assert!(paged.len() >= page.items.len() && paged.last() == Some(oldest));
    let none: TransitionPage = get(&relay, "transitions?rung=b").await;
    assert_eq!((none.items.len(), none.next), (0, None));
    let before: TransitionPage = get(&relay, &format!("transitions?until={}", oldest.at)).await;
    assert_eq!(before.items.len(), 0);
    let since: TransitionPage = get(&relay, &format!("transitions?since={}", oldest.at)).await;
    assert!(since.items.contains(oldest));
}

#[tokio::test]
async fn curves_and_sums_tell_what_was_also_after_a_restart() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("b", PRICE);
    let mut relay = Relay::start(&setup).await;
    for _ in 0..6 {
        relay.ask().await.assert_good("from B");
    }
    assert_eq!(relay.ask_whole().await.status, 200);
    let none: Series = get(&relay, "series").await;
    let so_far: u64 = none.curves.iter().flat_map(|curve| &curve.points).map(|p| p.calls).sum();
    assert!(so_far == 0 || so_far == 12, "only whole minutes: {none:?}");
    // The orderly end writes the minute that runs.
    relay.terminate();
    relay.exited().await;
    let relay = relay.restart().await;

    let series: Series = get(&relay, "series?step=5m").await;
    assert_eq!(series.step_ms, 300_000);
    let names: Vec<_> = series.curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let sum = |curve: usize, count: fn(&shared::admin::past::Point) -> u64| {
        series.curves[curve].points.iter().map(count).sum::<u64>()
    };
    assert_eq!((sum(0, |p| p.calls), sum(0, |p| p.bad)), (5, 5));
    assert_eq!(sum(0, |p| p.passed.get("open").copied().unwrap_or(0)), 2);
    assert_eq!((sum(1, |p| p.calls), sum(1, |p| p.hist.tokens())), (7, 7));
    let point = &series.curves[1].points[0];
    assert!(point.ttft_p95_ms.is_some() && point.cost_nano > 0, "{point:?}");
    assert!(point.outcomes.contains_key("ok"));

    let series: Series = get(&relay, "series?by=ladder&ladder=chat").await;
    let calls: u64 = series.curves[0].points.iter().map(|point| point.calls).sum();
    assert_eq!((series.curves[0].name.as_str(), calls), ("chat", 7));
    let none: Series = get(&relay, "series?rung=nobody").await;
    assert_eq!(none.curves.len(), 0);

    for (group, expected) in [
        ("rung", &[(Some("b"), 7, 0), (Some("a"), 5, 5)][..]),
        ("ladder", &[(Some("chat"), 7, 0)]),
        ("outcome", &[(Some("ok"), 7, 0)]),
        ("tenant", &[(None, 7, 0)]),
    ] {
        let summary: Summary = get(&relay, &format!("summary?group={group}")).await;
        let rows: Vec<_> =
            summary.items.iter().map(|row| (row.name.as_deref(), row.count, row.bad)).collect();
        assert_eq!(rows, expected, "{group}");
        let cost: i64 = summary.items.iter().map(|row| row.cost_nano).sum();
        assert!(cost > 0 || group == "tenant" || group == "outcome", "{summary:?}");
    }
}

#[tokio::test]
async fn what_is_asked_wrongly_is_told() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for (path, word) in [
        ("transitions?who=me", "rung, since"),
        ("transitions?since=yesterday", "since"),
        ("transitions?cursor=x", "cursor"),
        ("transitions?limit=many", "limit"),
        ("series?by=provider", "by"),
        ("series?step=10s", "minutes"),
        ("series?step=soon", "step"),
        ("series?since=2030-01-01T00:00:00Z", "before until"),
        ("series?since=2020-01-01T00:00:00Z", "31 days"),
        ("series?since=2025-01-01T00:00:00Z&until=2025-01-05T00:00:00Z", "steps"),
        ("series?group=rung", "by, rung"),
        ("summary?group=model", "group"),
        ("summary?step=1m", "group, ladder"),
    ] {
        let answer = relay.admin_get(&format!("/admin/v1/{path}")).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.body_text());
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(word), "{path}: {message}");
    }
}
