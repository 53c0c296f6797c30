//! Turns a request into steps: names become places on the board.

use super::attribution::Attribution;
use super::names::Names;
use super::refused::{Refused, check_reason};
use crate::index::{LadderIndex, RungIndex};
use shared::RefusedReason;
use shared::admin::changes::{Change, ChangeRequest, NewOrder};
use shared::admin::ttl::Ttl;
use shared::{OverrideMode, UnixMillis};

const MOST_CHANGES: usize = 64;

/// Something with a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// A rung's override.
    Rung(RungIndex),
    /// A ladder's order.
    Ladder(LadderIndex),
}

/// An override to be set, or ended.
#[derive(Debug, Clone)]
pub struct Force {
    /// The rung.
    pub rung: RungIndex,
    /// The new override; `auto` ends it.
    pub mode: OverrideMode,
    /// Whether streams that run on it are cut.
    pub cut: bool,
    /// Who made it, and why.
    pub attribution: Attribution,
}

/// An order to be set, or ended.
#[derive(Debug, Clone)]
pub struct Reorder {
    /// The ladder.
    pub ladder: LadderIndex,
    /// All its rungs; `None`: the config's order.
    pub rungs: Option<Vec<RungIndex>>,
    /// Whether the order was made for other rungs and then fitted to these.
    pub adapted: bool,
    /// Who made it, and why.
    pub attribution: Attribution,
}

/// All that one change does.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// Overrides, each rung once.
    pub forces: Vec<Force>,
    /// Orders, each ladder once.
    pub orders: Vec<Reorder>,
    /// Versions that must still be the current ones.
    pub expected: Vec<(Thing, u64)>,
    /// Ladders that may be left with forced-open rungs only.
    pub accept: Vec<LadderIndex>,
}

impl Steps {
    /// Whether it gives a ladder an order without saying which version its author saw.
    pub(super) fn has_blind_order(&self) -> bool {
        self.orders.iter().any(|order| {
            let thing = Thing::Ladder(order.ladder);
            !self.expected.iter().any(|(expected, _)| *expected == thing)
        })
    }

    /// When the last part of it ends by itself; `None`: never, or nothing in it can end.
    #[must_use]
    pub fn end(&self) -> Option<UnixMillis> {
        let forces = self.forces.iter().filter(|force| force.mode != OverrideMode::Auto);
        let orders = self.orders.iter().filter(|order| order.rungs.is_some());
        let made = forces.map(|it| &it.attribution).chain(orders.map(|it| &it.attribution));
        let ends: Option<Vec<_>> = made.map(|it| it.until).collect();
        ends?.into_iter().max()
    }
}

/// The steps that `request` asks for, made by `by` at `at`.
///
/// # Errors
/// The request is wrong, or it names something that does not exist.
pub fn plan_change(
    names: &Names,
    request: &ChangeRequest,
    by: &str,
    at: UnixMillis,
) -> Result<Steps, Refused> {
    check_reason(&request.id, "reason", &request.reason)?;
    if request.changes.is_empty() || request.changes.len() > MOST_CHANGES {
        let message = format!("'changes' must have 1 to {MOST_CHANGES} entries.");
        return Err(Refused::new(RefusedReason::BadChanges, message));
    }
    let attribution = |ttl: Ttl| Attribution {
        version: 0,
        by: Some(by.to_owned()),
        reason: Some(request.reason.clone()),
        at,
        until: request.ttl.unwrap_or(ttl).span().map(|span| at.plus(span)),
        action: Some(request.id.clone()),
    };
    let mut steps = Steps::default();
    for change in &request.changes {
        match change {
            Change::Override { target, mode, cut_streams } => {
                for rung in names.targets(target)? {
                    if steps.forces.iter().any(|force| force.rung == rung) {
                        return Err(twice("rung", &names.rung(rung)));
                    }
                    let (mode, cut) = (*mode, *cut_streams);
                    steps.forces.push(Force {
                        rung,
                        mode,
                        cut,
                        attribution: attribution(Ttl::OVERRIDE),
                    });
                }
            }
            Change::Order { ladder, order } => {
                let index = names.find_ladder(ladder)?;
                if steps.orders.iter().any(|order| order.ladder == index) {
                    return Err(twice("ladder", ladder));
                }
                let rungs = match order {
                    NewOrder::Config(_) => None,
                    NewOrder::Rungs(order) => Some(permutation(names, index, order)?),
                };
                let attribution = attribution(Ttl::ORDER);
                steps.orders.push(Reorder { ladder: index, rungs, adapted: false, attribution });
            }
        }
    }
    for (name, version) in &request.expect {
        steps.expected.push((thing(names, name)?, *version));
    }
    steps.accept =
        request.accept.iter().map(|name| names.find_ladder(name)).collect::<Result<_, _>>()?;
    Ok(steps)
}

