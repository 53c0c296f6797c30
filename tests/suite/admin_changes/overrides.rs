//! Overrides: in force at once, for new requests and for those that run.

use super::*;
use tests::clock::{assert_within, eventually, ms, now};
use tests::relay::tried;

#[tokio::test]
async fn a_rung_that_is_forced_open_is_called_no_more_and_demoted_comes_last() {
    let (relay, [a, b, _c]) = three().await;
    relay.ask().await.assert_good("from A");
    let answer = done(&force_open(&relay, "one", "a").await);
    assert_eq!((answer["id"].as_str(), answer["by"].as_str()), (Some("one"), Some("local")));
    assert_eq!(answer["journaled"], true);
    let now = &answer["now"]["rungs"][0];
    assert_eq!((now["rung"].as_str(), now["mode"].as_str()), (Some("a"), Some("forced_open")));
    assert_eq!((now["version"].as_u64(), now["reason"].as_str()), (Some(1), Some("a test")));
    assert!(now["until_at"].is_string(), "15 minutes unless said otherwise: {now}");
    relay.ask().await.assert_good("from B");
    done(&change(&relay, "two", json!([{"rung": "b", "mode": "demoted"}])).await);
    relay.ask().await.assert_good("from C");
    assert_eq!((a.count(), b.count()), (1, 1));
    // Back to the breaker's own judgement: half-open with a probe.
    done(&change(&relay, "three", json!([{"rung": "a", "mode": "auto"}])).await);
    relay.ask().await.assert_good("from A");
    assert_eq!(get(&relay, "/rungs/a/override").await["version"], 2);
}

#[tokio::test]
async fn the_short_form_is_the_same_change() {
    let (relay, _rungs) = three().await;
    let put = json!({"id": "p1", "reason": "hangs", "mode": "forced_open", "ttl": "endless"});
    let answer = done(&call(&relay, "PUT", "/rungs/a/override", &put).await);
    assert_eq!(answer["now"]["rungs"][0]["until_at"], Value::Null);
    relay.ask().await.assert_good("from B");
    let found = relay.admin_get("/admin/v1/rungs/a/override").await;
    assert_eq!(found.header("etag"), Some("\"1\""));
    let end = json!({"id": "p2", "reason": "well again"});
    let stale =
        call_with(&relay, "DELETE", "/rungs/a/override", &[("if-match", "\"0\"")], &end).await;
    let error = refused(&stale, 412);
    assert_eq!(error["present"]["rungs"][0]["version"], 1);
    assert_eq!(mode_of(&relay, "a").await, "forced_open");
    done(&call_with(&relay, "DELETE", "/rungs/a/override", &[("if-match", "\"1\"")], &end).await);
    assert_eq!(mode_of(&relay, "a").await, "auto");
}

#[tokio::test]
async fn a_provider_or_a_domain_stands_for_all_its_rungs() {
    let rungs = [says("from A").await, says("from B").await, says("from C").await];
    let setup = Setup::over(&[&rungs[0], &rungs[1], &rungs[2]]).ladder(NO_HEDGE);
    let relay = Relay::start(&setup.domains("a", &["eu", "x"]).domains("b", &["eu"])).await;
    let answer = done(&change(&relay, "d", json!([{"domain": "eu", "mode": "forced_open"}])).await);
    assert_eq!(answer["now"]["rungs"].as_array().unwrap().len(), 2);
    relay.ask().await.assert_good("from C");
    done(&change(&relay, "p", json!([{"provider": "p-a", "mode": "auto"}])).await);
    relay.ask().await.assert_good("from A");
}

#[tokio::test]
async fn waiting_requests_leave_a_forced_open_rung_at_once() {
    let a = Provider::always(Reply::silent()).await;
    let b = says("from B").await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let streams = [relay.open_stream().await, relay.open_stream().await];
    let whole = relay.open(&tests::openai::ask_whole("chat")).await;
    let calls = [a.call(0).await, a.call(1).await, a.call(2).await];
    let forced_at = now();
    done(&force_open(&relay, "cut", "a").await);
    for call in &calls {
        assert_within("the silent call to be cut", call.closed_after(forced_at).await, ms(250));
    }
    for stream in streams {
        let answer = stream.finish().await;
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first cancelled operator", "b failover ok"]);
    }
    assert_eq!(whole.finish().await.status, 200);
}

#[tokio::test]
async fn committed_streams_run_on_unless_they_are_to_be_cut() {
    let holds = || Reply::begins("so far").hold();
    let (a, b) = (Provider::always(holds()).await, says("from B").await);
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let mut stream = relay.open_stream().await;
    stream.until_text("so far").await;
    done(&force_open(&relay, "open", "a").await);
    relay.ask().await.assert_good("from B");
    assert!(!a.call(0).await.is_closed(), "it runs to its end");
    let cut_at = now();
    let cut = json!([{"rung": "a", "mode": "forced_open", "cut_streams": true}]);
    let answer = done(&change(&relay, "cut", cut).await);
    assert_eq!(answer["now"]["rungs"][0]["cut_streams"], true);
    assert_within("the stream to be cut", a.call(0).await.closed_after(cut_at).await, ms(250));
    let answer = stream.finish().await;
    let error = answer.assert_broken("so far");
    assert_eq!(error["code"], "cut_by_operator", "{error}");
    assert!(!answer.saw_done());
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first cancelled operator"]);
}

#[tokio::test]
async fn an_override_ends_by_itself_and_the_journal_says_so() {
    let (relay, _rungs) = three().await;
    let body = json!({"id": "short", "reason": "a moment", "ttl": "1s",
        "changes": [{"rung": "a", "mode": "forced_open"}]});
    done(&call(&relay, "POST", "/changes", &body).await);
    relay.ask().await.assert_good("from B");
    let ended = "SELECT ended_why FROM overrides WHERE rung = 'a' AND ended IS NOT NULL";
    let why = eventually("the end of the override", async || {
        relay.open_journal().query_row(ended, [], |row| row.get::<_, String>(0)).ok()
    });
    assert_eq!(why.await, "expired");
    relay.ask().await.assert_good("from A");
    assert_eq!(get(&relay, "/rungs/a/override").await["version"], 2);
    assert_eq!(get(&relay, "/actions/short").await["in_force"], false);
}

#[tokio::test]
async fn a_ladder_of_forced_open_rungs_is_refused_unless_it_is_accepted() {
    let (relay, _rungs) = three().await;
    let all = json!([{"rung": "a", "mode": "forced_open"}, {"rung": "b", "mode": "forced_open"},
        {"rung": "c", "mode": "forced_open"}]);
    let error = refused(&change(&relay, "all", all.clone()).await, 409);
    assert_eq!((error["code"].as_str(), &error["ladders"]), (Some("last_rung"), &json!(["chat"])));
    for rung in ["a", "b", "c"] {
        assert_eq!(mode_of(&relay, rung).await, "auto", "nothing of it was done");
    }
    relay.ask().await.assert_good("from A");
    // The id is free: nothing was done under it.
    let body = json!({"id": "all", "reason": "I know", "changes": all, "accept": ["chat"]});
    done(&call(&relay, "POST", "/changes", &body).await);
    let told = relay.ask().await;
    assert_eq!(told.status, 503);
    assert_eq!(get(&relay, "/actions/all").await["accepted"], json!(["chat"]));
}
