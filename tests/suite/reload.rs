//! The config is read again: what changes, what stays, and what running requests notice
//! of it, which is nothing.

use serde_json::{Value, json};
use std::path::Path;
use tests::clock::{eventually, ms};
use tests::{Answer, Provider, Relay, Reply, Setup};

const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";
/// Long enough to outlast any test.
const LONG: &str = "breaker = { cooldown = \"10m\", max_cooldown = \"10m\", jitter = 0.0 }";
const ON_A_AND_B: &str = "rungs = [\"a\", \"b\"]";

fn failing() -> Reply {
    Reply::error(500, "no", "server_error", &Value::Null)
}

fn refusing() -> Reply {
    Reply::error(401, "no", "invalid_request_error", &Value::Null)
}

/// The config, changed, is written over the old one.
fn edit(relay: &Relay, from: &str, to: &str) {
    std::fs::write(relay.config(), edited(relay, from, to)).unwrap();
}

fn edited(relay: &Relay, from: &str, to: &str) -> String {
    let config = std::fs::read_to_string(relay.config()).unwrap();
    assert!(config.contains(from), "{from} is in the config");
    config.replace(from, to)
}

/// A new file under the old name, as editors write.
fn replace(path: &Path, content: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, content).unwrap();
    std::fs::rename(new, path).unwrap();
}

/// What the relay says of its config: number and error.
async fn state(relay: &Relay) -> (u64, Value) {
    let config = relay.admin_get("/readyz").await.json()["config"].clone();
    assert!(config["loaded_at"].is_string() || config["loaded_at"].is_number(), "{config}");
    (config["rev"].as_u64().unwrap(), config["error"].clone())
}

async fn until_rev(relay: &Relay, rev: u64) {
    eventually(&format!("rev {rev}"), async || {
        (state(relay).await == (rev, Value::Null)).then_some(())
    })
    .await;
}

/// The error that the relay comes to tell, which holds these words.
async fn until_refused(relay: &Relay, words: &str) -> Value {
    eventually(&format!("a refusal with {words}"), async || {
        let error = state(relay).await.1;
        error["text"].as_str().is_some_and(|text| text.contains(words)).then_some(error)
    })
    .await
}

async fn passed_over(relay: &Relay, answer: &Answer) -> Vec<String> {
    let detail = relay.journaled(&answer.id()).await;
    detail.passed_over.iter().map(|row| format!("{} {}", row.rung, row.reason)).collect()
}

async fn two() -> (Provider, Provider) {
    (Provider::always(Reply::text("from A")).await, Provider::always(Reply::text("from B")).await)
}

#[tokio::test]
async fn b69_new_requests_take_the_new_ladder_and_a_running_stream_ends_on_the_old() {
    let (a, b) = two().await;
    a.now_answers(
        Reply::stream()
            .words(&["one ", "two "], ms(10))
            .pause(ms(3_500))
            .words(&["three"], ms(10))
            .stop(),
    );
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let mut old = relay.open_stream().await;
    old.until_text("one two ").await;
    // A goes, its provider too, and B's clocks are others.
    let config =
        edited(&relay, ON_A_AND_B, "rungs = [\"b\"]").replace("\"model-b\"", "\"another\"");
    let (head, rest) = config.split_once("[providers.p-a]").unwrap();
    let (_, tail) = rest.split_once("[providers.p-b]").unwrap();
    let without_a = format!("{head}[providers.p-b]{tail}");
    replace(relay.config(), &without_a);
    until_rev(&relay, 2).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(b.call(0).await.json()["model"], "another");
    let old = old.finish().await;
    old.assert_good("one two three");
    assert_eq!(a.count(), 1);
    let detail = relay.journaled(&old.id()).await;
    assert_eq!(detail.request.answered_by.as_deref(), Some("a"));
    assert!(relay.log().contains("config reloaded"), "success is seen too: {}", relay.log());
}

