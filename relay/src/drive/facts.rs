//! The config's part of the board: rungs, ladders and providers, to be filled in with the moment's
//! numbers. Made on request, from
//! the config that is in force then.

use super::in_force::InForce;
use super::memory::{account, key_tag};
use crate::config::{Config, LadderConfig, ProviderConfig, RungConfig};
use policy::{LadderIndex, RungIndex};
use shared::admin::board::{
    BudgetState, HealthState, KeyState, Limits, ProviderState, RungNow, RungPast, Step, Users,
};
use shared::admin::{LadderState, RungState};
use shared::{BreakerState, OrderSource, UnixMillis};

/// What does not move while a config is in force.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) name: Option<String>,
    pub(super) env: Option<String>,
    pub(super) protected: bool,
    pub(super) providers: Vec<ProviderState>,
    /// Each with its place on the board.
    pub(super) rungs: Vec<(RungIndex, RungState)>,
    /// The same.
    pub(super) ladders: Vec<(LadderIndex, LadderState)>,
}

impl Facts {
    pub(super) fn of(in_force: &InForce) -> Self {
        let InForce { config, since, .. } = in_force;
        let rungs = in_force.rungs.iter().filter_map(|known| {
            let settings = config.rungs.iter().find(|rung| rung.name == *known.name)?;
            Some((known.index, rung(settings, config)))
        });
        let ladders = in_force
            .ladders
            .iter()
            .zip(&config.ladders)
            .map(|(known, settings)| (known.index, ladder(settings, config, in_force.rev)));
        Self {
            name: config.admin.name.clone(),
            env: config.admin.env.clone(),
            protected: config.admin.protected,
            providers: config.providers.iter().map(|one| provider(one, *since)).collect(),
            rungs: rungs.collect(),
            ladders: ladders.collect(),
        }
    }
}

fn provider(provider: &ProviderConfig, at: UnixMillis) -> ProviderState {
    let key = provider.api_key.as_ref().map(|key| KeyState {
        source: key.source().map(str::to_owned),
        loaded_at: at,
        tag: key_tag(&account(provider)).to_string(),
    });
    let dialect = provider.dialect.as_str().to_owned();
    ProviderState { name: provider.name.clone(), dialect, key }
}

fn rung(rung: &RungConfig, config: &Config) -> RungState {
    let provider = config.providers.get(rung.provider);
    let concurrent = provider.and_then(|provider| provider.max_connections);
    RungState {
        name: rung.name.clone(),
        provider: provider.map(|provider| provider.name.clone()).unwrap_or_default(),
        model: rung.model.clone(),
        region: rung.region.clone(),
        domains: rung.domains.clone(),
        price: rung.price,
        supports: rung.spec.can.list().map(|one| one.as_str().to_owned()).collect(),
        context: rung.spec.context,
        limits: Limits { rps: None, concurrent: concurrent.map(|most| most as u64) },
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
        now: RungNow::default(),
        past: RungPast::default(),
    }
}

fn ladder(ladder: &LadderConfig, config: &Config, config_rev: u64) -> LadderState {
    let names = ladder.spec.rungs.iter().filter_map(|rung| config.rungs.get(rung.0));
    let order: Vec<String> = names.map(|rung| rung.name.clone()).collect();
    let step = |rung: &String| Step {
        rung: rung.clone(),
        share: None,
        first_share: None,
        cost_nps: 0,
        usual_share: None,
        passed: std::collections::BTreeMap::new(),
    };
    LadderState {
        name: ladder.name.clone(),
        aliases: ladder.aliases.clone(),
        interactive: ladder.spec.interactive,
        steps: order.iter().map(step).collect(),
        config_order: order.clone(),
        order,
        source: OrderSource::Config.into(),
        version: 0,
        by: None,
        reason: None,
        at: None,
        until_at: None,
        config_rev,
        users: Users::default(),
        usual: None,
        spark: None,
        budget: BudgetState::default(),
    }
}
