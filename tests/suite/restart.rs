//! What the relay knew before it died, it knows again.

use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tests::clock::{assert_within, eventually, ms, now};
use tests::{Answer, Provider, Relay, Reply, Setup};

const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";
/// Long enough to outlast any test.
const LONG: &str = "breaker = { cooldown = \"10m\", max_cooldown = \"10m\", jitter = 0.0 }";

fn failing() -> Reply {
    Reply::error(500, "no", "server_error", &Value::Null)
}

fn refusing() -> Reply {
    Reply::error(401, "no", "invalid_request_error", &Value::Null)
}

fn journal(relay: &Relay) -> rusqlite::Connection {
    rusqlite::Connection::open(relay.journal_file()).unwrap()
}

/// What the journal says in one cell; `None` without a row, or while there is no such table.
fn cell(relay: &Relay, sql: &str) -> Option<String> {
    journal(relay).query_row(sql, [], |row| row.get(0)).ok().flatten()
}

async fn until_it_says(relay: &Relay, sql: &str, wanted: &str) {
    eventually(&format!("{wanted} from {sql}"), async || {
        (cell(relay, sql).as_deref() == Some(wanted)).then_some(())
    })
    .await;
}

const STATE_OF_A: &str = "SELECT state FROM health WHERE rung = 'a'";

/// Kills the relay and starts it on the same journal and config, or on one where this is that.
async fn reborn(mut relay: Relay, changes: &[(&str, &str)]) -> Relay {
    relay.kill().await;
    let mut config = std::fs::read_to_string(relay.config()).unwrap();
    for (from, to) in changes {
        assert!(config.contains(from), "{from} is in the config");
        config = config.replace(from, to);
    }
    std::fs::write(relay.config(), config).unwrap();
    relay.restart().await
}

/// Why this answer's request passed rungs over.
async fn passed_over(relay: &Relay, answer: &Answer) -> Vec<String> {
    let detail = relay.journaled(&answer.id()).await;
    detail.passed_over.iter().map(|row| format!("{} {}", row.rung, row.reason)).collect()
}

/// A relay over a rung that fails so and one that answers, told so five times.
async fn broken(reply: Reply, rung: &str) -> (Relay, Provider, Provider) {
    let a = Provider::always(reply).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", rung);
    let relay = Relay::start(&setup.env("ANOTHER_KEY", "UPSTREAM-KEY-PLACEHOLDER-new")).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    until_it_says(&relay, STATE_OF_A, "open").await;
    (relay, a, b)
}

#[tokio::test]
async fn an_open_breaker_is_open_after_a_kill() {
    let (relay, a, _b) = broken(failing(), LONG).await;
    let relay = reborn(relay, &[]).await;
    for _ in 0..3 {
        let answer = relay.ask().await;
        answer.assert_good("from B");
        assert_eq!(passed_over(&relay, &answer).await, ["a open"]);
    }
    assert_eq!(a.count(), 5, "not called again");
    let log = relay.log();
    let line = log.lines().find(|line| line.contains("still open from before the restart"));
    let line = line.unwrap_or_else(|| panic!("nobody is told: {log}"));
    assert!(line.contains("rung=a") && line.contains("rule=\"bad_run\""), "{line}");
    assert!(line.contains("left="), "{line}");
    // Nor after another one, which has seen nothing but what it read.
    let relay = reborn(relay, &[]).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 5);
}

