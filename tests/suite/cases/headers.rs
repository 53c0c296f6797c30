//! B61: only what is on a list crosses the relay, in either direction.

use tests::setup::{KEY, key_of};
use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn b61_no_header_of_the_clients_reaches_a_provider() {
    let failing = Reply::error(500, "x", "server_error", &serde_json::Value::Null);
    let a = Provider::always(failing).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let headers = [
        ("AuthoriZation", "Bearer CLIENT-SECRET-1"),
        ("X-Api-Key", "CLIENT-SECRET-2"),
        ("x-goog-api-KEY", "CLIENT-SECRET-3"),
        ("Cookie", "session=CLIENT-SECRET-4"),
        ("Proxy-Authorization", "Basic CLIENT-SECRET-5"),
        ("Connection", "x-secret, keep-alive"),
        ("X-Secret", "CLIENT-SECRET-6"),
        ("Accept-Encoding", "gzip, br"),
        ("X-Forwarded-For", "203.0.113.9"),
        ("Forwarded", "for=203.0.113.9"),
        ("anthropic-beta", "x-1"),
        ("OpenAI-Organization", "org-CLIENT-SECRET-7"),
        ("Referer", "https://frontend.example/CLIENT-SECRET-8"),
    ];
    relay.send_with(&headers, &openai::ask("chat")).await.assert_good("from B");
    for (provider, rung) in [(&a, "a"), (&b, "b")] {
        let call = provider.call(0).await;
        let all = format!("{:?}", call.headers);
        assert!(!all.contains("CLIENT-SECRET"), "{all}");
        assert!(!all.contains("203.0.113.9"), "{all}");
        let expected = format!("Bearer {}", key_of(rung));
        assert_eq!(call.header("authorization"), Some(expected.as_str()));
        assert_eq!(call.header("host"), Some(provider.address().to_string().as_str()));
        let encoding = call.header("accept-encoding");
        assert!(encoding.is_none_or(|encoding| encoding == "identity"), "{encoding:?}");
        assert_eq!(call.header("anthropic-beta"), None, "not for this dialect");
        assert_eq!(call.header("content-type"), Some("application/json"));
        let keys = all.matches(KEY).count();
        assert_eq!(keys, 1, "only the rung's own key: {all}");
    }
}

#[tokio::test]
async fn b61_no_header_of_the_providers_reaches_the_client() {
    let reply = Reply::text("hello")
        .header("Set-Cookie", "a=b")
        .header("OpenAI-Organization", "org-secret")
        .header("x-request-id", "upstream-1")
        .header("x-should-retry", "true")
        .header("x-ratelimit-remaining-requests", "3")
        .header("Server", "internal-gw-7")
        .header("Via", "internal-gw-7")
        .header("Access-Control-Allow-Origin", "*");
    let refusal = Reply::error(400, "no", "invalid_request_error", &serde_json::Value::Null)
        .header("Set-Cookie", "a=b")
        .header("x-should-retry", "true")
        .header("OpenAI-Organization", "org-secret");
    for reply in [reply, refusal] {
        let a = Provider::always(reply).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.ask().await;
        for name in [
            "set-cookie",
            "openai-organization",
            "x-ratelimit-remaining-requests",
            "via",
            "access-control-allow-origin",
            "content-encoding",
        ] {
            assert_eq!(answer.header(name), None, "{name}");
        }
        assert_ne!(answer.header("x-should-retry"), Some("true"));
        assert_ne!(answer.header("server"), Some("internal-gw-7"));
        let both = answer.header("content-length").is_some()
            && answer.header("transfer-encoding").is_some();
        assert!(!both, "framed one way: {:?}", answer.head);
    }
}

#[tokio::test]
async fn b60_the_providers_key_is_seen_nowhere_else() {
    let a = Provider::always(Reply::fixture("B63-401.json")).await;
    let b = Provider::always(Reply::closed()).await;
    let c = Provider::always(Reply::begins("x").cut()).await;
    let setup = Setup::over(&[&a, &b, &c]).env("RUST_LOG", "trace").env("BELAY_LOG", "trace");
    let mut relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    relay.journaled(&answer.id()).await;
    let mut seen = vec![("the answer", answer.body.clone())];
    for path in ["/admin/v1/board", "/admin/v1/requests", "/metrics"] {
        seen.push((path, relay.admin_get(path).await.body));
    }
    let detail = relay.admin_get(&format!("/admin/v1/requests/{}", answer.id())).await;
    seen.push(("the request's detail", detail.body));
    relay.terminate();
    relay.exited().await;
    seen.push(("the log", relay.log().into_bytes()));
    for file in std::fs::read_dir(relay.folder()).unwrap() {
        seen.push(("the journal", std::fs::read(file.unwrap().path()).unwrap()));
    }
    for (place, bytes) in seen {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "a provider's key is in {place}");
    }
}
