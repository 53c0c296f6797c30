//! One body to one relay, done at the most once: what is not confirmed is looked up by
//! its id, and never sent again by itself.

use super::common::Ended;
use super::common::Failed;
use super::relays::Relays;
use crate::screen::{self, Line};
use crate::wall;
use http::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::admin::actions::Action;
use shared::remote::{Answer, CallError, PATIENCE, Remote};
use std::time::Duration;

/// How often what was not confirmed is looked up, and how long between.
const LOOKS: u32 = 3;
const BETWEEN: Duration = Duration::from_secs(1);

/// A body on its way.
pub(super) struct Deal<'a, B> {
    /// Its id, under which it can be found.
    pub(super) id: &'a str,
    pub(super) method: Method,
    pub(super) path: &'a [&'a str],
    pub(super) body: &'a B,
    pub(super) patience: Duration,
}

/// How it went.
#[derive(Debug)]
pub(super) enum Delivery<T> {
    /// Answered.
    Done(Answer<T>),
    /// Not answered, and found to be done.
    Found(Box<Answer<Action>>),
    /// Refused, not sent, or not confirmed.
    Failed(CallError),
}

/// Sends it, and looks it up where no answer came.
pub(super) async fn deliver<T: DeserializeOwned>(
    remote: &Remote,
    deal: &Deal<'_, impl Serialize>,
) -> Delivery<T> {
    let sent = remote.send(deal.method.clone(), deal.path, deal.body, deal.patience).await;
    let why = match sent {
        Ok(answer) => return Delivery::Done(answer),
        Err(CallError::NotConfirmed(why)) => why,
        Err(error) => return Delivery::Failed(error),
    };
    super::common::print_error(format_args!("belay: {why} Looking for action {} …", deal.id));
    let mut more = "It may have been done.";
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(BETWEEN).await;
        }
        // If not, it may still be on its way; and a relay out of reach may come back.
        match remote.get::<Action>(&["actions", deal.id], &[]).await {
            Ok(found) => return Delivery::Found(Box::new(found)),
            Err(CallError::Refused(StatusCode::NOT_FOUND, ..)) => {
                more = "Asked now, it knows no such action: so far nothing was done.";
            }
            Err(_) => more = "It may have been done.",
        }
    }
    Delivery::Failed(CallError::NotConfirmed(format!("{why}\n{more}")))
}

/// A fresh id for what an operator does.
pub(super) fn fresh_id() -> String {
    // As request ids: it sorts by age, and can be read out over a phone.
    wall::request_id().to_string().replacen("req", "act", 1)
}

/// Says how it went, and what is so now. `show` draws an answer.
pub(super) fn report<T>(
    relays: &Relays,
    remote: &Remote,
    id: &str,
    delivery: &Delivery<T>,
    show: impl FnOnce(&T) -> Vec<Line>,
) -> Ended {
    match delivery {
        Delivery::Done(answer) if relays.json() => relays.print_json(remote, Ok(&answer.json)),
        Delivery::Done(answer) => relays.show(&show(&answer.value)),
        Delivery::Found(found) if relays.json() => relays.print_json(remote, Ok(&found.json)),
        Delivery::Found(found) => {
            let action = &found.value;
            let mut lines = screen::done(id, action.at, &action.by, true, remote.shown());
            if let Some(after) = &action.after {
                lines.extend(screen::present(after, wall::unix()));
            }
            if let Some(check) = &action.check {
                lines.extend(screen::checked(check, &relays.terminal));
            }
            relays.show(&lines);
        }
        Delivery::Failed(error) => {
            refused(relays, remote, id, error);
            return Ended::of(error);
        }
    }
    Ended::Done
}

/// Why it was not done, what is so instead, and what to do.
fn refused(relays: &Relays, remote: &Remote, id: &str, error: &CallError) {
    if relays.json() {
        relays.print_json(remote, Err(error));
    }
    match error {
        CallError::NotSent(text) => super::common::print_error(format!("belay: not sent: {text}")),
        CallError::Refused(_, detail, text) => {
            super::common::print_error(format!("belay: refused: {text}"));
            if let Some(present) = &detail.present {
                super::common::print_error("belay: nothing was changed. So it is now:");
                relays.print_to_stderr(&screen::present(present, wall::unix()));
            }
            if !detail.ladders.is_empty() {
                let accept: Vec<_> =
                    detail.ladders.iter().map(|name| format!("--accept {name}")).collect();
                super::common::print_error(format!(
                    "belay: if that is meant, add {}.",
                    accept.join(" ")
                ));
            }
        }
        CallError::NotConfirmed(text) => {
            let relay = remote.shown();
            super::common::print_error(format!(
                "belay: NOT CONFIRMED: {text} Terminal with\n  belay actions {id} --relay {relay}\nIf \
                 there is no such action, the same command with --id {id} does it, and once at the \
                 most."
            ));
        }
    }
}

/// What it was not possible to do before anything was sent.
pub(super) fn worst(ended: impl IntoIterator<Item = Ended>) -> Ended {
    ended.into_iter().max().unwrap_or(Ended::Failed)
}

/// An id that somebody gave, to do again what was not confirmed; else a fresh one.
pub(super) fn id_or_fresh(given: Option<&str>) -> Result<String, Failed> {
    let Some(id) = given else { return Ok(fresh_id()) };
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if (1..=64).contains(&id.len()) && id.chars().all(fine) {
        return Ok(id.to_owned());
    }
    Err(Failed("belay: --id is 1 to 64 of A-Z a-z 0-9 . _ -, as it was printed.".to_owned()))
}

/// How long anything but a check may take.
pub(super) const SOON: Duration = PATIENCE;
