//! Keeping what operators did: an action in the journal, and its author's answer after that.

use crate::drive::hub::Hub;
use crate::drive::operator_state::{Answer, State};
use crate::wall;
use journal::ActionRecord;
use serde::Serialize;
use shared::admin::actions::{About, Action, ActionKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long an answer waits for its record's COMMIT; after that it reports that there was none.
const COMMIT: Duration = Duration::from_secs(1);

/// An action of now that has changed nothing yet.
pub(super) fn new_action(kind: ActionKind, id: &str, reason: &str, by: &str) -> Action {
    Action {
        id: id.to_owned(),
        at: wall::unix(),
        kind,
        by: by.to_owned(),
        reason: reason.to_owned(),
        changes: Vec::new(),
        about: About::default(),
        before: None,
        after: None,
        accepted: Vec::new(),
        check: None,
        until_at: None,
        ended_at: None,
        ended_by: None,
        undoes: None,
        in_force: false,
    }
}

/// Journals an action and answers its author once that is done. `answer` is given
/// whether it was journaled.
pub(super) fn record<T: Serialize>(
    hub: &Arc<Hub>,
    state: &mut State,
    action: Action,
    answer: impl Fn(bool) -> T + Send + 'static,
) -> Answer {
    let (tell, told) = watch::channel(None);
    state.keep(action.clone(), told.clone());
    record_later(hub, action, answer, tell);
    Answer(told)
}

pub(super) fn record_later<T: Serialize>(
    hub: &Arc<Hub>,
    action: Action,
    answer: impl Fn(bool) -> T + Send + 'static,
    tell: watch::Sender<Option<Arc<str>>>,
) {
    let commit = hub.journal.action(ActionRecord { action, answer: json(&answer(true)) });
    // A task of its own: if its author hangs up, the answer is there for the next request of this id.
    tokio::spawn(async move {
        let journaled = tokio::time::timeout(COMMIT, commit).await.unwrap_or(false);
        tell.send_replace(Some(json(&answer(journaled))));
    });
}

fn json(answer: &impl Serialize) -> Arc<str> {
    // Plain data always serialises.
    serde_json::to_string(answer).unwrap_or_else(|_| "{}".to_owned()).into()
}
