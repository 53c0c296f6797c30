//! Probes, checks, undo, notes, and the list of actions.

use super::*;
use tests::clock::eventually;
use tests::relay::tried;

fn deed(id: &str) -> Value {
    json!({"id": id, "reason": "a test"})
}

#[tokio::test]
async fn a_probe_ends_a_cool_down_and_a_hold() {
    let a = says("from A").await;
    let b = says("from B").await;
    let cooldown = "breaker = { cooldown = \"10m\", max_cooldown = \"10m\" }";
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", cooldown)).await;
    let error = refused(&call(&relay, "POST", "/rungs/a/probe", &deed("p")).await, 409);
    assert_eq!(error["code"], "nothing_to_probe");
    crate::rescue::open_breaker(&relay, &a).await;
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from B");
    let first = done(&call(&relay, "POST", "/rungs/a/probe", &deed("p")).await);
    assert_eq!(first["journaled"], true);
    relay.ask().await.assert_good("from A");
    a.now_answers(crate::rescue::limited().header("retry-after", "60"));
    relay.ask().await.assert_good("from B");
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from B");
    assert_eq!(done(&call(&relay, "POST", "/rungs/a/probe", &deed("p")).await), first);
    relay.ask().await.assert_good("from B");
    done(&call(&relay, "POST", "/rungs/a/probe", &deed("p2")).await);
    relay.ask().await.assert_good("from A");
    done(&force_open(&relay, "f", "a").await);
    let error = refused(&call(&relay, "POST", "/rungs/a/probe", &deed("p3")).await, 409);
    assert_eq!(error["code"], "overridden");
    refused(&call(&relay, "POST", "/rungs/z/probe", &deed("p4")).await, 404);
}

#[tokio::test]
async fn a_check_calls_a_forced_open_rung_and_says_what_it_found() {
    let key = tests::setup::KEY;
    let a = Provider::always(Reply::text("OK")).await;
    let b = says("from B").await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    done(&force_open(&relay, "f", "a").await);
    let good = done(&call(&relay, "POST", "/rungs/a/check", &deed("c1")).await);
    assert_eq!((good["outcome"].as_str(), good["status"].as_u64()), (Some("ok"), Some(200)));
    assert_eq!((good["kind"].as_str(), good["journaled"].as_bool()), (Some("check"), Some(true)));
    assert!(good["ttft_ms"].is_u64() && good["text"].is_null(), "{good}");
    assert_eq!(done(&call(&relay, "POST", "/rungs/a/check", &deed("c1")).await), good);
    assert_eq!(a.count(), 1, "the same id calls nobody");

    let said = format!("bad key {key}-a at {} {}", a.base_url(), "x".repeat(400));
    a.now_answers(Reply::error(401, &said, "auth", &Value::Null));
    let bad = done(&call(&relay, "POST", "/rungs/a/check", &deed("c2")).await);
    assert_eq!((bad["outcome"].as_str(), bad["status"].as_u64()), (Some("auth"), Some(401)));
    let text = bad["text"].as_str().unwrap();
    assert!(text.contains("bad key") && text.chars().count() <= 160, "{text}");
    assert!(!text.contains(key) && !text.contains("127.0.0.1"), "{text}");

    // Nothing was learned from it: no breaker moved, and it is in the journal as what it is.
    assert_eq!(relay.story(), Vec::<String>::new());
    let checks = eventually("both checks in the journal", async || {
        let page = get(&relay, "/requests?kind=check").await;
        let items = page["items"].as_array().unwrap().clone();
        (items.len() == 2).then_some(items)
    })
    .await;
    let detail = relay.journaled(checks[0]["id"].as_str().unwrap()).await;
    assert_eq!(tried(&detail), ["a check auth"]);
    assert_eq!((detail.attempts[0].verdict, detail.request.ladder), (None, None));
    let action = get(&relay, "/actions/c2").await;
    assert_eq!(action["check"]["outcome"], "auth");
    refused(&call(&relay, "POST", "/rungs/z/check", &deed("c3")).await, 404);
}

