//! `[ladders.*]`: what clients ask for as `model`.

use super::Env;
use super::capture::{self, Capture};
use super::ladder_checks;
use super::names;
use super::prompts::{self, Prompt};
use super::providers::Provider;
use super::rescue::{self, Hedge, RetryBudget};
use super::rungs::Rung;
use super::supports::{self, Capability};
use super::tree::{Placed, Table, Value};
use super::units::show_duration;
use super::units::{CLOCK, PAUSE};
use std::time::Duration;

/// An ordered list of rungs with a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    /// Its name: what clients send as `model`.
    pub name: String,
    /// Indices into [`Config::rungs`](super::Config::rungs), best first. Never
    /// empty, none twice.
    pub rungs: Vec<usize>,
    /// Other names for it; unique among all names and aliases of ladders.
    pub aliases: Vec<String>,
    /// Whether a person waits. Default true.
    pub interactive: bool,
    /// What a rung must be able to do to serve here. Default nothing.
    pub require: Vec<Capability>,
    /// The three clocks.
    pub clocks: Clocks,
    /// Retries on the same rung, 0 to 10. Default `None`: as the situation asks.
    pub retries: Option<u32>,
    /// Whether to do without any retry. Default false.
    pub fail_fast: bool,
    /// Most attempts of one walk, 1 to 100. Default `None`: rungs + 1.
    pub max_attempts: Option<u32>,
    /// Longest wait for a Retry-After; zero: never wait. Default `None`: 2 s,
    /// and `total` where no person waits.
    pub patience: Option<Duration>,
    /// `side_effects = "none"`: requests with provider-executed tools and such
    /// may be sent again like any other. Default false (`"declared"`).
    pub side_effects_none: bool,
    /// Its hedging.
    pub hedge: Hedge,
    /// What its retries and later failovers are paid from.
    pub retry_budget: RetryBudget,
    /// Attempts in flight at the same time, 1 to 10. Default 2.
    pub max_in_flight: usize,
    /// Hedges of one request, 0 to 10. Default 1.
    pub max_hedges: u32,
    /// So many rungs from the start, 0 to 10; 0 and 1: no race. Default 0.
    pub race: usize,
    /// Whether requests are moved past a degraded rung before it opens. Default false.
    pub shed: bool,
    /// The share of requests that goes past rung one on purpose, 0 to 1. Default 0.
    pub drill: f64,
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

impl Eq for Ladder {}

/// The three clocks of a ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// Dial to first token, per attempt. `None` is the default of 15 s, which
    /// the last candidate alone in flight does not have; a written 15 s holds
    /// always.
    pub ttft: Option<Duration>,
    /// Token to token, per attempt. Default 15 s.
    pub inter_token: Duration,
    /// Accept to commit, per request; for whole answers, accept to end. Default 90 s.
    pub total: Duration,
    /// Accept to end of a committed stream. Default 15 min, and never below `total`.
    pub stream_total: Duration,
}

impl Clocks {
    /// What `ttft` is where nobody says.
    pub const TTFT: Duration = Duration::from_secs(15);
    const TOTAL: Duration = Duration::from_secs(90);
    const STREAM_TOTAL: Duration = Duration::from_mins(15);
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            ttft: None,
            inter_token: Duration::from_secs(15),
            total: Self::TOTAL,
            stream_total: Self::STREAM_TOTAL,
        }
    }
}

/// The words of `side_effects`, and whether they mean "none".
const SIDE_EFFECTS: &[(&str, bool)] = &[("none", true), ("declared", false)];

/// The words of `shed`.
const SHED: &[(&str, bool)] = &[("proportional", true), ("off", false)];

/// Reads every `[ladders.*]`, in file order; each placed where its name stands.
pub(super) fn read(
    root: &Table<'_>,
    providers: &[Placed<Provider>],
    rungs: &[Placed<Rung>],
    env: &dyn Env,
) -> Vec<Placed<Ladder>> {
    let tables = names::tables(root, "ladders");
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    let mut ladders: Vec<Placed<Ladder>> = Vec::new();
    for (name, table) in &tables {
        let aliases = table.get("aliases").map(|value| aliases(&value, &names, &ladders));
        let it = ladder(name, aliases.unwrap_or_default(), table, (rungs, env));
        table.check_keys();
        ladder_checks::check(&it, table, providers, rungs);
        ladders.push(Placed { at: table.at.clone(), it });
    }
    ladders
}

