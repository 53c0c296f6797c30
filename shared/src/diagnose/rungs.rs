//! Which provider is sick, since when and why, and who answers instead.

use super::{Level, Rule, Trouble, ago, is_failing, is_held, left, names, rung};
use crate::admin::{Board, RungState};
use crate::figures::{percent, share, wait};
use crate::{BreakerState, TransitionRule};
use std::collections::BTreeMap;

/// Rungs that turn sick within this many milliseconds count as sick together.
const TOGETHER: i64 = 60_000;

/// Every provider that was called fails before it answers at all.
pub(super) fn reaches_nobody(board: &Board) -> Vec<Trouble> {
    let mut providers: BTreeMap<&str, bool> = BTreeMap::new();
    for rung in board.rungs.iter().filter(|rung| rung.now.calls > 0) {
        let failed = rung.now.outcomes.get("connect").copied().unwrap_or(0);
        let fails = failed > 0 && failed >= rung.now.bad && rung.now.good == 0;
        let all = providers.entry(&rung.provider).or_insert(true);
        *all &= fails;
    }
    if providers.len() < 2 || !providers.values().all(|fails| *fails) {
        return Vec::new();
    }
    let text = format!(
        "this relay reaches none of its {} providers: look at its own network first",
        providers.len()
    );
    vec![Trouble { level: Level::Broken, rule: Rule::ReachesNobody, about: Vec::new(), text }]
}

/// Providers that refuse our account.
pub(super) fn refused(board: &Board) -> Vec<Trouble> {
    let mut groups: BTreeMap<(&str, &str), Vec<&RungState>> = BTreeMap::new();
    for rung in &board.rungs {
        if let Some(down) = &rung.health.hard_down {
            groups.entry((&rung.provider, &down.why)).or_default().push(rung);
        }
    }
    groups
        .into_iter()
        .map(|((provider, why), rungs)| refusal(board, provider, why, &rungs))
        .collect()
}

fn refusal(board: &Board, provider: &str, why: &str, rungs: &[&RungState]) -> Trouble {
    let all: Vec<_> = rungs.iter().map(|rung| &*rung.name).collect();
    let first = rungs.iter().filter_map(|rung| rung.health.sick_since_at).min();
    let since = first.map(|at| format!(" for {}", ago(board, at))).unwrap_or_default();
    let status = rungs.iter().find_map(|rung| rung.past.last_fault.as_ref()?.status);
    let status = status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
    let mut text = format!("{provider} refuses our {why}{status}{since}: {} out", names(&all));
    let key = board.providers.iter().find(|known| known.name == provider);
    if let Some(key) = key.and_then(|known| known.key.as_ref()) {
        let from = key.source.as_deref().map(|from| format!(" from {from}")).unwrap_or_default();
        text += &format!("; key {}{from}, read {} ago", key.tag, ago(board, key.loaded_at));
    }
    let again = rungs.iter().filter_map(|rung| rung.health.hard_down.as_ref());
    if let Some(at) = again.map(|down| down.until_at).min() {
        text += &format!("; next try in {}", left(board, at));
    }
    text += &carried(board, &all);
    Trouble { level: Level::Broken, rule: Rule::Refused, about: owned(&all), text }
}

