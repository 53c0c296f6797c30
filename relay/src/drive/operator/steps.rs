//! From what was asked to what is to be done: names become places on the board.

use super::Mark;
use super::refused::{Refused, check_words};
use crate::drive::in_force::Rung;
use crate::drive::relay::Relay;
use policy::{LadderIndex, RungIndex};
use shared::OverrideMode;
use shared::UnixMillis;
use shared::admin::changes::{Change, ChangeRequest, NewOrder, Target};
use shared::admin::ttl::Ttl;

const MOST_CHANGES: usize = 64;

/// Something with a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Rung(RungIndex),
    Ladder(LadderIndex),
}

/// An override to be set, or ended.
#[derive(Debug)]
pub(super) struct Force {
    pub(super) rung: RungIndex,
    pub(super) mode: OverrideMode,
    pub(super) cut: bool,
    pub(super) mark: Mark,
}

/// An order to be set, or ended.
#[derive(Debug)]
pub(super) struct Reorder {
    pub(super) ladder: LadderIndex,
    pub(super) rungs: Option<Vec<RungIndex>>,
    pub(super) adapted: bool,
    pub(super) mark: Mark,
}

/// All that one change does.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) forces: Vec<Force>,
    pub(super) orders: Vec<Reorder>,
    /// Versions that must be so still.
    pub(super) expected: Vec<(Thing, u64)>,
    /// Ladders that may be left without a rung.
    pub(super) accept: Vec<LadderIndex>,
}

impl Relay {
    pub(super) fn find_rung(&self, name: &str) -> Result<RungIndex, Refused> {
        let in_force = self.in_force();
        let found = in_force.rungs.iter().find(|rung| &*rung.name == name).map(|rung| rung.index);
        let known = || in_force.rungs.iter().map(|rung| rung.name.to_string()).collect::<Vec<_>>();
        found.ok_or_else(|| Refused::unknown("rung", name, &known()))
    }

    pub(super) fn find_ladder(&self, name: &str) -> Result<LadderIndex, Refused> {
        let in_force = self.in_force();
        let found = in_force.ladders.iter().find(|ladder| &*ladder.name == name);
        let known =
            || in_force.ladders.iter().map(|ladder| ladder.name.to_string()).collect::<Vec<_>>();
        found.map(|ladder| ladder.index).ok_or_else(|| Refused::unknown("ladder", name, &known()))
    }