fn ladder(
    name: &str,
    aliases: Vec<String>,
    table: &Table<'_>,
    (rungs, env): (&[Placed<Rung>], &dyn Env),
) -> Ladder {
    let few = |key, range| table.integer(key, range).and_then(|n| usize::try_from(n).ok());
    let small = |key, range| table.integer(key, range).and_then(|n| u32::try_from(n).ok());
    let own: Vec<usize> = table
        .need("rungs", "[\"first\", \"second\"]")
        .map(|value| members(&value, rungs))
        .unwrap_or_default();
    let prompts = table
        .get("prompts")
        .map(|value| prompts::read(&value, &own, rungs, env))
        .unwrap_or_default();
    Ladder {
        name: name.to_owned(),
        rungs: own,
        aliases,
        interactive: table.flag("interactive").unwrap_or(true),
        require: table.get("require").map(|value| supports::read(&value)).unwrap_or_default(),
        clocks: table.get("clocks").map(|value| clocks(&value)).unwrap_or_default(),
        retries: small("retries", 0..=10),
        fail_fast: table.flag("fail_fast").unwrap_or(false),
        max_attempts: small("max_attempts", 1..=100),
        patience: table.duration("patience", &PAUSE),
        side_effects_none: table.word("side_effects", SIDE_EFFECTS).unwrap_or(false),
        hedge: table.get("hedge").map(|value| rescue::hedge(&value)).unwrap_or_default(),
        retry_budget: table
            .get("retry_budget")
            .map(|value| rescue::retry_budget(&value))
            .unwrap_or_default(),
        max_in_flight: few("max_in_flight", 1..=10).unwrap_or(2),
        max_hedges: small("max_hedges", 0..=10).unwrap_or(1),
        race: few("race", 0..=10).unwrap_or(0),
        shed: table.word("shed", SHED).unwrap_or(false),
        drill: rescue::number(table, "drill").unwrap_or(0.0),
        one_model: table.flag("one_model").unwrap_or(false),
        validate: table.flag("validate").unwrap_or(false),
        prompt: table.get("prompt").and_then(|value| prompts::default(&value, &prompts)),
        prompts,
        capture: table.get("capture").and_then(|value| capture::read(&value)),
    }
}

fn members(value: &Value<'_>, rungs: &[Placed<Rung>]) -> Vec<usize> {
    let Some(texts) = value.texts() else { return Vec::new() };
    if texts.is_empty() && !value.report.failed(&value.at.key) {
        value.error("a ladder needs a rung", "name at least one, better two");
    }
    let resolve = |element| names::resolve(element, "rung", rungs, |rung| &rung.name);
    texts.iter().filter_map(|(_, element)| resolve(element)).collect()
}

fn clocks(value: &Value<'_>) -> Clocks {
    let default = Clocks::default();
    let Some(table) = value.table() else { return default };
    let total = table.duration("total", &CLOCK).unwrap_or(default.total);
    let clocks = Clocks {
        ttft: table.duration("ttft", &CLOCK),
        inter_token: table.duration("inter_token", &CLOCK).unwrap_or(default.inter_token),
        total,
        stream_total: table
            .duration("stream_total", &CLOCK)
            .unwrap_or(default.stream_total.max(total)),
    };
    if let Some(value) = table.get("stream_total").filter(|_| clocks.stream_total < total) {
        value.error(
            format!("is shorter than total ({})", show_duration(total)),
            "raise it, or lower total: a stream that has begun may run on to stream_total",
        );
    }
    table.check_keys();
    clocks
}

/// A `model` must mean one ladder: no alias may be a name, nor another's alias.
fn aliases(value: &Value<'_>, names: &[&str], earlier: &[Placed<Ladder>]) -> Vec<String> {
    let mut aliases = Vec::new();
    for (alias, element) in value.texts().unwrap_or_default() {
        names::check(alias, &element);
        if names.contains(&alias) {
            let text = format!("'{alias}' is the name of a ladder");
            element.error(text, "take it out: a name needs no alias, and must mean one ladder");
        }
        let taken = |ladder: &&Placed<Ladder>| ladder.it.aliases.iter().any(|other| other == alias);
        if let Some(other) = earlier.iter().find(taken) {
            let text = format!("'{alias}' is an alias of the ladder '{}' already", other.it.name);
            element.error(text, "keep it on one of them");
        }
        aliases.push(alias.to_owned());
    }
    aliases
}
