//! What the config says of rungs, ladders and providers, in the shape in which
//! watchers are told: made once, filled in with the moment's numbers when asked.

use super::memory::key_tag;
use crate::config::{Capability, Config, Dialect, Ladder, Provider, Rung};
use shared::UnixMillis;
use shared::admin::board::{
    BudgetState, HealthState, KeyState, Limits, ProviderState, RungNow, RungPast, Step, Users,
};
use shared::admin::{ConfigState, LadderState, RungState};
use std::path::PathBuf;

/// What does not move while a config is in force.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) name: Option<String>,
    pub(super) env: Option<String>,
    pub(super) protected: bool,
    pub(super) config: ConfigState,
    pub(super) providers: Vec<ProviderState>,
    pub(super) rungs: Vec<RungState>,
    pub(super) ladders: Vec<LadderState>,
    /// The journal's file, whose disk is looked at.
    pub(super) journal: PathBuf,
}

impl Facts {
    pub(super) fn of(config: &Config, at: UnixMillis) -> Self {
        Self {
            name: config.admin.name.clone(),
            env: config.admin.env.clone(),
            protected: config.admin.protected,
            config: ConfigState { rev: 1, loaded_at: at, error: None },
            providers: config.providers.iter().map(|one| provider(one, at)).collect(),
            rungs: config.rungs.iter().map(|one| rung(one, config)).collect(),
            ladders: config.ladders.iter().map(|one| ladder(one, config)).collect(),
            journal: config.journal.path.clone(),
        }
    }
}

fn provider(provider: &Provider, at: UnixMillis) -> ProviderState {
    let key = provider.api_key.as_ref().map(|key| KeyState {
        source: key.source().map(str::to_owned),
        loaded_at: at,
        tag: key_tag(provider).to_string(),
    });
    let dialect = match provider.dialect {
        Dialect::OpenaiChat => "openai-chat",
    };
    ProviderState { name: provider.name.clone(), dialect: dialect.to_owned(), key }
}

fn rung(rung: &Rung, config: &Config) -> RungState {
    let all = [
        Capability::Tools,
        Capability::ParallelTools,
        Capability::JsonSchema,
        Capability::Images,
        Capability::Audio,
        Capability::Files,
    ];
    let able = all.into_iter().filter(|one| rung.supports.has(*one));
    let provider = config.providers.get(rung.provider);
    let concurrent = provider.and_then(|provider| provider.max_connections);
    RungState {
        name: rung.name.clone(),
        provider: provider.map(|provider| provider.name.clone()).unwrap_or_default(),
        model: rung.model.clone(),
        region: rung.region.clone(),
        domains: rung.domains.clone(),
        price: rung.price,
        supports: able.map(|one| one.as_str().to_owned()).collect(),
        context: rung.context,
        limits: Limits { rps: None, concurrent: concurrent.map(|most| most as u64) },
        health: HealthState {
            state: "closed".to_owned(),
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
        now: RungNow::default(),
        past: RungPast::default(),
    }
}

fn ladder(ladder: &Ladder, config: &Config) -> LadderState {
    let names = ladder.rungs.iter().filter_map(|rung| config.rungs.get(*rung));
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
        interactive: ladder.interactive,
        steps: order.iter().map(step).collect(),
        config_order: order.clone(),
        order,
        source: "config".to_owned(),
        version: 0,
        by: None,
        reason: None,
        at: None,
        until_at: None,
        config_rev: 1,
        users: Users::default(),
        usual: None,
        spark: None,
        budget: BudgetState::default(),
    }
}
