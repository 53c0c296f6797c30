//! `[ladders.*]`: what clients ask for as `model`.

use super::Env;
use super::capture::{self, Capture};
use super::ladder_checks;
use super::names;
use super::prompts::{self, Prompt};
use super::providers::ProviderConfig;
use super::rescue;
use super::rungs::{RungConfig, capabilities};
use super::tree::{Placed, Table, Value};
use super::units::show_duration;
use super::units::{CLOCK, PAUSE};
use policy::{LadderSpec, RungIndex};

/// An ordered list of rungs with a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderConfig {
    /// Its name: what clients send as `model`.
    pub name: String,
    /// Other names for it; unique among all names and aliases of ladders.
    pub aliases: Vec<String>,
    /// Its order and policy. The rungs are indices into [`Config::rungs`](super::Config::rungs),
    /// best first, never empty, none twice; `early_headers` is the server's.
    pub spec: LadderSpec,
    /// Whether whole answers are checked against the JSON schema that was asked for, on
    /// every rung. Default false: only on rungs whose `degrade` says so.
    pub validate: bool,
    /// Whether all its rungs serve one model, so that embeddings of one may stand beside
    /// those of another. Default false.
    pub one_model: bool,
    /// Variants of its system prompt. Default none: the client's own is used.
    pub prompts: Vec<Prompt>,
    /// The variant for requests that name none. Default none.
    pub prompt: Option<String>,
    /// Which requests are kept whole. Default none.
    pub capture: Option<Capture>,
}

/// The words of `side_effects`, and whether they mean "none".
const SIDE_EFFECTS: &[(&str, bool)] = &[("none", true), ("declared", false)];

/// The words of `shed`.
const SHED: &[(&str, bool)] = &[("proportional", true), ("off", false)];

/// Reads every `[ladders.*]`, in file order; each placed where its name stands.
pub(super) fn read(
    root: &Table<'_>,
    providers: &[Placed<ProviderConfig>],
    rungs: &[Placed<RungConfig>],
    env: &dyn Env,
) -> Vec<Placed<LadderConfig>> {
    let tables = names::tables(root, "ladders");
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    let mut ladders: Vec<Placed<LadderConfig>> = Vec::new();
    for (name, table) in &tables {
        let aliases = table.get("aliases").map(|value| aliases(&value, &names, &ladders));
        let spec = spec(table, rungs);
        let prompts = table
            .get("prompts")
            .map(|value| prompts::read(&value, &spec.rungs, rungs, env))
            .unwrap_or_default();
        let it = LadderConfig {
            name: name.clone(),
            aliases: aliases.unwrap_or_default(),
            spec,
            one_model: table.flag("one_model").unwrap_or(false),
            validate: table.flag("validate").unwrap_or(false),
            prompt: table.get("prompt").and_then(|value| prompts::default(&value, &prompts)),
            prompts,
            capture: table.get("capture").and_then(|value| capture::read(&value)),
        };
        table.check_keys();
        ladder_checks::check(&it.spec, table, providers, rungs);
        ladders.push(Placed { at: table.at.clone(), it });
    }
    ladders
}

fn spec(table: &Table<'_>, rungs: &[Placed<RungConfig>]) -> LadderSpec {
    let default = LadderSpec::default();
    let few = |key, range| table.integer(key, range).and_then(|n| usize::try_from(n).ok());
    let small = |key, range| table.integer(key, range).and_then(|n| u32::try_from(n).ok());
    let mut spec = LadderSpec {
        rungs: table
            .need("rungs", "[\"first\", \"second\"]")
            .map(|value| members(&value, rungs))
            .unwrap_or_default(),
        interactive: table.flag("interactive").unwrap_or(default.interactive),
        require: table.get("require").map_or(default.require, |value| capabilities(&value)),
        retries: small("retries", 0..=10),
        fail_fast: table.flag("fail_fast").unwrap_or(default.fail_fast),
        max_attempts: small("max_attempts", 1..=100),
        patience: table.duration("patience", &PAUSE),
        side_effects_none: table
            .word("side_effects", SIDE_EFFECTS)
            .unwrap_or(default.side_effects_none),
        hedge: table.get("hedge").map(|value| rescue::hedge(&value)).unwrap_or_default(),
        retry: table
            .get("retry_budget")
            .map(|value| rescue::retry_budget(&value))
            .unwrap_or_default(),
        max_in_flight: few("max_in_flight", 1..=10).unwrap_or(default.max_in_flight),
        max_hedges: small("max_hedges", 0..=10).unwrap_or(default.max_hedges),
        race: few("race", 0..=10).unwrap_or(default.race),
        shed: table.word("shed", SHED).unwrap_or(default.shed),
        drill: rescue::number(table, "drill").unwrap_or(default.drill),
        ..default
    };
    if let Some(clocks) = table.get("clocks").and_then(|value| value.table()) {
        read_clocks(&clocks, &mut spec);
    }
    spec
}

fn members(value: &Value<'_>, rungs: &[Placed<RungConfig>]) -> Vec<RungIndex> {
    let Some(texts) = value.texts() else { return Vec::new() };
    if texts.is_empty() && !value.report.failed(&value.at.key) {
        value.error("a ladder needs a rung", "name at least one, better two");
    }
    let resolve = |element| names::resolve(element, "rung", rungs, |rung| &rung.name);
    texts.iter().filter_map(|(_, element)| resolve(element)).map(RungIndex).collect()
}

fn read_clocks(table: &Table<'_>, spec: &mut LadderSpec) {
    spec.ttft = table.duration("ttft", &CLOCK);
    spec.inter_token = table.duration("inter_token", &CLOCK).unwrap_or(spec.inter_token);
    spec.total = table.duration("total", &CLOCK).unwrap_or(spec.total);
    let longest = spec.stream_total.max(spec.total);
    spec.stream_total = table.duration("stream_total", &CLOCK).unwrap_or(longest);
    if let Some(value) = table.get("stream_total").filter(|_| spec.stream_total < spec.total) {
        value.error(
            format!("is shorter than total ({})", show_duration(spec.total)),
            "raise it, or lower total: a stream that has begun may run on to stream_total",
        );
    }
    table.check_keys();
}

/// A `model` must mean one ladder: no alias may be a name, nor another's alias.
fn aliases(value: &Value<'_>, names: &[&str], earlier: &[Placed<LadderConfig>]) -> Vec<String> {
    let mut aliases = Vec::new();
    for (alias, element) in value.texts().unwrap_or_default() {
        names::check(alias, &element);
        if names.contains(&alias) {
            let text = format!("'{alias}' is the name of a ladder");
            element.error(text, "take it out: a name needs no alias, and must mean one ladder");
        }
        let taken =
            |ladder: &&Placed<LadderConfig>| ladder.it.aliases.iter().any(|other| other == alias);
        if let Some(other) = earlier.iter().find(taken) {
            let text = format!("'{alias}' is an alias of the ladder '{}' already", other.it.name);
            element.error(text, "keep it on one of them");
        }
        aliases.push(alias.to_owned());
    }
    aliases
}
