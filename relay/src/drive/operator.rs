//! What operators change while the relay runs. The rules are the core's
//! ([`policy::operator`]); this makes changes under the locks, keeps answers, and records and
//! announces what was made.
//!
//! Invariants:
//! - A change is checked and made under one hold of `state` and, within, of the
//!   board; never the other way round. So two operators are served one after the other.
//! - It is in force before its record is with the journal's writer, and its author
//!   is answered only after the COMMIT, or after having waited for it long enough.
//! - What was refused did nothing: its id may be used again.
//!
//! The parts: `change` makes changes and takes them back, `actions` are probes and notes,
//! `check` calls a rung once, `present` says what is so, `preview` what would be so from what
//! `past` has kept, `restore` what an earlier life left.

mod actions;
mod change;
mod check;
mod past;
mod present;
mod preview;
mod restore;

pub(super) use past::{Gone, Past};

use super::relay::Relay;
use crate::wall;
use journal::ActionRecord;
use policy::operator::{Attributions, Refused};
use policy::{LadderIndex, RungIndex};
use serde::Serialize;
use shared::admin::FeedKind;
use shared::admin::actions::{Action, ActionKind};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// An answer waits so long for its record's COMMIT; then it says that there was none.
const COMMIT: Duration = Duration::from_secs(1);
/// So many answers are at hand without the journal.
const ANSWERS: usize = 1_000;

/// Something happened that whoever watches the relay wants to know.
#[derive(Debug)]
pub enum Published {
    /// An operator did this.
    Action(Box<Action>),
    /// A rung's override has changed or ended.
    Rung(RungIndex),
    /// A ladder's order has changed or ended.
    Ladder(LadderIndex),
}

type Told = watch::Receiver<Option<Arc<str>>>;

#[derive(Debug)]
struct Entry {
    action: Action,
    told: Told,
}

#[derive(Debug, Default)]
struct State {
    attributions: Attributions,
    notes: Vec<Action>,
    /// The last actions and their answers, the newest last.
    answers: VecDeque<Entry>,
}

/// What operators have done, beside what the board knows of it.
#[derive(Debug, Default)]
pub(super) struct Operators {
    state: Mutex<State>,
}

/// The answer to a call, once it is known how its record fared.
#[derive(Debug)]
pub struct Answer(Told);

impl Answer {
    /// The answer as JSON; `None` if the relay ended meanwhile.
    pub async fn json(mut self) -> Option<Arc<str>> {
        let told = self.0.wait_for(Option::is_some).await.ok()?;
        told.clone()
    }

    fn ready(json: Arc<str>) -> Self {
        Self(watch::channel(Some(json)).1)
    }
}

impl Operators {
    /// Plain data: a panic under the lock leaves it usable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Relay {
    /// Where others hang on who want to know at once what operators did and what ended by
    /// itself. Called after it is in force. The operators' lock may be held: it must neither
    /// block nor ask for anything of theirs.
    pub(super) fn published(&self, what: &Published) {
        match what {
            Published::Action(action) => {
                tracing::debug!(id = action.id, "an action");
                let is_note = action.kind == ActionKind::Note;
                let kind = if is_note { FeedKind::Note } else { FeedKind::Action };
                self.feed.publish(kind, action);
            }
            // What it is now is told with the next look, a quarter of a second from now.
            Published::Rung(rung) => {
                tracing::debug!(rung = self.in_force().named.rung(*rung), "a rung's override");
            }
            Published::Ladder(ladder) => {
                tracing::debug!(
                    ladder = self.in_force().named.ladder_name(*ladder),
                    "a ladder's order"
                );
            }
        }
    }

    /// The answer that was given under this id, if it was the same that was asked.
    ///
    /// # Errors
    /// The id was used for something else.
    pub fn answered(
        &self,
        id: &str,
        kind: ActionKind,
        is_same: impl Fn(&Action) -> bool,
    ) -> Result<Option<Answer>, Refused> {
        self.operators.lock().answered(id, kind, is_same)
    }

    /// As [`Relay::answered`], of an action that the journal had.
    ///
    /// # Errors
    /// The id was used for something else.
    pub fn answered_before(
        found: &(Action, String),
        kind: ActionKind,
        is_same: impl Fn(&Action) -> bool,
    ) -> Result<Answer, Refused> {
        let (action, answer) = found;
        if action.kind == kind && is_same(action) {
            Ok(Answer::ready(answer.as_str().into()))
        } else {
            Err(Refused::reused(&action.id))
        }
    }

    /// An action of late, by its id; older ones are in the journal.
    #[must_use]
    pub fn action(&self, id: &str) -> Option<Action> {
        let (state, now) = (self.operators.lock(), wall::now());
        let action = state.find(id)?.action.clone();
        let in_force = self.with_board(now, |board| {
            policy::operator::present::is_in_force(board, &state.attributions, id, now)
        });
        let stands = state.notes.iter().any(|note| note.id == id);
        Some(Action { in_force: in_force || stands, ..action })
    }

    /// Notes that stand, the oldest first.
    #[must_use]
    pub fn notes(&self) -> Vec<Action> {
        self.operators.lock().notes.clone()
    }

    /// Journals an action and answers its author once that is done. `answer` is given
    /// whether it was journaled.
    fn record<T: Serialize>(
        self: &Arc<Self>,
        state: &mut State,
        action: Action,
        answer: impl Fn(bool) -> T + Send + 'static,
    ) -> Answer {
        let (tell, told) = watch::channel(None);
        state.keep(action.clone(), told.clone());
        self.record_later(action, answer, tell);
        Answer(told)
    }

    fn record_later<T: Serialize>(
        self: &Arc<Self>,
        action: Action,
        answer: impl Fn(bool) -> T + Send + 'static,
        tell: watch::Sender<Option<Arc<str>>>,
    ) {
        let commit = self.journal.action(ActionRecord { action, answer: json(&answer(true)) });
        // A task of its own: an author who hangs up leaves the answer to whoever asks again.
        tokio::spawn(async move {
            let journaled = tokio::time::timeout(COMMIT, commit).await.unwrap_or(false);
            tell.send_replace(Some(json(&answer(journaled))));
        });
    }
}

impl State {
    fn find(&self, id: &str) -> Option<&Entry> {
        self.answers.iter().rev().find(|entry| entry.action.id == id)
    }

    fn answered(
        &self,
        id: &str,
        kind: ActionKind,
        is_same: impl Fn(&Action) -> bool,
    ) -> Result<Option<Answer>, Refused> {
        match self.find(id) {
            None => Ok(None),
            Some(entry) if entry.action.kind == kind && is_same(&entry.action) => {
                Ok(Some(Answer(entry.told.clone())))
            }
            Some(_) => Err(Refused::reused(id)),
        }
    }

    /// What is known of an action by now.
    fn update(&mut self, action: &Action) {
        if let Some(entry) = self.answers.iter_mut().find(|entry| entry.action.id == action.id) {
            entry.action = action.clone();
        }
    }

    fn keep(&mut self, action: Action, told: Told) {
        if self.answers.len() >= ANSWERS {
            self.answers.pop_front();
        }
        self.answers.push_back(Entry { action, told });
    }
}

fn json(answer: &impl Serialize) -> Arc<str> {
    // Plain data always serialises; an empty object is the honest stand-in.
    serde_json::to_string(answer).unwrap_or_else(|_| "{}".to_owned()).into()
}
