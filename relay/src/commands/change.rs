//! How every change of overrides and orders is made: what is so, what would be so, a
//! question, and then at each relay once.

use super::asking::{Asking, agreed, on_terminal};
use super::common::Ended;
use super::common::{Failed, block_on, print_error};
use super::deliver::{Deal, Delivery, SOON, deliver, id_or_fresh, report, worst};
use super::relays::{RelayArgs, Relays};
use crate::{screen, wall};
use futures_util::future::join_all;
use http::Method;
use shared::OverrideMode;
use shared::admin::Board;
use shared::admin::actions::{Preview, WarningKind};
use shared::admin::changes::{
    Change, ChangeAnswer, ChangeRequest, NewOrder, OrderNow, OverrideNow, Target,
};
use shared::admin::ttl::Ttl;
use shared::remote::{CallError, Remote};
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// Arguments of every change.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ChangeArgs {
    /// Why, for whoever reads it at night.
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: String,
    /// How long it lasts, such as 15m or 4h. Default: 15m for overrides, 4h for orders.
    #[arg(long = "for", value_name = "TIME", conflicts_with = "endless")]
    ttl: Option<Ttl>,
    /// It lasts until somebody ends it.
    #[arg(long)]
    endless: bool,
    /// This ladder may be left with nothing but forced-open rungs; several: again.
    #[arg(long, value_name = "LADDER")]
    accept: Vec<String>,
    /// Show the preview and do it without asking.
    #[arg(long, short)]
    yes: bool,
    /// The id of a change that was not confirmed: it is done once at the most.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    pub(super) relays: RelayArgs,
}

/// What one relay is to be asked for, and what is known before.
struct Prepared<'a> {
    remote: &'a Remote,
    board: Board,
    request: ChangeRequest,
    /// What it would do, or why that is not known.
    preview: Result<Preview, CallError>,
}

/// A name that a relay does not know, with those that it does.
#[derive(Debug)]
pub(super) enum UnknownName {
    /// No rung, provider, domain or ladder (`what`) is called so.
    Nothing { what: &'static str, name: String, known: Vec<String> },
    /// The ladder has no such rung.
    RungOfLadder { rung: String, ladder: String, known: Vec<String> },
}

impl Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing { what, name, known } => {
                write!(f, "there is no {what} '{name}'. There are: {}.", known.join(", "))
            }
            Self::RungOfLadder { rung, ladder, known } => {
                write!(f, "'{rung}' is no rung of {ladder}. Its rungs: {}.", known.join(", "))
            }
        }
    }
}

/// Makes what `changes` gives for a relay's board, on every relay.
pub(super) fn make(
    args: &ChangeArgs,
    changes: impl Fn(&Board) -> Result<Vec<Change>, UnknownName>,
) -> Result<Ended, Failed> {
    let relays = args.relays.open()?;
    let id = id_or_fresh(args.id.as_deref())?;
    block_on(async {
        let ready = relays.each(async |remote| prepare(remote, args, &id, &changes).await).await;
        let mut prepared = Vec::new();
        let (mut ended, mut without) = (Vec::new(), Vec::new());
        for (remote, found) in ready {
            match found {
                Ok(found) => prepared.push(found),
                Err(error) => {
                    // Nothing was sent yet, whatever became of the call.
                    print_error(format!("belay: {error}"));
                    if let CallError::Refused(_, detail, _) = &error
                        && let Some(present) = &detail.present
                    {
                        relays.print_to_stderr(&screen::present(present, wall::unix()));
                    }
                    if relays.json() {
                        relays.print_json(remote, Err(&error));
                    }
                    ended.push(Ended::Failed);
                    without.push(remote.shown());
                }
            }
        }
        if prepared.is_empty() {
            return Err(Failed("belay: nothing was changed.".to_owned()));
        }
        if !without.is_empty() {
            let missing = without.len();
            print_error(format!("belay: {missing} of {} relays will not know.", relays.all.len()));
        }
        prepared.iter().for_each(|prepared| print_plan(&relays, prepared));
        let shown = prepared.iter().map(|prepared| Shown {
            board: &prepared.board,
            preview: prepared.preview.as_ref().ok(),
        });
        may(args.yes, &args.accept, shown)?;
        print_error(format!("belay: sending it as action {id}"));
        let sent = prepared.iter().map(|prepared| send(&relays, prepared, args.yes));
        ended.extend(join_all(sent).await);
        // Said again where it is read: the previews stand between.
        for relay in without {
            print_error(format!(
                "belay: nothing was done on {relay}: it was not reached, see above."
            ));
        }
        Ok(worst(ended))
    })?
}

async fn prepare<'a>(
    remote: &'a Remote,
    args: &ChangeArgs,
    id: &str,
    changes: &impl Fn(&Board) -> Result<Vec<Change>, UnknownName>,
) -> Result<Prepared<'a>, CallError> {
    let board: Board = remote.get(&["board"], &[]).await?.value;
    let made = changes(&board)
        .map_err(|error| CallError::NotSent(format!("{}: {error}", remote.shown())))?;
    let mut expect = BTreeMap::new();
    for change in &made {
        match change {
            Change::Order { ladder, .. } => {
                let now = remote.get::<OrderNow>(&["ladders", ladder, "order"], &[]).await?;
                expect.insert(format!("ladder/{ladder}"), now.value.version);
            }
            Change::Override { target: Target::Rung(rung), .. } => {
                let now = remote.get::<OverrideNow>(&["rungs", rung, "override"], &[]).await?;
                expect.insert(format!("rung/{rung}"), now.value.version);
            }
            // What a name stands for is the relay's to say.
            Change::Override { .. } => {}
        }
    }
    let request = ChangeRequest {
        id: id.to_owned(),
        reason: args.reason.clone(),
        ttl: if args.endless { Some(Ttl::Endless) } else { args.ttl },
        changes: made,
        expect,
        accept: args.accept.clone(),
    };
    let preview = match remote.send(Method::POST, &["preview"], &request, SOON).await {
        Ok(preview) => Ok(preview.value),
        Err(refused @ CallError::Refused(..)) => return Err(refused),
        Err(no_answer) => Err(no_answer),
    };
    Ok(Prepared { remote, board, request, preview })
}

