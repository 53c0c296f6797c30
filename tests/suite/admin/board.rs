//! `GET /admin/v1/board`: what it says of rungs, ladders and the relay.

use super::{NO_HEDGE, PRICE, failing};
use shared::{AttemptOutcome, PassedOver};
use tests::clock::eventually;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn a_relay_at_rest_says_what_it_is_made_of_and_that_nothing_is_known() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b])
        .admin("name = \"eu-1\"\nenv = \"production\"\nprotected = true")
        .ladder("aliases = [\"gpt\"]")
        .provider("b", "max_connections = 7")
        .rung("a", PRICE);
    let relay = Relay::start(&setup).await;
    let board = relay.board().await;
    let it = &board.relay;
    assert_eq!((it.name.as_deref(), it.env.as_deref()), (Some("eu-1"), Some("production")));
    assert!(it.protected && it.fleet.ok && !it.fleet.on && !it.drain.on);
    assert!(it.rss_bytes.is_some_and(|rss| rss > 1 << 20), "{it:?}");
    assert!(it.journal.ok && it.journal.disk_free_bytes.is_some());
    assert_eq!((it.you.name.as_deref(), it.config.rev), (None, 1));
    assert!(it.started_at <= board.at);

    let [ladder] = board.ladders.as_slice() else { panic!("{board:?}") };
    assert_eq!(
        (ladder.name.as_str(), ladder.aliases.as_slice()),
        ("chat", ["gpt".into()].as_slice())
    );
    assert_eq!((&ladder.order, ladder.source.as_str()), (&ladder.config_order, "config"));
    assert_eq!(ladder.order, ["a", "b"]);
    assert_eq!((ladder.users.ok, ladder.users.ttft_p95_ms, &ladder.usual), (0, None, &None));
    assert_eq!(ladder.budget.hedge.level.to_string(), "20");
    let [rung, other] = board.rungs.as_slice() else { panic!("{board:?}") };
    assert_eq!((rung.provider.as_str(), rung.model.as_str()), ("p-a", "model-a"));
    assert_eq!((rung.health.state.as_str(), rung.health.sick_since_at), ("closed", None));
    assert_eq!((rung.now.calls, rung.now.ttft_p95_ms, rung.now.mark_ms), (0, None, None));
    assert!(rung.price.is_some() && other.price.is_none());
    assert_eq!(other.limits.concurrent, Some(7));
    assert_eq!(rung.past.spark.as_ref().map(|spark| spark.calls.len()), Some(60));
    let key = board.providers[0].key.as_ref().unwrap();
    assert_eq!((key.source.as_deref(), key.tag.len()), (Some("env"), 4));
    assert_ne!(key.tag, board.providers[1].key.as_ref().unwrap().tag, "two keys");
}

#[tokio::test]
async fn what_a_request_did_is_on_the_board_at_once() {
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("b", PRICE);
    let relay = Relay::start(&setup).await;
    for _ in 0..6 {
        relay.ask().await.assert_good("from B");
    }
    let board = relay.board().await;
    let [a, b] = board.rungs.as_slice() else { panic!("{board:?}") };
    assert_eq!((a.now.calls, a.now.bad, a.now.good), (5, 5, 0), "{a:?}");
    assert_eq!(a.now.outcomes.get("server_error"), Some(&5));
    let fault = a.past.last_fault.as_ref().unwrap();
    assert_eq!((fault.outcome, fault.status), (AttemptOutcome::ServerError, Some(500)));
    assert_eq!((a.health.state.as_str(), a.health.opens_10m), ("open", 1));
    let cause = a.health.cause.as_ref().unwrap();
    assert_eq!((cause.rule.as_str(), cause.bad, cause.n), ("bad_run", 5, 5));
    assert!(cause.text.contains("in a row"), "{cause:?}");
    let probe = a.health.probe.as_ref().unwrap();
    assert!(!probe.running && probe.need == 2);
    assert!(probe.at > a.health.since_at && a.health.sick_since_at.is_some());
    let body = br#"{"id": "p1", "reason": "hangs", "mode": "forced_open"}"#;
    let headers = [("content-type", "application/json")];
    let put = relay.admin_call("PUT", "/admin/v1/rungs/a/override", &headers, Some(body)).await;
    assert_eq!(put.status, 200, "{}", put.body_text());
    let forced = relay.board().await.rungs.into_iter().next().unwrap();
    assert_eq!(
        (forced.health.state.as_str(), forced.health.probe),
        ("open", None),
        "no probe comes"
    );

    assert_eq!((b.now.calls, b.now.good), (6, 6));
    assert!(b.past.last_ok_at.is_some() && b.past.last_fault.is_none());
    assert!(b.now.ttft_p95_ms.is_some() && b.now.cost_nps > 0 && b.now.rps > 0.0);
    let users = &board.ladders[0].users;
    assert_eq!((users.ok, users.failed, users.rescued), (6, 0, 5));
    assert!(users.ttft_p95_ms.is_some(), "{users:?}");
    let steps = &board.ladders[0].steps;
    assert_eq!(steps.iter().map(|step| step.share).collect::<Vec<_>>(), [Some(0.0), Some(1.0)]);
    assert_eq!(steps[0].passed.get(&PassedOver::Open), Some(&1));
    assert_eq!(steps[0].first_share, Some(5.0 / 6.0));
}

#[tokio::test]
async fn who_waits_and_who_streams_is_told_apart() {
    let a = Provider::in_turn(vec![Reply::silent(), Reply::begins("x").hold()]).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder(NO_HEDGE)).await;
    let waits = relay.open_stream().await;
    eventually("the first call to wait", async || (a.count() == 1).then_some(())).await;
    let mut streams = relay.open_stream().await;
    streams.until_text("x").await;
    let board = relay.board().await;
    let (rung, users) = (&board.rungs[0].now, &board.ladders[0].users);
    assert_eq!((rung.waiting, rung.streaming), (1, 1), "{rung:?}");
    assert_eq!((users.waiting, users.streaming), (1, 1), "{users:?}");
    assert!(rung.oldest_wait_ms.is_some() && users.oldest_wait_ms.is_some());
    assert_eq!((board.relay.streams, board.relay.waiting), (2, 1));
    let _left = (waits.hang_up(), streams.hang_up());
    eventually("both to be gone", async || {
        let board = relay.board().await;
        let rung = &board.rungs[0].now;
        (rung.waiting + rung.streaming + board.relay.streams == 0).then_some(())
    })
    .await;
    let users = &relay.board().await.ladders[0].users;
    assert_eq!((users.gone, users.failed, users.waiting), (1, 0, 0), "{users:?}");
}

#[tokio::test]
async fn failing_users_are_counted_by_when_it_failed() {
    let broken = || Reply::begins("half").cut();
    let a = Provider::in_turn(vec![failing(), broken()]).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder(NO_HEDGE)).await;
    relay.ask().await.assert_error(502);
    let answer = relay.ask().await;
    assert_eq!(answer.status, 200);
    let users = &relay.board().await.ladders[0].users;
    assert_eq!((users.failed, users.broken, users.ok), (1, 1, 0), "{users:?}");
}
