//! Boards to try screens and diagnoses on: calm ones, which a test then makes sick.
//!
//! Both programs draw boards and test what they draw; neither should have to spell out
//! a hundred fields for it. Nothing outside tests has a use for this.

use super::ConfigState;
use super::board::{
    Board, BudgetState, DrainState, FleetState, HealthCause, HealthState, JournalState,
    LadderState, Limits, OverrideState, ProbeState, ProviderState, RelayState, Role, RungNow,
    RungPast, RungState, Step, Users, You,
};
use super::{AttemptRow, RequestRow, Tried};
use crate::{
    AttemptKind, AttemptOutcome, BreakerState, OrderSource, OverrideMode, Price, RequestId,
    RequestOutcome, TransitionRule, UnixMillis,
};
use std::collections::BTreeMap;

/// 2025-11-29T03:04:11Z, the night that all samples play in.
pub const NIGHT: UnixMillis = UnixMillis(1_764_385_451_000);

/// What every rung takes: three dollars for a million tokens in, fifteen for a million out.
pub const PRICE: Price =
    Price { input: 3_000_000_000, cached_input: None, cache_write: None, output: 15_000_000_000 };

/// So many seconds before [`NIGHT`]; after it if negative.
#[must_use]
pub const fn before(seconds: i64) -> UnixMillis {
    UnixMillis(NIGHT.0 - seconds * 1000)
}

/// A board on which all is well, with these ladders; the first rung of each carries it.
#[must_use]
pub fn calm(ladders: &[(&str, &[&str])]) -> Board {
    let mut rungs: Vec<RungState> = Vec::new();
    for name in ladders.iter().flat_map(|(_, names)| *names) {
        if rungs.iter().all(|known| known.name != **name) {
            rungs.push(rung(name));
        }
    }
    let provider = |rung: &RungState| ProviderState {
        name: rung.provider.clone(),
        dialect: "openai-chat".to_owned(),
        key: None,
    };
    Board {
        seq: 7,
        at: NIGHT,
        ladders: ladders.iter().map(|(name, rungs)| ladder(name, rungs)).collect(),
        providers: rungs.iter().map(provider).collect(),
        rungs,
        relay: relay("eu-1"),
    }
}

/// A relay that is well.
#[must_use]
pub fn relay(name: &str) -> RelayState {
    RelayState {
        name: Some(name.to_owned()),
        env: Some("PROD".to_owned()),
        protected: false,
        version: "0.1.0".to_owned(),
        boot: "b1".to_owned(),
        started_at: before(9 * 86_400),
        you: You { name: Some("ana".to_owned()), role: Role::Operator },
        operators: Vec::new(),
        config: ConfigState { rev: 1, loaded_at: before(86_400), error: None },
        journal: JournalState {
            ok: true,
            queue: 0,
            lost: 0,
            lag_ms: 3,
            disk_free_bytes: Some(9_000_000_000),
            error: None,
        },
        fleet: FleetState { ok: true, ..FleetState::default() },
        drain: DrainState { on: false, streams: 0, until_at: None },
        streams: 37,
        waiting: 3,
        rss_bytes: Some(90_000_000),
    }
}

/// A rung that is well, at a provider called `at-` and its name.
#[must_use]
pub fn rung(name: &str) -> RungState {
    RungState {
        name: name.to_owned(),
        provider: format!("at-{name}"),
        model: format!("{name}-5"),
        region: None,
        domains: vec![format!("at-{name}")],
        price: Some(PRICE),
        supports: Vec::new(),
        context: None,
        limits: Limits::default(),
        health: HealthState {
            state: BreakerState::Closed.into(),
            cause: None,
            since_at: None,
            sick_since_at: None,
            opens_10m: 0,
            generation: 0,
            probe: None,
            cooldown_ms: None,
            weight: 1.0,
            floor: false,
            hold: None,
            hard_down: None,
        },
        forced: None,
        override_version: Some(0),
        now: RungNow {
            calls: 270,
            good: 270,
            outcomes: BTreeMap::from([("ok".to_owned(), 270)]),
            rps: 9.0,
            ttft_p50_ms: Some(600),
            ttft_p95_ms: Some(1_100),
            mark_ms: Some(1_400),
            ref_p95_ms: Some(1_120),
            ..RungNow::default()
        },
        past: RungPast::default(),
    }
}

