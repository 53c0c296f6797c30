//! How the relay behaves as a client of its providers.

use tests::relay::tried;
use tests::tls::Authority;
use tests::{Provider, Relay, Reply, Setup};

/// A relay over one provider behind TLS whose certificate is for `name`; trusts it or not.
async fn behind_tls(name: &str, trusted: bool) -> (Relay, Provider, tempfile::NamedTempFile) {
    let authority = Authority::vouching_for(name);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &authority.pem).unwrap();
    let a = Provider::behind_tls(authority.acceptor, Reply::text("in secret")).await;
    let url = format!("https://localhost:{}/v1", a.address().port());
    let mut setup = Setup::default().and_rung(&url).ladder("fail_fast = true");
    if trusted {
        setup = setup.provider("a", &format!("ca_file = \"{}\"", file.path().display()));
    }
    (Relay::start(&setup).await, a, file)
}

#[tokio::test]
async fn tls_with_a_private_authority() {
    let (relay, a, _file) = behind_tls("localhost", true).await;
    relay.ask().await.assert_good("in secret");
    assert_eq!(a.count(), 1);
}

#[tokio::test]
async fn tls_without_trust_or_for_another_name_is_no_connection() {
    for (name, trusted) in [("localhost", false), ("elsewhere.example", true)] {
        let (relay, a, _file) = behind_tls(name, trusted).await;
        let answer = relay.ask().await;
        answer.assert_error(502);
        assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first connect"], "{name}");
        assert_eq!(a.count(), 0, "{name}: nothing was sent");
    }
}

#[tokio::test]
async fn a_connection_that_carried_a_whole_answer_is_used_again() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for _ in 0..10 {
        relay.ask().await.assert_good("hello");
    }
    assert!(a.connections() < 8, "{} connections for 10 requests", a.connections());
}

#[tokio::test]
async fn a_connection_that_broke_off_is_not_used_again() {
    let lingering = Reply::text("hello").hold();
    let a = Provider::always(lingering).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("hello");
    }
    assert_eq!(a.connections(), 5);
    a.idle().await;
}

#[tokio::test]
async fn a_length_and_an_end_of_connection_frame_a_body_too() {
    use tests::provider::Framing;
    for framing in [Framing::Length, Framing::Connection] {
        let a = Provider::always(Reply::text("hello").framed(framing)).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        relay.ask().await.assert_good("hello");
    }
}

#[tokio::test]
async fn many_streams_run_side_by_side() {
    let a =
        Provider::always(Reply::begins("one ").words(&["two"], tests::clock::ms(500)).stop()).await;
    let relay = std::sync::Arc::new(Relay::start(&Setup::over(&[&a])).await);
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let relay = relay.clone();
        running.spawn(async move { relay.ask().await });
    }
    while let Some(answer) = running.join_next().await {
        let answer = answer.unwrap();
        answer.assert_good("one two");
        tests::clock::assert_within(
            "a stream beside 49 others",
            answer.end_at,
            tests::clock::ms(2000),
        );
    }
}
