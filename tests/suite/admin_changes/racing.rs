//! Two operators at once, and answers that were lost.

use super::*;
use futures_util::future::join_all;

#[tokio::test]
async fn of_two_orders_on_one_version_one_is_told_that_somebody_was_faster() {
    let (relay, _rungs) = three().await;
    let orders = [["b", "a", "c"], ["c", "a", "b"]];
    let put = |at: usize| {
        let body = json!({"id": format!("order-{at}"), "reason": "r", "rungs": orders[at]});
        let relay = &relay;
        async move {
            call_with(relay, "PUT", "/ladders/chat/order", &[("if-match", "\"0\"")], &body).await
        }
    };
    let answers = join_all([put(0), put(1)]).await;
    let winner = answers.iter().position(|answer| answer.status == 200).expect("one is made");
    let error = refused(&answers[1 - winner], 412);
    assert_eq!(error["present"]["ladders"][0]["order"], json!(orders[winner]));
    assert_eq!(error["present"]["ladders"][0]["version"], 1);
    assert_eq!(order_of(&relay).await, orders[winner]);
}

#[tokio::test]
async fn of_two_who_take_the_last_two_rungs_one_is_told_that_it_is_the_last() {
    let (a, b) = (says("from A").await, says("from B").await);
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answers = join_all([force_open(&relay, "x", "a"), force_open(&relay, "y", "b")]).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    let loser = answers.iter().find(|answer| answer.status == 409).unwrap();
    assert_eq!(refused(loser, 409)["ladders"], json!(["chat"]));
    assert_eq!(relay.ask().await.status, 200);
}

#[tokio::test]
async fn the_same_id_again_gives_the_first_answer_and_changes_nothing() {
    let (relay, _rungs) = three().await;
    // At once, and later.
    let answers = join_all((0..5).map(|_| force_open(&relay, "once", "a"))).await;
    done(&change(&relay, "back", json!([{"rung": "a", "mode": "auto"}])).await);
    let again = force_open(&relay, "once", "a").await;
    for answer in &answers {
        assert_eq!(done(answer), done(&again));
    }
    assert_eq!(mode_of(&relay, "a").await, "auto");
    let rows = "SELECT count(*) FROM overrides";
    let rows: i64 = relay.open_journal().query_row(rows, [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
    let error = refused(&force_open(&relay, "once", "b").await, 409);
    assert_eq!(error["code"], "id_reused");
    refused(&call(&relay, "POST", "/notes", &json!({"id": "once", "text": "t"})).await, 409);
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_found_by_its_id() {
    let (relay, _rungs) = three().await;
    let body = json!({"id": "lost", "reason": "r", "changes": [{"rung": "a", "mode": "demoted"}]});
    let bytes = body.to_string();
    let headers = [("content-type", "application/json")];
    let request = tests::client::request(
        relay.admin(),
        "POST",
        "/admin/v1/changes",
        &headers,
        Some(bytes.as_bytes()),
    );
    // Its author never reads the answer, and is gone before it is asked for.
    let unread = tests::Exchange::start(relay.admin(), &request).await;
    let found = tests::clock::eventually("the change", async || {
        let answer = relay.admin_get("/admin/v1/actions/lost").await;
        (answer.status == 200).then(|| answer.json())
    })
    .await;
    let _left_at = unread.hang_up();
    assert_eq!((found["id"].as_str(), found["in_force"].as_bool()), (Some("lost"), Some(true)));
    assert_eq!(found["after"]["rungs"][0]["mode"], "demoted");
    assert_eq!(done(&call(&relay, "POST", "/changes", &body).await)["at"], found["at"]);
    refused(&relay.admin_get("/admin/v1/actions/never").await, 404);
}
