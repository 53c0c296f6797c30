//! What is wrong or odd about a ladder as a whole.

use super::providers::ProviderConfig;
use super::rungs::RungConfig;
use super::tree::{Placed, Table};
use super::units::show_duration;
use policy::ladder::DEFAULT_TTFT;
use policy::{Capability, LadderSpec};
use std::collections::HashSet;
use std::time::Duration;

/// Checks one ladder whose keys have been read.
pub(super) fn check(
    ladder: &LadderSpec,
    table: &Table<'_>,
    providers: &[Placed<ProviderConfig>],
    rungs: &[Placed<RungConfig>],
) {
    let members: Vec<&Placed<RungConfig>> =
        ladder.rungs.iter().filter_map(|at| rungs.get(at.0)).collect();
    // A ladder with a mistake in its list is not judged by what is left of it.
    if !table.report.failed(&table.at.child("rungs").key) {
        redundancy(table, &members);
        require(ladder, table, &members);
        attempts(ladder, table);
        contexts(table, &members);
        rung_clocks(ladder, table, providers, &members);
    }
    own_clocks(ladder, table);
    if let Some(retries) = ladder.retries.filter(|retries| ladder.fail_fast && *retries > 0) {
        let at = table.at.child("retries");
        let text = format!("{retries} retries are asked for, and fail_fast forbids them");
        warn_at(table, "retries", &at.key, text, "take one of the two out");
    }
}

/// A ladder is only as good as what is left when something fails.
fn redundancy(table: &Table<'_>, members: &[&Placed<RungConfig>]) {
    let at = table.at.child("rungs");
    if members.len() == 1 {
        let text = "has one rung: nothing takes over when it fails".to_owned();
        warn_at(table, "rungs", &at.key, text, "add a rung at another provider");
        return;
    }
    let Some((first, others)) = members.split_first() else { return };
    let shared = first
        .it
        .domains
        .iter()
        .find(|domain| others.iter().all(|other| other.it.domains.contains(*domain)));
    if let Some(domain) = shared
        && !members.iter().any(|rung| table.report.failed(&rung.at.key))
    {
        let text = format!("all its rungs are in the domain '{domain}' and may fail together");
        warn_at(
            table,
            "rungs",
            &at.key,
            text,
            "add a rung at another provider or in another region",
        );
    }
}

/// Each capability that is required must be somewhere; rungs without it are idle.
fn require(ladder: &LadderSpec, table: &Table<'_>, members: &[&Placed<RungConfig>]) {
    let Some(value) = table.get("require") else { return };
    let lacking = |rung: &&&Placed<RungConfig>, capability: Capability| {
        !rung.it.spec.can.has(capability) && !table.report.failed(&rung.at.child("supports").key)
    };
    let mut idle: Vec<&str> = Vec::new();
    let mut hopeless = false;
    for capability in ladder.require.list() {
        let without: Vec<_> = members.iter().filter(|rung| lacking(rung, capability)).collect();
        if !without.is_empty() && without.len() == members.len() {
            let text = format!("no rung of this ladder supports '{}'", capability.as_str());
            value.error(text, "add it to a rung's supports, or take it out here");
            hopeless = true;
        }
        idle.extend(without.iter().map(|rung| rung.it.name.as_str()));
    }
    idle.sort_unstable();
    idle.dedup();
    if hopeless || idle.is_empty() {
        return;
    }
    let names = idle.join(", ");
    if idle.len() == members.len() {
        let text = "no rung of this ladder supports all of it".to_owned();
        value.error(text, format!("each of these lacks something: {names}"));
    } else {
        let text = format!("these rungs lack some of it and will never be used here: {names}");
        value.warn(text, "take them off this ladder, or add to their supports");
    }
}

