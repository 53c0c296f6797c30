//! B61: only what is on a list crosses the relay, in either direction.

use super::client::{CLIENTS, Client};
use super::pair::two;
use super::speech::{SPEECHES, Speech};
use tests::clock::ms;
use tests::setup::{KEY, key_of};
use tests::{Provider, Relay, Reply, Setup};

/// What a client may send along, in odd letter case.
const SENT: [(&str, &str); 14] = [
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
    ("Anthropic-BETA", "beta-of-the-client"),
    ("anthropic-Version", "2099-01-01"),
    ("OpenAI-Organization", "org-CLIENT-SECRET-7"),
    ("Referer", "https://frontend.example/CLIENT-SECRET-8"),
];

/// What a provider of this dialect was called with: its own key, in its own place, and
/// nothing of the client's but what is meant for this very dialect.
async fn assert_called(client: Client, speech: Speech, provider: &Provider, rung: &str) {
    let call = provider.call(0).await;
    let all = format!("{} {:?}", call.request_line, call.headers);
    assert!(!all.contains("CLIENT-SECRET"), "{client:?} {all}");
    assert!(!all.contains("203.0.113.9"), "{client:?} {all}");
    let (name, value) = speech.credential(&key_of(rung));
    assert_eq!(call.header(name), Some(value.as_str()), "{speech:?}");
    let keys = all.matches(KEY).count();
    assert_eq!(keys, 1, "only the rung's own key, and not in the address: {all}");
    assert_eq!(call.header("host"), Some(provider.address().to_string().as_str()));
    let encoding = call.header("accept-encoding");
    assert!(encoding.is_none_or(|encoding| encoding == "identity"), "{encoding:?}");
    assert_eq!(call.header("content-type"), Some("application/json"));
    let own = client == Client::Messages && speech == Speech::Messages;
    assert_eq!(call.header("anthropic-beta"), own.then_some("beta-of-the-client"), "{client:?}");
    let version = match speech {
        Speech::Messages if own => Some("2099-01-01"),
        Speech::Messages => Some("2023-06-01"),
        _ => None,
    };
    assert_eq!(call.header("anthropic-version"), version, "{client:?} {speech:?}");
    let versions =
        call.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("anthropic-version"));
    assert_eq!(versions.count(), usize::from(version.is_some()), "said once: {all}");
}

#[tokio::test]
async fn b61_no_header_of_the_clients_reaches_a_provider() {
    for client in CLIENTS {
        for (a_speech, b_speech) in [
            (Speech::Messages, Speech::Chat),
            (Speech::Messages, Speech::Gemini),
            (Speech::Messages, Speech::Responses),
            (Speech::Chat, Speech::Messages),
            (Speech::Gemini, Speech::Messages),
        ] {
            let failing = Reply::json(500, &a_speech.error_body(500, "x"));
            let (setup, a, b) = two((a_speech, failing), b_speech).await;
            let relay = Relay::start(&setup).await;
            let answer = client.open_with(&relay, &SENT, &client.request()).await.finish().await;
            client.assert_good(&answer, "from B");
            assert_called(client, a_speech, &a, "a").await;
            assert_called(client, b_speech, &b, "b").await;
        }
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
        for client in CLIENTS {
            let a = Provider::always(reply.clone()).await;
            let relay = Relay::start(&Setup::over(&[&a])).await;
            assert_nothing_crossed(&client.ask(&relay).await);
        }
    }
    let reply = Speech::Messages
        .good("hello")
        .header("Set-Cookie", "a=b")
        .header("anthropic-organization-id", "org-secret")
        .header("request-id", "upstream-1")
        .header("anthropic-ratelimit-requests-remaining", "3")
        .header("Via", "internal-gw-7");
    for client in CLIENTS {
        let (relay, _a) = super::pair::over(Speech::Messages, reply.clone()).await;
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "hello");
        assert_nothing_crossed(&answer);
    }
}

/// Nothing of a provider's own is in an answer's head.
#[track_caller]
fn assert_nothing_crossed(answer: &tests::Answer) {
    for name in [
        "set-cookie",
        "openai-organization",
        "x-ratelimit-remaining-requests",
        "via",
        "access-control-allow-origin",
        "content-encoding",
        "anthropic-organization-id",
        "anthropic-ratelimit-requests-remaining",
    ] {
        assert_eq!(answer.header(name), None, "{name}");
    }
    assert_ne!(answer.header("x-should-retry"), Some("true"));
    assert_ne!(answer.header("server"), Some("internal-gw-7"));
    let both =
        answer.header("content-length").is_some() && answer.header("transfer-encoding").is_some();
    assert!(!both, "framed one way: {:?}", answer.head);
}

