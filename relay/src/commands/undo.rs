//! `belay undo`: takes an action back, after saying what that leads to.

use super::change::{Shown, may};
use super::common::Ended;
use super::common::{Failed, block_on, print_error};
use super::deliver::{Deal, SOON, deliver, id_or_fresh, report, worst};
use super::probe_note::ActionArgs;
use super::relays::Relays;
use super::requests::failed;
use crate::{screen, wall};
use futures_util::future::join_all;
use http::{Method, StatusCode};
use shared::admin::Board;
use shared::admin::actions::{Action, Preview};
use shared::admin::changes::{ChangeAnswer, ChangeRequest};
use shared::remote::{CallError, Remote};
use std::collections::BTreeMap;

/// Arguments of `belay undo`.
#[derive(Debug, clap::Args)]
pub(super) struct UndoArgs {
    /// The action's id, as it was printed and as `belay actions` lists it.
    action: String,
    /// This ladder may be left with nothing but forced-open rungs; several: again.
    #[arg(long, value_name = "LADDER")]
    accept: Vec<String>,
    /// Show the preview and do it without asking.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    body: ActionArgs,
}

/// What is to be taken back at one relay.
struct Found<'a> {
    remote: &'a Remote,
    action: Action,
    board: Board,
    /// What that would do; `None`: nothing that can be reckoned.
    preview: Option<Result<Preview, CallError>>,
}

pub(super) fn run(args: &UndoArgs) -> Result<Ended, Failed> {
    let (relays, id) = (args.body.relays.open()?, id_or_fresh(args.body.id.as_deref())?);
    block_on(async {
        let (found, mut ended) = find(&relays, args, &id).await?;
        found.iter().for_each(|found| print_plan(&relays, found));
        let shown = found.iter().map(|found| {
            let preview = found.preview.as_ref().and_then(|preview| preview.as_ref().ok());
            Shown { board: &found.board, preview }
        });
        may(args.yes, &args.accept, shown)?;
        print_error(format!("belay: sending it as action {id}"));
        let path = ["actions", args.action.as_str(), "undo"];
        let body = args.body.body(&id, &args.accept);
        let sent = found.iter().map(async |Found { remote, .. }| {
            let (method, patience) = (Method::POST, SOON);
            let deal = Deal { id: &id, method, path: &path, body: &body, patience };
            let delivery = deliver::<ChangeAnswer>(remote, &deal).await;
            report(&relays, remote, &id, &delivery, |answer| {
                screen::changed(answer, remote.shown())
            })
        });
        ended.extend(join_all(sent).await);
        Ok(worst(ended))
    })?
}

/// The action at each relay that knows it. One that does not has nothing to take back,
/// which is a failure only where none does.
async fn find<'a>(
    relays: &'a Relays,
    args: &UndoArgs,
    id: &str,
) -> Result<(Vec<Found<'a>>, Vec<Ended>), Failed> {
    let looked = relays.each(async |remote| prepare(remote, args, id).await).await;
    let (mut found, mut ended) = (Vec::new(), Vec::new());
    let is_known = looked.iter().any(|(_, looked)| looked.is_ok());
    for (remote, looked) in looked {
        match looked {
            Ok(one) => found.push(one),
            Err(error) => {
                let ends = failed(relays, remote, &error);
                let knows_not = matches!(error, CallError::Refused(StatusCode::NOT_FOUND, ..));
                if !(is_known && knows_not) {
                    ended.push(ends);
                }
            }
        }
    }
    if found.is_empty() {
        return Err(Failed("belay: nothing was changed.".to_owned()));
    }
    Ok((found, ended))
}

async fn prepare<'a>(
    remote: &'a Remote,
    args: &UndoArgs,
    id: &str,
) -> Result<Found<'a>, CallError> {
    let action = remote.get::<Action>(&["actions", &args.action], &[]).await?.value;
    let board = remote.get::<Board>(&["board"], &[]).await?.value;
    let changes = action.changes_back(board.at);
    let mut preview = None;
    if !changes.is_empty() {
        let request = ChangeRequest {
            id: id.to_owned(),
            reason: args.body.reason.clone(),
            ttl: None,
            changes,
            expect: BTreeMap::new(),
            accept: args.accept.clone(),
        };
        let answer = remote.send::<Preview>(Method::POST, &["preview"], &request, SOON).await;
        preview = Some(match answer {
            Ok(answer) => Ok(answer.value),
            // Who may not change anything need not be asked.
            Err(error @ CallError::Refused(StatusCode::FORBIDDEN, ..)) => return Err(error),
            Err(error) => Err(error),
        });
    }
    Ok(Found { remote, action, board, preview })
}

fn print_plan(relays: &Relays, found: &Found<'_>) {
    if relays.several() {
        print_error(format!("{}:", found.remote.shown()));
    }
    let now = wall::unix();
    let Action { at, by, reason, before, .. } = &found.action;
    let what = shared::action_words::what(&found.action);
    print_error(format!("takes back: {what}, {} by {by} \"{reason}\"", screen::moment(*at, now)));
    if let Some(before) = before {
        print_error("and leads to:");
        relays.print_to_stderr(&screen::present(before, now));
    }
    match &found.preview {
        Some(Ok(preview)) => {
            relays.print_to_stderr(&screen::preview(preview, &found.board, &relays.terminal))
        }
        Some(Err(why)) => print_error(format!("belay: no preview: {why}")),
        None => {}
    }
}
