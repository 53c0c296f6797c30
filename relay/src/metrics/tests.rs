//! Tests of what is counted, on the page itself.

use super::status;
use super::{
    ConfigNow, Format, JournalNow, LadderNames, LadderNow, Metrics, Names, Now, RungNames, RungNow,
};
use record::{AttemptEnd, CostUnknown, PassedRung, RequestEnd, sample};
use shared::{
    AttemptKind, AttemptOutcome, BreakerState, Cause, NanoUsd, OverrideMode, PassedOver,
    RequestOutcome, TokenVerdict, UnixMillis, Usage,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn names() -> Names {
    let rung = |name: &str| RungNames {
        rung: name.into(),
        provider: format!("p-{name}").into(),
        model: format!("m-{name}").into(),
    };
    Names {
        rungs: vec![rung("a"), rung("b")],
        ladders: vec![LadderNames { ladder: "chat".into(), rungs: vec!["a".into(), "b".into()] }],
    }
}

fn page(metrics: &Metrics) -> String {
    metrics.text(&Now::default(), Format::Prometheus).unwrap()
}

/// The value of a series, named as on the page.
#[track_caller]
fn value(page: &str, series: &str) -> String {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in:\n{page}")).to_owned()
}

/// An attempt on `a` that went well.
fn good() -> AttemptEnd {
    AttemptEnd {
        verdict: Some(TokenVerdict::Good),
        ttft: Some(Duration::from_millis(300)),
        usage: Usage { input: Some(11), output: Some(3), ..Usage::default() },
        cost: Ok(NanoUsd(57_500)),
        ..sample::attempt(AttemptOutcome::Ok)
    }
}

#[test]
fn what_alerts_rely_on_is_there_before_anything_happens() {
    let page = page(&Metrics::new(&names()));
    for series in [
        r#"belay_attempts_total{rung="a",kind="first",outcome="auth",cause=""}"#,
        r#"belay_attempts_total{rung="b",kind="first",outcome="cancelled",cause="lost_race"}"#,
        r#"belay_breaker_transitions_total{rung="a",to="open",rule="bad_run"}"#,
        r#"belay_extra_attempts_total{ladder="chat",kind="hedge"}"#,
        r#"belay_hedges_won_total{ladder="chat"}"#,
        r#"belay_requests_total{ladder="chat",outcome="failed",status="5xx"}"#,
        r#"belay_cancelled_requests_total{ladder="chat",cause="client_gone"}"#,
        r#"belay_passed_over_total{rung="b",reason="hold"}"#,
        r#"belay_turned_away_requests_total{code="invalid_api_key"}"#,
        "belay_relay_faults_total",
        "belay_journal_lost_requests_total",
        r#"belay_request_time_to_first_token_seconds_count{ladder="chat"}"#,
    ] {
        assert_eq!(value(&page, series), "0", "{series}");
    }
    let cost = r#"belay_cost_usd_total{ladder="chat",rung="a",estimated="false"}"#;
    assert_eq!(value(&page, cost), "0.0");
    let info = r#"belay_rung_info{rung="a",gen_ai_provider_name="p-a",gen_ai_request_model="m-a"}"#;
    assert_eq!(value(&page, info), "1");
}

#[test]
fn no_series_stands_twice_and_every_metric_says_what_it_is() {
    let metrics = Metrics::new(&names());
    let chat = Arc::from("chat");
    metrics.attempt(&chat, &good());
    let page = page(&metrics);
    let mut seen = BTreeSet::new();
    let mut families = BTreeSet::new();
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(name.starts_with("belay_"), "{name}");
            assert!(families.insert(name.to_owned()), "{name} twice");
            assert!(text.ends_with('.') && !text.ends_with(".."), "{line}");
        } else if !line.starts_with('#') {
            let (series, _) = line.rsplit_once(' ').unwrap();
            assert!(seen.insert(series.to_owned()), "{series} twice");
        }
    }
    assert!(families.len() > 25, "{families:?}");
}

