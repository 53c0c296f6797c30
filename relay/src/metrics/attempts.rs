//! Metrics of attempts: outcomes, verdicts, costs.

use super::dollars::Dollars;
use super::series::Series;
use super::{LadderNames, Names, status};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use record::AttemptEnd;
use shared::{
    AttemptKind, AttemptOutcome, BreakerState, Cause, StreamVerdict, TokenVerdict, TransitionRule,
};
use std::sync::Arc;

/// Where times to first token are told apart, in seconds.
///
/// OpenTelemetry's advice for `gen_ai.server.time_to_first_token` from 10 ms on, since no
/// provider is nearer, and the places where Belay acts: the first hedge (2 s), the soft
/// clock (3 s), the hard clock (15 s).
pub(super) const TTFT: [f64; 19] = [
    0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 5.0, 7.5, 10.0,
    15.0, 30.0,
];

/// States that a breaker turns to, each with the rules that turn it there.
pub const TRANSITIONS: &[(BreakerState, &[TransitionRule])] = &[
    (
        BreakerState::Open,
        &[
            TransitionRule::BadRun,
            TransitionRule::BrokenRun,
            TransitionRule::BadShare,
            TransitionRule::Hanging,
            TransitionRule::SlowP95,
            TransitionRule::NeverAToken,
            TransitionRule::Auth,
            TransitionRule::ProbeBad,
            TransitionRule::Expired,
        ],
    ),
    (
        BreakerState::HalfOpen,
        &[
            TransitionRule::CooledDown,
            TransitionRule::LastResortGood,
            TransitionRule::Operator,
            TransitionRule::Expired,
            TransitionRule::KeyChanged,
        ],
    ),
    (
        BreakerState::Closed,
        &[
            TransitionRule::ProbesGood,
            TransitionRule::Operator,
            TransitionRule::Spared,
            TransitionRule::Rebased,
            TransitionRule::Expired,
        ],
    ),
];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct OfLadder {
    ladder: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct OfRung {
    rung: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Info {
    rung: Arc<str>,
    gen_ai_provider_name: Arc<str>,
    gen_ai_request_model: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Ended {
    rung: Arc<str>,
    kind: &'static str,
    outcome: &'static str,
    cause: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Extra {
    ladder: Arc<str>,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Again {
    ladder: Arc<str>,
    kind: &'static str,
    after_outcome: &'static str,
    after_status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct VerdictLabels {
    rung: Arc<str>,
    verdict: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct TransitionLabels {
    rung: Arc<str>,
    to: &'static str,
    rule: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Ttft {
    ladder: Arc<str>,
    rung: Arc<str>,
    attempt: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Tokens {
    rung: Arc<str>,
    gen_ai_token_type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Cost {
    ladder: Arc<str>,
    rung: Arc<str>,
    estimated: &'static str,
}

/// What attempts did.
#[derive(Debug)]
pub(super) struct Attempts {
    info: Series<Info, Gauge>,
    ended: Series<Ended, Counter>,
    extra: Series<Extra, Counter>,
    again: Series<Again, Counter>,
    hedges_started: Series<OfLadder, Counter>,
    hedges_won: Series<OfLadder, Counter>,
    token_verdicts: Series<VerdictLabels, Counter>,
    stream_verdicts: Series<VerdictLabels, Counter>,
    transitions: Series<TransitionLabels, Counter>,
    ttft: Series<Ttft, Histogram>,
    tokens: Series<Tokens, Counter>,
    cost: Series<Cost, Dollars>,
    unpriced: Series<OfRung, Counter>,
}

impl Attempts {
    pub(super) fn begin(&self, names: &Names) {
        // One line a rung: with two, a join on it would fail.
        self.info.retain(|_| false);
        for names in &names.rungs {
            let labels = Info {
                rung: Arc::clone(&names.rung),
                gen_ai_provider_name: Arc::clone(&names.provider),
                gen_ai_request_model: Arc::clone(&names.model),
            };
            self.info.of(labels).set(1);
        }
        names.rungs.iter().for_each(|names| self.begin_rung(&names.rung));
        names.ladders.iter().for_each(|names| self.begin_ladder(names));
    }

    pub(super) fn new(registry: &mut Registry) -> Self {
        Self {
            info: Series::new(
                registry,
                "rung_info",
                "Always 1: which provider and model a rung is. Join it on rung to group by model",
            ),
            ended: Series::new(
                registry,
                "attempts",
                "Calls to providers that have ended, by how; cause says why where outcome is \
                 cancelled. rate_limited is a 429. Kinds other than first appear when they happen",
            ),
            extra: Series::new(
                registry,
                "extra_attempts",
                "Calls beyond a request's first, when dialled: what rescue costs in calls",
            ),
            again: Series::new(
                registry,
                "retries",
                "Retries and failovers, when dialled, by how the attempt before them ended and \
                 the status it had (none: no response head)",
            ),
            hedges_started: Series::new(
                registry,
                "hedges_started",
                "Hedged requests: second attempts sent while the first was silent",
            ),
            hedges_won: Series::new(
                registry,
                "hedges_won",
                "Hedges that became the answer. Few of those started: hedging costs and does not help",
            ),
            token_verdicts: Series::new(
                registry,
                "first_token_verdicts",
                "What attempts told the circuit breaker of their rung by their first token: good, \
                 slow (the mark passed), bad (an error instead)",
            ),
            stream_verdicts: Series::new(
                registry,
                "stream_verdicts",
                "What attempts told the circuit breaker after their first token: good (a proper \
                 end) or bad (the stream broke)",
            ),
            transitions: Series::new(
                registry,
                "breaker_transitions",
                "Circuit breaker changes, by the state turned to and the rule that did it. \
                 spared: it should have opened, but is some ladder's last rung",
            ),
            ttft: Series::made_by(
                || Histogram::new(TTFT),
                registry,
                "attempt_time_to_first_token_seconds",
                "Dial to first token of one attempt (1 to 3, 4+: its number in its request). \
                 Attempts that brought no token are not in it",
            ),
            tokens: Series::new(
                registry,
                "tokens",
                "Tokens of all attempts, losers and failures included, as the provider counted \
                 them or as estimated",
            ),
            cost: Series::new(
                registry,
                "cost_usd",
                "What all attempts cost, losers and failures included, in US dollars. estimated: \
                 the provider sent no usage",
            ),
            unpriced: Series::new(
                registry,
                "unpriced_attempts",
                "Attempts whose cost is unknown, and so missing in belay_cost_usd_total: the rung \
                 has no price in the config, or there was no usage",
            ),
        }
    }

    fn begin_rung(&self, rung: &Arc<str>) {
        let ended = |outcome: AttemptOutcome, cause: Option<Cause>| {
            self.ended.begin(ended(rung, AttemptKind::First, outcome, cause));
        };
        for outcome in AttemptOutcome::ALL {
            match outcome {
                AttemptOutcome::Cancelled => {
                    Cause::ALL.iter().for_each(|cause| ended(*outcome, Some(*cause)));
                }
                // Written at the next start, into the journal alone.
                AttemptOutcome::Interrupted => {}
                _ => ended(*outcome, None),
            }
        }
        for verdict in TokenVerdict::ALL {
            self.token_verdicts.begin(verdict_labels(rung, verdict.as_str()));
        }
        for verdict in StreamVerdict::ALL {
            self.stream_verdicts.begin(verdict_labels(rung, verdict.as_str()));
        }
        for (to, rules) in TRANSITIONS {
            for rule in *rules {
                self.transitions.begin(transition_labels(rung, *to, *rule));
            }
        }
        for kind in ["input", "output"] {
            self.tokens.begin(tokens(rung, kind));
        }
        self.unpriced.begin(OfRung { rung: Arc::clone(rung) });
    }

    fn begin_ladder(&self, LadderNames { ladder, rungs }: &LadderNames) {
        self.hedges_started.begin(OfLadder { ladder: Arc::clone(ladder) });
        self.hedges_won.begin(OfLadder { ladder: Arc::clone(ladder) });
        for kind in [AttemptKind::Retry, AttemptKind::Failover, AttemptKind::Hedge] {
            self.extra.begin(extra(ladder, kind));
        }
        for rung in rungs {
            self.ttft.begin(ttft(ladder, rung, 1));
            for estimated in [false, true] {
                self.cost.begin(cost(ladder, rung, estimated));
            }
        }
    }

    pub(super) fn dialled(
        &self,
        ladder: &Arc<str>,
        n: u32,
        kind: AttemptKind,
        before: Option<&AttemptEnd>,
    ) {
        if n > 1 {
            self.extra.of(extra(ladder, kind)).inc();
        }
        if kind == AttemptKind::Hedge {
            self.hedges_started.of(OfLadder { ladder: Arc::clone(ladder) }).inc();
        }
        if let (AttemptKind::Retry | AttemptKind::Failover, Some(before)) = (kind, before) {
            let labels = Again {
                ladder: Arc::clone(ladder),
                kind: kind.as_str(),
                after_outcome: before.outcome.as_str(),
                after_status: status::word(before.status),
            };
            self.again.of(labels).inc();
        }
    }

    pub(super) fn hedge_won(&self, ladder: &Arc<str>) {
        self.hedges_won.of(OfLadder { ladder: Arc::clone(ladder) }).inc();
    }

    pub(super) fn ended(&self, ladder: &Arc<str>, end: &AttemptEnd) {
        let rung = &end.start.rung;
        self.ended.of(ended(rung, end.start.kind, end.outcome, end.cause)).inc();
        if let Some(verdict) = end.verdict {
            self.verdict(rung, verdict);
        }
        if let Some(verdict) = end.stream_verdict {
            self.stream_verdicts.of(verdict_labels(rung, verdict.as_str())).inc();
        }
        if let Some(span) = end.ttft {
            self.ttft.of(ttft(ladder, rung, end.start.n)).observe(span.as_secs_f64());
        }
        for (kind, count) in [("input", end.usage.input), ("output", end.usage.output)] {
            self.tokens.of(tokens(rung, kind)).inc_by(count.unwrap_or(0));
        }
        match end.cost {
            Ok(nanos) => self.cost.of(cost(ladder, rung, end.estimated)).add(nanos),
            Err(_) => {
                self.unpriced.of(OfRung { rung: Arc::clone(rung) }).inc();
            }
        }
    }

    pub(super) fn verdict(&self, rung: &Arc<str>, verdict: TokenVerdict) {
        self.token_verdicts.of(verdict_labels(rung, verdict.as_str())).inc();
    }

    pub(super) fn transition(&self, rung: &Arc<str>, to: BreakerState, rule: TransitionRule) {
        self.transitions.of(transition_labels(rung, to, rule)).inc();
    }
}

fn transition_labels(rung: &Arc<str>, to: BreakerState, rule: TransitionRule) -> TransitionLabels {
    TransitionLabels { rung: Arc::clone(rung), to: to.as_str(), rule: rule.as_str() }
}

fn ended(
    rung: &Arc<str>,
    kind: AttemptKind,
    outcome: AttemptOutcome,
    cause: Option<Cause>,
) -> Ended {
    Ended {
        rung: Arc::clone(rung),
        kind: kind.as_str(),
        outcome: outcome.as_str(),
        cause: cause.map_or("", Cause::as_str),
    }
}

fn extra(ladder: &Arc<str>, kind: AttemptKind) -> Extra {
    Extra { ladder: Arc::clone(ladder), kind: kind.as_str() }
}

fn verdict_labels(rung: &Arc<str>, verdict: &'static str) -> VerdictLabels {
    VerdictLabels { rung: Arc::clone(rung), verdict }
}

fn ttft(ladder: &Arc<str>, rung: &Arc<str>, n: u32) -> Ttft {
    let attempt = match n {
        0 | 1 => "1",
        2 => "2",
        3 => "3",
        _ => "4+",
    };
    Ttft { ladder: Arc::clone(ladder), rung: Arc::clone(rung), attempt }
}

fn tokens(rung: &Arc<str>, gen_ai_token_type: &'static str) -> Tokens {
    Tokens { rung: Arc::clone(rung), gen_ai_token_type }
}

fn cost(ladder: &Arc<str>, rung: &Arc<str>, estimated: bool) -> Cost {
    let estimated = if estimated { "true" } else { "false" };
    Cost { ladder: Arc::clone(ladder), rung: Arc::clone(rung), estimated }
}
