//! What became of requests, as their clients saw it.

use super::attempts::TTFT;
use super::series::Series;
use super::{Names, status};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use record::RequestEnd;
use shared::{Cause, PassedOver, RequestOutcome};
use std::sync::Arc;

/// Where durations are told apart, in seconds: OpenTelemetry's advice for
/// `gen_ai.server.request.duration`, and two steps further, since ladders that nobody
/// waits on may take longer.
const DURATION: [f64; 16] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84,
    327.68,
];

/// The ladder of a request that named none; no ladder can be called so.
const NO_LADDER: &str = "(none)";

/// Pairs of outcome and status class that are known to happen.
const KNOWN: [(RequestOutcome, &str); 14] = [
    (RequestOutcome::Ok, "2xx"),
    (RequestOutcome::Refused, "2xx"),
    (RequestOutcome::Refused, "4xx"),
    (RequestOutcome::Rejected, "4xx"),
    (RequestOutcome::NoCandidate, "4xx"),
    (RequestOutcome::NoCandidate, "5xx"),
    (RequestOutcome::Failed, "2xx"),
    (RequestOutcome::Failed, "4xx"),
    (RequestOutcome::Failed, "5xx"),
    (RequestOutcome::Deadline, "2xx"),
    (RequestOutcome::Deadline, "5xx"),
    (RequestOutcome::Cancelled, "none"),
    (RequestOutcome::Cancelled, "2xx"),
    (RequestOutcome::Cancelled, "5xx"),
];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Ended {
    ladder: Arc<str>,
    outcome: &'static str,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Cancelled {
    ladder: Arc<str>,
    cause: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct OfLadder {
    ladder: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Took {
    ladder: Arc<str>,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Passed {
    rung: Arc<str>,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Code {
    code: &'static str,
}

/// What became of requests.
#[derive(Debug)]
pub(super) struct Requests {
    ended: Series<Ended, Counter>,
    cancelled: Series<Cancelled, Counter>,
    faults: Counter,
    turned_away: Series<Code, Counter>,
    ttft: Series<OfLadder, Histogram>,
    duration: Series<Took, Histogram>,
    passed_over: Series<Passed, Counter>,
    no_ladder: Arc<str>,
}

impl Requests {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let counted = Self::register(registry);
        for code in ["invalid_api_key", "draining", "too_many_requests_running", "model_not_found"]
        {
            counted.turned_away.begin(Code { code });
        }
        for status in ["4xx", "5xx"] {
            counted.ended.begin(ended(&counted.no_ladder, RequestOutcome::Rejected, status));
        }
        counted
    }

    pub(super) fn begin(&self, names: &Names) {
        for names in &names.ladders {
            let ladder = || Arc::clone(&names.ladder);
            for (outcome, status) in KNOWN {
                self.ended.begin(ended(&names.ladder, outcome, status));
            }
            for cause in [Cause::ClientGone, Cause::ClientStalled, Cause::Drain] {
                let cause = cause.as_str();
                self.cancelled.begin(Cancelled { ladder: ladder(), cause });
            }
            self.ttft.begin(OfLadder { ladder: ladder() });
            for outcome in [RequestOutcome::Ok, RequestOutcome::Failed] {
                self.duration.begin(Took { ladder: ladder(), outcome: outcome.as_str() });
            }
        }
        for names in &names.rungs {
            for reason in PassedOver::ALL {
                self.passed_over.begin(passed(&names.rung, *reason));
            }
        }
    }

    fn register(registry: &mut Registry) -> Self {
        let faults = Counter::default();
        let counted = Self {
            ended: Series::new(
                registry,
                "requests",
                "Requests that have ended, by how and by the status class the client saw (none: it \
                 left before). failed with 2xx is a stream that broke under the client's eyes; \
                 ladder (none): turned away before one was found",
            ),
            cancelled: Series::new(
                registry,
                "cancelled_requests",
                "Requests cut short: the client went, stopped reading, or the relay was stopping",
            ),
            turned_away: Series::new(
                registry,
                "turned_away_requests",
                "Requests that the relay refused by itself, by the error code the client got. \
                 invalid_api_key is in no other metric and not in the journal",
            ),
            ttft: Series::made_by(
                || Histogram::new(TTFT),
                registry,
                "request_time_to_first_token_seconds",
                "Accept to first token as clients of streams saw it, all rescue included. Requests \
                 that never got a token are not in it: see belay_requests_total",
            ),
            duration: Series::made_by(
                || Histogram::new(DURATION),
                registry,
                "request_duration_seconds",
                "Accept to end of a request, streams and whole answers alike",
            ),
            passed_over: Series::new(
                registry,
                "passed_over",
                "Rungs left out of a request's walk, by reason: open (its breaker), hold (a \
                 Retry-After), forced (an operator), no_slot (half-open, its probe is out), or the \
                 request does not fit: capability, context, max_output",
            ),
            faults: faults.clone(),
            no_ladder: NO_LADDER.into(),
        };
        registry.register(
            "relay_faults",
            "Requests that failed by the relay's own fault. Should be 0; the log says more",
            faults,
        );
        counted
    }

    pub(super) fn ended(&self, end: &RequestEnd) {
        let ladder = end.start.ladder.as_ref().unwrap_or(&self.no_ladder);
        self.ended.of(ended(ladder, end.outcome, status::class(end.status))).inc();
        match end.cause {
            Some(Cause::RelayFault) => {
                self.faults.inc();
            }
            Some(cause) => {
                let labels = Cancelled { ladder: Arc::clone(ladder), cause: cause.as_str() };
                self.cancelled.of(labels).inc();
            }
            None => {}
        }
        if let Some(span) = end.seen_ttft() {
            self.ttft.of(OfLadder { ladder: Arc::clone(ladder) }).observe(span.as_secs_f64());
        }
        if let Some(span) = end.latency {
            let outcome = end.outcome.as_str();
            let labels = Took { ladder: Arc::clone(ladder), outcome };
            self.duration.of(labels).observe(span.as_secs_f64());
        }
        for passed_rung in &end.passed_over {
            self.passed_over.of(passed(&passed_rung.rung, passed_rung.reason)).inc();
        }
    }

    pub(super) fn rejected(&self, code: &'static str) {
        self.turned_away.of(Code { code }).inc();
    }
}

fn ended(ladder: &Arc<str>, outcome: RequestOutcome, status: &'static str) -> Ended {
    Ended { ladder: Arc::clone(ladder), outcome: outcome.as_str(), status }
}

fn passed(rung: &Arc<str>, reason: PassedOver) -> Passed {
    Passed { rung: Arc::clone(rung), reason: reason.as_str() }
}
