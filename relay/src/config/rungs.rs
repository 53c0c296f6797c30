//! `[rungs.*]`: one model at one provider each.

use super::names;
use super::price;
use super::providers::ProviderConfig;
use super::rescue;
use super::tree::{Placed, Table, Value};
use super::units::{CLOCK, show_duration};
use policy::{Capabilities, Capability, OnEmpty, OnRefusal, RungSpec};
use shared::Degrade;
use shared::Price;

/// One provider and model, and region if there are several.
#[derive(Debug, Clone, PartialEq)]
pub struct RungConfig {
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
    /// Whether it is asked for usage by `stream_options`. Default true.
    pub stream_options: bool,
    /// What the walk goes by: `supports`, `context`, its clocks, its circuit breaker and the
    /// rest. The numbers by which the core knows model, domains and dialect are not set.
    pub spec: RungSpec,
}

/// What the words of `on_empty` mean for a rung that is `free`, or is not.
#[derive(Debug, Clone, Copy)]
enum EmptyWord {
    Always(OnEmpty),
    ByPrice,
}

const ON_EMPTY: &[(&str, EmptyWord)] = &[
    ("next", EmptyWord::Always(OnEmpty::Next)),
    ("end", EmptyWord::Always(OnEmpty::End)),
    ("by_price", EmptyWord::ByPrice),
];
const ON_REFUSAL: &[(&str, OnRefusal)] = &[("end", OnRefusal::End), ("next", OnRefusal::Next)];

/// Switches on one part of `degrade`.
type SwitchOn = fn(&mut Degrade);

/// The words of `degrade`, and what each switches on.
const DEGRADE: &[(&str, SwitchOn)] = &[
    ("json_schema", |degrade| degrade.json_schema = true),
    ("parallel_tools", |degrade| degrade.parallel_tools = true),
    ("max_output", |degrade| degrade.max_output = true),
];

/// Token counts beyond this are slips.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Reads every `[rungs.*]`, in file order; each placed where its name stands.
pub(super) fn read(
    root: &Table<'_>,
    providers: &[Placed<ProviderConfig>],
) -> Vec<Placed<RungConfig>> {
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

fn rung(name: String, table: &Table<'_>, providers: &[Placed<ProviderConfig>]) -> RungConfig {
    let provider = table
        .need("provider", "\"openai\"")
        .and_then(|value| names::resolve(&value, "provider", providers, |it| &it.name))
        .unwrap_or(0);
    let region = table.text("region");
    let domains = table.get("domains").map(|value| domains(&value)).unwrap_or_else(|| {
        let provider = providers.get(provider).map(|placed| placed.it.name.clone());
        provider.into_iter().chain(region.clone()).collect()
    });
    let price = price_of(table);
    RungConfig {
        name,
        provider,
        model: table
            .need("model", "\"gpt-4o\"")
            .and_then(|value| value.text())
            .unwrap_or_default()
            .to_owned(),
        domains,
        region,
        price,
        stream_options: table.flag("stream_options").unwrap_or(true),
        spec: spec(table, price),
    }
}

fn spec(table: &Table<'_>, price: Option<Price>) -> RungSpec {
    let default = RungSpec::default();
    let free = price.is_some_and(|price| price.input == 0 && price.output == 0);
    let on_empty = match table.word("on_empty", ON_EMPTY) {
        Some(EmptyWord::Always(what)) => what,
        Some(EmptyWord::ByPrice) if free => OnEmpty::Next,
        Some(EmptyWord::ByPrice) => OnEmpty::End,
        None => default.on_empty,
    };
    RungSpec {
        can: table.get("supports").map_or(default.can, |value| capabilities(&value)),
        context: table.integer("context", 1..=MOST_TOKENS),
        max_output: table.integer("max_output", 1..=MOST_TOKENS),
        ttft: table.duration("ttft", &CLOCK),
        inter_token: table.duration("inter_token", &CLOCK),
        pings_count: table.flag("pings_count").unwrap_or(default.pings_count),
        free,
        on_empty,
        on_refusal: table.word("on_refusal", ON_REFUSAL).unwrap_or(default.on_refusal),
        degrade: table.get("degrade").map_or(default.degrade, |value| degrade(&value)),
        hold_base: table.duration("hold_base", &CLOCK).unwrap_or(default.hold_base),
        max_hold: table.duration("max_hold", &CLOCK).unwrap_or(default.max_hold),
        breaker: table.get("breaker").map(|value| rescue::breaker(&value)).unwrap_or_default(),
        ..default
    }
}

/// Reads a list of capability words.
pub(super) fn capabilities(value: &Value<'_>) -> Capabilities {
    Capabilities::only(&value.words(Capability::WORDS).unwrap_or_default())
}

fn degrade(value: &Value<'_>) -> Degrade {
    let mut degrade = Degrade::default();
    for switch_on in value.words(DEGRADE).unwrap_or_default() {
        switch_on(&mut degrade);
    }
    degrade
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
fn check(rung: &RungConfig, table: &Table<'_>, providers: &[Placed<ProviderConfig>]) {
    let spec = &rung.spec;
    let warn = |key, text: String, fix: &str| {
        if let Some(value) = table.get(key)
            && !table.report.failed(&table.at.key)
        {
            value.warn(text, fix);
        }
    };
    if let (Some(output), Some(context)) = (spec.max_output, spec.context)
        && output > context
    {
        let text = format!("is more than the whole context of {context}");
        warn("max_output", text, "lower it, or raise context");
    }
    for (degraded, word, able) in [
        (spec.degrade.json_schema, "json_schema", spec.can.json_schema),
        (spec.degrade.parallel_tools, "parallel_tools", spec.can.parallel_tools),
    ] {
        if degraded && able {
            let text = format!("'{word}' has no effect: the rung is taken to support it");
            warn("degrade", text, "list what the rung supports without it, or take it out");
        }
    }
    if spec.degrade.max_output && spec.max_output.is_none() {
        let text = "'max_output' has no effect: the rung's max_output is not known".to_owned();
        warn("degrade", text, "write the rung's max_output, or take it out");
    }
    if spec.hold_base > spec.max_hold {
        let text = format!("is longer than max_hold, {}", show_duration(spec.max_hold));
        warn("hold_base", text, "lower it, or raise max_hold");
        // Where only max_hold was written, that is the one to look at.
        if table.get("hold_base").is_none() {
            let text = format!("is shorter than hold_base, {}", show_duration(spec.hold_base));
            warn("max_hold", text, "raise it, or lower hold_base");
        }
    }
    if let (Some(ttft), Some(provider)) = (spec.ttft, providers.get(rung.provider))
        && provider.it.connect >= ttft
        && !table.report.failed(&provider.at.child("connect").key)
    {
        let connect = show_duration(provider.it.connect);
        let text = format!("ends before the provider's connect clock, {connect}");
        warn("ttft", text, "lower connect, or raise ttft: ttft includes connecting");
    }
}
