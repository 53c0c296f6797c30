//! A ladder's variants of its system prompt, a text for each rung.

use super::anthropic;
use serde_json::{Value, json};
use tests::{Provider, Relay, Reply, Setup, openai};

const VARIANTS: &str = "[ladders.chat.prompts.short]\na = \"short-a.md\"\nb = \"short-b.md\"\n\
                        [ladders.chat.prompts.long]\na = \"long-a.md\"";

fn asked() -> Value {
    let messages = json!([
        {"role": "system", "content": "the client's own"},
        {"role": "user", "content": "hi"}
    ]);
    openai::with(openai::ask("chat"), &json!({"messages": messages}))
}

async fn relay(ladder: &str, providers: &[&Provider; 2]) -> Relay {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("short-a.md", "Be short, A.\n"),
        ("short-b.md", "Be short, B."),
        ("long-a.md", "Be long, A."),
    ] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let setup = Setup::over(providers).dialect("b", "anthropic-messages");
    Relay::start_in(&setup.ladder(ladder).extra(VARIANTS), folder).await
}

#[tokio::test]
async fn each_rung_is_told_its_own_text_and_the_header_beats_the_ladder() {
    let busy = Reply::error(503, "busy", "server_error", &Value::Null);
    let a = Provider::always(busy).await;
    let b = Provider::always(Reply::sse(anthropic("from B"))).await;
    let relay = relay("prompt = \"short\"", &[&a, &b]).await;
    relay.send(&asked()).await.assert_good("from B");
    let (first, second) = (a.call(0).await.json(), b.call(0).await.json());
    assert_eq!(first["messages"][0]["role"], "system");
    assert!(first["messages"][0]["content"].as_str().unwrap().contains("Be short, A."), "{first}");
    assert!(!first.to_string().contains("the client's own"), "{first}");
    assert!(second["system"].to_string().contains("Be short, B."), "{second}");
    assert!(!second.to_string().contains("the client's own"), "{second}");
    // The other variant has no text for B: it keeps the client's.
    relay.send_with(&[("x-belay-prompt", "long")], &asked()).await.assert_good("from B");
    let (first, second) = (a.call(1).await.json(), b.call(1).await.json());
    assert!(first.to_string().contains("Be long, A."), "{first}");
    assert!(second["system"].to_string().contains("the client's own"), "{second}");
}

#[tokio::test]
async fn without_a_variant_the_clients_prompt_stays_and_an_unknown_one_is_refused() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::sse(anthropic("never"))).await;
    let relay = relay("", &[&a, &b]).await;
    relay.send(&asked()).await.assert_good("from A");
    assert!(a.call(0).await.json().to_string().contains("the client's own"));
    let answer = relay.send_with(&[("x-belay-prompt", "tiny")], &asked()).await;
    let error = answer.assert_error(400);
    assert_eq!(error["code"], "unknown_prompt");
    assert!(error["message"].as_str().unwrap().contains("short, long"), "{error}");
    assert_eq!(a.count(), 1);
}
