//! What watchers of the relay get at once: operators' actions, and overrides that ended by themselves.

use crate::feed::Feed;
use policy::operator::Names;
use policy::{LadderIndex, RungIndex};
use shared::admin::FeedKind;
use shared::admin::actions::{Action, ActionKind};

/// An event that watchers of the relay get at once.
#[derive(Debug)]
pub(super) enum Announced {
    /// An operator did this.
    Action(Box<Action>),
    /// A rung's override has changed or ended.
    Rung(RungIndex),
    /// A ladder's order has changed or ended.
    Ladder(LadderIndex),
}

/// Where others hang on who want to know at once what operators did and what ended by
/// itself. Called after it is in force. The operators' lock may be held: it must neither
/// block nor ask for anything of theirs.
pub(super) fn announce(feed: &Feed, names: &Names, what: &Announced) {
    match what {
        Announced::Action(action) => {
            tracing::debug!(id = action.id, "an action");
            let is_note = action.kind == ActionKind::Note;
            let kind = if is_note { FeedKind::Note } else { FeedKind::Action };
            feed.publish(kind, action);
        }
        // The new state follows with the next snapshot, a quarter of a second from now.
        Announced::Rung(rung) => {
            tracing::debug!(rung = names.rung(*rung), "a rung's override");
        }
        Announced::Ladder(ladder) => {
            tracing::debug!(ladder = names.ladder_name(*ladder), "a ladder's order");
        }
    }
}
