//! A config made ready for use: ladders, rungs and providers by name.
//!
//! There is one in force at a time, and a reload puts another one in its place.
//! A request takes it once, when it comes, and keeps it to its end: what it
//! began with is what it ends with. So none of this ever changes.

use super::memory::{Identity, account, fingerprint};
use super::numbers::{dialect_number, number_of};
use crate::config::{self, Config};
use crate::live::Live;
use crate::provider::{CannotBuild, Provider};
use dialect::errors::Matcher;
use policy::operator;
use policy::{LadderIndex, LadderSpec, Placed, RungIndex, RungSpec, places};
use shared::{Price, UnixMillis};
use std::collections::HashMap;
use std::sync::Arc;

/// A ladder by its name.
#[derive(Debug)]
pub struct Ladder {
    /// What clients send as `model`.
    pub name: Arc<str>,
    /// Its place on the board, for the relay's life.
    pub index: LadderIndex,
    /// Its order and policy.
    pub spec: Arc<LadderSpec>,
    /// Whether all its rungs serve one model, so that their embeddings can be mixed.
    pub one_model: bool,
    /// Variants of its system prompt.
    pub prompts: Vec<Prompt>,
    /// The variant for requests that name none, as a place among `prompts`.
    pub prompt: Option<usize>,
    /// Whether whole answers are checked against the schema that was asked for.
    pub validate: bool,
    /// The share of requests answered below rung one that are kept whole; 0: none.
    pub capture: f64,
}

/// A variant of a ladder's system prompt.
#[derive(Debug)]
pub struct Prompt {
    /// What clients send in `x-belay-prompt`.
    pub name: String,
    /// The text of each rung that has one of its own.
    texts: HashMap<RungIndex, Secret>,
}

impl Prompt {
    /// What `rung` gets instead of the client's own system prompt.
    #[must_use]
    pub fn text(&self, rung: RungIndex) -> Option<&str> {
        self.texts.get(&rung).map(|Secret(text)| text.as_str())
    }
}

/// A prompt, which no log may show.
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a prompt")
    }
}

/// A rung by its name.
#[derive(Debug)]
pub struct Rung {
    /// Its name.
    pub name: Arc<str>,
    /// Its place on the board, for the relay's life; not its place in the config.
    pub index: RungIndex,
    /// The model's name at the provider.
    pub model: String,
    /// Whom to call.
    pub provider: Arc<Provider>,
    /// The operator's own matchers for its provider's errors.
    pub matchers: Arc<[Matcher]>,
    /// Its price, if known.
    pub price: Option<Price>,
    /// Whether it is asked for usage.
    pub ask_usage: bool,
    /// What the walk goes by.
    pub spec: RungSpec,
    /// Its provider's name in the config.
    pub provider_name: Arc<str>,
    /// What it shares with others.
    pub domains: Arc<[String]>,
}

/// A config in force.
#[derive(Debug)]
pub struct InForce {
    /// Counts the configs of this relay's life, from 1.
    pub rev: u64,
    /// Since when.
    pub since: UnixMillis,
    /// The config as it was read.
    pub config: Config,
    /// The ladders, in the config's order.
    pub ladders: Vec<Arc<Ladder>>,
    /// The rungs, in the config's order.
    pub rungs: Vec<Arc<Rung>>,
    /// Browser origins that may call.
    pub origins: Arc<[String]>,
    /// What the rules for operators know of it.
    pub(super) named: operator::Names,
    providers: Vec<Arc<Provider>>,
    names: Vec<(String, usize)>,
    /// By their place on the board; those that have gone left theirs empty.
    by_place: Vec<Option<Arc<Rung>>>,
}

impl InForce {
    /// The ladder that a client's `model` names, as its place in the config.
    #[must_use]
    pub fn ladder(&self, model: &str) -> Option<usize> {
        self.names.iter().find(|(name, _)| name == model).map(|(_, index)| *index)
    }

    /// The rung at this place of the board; `None` if it has gone.
    #[must_use]
    pub fn rung(&self, index: RungIndex) -> Option<&Arc<Rung>> {
        self.by_place.get(index.0)?.as_ref()
    }

    /// The ladder at this place of the board; `None` if it has gone.
    #[must_use]
    pub fn ladder_at(&self, index: LadderIndex) -> Option<&Arc<Ladder>> {
        self.ladders.iter().find(|ladder| ladder.index == index)
    }

