//! `belay probe`, `check-rung`, `undo` and `note`: what is no change of an override or order.

use super::asking::{Asking, agreed, on_terminal};
use super::deliver::{Deal, SOON, deliver, id_or_fresh, report, worst};
use super::relays::{Ended, RelayArgs, Relays};
use super::{Failed, block_on, complain, usage};
use crate::{screen, wall};
use http::Method;
use remote::{CHECK_PATIENCE, Remote};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::admin::actions::{About, Action, CheckAnswer, Done, NewNote};
use shared::admin::changes::{ChangeAnswer, Deed};
use std::time::Duration;

/// Arguments of `belay probe` and `belay check-rung`.
#[derive(Debug, clap::Args)]
pub(super) struct RungArgs {
    /// The rung.
    rung: String,
    #[command(flatten)]
    deed: DeedArgs,
}

/// Arguments of `belay undo`.
#[derive(Debug, clap::Args)]
pub(super) struct UndoArgs {
    /// The action's id, as it was printed and as `belay actions` lists it.
    action: String,
    /// This ladder may be left with nothing but forced-open rungs; several: again.
    #[arg(long, value_name = "LADDER")]
    accept: Vec<String>,
    /// Do it without asking.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    deed: DeedArgs,
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
    deed: DeedArgs,
}

#[derive(Debug, Clone, clap::Args)]
struct DeedArgs {
    #[command(flatten)]
    relays: RelayArgs,
    /// Why, for whoever reads it later.
    #[arg(long, value_name = "TEXT", default_value = "from the command line")]
    reason: String,
    /// The id of a deed that was not confirmed: it is done once at the most.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
}

impl DeedArgs {
    fn deed(&self, id: &str, accept: &[String]) -> Deed {
        Deed { id: id.to_owned(), reason: self.reason.clone(), accept: accept.to_vec() }
    }
}

pub(super) fn probe(args: &RungArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.deed.relays.open()?, id_or_fresh(args.deed.id.as_deref())?);
    let path = ["rungs", args.rung.as_str(), "probe"];
    let body = args.deed.deed(&id, &[]);
    send(&relays, &id, (Method::POST, &path, SOON), &body, |done: &Done, remote| {
        let mut lines = screen::done(&id, done.at, &done.by, done.journaled, remote.shown());
        let text = format!("{}: the next request is its probe", args.rung);
        lines.push(screen::Line::plain(text));
        lines
    })
}

pub(super) fn check(args: &RungArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.deed.relays.open()?, id_or_fresh(args.deed.id.as_deref())?);
    let path = ["rungs", args.rung.as_str(), "check"];
    let body = args.deed.deed(&id, &[]);
    let well = std::cell::Cell::new(true);
    let how = (Method::POST, path.as_slice(), CHECK_PATIENCE);
    let ended = send(&relays, &id, how, &body, |check: &CheckAnswer, _| {
        let found = screen::checked(check, &relays.look);
        well.set(well.get() && check.outcome == shared::AttemptOutcome::Ok);
        found
    })?;
    // So that a script can wait for a provider that is well again.
    Ok(if well.get() { ended } else { worst([ended, Ended::Failed]) })
}

pub(super) fn undo(args: &UndoArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.deed.relays.open()?, id_or_fresh(args.deed.id.as_deref())?);
    let found =
        relays.run(async |remote| remote.get::<Action>(&["actions", &args.action], &[]).await)?;
    for (_, found) in found {
        let Ok(found) = found else { continue };
        let Action { at, by, reason, before, .. } = &found.value;
        let what = screen::what(&found.value);
        complain(format!("takes back: {what}, {at} by {by} \"{reason}\""));
        if let Some(before) = before {
            complain("and leads to:");
            relays.tell(&screen::present(before, wall::unix()));
        }
        break;
    }
    agreed(Asking::here(args.yes), "Do it?", None, on_terminal)?;
    let path = ["actions", args.action.as_str(), "undo"];
    let body = args.deed.deed(&id, &args.accept);
    send(&relays, &id, (Method::POST, &path, SOON), &body, |answer: &ChangeAnswer, remote| {
        let ChangeAnswer { id, at, by, now, journaled } = answer;
        let mut lines = screen::done(id, *at, by, *journaled, remote.shown());
        lines.extend(screen::present(now, *at));
        lines
    })
}

pub(super) fn note(args: &NoteArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.deed.relays.open()?, id_or_fresh(args.deed.id.as_deref())?);
    let show = |done: &Done, remote: &Remote| {
        screen::done(&done.id, done.at, &done.by, done.journaled, remote.shown())
    };
    if let Some(note) = &args.end {
        let body = args.deed.deed(&id, &[]);
        return send(&relays, &id, (Method::DELETE, &["notes", note], SOON), &body, show);
    }
    let Some(text) = args.text.clone() else { return usage("say what the note is to say.") };
    let about = About { rung: args.rung.clone(), ladder: args.ladder.clone() };
    let body = NewNote { id: id.clone(), text, about };
    send(&relays, &id, (Method::POST, &["notes"], SOON), &body, show)
}

/// Sends it to every relay, and says how it went.
fn send<T: DeserializeOwned>(
    relays: &Relays,
    id: &str,
    (method, path, patience): (Method, &[&str], Duration),
    body: &impl Serialize,
    show: impl Fn(&T, &Remote) -> Vec<screen::Line>,
) -> Result<Ended, Failed> {
    complain(format!("belay: sending it as action {id}"));
    block_on(async {
        let sent = relays
            .each(async |remote| {
                let method = method.clone();
                deliver::<T>(remote, &Deal { id, method, path, body, patience }).await
            })
            .await;
        worst(sent.iter().map(|(remote, delivery)| {
            report(relays, remote, id, delivery, |answer| show(answer, remote))
        }))
    })
}
