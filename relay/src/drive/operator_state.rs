//! What operators have done, beside what the board knows of it, and the answers already given.

use parking_lot::{Mutex, MutexGuard};
use policy::operator::{Attributions, Refused};
use shared::admin::actions::{Action, ActionKind};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::watch;

/// How many answers are kept in memory.
const ANSWERS: usize = 1_000;

pub(super) type AnswerReceiver = watch::Receiver<Option<Arc<str>>>;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) action: Action,
    pub(super) answer: AnswerReceiver,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) attributions: Attributions,
    pub(super) notes: Vec<Action>,
    /// The last actions and their answers, the newest last.
    answers: VecDeque<Entry>,
}

/// What operators have done, beside what the board knows of it.
#[derive(Debug, Default)]
pub(super) struct OperatorState {
    state: Mutex<State>,
}

/// The answer to a call, once it is known how its record fared.
#[derive(Debug)]
pub struct Answer(pub(super) AnswerReceiver);

impl Answer {
    /// The answer as JSON; `None` if the relay ended meanwhile.
    pub async fn json(mut self) -> Option<Arc<str>> {
        let told = self.0.wait_for(Option::is_some).await.ok()?;
        told.clone()
    }

    pub(super) fn ready(json: Arc<str>) -> Self {
        Self(watch::channel(Some(json)).1)
    }
}

impl OperatorState {
    /// Plain data: a panic under the lock leaves it usable.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    pub(super) fn find(&self, id: &str) -> Option<&Entry> {
        self.answers.iter().rev().find(|entry| entry.action.id == id)
    }

    pub(super) fn answered(
        &self,
        id: &str,
        kind: ActionKind,
        is_same: impl Fn(&Action) -> bool,
    ) -> Result<Option<Answer>, Refused> {
        match self.find(id) {
            None => Ok(None),
            Some(entry) if entry.action.kind == kind && is_same(&entry.action) => {
                Ok(Some(Answer(entry.answer.clone())))
            }
            Some(_) => Err(Refused::reused(id)),
        }
    }

    /// What is known of an action by now.
    pub(super) fn update(&mut self, action: &Action) {
        if let Some(entry) = self.answers.iter_mut().find(|entry| entry.action.id == action.id) {
            entry.action = action.clone();
        }
    }

    pub(super) fn keep(&mut self, action: Action, answer: AnswerReceiver) {
        if self.answers.len() >= ANSWERS {
            self.answers.pop_front();
        }
        self.answers.push_back(Entry { action, answer });
    }
}
