//! The names of a config that become labels of metrics.

use super::in_force::{InForce, Ladder};
use crate::metrics::{LadderNames, Names, RungNames};
use policy::RungIndex;
use std::sync::Arc;

/// The names that become labels.
pub(super) fn labels(in_force: &InForce) -> Names {
    let InForce { config, rungs, ladders, .. } = in_force;
    let rung_names = config.rungs.iter().zip(rungs).filter_map(|(settings, rung)| {
        Some(RungNames {
            rung: Arc::clone(&rung.name),
            provider: config.providers.get(settings.provider)?.name.as_str().into(),
            model: settings.model.as_str().into(),
        })
    });
    let on = |ladder: &Ladder| {
        let of = |index: &RungIndex| in_force.rung(*index).map(|rung| Arc::clone(&rung.name));
        ladder.spec.rungs.iter().filter_map(of).collect()
    };
    let ladder_names = ladders
        .iter()
        .map(|ladder| LadderNames { ladder: Arc::clone(&ladder.name), rungs: on(ladder) });
    Names { rungs: rung_names.collect(), ladders: ladder_names.collect() }
}
