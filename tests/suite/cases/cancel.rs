//! Clients that leave: the upstream must not go on at our cost.

use super::client::CLIENTS;
use super::pair::two;
use super::speech::{SPEECHES, Speech};
use tests::clock::{assert_within, ms, now};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn b45_a_client_that_leaves_in_the_middle_stops_the_upstream() {
    for reset in [false, true] {
        let a = Provider::always(Reply::fixture("B24-steady.sse")).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b])).await;
        let mut client = relay.open_stream().await;
        client.until_text("w09 ").await;
        let left_at = if reset { client.reset() } else { client.hang_up() };
        let call = a.call(0).await;
        assert_within("the upstream's end", call.closed_after(left_at).await, ms(200));
        assert!((11..=18).contains(&call.writes()), "{} events written", call.writes());
        let detail = relay.newest().await;
        assert_eq!(tried(&detail), ["a first cancelled client_gone"]);
        let attempt = &detail.attempts[0];
        assert!(attempt.estimated || attempt.output_tokens.is_none(), "no false precision");
        assert!(attempt.events >= 10, "{}", attempt.events);
        assert_eq!(b.count(), 0);
    }
}

#[tokio::test]
async fn b45_a_client_of_any_dialect_that_leaves_stops_an_upstream_of_any() {
    for speech in SPEECHES {
        let words = (0..30)
            .fold(speech.begins("w "), |reply, _| reply.pause(ms(100)).send(speech.text("w ")));
        let (setup, a, b) = two((speech, words.hold()), Speech::Chat).await;
        let relay = Relay::start(&setup).await;
        for (n, client) in CLIENTS.into_iter().enumerate() {
            let mut leaving = client.open(&relay).await;
            while leaving.so_far().0.windows(2).filter(|two| two == b"w ").count() < 10 {
                assert!(leaving.more().await, "{client:?} {speech:?}");
            }
            let left_at = leaving.hang_up();
            let call = a.call(n).await;
            assert_within("the upstream's end", call.closed_after(left_at).await, ms(200));
            assert!((10..=18).contains(&call.writes()), "{} events written", call.writes());
            let detail = relay.newest().await;
            assert_eq!(tried(&detail), ["a first cancelled client_gone"]);
            let attempt = &detail.attempts[0];
            assert!(attempt.estimated || attempt.output_tokens.is_none(), "no false precision");
            assert_eq!(attempt.stream_verdict, None, "the rung was well");
        }
        assert_eq!(b.count(), 0);
    }
}

#[tokio::test]
async fn b45_many_clients_that_leave_leave_nothing_behind() {
    let a = Provider::always(Reply::fixture("B24-steady.sse")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut before = 0;
    for round in 0..10 {
        for _ in 0..20 {
            let mut client = relay.open_stream().await;
            client.head().await;
            let _ = client.hang_up();
        }
        a.idle().await;
        if round == 1 {
            before = relay.memory();
        }
    }
    let grown = relay.memory().saturating_sub(before);
    assert!(grown < 8 << 20, "grew by {grown} bytes");
}

#[tokio::test]
async fn b46_a_client_that_leaves_before_the_first_token_ends_the_walk() {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::silent()).await;
    let c = Provider::always(Reply::silent()).await;
    let relay = Relay::start(&Setup::over(&[&a, &b, &c]).clocks("ttft = \"600ms\"")).await;
    let client = relay.open_stream().await;
    let call = a.call(0).await;
    // A client that leaves in the middle of the wait, not at its beginning.
    tokio::time::sleep(ms(200)).await;
    let left_at = client.hang_up();
    assert_within("the upstream's end", call.closed_after(left_at).await, ms(200));
    let detail = relay.newest().await;
    assert_eq!(tried(&detail), ["a first cancelled client_gone"]);
    assert_eq!(detail.attempts[0].verdict, None);
    // Past the first clock: nobody else must have been called.
    tokio::time::sleep(ms(600)).await;
    assert_eq!((b.count(), c.count()), (0, 0));
}

#[tokio::test]
async fn b46_a_client_that_leaves_during_a_wait_ends_the_walk() {
    let limited = Reply::error(429, "slow down", "rate_limit_error", &serde_json::Value::Null);
    let a = Provider::in_turn(vec![limited.header("retry-after", "1"), Reply::text("never")]).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let client = relay.open_stream().await;
    a.call(0).await;
    // A client that leaves in the middle of the wait, not at its beginning.
    tokio::time::sleep(ms(200)).await;
    let left_at = client.hang_up();
    let detail = relay.newest().await;
    assert_eq!(detail.request.cause, Some(shared::Cause::ClientGone));
    tokio::time::sleep_until((left_at + ms(1300)).into()).await;
    assert_eq!(a.count(), 1, "no call for a client that has left");
    assert!(now() > left_at);
}
