//! Taking an action back: what was so before it is so again, if nothing later
//! stands on it.

use super::carry::latest;
use super::refused::{Refused, Why, check_words};
use super::steps::{Force, Reorder, Steps, Thing};
use super::{Answer, Mark};
use crate::drive::relay::Relay;
use crate::wall;
use policy::order::adapt;
use shared::admin::actions::{About, Action, ActionKind};
use shared::admin::changes::{Deed, OrderNow, OverrideNow};
use shared::{OrderSource, OverrideMode, UnixMillis};
use std::sync::Arc;

impl Relay {
    /// Takes `undone` back.
    ///
    /// # Errors
    /// Why it was not taken back; then nothing has changed.
    pub fn undo(
        self: &Arc<Self>,
        undone: &Action,
        deed: &Deed,
        by: &str,
    ) -> Result<Answer, Refused> {
        check_words(&deed.id, "reason", &deed.reason)?;
        let at = wall::unix();
        let mut state = self.operators.lock();
        let same = |action: &Action| action.undoes.as_ref() == Some(&undone.id);
        if let Some(answer) = state.answered(&deed.id, ActionKind::Undo, same)? {
            return Ok(answer);
        }
        let steps = self.steps_back(undone, deed, at)?;
        let carried = self.carry_out(&mut state, &steps, Why::Conflict)?;
        let action = Action {
            id: deed.id.clone(),
            at,
            kind: ActionKind::Undo,
            by: by.to_owned(),
            reason: deed.reason.clone(),
            changes: Vec::new(),
            about: About::default(),
            before: Some(carried.before),
            after: Some(carried.after),
            accepted: carried.accepted,
            check: None,
            until_at: latest(&steps),
            ended_at: None,
            ended_by: None,
            undoes: Some(undone.id.clone()),
            in_force: true,
        };
        let answer = self.record_change(&mut state, action.clone());
        drop(state);
        self.publish(&steps, action);
        Ok(answer)
    }

    fn steps_back(&self, undone: &Action, deed: &Deed, at: UnixMillis) -> Result<Steps, Refused> {
        let (Some(before), Some(after)) = (&undone.before, &undone.after) else {
            let more = match undone.kind {
                ActionKind::Note => " End it instead.",
                _ => " It changed nothing that stays.",
            };
            let message =
                format!("'{}' was a {}: it is not taken back.{more}", undone.id, undone.kind);
            return Err(Refused::new(Why::Conflict, "no_undo", message));
        };
        // What was only looked at, or was so already, is none of its doing.
        let mut steps = Steps::default();
        for now in &after.rungs {
            let then = before.rungs.iter().find(|then| then.rung == now.rung);
            let Some(then) = then.filter(|then| then.version != now.version) else { continue };
            steps.expected.push((Thing::Rung(self.find_rung(&now.rung)?), now.version));
            steps.forces.push(self.force_back(then, deed, at)?);
        }
        for now in &after.ladders {
            let then = before.ladders.iter().find(|then| then.ladder == now.ladder);
            let Some(then) = then.filter(|then| then.version != now.version) else { continue };
            steps.expected.push((Thing::Ladder(self.find_ladder(&now.ladder)?), now.version));
            steps.orders.push(self.order_back(then, deed, at)?);
        }
        steps.accept =
            deed.accept.iter().map(|name| self.find_ladder(name)).collect::<Result<_, _>>()?;
        Ok(steps)
    }

    fn force_back(
        &self,
        then: &OverrideNow,
        deed: &Deed,
        at: UnixMillis,
    ) -> Result<Force, Refused> {
        // What would have ended by itself meanwhile does not come back.
        let is_over = then.until_at.is_some_and(|until| until <= at);
        Ok(Force {
            rung: self.find_rung(&then.rung)?,
            mode: if is_over { OverrideMode::Auto } else { then.mode },
            cut: then.cut_streams && !is_over,
            mark: Mark {
                version: 0,
                by: then.by.clone(),
                reason: then.reason.clone(),
                at: then.at.unwrap_or(at),
                until: then.until_at,
                action: Some(deed.id.clone()),
            },
        })
    }

    fn order_back(&self, then: &OrderNow, deed: &Deed, at: UnixMillis) -> Result<Reorder, Refused> {
        let ladder = self.find_ladder(&then.ladder)?;
        let is_over = then.until_at.is_some_and(|until| until <= at);
        let is_configs = is_over || then.source == OrderSource::Config;
        let (rungs, adapted) = self.fitted(ladder, &then.order);
        Ok(Reorder {
            ladder,
            rungs: (!is_configs).then_some(rungs),
            adapted: adapted || then.source == OrderSource::Adapted,
            mark: Mark {
                version: 0,
                by: then.by.clone(),
                reason: then.reason.clone(),
                at: then.at.unwrap_or(at),
                until: then.until_at,
                action: Some(deed.id.clone()),
            },
        })
    }

    /// An order by names, fitted to the rungs that the ladder has now; whether it had to be.
    pub(in crate::drive) fn fitted(
        &self,
        ladder: policy::LadderIndex,
        names: &[String],
    ) -> (Vec<policy::RungIndex>, bool) {
        let config = self.ladder_at(ladder).map(|ladder| ladder.spec.rungs.clone());
        let config = config.unwrap_or_default();
        let places: Vec<_> = names.iter().filter_map(|name| self.find_rung(name).ok()).collect();
        let fitted = adapt(&places, &config);
        let adapted = fitted != places || places.len() != names.len();
        (fitted, adapted)
    }
}
