//! Holds that overlap.

use crate::rescue::{NO_HEDGE, limited};
use tests::clock::{eventually, ms, now};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup};

#[tokio::test]
async fn b41_overlapping_429s_never_shorten_a_hold() {
    // Eight are refused, the first one for a second, the others without a time: that is
    // 5 s here, 30 % up or down. A ninth was on its way, and is answered after them.
    let a = Provider::scripted(|call| match call.n {
        0 => limited().header("retry-after", "1").after(ms(800)),
        1..8 => limited().after(ms(900)),
        8 => Reply::begins("from A").stop().after(ms(1_200)),
        _ => Reply::text("too soon"),
    })
    .await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder(NO_HEDGE).rung("a", "hold_base = \"5s\"");
    let relay = Relay::start(&setup).await;
    let mut streams = Vec::new();
    for n in 0..9 {
        streams.push(relay.open_stream().await);
        a.call(n).await;
    }
    let last = streams.pop().unwrap();
    for stream in streams {
        let answer = stream.finish().await;
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first rate_limited", "b failover ok"]);
        assert_eq!(detail.attempts[0].verdict, None, "a hold is no verdict");
    }
    last.finish().await.assert_good("from A");
    let held_at = now();
    // The first one's second is long over.
    tokio::time::sleep_until((held_at + ms(1_000)).into()).await;
    for answer in crate::rescue::ask_at_once(&relay, 10).await {
        answer.assert_good("from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["b first ok"]);
    }
    assert_eq!(a.count(), 9, "not called while it is held");
    // What is said is what is kept to.
    let calls = eventually("the hold to end", async || {
        let answer = relay.ask().await;
        (answer.text() == "too soon").then(|| a.calls())
    })
    .await;
    let held = calls[9].at - calls[1].at;
    assert!(held >= ms(900 + 3_500), "held for {held:?} only");
    assert_eq!(relay.story(), [""; 0], "no breaker was told");
}
