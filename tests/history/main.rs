//! How long the history's questions take over millions of attempts, while more are written.
//!
//! `cargo run --release -p tests --bin history [-- --requests N] [-- --file F]`
//!
//! A journal is filled with made-up requests (thirty days, most of them plain, some failed over),
//! then the relay's own writer adds 400 requests, 500 attempts, a second to it, while each question
//! that a console asks is put again and again. It prints what each took, and how the writer fared
//! meanwhile. Nothing is asserted: the figures are those of this machine and its disk.

use ::tests::clock;
use journal::{
    GroupBy, Journal, JournalOptions, ReadError, Reader, RequestFilter, SeriesQuery, Sort,
    SummaryQuery, TransitionFilter,
};
use record::{AttemptEnd, AttemptStart, RequestEnd, RequestStart, millis};
use shared::{
    AttemptKind, AttemptOutcome, NanoUsd, RequestId, RequestOutcome, TokenVerdict, UnixMillis,
    Usage,
};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

type Res<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// 5,000,000 attempts at five for four requests.
const REQUESTS: u64 = 4_000_000;
const SPAN_MS: u64 = 30 * 24 * 3_600_000;
/// Requests a second that are written meanwhile.
const RATE: u64 = 400;
const TIMES: usize = 20;
const MINUTE: i64 = 60_000;

fn main() -> Res<()> {
    let mut requests = REQUESTS;
    let mut file = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--requests" => requests = value.parse()?,
            "--file" => file = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown argument {word}").into()),
        }
    }
    let folder = tempfile::tempdir()?;
    let path = file.unwrap_or_else(|| folder.path().join("belay.db"));
    let options = JournalOptions { max_size: u64::MAX, ..JournalOptions::new(path.clone(), now) };
    if !path.exists() {
        let journal = Journal::open(options.clone());
        journal.wait_for_file(Duration::from_secs(10));
        let _closed = journal.close(Duration::from_secs(10));
        let began = clock::now();
        fill(&path, requests)?;
        say(&format!("{requests} requests filled in, {:.0} s", began.elapsed().as_secs_f64()));
    }
    say(&format!("{} MiB", std::fs::metadata(&path)?.len() >> 20));
    let journal = Journal::open(options);
    journal.wait_for_file(Duration::from_secs(60));
    let reader = journal.reader();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(&journal, &stop));
        let asked = ask(&reader);
        stop.store(true, Ordering::Relaxed);
        let written = writer.join().map_err(|_| "the writing thread ended early")?;
        asked?;
        let health = journal.health();
        say(&format!(
            "meanwhile {written} requests were written, {} lost, {} late (over 15 ms)",
            health.lost, health.late
        ));
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    })?;
    let _closed = journal.close(Duration::from_secs(10));
    Ok(())
}

/// Every question with what it took.
fn ask(reader: &Reader) -> Res<()> {
    let text = |text: &str| Some(text.to_owned());
    let all = RequestFilter::default;
    let lately = |minutes: i64| Some(UnixMillis(now().0 - minutes * MINUTE));
    let questions: Vec<(&str, RequestFilter)> = vec![
        ("newest", all()),
        ("newest of a ladder", RequestFilter { ladder: text("chat"), ..all() }),
        ("newest of a rare ladder", RequestFilter { ladder: text("rare"), ..all() }),
        ("trouble, 15 min", RequestFilter { trouble: true, since: lately(15), ..all() }),
        ("trouble, any time", RequestFilter { trouble: true, ..all() }),
        ("failed, any time", RequestFilter { outcome: Some(RequestOutcome::Failed), ..all() }),
        ("answered by a rare rung", RequestFilter { answered_by: text("local"), ..all() }),
        ("tried a rare rung", RequestFilter { tried: text("local"), ..all() }),
        ("tried a rung that is none", RequestFilter { tried: text("nobody"), ..all() }),
        ("one by its id", RequestFilter { id: Some(id(now(), 7)), ..all() }),
        ("worst first token, 1 h", sorted(Sort::Ttft, lately(60))),
        ("worst first token, ever", sorted(Sort::Ttft, None)),
        ("dearest, ever", sorted(Sort::Cost, None)),
        ("longest, ever", sorted(Sort::Total, None)),
        ("most attempts, ever", sorted(Sort::Attempts, None)),
        ("dearest of a ladder, 24 h", {
            RequestFilter { ladder: text("chat"), ..sorted(Sort::Cost, lately(24 * 60)) }
        }),
    ];
    say(&format!("{:<28} {:>10} {:>10} {:>6}", "", "median ms", "worst ms", "rows"));
    for (name, filter) in questions {
        time(name, || reader.requests(&filter).map(|page| page.items.len()));
    }
    ask_of_minutes(reader);
    Ok(())
}

