//! The gauges of this moment: breakers, holds, budgets, journal.
//!
//! They are not kept up to date, but read for each scrape: so they cannot be wrong, and cost nothing
//! between scrapes.

use super::Names;
use super::series::Series;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use shared::{BreakerState, OverrideMode, UnixMillis};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

type Level = Gauge<f64, AtomicU64>;

/// What `in_flight_bytes` counts.
const HELD: &str = "Bytes of requests, and of answers not yet passed on, that running requests \
                    hold. server.max_in_flight_bytes bounds them";

/// Where stalls are told apart, in seconds.
const STALL: [f64; 8] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The relay's gauges.
#[derive(Debug, Clone, Default)]
pub struct Now {
    /// Every rung.
    pub rungs: Vec<RungNow>,
    /// Every ladder.
    pub ladders: Vec<LadderNow>,
    /// The journal.
    pub journal: JournalNow,
    /// Lines of the log that could not be written, since the start.
    pub log_lost: u64,
    /// Workers that do not run.
    pub workers_standing: usize,
    /// Requests running.
    pub in_flight: usize,
    /// Bytes that they hold.
    pub held: usize,
    /// Whether it is on its way to stop.
    pub draining: bool,
    /// Since its start.
    pub uptime: Duration,
    /// The config in force.
    pub config: ConfigNow,
}

/// The config's gauges.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConfigNow {
    /// Counts the configs of this relay's life, from 1.
    pub rev: u64,
    /// When this one was put in force.
    pub loaded_at: UnixMillis,
    /// The newest one on disk is in force.
    pub ok: bool,
}

/// A rung's gauges.
#[derive(Debug, Clone)]
pub struct RungNow {
    /// Its name in the config.
    pub rung: Arc<str>,
    /// Its breaker's state.
    pub state: BreakerState,
    /// An operator's override.
    pub forced: OverrideMode,
    /// The probability of being first choice, 0 to 1.
    pub weight: f64,
    /// Until an open breaker has cooled down; zero otherwise.
    pub cools_for: Duration,
    /// Until its hold ends; zero if it is not held.
    pub held_for: Duration,
    /// How often a provider asked for a hold, since the start.
    pub holds_asked: u64,
    /// What its p95 usually is, if that is known.
    pub reference: Option<Duration>,
}

/// A ladder's gauges.
#[derive(Debug, Clone)]
pub struct LadderNow {
    /// Its name in the config.
    pub ladder: Arc<str>,
    /// Tokens in its hedge budget.
    pub hedge_level: f64,
    /// Tokens in its retry budget.
    pub retry_level: f64,
    /// Hedges that an empty bucket refused, since the start.
    pub refused_hedges: u64,
    /// Retries and failovers that an empty bucket refused, since the start.
    pub refused_retries: u64,
}

