//! Nothing that was answered is lost: not by a kill, not by a sick journal.

use super::*;

#[tokio::test]
async fn overrides_orders_notes_versions_and_answers_survive_a_kill() {
    let (mut relay, _rungs) = three().await;
    let order = json!({"id": "order", "reason": "cheap", "rungs": ["c", "b", "a"]});
    let path = "/ladders/chat/order";
    done(&call_with(&relay, "PUT", path, &[("if-match", "\"0\"")], &order).await);
    done(&force_open(&relay, "gone", "b").await);
    done(&change(&relay, "ended", json!([{"rung": "b", "mode": "auto"}])).await);
    let cut = json!([{"rung": "c", "mode": "forced_open", "cut_streams": true}]);
    let first = done(&change(&relay, "open", cut.clone()).await);
    let note = json!({"id": "note", "text": "vendor says 30 min", "about": {"rung": "c"}});
    done(&call(&relay, "POST", "/notes", &note).await);
    relay.kill().await;
    let relay = relay.restart().await;
    relay.ask().await.assert_good("from B");
    let order = get(&relay, path).await;
    assert_eq!((order["version"].as_u64(), order["by"].as_str()), (Some(1), Some("local")));
    assert_eq!(
        (order["order"].clone(), order["reason"].clone()),
        (json!(["c", "b", "a"]), json!("cheap"))
    );
    let now = get(&relay, "/rungs/c/override").await;
    assert_eq!(now, first["now"]["rungs"][0], "whose it was, and until when");
    let b = get(&relay, "/rungs/b/override").await;
    assert_eq!((b["version"].as_u64(), b["mode"].as_str()), (Some(2), Some("auto")));
    assert_eq!(done(&change(&relay, "open", cut).await), first, "the first answer");
    refused(&force_open(&relay, "open", "a").await, 409);
    let undo = json!({"id": "u", "reason": "back"});
    done(&call(&relay, "POST", "/actions/open/undo", &undo).await);
    assert_eq!(mode_of(&relay, "c").await, "auto");
    let in_force = get(&relay, "/actions?in_force=true").await;
    let ids: Vec<_> =
        in_force["items"].as_array().unwrap().iter().map(|a| a["id"].clone()).collect();
    assert_eq!(ids, ["note", "order"]);
    done(&call(&relay, "DELETE", "/notes/note", &json!({"id": "e", "reason": "over"})).await);
}

#[tokio::test]
async fn an_order_is_fitted_to_a_config_whose_rungs_have_changed() {
    let (mut relay, _rungs) = three().await;
    let order = json!({"id": "order", "reason": "cheap", "rungs": ["c", "a", "b"]});
    let path = "/ladders/chat/order";
    done(&call_with(&relay, "PUT", path, &[("if-match", "\"0\"")], &order).await);
    relay.kill().await;
    let config = std::fs::read_to_string(relay.config()).unwrap();
    let rungs = r#"rungs = ["a", "b", "c"]"#;
    assert!(config.contains(rungs), "{config}");
    std::fs::write(relay.config(), config.replace(rungs, r#"rungs = ["b", "c"]"#)).unwrap();
    let relay = relay.restart().await;
    let order = get(&relay, path).await;
    assert_eq!((&order["order"], &order["source"]), (&json!(["c", "b"]), &json!("adapted")));
    relay.ask().await.assert_good("from C");
}

#[tokio::test]
async fn with_a_journal_that_cannot_be_written_a_change_is_made_and_says_so() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("belay.db"), b"somebody's notes ".repeat(500)).unwrap();
    let (a, b) = (says("from A").await, says("from B").await);
    let relay = Relay::start_in(&Setup::over(&[&a, &b]).ladder(NO_HEDGE), folder).await;
    let answer = done(&force_open(&relay, "sick", "a").await);
    assert_eq!(answer["journaled"], false);
    relay.ask().await.assert_good("from B");
    assert_eq!(done(&force_open(&relay, "sick", "a").await), answer);
    let found = get(&relay, "/actions/sick").await;
    assert_eq!((found["in_force"].as_bool(), found["by"].as_str()), (Some(true), Some("local")));
    done(&call(&relay, "POST", "/actions/sick/undo", &json!({"id": "u", "reason": "r"})).await);
    assert_eq!(mode_of(&relay, "a").await, "auto");
}