#[tokio::test]
async fn b69_a_broken_edit_is_refused_with_its_line_and_the_old_config_goes_on() {
    let (a, b) = two().await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let good = std::fs::read_to_string(relay.config()).unwrap();
    // A name that does not exist.
    edit(&relay, ON_A_AND_B, "rungs = [\"a\", \"zzz\"]");
    let broken = std::fs::read_to_string(relay.config()).unwrap();
    let line = broken.lines().position(|line| line.contains("zzz")).unwrap() + 1;
    let error = until_refused(&relay, "zzz").await;
    assert_eq!(error["line"], line, "{error}");
    relay.ask().await.assert_good("from A");
    assert_eq!(state(&relay).await.0, 1);
    let log = relay.log();
    let told: Vec<_> = log.lines().filter(|line| line.contains("is refused")).collect();
    assert!(told.len() == 1 && told[0].contains(&format!(":{line}:")), "one line: {log}");
    let page = relay.metrics_text().await;
    assert!(page.contains("belay_config_ok 0"), "{page}");
    // No TOML at all; no file at all.
    std::fs::write(relay.config(), &good[..good.len() / 2]).unwrap();
    until_refused(&relay, "TOML").await;
    std::fs::remove_file(relay.config()).unwrap();
    until_refused(&relay, "cannot be read").await;
    relay.ask().await.assert_good("from A");
    // Back as it was: nothing to complain of, and nothing has changed.
    std::fs::write(relay.config(), &good).unwrap();
    until_rev(&relay, 1).await;
    assert!(relay.log().contains("again the one in force"), "{}", relay.log());
}

#[tokio::test]
async fn b69_half_a_file_is_not_taken_for_a_whole_one() {
    let (a, b) = two().await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let extra = "[ladders.code]\nrungs = [\"b\"]\n";
    let whole = std::fs::read_to_string(relay.config()).unwrap() + extra;
    // What is there while it is being written is a sound config by itself.
    let mut half = edited(&relay, ON_A_AND_B, "rungs = [\"b\"]");
    for piece in 0..50 {
        half += &format!("# piece {piece}\n");
        std::fs::write(relay.config(), &half).unwrap();
        // A slow editor: the relay must look at the file while it is half written.
        tokio::time::sleep(ms(50)).await;
    }
    std::fs::write(relay.config(), &whole).unwrap();
    until_rev(&relay, 2).await;
    relay.ask().await.assert_good("from A");
    let code = json!({ "model": "code", "stream": true, "messages": [{ "role": "user", "content": "x" }] });
    relay.send(&code).await.assert_good("from B");
}

#[tokio::test]
async fn b69_an_unchanged_rung_keeps_its_breaker_and_its_hold() {
    let (a, b) = two().await;
    let c = Provider::always(Reply::text("from C")).await;
    a.now_answers(failing());
    let limited = Reply::error(429, "no", "rate_limit_error", &Value::Null);
    b.now_answers(limited.header("retry-after", "60"));
    let setup = Setup::over(&[&a, &b, &c]).ladder(NO_HEDGE).rung("a", LONG);
    let relay = Relay::start(&setup).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from C");
    }
    relay.tells(&["a open bad_run"]).await;
    // Another order, another clock, and another price: the rungs are the same.
    edit(&relay, "rungs = [\"a\", \"b\", \"c\"]", "rungs = [\"b\", \"a\", \"c\"]");
    edit(
        &relay,
        "model = \"model-a\"",
        "model = \"model-a\"\nttft = \"9s\"\nprice = { input = 1.0, output = 2.0 }",
    );
    relay.signal("HUP");
    until_rev(&relay, 2).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    assert_eq!(passed_over(&relay, &answer).await, ["b hold", "a open"]);
    assert_eq!((a.count(), b.count()), (5, 1));
    // Under another model it is another rung, of which nothing is known.
    edit(&relay, "model = \"model-a\"", "model = \"other\"");
    a.now_answers(Reply::text("from the other"));
    until_rev(&relay, 3).await;
    relay.ask().await.assert_good("from the other");
    // And the old one is where it was, should it come back.
    edit(&relay, "model = \"other\"", "model = \"model-a\"");
    until_rev(&relay, 4).await;
    let answer = relay.ask().await;
    assert_eq!(passed_over(&relay, &answer).await, ["b hold", "a open"]);
}

