//! The harness against itself: client and provider without a relay between
//! them. What they cannot show, no test can.

use tests::client::{End, Exchange, request};
use tests::clock::{assert_within, ms, now};
use tests::provider::{Framing, Step};
use tests::{Answer, Page, Provider, Reply, openai};

async fn direct(provider: &Provider) -> Exchange {
    let body = openai::ask("m").to_string();
    let path = "/v1/chat/completions";
    let bytes = request(provider.address(), "POST", path, &[], Some(body.as_bytes()));
    Exchange::start(provider.address(), &bytes).await
}

async fn answer(reply: Reply) -> Answer {
    let provider = Provider::always(reply).await;
    direct(&provider).await.finish().await
}

#[tokio::test]
async fn a_good_stream_is_read_as_one() {
    answer(Reply::text("hello")).await.assert_good("hello");
    for framing in [Framing::Length, Framing::Connection] {
        answer(Reply::text("hello").framed(framing)).await.assert_good("hello");
    }
}

#[tokio::test]
async fn ends_are_told_apart() {
    assert_eq!(answer(Reply::begins("x")).await.end, End::Proper);
    assert_eq!(answer(Reply::begins("x").cut()).await.end, End::Cut);
    assert_eq!(answer(Reply::begins("x").reset()).await.end, End::Reset);
}

#[tokio::test]
async fn pauses_show_in_the_times_of_events() {
    let answer = answer(Reply::begins("one").words(&["two"], ms(200)).stop()).await;
    let times: Vec<_> = answer.events().iter().map(|event| event.at).collect();
    assert!(times[2] - times[1] >= ms(190), "{times:?}");
    assert_eq!(times[3], times[4], "written together, read together");
}

#[tokio::test]
async fn a_provider_sees_its_peer_leave() {
    for reset in [false, true] {
        let provider = Provider::always(Reply::begins("x").hold()).await;
        let mut client = direct(&provider).await;
        client.until_text("x").await;
        assert!(!provider.call(0).await.is_closed());
        let left_at = if reset { client.reset() } else { client.hang_up() };
        assert_within("the close", provider.call(0).await.closed_after(left_at).await, ms(50));
        provider.idle().await;
    }
}

#[tokio::test]
async fn a_provider_keeps_requests_as_they_came() {
    let provider = Provider::in_turn(vec![Reply::text("a"), Reply::closed()]).await;
    let bytes = request(
        provider.address(),
        "POST",
        "/v1/x?y=1",
        &[("X-OddCase", "Value"), ("Transfer-Encoding", "chunked")],
        Some(b"3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"),
    );
    Exchange::start(provider.address(), &bytes).await.finish().await.assert_good("a");
    let call = provider.call(0).await;
    assert_eq!(call.request_line, "POST /v1/x?y=1 HTTP/1.1");
    assert!(call.headers.contains(&("X-OddCase".to_owned(), "Value".to_owned())));
    assert_eq!(call.json(), serde_json::json!({"a": 1}));
    let mut closed = Exchange::start(provider.address(), &bytes).await;
    while closed.more().await {}
    assert!(!closed.has_head());
    assert_eq!((provider.count(), provider.connections()), (2, 2));
}

#[tokio::test]
async fn a_flood_is_blocked_by_a_client_that_does_not_read() {
    let flood = Reply::begins("x").step(Step::Flood(vec![b'x'; 65536]));
    let provider = Provider::always(flood).await;
    let client = direct(&provider).await;
    let call = provider.call(0).await;
    call.wrote(2).await;
    let mut last = (0, now());
    while last.1.elapsed() < ms(300) {
        let sent = call.bytes_sent();
        if sent != last.0 {
            last = (sent, now());
        }
        // That nothing more comes shows only in time.
        tokio::time::sleep(ms(10)).await;
    }
    assert!(last.0 < 32 << 20, "{} bytes", last.0);
    drop(client);
}

#[tokio::test]
async fn fixtures_are_whole_and_play_as_their_manifest_says() {
    let provider = Provider::always(Reply::fixture("B28-stall-after-content.sse")).await;
    let mut client = direct(&provider).await;
    client.until_text("here").await;
    assert_eq!(provider.call(0).await.bytes_sent(), 497);
    assert_within("one write", client.sent_at().elapsed(), ms(500));
}

#[test]
fn a_page_of_metrics_that_a_scraper_would_refuse_is_refused() {
    let head = "# HELP belay_a_total A.\n# TYPE belay_a_total counter\n";
    let histogram = "# HELP belay_h H.\n# TYPE belay_h histogram\n";
    let good = format!(
        "{head}belay_a_total{{x=\"y\"}} 1\n{histogram}belay_h_sum{{x=\"y\"}} 0.5\n\
         belay_h_count{{x=\"y\"}} 1\nbelay_h_bucket{{x=\"y\",le=\"1\"}} 1\n\
         belay_h_bucket{{x=\"y\",le=\"+Inf\"}} 1\n"
    );
    assert_eq!(Page::read(&good).samples().count(), 5);
    for bad in [
        "belay_a_total 1\n".to_owned(),
        format!("{head}belay_a_total one\n"),
        format!("{head}belay_a_total 1"),
        format!("{head}belay_a_total 1\nbelay_a_total 2\n"),
        format!("{head}belay_a_total{{x=\"y\" 1\n"),
        format!("{head}{head}"),
        "# TYPE belay_a_total counter\nbelay_a_total 1\n".to_owned(),
        good.replace("belay_a_total", "belay_a"),
        good.replace("le=\"+Inf\"} 1", "le=\"+Inf\"} 2"),
        good.replace("le=\"1\"} 1", "le=\"1\"} 3"),
    ] {
        let read = std::panic::catch_unwind(|| Page::read(&bad));
        assert!(read.is_err(), "read without a complaint:\n{bad}");
    }
}