#[tokio::test]
async fn its_cool_down_ends_when_it_would_have_ended() {
    const COOLDOWN: Duration = Duration::from_secs(3);
    let breaker = "breaker = { cooldown = \"3s\", jitter = 0.0 }";
    let a = Provider::always(failing()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", breaker)).await;
    let begun = now();
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    until_it_says(&relay, STATE_OF_A, "open").await;
    a.now_answers(Reply::text("from A"));
    let relay = reborn(relay, &[]).await;
    eventually("the probe", async || {
        relay.ask().await;
        (a.count() == 6).then_some(())
    })
    .await;
    assert!(begun.elapsed() >= COOLDOWN, "called after {:?}", begun.elapsed());
    let rules = "SELECT group_concat(rule) FROM (SELECT rule FROM transitions ORDER BY id LIMIT 2)";
    until_it_says(&relay, rules, "bad_run,cooled_down").await;
}

#[tokio::test]
async fn a_hold_is_honoured_after_a_kill() {
    let limited = Reply::error(429, "no", "rate_limit_error", &Value::Null);
    let a = Provider::always(limited.header("retry-after", "60")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    relay.ask().await.assert_good("from B");
    let held = "SELECT CASE WHEN hold_until > at + 50000 AND hold_until <= at + 60000
        THEN state END FROM health WHERE rung = 'a'";
    until_it_says(&relay, held, "closed").await;
    let relay = reborn(relay, &[]).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!(passed_over(&relay, &answer).await, ["a hold"]);
    assert_eq!(a.count(), 1, "its Retry-After outlives the relay");
    assert!(relay.log().contains("still held from before the restart"), "{}", relay.log());
}

#[tokio::test]
async fn a_refused_account_is_refused_after_a_kill_until_model_or_key_are_others() {
    let (relay, a, _b) = broken(refusing(), "").await;
    assert_eq!(a.count(), 1);
    let relay = reborn(relay, &[]).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!((passed_over(&relay, &answer).await, a.count()), (vec!["a open".to_owned()], 1));
    // The same rung under another model is another rung.
    let relay = reborn(relay, &[("model-a", "another-model")]).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 2, "called, and refused again");
    until_it_says(&relay, STATE_OF_A, "open").await;
    // A key that was mended is tried by the next request.
    let relay = reborn(relay, &[("UPSTREAM_KEY_A", "ANOTHER_KEY")]).await;
    a.now_answers(Reply::text("from A"));
    relay.ask().await.assert_good("from A");
    assert_eq!(a.count(), 3);
}

#[tokio::test]
async fn another_key_is_no_excuse_for_a_rung_that_was_broken() {
    let (relay, a, _b) = broken(failing(), LONG).await;
    let relay = reborn(relay, &[("UPSTREAM_KEY_A", "ANOTHER_KEY")]).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 5);
}

#[tokio::test]
async fn the_learned_hedge_delay_is_there_right_after_a_kill() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    eventually("a reference in the journal", async || {
        relay.ask().await.assert_good("from A");
        cell(&relay, "SELECT state FROM health WHERE rung = 'a' AND ref_p95_us > 0")
    })
    .await;
    a.now_answers(Reply::silent());
    let relay = reborn(relay, &[]).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    // No reference is shorter than 500 ms; without one the hedge would wait for 2 s.
    assert!(answer.end_at >= ms(625), "{:?}", answer.end_at);
    assert_within("the hedge's answer", answer.end_at, ms(1_500));
}

fn unix_ms() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn set_override(relay: &Relay, rung: &str, mode: &str, until: Option<i64>) {
    journal(relay)
        .execute(
            "INSERT INTO overrides (at, rung, version, mode, author, reason, until)
             VALUES (?1, ?2, 1, ?3, 'ben', 'ticket 4711', ?4)",
            rusqlite::params![unix_ms(), rung, mode, until],
        )
        .unwrap();
}

#[tokio::test]
async fn an_override_outlives_the_relay_and_ends_in_its_time() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await;
    relay.ask().await.assert_good("from A");
    // Long enough for a slow machine to start twice, and cut short below.
    set_override(&relay, "a", "forced_open", Some(unix_ms() + 600_000));
    let relay = reborn(relay, &[]).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!((passed_over(&relay, &answer).await, a.count()), (vec!["a forced".to_owned()], 1));
    let log = relay.log();
    let line = log.lines().find(|line| line.contains("override is still in force")).unwrap();
    for part in ["rung=a", "mode=\"forced_open\"", "by=\"ben\"", "ticket 4711", "left="] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let until = unix_ms() + 3_000;
    journal(&relay).execute("UPDATE overrides SET until = ?1", [until]).unwrap();
    let relay = reborn(relay, &[]).await;
    // Nobody asks: it ends by itself.
    until_it_says(&relay, "SELECT ended_why FROM overrides", "expired").await;
    assert!(unix_ms() >= until, "too early");
    let ended: i64 =
        journal(&relay).query_row("SELECT ended FROM overrides", [], |row| row.get(0)).unwrap();
    assert!(ended >= until, "{ended} is before {until}");
    let expired = "SELECT after FROM transitions WHERE rule = 'expired'";
    until_it_says(&relay, expired, "half_open").await;
    relay.ask().await.assert_good("from A");
    let probe = "SELECT rung FROM attempts WHERE probe = 1";
    until_it_says(&relay, probe, "a").await;
}

