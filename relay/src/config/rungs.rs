//! `[rungs.*]`: one model at one provider each.

use super::degrade::{self, Degrade};
use super::names;
use super::price;
use super::providers::Provider;
use super::rescue::{self, Breaker};
use super::supports::{self, Supports};
use super::tree::{Placed, Table, Value};
use super::units::{CLOCK, show_duration};
use shared::Price;
use std::time::Duration;

/// One provider and model, and region if there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    /// Its name, which ladders, journal and console refer to.
    pub name: String,
    /// Index into [`Config::providers`](super::Config::providers).
    pub provider: usize,
    /// The model's name at the provider.
    pub model: String,
    /// Failure domains it shares with others. Default: the provider's name,
    /// and the region if there is one. Never empty.
    pub domains: Vec<String>,
    /// The provider's region. Default none.
    pub region: Option<String>,
    /// Its price. Default unknown.
    pub price: Option<Price>,
    /// What it is able to do. Default everything.
    pub supports: Supports,
    /// Tokens of prompt and answer together. Default unknown, which counts as
    /// large enough.
    pub context: Option<u64>,
    /// Tokens of one answer. Default unknown.
    pub max_output: Option<u64>,
    /// Its own first clock, dial to first token. Default the ladder's.
    pub ttft: Option<Duration>,
    /// Its own second clock, token to token. Default the ladder's.
    pub inter_token: Option<Duration>,
    /// Whether pings reset the clocks, for models that think in silence. Default false.
    pub pings_count: bool,
    /// What follows an answer without content. Default the next rung.
    pub on_empty: OnEmpty,
    /// What follows a refusal. Default the end.
    pub on_refusal: OnRefusal,
    /// What it is asked less of instead of being passed over. Default nothing.
    pub degrade: Degrade,
    /// Whether it is asked for usage by `stream_options`. Default true.
    pub stream_options: bool,
    /// First pause after a 429 without a usable Retry-After. Default 2 s.
    pub hold_base: Duration,
    /// Longest pause that a Retry-After is granted. Default 15 min.
    pub max_hold: Duration,
    /// Its circuit breaker.
    pub breaker: Breaker,
}

impl Rung {
    /// The default of [`hold_base`](Self::hold_base).
    pub const HOLD_BASE: Duration = Duration::from_secs(2);
    /// The default of [`max_hold`](Self::max_hold).
    pub const MAX_HOLD: Duration = Duration::from_secs(15 * 60);
}

/// What follows an answer that ended properly without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnEmpty {
    /// The next rung.
    #[default]
    Next,
    /// The end: the client gets the empty answer.
    End,
    /// The next rung if the answer was free, the end if it was paid for.
    ByPrice,
}

/// What follows a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRefusal {
    /// The end: the client gets the refusal.
    #[default]
    End,
    /// The next rung.
    Next,
}

const ON_EMPTY: &[(&str, OnEmpty)] =
    &[("next", OnEmpty::Next), ("end", OnEmpty::End), ("by_price", OnEmpty::ByPrice)];
const ON_REFUSAL: &[(&str, OnRefusal)] = &[("end", OnRefusal::End), ("next", OnRefusal::Next)];

/// Token counts beyond this are slips.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Reads every `[rungs.*]`, in file order; each placed where its name stands.
pub(super) fn read(root: &Table<'_>, providers: &[Placed<Provider>]) -> Vec<Placed<Rung>> {
    names::tables(root, "rungs")
        .into_iter()
        .map(|(name, table)| {
            let it = rung(name, &table, providers);
            check(&it, &table, providers);
            table.check_keys();
            Placed { at: table.at, it }
        })
        .collect()
}

