//! What a change would do, from the last requests of the ladders that it touches.
//! Nothing is changed: it is made on a copy.

use crate::drive::hub::Hub;
use crate::drive::in_force::Ladder;
use crate::drive::numbers::live_at;
use crate::drive::past::Gone;
use crate::drive::snapshot::peak_of;
use crate::wall;
use policy::operator::{Attributions, Moment, Refused, Steps, apply, plan_change};
use policy::preview::{first_tokens, is_all_sick, lost_capability, replan};
use policy::{Board, LadderIndex, RungIndex, Time};
use shared::admin::actions::{
    BeforeAfter, LadderPreview, Preview, StepPreview, Warning, WarningKind,
};
use shared::admin::changes::ChangeRequest;
use shared::{OverrideMode, Usage};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Requests of one moment are taken as a second's.
const LEAST_SPAN: Duration = Duration::from_secs(1);

/// The board as it is and as it would be.
struct Boards {
    before: Board,
    after: Board,
    now: Time,
}

/// What `request` would do.
///
/// # Errors
/// It makes no sense, or names what is not there.
pub fn preview(hub: &Hub, request: &ChangeRequest, by: &str) -> Result<Preview, Refused> {
    let (now, today) = (wall::now(), wall::unix());
    let in_force = hub.in_force();
    let steps = plan_change(&in_force.named, request, by, today)?;
    let before = hub.with_board(now, |board| {
        board.settle(now);
        board.clone()
    });
    let mut after = before.clone();
    let changes: Vec<_> = steps.forces.iter().map(|force| (force.rung, force.mode)).collect();
    let without = before.left_without(&changes, now);
    // The author does not matter here.
    apply(&mut after, &mut Attributions::default(), &steps, Moment { now, today });
    let boards = Boards { before, after, now };
    let touched = in_force.ladders.iter().filter(|ladder| is_touched(ladder, &steps));
    let mut warnings: Vec<_> =
        touched.clone().flat_map(|ladder| warnings(hub, ladder, &boards, &without)).collect();
    let ladders: Vec<_> = touched.map(|ladder| preview_of(hub, ladder, &boards)).collect();
    warnings.extend(over_peak(hub, &ladders, now));
    warnings.sort_by_key(|warning| warning.kind);
    Ok(Preview { ladders, warnings })
}

fn preview_of(hub: &Hub, ladder: &Ladder, boards: &Boards) -> LadderPreview {
    let gone = hub.past.of_ladder(ladder.index);
    let since = gone.first().map(|gone| gone.at);
    let span = since.map_or(Duration::ZERO, |at| {
        Duration::from_millis(u64::try_from(wall::unix().0.saturating_sub(at.0)).unwrap_or(0))
    });
    let seed = wall::rng().u64(..);
    let called = |board: &Board| {
        let needs = gone.iter().map(|gone| gone.need);
        replan(&mut board.clone(), ladder.index, &ladder.spec, needs, boards.now, seed)
    };
    let (before, after) = (called(&boards.before), called(&boards.after));
    let all = gone.len();
    let share = |called: &[Option<RungIndex>], whom: Option<RungIndex>| {
        let count = called.iter().filter(|found| **found == whom).count();
        (all > 0).then(|| count as f64 / all as f64)
    };
    let place = |board: &Board, rung: RungIndex| {
        let order = board.order_of(ladder.index, boards.now).map(|(rungs, _)| rungs);
        let place = order.and_then(|rungs| rungs.iter().position(|other| *other == rung));
        place.and_then(|place| u32::try_from(place + 1).ok()).unwrap_or(0)
    };
    let costs = |called: &[Option<RungIndex>], rung| cost_nps(hub, called, &gone, rung, span);
    let order = boards.before.order_of(ladder.index, boards.now).map(|(rungs, _)| rungs);
    let steps: Vec<_> = order
        .unwrap_or(&ladder.spec.rungs)
        .iter()
        .map(|&rung| StepPreview {
            rung: hub.in_force().named.rung(rung),
            place: BeforeAfter {
                before: place(&boards.before, rung),
                after: place(&boards.after, rung),
            },
            share: BeforeAfter {
                before: share(&before, Some(rung)),
                after: share(&after, Some(rung)),
            },
            cost_nps: BeforeAfter { before: costs(&before, rung), after: costs(&after, rung) },
        })
        .collect();
    let first = |board: &Board, called: &[Option<RungIndex>]| {
        let times = first_tokens(&mut board.clone(), called, boards.now);
        (times.0.map(millis), times.1.map(millis))
    };
    let (half_before, most_before) = first(&boards.before, &before);
    let (half_after, most_after) = first(&boards.after, &after);
    let sum = |of: fn(&StepPreview) -> Option<u64>| steps.iter().map(of).sum::<Option<u64>>();
    LadderPreview {
        ladder: ladder.name.to_string(),
        requests: u32::try_from(all).unwrap_or(u32::MAX),
        since_at: since,
        unserved: BeforeAfter { before: share(&before, None), after: share(&after, None) },
        ttft_p50_ms: BeforeAfter { before: half_before, after: half_after },
        ttft_p95_ms: BeforeAfter { before: most_before, after: most_after },
        cost_nps: BeforeAfter {
            before: sum(|step| step.cost_nps.before),
            after: sum(|step| step.cost_nps.after),
        },
        steps,
    }
}

