//! `belay probe`, `check-rung` and `note`: what is no change of an override or order.

use super::common::Ended;
use super::common::{Failed, print_error, usage};
use super::deliver::{Deal, Delivery, SOON, deliver, id_or_fresh, report, worst};
use super::relays::{RelayArgs, Relays};
use crate::screen;
use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::admin::actions::{About, CheckAnswer, Done, NewNote};
use shared::admin::changes::ActionBody;
use shared::remote::{CHECK_PATIENCE, Remote};
use std::time::Duration;

/// Arguments of `belay probe` and `belay check-rung`.
#[derive(Debug, clap::Args)]
pub(super) struct RungArgs {
    /// The rung.
    rung: String,
    #[command(flatten)]
    body: ActionArgs,
}

/// Arguments of `belay note`.
#[derive(Debug, clap::Args)]
pub(super) struct NoteArgs {
    /// What it says. It stands until somebody ends it.
    #[arg(required_unless_present = "end")]
    text: Option<String>,
    /// Pin it to this rung.
    #[arg(long)]
    rung: Option<String>,
    /// Pin it to this ladder.
    #[arg(long, conflicts_with = "rung")]
    ladder: Option<String>,
    /// End the note with this id.
    #[arg(long, value_name = "ID", conflicts_with_all = ["text", "rung", "ladder"])]
    end: Option<String>,
    #[command(flatten)]
    body: ActionArgs,
}

/// Arguments of everything that is done and is no change.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ActionArgs {
    /// Why, for whoever reads it later.
    #[arg(long, value_name = "TEXT", default_value = "from the command line")]
    pub(super) reason: String,
    /// The id of a body that was not confirmed: it is done once at the most.
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,
    #[command(flatten)]
    pub(super) relays: RelayArgs,
}

impl ActionArgs {
    pub(super) fn body(&self, id: &str, accept: &[String]) -> ActionBody {
        ActionBody { id: id.to_owned(), reason: self.reason.clone(), accept: accept.to_vec() }
    }
}

pub(super) fn probe(args: &RungArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.body.relays.open()?, id_or_fresh(args.body.id.as_deref())?);
    let path = ["rungs", args.rung.as_str(), "probe"];
    let body = args.body.body(&id, &[]);
    let call = Call { method: Method::POST, path: &path, patience: SOON };
    send(&relays, &id, &call, &body, |done: &Done, remote| {
        let mut lines = screen::done(&id, done.at, &done.by, done.journaled, remote.shown());
        let text = format!("{}: the next request is its probe", args.rung);
        lines.push(screen::Line::plain(text));
        lines
    })
}

pub(super) fn check(args: &RungArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.body.relays.open()?, id_or_fresh(args.body.id.as_deref())?);
    let path = ["rungs", args.rung.as_str(), "check"];
    let body = args.body.body(&id, &[]);
    let call = Call { method: Method::POST, path: &path, patience: CHECK_PATIENCE };
    print_error(format!(
        "belay: calling {}; a hang shows when its first clock runs out",
        args.rung
    ));
    let sent = deliver_all::<CheckAnswer>(&relays, &id, &call, &body)?;
    Ok(worst(sent.iter().map(|(remote, delivery)| {
        let ended = report(&relays, remote, &id, delivery, |check| {
            let mut lines = screen::checked(check, &relays.terminal);
            if relays.several() {
                lines.insert(0, screen::Line::plain(format!("{}:", remote.shown())));
            }
            lines
        });
        // So that a script can wait for a provider that is well again.
        let check = match delivery {
            Delivery::Done(answer) => Some(&answer.value),
            Delivery::Found(found) => found.value.check.as_ref(),
            Delivery::Failed(_) => None,
        };
        let is_well = check.is_none_or(|check| check.outcome == shared::AttemptOutcome::Ok);
        if is_well { ended } else { ended.max(Ended::Failed) }
    })))
}

pub(super) fn note(args: &NoteArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.body.relays.open()?, id_or_fresh(args.body.id.as_deref())?);
    let show = |done: &Done, remote: &Remote| {
        screen::done(&done.id, done.at, &done.by, done.journaled, remote.shown())
    };
    if let Some(note) = &args.end {
        let body = args.body.body(&id, &[]);
        let call = Call { method: Method::DELETE, path: &["notes", note], patience: SOON };
        return send(&relays, &id, &call, &body, show);
    }
    let Some(text) = args.text.clone() else { return usage("say what the note is to say.") };
    let about = About { rung: args.rung.clone(), ladder: args.ladder.clone() };
    let body = NewNote { id: id.clone(), text, about };
    let call = Call { method: Method::POST, path: &["notes"], patience: SOON };
    send(&relays, &id, &call, &body, show)
}

/// A call of the admin API, and how long its answer is waited for.
#[derive(Clone)]
struct Call<'a> {
    method: Method,
    path: &'a [&'a str],
    patience: Duration,
}

/// Sends it to every relay, and says how it went.
fn send<T: DeserializeOwned>(
    relays: &Relays,
    id: &str,
    call: &Call<'_>,
    body: &impl Serialize,
    show: impl Fn(&T, &Remote) -> Vec<screen::Line>,
) -> Result<Ended, Failed> {
    let sent = deliver_all::<T>(relays, id, call, body)?;
    Ok(worst(sent.iter().map(|(remote, delivery)| {
        report(relays, remote, id, delivery, |answer| show(answer, remote))
    })))
}

fn deliver_all<'a, T: DeserializeOwned>(
    relays: &'a Relays,
    id: &str,
    call: &Call<'_>,
    body: &impl Serialize,
) -> Result<Vec<(&'a Remote, Delivery<T>)>, Failed> {
    print_error(format!("belay: sending it as action {id}"));
    relays.run(async |remote| {
        let Call { method, path, patience } = call.clone();
        deliver::<T>(remote, &Deal { id, method, path, body, patience }).await
    })
}
