//! Pages of other origins have no business here unless they are named.

use tests::{Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn a_foreign_origin_or_host_is_refused_on_both_listeners() {
    let a = Provider::always(Reply::text("never")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for headers in [
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
        [("Host", "evil.example")],
        [("Host", "evil.example:8787")],
    ] {
        let answer = relay.send_with(&headers, &openai::ask("chat")).await;
        assert!(matches!(answer.status, 400 | 403 | 421), "{headers:?}: {}", answer.status);
        answer.assert_error(answer.status);
        let models = relay.call("GET", "/v1/models", &headers, None).await;
        assert!(matches!(models.status, 400 | 403 | 421), "{headers:?}: {}", models.status);
        let admin = relay.admin_call("GET", "/admin/v1/requests", &headers, None).await;
        assert!(matches!(admin.status, 400 | 403 | 421), "{headers:?}: {}", admin.status);
    }
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn the_relays_own_names_are_accepted() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let port = relay.address().port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")]
    {
        let answer = relay.send_with(&[("Host", &host)], &openai::ask("chat")).await;
        answer.assert_good("hello");
    }
    let origin = format!("http://127.0.0.1:{port}");
    let answer = relay.send_with(&[("Origin", &origin)], &openai::ask("chat")).await;
    answer.assert_good("hello");
}

#[tokio::test]
async fn a_named_origin_is_let_in_and_told_so() {
    let a = Provider::always(Reply::text("hello")).await;
    let setup = Setup::over(&[&a]).server("cors_origins = [\"https://chat.example.com\"]");
    let relay = Relay::start(&setup).await;
    let origin = ("Origin", "https://chat.example.com");
    let preflight = [
        origin,
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type"),
    ];
    let answer = relay.call("OPTIONS", "/v1/chat/completions", &preflight, None).await;
    assert!(matches!(answer.status, 200 | 204), "{} {}", answer.status, answer.body_text());
    let allowed = answer.header("access-control-allow-origin");
    assert_eq!(allowed, Some("https://chat.example.com"));
    let answer = relay.send_with(&[origin], &openai::ask("chat")).await;
    answer.assert_good("hello");
    let allowed = answer.header("access-control-allow-origin");
    assert_eq!(allowed, Some("https://chat.example.com"));
}
