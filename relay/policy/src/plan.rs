//! Planning: which rungs of a ladder may be called for this request, and why
//! the others are passed over.

use crate::board::Board;
use crate::capability::Capability;
use crate::index::{LadderIndex, RungIndex};
use crate::ladder::{LadderSpec, Need, RungSpec};
use crate::time::Time;
use shared::{OrderSource, PassedOver};

/// The candidates in their order, and what was left out.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Rungs that may be called now, in order.
    pub candidates: Vec<RungIndex>,
    /// Rungs that may not, with the reason.
    pub passed_over: Vec<(RungIndex, PassedOver)>,
    /// A capability that some rung lacks, for the error's text.
    pub lacking: Option<Capability>,
}

/// Plans a walk of `ladder`, which stands at `at` on the board, for `need`. An operator's
/// order beats the config's.
#[must_use]
pub fn plan(at: LadderIndex, ladder: &LadderSpec, need: &Need, board: &Board, now: Time) -> Plan {
    let needs = need.capabilities.union(ladder.require);
    let largest = largest_context(ladder, board, |spec| {
        spec.can_for(need).lacks(needs).is_none()
            && spec.can_express(need)
            && spec.gives_enough(need)
    });
    let mut plan = Plan::default();
    // The config's order comes from the walk itself: the board may have another config by now.
    let rungs = match board.order_of(at, now) {
        Some((rungs, OrderSource::Operator | OrderSource::Adapted)) => rungs,
        Some((_, OrderSource::Config)) | None => &ladder.rungs,
    };
    // A reload while the request's body arrived may have added rungs that the walk's own config
    // does not have, and removed others.
    let own = rungs.iter().filter(|rung| ladder.rungs.contains(rung));
    let left = ladder.rungs.iter().filter(|rung| !rungs.contains(rung));
    for &rung in own.chain(left) {
        let Some(spec) = board.spec(rung) else { continue };
        let lacking = spec.can_for(need).lacks(needs);
        plan.lacking = plan.lacking.or(lacking);
        let verdict = if lacking.is_some() {
            Err(PassedOver::Capability)
        } else if !spec.can_express(need) {
            Err(PassedOver::Dialect)
        } else if !fits(spec, need) && spec.context < largest {
            // The size is an estimate: it may not remove the rung with the most room.
            Err(PassedOver::Context)
        } else if !spec.gives_enough(need) {
            Err(PassedOver::MaxOutput)
        } else {
            board.usable(rung, now)
        };
        match verdict {
            Ok(()) => plan.candidates.push(rung),
            Err(reason) => plan.passed_over.push((rung, reason)),
        }
    }
    plan
}

fn fits(spec: &RungSpec, need: &Need) -> bool {
    spec.context.is_none_or(|context| need.prompt_tokens <= context)
}

/// The largest stated context on the ladder; a rung that states none always fits.
fn largest_context(
    ladder: &LadderSpec,
    board: &Board,
    able: impl Fn(&RungSpec) -> bool,
) -> Option<u64> {
    let specs = ladder.rungs.iter().filter_map(|&rung| board.spec(rung)).filter(|spec| able(spec));
    let mut largest = None;
    for spec in specs {
        match spec.context {
            // This rung has room for any prompt: no smaller one needs to be tried.
            None => return Some(u64::MAX),
            context => largest = largest.max(context),
        }
    }
    largest
}
