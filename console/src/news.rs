//! What the link has to say.

use crate::model::Screen;
use crate::task::Which;
use shared::RequestId;
use shared::admin::actions::{Action, ActionPage, Preview};
use shared::admin::{RequestDetail, RequestPage, Series, Summary, TransitionPage};
use shared::remote::CallError;

/// Why a change was not done, in words for the engineer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotDone {
    /// No answer came: it may have been done.
    MayBeDone(String),
    /// The relay refused it: nothing was done.
    Refused(String),
}

/// What came from a relay.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum News {
    /// An event of its feed, which came at this moment of ours.
    Event { relay: usize, kind: String, data: String, at: i64 },
    /// Its feed is closed, and why; `token`: it wants one, or another one; `gone`: no connection
    /// can be made.
    Lost { relay: usize, why: String, token: bool, gone: bool },
    /// What a change would do.
    Previewed { relay: usize, asked: u64, found: Result<Preview, CallError> },
    /// The last transitions and actions from before this console began.
    Past { relay: usize, found: Result<(TransitionPage, ActionPage), CallError> },
    /// How a change or another action went.
    Done { relay: usize, id: String, result: Result<serde_json::Value, NotDone> },
    /// Requests.
    Requests { relay: usize, asked: u64, what: Which, found: Result<RequestPage, CallError> },
    /// One request.
    Request { relay: usize, id: RequestId, found: Result<Box<RequestDetail>, CallError> },
    /// Transitions.
    Transitions { relay: usize, found: Result<TransitionPage, CallError> },
    /// Curves.
    Series { relay: usize, of: Screen, asked: u64, found: Result<Series, CallError> },
    /// Sums.
    Summary { relay: usize, asked: u64, found: Result<Summary, CallError> },
    /// Actions.
    Actions { relay: usize, found: Result<ActionPage, CallError> },
    /// What is in force.
    InForce { relay: usize, found: Result<ActionPage, CallError> },
    /// Whether a change that was not confirmed is there.
    LookedUp { relay: usize, id: String, found: Result<Option<Box<Action>>, CallError> },
    /// Something that the window itself has to say, such as a file that could not be written.
    Said(String),
}