#[tokio::test]
async fn what_ended_while_nobody_was_there_is_over_and_what_has_no_end_is_not() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let c = Provider::always(Reply::text("from C")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).ladder(NO_HEDGE)).await;
    relay.ask().await.assert_good("from A");
    set_override(&relay, "a", "demoted", None);
    set_override(&relay, "b", "forced_open", Some(unix_ms() - 1));
    set_override(&relay, "c", "nonsense", None);
    set_override(&relay, "gone", "forced_open", None);
    let relay = reborn(relay, &[]).await;
    let relay = reborn(relay, &[]).await;
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 1);
    let ended = "SELECT group_concat(rung) FROM overrides WHERE ended_why = 'expired'";
    until_it_says(&relay, ended, "b").await;
    assert!(relay.log().contains("left=\"without an end\""), "{}", relay.log());
    assert!(relay.log().contains("makes no sense"), "{}", relay.log());
}

#[tokio::test]
async fn an_orderly_end_writes_what_has_moved_since() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let breaker = "breaker = { cooldown = \"100ms\", jitter = 0.0 }";
    let mut relay = Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", breaker)).await;
    a.now_answers(failing());
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    a.now_answers(Reply::text("from A"));
    eventually("the breaker to close", async || {
        relay.ask().await;
        cell(&relay, STATE_OF_A).filter(|state| state == "closed")
    })
    .await;
    // Back at full weight: that is no transition, so nothing has written it yet.
    eventually("enough good answers", async || {
        relay.ask().await;
        (a.count() > 60).then_some(())
    })
    .await;
    let slow = cell(&relay, "SELECT state FROM health WHERE rung = 'a' AND weight < 1").is_some();
    relay.terminate();
    assert_eq!(relay.exited().await.code(), Some(0));
    assert!(slow, "the row of before is that of the closing");
    let full = "SELECT state FROM health WHERE rung = 'a' AND weight = 1 AND away_since IS NULL";
    assert_eq!(cell(&relay, full).as_deref(), Some("closed"));
}

#[tokio::test]
async fn no_key_and_no_address_is_in_what_is_kept() {
    let (mut relay, a, _b) = broken(failing(), LONG).await;
    relay.terminate();
    relay.exited().await;
    let row = "SELECT rung || fingerprint || key_tag || state FROM health WHERE rung = 'a'";
    assert_eq!(cell(&relay, row).unwrap().len(), 1 + 16 + 4 + 4);
    for file in std::fs::read_dir(relay.folder()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            continue;
        }
        let bytes = std::fs::read(path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(tests::setup::KEY) && !text.contains(&a.base_url()));
    }
}

/// A relay that finds `content` as its journal.
async fn finds(content: &[u8]) -> Relay {
    let folder = TempDir::new().unwrap();
    std::fs::write(Path::new(folder.path()).join("belay.db"), content).unwrap();
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start_in(&Setup::over(&[&a]), folder).await;
    relay.ask().await.assert_good("from A");
    relay
}

#[tokio::test]
async fn a_journal_that_cannot_be_read_is_said_and_the_relay_serves() {
    let relay = finds(&b"somebody's notes ".repeat(500)).await;
    assert!(relay.log().contains("the journal was not read"), "{}", relay.log());
    // A new one is no reason for a word.
    let relay = finds(b"").await;
    assert!(!relay.log().contains("the journal was not read"), "{}", relay.log());
}

#[tokio::test]
async fn curves_and_their_trouble_go_on_where_they_were() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", LONG);
    let mut relay = Relay::start(&setup).await;
    for _ in 0..3 {
        relay.ask().await.assert_good("from A");
    }
    a.now_answers(failing());
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    let since = |board: &shared::admin::Board| board.rungs[0].health.sick_since_at.unwrap();
    let before = since(&relay.board().await);
    relay.terminate();
    assert_eq!(relay.exited().await.code(), Some(0));
    let relay = relay.restart().await;
    let board = relay.board().await;
    let sum = |counts: &[u32]| counts.iter().sum::<u32>();
    let spark = board.rungs[0].past.spark.as_ref().unwrap();
    assert_eq!((sum(&spark.calls), sum(&spark.bad)), (8, 5), "{spark:?}");
    let users = board.ladders[0].spark.as_ref().unwrap();
    assert!(users.rps.iter().sum::<f64>() > 0.0 && users.p95_ms.iter().any(Option::is_some));
    // Clocks are kept to the millisecond.
    let moved = (since(&board).0 - before.0).abs();
    assert!(moved < 50, "the trouble began {moved} ms elsewhere");
}