    /// Makes room for its rungs and ladders among the live numbers; those of others stay.
    pub(super) fn make_room(&self, live: &Live) {
        let on = |ladder: &Arc<Ladder>| {
            (ladder.index.0, ladder.spec.rungs.iter().map(|rung| rung.0).collect())
        };
        let ladders: Vec<_> = self.ladders.iter().map(on).collect();
        live.reshape(self.by_place.len(), &ladders);
    }

    /// Whether nothing differs from `before`, what its files hold included.
    pub(super) fn is_same_as(&self, before: &Self) -> bool {
        let mut pairs = self.providers.iter().zip(&before.providers);
        self.config == before.config && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// Makes this thread's clients ready, so that its first request need not.
    pub fn warm_up(&self) {
        self.rungs.iter().for_each(|rung| rung.provider.warm_up());
    }
}

/// Every domain that was ever named, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Domains(HashMap<String, u32>);

impl Domains {
    fn learn(&mut self, rungs: &[config::RungConfig]) {
        for name in rungs.iter().flat_map(|rung| &rung.domains) {
            let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            self.0.entry(name.clone()).or_insert(next);
        }
    }

    pub(super) fn of(&self, names: &[String]) -> Vec<u32> {
        names.iter().filter_map(|name| self.0.get(name).copied()).collect()
    }
}

/// Who was ever given a place on the board.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// Name and fingerprint of each rung.
    rungs: Vec<(Arc<str>, Arc<str>)>,
    /// Of its account, as it was last in force.
    accounts: Vec<String>,
    /// The place that a name had last.
    last: HashMap<Arc<str>, RungIndex>,
    ladders: Vec<Arc<str>>,
    domains: Domains,
}

/// A prepared config, and what board and memory need of it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) in_force: InForce,
    pub(super) places: Places,
    pub(super) rungs: Vec<Placed>,
    pub(super) identities: Vec<(RungIndex, Identity)>,
}

/// Makes `config` ready, to follow `before`. Changes nothing.
///
/// # Errors
/// A provider whose settings no client can be built from.
pub(super) fn prepare(
    config: Config,
    mut places: Places,
    before: Option<&InForce>,
) -> Result<Prepared, CannotBuild> {
    places.domains.learn(&config.rungs);
    let providers = providers(&config, before)?;
    let (placed, identities) = place_rungs(&config, &mut places);
    let mut rungs = Vec::new();
    let mut by_place = vec![None; places.rungs.len()];
    for (settings, place) in config.rungs.iter().zip(&placed) {
        let provider =
            providers.get(settings.provider).zip(config.providers.get(settings.provider));
        let Some((provider, configured)) = provider else { continue };
        let rung = Arc::new(Rung {
            name: settings.name.as_str().into(),
            index: place.at,
            model: settings.model.clone(),
            provider: Arc::clone(provider),
            matchers: configured.matchers.as_slice().into(),
            price: settings.price,
            ask_usage: settings.stream_options,
            spec: place.spec.clone(),
            provider_name: configured.name.as_str().into(),
            domains: settings.domains.as_slice().into(),
        });
        if let Some(slot) = by_place.get_mut(place.at.0) {
            *slot = Some(Arc::clone(&rung));
        }
        rungs.push(rung);
    }
    let ladders = place_ladders(&config, &mut places, &placed);
    let named = config.ladders.iter().enumerate().flat_map(|(index, ladder)| {
        std::iter::once(&ladder.name).chain(&ladder.aliases).map(move |n| (n.clone(), index))
    });
    let in_force = InForce {
        rev: before.map_or(1, |before| before.rev + 1),
        since: crate::wall::unix(),
        names: named.collect(),
        named: operator_names(&rungs, &ladders),
        origins: config.server.cors_origins.clone().into(),
        ladders,
        rungs,
        providers,
        by_place,
        config,
    };
    Ok(Prepared { in_force, places, rungs: placed, identities })
}

fn operator_names(rungs: &[Arc<Rung>], ladders: &[Arc<Ladder>]) -> operator::Names {
    let rung = |rung: &Arc<Rung>| operator::RungName {
        name: rung.name.to_string(),
        index: rung.index,
        provider: rung.provider_name.to_string(),
        domains: rung.domains.to_vec(),
    };
    let ladder = |ladder: &Arc<Ladder>| operator::LadderName {
        name: ladder.name.to_string(),
        index: ladder.index,
        rungs: ladder.spec.rungs.clone(),
    };
    operator::Names {
        rungs: rungs.iter().map(rung).collect(),
        ladders: ladders.iter().map(ladder).collect(),
    }
}

