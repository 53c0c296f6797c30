//! Who may read the page, in which format, and what is never on it.

use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use tests::setup::KEY;
use tests::{Page, Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn nothing_that_a_client_or_a_provider_said_is_on_the_page() {
    let secret = "PROVIDER-SAYS-THIS";
    let a = Provider::in_turn(vec![
        Reply::error(418, secret, secret, &secret.into()),
        Reply::begins(secret).stop(),
    ])
    .await;
    let b = Provider::always(Reply::text(secret)).await;
    let setup = Setup::over(&[&a, &b]).ladder("aliases = [\"MY-ALIAS\"]");
    let relay = Relay::start(&setup).await;
    let prompt = |model: &str| {
        openai::with(
            openai::ask(model),
            &serde_json::json!({
                "messages": [{"role": "user", "content": "PROMPT-TEXT"}],
                "user": "USER-TEXT",
            }),
        )
    };
    for model in ["chat", "MY-ALIAS", "chat", "UNKNOWN-MODEL", "sk-A-KEY\"} 1\nhack 1"] {
        relay.send_with(&[("authorization", "Bearer CLIENT-KEY")], &prompt(model)).await;
    }
    relay.call("POST", "/v1/chat/completions", &[], Some(b"UNREADABLE-BODY")).await;
    let text = relay.metrics_text().await;
    let page = Page::read(&text);
    let ok = page.value(r#"belay_requests_total{ladder="chat",outcome="ok",status="2xx"}"#);
    assert_eq!(ok.to_string(), "3", "an alias is counted under its ladder");
    let said = [
        secret,
        KEY,
        "PROMPT",
        "USER-TEXT",
        "CLIENT-KEY",
        "ALIAS",
        "UNKNOWN-MODEL",
        "sk-",
        "hack",
        "UNREADABLE",
        "127.0.0.1",
        "418",
        "m-1",
    ];
    for word in said {
        assert!(!text.contains(word), "{word} is on the page:\n{text}");
    }
}

#[tokio::test]
async fn the_number_of_series_is_the_configs_and_not_the_clients() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let models = |from: usize| (from..from + 20).map(|number| format!("model-number-{number}"));
    for model in models(0) {
        relay.send(&openai::ask(&model)).await.assert_error(404);
    }
    let few = relay.metrics().await.samples().count();
    for model in models(20) {
        relay.send(&openai::ask(&model)).await.assert_error(404);
    }
    assert_eq!(relay.metrics().await.samples().count(), few);
}

#[tokio::test]
async fn a_viewers_token_is_enough_and_none_is_not() {
    let a = Provider::always(Reply::text("from A")).await;
    let hash = |token: &str| {
        Sha256::digest(token.as_bytes()).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    let tokens = format!(
        "tokens = [{{ name = \"scraper\", role = \"viewer\", sha256 = \"{}\" }}]",
        hash("SCRAPER-TOKEN")
    );
    let relay = Relay::start(&Setup::over(&[&a]).admin(&tokens)).await;
    let get = async |headers: &[(&str, &str)]| {
        relay.admin_call("GET", "/metrics", headers, None).await.status
    };
    assert_eq!(get(&[]).await, 401);
    assert_eq!(get(&[("authorization", "Bearer WRONG")]).await, 401);
    assert_eq!(get(&[("authorization", "Bearer SCRAPER-TOKEN")]).await, 200);
    let page = relay
        .admin_call("GET", "/metrics", &[("authorization", "Bearer SCRAPER-TOKEN")], None)
        .await;
    assert!(!page.body_text().contains("SCRAPER"));
}

#[tokio::test]
async fn a_browsers_page_from_elsewhere_does_not_read_it() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let foreign = [("origin", "https://elsewhere.example")];
    assert_eq!(relay.admin_call("GET", "/metrics", &foreign, None).await.status, 403);
    assert_eq!(relay.admin_call("POST", "/metrics", &[], None).await.status, 405);
    assert_eq!(relay.call("GET", "/metrics", &[], None).await.status, 404, "not for clients");
}

#[tokio::test]
async fn both_formats_say_what_they_are() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask().await.assert_good("from A");
    let plain = relay.admin_get("/metrics").await;
    assert_eq!(plain.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let page = Page::read(plain.body_text());
    assert!(page.samples().count() > 100);

    let accept = [("accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.3")];
    let open = relay.admin_call("GET", "/metrics", &accept, None).await;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(open.header("content-type"), Some(kind));
    assert!(open.body_text().ends_with("# EOF\n"));
    // The same series; of a histogram its sum, since the formats write bounds differently.
    let names = |text: &str| -> BTreeSet<String> {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let names = samples.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned()));
        names.filter(|name| !name.contains("_bucket{")).collect()
    };
    let (open, plain) = (names(open.body_text()), names(plain.body_text()));
    assert_eq!(open.symmetric_difference(&plain).count(), 0, "{open:?}");
}

#[tokio::test]
async fn the_readme_names_only_metrics_that_exist() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let page = relay.metrics().await;
    let there: BTreeSet<&str> =
        page.samples().filter_map(|(series, _)| series.split('{').next()).collect();
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let part_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let named: BTreeSet<&str> = readme
        .match_indices("belay_")
        .filter_map(|(at, _)| readme[at..].split(|c| !part_of_name(c)).next())
        .filter(|name| *name != "belay_")
        .collect();
    assert!(named.len() >= 10, "{named:?}");
    let missing: Vec<_> = named.difference(&there).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