fn attempts(ladder: &LadderSpec, table: &Table<'_>) {
    let rungs = ladder.rungs.len();
    if let Some(most) = ladder.max_attempts
        && usize::try_from(most).is_ok_and(|most| most < rungs)
    {
        let text = format!("{most} attempts never reach all {rungs} rungs");
        let key = table.at.child("max_attempts").key;
        warn_at(table, "max_attempts", &key, text, "raise it, or leave it out");
    } else if let Some((most, retries)) = ladder.max_attempts.zip(ladder.retries)
        && usize::try_from(most.saturating_sub(retries)).is_ok_and(|most| most < rungs)
    {
        let text = format!(
            "{most} attempts leave no room for {retries} retries: each of the {rungs} rungs is \
             called once first"
        );
        let key = table.at.child("max_attempts").key;
        warn_at(table, "max_attempts", &key, text, "raise it, or lower retries");
    }
}

/// A prompt that is too long for one model goes on to another one. Where the contexts are not
/// known the relay can only try.
fn contexts(table: &Table<'_>, members: &[&Placed<RungConfig>]) {
    let models: HashSet<&str> = members.iter().map(|rung| rung.it.model.as_str()).collect();
    let unset: Vec<&str> = members
        .iter()
        .filter(|rung| rung.it.spec.context.is_none() && !table.report.failed(&rung.at.key))
        .map(|rung| rung.it.name.as_str())
        .collect();
    if models.len() > 1 && !unset.is_empty() {
        let key = table.at.child("rungs").key;
        let text = format!(
            "has several models, and the context of these rungs is not set: {}. A prompt that is \
             too long for a rung costs a refused call before the next one is asked",
            unset.join(", ")
        );
        warn_at(table, "rungs", &key, text, "set context, in tokens, on these rungs");
    }
}

/// The ladder's clocks among themselves.
fn own_clocks(ladder: &LadderSpec, table: &Table<'_>) {
    if table.report.failed(&table.at.child("clocks").key) {
        return;
    }
    let clocks = ladder;
    let total = show_duration(clocks.total);
    for (name, clock) in
        [("ttft", clocks.ttft.unwrap_or(DEFAULT_TTFT)), ("inter_token", clocks.inter_token)]
    {
        if clock >= clocks.total {
            let text = format!("{name} ({}) cannot run out before total ({total})", show(clock));
            warn_at(
                table,
                "clocks",
                &table.at.child("clocks").key,
                text,
                "lower it, or raise total",
            );
        }
    }
}

/// The ladder's clocks against those of its rungs and their providers.
fn rung_clocks(
    ladder: &LadderSpec,
    table: &Table<'_>,
    providers: &[Placed<ProviderConfig>],
    members: &[&Placed<RungConfig>],
) {
    let clocks = ladder;
    let key = table.at.child("clocks").key;
    let report = table.report;
    if report.failed(&key) {
        return;
    }
    let ttft = clocks.ttft.unwrap_or(DEFAULT_TTFT);
    for rung in members.iter().filter(|rung| !report.failed(&rung.at.key)) {
        let name = &rung.it.name;
        for (clock, time) in
            [("ttft", rung.it.spec.ttft), ("inter_token", rung.it.spec.inter_token)]
        {
            if let Some(time) = time.filter(|time| *time >= clocks.total) {
                let (time, total) = (show(time), show(clocks.total));
                let text = format!(
                    "the {clock} of '{name}' ({time}) cannot run out before total ({total})"
                );
                warn_at(table, "clocks", &key, text, "lower it there, or raise total here");
            }
        }
        let Some(provider) = providers.get(rung.it.provider) else { continue };
        // A rung's own ttft is compared where the rung is read.
        let connect = provider.it.connect;
        if rung.it.spec.ttft.is_none() && connect >= ttft && !report.failed(&provider.at.key) {
            let (ttft, connect) = (show(ttft), show(connect));
            let text = format!(
                "ttft ({ttft}) ends before '{name}' has connected: its provider's connect is {connect}"
            );
            warn_at(table, "clocks", &key, text, "raise ttft, or lower connect there");
        }
    }
}

fn show(time: Duration) -> String {
    show_duration(time)
}

/// Warns at the key if it was written, else at the ladder's name.
fn warn_at(table: &Table<'_>, name: &'static str, key: &str, text: String, fix: &str) {
    let mut at = table.get(name).map_or_else(|| table.at.clone(), |value| value.key_at());
    key.clone_into(&mut at.key);
    table.report.warn(&at, text, fix);
}