#[tokio::test]
async fn a_rotated_key_file_ends_a_hard_down_without_a_restart() {
    let (a, b) = two().await;
    let folder = tempfile::TempDir::new().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "UPSTREAM-KEY-PLACEHOLDER-old\n").unwrap();
    let source = format!("file = \"{}\"", key.display());
    a.now_answers(refusing());
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    edit(&relay, "env = \"UPSTREAM_KEY_A\"", &source);
    until_rev(&relay, 2).await;
    relay.ask().await.assert_good("from B");
    relay.tells(&["a open auth"]).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 1, "down");
    a.now_answers(Reply::text("from A"));
    replace(&key, "UPSTREAM-KEY-PLACEHOLDER-new\n");
    until_rev(&relay, 3).await;
    relay.tells(&["a open auth", "a half_open key_changed"]).await;
    relay.ask().await.assert_good("from A");
    let sent = a.call(1).await.header("authorization").map(str::to_owned);
    assert_eq!(sent.as_deref(), Some("Bearer UPSTREAM-KEY-PLACEHOLDER-new"));
    // A key file that is gone is no key, and no reason to forget the one that works.
    std::fs::remove_file(&key).unwrap();
    until_refused(&relay, "key file").await;
    relay.ask().await.assert_good("from A");
    // There again, as Kubernetes does it: a link to another folder.
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    for (path, text) in
        [(&one, "UPSTREAM-KEY-PLACEHOLDER-new"), (&two, "UPSTREAM-KEY-PLACEHOLDER-newer")]
    {
        std::fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink(&one, &key).unwrap();
    until_rev(&relay, 3).await;
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&two, &link).unwrap();
    std::fs::rename(link, &key).unwrap();
    until_rev(&relay, 4).await;
    assert!(!relay.log().contains(tests::setup::KEY), "{}", relay.log());
}

#[tokio::test]
async fn what_cannot_change_live_is_refused_by_name_with_all_the_rest() {
    let (a, b) = two().await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    let good = std::fs::read_to_string(relay.config()).unwrap();
    for (from, to, key) in [
        (
            "[server]\nlisten = \"127.0.0.1:0\"",
            "[server]\nlisten = \"127.0.0.1:1\"",
            "server.listen",
        ),
        ("[admin]\nlisten = \"127.0.0.1:0\"", "[admin]\nlisten = \"127.0.0.1:1\"", "admin.listen"),
        ("belay.db", "other.db", "journal.path"),
        ("[server]\n", "[server]\nmax_requests = 5\n", "server.max_requests"),
    ] {
        let changed = edited(&relay, from, to).replace(ON_A_AND_B, "rungs = [\"b\"]");
        std::fs::write(relay.config(), changed).unwrap();
        until_refused(&relay, key).await;
        relay.ask().await.assert_good("from A");
        std::fs::write(relay.config(), &good).unwrap();
        until_rev(&relay, 1).await;
    }
}

#[tokio::test]
async fn sighup_reads_at_once_and_says_so_also_when_nothing_has_changed() {
    let (a, b) = two().await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    relay.signal("HUP");
    eventually("a word", async || relay.log().contains("nothing has changed").then_some(())).await;
    edit(&relay, ON_A_AND_B, "rungs = [\"b\", \"a\"]");
    relay.signal("HUP");
    until_rev(&relay, 2).await;
    relay.ask().await.assert_good("from B");
}

#[tokio::test]
async fn keys_of_clients_tokens_of_operators_and_limits_change_live() {
    let (a, b) = two().await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE);
    let relay = Relay::start(&setup).await;
    relay.ask().await.assert_good("from A");
    // Hashes of keys that nobody has.
    let client = "[clients.web]\nkey_sha256 = \"e99a18c428cb38d5f260853678922e03abd8335f2e0b9a1b1e0e1e1f1a2b3c4d\"\n";
    let token = "[admin]\ntokens = [{ name = \"ana\", role = \"viewer\", sha256 = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }]\n";
    let config =
        edited(&relay, "[admin]\n", token).replace("[server]\n", "[server]\nstamp = false\n");
    std::fs::write(relay.config(), config + client).unwrap();
    until_rev(&relay, 2).await;
    assert_eq!(relay.ask().await.status, 401);
    assert_eq!(relay.admin_get("/admin/v1/requests").await.status, 401);
    edit(&relay, client, "");
    until_rev(&relay, 3).await;
    let answer = relay.ask().await;
    answer.assert_good("from A");
    assert_eq!(answer.stamp(), None);
}
