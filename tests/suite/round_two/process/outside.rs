//! Log, disk, resolver, clock, signals and descriptors: each may fail or hang at any moment.

use rlimit::Resource;
use serde_json::json;
use tests::client::request;
use tests::clock::{allow, assert_within, eventually, ms, now, within};
use tests::openai::ask;
use tests::provider::Framing;
use tests::{Answer, Faults, Provider, Relay, Reply, Setup};

const LOST: &str = "belay_log_lost_lines_total";

/// A relay with one good rung and these faults to come.
async fn relay(faults: &Faults) -> (Provider, Relay) {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&faults.over(Setup::over(&[&a]))).await;
    (a, relay)
}

#[tokio::test]
async fn c1_a_log_that_cannot_be_written_is_counted_and_stops_nothing() {
    let faults = Faults::none();
    let (_a, mut relay) = relay(&faults).await;
    faults.set(&["log-broken", "disk-broken"]).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from A");
    }
    eventually("lost lines to be counted", async || {
        (relay.metrics().await.value(LOST) > 0.5).then_some(())
    })
    .await;
    faults.clear().await;
    // What is logged next is written again, and says that something is missing.
    relay.signal("HUP");
    eventually("a log that says what it lost", async || {
        let log = relay.log();
        (log.contains("log lines were lost") && log.contains("config read again")).then_some(())
    })
    .await;
    assert!(!relay.log().contains("panicked"), "{}", relay.log());
    relay.terminate();
    assert_eq!(relay.exited().await.code(), Some(0));
}

#[tokio::test]
async fn c1_a_log_that_nobody_reads_holds_up_neither_requests_nor_the_stop() {
    let faults = Faults::none();
    let a = Provider::always(Reply::text("from A")).await;
    let setup = Setup::over(&[&a]).env("BELAY_LOG", "trace");
    let mut relay = Relay::start(&faults.over(setup)).await;
    faults.set(&["log-hang"]).await;
    // Far more than a pipe or the queue holds: dozens of lines a request.
    let lost = within("more lines than are kept", async {
        loop {
            relay.ask().await.assert_good("from A");
            let lost = relay.metrics().await.value(LOST);
            if lost > 0.5 {
                return lost;
            }
        }
    })
    .await;
    let asked = now();
    relay.ask().await.assert_good("from A");
    assert_within("a request beside a log that hangs", asked.elapsed(), ms(1000));
    assert!(relay.metrics().await.value(LOST) > lost, "and further lines are counted");
    let told = now();
    relay.terminate();
    // The harness reads the log to its end: it must end with the process.
    assert_eq!(relay.exited().await.code(), Some(0));
    assert!(told.elapsed() < allow(ms(4000)), "{:?}", told.elapsed());
}

/// A name that the resolver is asked for: this machine's own, so that no network is needed.
fn by_name(provider: &Provider) -> String {
    format!("http://localhost:{}/v1", provider.address().port())
}

/// An answer after which the connection closes, so that the next call looks its name up.
fn closing(words: &str) -> Reply {
    Reply::text(words).framed(Framing::Connection)
}

/// Two rungs, the first one called by its name.
async fn named(faults: &Faults) -> ([Provider; 2], Relay) {
    let rungs = [Provider::always(closing("fine")).await, Provider::always(closing("fine")).await];
    let setup = Setup::default().and_rung(&by_name(&rungs[0])).and_rung(&rungs[1].base_url());
    let setup = setup.clocks("ttft = \"400ms\"");
    (rungs, Relay::start(&faults.over(setup)).await)
}

async fn note(relay: &Relay, id: &str) -> Answer {
    let body = json!({"id": id, "text": "a test", "about": {}}).to_string();
    relay.admin_call("POST", "/admin/v1/notes", &[], Some(body.as_bytes())).await
}

/// Tells it to stop, and sees it stop in time although these faults are there.
async fn stops(mut relay: Relay, faults: &[&str]) {
    let told = now();
    relay.terminate();
    let code = relay.exited().await.code();
    assert_eq!(code, Some(0), "{faults:?}: {}", relay.log());
    // Two seconds are the journal's, one is for the workers.
    assert_within(&format!("the stop beside {faults:?}"), told.elapsed(), ms(4500));
}

#[tokio::test]
async fn c5_a_resolver_that_hangs_does_not_delay_the_stop() {
    let faults = Faults::none();
    let (_rungs, relay) = named(&faults).await;
    faults.set(&["dns-hang"]).await;
    relay.ask().await.assert_good("fine");
    stops(relay, &["dns-hang"]).await;
}