#[tokio::test]
async fn undo_leads_back_unless_something_later_stands_on_it() {
    let (relay, _rungs) = three().await;
    done(&change(&relay, "one", json!([{"rung": "a", "mode": "demoted"}])).await);
    let before = get(&relay, "/rungs/a/override").await;
    done(&force_open(&relay, "two", "a").await);
    let error = refused(&call(&relay, "POST", "/actions/one/undo", &deed("u0")).await, 409);
    assert_eq!(error["code"], "superseded");
    assert_eq!(error["present"]["rungs"][0]["action"], "two");
    let answer = done(&call(&relay, "POST", "/actions/two/undo", &deed("u1")).await);
    let now = &answer["now"]["rungs"][0];
    for same in ["mode", "by", "reason", "at", "until_at"] {
        assert_eq!(now[same], before[same], "{same} is as it was");
    }
    assert_eq!((now["version"].as_u64(), now["action"].as_str()), (Some(3), Some("u1")));
    assert_eq!(done(&call(&relay, "POST", "/actions/two/undo", &deed("u1")).await), answer);
    refused(&call(&relay, "POST", "/actions/two/undo", &deed("u2")).await, 409);
    // The undo itself can be taken back.
    done(&call(&relay, "POST", "/actions/u1/undo", &deed("u3")).await);
    assert_eq!(mode_of(&relay, "a").await, "forced_open");
    refused(&call(&relay, "POST", "/actions/never/undo", &deed("u4")).await, 404);
    let undone = get(&relay, "/actions/two").await;
    assert_eq!(
        (undone["ended_by"].as_str(), undone["in_force"].as_bool()),
        (Some("local"), Some(false))
    );
}

#[tokio::test]
async fn an_undo_that_would_take_the_last_rung_is_refused() {
    let (a, b) = (says("from A").await, says("from B").await);
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    done(&force_open(&relay, "one", "a").await);
    let swap = json!([{"rung": "a", "mode": "auto"}]);
    done(&change(&relay, "two", swap).await);
    done(&force_open(&relay, "three", "b").await);
    let error = refused(&call(&relay, "POST", "/actions/two/undo", &deed("u")).await, 409);
    assert_eq!(error["ladders"], json!(["chat"]));
    let accepted = json!({"id": "u", "reason": "r", "accept": ["chat"]});
    done(&call(&relay, "POST", "/actions/two/undo", &accepted).await);
    assert_eq!(relay.ask().await.status, 503);
}

#[tokio::test]
async fn notes_stand_until_they_are_ended() {
    let (relay, _rungs) = three().await;
    let note = json!({"id": "n1", "text": "vendor says 30 min", "about": {"ladder": "chat"}});
    done(&call(&relay, "POST", "/notes", &note).await);
    let found = get(&relay, "/actions/n1").await;
    assert_eq!((found["kind"].as_str(), found["in_force"].as_bool()), (Some("note"), Some(true)));
    assert_eq!(
        (&found["about"], &found["reason"]),
        (&json!({"ladder": "chat"}), &json!("vendor says 30 min"))
    );
    refused(&call(&relay, "POST", "/actions/n1/undo", &deed("u")).await, 409);
    done(&call(&relay, "DELETE", "/notes/n1", &deed("e")).await);
    refused(&call(&relay, "DELETE", "/notes/n1", &deed("e2")).await, 404);
    let found = get(&relay, "/actions/n1").await;
    assert_eq!(
        (found["ended_by"].as_str(), found["in_force"].as_bool()),
        (Some("local"), Some(false))
    );
    for bad in
        [json!({"id": "n", "text": ""}), json!({"id": "n", "text": "t", "about": {"rng": "a"}})]
    {
        refused(&call(&relay, "POST", "/notes", &bad).await, 400);
    }
    let nobody = json!({"id": "n", "text": "t", "about": {"rung": "z"}});
    refused(&call(&relay, "POST", "/notes", &nobody).await, 404);
}

#[tokio::test]
async fn actions_are_listed_newest_first_and_filtered() {
    let (relay, _rungs) = three().await;
    for (id, rung) in [("1", "a"), ("2", "b"), ("3", "a")] {
        done(&change(&relay, id, json!([{"rung": rung, "mode": "demoted"}])).await);
    }
    done(
        &call(&relay, "POST", "/notes", &json!({"id": "4", "text": "t", "about": {"rung": "b"}}))
            .await,
    );
    let ids = async |query: &str| {
        let page = get(&relay, &format!("/actions?{query}")).await;
        let ids =
            page["items"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>().join(" "), page["next"].as_str().map(str::to_owned))
    };
    assert_eq!(ids("").await, ("4 3 2 1".to_owned(), None));
    assert_eq!(ids("in_force=true").await.0, "4 3 2");
    assert_eq!(ids("in_force=false").await.0, "1");
    assert_eq!(ids("rung=b").await.0, "4 2");
    assert_eq!(ids("kind=change&rung=a").await.0, "3 1");
    assert_eq!(ids("by=nobody").await.0, "");
    let (first, next) = ids("limit=3").await;
    assert_eq!(first, "4 3 2");
    assert_eq!(ids(&format!("limit=3&cursor={}", next.unwrap())).await, ("1".to_owned(), None));
    for bad in ["?colour=red", "?in_force=maybe", "?kind=deed", "?limit=-1", "?cursor=x"] {
        refused(&relay.admin_get(&format!("/admin/v1/actions{bad}")).await, 400);
    }
}