fn print_plan(relays: &Relays, prepared: &Prepared<'_>) {
    if relays.several() {
        print_error(format!("{}:", prepared.remote.shown()));
    }
    // A relay without traffic has nothing to reckon with: what is asked for is said all the same.
    print_error(format!(
        "To be done: {}",
        shared::action_words::changes(&prepared.request.changes)
    ));
    match &prepared.preview {
        Ok(preview) => {
            relays.print_to_stderr(&screen::preview(preview, &prepared.board, &relays.terminal))
        }
        Err(why) => print_error(format!("belay: no preview: {why}")),
    }
    if let Some(span) = lasts(&prepared.request) {
        print_error(format!("It lasts {span}."));
    }
}

/// How long it lasts; `None`: it takes something back, which has no end.
fn lasts(request: &ChangeRequest) -> Option<String> {
    let usual = request.changes.iter().find_map(|change| match change {
        Change::Override { mode: OverrideMode::Auto, .. }
        | Change::Order { order: NewOrder::Config(_), .. } => None,
        Change::Override { .. } => Some(Ttl::OVERRIDE),
        Change::Order { .. } => Some(Ttl::ORDER),
    })?;
    Some(match request.ttl.unwrap_or(usual) {
        Ttl::Endless => "until somebody ends it".to_owned(),
        span => format!("for {span}, then it is as before"),
    })
}

/// What somebody has been shown of one relay before being asked.
pub(super) struct Shown<'a> {
    pub(super) board: &'a Board,
    pub(super) preview: Option<&'a Preview>,
}

/// Whether it may be sent.
pub(super) fn may<'a>(
    yes: bool,
    accept: &[String],
    shown: impl IntoIterator<Item = Shown<'a>>,
) -> Result<(), Failed> {
    let mut env = None;
    for Shown { board, preview } in shown {
        let warnings = preview.into_iter().flat_map(|preview| &preview.warnings);
        let lost = warnings.filter(|warning| warning.kind == WarningKind::LastRung);
        let lost: Vec<&str> = lost.filter_map(|warning| warning.ladder.as_deref()).collect();
        let open: Vec<_> =
            lost.iter().filter(|ladder| accept.iter().all(|name| name != **ladder)).collect();
        if !open.is_empty() {
            let flags: Vec<_> = open.iter().map(|ladder| format!("--accept {ladder}")).collect();
            return Err(Failed(format!(
                "belay: nothing was changed: a ladder would have no rung left. `belay demote` \
                 keeps it as the last choice; if losing it is meant, add {}.",
                flags.join(" ")
            )));
        }
        let relay = &board.relay;
        if !lost.is_empty() && relay.protected {
            env = relay.env.as_deref().or(env);
        }
    }
    agreed(Asking::here(yes), "Do it?", env, on_terminal)
}

async fn send(relays: &Relays, prepared: &Prepared<'_>, yes: bool) -> Ended {
    let Prepared { remote, request, .. } = prepared;
    let id = &request.id;
    let deal = Deal { id, method: Method::POST, path: &["changes"], body: request, patience: SOON };
    loop {
        let delivery: Delivery<ChangeAnswer> = deliver(remote, &deal).await;
        let ended =
            report(relays, remote, id, &delivery, |answer| screen::changed(answer, remote.shown()));
        // The same id again is the same change: safe, and still somebody's to decide.
        let again = ended == Ended::NotConfirmed
            && Asking::here(yes) == Asking::Terminal
            && agreed(Asking::Terminal, "Send it again, with the same id?", None, on_terminal)
                .is_ok();
        if !again {
            return ended;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::admin::changes::ConfigWord;

    #[test]
    fn what_takes_something_back_has_no_end() {
        let request = |change, ttl| ChangeRequest {
            id: "x".to_owned(),
            reason: "r".to_owned(),
            ttl,
            changes: vec![change],
            expect: BTreeMap::new(),
            accept: Vec::new(),
        };
        let forced = |mode| Change::Override {
            target: Target::Rung("sol".to_owned()),
            mode,
            cut_streams: false,
        };
        let order = |order| Change::Order { ladder: "chat".to_owned(), order };
        let rungs = NewOrder::Rungs(vec!["sol".to_owned()]);
        let rows = [
            (forced(OverrideMode::Auto), None, None),
            (order(NewOrder::Config(ConfigWord::Config)), None, None),
            (forced(OverrideMode::Demoted), None, Some("for 15m, then it is as before")),
            (order(rungs), None, Some("for 4h, then it is as before")),
            (forced(OverrideMode::ForcedOpen), Some(Ttl::Endless), Some("until somebody ends it")),
        ];
        for (change, ttl, expected) in rows {
            assert_eq!(lasts(&request(change, ttl)).as_deref(), expected);
        }
    }
}
