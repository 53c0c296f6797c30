//! `capture = "failover"` and `belay export`: the only place where a prompt is kept.

use super::anthropic;
use serde_json::{Value, json};
use tests::clock::eventually;
use tests::relay::command;
use tests::{Provider, Relay, Reply, Setup, openai};

const SECRET: &str = "a prompt that nobody else may see";

fn asked(whole: bool) -> Value {
    let ask = if whole { openai::ask_whole("chat") } else { openai::ask("chat") };
    openai::with(ask, &json!({"messages": [{"role": "user", "content": SECRET}]}))
}

async fn export(relay: &Relay) -> Vec<Value> {
    let config = relay.config().to_str().unwrap();
    let journal = relay.journal_file();
    let journal = journal.to_str().unwrap();
    let output = command(&["export", "--config", config, "--journal", journal], "").await;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn what_a_lower_rung_answered_is_exported_whole_and_nothing_else_is_kept() {
    let a = Provider::scripted(|call| {
        let busy = Reply::error(503, "busy", "server_error", &Value::Null);
        if call.json().to_string().contains("healthy") { Reply::text("from A") } else { busy }
    })
    .await;
    let b = Provider::always(Reply::sse(anthropic("from B"))).await;
    let setup = Setup::over(&[&a, &b])
        .dialect("b", "anthropic-messages")
        .ladder("capture = \"failover\"\nretries = 0");
    let relay = Relay::start(&setup).await;
    let stream = relay.send(&asked(false)).await;
    stream.assert_good("from B");
    let whole = relay.send(&asked(true)).await;
    assert_eq!(whole.status, 200);
    let healthy = openai::with(
        openai::ask("chat"),
        &json!({"messages": [{"role": "user", "content": "healthy"}]}),
    );
    relay.send(&healthy).await.assert_good("from A");
    let kept = async || Some(export(&relay).await).filter(|kept| kept.len() == 2);
    let kept = eventually("both are kept", kept).await;
    for (row, answer) in kept.iter().zip([&stream, &whole]) {
        assert_eq!(row["id"], answer.id(), "{row}");
        assert_eq!((&row["ladder"], &row["rung"]), (&json!("chat"), &json!("b")));
        assert_eq!(row["dialect"], "openai-chat");
        assert_eq!(row["tried"][0], json!({"rung": "a", "outcome": "overloaded"}));
        assert_eq!(row["request"]["messages"][0]["content"], SECRET);
        assert_eq!(row["answer"]["choices"][0]["message"]["content"], "from B");
    }
    assert!(!relay.log().contains(SECRET));
}

#[tokio::test]
async fn without_capture_no_prompt_reaches_the_journal() {
    let a = Provider::always(Reply::error(503, "busy", "server_error", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.send(&asked(false)).await;
    answer.assert_good("from B");
    relay.journaled(&answer.id()).await;
    assert_eq!(export(&relay).await, Vec::<Value>::new());
    let file = relay.journal_file();
    let log = file.with_file_name(format!("{}-wal", file.file_name().unwrap().to_str().unwrap()));
    for file in [file, log] {
        let bytes = std::fs::read(file).unwrap_or_default();
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "a prompt in the journal");
    }
}
