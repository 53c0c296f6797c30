//! A client that leaves is noticed at once, even where nothing is being written.

use tests::clock::{assert_within, ms};
use tests::{Provider, Relay, Reply, Setup};

async fn leaves(reply: Reply, stream: bool, see: Option<&str>, setup: fn(Setup) -> Setup) {
    for reset in [false, true] {
        let a = Provider::always(reply.clone()).await;
        let relay = Relay::start(&setup(Setup::over(&[&a]))).await;
        let body =
            if stream { tests::openai::ask("chat") } else { tests::openai::ask_whole("chat") };
        let mut client = relay.open(&body).await;
        let call = a.call(0).await;
        match see {
            Some("") => {
                client.head().await;
            }
            Some(words) => client.until_text(words).await,
            // It leaves while the relay waits for a head; no event tells that it does.
            None => tokio::time::sleep(ms(100)).await,
        }
        let left_at = if reset { client.reset() } else { client.hang_up() };
        assert_within("the upstream's end", call.closed_after(left_at).await, ms(200));
        let detail = relay.newest().await;
        assert_eq!(detail.request.cause, Some(shared::Cause::ClientGone));
    }
}

const fn plain(setup: Setup) -> Setup {
    setup
}

#[tokio::test]
async fn before_the_providers_head() {
    leaves(Reply::silent(), true, None, plain).await;
}

#[tokio::test]
async fn between_head_and_first_token() {
    leaves(Reply::stream().send(tests::openai::role()).hold(), true, None, plain).await;
}

#[tokio::test]
async fn after_early_headers() {
    let early = |setup: Setup| setup.server("early_headers = \"100ms\"");
    leaves(Reply::silent(), true, Some(""), early).await;
}

#[tokio::test]
async fn while_the_stream_is_silent() {
    leaves(Reply::begins("one").hold(), true, Some("one"), plain).await;
}

#[tokio::test]
async fn while_one_json_answer_is_put_together() {
    leaves(Reply::begins("one").hold(), false, None, plain).await;
}