/// The journal's gauges.
#[derive(Debug, Clone, Copy, Default)]
pub struct JournalNow {
    /// Records are being written, and in time.
    pub ok: bool,
    /// Answers end without waiting for their record.
    pub late: bool,
    /// Records not yet written.
    pub queue: usize,
    /// Age of the oldest of them.
    pub lag: Duration,
    /// Requests whose record was lost, since the start.
    pub lost: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct OfRung {
    rung: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct InState {
    rung: Arc<str>,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Under {
    rung: Arc<str>,
    r#override: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct OfBudget {
    ladder: Arc<str>,
    budget: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

/// The gauges, and counters that others keep.
#[derive(Debug)]
pub(super) struct Gauges {
    states: Series<InState, Gauge>,
    overrides: Series<Under, Gauge>,
    weights: Series<OfRung, Level>,
    cooldowns: Series<OfRung, Level>,
    holds: Series<OfRung, Level>,
    holds_asked: Series<OfRung, Counter>,
    references: Series<OfRung, Level>,
    budgets: Series<OfBudget, Level>,
    refused: Series<OfBudget, Counter>,
    journal: JournalGauges,
    log_lost: Counter,
    workers_standing: Gauge,
    in_flight: Gauge,
    held: Gauge,
    draining: Gauge,
    uptime: Level,
    stalls: Histogram,
    config: ConfigGauges,
}

#[derive(Debug)]
struct ConfigGauges {
    ok: Gauge,
    rev: Gauge,
    loaded: Level,
}

impl ConfigGauges {
    fn new(registry: &mut Registry) -> Self {
        Self {
            ok: gauge(
                registry,
                "config_ok",
                "1 while the newest config file is in force; 0: it was refused, the one before it \
                 goes on, and the log says why",
            ),
            rev: gauge(registry, "config_rev", "Counts the configs since the start, from 1"),
            loaded: level(
                registry,
                "config_loaded_timestamp_seconds",
                "When the config in force was put in force, since 1970",
            ),
        }
    }

    fn set(&self, now: ConfigNow) {
        self.ok.set(i64::from(now.ok));
        self.rev.set(i64::try_from(now.rev).unwrap_or(i64::MAX));
        let whole_seconds = u32::try_from(now.loaded_at.0 / 1000).unwrap_or_default();
        self.loaded.set(f64::from(whole_seconds));
    }
}

#[derive(Debug)]
struct JournalGauges {
    ok: Gauge,
    late: Gauge,
    queue: Gauge,
    lag: Level,
    lost: Counter,
}

impl JournalGauges {
    fn new(registry: &mut Registry) -> Self {
        Self {
            ok: gauge(registry, "journal_ok", "1 while records are written in time"),
            late: gauge(
                registry,
                "journal_late",
                "1 while answers end without waiting for their record, since the disk is late",
            ),
            queue: gauge(registry, "journal_queue_records", "Records that wait to be written"),
            lag: level(
                registry,
                "journal_lag_seconds",
                "Age of the oldest record that waits to be written",
            ),
            lost: counter(registry, "journal_lost_requests", "Requests missing from the journal"),
        }
    }

    fn set(&self, now: JournalNow) {
        self.ok.set(i64::from(now.ok));
        self.late.set(i64::from(now.late));
        self.queue.set(count(now.queue));
        self.lag.set(now.lag.as_secs_f64());
        kept_elsewhere(&self.lost, now.lost);
    }
}

impl Gauges {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let standing = Self {
            states: Series::new(
                registry,
                "breaker_state",
                "1 for the state that a rung's circuit breaker is in, 0 for the others. An open one \
                 whose cool-down is over stays open until the next request probes it",
            ),
            overrides: Series::new(
                registry,
                "breaker_override",
                "1 for what an operator has set for a rung, 0 for the others; auto: nothing",
            ),
            weights: Series::new(
                registry,
                "rung_weight",
                "How often a closed rung is first choice where it stands first, 0 to 1. Under 1: \
                 it comes back from an open breaker, or was spared as a ladder's last rung",
            ),
            cooldowns: Series::new(
                registry,
                "breaker_cooldown_seconds",
                "Until an open circuit breaker lets a probe through; 0 if it is not open",
            ),
            holds: Series::new(
                registry,
                "rung_hold_seconds",
                "Until a rung may be called again that asked for a pause (429, Retry-After); 0 if \
                 it is not held",
            ),
            holds_asked: Series::new(
                registry,
                "holds_asked",
                "Answers of a provider that asked for a pause (429, or 503 with Retry-After)",
            ),
            references: Series::new(
                registry,
                "rung_reference_p95_seconds",
                "A rung's p95 time to first token when it is well; 1.25 times this is slow. Missing \
                 until 30 first tokens have been seen",
            ),
            budgets: Series::new(
                registry,
                "budget_tokens",
                "Tokens left in a ladder's hedge and retry budgets. Under 1: it is empty",
            ),
            refused: Series::new(
                registry,
                "budget_refusals",
                "Hedges, and retries and failovers, that an empty budget refused",
            ),
            journal: JournalGauges::new(registry),
            log_lost: counter(
                registry,
                "log_lost_lines",
                "Lines of the log that standard error did not take",
            ),
            workers_standing: gauge(
                registry,
                "workers_standing_still",
                "Workers that have not run for 2 s or longer: their requests wait",
            ),
            in_flight: gauge(registry, "requests_in_flight", "Requests running now"),
            held: gauge(registry, "in_flight_bytes", HELD),
            draining: gauge(registry, "draining", "1 while the relay is on its way to stop"),
            uptime: level(registry, "uptime_seconds", "Since the relay started"),
            stalls: stalls(registry),
            config: ConfigGauges::new(registry),
        };
        let build = Series::<Build, Gauge>::new(registry, "build_info", "Always 1: what runs here");
        build.of(Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        standing
    }

    pub(super) fn stood_still(&self, span: Duration) {
        self.stalls.observe(span.as_secs_f64());
    }

    pub(super) fn begin(&self, names: &Names) {
        for names in &names.rungs {
            self.holds_asked.begin(OfRung { rung: Arc::clone(&names.rung) });
        }
    }

    /// What has gone does not stand anywhere: a breaker that nobody has must not look
    /// open for ever. The counters stay, as what happened has happened.
    fn forget_others(&self, now: &Now) {
        let rung = |rung: &Arc<str>| now.rungs.iter().any(|now| now.rung == *rung);
        let ladder = |ladder: &Arc<str>| now.ladders.iter().any(|now| now.ladder == *ladder);
        self.states.retain(|labels| rung(&labels.rung));
        self.overrides.retain(|labels| rung(&labels.rung));
        for series in [&self.weights, &self.cooldowns, &self.holds] {
            series.retain(|labels| rung(&labels.rung));
        }
        // One that starts afresh under its old name has no reference either.
        self.references.retain(|labels| {
            now.rungs.iter().any(|now| now.rung == labels.rung && now.reference.is_some())
        });
        self.budgets.retain(|labels| ladder(&labels.ladder));
    }

    /// Takes over what was read for this moment.
    pub(super) fn set(&self, now: &Now) {
        self.forget_others(now);
        now.rungs.iter().for_each(|rung| self.set_rung(rung));
        for LadderNow { ladder, hedge_level, retry_level, refused_hedges, refused_retries } in
            &now.ladders
        {
            let of = |budget| OfBudget { ladder: Arc::clone(ladder), budget };
            self.budgets.of(of("hedge")).set(*hedge_level);
            self.budgets.of(of("retry")).set(*retry_level);
            kept_elsewhere(&self.refused.of(of("hedge")), *refused_hedges);
            kept_elsewhere(&self.refused.of(of("retry")), *refused_retries);
        }
        self.journal.set(now.journal);
        kept_elsewhere(&self.log_lost, now.log_lost);
        self.workers_standing.set(count(now.workers_standing));
        self.in_flight.set(count(now.in_flight));
        self.held.set(count(now.held));
        self.draining.set(i64::from(now.draining));
        self.uptime.set(now.uptime.as_secs_f64());
        self.config.set(now.config);
    }

    fn set_rung(&self, now: &RungNow) {
        let rung = || Arc::clone(&now.rung);
        let of = || OfRung { rung: rung() };
        for state in BreakerState::ALL {
            let labels = InState { rung: rung(), state: state.as_str() };
            self.states.of(labels).set(i64::from(*state == now.state));
        }
        for mode in OverrideMode::ALL {
            let labels = Under { rung: rung(), r#override: mode.as_str() };
            self.overrides.of(labels).set(i64::from(*mode == now.forced));
        }
        self.weights.of(of()).set(now.weight);
        self.cooldowns.of(of()).set(now.cools_for.as_secs_f64());
        self.holds.of(of()).set(now.held_for.as_secs_f64());
        kept_elsewhere(&self.holds_asked.of(of()), now.holds_asked);
        if let Some(reference) = now.reference {
            self.references.of(of()).set(reference.as_secs_f64());
        }
    }
}

/// Shows a count that the board or the journal keeps.
fn kept_elsewhere(counter: &Counter, total: u64) {
    counter.inner().store(total, Ordering::Relaxed);
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

fn gauge(registry: &mut Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::default();
    registry.register(name, help, gauge.clone());
    gauge
}

fn stalls(registry: &mut Registry) -> Histogram {
    let stalls = Histogram::new(STALL);
    registry.register(
        "worker_stall_seconds",
        "Times for which a worker stood still: all its requests waited meanwhile, and no provider \
         is blamed for it. Shorter ones than 0.05 s are not counted",
        stalls.clone(),
    );
    stalls
}

fn level(registry: &mut Registry, name: &str, help: &str) -> Level {
    let level = Level::default();
    registry.register(name, help, level.clone());
    level
}
