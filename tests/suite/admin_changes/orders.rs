//! An operator's order.

use super::*;
use tests::clock::eventually;

async fn put(relay: &Relay, id: &str, version: &str, rungs: &[&str]) -> Answer {
    let body = json!({"id": id, "reason": "cheaper first", "rungs": rungs});
    call_with(relay, "PUT", "/ladders/chat/order", &[("if-match", version)], &body).await
}

#[tokio::test]
async fn an_order_is_in_force_with_the_next_request_and_ends_with_a_delete() {
    let (relay, _rungs) = three().await;
    let answer = done(&put(&relay, "o1", "\"0\"", &["c", "a", "b"]).await);
    let now = &answer["now"]["ladders"][0];
    assert_eq!((now["version"].as_u64(), now["source"].as_str()), (Some(1), Some("operator")));
    assert_eq!(now["config_order"], json!(["a", "b", "c"]));
    assert!(now["until_at"].is_string(), "four hours unless said otherwise");
    relay.ask().await.assert_good("from C");
    let end = json!({"id": "o2", "reason": "enough"});
    refused(&call(&relay, "DELETE", "/ladders/chat/order", &end).await, 428);
    let path = "/ladders/chat/order";
    done(&call_with(&relay, "DELETE", path, &[("if-match", "\"1\"")], &end).await);
    relay.ask().await.assert_good("from A");
    let now = get(&relay, path).await;
    assert_eq!((now["version"].as_u64(), now["source"].as_str()), (Some(2), Some("config")));
}

#[tokio::test]
async fn an_order_is_made_on_a_version() {
    let (relay, _rungs) = three().await;
    let body = json!({"id": "x", "reason": "r", "rungs": ["b", "a", "c"]});
    let error = refused(&call(&relay, "PUT", "/ladders/chat/order", &body).await, 428);
    assert_eq!(error["present"]["ladders"][0]["version"], 0);
    let order = json!([{"ladder": "chat", "order": ["b", "a", "c"]}]);
    refused(&change(&relay, "x", order.clone()).await, 428);
    refused(&put(&relay, "x", "\"seven\"", &["b", "a", "c"]).await, 400);
    let error = refused(&put(&relay, "x", "\"7\"", &["b", "a", "c"]).await, 412);
    assert_eq!(error["present"]["ladders"][0]["order"], json!(["a", "b", "c"]));
    assert_eq!(order_of(&relay).await, ["a", "b", "c"]);
    let body = json!({"id": "x", "reason": "r", "changes": order, "expect": {"chat": 0}});
    done(&call(&relay, "POST", "/changes", &body).await);
    assert_eq!(order_of(&relay).await, ["b", "a", "c"]);
    done(&put(&relay, "y", "*", &["c", "a", "b"]).await);
}

#[tokio::test]
async fn an_order_that_is_no_permutation_says_what_is_wrong_with_it() {
    let (relay, _rungs) = three().await;
    for (rungs, told) in [
        (vec!["a", "b"], "missing: c"),
        (vec![], "missing: a, b, c"),
        (vec!["a", "b", "c", "d"], "not on this ladder: d"),
        (vec!["a", "b", "b"], "missing: c; more than once: b"),
        (vec!["x", "a", "a", "b"], "missing: c; not on this ladder: x; more than once: a"),
    ] {
        let error = refused(&put(&relay, "bad", "\"0\"", &rungs).await, 400);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(told), "{rungs:?}: {message}");
    }
    assert_eq!(order_of(&relay).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn an_order_ends_by_itself() {
    let (relay, _rungs) = three().await;
    let body = json!({"id": "o", "reason": "r", "ttl": "1s", "rungs": ["b", "a", "c"]});
    let path = "/ladders/chat/order";
    done(&call_with(&relay, "PUT", path, &[("if-match", "\"0\"")], &body).await);
    relay.ask().await.assert_good("from B");
    let ended = "SELECT ended_why FROM orders WHERE ladder = 'chat' AND ended IS NOT NULL";
    let why = eventually("the end of the order", async || {
        relay.open_journal().query_row(ended, [], |row| row.get::<_, String>(0)).ok()
    });
    assert_eq!(why.await, "expired");
    relay.ask().await.assert_good("from A");
    assert_eq!(get(&relay, path).await["version"], 2);
}

#[tokio::test]
async fn a_change_of_several_things_is_made_whole_or_not_at_all() {
    let (relay, _rungs) = three().await;
    let changes =
        json!([{"rung": "a", "mode": "demoted"}, {"ladder": "chat", "order": ["c", "b", "a"]}]);
    let body = |version: u64| json!({"id": "both", "reason": "r", "changes": changes, "expect": {"chat": version}});
    refused(&call(&relay, "POST", "/changes", &body(3)).await, 412);
    assert_eq!(
        (mode_of(&relay, "a").await.as_str(), order_of(&relay).await),
        ("auto", vec!["a".into(), "b".into(), "c".into()])
    );
    done(&call(&relay, "POST", "/changes", &body(0)).await);
    assert_eq!(mode_of(&relay, "a").await, "demoted");
    relay.ask().await.assert_good("from C");
}
