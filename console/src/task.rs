//! What the link is asked to do.

use crate::model::Screen;
use shared::RequestId;
use shared::admin::changes::ChangeRequest;

/// What the link is to do.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Task {
    /// Ask what a change would do.
    Preview { relay: usize, asked: u64, request: ChangeRequest },
    /// Make a change, once.
    Change { relay: usize, request: ChangeRequest },
    /// A probe, a check, an undo or a note, once; `ends`: take away what is there.
    Action { relay: usize, id: String, path: Vec<String>, ends: bool, body: serde_json::Value },
    /// Read requests, for the list.
    Requests { relay: usize, asked: u64, what: Which, query: Vec<(String, String)> },
    /// Read one request.
    Request { relay: usize, id: RequestId },
    /// Read transitions.
    Transitions { relay: usize, query: Vec<(String, String)> },
    /// Read rungs' curves.
    Series { relay: usize, of: Screen, asked: u64, query: Vec<(String, String)> },
    /// Read how many requests there were.
    Summary { relay: usize, asked: u64, query: Vec<(String, String)> },
    /// Read actions.
    Actions { relay: usize },
    /// Read what happened before this console began.
    Past { relay: usize },
    /// Read what operators have in force.
    InForce { relay: usize },
    /// Whether a change that was not confirmed was done.
    LookUp { relay: usize, id: String },
    /// From now on this relay gets this token.
    Token { relay: usize, token: String },
}

/// What a list of requests is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The first page.
    First,
    /// The next one.
    Next,
    /// What came since.
    Newer,
    /// The ids in a summary.
    Worst,
}

impl Task {
    /// The relay that it is for.
    #[must_use]
    pub const fn relay(&self) -> usize {
        match self {
            Self::Preview { relay, .. }
            | Self::Change { relay, .. }
            | Self::Action { relay, .. }
            | Self::Requests { relay, .. }
            | Self::Request { relay, .. }
            | Self::Transitions { relay, .. }
            | Self::Series { relay, .. }
            | Self::Summary { relay, .. }
            | Self::Actions { relay }
            | Self::Past { relay }
            | Self::InForce { relay }
            | Self::LookUp { relay, .. }
            | Self::Token { relay, .. } => *relay,
        }
    }
}