/// Curves, sums and what is usual, which come from the minutes.
fn ask_of_minutes(reader: &Reader) {
    const HOURS: i64 = 60;
    let series = |by_ladder, minutes, step| SeriesQuery {
        by_ladder,
        rung: None,
        ladder: None,
        since: UnixMillis(now().0 - minutes * MINUTE),
        until: now(),
        step: Duration::from_secs(step),
    };
    for (name, query) in [
        ("curves of rungs, 1 h", series(false, HOURS, 60)),
        ("curves of rungs, 24 h", series(false, 24 * HOURS, 300)),
        ("curves of ladders, 24 h", series(true, 24 * HOURS, 300)),
        ("curves of rungs, 30 days", series(false, 720 * HOURS, 7_200)),
    ] {
        time(name, || reader.series(&query).map(|found| found.curves.len()));
    }
    let summary = |group, minutes| {
        let since = UnixMillis(now().0 - minutes * MINUTE);
        SummaryQuery { group, ladder: None, since, until: now() }
    };
    for (name, query) in [
        ("sums by rung, 24 h", summary(GroupBy::Rung, 24 * HOURS)),
        ("sums by rung, 30 days", summary(GroupBy::Rung, 720 * HOURS)),
        ("sums by ladder, 30 days", summary(GroupBy::Ladder, 720 * HOURS)),
        ("sums by outcome, 1 h", summary(GroupBy::Outcome, HOURS)),
        ("sums by outcome, 24 h", summary(GroupBy::Outcome, 24 * HOURS)),
        ("sums by tenant, 1 h", summary(GroupBy::Tenant, HOURS)),
        ("sums by tenant, 24 h", summary(GroupBy::Tenant, 24 * HOURS)),
    ] {
        time(name, || reader.summary(&query).map(|found| found.items.len()));
    }
    time("what is usual", || reader.usual(now()).map(|found| found.rungs.len()));
    let newest = TransitionFilter::default();
    time("newest transitions", || reader.transitions(&newest).map(|page| page.items.len()));
}

/// Asks again and again, and says how long that took.
fn time(name: &str, ask: impl Fn() -> Result<usize, ReadError>) {
    let mut took = Vec::new();
    let mut rows = 0;
    for _ in 0..TIMES {
        let began = clock::now();
        match ask() {
            Ok(found) => rows = found,
            Err(error) => say(&format!("{name}: {error}")),
        }
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    let (median, worst) = (took.get(TIMES / 2), took.last());
    let (median, worst) = (median.copied().unwrap_or(0.0), worst.copied().unwrap_or(0.0));
    say(&format!("{name:<28} {median:>10.2} {worst:>10.2} {rows:>6}"));
}

fn sorted(sort: Sort, since: Option<UnixMillis>) -> RequestFilter {
    RequestFilter { sort, since, ..RequestFilter::default() }
}

/// Adds requests at an even pace until it is told to stop.
fn write(journal: &Journal, stop: &AtomicBool) -> u64 {
    let began = clock::now();
    let mut written = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        let due = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX) * RATE / 1_000;
        while written < due {
            let _not_waited_for = journal.end(request(now(), written));
            written += 1;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    written
}

fn request(at: UnixMillis, number: u64) -> RequestEnd {
    let made = Made::of(number);
    let start = RequestStart {
        id: id(at, number),
        at,
        client: Some("web".into()),
        ladder: Some(made.ladder.into()),
        model: Some(made.ladder.into()),
        stream: true,
    };
    let attempts = (1..=made.attempts)
        .map(|n| AttemptEnd {
            start: AttemptStart {
                request: start.id,
                n,
                rung: made.rung(n).into(),
                place: 0,
                kind: if n == 1 { AttemptKind::First } else { AttemptKind::Failover },
                probe: false,
                at,
            },
            outcome: made.outcome(n),
            cause: None,
            detail: None,
            status: Some(200),
            verdict: Some(TokenVerdict::Good),
            stream_verdict: None,
            headers: Some(Duration::from_millis(100)),
            ttft: Some(made.ttft),
            latency: Some(made.ttft + AFTER_TOKEN),
            events: 100,
            bytes: 9_000,
            usage: Usage { input: Some(800), output: Some(300), ..Usage::default() },
            estimated: false,
            cost: Ok(NanoUsd(made.cost)),
            left_out: Vec::new(),
        })
        .collect();
    RequestEnd {
        start,
        outcome: if made.failed { RequestOutcome::Failed } else { RequestOutcome::Ok },
        cause: None,
        status: Some(200),
        answered: (!made.failed).then_some(made.attempts),
        hedged: false,
        ttft: Some(made.ttft),
        latency: Some(made.ttft + AFTER_TOKEN),
        events: 100,
        bytes: 9_000,
        attempts,
        passed_over: Vec::new(),
    }
}

/// From the first token to the end.
const AFTER_TOKEN: Duration = Duration::from_secs(4);

/// What a request is like, from its number alone.
struct Made {
    ladder: &'static str,
    attempts: u32,
    failed: bool,
    rare: bool,
    ttft: Duration,
    cost: i64,
}

impl Made {
    fn of(number: u64) -> Self {
        // Spreads neighbours without a generator's state.
        let luck = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        Self {
            ladder: if luck.is_multiple_of(5_000) {
                "rare"
            } else if luck.is_multiple_of(3) {
                "code"
            } else {
                "chat"
            },
            attempts: if luck.is_multiple_of(4) { 2 } else { 1 },
            failed: luck.is_multiple_of(400),
            rare: luck.is_multiple_of(20_000),
            ttft: Duration::from_millis(
                200 + luck % 1_000 + if luck.is_multiple_of(500) { luck % 60_000 } else { 0 },
            ),
            cost: i64::try_from(luck % 9_000_000).unwrap_or(0),
        }
    }

    const fn rung(&self, n: u32) -> &'static str {
        match (self.rare, n) {
            (true, _) => "local",
            (false, 1) => "sol",
            (false, _) => "opus",
        }
    }

    const fn outcome(&self, n: u32) -> AttemptOutcome {
        if self.failed || n < self.attempts {
            AttemptOutcome::ServerError
        } else {
            AttemptOutcome::Ok
        }
    }
}