/// Sick rungs: a whole domain, a whole provider, or one by one.
pub(super) fn sick(board: &Board) -> Vec<Trouble> {
    let mut open: Vec<&RungState> = board.rungs.iter().filter(|rung| is_sick(rung)).collect();
    let mut lines = Vec::new();
    let mut domains: Vec<&str> =
        board.rungs.iter().flat_map(|rung| &rung.domains).map(String::as_str).collect();
    domains.sort_unstable();
    domains.dedup();
    for domain in domains {
        // A domain that has only one provider is reported as that provider.
        let whole = board.rungs.iter().filter(|rung| rung.domains.iter().any(|d| d == domain));
        let whole: Vec<_> = whole.collect();
        let several =
            whole.iter().any(|rung| Some(&rung.provider) != whole.first().map(|r| &r.provider));
        if several && let Some(line) = group(board, &mut open, &whole, Rule::Domain, domain) {
            lines.push(line);
        }
    }
    for provider in &board.providers {
        let whole =
            board.rungs.iter().filter(|rung| rung.provider == provider.name).collect::<Vec<_>>();
        if let Some(line) = group(board, &mut open, &whole, Rule::Provider, &provider.name) {
            lines.push(line);
        }
    }
    // The rung that has been sick for longest first.
    open.sort_by_key(|rung| rung.health.sick_since_at);
    lines.extend(open.into_iter().map(|rung| one(board, rung)));
    let closed =
        board.rungs.iter().filter(|rung| !is_sick(rung) && rung.health.hard_down.is_none());
    lines.extend(closed.filter_map(|rung| ailing(board, rung)));
    lines
}

fn is_sick(rung: &RungState) -> bool {
    rung.health.hard_down.is_none() && rung.health.state != BreakerState::Closed
}

/// One line for all of `whole`, if all of them are sick since about the same time.
fn group(
    board: &Board,
    open: &mut Vec<&RungState>,
    whole: &[&RungState],
    rule: Rule,
    name: &str,
) -> Option<Trouble> {
    let is_open = |rung: &RungState| open.iter().any(|sick| sick.name == rung.name);
    if whole.len() < 2 || !whole.iter().all(|rung| is_open(rung)) {
        return None;
    }
    let since = |rung: &&&RungState| Some((rung.health.sick_since_at?, rung.name.clone()));
    let mut since: Vec<_> = whole.iter().filter_map(|rung| since(&rung)).collect();
    since.sort();
    let ((first, whose), (last, _)) = (since.first()?, since.last()?);
    if last.0.saturating_sub(first.0) > TOGETHER {
        return None;
    }
    let whose = if first == last { String::new() } else { format!(" ({whose} first)") };
    let first = *first;
    open.retain(|sick| whole.iter().all(|rung| rung.name != sick.name));
    let all: Vec<_> = whole.iter().map(|rung| &*rung.name).collect();
    let what = if rule == Rule::Domain { "domain " } else { "" };
    let why = whole.first().map(|rung| cause(rung)).unwrap_or_default();
    let text = format!(
        "{what}{name}: all {} rungs sick for {}{whose}, {}{why}{}",
        all.len(),
        ago(board, first),
        names(&all),
        carried(board, &all)
    );
    Some(Trouble { level: Level::Broken, rule, about: owned(&all), text })
}

fn one(board: &Board, rung: &RungState) -> Trouble {
    let state =
        if rung.health.state == BreakerState::HalfOpen { "half-open, sick" } else { "open" };
    let since = rung.health.sick_since_at.or(rung.health.since_at);
    let since = since.map(|at| format!(" for {}", ago(board, at))).unwrap_or_default();
    let text = format!(
        "{} {state}{since}{}{}",
        rung.name,
        cause(rung),
        carried(board, &[rung.name.as_str()])
    );
    let about = vec![rung.name.clone()];
    Trouble { level: Level::Broken, rule: Rule::Rung, about, text }
}

/// A closed rung that is not well: held, spared, failing, or on its way back.
fn ailing(board: &Board, rung: &RungState) -> Option<Trouble> {
    let hold = rung.health.hold.as_ref().filter(|_| is_held(rung, board.at));
    let now = &rung.now;
    let what = if let Some(hold) = hold {
        format!("held by its provider, {} left", left(board, hold.until_at))
    } else if rung.health.floor {
        let weight = percent(Some(rung.health.weight));
        format!(
            "spared: it would be open, but some ladder has no other rung; weight {weight}{}",
            cause(rung)
        )
    } else if is_failing(rung) {
        let mark = wait(now.mark_ms);
        format!(
            "{} of {} calls slow or bad: {} slow (mark {mark}), {} bad{}",
            percent(share(now.slow + now.bad, now.calls)),
            now.calls,
            now.slow,
            now.bad,
            outcomes(rung)
        )
    } else {
        return None;
    };
    let text = format!("{} {what}{}", rung.name, carried(board, &[rung.name.as_str()]));
    let about = vec![rung.name.clone()];
    Some(Trouble { level: Level::Warning, rule: Rule::Rung, about, text })
}