/// Places where a key could have got to, and what is there.
type Seen = Vec<(String, Vec<u8>)>;

#[track_caller]
fn assert_no_key(seen: &Seen) {
    for (place, bytes) in seen {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "a provider's key is in {place}");
    }
}

/// Everything that the relay shows of itself, and has written down.
async fn whatever_can_be_read(mut relay: Relay, ids: &[String]) -> Seen {
    let mut paths =
        ["/admin/v1/board", "/admin/v1/requests", "/metrics"].map(str::to_owned).to_vec();
    paths.extend(ids.iter().map(|id| format!("/admin/v1/requests/{id}")));
    let mut seen = Vec::new();
    for path in paths {
        let answer = relay.admin_get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        seen.push((path, answer.body));
    }
    relay.terminate();
    relay.exited().await;
    seen.push(("the log".to_owned(), relay.log().into_bytes()));
    for file in std::fs::read_dir(relay.folder()).unwrap() {
        seen.push(("the journal".to_owned(), std::fs::read(file.unwrap().path()).unwrap()));
    }
    seen
}

#[tokio::test]
async fn b60_the_providers_key_is_seen_nowhere_else() {
    for speech in SPEECHES {
        let echo = format!("Incorrect key provided: {}.", key_of("a"));
        let a = Provider::always(Reply::json(401, &speech.error_body(401, &echo))).await;
        let b = Provider::always(Reply::closed()).await;
        let c = Provider::always(speech.begins("x").cut()).await;
        let d = Provider::always(Reply::status(302).header("location", "http://x.invalid/")).await;
        let e = Provider::always(Reply::silent()).await;
        let setup = Setup::over(&[&a, &b, &d, &e]);
        // Nobody is behind the first of these, and the last has an answer to break off.
        let setup = setup.and_rung("http://nowhere.invalid/v1").and_rung(&c.base_url());
        let setup = ["a", "b", "c", "d", "e", "f"]
            .iter()
            .fold(setup, |setup, rung| setup.dialect(rung, speech.dialect()));
        let setup = setup.clocks("ttft = \"500ms\"").env("RUST_LOG", "trace");
        let relay = Relay::start(&setup.env("BELAY_LOG", "trace")).await;
        let (mut seen, mut ids) = (Vec::new(), Vec::new());
        for client in CLIENTS {
            let answer = client.ask(&relay).await;
            client.assert_broken(&answer, "x");
            let detail = relay.journaled(&answer.id()).await;
            if client == Client::Chat {
                assert_eq!(detail.attempts.len(), 6, "{:?}", tests::relay::tried(&detail));
            }
            ids.push(answer.id());
            seen.push((format!("the answer to {client:?}"), answer.body));
        }
        seen.extend(whatever_can_be_read(relay, &ids).await);
        assert_no_key(&seen);
    }
}

#[tokio::test]
async fn b60_a_providers_message_that_echoes_the_key_is_told_without_it() {
    for speech in SPEECHES {
        let echo = format!("no such thing for key {} here", key_of("a"));
        let wrong = Reply::json(400, &speech.error_body(400, &echo));
        let late = speech.begins("x").pause(ms(10)).send(speech.error_event(&echo));
        let (relay, a) = super::pair::over(speech, wrong.clone()).await;
        let (mut seen, mut ids) = (Vec::new(), Vec::new());
        for client in CLIENTS {
            a.now_answers(wrong.clone());
            let answer = client.ask(&relay).await;
            let error = client.assert_error(&answer, 400);
            assert_eq!(error["message"], "no such thing for key [key] here", "{client:?}");
            ids.push(answer.id());
            seen.push((format!("a 400 to {client:?}"), answer.body));
            a.now_answers(late.clone());
            let answer = client.ask(&relay).await;
            client.assert_broken(&answer, "x");
            ids.push(answer.id());
            seen.push((format!("an error in a stream to {client:?}"), answer.body));
        }
        seen.extend(whatever_can_be_read(relay, &ids).await);
        assert_no_key(&seen);
    }
}
