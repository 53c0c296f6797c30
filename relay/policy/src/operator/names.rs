//! What the config in force calls the rungs and ladders of the board.

use super::refused::Refused;
use crate::index::{LadderIndex, RungIndex};
use shared::RefusedReason;
use shared::admin::changes::Target;

/// A rung by its name.
#[derive(Debug, Clone)]
pub struct RungName {
    /// Its name.
    pub name: String,
    /// Its place on the board.
    pub index: RungIndex,
    /// Its provider's name.
    pub provider: String,
    /// The failure domains that it shares with other rungs.
    pub domains: Vec<String>,
}

/// A ladder by its name.
#[derive(Debug, Clone)]
pub struct LadderName {
    /// Its name.
    pub name: String,
    /// Its place on the board.
    pub index: LadderIndex,
    /// Its rungs in the config's order.
    pub rungs: Vec<RungIndex>,
}

/// The names of all rungs and ladders, in the config's order.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The rungs.
    pub rungs: Vec<RungName>,
    /// The ladders.
    pub ladders: Vec<LadderName>,
}

impl Names {
    /// The rung with this name.
    ///
    /// # Errors
    /// No rung has this name.
    pub fn find_rung(&self, name: &str) -> Result<RungIndex, Refused> {
        let found = self.rungs.iter().find(|rung| rung.name == name);
        let known = || self.rungs.iter().map(|rung| rung.name.clone()).collect::<Vec<_>>();
        found
            .map(|rung| rung.index)
            .ok_or_else(|| Refused::unknown(RefusedReason::UnknownRung, "rung", name, &known()))
    }

    /// The ladder with this name.
    ///
    /// # Errors
    /// No ladder has this name.
    pub fn find_ladder(&self, name: &str) -> Result<LadderIndex, Refused> {
        let found = self.ladders.iter().find(|ladder| ladder.name == name);
        let known = || self.ladders.iter().map(|ladder| ladder.name.clone()).collect::<Vec<_>>();
        found
            .map(|ladder| ladder.index)
            .ok_or_else(|| Refused::unknown(RefusedReason::UnknownLadder, "ladder", name, &known()))
    }

    /// A rung's name; empty for a rung that is no longer in the config.
    #[must_use]
    pub fn rung(&self, index: RungIndex) -> String {
        let found = self.rungs.iter().find(|rung| rung.index == index);
        found.map(|rung| rung.name.clone()).unwrap_or_default()
    }

    /// A ladder by its place on the board; `None` for one that is no longer in the config.
    #[must_use]
    pub fn ladder(&self, index: LadderIndex) -> Option<&LadderName> {
        self.ladders.iter().find(|ladder| ladder.index == index)
    }

    /// A ladder's name; empty for a ladder that is no longer in the config.
    #[must_use]
    pub fn ladder_name(&self, index: LadderIndex) -> String {
        self.ladder(index).map(|ladder| ladder.name.clone()).unwrap_or_default()
    }

    /// The rungs that a target stands for, at least one.
    pub(super) fn targets(&self, target: &Target) -> Result<Vec<RungIndex>, Refused> {
        let of = |fits: &dyn Fn(&RungName) -> bool| -> Vec<RungIndex> {
            self.rungs.iter().filter(|rung| fits(rung)).map(|rung| rung.index).collect()
        };
        let all = self.rungs.iter();
        let (reason, what, name, found, mut known): (_, _, _, _, Vec<String>) = match target {
            Target::Rung(name) => return Ok(vec![self.find_rung(name)?]),
            Target::Provider(name) => {
                let known = all.map(|rung| rung.provider.clone()).collect();
                (
                    RefusedReason::UnknownProvider,
                    "provider",
                    name,
                    of(&|rung| rung.provider == *name),
                    known,
                )
            }
            Target::Domain(name) => {
                let known = all.flat_map(|rung| rung.domains.iter().cloned()).collect();
                (
                    RefusedReason::UnknownDomain,
                    "domain",
                    name,
                    of(&|rung| rung.domains.contains(name)),
                    known,
                )
            }
        };
        if found.is_empty() {
            known.sort();
            known.dedup();
            return Err(Refused::unknown(reason, what, name, &known));
        }
        Ok(found)
    }
}
