//! The relay's commands, as an operator runs them.

use std::process::Output;
use tests::relay::command;
use tests::{Provider, Relay, Reply, Setup};

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn all(output: &Output) -> String {
    out(output) + &String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs `belay check` on this config.
async fn check(config: &str) -> Output {
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    std::fs::write(file.path(), config).unwrap();
    command(&["check", "--config", file.path().to_str().unwrap()], "").await
}

const BROKEN: &str = r#"[server]
listen = "127.0.0.1:0"
lisen = "127.0.0.1:0"
[providers.one]
dialect = "openai-chat"
base_url = "not a url"
api_key = { env = "SOME_KEY" }
[rungs.a]
provider = "two"
model = "m"
[ladders.chat]
rungs = ["a", "zzz"]
clocks = { ttft = "soon" }
"#;

#[tokio::test]
async fn check_tells_every_mistake_at_once_with_its_line() {
    let output = check(BROKEN).await;
    assert!(!output.status.success());
    let said = all(&output);
    for (line, word) in [(3, "lisen"), (6, "base_url"), (9, "two"), (12, "zzz"), (13, "soon")] {
        let told = said.lines().any(|text| text.contains(word) && text.contains(&line.to_string()));
        let near = said.contains(&format!(":{line}:")) || said.contains(&format!("line {line}"));
        assert!(told || (near && said.contains(word)), "line {line}, {word}: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[tokio::test]
async fn check_passes_a_good_config_and_warns_of_one_rung() {
    let setup = Setup::default().and_rung("https://api.example.com/v1");
    let output = check(&setup.toml("belay.db")).await;
    let said = all(&output);
    assert!(said.contains("chat"), "warns of a ladder with one rung: {said}");
    let two = setup.and_rung("https://api.example.net/v1");
    let output = check(&two.toml("belay.db")).await;
    assert!(!all(&output).contains("panicked"), "{}", all(&output));
}

#[tokio::test]
async fn check_of_no_file_or_no_toml_says_so() {
    let output = command(&["check", "--config", "/nonexistent/belay.toml"], "").await;
    assert!(!output.status.success());
    assert!(all(&output).contains("belay.toml"), "{}", all(&output));
    let output = check("[server\nlisten = 1").await;
    assert!(!output.status.success());
    assert!(all(&output).contains('1'), "{}", all(&output));
}

#[tokio::test]
async fn serve_refuses_a_broken_config() {
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    std::fs::write(file.path(), BROKEN).unwrap();
    let output = command(&["serve", "--config", file.path().to_str().unwrap()], "").await;
    assert!(!output.status.success());
    assert!(all(&output).contains("zzz"), "{}", all(&output));
}

#[tokio::test]
async fn hash_key_prints_what_the_config_wants() {
    let output = command(&["hash-key"], "client-key\n").await;
    assert!(output.status.success(), "{}", all(&output));
    let said = out(&output);
    let hash = said.split(|c: char| !c.is_ascii_hexdigit()).find(|word| word.len() == 64);
    let hash = hash.unwrap_or_else(|| panic!("a SHA-256: {said}"));
    assert_eq!(hash, sha256("client-key"), "without the line end");
    assert!(!all(&output).contains("client-key"), "the key is not repeated");
}

fn sha256(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[tokio::test]
async fn journal_shows_requests_and_one_in_full() {
    let a = Provider::always(Reply::error(500, "x", "x", &serde_json::Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    let id = answer.id();
    relay.journaled(&id).await;
    let journal = relay.journal_file();
    let journal = journal.to_str().unwrap();

    let list = command(&["journal", "requests", "--journal", journal], "").await;
    assert!(list.status.success(), "{}", all(&list));
    assert!(out(&list).contains(&id) && out(&list).contains("ok"), "{}", out(&list));
    let list = command(&["journal", "requests", "--journal", journal, "--json"], "").await;
    assert!(list.status.success(), "{}", all(&list));
    let page: shared::admin::RequestPage = serde_json::from_str(&out(&list)).expect("JSON");
    assert_eq!(page.items[0].id.to_string(), id);

    let show = command(&["journal", "show", &id, "--journal", journal], "").await;
    assert!(show.status.success(), "{}", all(&show));
    assert!(out(&show).contains("server_error"), "{}", out(&show));
    let show = command(&["journal", "show", &id, "--journal", journal, "--json"], "").await;
    let detail: serde_json::Value = serde_json::from_str(&out(&show)).expect("JSON");
    assert_eq!(detail["id"], id);
    assert_eq!(detail["attempts"].as_array().map(Vec::len), Some(2));
    let none = command(&["journal", "show", "req_0000000000000", "--journal", journal], "").await;
    assert!(!none.status.success(), "{}", all(&none));
}

#[tokio::test]
async fn journal_is_found_through_the_config_without_the_providers_keys() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let id = relay.ask().await.id();
    relay.journaled(&id).await;
    // Whoever reads the journal on this machine need not hold the relay's secrets.
    let config = relay.config().to_str().unwrap();
    let list = command(&["journal", "requests", "--config", config], "").await;
    assert!(list.status.success(), "{}", all(&list));
    assert!(out(&list).contains(&id), "{}", out(&list));
}

#[tokio::test]
async fn help_names_the_commands() {
    let output = command(&["--help"], "").await;
    assert!(output.status.success());
    for word in ["demo", "serve", "check", "init", "hash-key", "journal"] {
        assert!(out(&output).contains(word), "{word}: {}", out(&output));
    }
}