/// Why, in a few words: the rule, its figures, and how the last one ended.
fn cause(rung: &RungState) -> String {
    let Some(cause) = &rung.health.cause else {
        return String::new();
    };
    let poor = match (cause.slow, cause.bad) {
        (Some(slow), 0) => format!("{slow} slow"),
        (Some(0), bad) => format!("{bad} bad"),
        (Some(slow), bad) => format!("{slow} slow, {bad} bad"),
        (None, bad) => format!("{bad} bad or slow"),
    };
    let known = cause.n > 0;
    let rule = cause.rule.known();
    let why = match rule {
        Some(TransitionRule::BadRun) if known => format!("{poor} in a row"),
        Some(TransitionRule::BrokenRun) if known => {
            format!("{} streams broken in a row", cause.bad)
        }
        Some(TransitionRule::Hanging) if known => {
            format!("{poor} of {}, the others quick", cause.n)
        }
        Some(TransitionRule::BadShare) if known => format!("{poor} of {}", cause.n),
        Some(TransitionRule::NeverAToken) if known => format!("no token from {} calls", cause.n),
        Some(TransitionRule::ProbeBad) if cause.is_slow_probe() => "its probe was slow".to_owned(),
        Some(TransitionRule::ProbeBad) => "its probe was bad".to_owned(),
        Some(TransitionRule::Operator) if rung.health.state == BreakerState::HalfOpen => {
            "an operator let it be probed".to_owned()
        }
        _ => cause.text.clone(),
    };
    let ended = match cause.outcome {
        Some(outcome) => format!(", {outcome}"),
        None if rule.is_some_and(TransitionRule::is_a_return) => String::new(),
        None => outcomes(rung),
    };
    let status = cause.status.map(|status| format!(" {status}")).unwrap_or_default();
    format!(": {why}{ended}{status}")
}

/// The most common way in which its last calls failed.
fn outcomes(rung: &RungState) -> String {
    let quiet = ["ok", "cancelled", "refused", "bad_request"];
    let poor = rung.now.outcomes.iter().filter(|(name, _)| !quiet.contains(&name.as_str()));
    let worst = poor.max_by_key(|(_, count)| **count);
    worst.map(|(name, count)| format!(", {name} ×{count}")).unwrap_or_default()
}

/// Who answers instead on the ladders that have these rungs, and whether users are affected.
fn carried(board: &Board, out: &[&str]) -> String {
    let mut said = Vec::new();
    for ladder in &board.ladders {
        if !out.iter().any(|name| ladder.order.iter().any(|known| known == name)) {
            continue;
        }
        let others = ladder.steps.iter().filter(|step| !out.contains(&step.rung.as_str()));
        let others = others.filter(|step| step.share.is_some_and(|share| share > 0.0));
        let first = others.max_by(|a, b| a.share.unwrap_or(0.0).total_cmp(&b.share.unwrap_or(0.0)));
        if let Some(first) = first.filter(|first| rung(board, &first.rung).is_some()) {
            let lost = ladder.users.failed + ladder.users.broken;
            let share = percent(first.share);
            said.push(format!(
                "{} answered by {} ({share}), {lost} failed",
                ladder.name, first.rung
            ));
        }
    }
    let more = said.len().saturating_sub(2);
    said.truncate(2);
    let more = match more {
        0 => String::new(),
        1 => ", and one more ladder".to_owned(),
        more => format!(", and {more} more ladders"),
    };
    if said.is_empty() { String::new() } else { format!("; {}{more}", said.join("; ")) }
}

fn owned(all: &[&str]) -> Vec<String> {
    all.iter().map(|&name| name.to_owned()).collect()
}