#[test]
fn an_attempt_is_counted_once_in_every_respect() {
    let metrics = Metrics::new(&names());
    let chat: Arc<str> = Arc::from("chat");
    metrics.attempt(&chat, &good());
    let mut lost = AttemptEnd {
        outcome: AttemptOutcome::Cancelled,
        cause: Some(Cause::LostRace),
        verdict: None,
        ttft: None,
        estimated: true,
        cost: Ok(NanoUsd(1)),
        ..good()
    };
    (lost.start.n, lost.start.kind) = (7, AttemptKind::Hedge);
    metrics.attempt(&chat, &lost);
    let ttft = Some(Duration::from_secs(4));
    metrics.attempt(&chat, &AttemptEnd { ttft, cost: Err(CostUnknown::NoPrice), ..lost });
    let page = page(&metrics);
    for (series, expected) in [
        (r#"belay_attempts_total{rung="a",kind="first",outcome="ok",cause=""}"#, "1"),
        (
            r#"belay_attempts_total{rung="a",kind="hedge",outcome="cancelled",cause="lost_race"}"#,
            "2",
        ),
        (r#"belay_first_token_verdicts_total{rung="a",verdict="good"}"#, "1"),
        (r#"belay_tokens_total{rung="a",gen_ai_token_type="input"}"#, "33"),
        (r#"belay_tokens_total{rung="a",gen_ai_token_type="output"}"#, "9"),
        (r#"belay_cost_usd_total{ladder="chat",rung="a",estimated="false"}"#, "0.0000575"),
        (r#"belay_cost_usd_total{ladder="chat",rung="a",estimated="true"}"#, "1e-9"),
        (r#"belay_unpriced_attempts_total{rung="a"}"#, "1"),
    ] {
        assert_eq!(value(&page, series), expected, "{series}");
    }
    let bucket = |attempt: &str, le: &str| {
        let labels = format!(r#"ladder="chat",rung="a",attempt="{attempt}""#);
        let name = "belay_attempt_time_to_first_token_seconds_bucket";
        let line = page.lines().find(|line| {
            line.starts_with(name) && line.contains(&labels) && line.contains(&format!("\"{le}\""))
        });
        line.and_then(|line| line.rsplit_once(' ')).unwrap().1.to_owned()
    };
    assert_eq!([bucket("1", "0.25"), bucket("1", "0.5"), bucket("1", "+Inf")], ["0", "1", "1"]);
    assert_eq!([bucket("4+", "3"), bucket("4+", "5")], ["0", "1"]);
}

#[test]
fn money_is_summed_without_drift() {
    let metrics = Metrics::new(&names());
    let chat = Arc::from("chat");
    for _ in 0..1_000 {
        metrics.attempt(&chat, &AttemptEnd { cost: Ok(NanoUsd(100_000_001)), ..good() });
    }
    let cost = r#"belay_cost_usd_total{ladder="chat",rung="a",estimated="false"}"#;
    assert_eq!(value(&page(&metrics), cost), "100.000001");
}

#[test]
fn dials_are_told_apart_by_what_made_them_necessary() {
    let metrics = Metrics::new(&names());
    let chat: Arc<str> = Arc::from("chat");
    let after = |outcome, status| AttemptEnd { status, ..sample::attempt(outcome) };
    metrics.dialled(&chat, 1, AttemptKind::First, None);
    metrics.dialled(&chat, 2, AttemptKind::Hedge, None);
    metrics.dialled(
        &chat,
        2,
        AttemptKind::Retry,
        Some(&after(AttemptOutcome::RateLimited, Some(429))),
    );
    metrics.dialled(
        &chat,
        3,
        AttemptKind::Failover,
        Some(&after(AttemptOutcome::ServerError, Some(599))),
    );
    metrics.dialled(&chat, 4, AttemptKind::Failover, Some(&after(AttemptOutcome::Connect, None)));
    // A race's further runners go out beside the first; nothing made them necessary.
    metrics.dialled(&chat, 2, AttemptKind::Hedge, Some(&after(AttemptOutcome::Junk, Some(200))));
    metrics.hedge_won(&chat);
    let page = page(&metrics);
    let again = |kind: &str, outcome: &str, status: &str| {
        format!(
            r#"belay_retries_total{{ladder="chat",kind="{kind}",after_outcome="{outcome}",after_status="{status}"}}"#
        )
    };
    assert_eq!(value(&page, &again("retry", "rate_limited", "429")), "1");
    assert_eq!(value(&page, &again("failover", "server_error", "5xx")), "1");
    assert_eq!(value(&page, &again("failover", "connect", "none")), "1");
    assert_eq!(page.lines().filter(|line| line.starts_with("belay_retries_total")).count(), 3);
    let extra = |kind| format!(r#"belay_extra_attempts_total{{ladder="chat",kind="{kind}"}}"#);
    assert_eq!(
        ["hedge", "retry", "failover"].map(|kind| value(&page, &extra(kind))),
        ["2", "1", "2"]
    );
    assert_eq!(value(&page, r#"belay_hedges_started_total{ladder="chat"}"#), "2");
    assert_eq!(value(&page, r#"belay_hedges_won_total{ladder="chat"}"#), "1");
}

#[test]
fn a_request_is_counted_as_its_client_saw_it() {
    let metrics = Metrics::new(&names());
    let ok = RequestEnd {
        status: Some(200),
        ttft: Some(Duration::from_millis(300)),
        latency: Some(Duration::from_secs(2)),
        passed_over: vec![PassedRung {
            rung: "a".into(),
            place: 0,
            reason: PassedOver::Open,
            field: None,
        }],
        ..sample::request(RequestOutcome::Ok)
    };
    metrics.request(&ok);
    let gone = RequestEnd {
        outcome: RequestOutcome::Cancelled,
        cause: Some(Cause::ClientGone),
        status: None,
        ttft: None,
        passed_over: Vec::new(),
        ..ok
    };
    metrics.request(&gone);
    let fault = RequestEnd {
        outcome: RequestOutcome::Failed,
        cause: Some(Cause::RelayFault),
        status: Some(500),
        ..gone.clone()
    };
    metrics.request(&fault);
    let mut rejected = RequestEnd {
        outcome: RequestOutcome::Rejected,
        cause: None,
        status: Some(404),
        latency: None,
        ..gone
    };
    rejected.start.ladder = None;
    metrics.request(&rejected);
    metrics.rejected("model_not_found");
    let page = page(&metrics);
    for (series, expected) in [
        (r#"belay_requests_total{ladder="chat",outcome="ok",status="2xx"}"#, "1"),
        (r#"belay_requests_total{ladder="chat",outcome="cancelled",status="none"}"#, "1"),
        (r#"belay_requests_total{ladder="chat",outcome="failed",status="5xx"}"#, "1"),
        (r#"belay_requests_total{ladder="(none)",outcome="rejected",status="4xx"}"#, "1"),
        (r#"belay_cancelled_requests_total{ladder="chat",cause="client_gone"}"#, "1"),
        ("belay_relay_faults_total", "1"),
        (r#"belay_turned_away_requests_total{code="model_not_found"}"#, "1"),
        (r#"belay_passed_over_total{rung="a",reason="open"}"#, "1"),
        (r#"belay_request_time_to_first_token_seconds_count{ladder="chat"}"#, "1"),
        (r#"belay_request_duration_seconds_count{ladder="chat",outcome="ok"}"#, "1"),
        (r#"belay_request_duration_seconds_sum{ladder="chat",outcome="ok"}"#, "2.0"),
    ] {
        assert_eq!(value(&page, series), expected, "{series}");
    }
    let faults =
        page.contains(r#"belay_cancelled_requests_total{ladder="chat",cause="relay_fault"}"#);
    assert!(!faults, "a fault is no cancellation");
}

#[test]
fn gauges_show_the_moment_they_were_read_for() {
    let metrics = Metrics::new(&names());
    let rung = RungNow {
        rung: Arc::from("a"),
        state: BreakerState::Open,
        forced: OverrideMode::Demoted,
        weight: 0.5,
        cools_for: Duration::from_millis(2_500),
        held_for: Duration::from_secs(7),
        holds_asked: 3,
        reference: None,
    };
    let ladder = LadderNow {
        ladder: Arc::from("chat"),
        hedge_level: 19.1,
        retry_level: 20.0,
        refused_hedges: 4,
        refused_retries: 5,
    };
    let journal =
        JournalNow { ok: false, late: true, queue: 9, lag: Duration::from_secs(3), lost: 2 };
    let now = Now {
        rungs: vec![rung.clone()],
        ladders: vec![ladder],
        journal,
        log_lost: 8,
        workers_standing: 1,
        in_flight: 6,
        held: 77,
        draining: true,
        uptime: Duration::from_secs(60),
        config: ConfigNow { rev: 3, loaded_at: UnixMillis(1_793_534_400_500), ok: false },
    };
    let page = metrics.text(&now, Format::Prometheus).unwrap();
    for (series, expected) in [
        (r#"belay_breaker_state{rung="a",state="open"}"#, "1"),
        (r#"belay_breaker_state{rung="a",state="closed"}"#, "0"),
        (r#"belay_breaker_override{rung="a",override="demoted"}"#, "1"),
        (r#"belay_breaker_override{rung="a",override="auto"}"#, "0"),
        (r#"belay_rung_weight{rung="a"}"#, "0.5"),
        (r#"belay_breaker_cooldown_seconds{rung="a"}"#, "2.5"),
        (r#"belay_rung_hold_seconds{rung="a"}"#, "7.0"),
        (r#"belay_holds_asked_total{rung="a"}"#, "3"),
        (r#"belay_budget_tokens{ladder="chat",budget="hedge"}"#, "19.1"),
        (r#"belay_budget_refusals_total{ladder="chat",budget="retry"}"#, "5"),
        ("belay_in_flight_bytes", "77"),
        ("belay_journal_ok", "0"),
        ("belay_journal_late", "1"),
        ("belay_journal_queue_records", "9"),
        ("belay_journal_lag_seconds", "3.0"),
        ("belay_journal_lost_requests_total", "2"),
        ("belay_log_lost_lines_total", "8"),
        ("belay_workers_standing_still", "1"),
        ("belay_requests_in_flight", "6"),
        ("belay_draining", "1"),
        ("belay_uptime_seconds", "60.0"),
        ("belay_config_ok", "0"),
        ("belay_config_rev", "3"),
        ("belay_config_loaded_timestamp_seconds", "1793534400.0"),
    ] {
        assert_eq!(value(&page, series), expected, "{series}");
    }
    assert!(!page.contains("belay_rung_reference_p95_seconds{"), "nothing is known of it");
    let later =
        RungNow { state: BreakerState::Closed, reference: Some(Duration::from_secs(1)), ..rung };
    let page = metrics.text(&Now { rungs: vec![later], ..now }, Format::Prometheus).unwrap();
    assert_eq!(value(&page, r#"belay_breaker_state{rung="a",state="open"}"#), "0");
    assert_eq!(value(&page, r#"belay_rung_reference_p95_seconds{rung="a"}"#), "1.0");
}

#[test]
fn what_a_reload_took_away_stands_nowhere_and_what_it_counted_stays() {
    let metrics = Metrics::new(&names());
    let ladder: Arc<str> = "chat".into();
    metrics.attempt(&ladder, &good());
    let standing = |rung: &str| RungNow {
        rung: rung.into(),
        state: BreakerState::Open,
        forced: OverrideMode::Auto,
        weight: 1.0,
        cools_for: Duration::from_secs(9),
        held_for: Duration::ZERO,
        holds_asked: 0,
        reference: Some(Duration::from_secs(1)),
    };
    let now = Now { rungs: vec![standing("a"), standing("b")], ..Now::default() };
    assert!(metrics.text(&now, Format::Prometheus).unwrap().contains(r#"state{rung="a""#));
    let mut names = names();
    names.rungs[0].rung = "c".into();
    names.rungs[1].model = "another".into();
    names.ladders[0].rungs[0] = "c".into();
    metrics.begin(&names);
    let afresh = RungNow { reference: None, ..standing("b") };
    let now = Now { rungs: vec![afresh, standing("c")], ..Now::default() };
    let page = metrics.text(&now, Format::Prometheus).unwrap();
    for gone in [
        r#"breaker_state{rung="a""#,
        r#"breaker_override{rung="a""#,
        r#"weight{rung="a""#,
        r#"cooldown_seconds{rung="a""#,
        r#"reference_p95_seconds{rung="a""#,
        r#"reference_p95_seconds{rung="b""#,
        r#"info{rung="a""#,
        r#"model="m-b""#,
    ] {
        assert!(!page.contains(gone), "{gone} in\n{page}");
    }
    let ok = |rung| {
        format!("belay_attempts_total{{rung=\"{rung}\",kind=\"first\",outcome=\"ok\",cause=\"\"}}")
    };
    assert_eq!(value(&page, &ok("a")), "1");
    assert_eq!(value(&page, &ok("c")), "0", "seen before anything happens");
    assert_eq!(page.matches(r#"belay_rung_info{rung="b""#).count(), 1);
}

#[test]
fn a_providers_status_never_makes_a_series_of_its_own() {
    let words: BTreeSet<_> = (0..=u16::MAX).map(|status| status::word(Some(status))).collect();
    assert!(words.len() <= 25, "{words:?}");
    for (status, word) in [(429, "429"), (418, "4xx"), (200, "2xx"), (302, "3xx"), (999, "other")] {
        assert_eq!(status::word(Some(status)), word);
    }
    // What stands for a known status is that status.
    let exact: Vec<u16> = words.iter().filter_map(|word| word.parse().ok()).collect();
    assert!(exact.iter().all(|status| status::word(Some(*status)) == status.to_string()));
}

#[test]
fn the_format_is_what_the_scraper_asks_for() {
    let asked = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3";
    assert_eq!(Format::accepted(Some(asked)), Format::OpenMetrics);
    for other in [None, Some("*/*"), Some("text/plain"), Some("application/openmetrics-text;q=0")] {
        assert_eq!(Format::accepted(other), Format::Prometheus, "{other:?}");
    }
    let page = Metrics::new(&names()).text(&Now::default(), Format::OpenMetrics).unwrap();
    assert!(page.ends_with("# EOF\n"), "{page}");
}

#[test]
fn a_rungs_lines_stand_side_by_side_in_a_fixed_order() {
    let metrics = Metrics::new(&names());
    let page = page(&metrics);
    let rungs: Vec<_> =
        page.lines().filter(|line| line.starts_with("belay_passed_over_total")).collect();
    assert!(rungs.is_sorted_by_key(|line| line.contains("rung=\"b\"")), "{rungs:#?}");
}