fn rung(name: String, table: &Table<'_>, providers: &[Placed<Provider>]) -> Rung {
    let provider = table
        .need("provider", "\"openai\"")
        .and_then(|value| names::resolve(&value, "provider", providers, |it| &it.name))
        .unwrap_or(0);
    let region = table.text("region");
    let domains = table.get("domains").map(|value| domains(&value)).unwrap_or_else(|| {
        let provider = providers.get(provider).map(|placed| placed.it.name.clone());
        provider.into_iter().chain(region.clone()).collect()
    });
    Rung {
        name,
        provider,
        model: table
            .need("model", "\"gpt-4o\"")
            .and_then(|value| value.text())
            .unwrap_or_default()
            .to_owned(),
        domains,
        region,
        price: price_of(table),
        supports: table
            .get("supports")
            .map_or(Supports::ALL, |value| Supports::only(&supports::read(&value))),
        context: table.integer("context", 1..=MOST_TOKENS),
        max_output: table.integer("max_output", 1..=MOST_TOKENS),
        ttft: table.duration("ttft", &CLOCK),
        inter_token: table.duration("inter_token", &CLOCK),
        pings_count: table.flag("pings_count").unwrap_or(false),
        on_empty: table.word("on_empty", ON_EMPTY).unwrap_or_default(),
        on_refusal: table.word("on_refusal", ON_REFUSAL).unwrap_or_default(),
        degrade: table.get("degrade").map(|value| degrade::read(&value)).unwrap_or_default(),
        stream_options: table.flag("stream_options").unwrap_or(true),
        hold_base: table.duration("hold_base", &CLOCK).unwrap_or(Rung::HOLD_BASE),
        max_hold: table.duration("max_hold", &CLOCK).unwrap_or(Rung::MAX_HOLD),
        breaker: table.get("breaker").map(|value| rescue::breaker(&value)).unwrap_or_default(),
    }
}

fn price_of(table: &Table<'_>) -> Option<Price> {
    let Some(value) = table.get("price") else {
        let fix = "add price = { input = …, output = … }, in USD per million tokens; \
                   0 if it is free";
        table.report.warn(&table.at.child("price"), "its cost will be unknown", fix);
        return None;
    };
    price::read(&value)
}

fn domains(value: &Value<'_>) -> Vec<String> {
    let Some(texts) = value.texts() else { return Vec::new() };
    if texts.is_empty() && !value.report.failed(&value.at.key) {
        value.error("a rung is in some domain", "name one, or leave the key out: its provider");
    }
    texts.into_iter().map(|(text, _)| text.to_owned()).collect()
}

/// What is odd about a rung by itself.
fn check(rung: &Rung, table: &Table<'_>, providers: &[Placed<Provider>]) {
    let warn = |key, text: String, fix: &str| {
        if let Some(value) = table.get(key)
            && !table.report.failed(&table.at.key)
        {
            value.warn(text, fix);
        }
    };
    if let (Some(output), Some(context)) = (rung.max_output, rung.context)
        && output > context
    {
        let text = format!("is more than the whole context of {context}");
        warn("max_output", text, "lower it, or raise context");
    }
    for (degraded, word, able) in [
        (rung.degrade.json_schema, "json_schema", rung.supports.json_schema),
        (rung.degrade.parallel_tools, "parallel_tools", rung.supports.parallel_tools),
    ] {
        if degraded && able {
            let text = format!("'{word}' has no effect: the rung is taken to support it");
            warn("degrade", text, "list what the rung supports without it, or take it out");
        }
    }
    if rung.degrade.max_output && rung.max_output.is_none() {
        let text = "'max_output' has no effect: the rung's max_output is not known".to_owned();
        warn("degrade", text, "write the rung's max_output, or take it out");
    }
    if rung.hold_base > rung.max_hold {
        let text = format!("is longer than max_hold, {}", show_duration(rung.max_hold));
        warn("hold_base", text, "lower it, or raise max_hold");
        // Where only max_hold was written, that is the one to look at.
        if table.get("hold_base").is_none() {
            let text = format!("is shorter than hold_base, {}", show_duration(rung.hold_base));
            warn("max_hold", text, "raise it, or lower hold_base");
        }
    }
    if let (Some(ttft), Some(provider)) = (rung.ttft, providers.get(rung.provider))
        && provider.it.connect >= ttft
        && !table.report.failed(&provider.at.child("connect").key)
    {
        let connect = show_duration(provider.it.connect);
        let text = format!("ends before the provider's connect clock, {connect}");
        warn("ttft", text, "lower connect, or raise ttft: ttft includes connecting");
    }
}