/// A ladder whose users are well.
#[must_use]
pub fn ladder(name: &str, rungs: &[&str]) -> LadderState {
    let order: Vec<String> = rungs.iter().map(|&rung| rung.to_owned()).collect();
    let step = |(place, rung): (usize, &String)| Step {
        rung: rung.clone(),
        share: Some(if place == 0 { 1.0 } else { 0.0 }),
        first_share: None,
        cost_nps: 0,
        usual_share: None,
        passed: BTreeMap::new(),
    };
    LadderState {
        name: name.to_owned(),
        aliases: Vec::new(),
        interactive: true,
        steps: order.iter().enumerate().map(step).collect(),
        config_order: order.clone(),
        order,
        source: OrderSource::Config.into(),
        version: 0,
        by: None,
        reason: None,
        at: None,
        until_at: None,
        config_rev: 1,
        users: users(),
        usual: Some(Users { ttft_p95_ms: Some(1_200), cost_nps: 3_900_000, ..users() }),
        spark: None,
        budget: BudgetState::default(),
    }
}

fn users() -> Users {
    Users {
        rps: 9.1,
        ok: 546,
        ttft_p50_ms: Some(600),
        ttft_p95_ms: Some(1_100),
        cost_nps: 3_900_000,
        ..Users::default()
    }
}

/// Opens a rung's breaker: so many seconds ago, after five slow calls in a row.
pub fn open(rung: &mut RungState, seconds: i64) {
    rung.health.state = BreakerState::Open.into();
    rung.health.since_at = Some(before(seconds));
    rung.health.sick_since_at = Some(before(seconds));
    rung.health.cause = Some(HealthCause {
        rule: TransitionRule::BadRun.into(),
        text: TransitionRule::BadRun.text().to_owned(),
        slow: Some(5),
        bad: 0,
        n: 5,
        outcome: None,
        status: None,
        code: None,
    });
    rung.health.probe = Some(ProbeState { at: Some(before(-4)), running: false, good: 0, need: 2 });
    rung.now = RungNow { mark_ms: Some(1_400), ..RungNow::default() };
}

/// Puts an operator's hand on a rung: ben's, 198 s ago, with 11:42 left.
pub fn force(rung: &mut RungState, mode: OverrideMode) {
    rung.override_version = Some(3);
    rung.forced = Some(OverrideState {
        mode: mode.into(),
        reason: Some("hangs, ticket 4711".to_owned()),
        by: Some("ben".to_owned()),
        at: Some(before(198)),
        until_at: Some(before(-702)),
        version: 3,
        action: Some("act_1".to_owned()),
        fleet_shared: false,
        draining: 0,
    });
}

/// Moves a ladder's answers: each rung's share, in its order.
pub fn shares(ladder: &mut LadderState, shares: &[f64]) {
    for (step, share) in ladder.steps.iter_mut().zip(shares) {
        step.share = Some(*share);
    }
}

/// A request that was answered by `sol` in time.
#[must_use]
pub fn request(id: RequestId, at: UnixMillis) -> RequestRow {
    RequestRow {
        id,
        at,
        client: Some("web".to_owned()),
        ladder: Some("chat".to_owned()),
        model: Some("chat".to_owned()),
        stream: true,
        outcome: Some(RequestOutcome::Ok),
        cause: None,
        status: Some(200),
        answered_by: Some("sol".to_owned()),
        attempts_made: 1,
        hedged: false,
        ttft_ms: Some(640),
        latency_ms: Some(9_800),
        input_tokens: Some(812),
        output_tokens: Some(340),
        cost_usd: Some(0.0041),
        bytes: 9_000,
        events: 340,
        trail: vec![Tried {
            rung: "sol".to_owned(),
            outcome: Some(AttemptOutcome::Ok),
            ttft_ms: Some(630),
            latency_ms: Some(9_790),
        }],
    }
}

/// An attempt that was dialled at [`NIGHT`] and of which nothing was measured.
#[must_use]
pub fn attempt(n: u32, rung: &str, kind: AttemptKind, outcome: AttemptOutcome) -> AttemptRow {
    AttemptRow {
        n,
        rung: rung.to_owned(),
        kind,
        probe: false,
        outcome: Some(outcome),
        cause: None,
        detail: None,
        status: None,
        verdict: None,
        stream_verdict: None,
        at: NIGHT,
        headers_ms: None,
        ttft_ms: None,
        latency_ms: None,
        events: 0,
        bytes: 0,
        input_tokens: None,
        output_tokens: None,
        cached_tokens: None,
        reasoning_tokens: None,
        estimated: false,
        cost_usd: None,
        no_cost: None,
        cache_write_tokens: None,
        left_out: Vec::new(),
    }
}