fn twice(what: &str, name: &str) -> Refused {
    let message = format!("The {what} '{name}' is changed twice. Name it once.");
    Refused::new(RefusedReason::Twice, message)
}

/// The places of `order`, which must name all rungs of the ladder, each once.
fn permutation(
    names: &Names,
    ladder: LadderIndex,
    order: &[String],
) -> Result<Vec<RungIndex>, Refused> {
    let Some(ladder) = names.ladder(ladder) else { return Ok(Vec::new()) };
    let places: Vec<_> = ladder.rungs.iter().map(|&at| (at, names.rung(at))).collect();
    let count = |name: &String| order.iter().filter(|other| *other == name).count();
    let missing = places.iter().map(|(_, name)| name).filter(|name| count(name) == 0);
    let missing: Vec<_> = missing.map(String::as_str).collect();
    let is_there = |name: &String| places.iter().any(|(_, other)| other == name);
    let mut too_much: Vec<_> =
        order.iter().filter(|name| !is_there(name)).map(String::as_str).collect();
    let mut twice: Vec<_> =
        order.iter().filter(|name| is_there(name) && count(name) > 1).map(String::as_str).collect();
    for list in [&mut too_much, &mut twice] {
        list.sort_unstable();
        list.dedup();
    }
    let faults: Vec<_> =
        [("missing", missing), ("not on this ladder", too_much), ("more than once", twice)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(fault, names)| format!("{fault}: {}", names.join(", ")))
            .collect();
    if !faults.is_empty() {
        let message = format!(
            "The order of '{}' must have all its rungs, each once; {}.",
            ladder.name,
            faults.join("; ")
        );
        return Err(Refused::new(RefusedReason::BadOrder, message));
    }
    let place = |name: &String| places.iter().find(|(_, other)| other == name).map(|(at, _)| *at);
    Ok(order.iter().filter_map(place).collect())
}

/// What a name in `expect` stands for.
fn thing(names: &Names, name: &str) -> Result<Thing, Refused> {
    if let Some(name) = name.strip_prefix("rung/") {
        return names.find_rung(name).map(Thing::Rung);
    }
    if let Some(name) = name.strip_prefix("ladder/") {
        return names.find_ladder(name).map(Thing::Ladder);
    }
    match (names.find_rung(name), names.find_ladder(name)) {
        (Ok(rung), Err(_)) => Ok(Thing::Rung(rung)),
        (Err(_), Ok(ladder)) => Ok(Thing::Ladder(ladder)),
        (Ok(_), Ok(_)) => Err(Refused::new(
            RefusedReason::Ambiguous,
            format!(
                "'{name}' in 'expect' is a rung and a ladder: write rung/{name} or ladder/{name}."
            ),
        )),
        (Err(_), Err(_)) => {
            let message = format!("'{name}' in 'expect' is neither a rung nor a ladder.");
            Err(Refused::new(RefusedReason::UnknownName, message))
        }
    }
}