/// The providers, with those that are the same as before: their connections stay.
fn providers(config: &Config, before: Option<&InForce>) -> Result<Vec<Arc<Provider>>, CannotBuild> {
    let known = before.map(|before| before.providers.as_slice()).unwrap_or_default();
    let one = |settings: &config::ProviderConfig| {
        let same = known.iter().find(|provider| provider.name() == settings.name);
        match same {
            Some(provider) => Provider::following(provider, settings),
            None => Ok(Arc::new(Provider::new(settings)?)),
        }
    };
    config.providers.iter().map(one).collect()
}

fn place_rungs(config: &Config, places: &mut Places) -> (Vec<Placed>, Vec<(RungIndex, Identity)>) {
    let with_provider = config.rungs.iter().filter_map(|rung| {
        let provider = config.providers.get(rung.provider)?;
        let known_as = (Arc::from(rung.name.as_str()), fingerprint(provider, rung));
        Some((rung, known_as, provider))
    });
    let wanted: Vec<_> = with_provider.collect();
    let known_as: Vec<_> = wanted.iter().map(|(_, known_as, _)| known_as.clone()).collect();
    let given = self::places(&places.rungs, &known_as);
    let mut placed = Vec::new();
    let mut identities = Vec::new();
    for ((rung, known_as, provider), at) in wanted.into_iter().zip(given) {
        let account = account(provider);
        let another_key = places.accounts.get(at).is_some_and(|before| *before != account);
        match places.accounts.get_mut(at) {
            Some(before) => before.clone_from(&account),
            None => {
                places.rungs.push(known_as.clone());
                places.accounts.push(account.clone());
            }
        }
        let (name, fingerprint) = known_as;
        let at = RungIndex(at);
        let before = places.last.insert(Arc::clone(&name), at);
        placed.push(Placed {
            at,
            spec: RungSpec {
                model: number_of(&rung.model),
                domains: places.domains.of(&rung.domains),
                dialect: dialect_number(provider.dialect),
                ..rung.spec.clone()
            },
            heir_of: before.filter(|&before| before != at),
            another_key,
        });
        identities.push((at, Identity::new(name, fingerprint, &account)));
    }
    (placed, identities)
}

/// A variant by the board's places of its rungs.
fn prompt(variant: &config::Prompt, places: &[RungIndex]) -> Prompt {
    let text = |(rung, text): &(RungIndex, String)| {
        Some((places.get(rung.0).copied()?, Secret(text.clone())))
    };
    Prompt { name: variant.name.clone(), texts: variant.texts.iter().filter_map(text).collect() }
}

fn place_ladders(config: &Config, places: &mut Places, rungs: &[Placed]) -> Vec<Arc<Ladder>> {
    let rungs: Vec<_> = rungs.iter().map(|placed| placed.at).collect();
    let names: Vec<Arc<str>> = config.ladders.iter().map(|it| it.name.as_str().into()).collect();
    let given = self::places(&places.ladders, &names);
    let early = config.server.early_headers;
    let mut ladders = Vec::new();
    for ((settings, name), at) in config.ladders.iter().zip(names).zip(given) {
        if at == places.ladders.len() {
            places.ladders.push(Arc::clone(&name));
        }
        let on_board = settings.spec.rungs.iter().filter_map(|rung| rungs.get(rung.0).copied());
        let spec = Arc::new(LadderSpec {
            rungs: on_board.collect(),
            early_headers: early,
            ..settings.spec.clone()
        });
        ladders.push(Arc::new(Ladder {
            name,
            index: LadderIndex(at),
            spec,
            one_model: settings.one_model || settings.spec.rungs.len() == 1,
            prompts: settings.prompts.iter().map(|variant| prompt(variant, &rungs)).collect(),
            prompt: settings.prompt.as_ref().and_then(|wanted| {
                settings.prompts.iter().position(|variant| variant.name == *wanted)
            }),
            validate: settings.validate,
            capture: settings.capture.map_or(0.0, |capture| capture.sample),
        }));
    }
    ladders
}