#[tokio::test]
async fn c5_a_disk_that_hangs_holds_no_change_up() {
    let faults = Faults::none();
    let (_rungs, relay) = named(&faults).await;
    faults.set(&["disk-hang"]).await;
    let deed = json!({"id": "probe-1", "reason": "a test"});
    let force = json!({"id": "force-1", "reason": "a test", "mode": "forced_open"});
    let order = json!({"id": "order-1", "reason": "a test", "rungs": ["b", "a"]});
    let preview =
        json!({"id": "p-1", "reason": "a test", "changes": [{"rung": "a", "mode": "auto"}]});
    for (method, path, body, status) in [
        ("PUT", "/admin/v1/rungs/a/override", &force, 200),
        ("PUT", "/admin/v1/ladders/chat/order", &order, 200),
        ("POST", "/admin/v1/rungs/b/probe", &deed, 409),
        ("POST", "/admin/v1/preview", &preview, 200),
    ] {
        let body = body.to_string();
        let headers = [("if-match", "*")];
        let answer = relay.admin_call(method, path, &headers, Some(body.as_bytes())).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body_text());
        // Half a second for an earlier life's answer, one for the record, two for the board.
        assert_within(path, answer.end_at, ms(2800));
        if status == 200 && path != "/admin/v1/preview" {
            assert_eq!(answer.json()["journaled"], false, "{}", answer.body_text());
        }
    }
    // Far more readers than there are threads for: none of them waits for long, and what
    // needs no disk is answered meanwhile.
    let readers = futures_util::future::join_all(
        (0..60).map(async |_| relay.admin_get("/admin/v1/requests").await),
    );
    for answer in readers.await {
        assert_eq!(answer.status, 503, "{}", answer.body_text());
        assert_within("a reader", answer.end_at, ms(6000));
    }
    assert_eq!(relay.admin_get("/healthz").await.status, 200);
    relay.ask().await.assert_good("fine");
    faults.clear().await;
    eventually("the change in the journal", async || {
        let found = relay.admin_get("/admin/v1/actions/force-1").await;
        (found.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn c5_a_limit_of_file_size_is_a_full_disk() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let pid = relay.pid().try_into().unwrap();
    let mut hard = (0, 0);
    rlimit::prlimit(pid, Resource::FSIZE, None, Some((&mut hard.0, &mut hard.1))).unwrap();
    let limit = |soft| {
        rlimit::prlimit(pid, Resource::FSIZE, Some((soft, hard.1)), None).unwrap();
    };
    limit(96 * 1024);
    let mut ids = Vec::new();
    let error = within("a journal that has no room", async {
        loop {
            let answer = relay.ask().await;
            answer.assert_good("from A");
            ids.push(answer.id());
            let board = relay.admin_get("/admin/v1/board").await.json();
            if let Some(error) = board["relay"]["journal"]["error"].as_str() {
                return error.to_owned();
            }
        }
    })
    .await;
    assert!(error.contains("no room"), "{error}");
    relay.ask().await.assert_good("from A");
    limit(hard.0);
    for id in ids {
        relay.journaled(&id).await;
    }
}

#[tokio::test]
async fn signals_that_mean_nothing_to_a_relay_do_nothing() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for signal in ["USR1", "USR2", "ALRM", "VTALRM", "XFSZ", "XCPU", "PIPE"] {
        relay.signal(signal);
    }
    relay.ask().await.assert_good("from A");
    stops(relay, &["signals"]).await;
}

/// Everything outside that may fail or hang.
const OUTSIDE: [&str; 10] = [
    "log-hang",
    "log-broken",
    "disk-hang",
    "disk-broken",
    "disk-full",
    "dns-hang",
    "dns-broken",
    "no-files",
    "clock=3456000",
    "clock=-3456000",
];

/// What a relay must do while these faults are there, and after them.
async fn survives(relay: &Relay, faults: &Faults, words: &[&str], n: usize) {
    // A connection that is there already: a relay without descriptors takes no new one.
    let mut kept = relay.open(&ask("chat")).await;
    while kept.more().await {}
    faults.set(words).await;
    let body = ask("chat").to_string();
    let again =
        request(relay.address(), "POST", "/v1/chat/completions", &[], Some(body.as_bytes()));
    let answer = within(&format!("an answer beside {words:?}"), async {
        kept.then(&again).await.finish().await
    })
    .await;
    let has_files = !words.contains(&"no-files");
    if answer.status == 200 {
        answer.assert_good("fine");
    } else {
        assert!(!has_files, "{words:?}: {}", answer.body_text());
        answer.assert_error(answer.status);
    }
    assert_within(&format!("an answer beside {words:?}"), answer.end_at, ms(4000));
    if has_files {
        let noted = note(relay, &format!("note-{n}")).await;
        assert_eq!(noted.status, 200, "{words:?}: {}", noted.body_text());
        assert_within(&format!("a change beside {words:?}"), noted.end_at, ms(2000));
        assert_eq!(relay.admin_get("/metrics").await.status, 200);
    }
    faults.clear().await;
    let after = eventually(&format!("a good answer after {words:?}"), async || {
        let after = relay.ask().await;
        (after.status == 200).then_some(after)
    })
    .await;
    after.assert_good("fine");
    for id in [answer.id(), after.id()] {
        relay.journaled(&id).await;
    }
}

#[tokio::test]
async fn each_fault_outside_is_survived_and_so_is_a_stop_beside_it() {
    for (n, word) in OUTSIDE.iter().enumerate() {
        let faults = Faults::none();
        let (_rungs, relay) = named(&faults).await;
        survives(&relay, &faults, &[word], n).await;
        faults.set(&[word]).await;
        stops(relay, &[word]).await;
    }
}

#[tokio::test]
async fn faults_outside_are_survived_in_pairs() {
    let faults = Faults::none();
    let (_rungs, relay) = named(&faults).await;
    let kind = |word: &str| word.split(['-', '=']).next().unwrap_or_default().to_owned();
    let mut n = 0;
    for (at, one) in OUTSIDE.iter().enumerate() {
        // Two of one kind are the first of them.
        for other in OUTSIDE.iter().skip(at + 1).filter(|other| kind(other) != kind(one)) {
            n += 1;
            if [one, other].contains(&&"no-files") {
                // Without descriptors no rung can be called, so its breakers turn: a relay
                // of its own.
                let (_rungs, relay) = named(&faults).await;
                survives(&relay, &faults, &[one, other], n).await;
            } else {
                survives(&relay, &faults, &[one, other], n).await;
            }
        }
    }
    assert!(!relay.log().contains("panicked"), "{}", relay.log());
    let hanging = ["log-hang", "disk-hang", "dns-hang"];
    faults.set(&hanging).await;
    relay.ask().await.assert_good("fine");
    stops(relay, &hanging).await;
}