    /// What `request` is to do, by `by` at `at`.
    pub(super) fn steps(
        &self,
        request: &ChangeRequest,
        by: &str,
        at: UnixMillis,
    ) -> Result<Steps, Refused> {
        check_words(&request.id, "reason", &request.reason)?;
        if request.changes.is_empty() || request.changes.len() > MOST_CHANGES {
            let message = format!("'changes' must have 1 to {MOST_CHANGES} entries.");
            return Err(Refused::wrong("bad_changes", message));
        }
        let mark = |ttl: Ttl| Mark {
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
                    for rung in self.targets(target)? {
                        if steps.forces.iter().any(|force| force.rung == rung) {
                            return Err(self.twice("rung", &self.rung_name(rung)));
                        }
                        let (mode, cut) = (*mode, *cut_streams);
                        steps.forces.push(Force { rung, mode, cut, mark: mark(Ttl::OVERRIDE) });
                    }
                }
                Change::Order { ladder, order } => {
                    let index = self.find_ladder(ladder)?;
                    if steps.orders.iter().any(|order| order.ladder == index) {
                        return Err(self.twice("ladder", ladder));
                    }
                    let rungs = match order {
                        NewOrder::Config(_) => None,
                        NewOrder::Rungs(names) => Some(self.permutation(index, names)?),
                    };
                    let mark = mark(Ttl::ORDER);
                    steps.orders.push(Reorder { ladder: index, rungs, adapted: false, mark });
                }
            }
        }
        for (name, version) in &request.expect {
            steps.expected.push((self.thing(name)?, *version));
        }
        steps.accept =
            request.accept.iter().map(|name| self.find_ladder(name)).collect::<Result<_, _>>()?;
        Ok(steps)
    }

    fn twice(&self, what: &str, name: &str) -> Refused {
        let message = format!("The {what} '{name}' is changed twice. Name it once.");
        Refused::wrong("twice", message)
    }

    fn targets(&self, target: &Target) -> Result<Vec<RungIndex>, Refused> {
        let in_force = self.in_force();
        let of = |fits: &dyn Fn(&Rung) -> bool| -> Vec<RungIndex> {
            in_force.rungs.iter().filter(|rung| fits(rung)).map(|rung| rung.index).collect()
        };
        let all = in_force.rungs.iter();
        let known = |names: &mut Vec<String>| {
            names.sort();
            names.dedup();
            std::mem::take(names)
        };
        let (what, name, found, mut names) = match target {
            Target::Rung(name) => return Ok(vec![self.find_rung(name)?]),
            Target::Provider(name) => {
                let names = all.map(|rung| rung.provider_name.to_string()).collect::<Vec<_>>();
                ("provider", name, of(&|rung| *rung.provider_name == **name), names)
            }
            Target::Domain(name) => {
                let names = all.flat_map(|rung| rung.domains.iter().cloned()).collect();
                ("domain", name, of(&|rung| rung.domains.contains(name)), names)
            }
        };
        if found.is_empty() {
            return Err(Refused::unknown(what, name, &known(&mut names)));
        }
        Ok(found)
    }

    /// The places of `names`, which have to be all rungs of the ladder, each once.
    fn permutation(
        &self,
        ladder: LadderIndex,
        names: &[String],
    ) -> Result<Vec<RungIndex>, Refused> {
        let Some(ladder) = self.ladder_at(ladder) else { return Ok(Vec::new()) };
        let places: Vec<_> = ladder.spec.rungs.iter().map(|&at| (at, self.rung_name(at))).collect();
        let count = |name: &String| names.iter().filter(|other| *other == name).count();
        let missing = places.iter().map(|(_, name)| name).filter(|name| count(name) == 0);
        let missing: Vec<_> = missing.map(String::as_str).collect();
        let is_there = |name: &String| places.iter().any(|(_, other)| other == name);
        let mut too_much: Vec<_> =
            names.iter().filter(|name| !is_there(name)).map(String::as_str).collect();
        let mut twice: Vec<_> = names
            .iter()
            .filter(|name| is_there(name) && count(name) > 1)
            .map(String::as_str)
            .collect();
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
            return Err(Refused::wrong("bad_order", message));
        }
        let place =
            |name: &String| places.iter().find(|(_, other)| other == name).map(|(at, _)| *at);
        Ok(names.iter().filter_map(place).collect())
    }

    /// What a name in `expect` stands for.
    fn thing(&self, name: &str) -> Result<Thing, Refused> {
        if let Some(name) = name.strip_prefix("rung/") {
            return self.find_rung(name).map(Thing::Rung);
        }
        if let Some(name) = name.strip_prefix("ladder/") {
            return self.find_ladder(name).map(Thing::Ladder);
        }
        match (self.find_rung(name), self.find_ladder(name)) {
            (Ok(rung), Err(_)) => Ok(Thing::Rung(rung)),
            (Err(_), Ok(ladder)) => Ok(Thing::Ladder(ladder)),
            (Ok(_), Ok(_)) => Err(Refused::wrong(
                "ambiguous",
                format!(
                    "'{name}' in 'expect' is a rung and a ladder: write rung/{name} or ladder/{name}."
                ),
            )),
            (Err(_), Err(_)) => {
                let message = format!("'{name}' in 'expect' is neither a rung nor a ladder.");
                Err(Refused::new(super::refused::Why::Unknown, "unknown_name", message))
            }
        }
    }
}
