//! What is wrong with a request is said in the OpenAI shape, with what to do,
//! and no provider hears of it.

use serde_json::json;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

const PATH: &str = "/v1/chat/completions";

async fn relay_and_provider(setup: fn(Setup) -> Setup) -> (Relay, Provider) {
    let a = Provider::always(Reply::text("never")).await;
    let relay = Relay::start(&setup(Setup::over(&[&a]))).await;
    (relay, a)
}

const fn plain(setup: Setup) -> Setup {
    setup
}

/// What every such answer has.
#[track_caller]
fn assert_told(name: &str, answer: &Answer, statuses: &[u16]) {
    assert!(statuses.contains(&answer.status), "{name}: {} {}", answer.status, answer.body_text());
    let error = answer.assert_error(answer.status);
    let message = error["message"].as_str().unwrap();
    assert!(message.len() >= 15, "{name}: says what to do: {message:?}");
    assert_eq!(answer.header("x-should-retry"), Some("false"), "{name}");
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_a_400() {
    let (relay, a) = relay_and_provider(plain).await;
    let deep = format!("{{\"model\":\"chat\",\"messages\":{}", "[".repeat(200_000));
    let cases: [(&str, &[u8]); 8] = [
        ("nothing", b""),
        ("half", b"{\"model\": \"chat\", \"messages\": [{\"role\""),
        ("no JSON", b"hello"),
        ("a list", b"[]"),
        ("null", b"null"),
        ("a number", b"42"),
        ("no UTF-8", b"{\"model\": \"chat\xff\", \"messages\": []}"),
        ("too deep", deep.as_bytes()),
    ];
    for (name, body) in cases {
        let answer = relay.call("POST", PATH, &[], Some(body)).await;
        assert_told(name, &answer, &[400]);
    }
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn wrong_fields_are_a_400_that_names_them() {
    let (relay, a) = relay_and_provider(plain).await;
    let messages = json!([{"role": "user", "content": "hi"}]);
    for (field, body) in [
        ("model", json!({"messages": messages})),
        ("model", json!({"model": 7, "messages": messages})),
        ("model", json!({"model": "", "messages": messages})),
        ("stream", json!({"model": "chat", "stream": "yes", "messages": messages})),
        ("messages", json!({"model": "chat", "stream": true})),
        ("messages", json!({"model": "chat", "stream": true, "messages": "hi"})),
    ] {
        let answer = relay.send(&body).await;
        assert_told(field, &answer, &[400, 404]);
        let error = answer.error_object().unwrap();
        assert!(error["message"].as_str().unwrap().contains(field), "{field}: {error}");
    }
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn an_unknown_model_is_told_where_to_look_and_journaled() {
    let (relay, a) = relay_and_provider(plain).await;
    let answer = relay.send(&openai::ask("no-such-model")).await;
    assert_told("unknown model", &answer, &[400, 404]);
    let error = answer.error_object().unwrap();
    assert!(error["message"].as_str().unwrap().contains("/v1/models"), "{error}");
    assert_eq!(error["code"], "model_not_found");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(detail.request.outcome, Some(shared::RequestOutcome::Rejected));
    assert_eq!(detail.request.ladder, None);
    assert_eq!(detail.request.model.as_deref(), Some("no-such-model"));
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn a_body_over_the_limit_is_a_413() {
    let (relay, a) = relay_and_provider(|setup| setup.server("max_body = 4096")).await;
    let big = openai::with(openai::ask("chat"), &json!({"user": "x".repeat(8192)})).to_string();
    let answer = relay.call("POST", PATH, &[], Some(big.as_bytes())).await;
    assert_told("by its length", &answer, &[413]);
    let chunked = format!("{:x}\r\n{big}\r\n0\r\n\r\n", big.len());
    let headers = [("Transfer-Encoding", "chunked")];
    let answer = relay.call("POST", PATH, &headers, Some(chunked.as_bytes())).await;
    assert_told("in chunks", &answer, &[413]);
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn a_chunked_body_within_the_limit_is_read() {
    let (relay, a) = relay_and_provider(plain).await;
    let body = openai::ask("chat").to_string();
    let (head, tail) = body.split_at(20);
    let chunked = format!("14\r\n{head}\r\n{:x}\r\n{tail}\r\n0\r\n\r\n", tail.len());
    let headers = [("Transfer-Encoding", "chunked")];
    let answer = relay.call("POST", PATH, &headers, Some(chunked.as_bytes())).await;
    answer.assert_good("never");
    assert_eq!(a.count(), 1);
}

#[tokio::test]
async fn a_wrong_method_path_or_type_is_said_so() {
    let (relay, a) = relay_and_provider(plain).await;
    let body = openai::ask("chat").to_string();
    let get = relay.call("GET", PATH, &[], None).await;
    assert_told("GET", &get, &[405]);
    assert!(get.header("allow").is_some_and(|allow| allow.contains("POST")), "{:?}", get.head);
    let text = [("Content-Type", "text/plain")];
    let answer = relay.call("POST", PATH, &text, Some(body.as_bytes())).await;
    assert_told("text/plain", &answer, &[415]);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let answer = relay.call("POST", PATH, &form, Some(body.as_bytes())).await;
    assert_told("a form", &answer, &[415]);
    for path in ["/", "/v1", "/v1/files", "/v1/chat/completions/x", "/chat/completions"] {
        let answer = relay.call("POST", path, &[], Some(body.as_bytes())).await;
        assert_told(path, &answer, &[404]);
    }
    let charset = [("Content-Type", "Application/JSON; charset=utf-8")];
    relay.call("POST", PATH, &charset, Some(body.as_bytes())).await.assert_good("never");
    assert_eq!(a.count(), 1, "only the last one");
}
