//! `belay actions`: what operators have done, what of it is in force, who and why.

use super::common::Ended;
use super::common::{Failed, block_on};
use super::relays::{RelayArgs, Relays};
use super::requests::{failed, moment, title};
use crate::{screen, wall};
use shared::UnixMillis;
use shared::admin::actions::{Action, ActionKind, ActionPage};
use shared::remote::CallError;

/// Arguments of `belay actions`.
#[derive(Debug, clap::Args)]
pub(super) struct ActionsArgs {
    /// One action by its id.
    id: Option<String>,
    /// Only what is in force.
    #[arg(long)]
    in_force: bool,
    /// Only this kind: change, undo, probe, check or note.
    #[arg(long)]
    kind: Option<ActionKind>,
    /// Only this operator's.
    #[arg(long)]
    by: Option<String>,
    /// Only what is about this rung.
    #[arg(long)]
    rung: Option<String>,
    /// Only what is about this ladder.
    #[arg(long)]
    ladder: Option<String>,
    /// Only since: a time such as 2026-11-29T03:00:00Z, or a span such as 2h.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<UnixMillis>,
    /// Only before.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<UnixMillis>,
    /// Past ones, 1 to 500.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    #[command(flatten)]
    relays: RelayArgs,
}

impl ActionsArgs {
    fn query(&self) -> Vec<(String, String)> {
        let pairs = [
            ("kind", self.kind.map(|kind| kind.to_string())),
            ("by", self.by.clone()),
            ("rung", self.rung.clone()),
            ("ladder", self.ladder.clone()),
            ("since", self.since.map(|at| at.to_string())),
            ("until", self.until.map(|at| at.to_string())),
        ];
        let given = pairs.into_iter().filter_map(|(key, value)| Some((key, value?)));
        given.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

pub(super) fn run(args: &ActionsArgs) -> Result<Ended, Failed> {
    let relays = args.relays.open()?;
    block_on(async {
        match &args.id {
            Some(id) => one(&relays, id).await,
            None => list(&relays, args).await,
        }
    })
}

async fn one(relays: &Relays, id: &str) -> Ended {
    let found = relays.each(async |remote| remote.get::<Action>(&["actions", id], &[]).await).await;
    // What was done at one relay only is none of the others' affair.
    let known = found.iter().any(|(_, found)| found.is_ok());
    let mut ended = Ended::Done;
    for (remote, found) in found {
        match found {
            Ok(action) if relays.json() => relays.print_json(remote, Ok(&action.json)),
            Ok(action) => {
                title(relays, remote);
                let (in_force, past) = parted(vec![action.value]);
                relays.show(&screen::actions(&in_force, &past, wall::unix(), &relays.terminal));
            }
            Err(CallError::Refused(http::StatusCode::NOT_FOUND, ..)) if known => {}
            Err(error) => ended = failed(relays, remote, &error),
        }
    }
    ended
}

async fn list(relays: &Relays, args: &ActionsArgs) -> Ended {
    let with = |pairs: &[(&str, String)]| {
        let more = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        args.query().into_iter().chain(more).collect::<Vec<_>>()
    };
    let all = with(&[("limit", args.limit.to_string())]);
    // What is in force may be older than any page of what was done.
    let in_force = with(&[("in_force", "true".to_owned()), ("limit", "500".to_owned())]);
    let (only, is_json) = (args.in_force, relays.json());
    let found = relays
        .each(async |remote| {
            let path = &["actions"];
            let standing = if is_json && !only {
                None
            } else {
                Some(remote.get::<ActionPage>(path, &in_force).await?)
            };
            let past = if only { None } else { Some(remote.get::<ActionPage>(path, &all).await?) };
            Ok::<_, CallError>((standing, past))
        })
        .await;
    let mut ended = Ended::Done;
    for (remote, found) in found {
        match found {
            Ok((standing, past)) if is_json => {
                let json = past.or(standing).map(|page| page.json).unwrap_or_default();
                relays.print_json(remote, Ok(&json));
            }
            Ok((standing, past)) => {
                title(relays, remote);
                let items = |page: Option<shared::remote::Answer<ActionPage>>| {
                    page.map(|page| page.value.items).unwrap_or_default()
                };
                let (_, past) = parted(items(past));
                let lines =
                    screen::actions(&items(standing), &past, wall::unix(), &relays.terminal);
                relays.show(&lines);
            }
            Err(error) => ended = failed(relays, remote, &error),
        }
    }
    ended
}

fn parted(all: Vec<Action>) -> (Vec<Action>, Vec<Action>) {
    all.into_iter().partition(|action| action.in_force)
}
