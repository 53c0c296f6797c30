//! From the config's words to the core's: what rungs and ladders are there.

use super::in_force::Domains;
use crate::config;
use dialect::matchers::{Field, Matcher};
use policy::{
    BreakerSpec, Capabilities, Degrade, HedgeDelay, HedgeSpec, LadderSpec, OnEmpty, OnRefusal,
    RetrySpec, RungIndex, RungSpec,
};
use shared::Dialect;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn matchers(provider: &config::Provider) -> Arc<[Matcher]> {
    let matchers = provider.matchers.iter().map(|matcher| Matcher {
        status: matcher.status,
        field: match matcher.field {
            config::MatchField::Code => Field::Code,
            config::MatchField::Type => Field::Type,
            config::MatchField::Message => Field::Message,
        },
        contains: matcher.contains.clone(),
        signature: matcher.signature,
    });
    matchers.collect()
}

fn breaker_spec(breaker: &config::Breaker) -> BreakerSpec {
    BreakerSpec {
        enabled: true,
        open_consecutive: breaker.open_consecutive,
        open_rate: breaker.open_rate,
        min_samples: breaker.min_samples,
        window: breaker.window,
        open_ttft_p95: breaker.open_ttft_p95,
        cooldown: breaker.cooldown,
        max_cooldown: breaker.max_cooldown,
        jitter: breaker.jitter,
        close_successes: breaker.close_successes,
    }
}

fn hedge_spec(hedge: &config::Hedge) -> HedgeSpec {
    HedgeSpec {
        enabled: hedge.enabled,
        delay: match hedge.delay {
            config::HedgeDelay::Auto => HedgeDelay::Auto,
            config::HedgeDelay::Fixed(delay) => HedgeDelay::Fixed(delay),
        },
        min: hedge.min,
        max: hedge.max,
        initial: hedge.initial,
        share: hedge.budget,
        burst: hedge.burst,
    }
}

/// The number by which the core knows a dialect.
pub(super) fn dialect_number(dialect: Dialect) -> u8 {
    let place = Dialect::ALL.iter().position(|one| *one == dialect);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(0)
}

/// The number by which the core tells models, and clients, apart.
pub(super) fn number_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// A rung's limits.
pub(super) fn rung_spec(rung: &config::Rung, dialect: Dialect, domains: &Domains) -> RungSpec {
    let free = rung.price.is_some_and(|price| price.input == 0 && price.output == 0);
    RungSpec {
        can: Capabilities {
            tools: rung.supports.tools,
            parallel_tools: rung.supports.parallel_tools,
            json_schema: rung.supports.json_schema,
            images: rung.supports.images,
            audio: rung.supports.audio,
            files: rung.supports.files,
        },
        model: number_of(&rung.model),
        context: rung.context,
        max_output: rung.max_output,
        ttft: rung.ttft,
        inter_token: rung.inter_token,
        pings_count: rung.pings_count,
        free,
        on_empty: match rung.on_empty {
            config::OnEmpty::Next => OnEmpty::Next,
            config::OnEmpty::End => OnEmpty::End,
            config::OnEmpty::ByPrice if free => OnEmpty::Next,
            config::OnEmpty::ByPrice => OnEmpty::End,
        },
        on_refusal: match rung.on_refusal {
            config::OnRefusal::End => OnRefusal::End,
            config::OnRefusal::Next => OnRefusal::Next,
        },
        hold_base: rung.hold_base,
        max_hold: rung.max_hold,
        domains: domains.of(&rung.domains),
        dialect: dialect_number(dialect),
        degrade: Degrade {
            json_schema: rung.degrade.json_schema,
            parallel_tools: rung.degrade.parallel_tools,
            max_output: rung.degrade.max_output,
        },
        breaker: breaker_spec(&rung.breaker),
    }
}

/// A ladder's order and policy; `places` are those of the config's rungs on the board.
pub(super) fn ladder_spec(
    ladder: &config::Ladder,
    places: &[RungIndex],
    early_headers: Duration,
) -> LadderSpec {
    let mut require = Capabilities::default();
    for capability in &ladder.require {
        match capability {
            config::Capability::Tools => require.tools = true,
            config::Capability::ParallelTools => require.parallel_tools = true,
            config::Capability::JsonSchema => require.json_schema = true,
            config::Capability::Images => require.images = true,
            config::Capability::Audio => require.audio = true,
            config::Capability::Files => require.files = true,
        }
    }
    LadderSpec {
        rungs: ladder.rungs.iter().filter_map(|&rung| places.get(rung).copied()).collect(),
        interactive: ladder.interactive,
        require,
        ttft: ladder.clocks.ttft,
        inter_token: ladder.clocks.inter_token,
        total: ladder.clocks.total,
        stream_total: ladder.clocks.stream_total,
        retries: ladder.retries,
        fail_fast: ladder.fail_fast,
        max_attempts: ladder.max_attempts,
        patience: ladder.patience,
        side_effects_none: ladder.side_effects_none,
        early_headers,
        hedge: hedge_spec(&ladder.hedge),
        retry: RetrySpec { share: ladder.retry_budget.budget, burst: ladder.retry_budget.burst },
        max_in_flight: ladder.max_in_flight,
        max_hedges: ladder.max_hedges,
        race: ladder.race,
        shed: ladder.shed,
        drill: ladder.drill,
    }
}