/// Rungs that would carry more than in any minute of the last day. What they carry now
/// counts in full, since other ladders may lead there, too.
fn over_peak(hub: &Hub, ladders: &[LadderPreview], now: Time) -> Vec<Warning> {
    let mut more: BTreeMap<&str, f64> = BTreeMap::new();
    for ladder in ladders {
        let Some(since) = ladder.since_at else { continue };
        let span = u64::try_from(wall::unix().0.saturating_sub(since.0)).unwrap_or(0);
        let seconds = Duration::from_millis(span).max(LEAST_SPAN).as_secs_f64();
        for step in &ladder.steps {
            let share = step.share.after.unwrap_or(0.0) - step.share.before.unwrap_or(0.0);
            *more.entry(&step.rung).or_default() += share * f64::from(ladder.requests) / seconds;
        }
    }
    let over = more.into_iter().filter(|(_, more)| *more > 0.0).filter_map(|(name, more)| {
        let (carried, peak) = (carried(hub, name, now)?, peak_of(hub, name)?);
        let would = carried + more;
        (would > peak).then(|| Warning {
            kind: WarningKind::OverPeak,
            ladder: None,
            rung: Some(name.to_owned()),
            text: format!(
                "{name} would carry {would:.2} requests a second; its busiest minute of the \
                 last 24 h had {peak:.2}."
            ),
        })
    });
    over.collect()
}

/// Attempts a second at a rung in the last half minute.
fn carried(hub: &Hub, rung: &str, now: Time) -> Option<f64> {
    let index = hub.in_force().named.find_rung(rung).ok()?;
    Some(hub.live.rung_numbers(index.0, live_at(now)).now.rps)
}

/// What the requests that go to `rung` cost a second; `None` without requests, or
/// without a price where there is something to be paid.
fn cost_nps(
    hub: &Hub,
    called: &[Option<RungIndex>],
    gone: &[Gone],
    rung: RungIndex,
    span: Duration,
) -> Option<u64> {
    if gone.is_empty() {
        return None;
    }
    let price = hub.rung(rung).and_then(|rung| rung.price);
    let mine = called.iter().zip(gone).filter(|(found, _)| **found == Some(rung));
    let nanos = mine.map(|(_, gone)| {
        // Cached tokens are another provider's affair.
        let usage = Usage {
            input: gone.usage.input.or(Some(gone.need.prompt_tokens)),
            output: gone.usage.output.or(Some(0)),
            ..Usage::default()
        };
        price?.cost(&usage).map(|cost| u64::try_from(cost.0).unwrap_or(0))
    });
    let nanos = nanos.sum::<Option<u64>>()?;
    let millis = span.max(LEAST_SPAN).as_millis();
    u64::try_from(u128::from(nanos).saturating_mul(1_000) / millis).ok()
}

fn warnings(hub: &Hub, ladder: &Ladder, boards: &Boards, without: &[LadderIndex]) -> Vec<Warning> {
    let name = &ladder.name;
    let warning = |kind, text| Warning { kind, ladder: Some(name.to_string()), rung: None, text };
    let (Boards { before, after, now }, spec) = (boards, &ladder.spec);
    let mut warnings = Vec::new();
    if without.contains(&ladder.index) {
        let text =
            format!("{name} would have forced-open rungs only: every request there would fail.");
        warnings.push(warning(WarningKind::LastRung, text));
    } else if is_all_sick(after, spec, *now) && !is_all_sick(before, spec, *now) {
        let left = spec.rungs.iter().filter(|rung| {
            after.forced(**rung, *now).is_some_and(|(mode, _)| mode != OverrideMode::ForcedOpen)
        });
        let left: Vec<_> = left.map(|rung| hub.in_force().named.rung(*rung)).collect();
        let text =
            format!("{name} would be left with rungs that are open or held: {}.", left.join(", "));
        warnings.push(warning(WarningKind::OnlySick, text));
    }
    let past = hub.past.of_ladder(ladder.index);
    let lost = |gone: &Gone| {
        let capability = lost_capability(after, spec, &gone.need, *now)?;
        lost_capability(before, spec, &gone.need, *now).is_none().then_some(capability.as_str())
    };
    let lost: Vec<_> = past.iter().filter_map(lost).collect();
    let words: BTreeSet<_> = lost.iter().copied().collect();
    if !words.is_empty() {
        let words: Vec<_> = words.into_iter().collect();
        let text = format!(
            "{name} would have no rung that can do {}: {} of its last {} requests need it.",
            words.join(", "),
            lost.len(),
            past.len()
        );
        warnings.push(warning(WarningKind::CapabilityLost, text));
    }
    warnings
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn is_touched(ladder: &Ladder, steps: &Steps) -> bool {
    steps.orders.iter().any(|order| order.ladder == ladder.index)
        || steps.forces.iter().any(|force| ladder.spec.rungs.contains(&force.rung))
}