/// Writes the past straight into the tables: the relay's writer would take an hour.
fn fill(path: &Path, requests: u64) -> Res<()> {
    let mut file = rusqlite::Connection::open(path)?;
    file.pragma_update(None, "synchronous", "OFF")?;
    file.pragma_update(None, "cache_size", -400_000)?;
    let tx = file.transaction()?;
    {
        let mut request = tx.prepare(
            "INSERT INTO requests (id, at, client, ladder, model, stream, outcome, status,
             answered_by, attempts_made, hedged, ttft_ms, latency_ms, input_tokens,
             output_tokens, cost_nano, events, bytes)
             VALUES (?1, ?2, 'web', ?3, ?3, 1, ?4, 200, ?5, ?6, 0, ?7, ?8, 800, 300, ?9, 100, 9000)",
        )?;
        let mut attempt = tx.prepare(
            "INSERT INTO attempts (request, n, at, rung, kind, probe, outcome, status, verdict,
             headers_ms, ttft_ms, latency_ms, events, bytes, input_tokens, output_tokens, cost_nano)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, 200, 'good', 100, ?7, ?8, 100, 9000, 800, 300, ?9)",
        )?;
        let first = now().0 - i64::try_from(SPAN_MS)?;
        for number in 0..requests {
            let at = UnixMillis(first + i64::try_from(number * SPAN_MS / requests)?);
            let made = Made::of(number);
            let id = id(at, number).number();
            let int = |span| i64::try_from(millis(span)).unwrap_or(i64::MAX);
            let (ttft, total) = (int(made.ttft), int(made.ttft + AFTER_TOKEN));
            let outcome = if made.failed { "failed" } else { "ok" };
            let answered_by = (!made.failed).then(|| made.rung(made.attempts));
            request.execute((
                id,
                at.0,
                made.ladder,
                outcome,
                answered_by,
                made.attempts,
                ttft,
                total,
                made.cost,
            ))?;
            for n in 1..=made.attempts {
                let kind = if n == 1 { "first" } else { "failover" };
                let outcome = made.outcome(n).as_str();
                attempt.execute((
                    id,
                    n,
                    at.0,
                    made.rung(n),
                    kind,
                    outcome,
                    ttft,
                    total,
                    made.cost,
                ))?;
            }
        }
    }
    fill_minutes(&tx)?;
    tx.commit()?;
    Ok(())
}

/// The same past as the relay sums it up: each minute of each ladder, and of its rungs.
fn fill_minutes(tx: &rusqlite::Transaction<'_>) -> Res<()> {
    let mut minute = tx.prepare(
        "INSERT INTO minutes VALUES (?1, ?2, ?3, 1, 60, 55, 2, 3, 1, 1, 3, 0, 50, 50,
         '{\"ok\":57,\"server_error\":3}', '{\"open\":3}', ?4, 48000, 18000, 260000000, 9000000)",
    )?;
    let hist: Vec<_> = (80..140).map(|bucket| (bucket, 1, bucket % 2)).collect();
    let hist = serde_json::to_string(&hist)?;
    let last = now().0 / MINUTE * MINUTE;
    for number in (1..=i64::try_from(SPAN_MS)? / MINUTE).rev() {
        for ladder in ["chat", "code"] {
            for rung in ["", "sol", "opus", "local"] {
                minute.execute((last - number * MINUTE, ladder, rung, &hist))?;
            }
        }
    }
    Ok(())
}

/// Ids grow with time, as the relay's own do.
fn id(at: UnixMillis, number: u64) -> RequestId {
    RequestId::from_number((at.0.cast_unsigned() << 16) | (number & 0xFFFF))
}

fn now() -> UnixMillis {
    UnixMillis(i64::try_from(clock::unix().as_millis()).unwrap_or(i64::MAX))
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
