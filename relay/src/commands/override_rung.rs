//! `belay override`: forces rungs open or closed, or lets the breaker decide again.

use super::change::{ChangeArgs, UnknownName, make};
use super::common::Ended;
use super::common::{Failed, usage};
use shared::OverrideMode;
use shared::admin::Board;
use shared::admin::changes::{Change, Target};

/// Rungs by what they have in common.
#[derive(Debug, clap::Args)]
struct Groups {
    /// All rungs of this provider.
    #[arg(long, value_name = "PROVIDER")]
    provider: Vec<String>,
    /// All rungs of this failure domain.
    #[arg(long, value_name = "DOMAIN")]
    domain: Vec<String>,
}

/// Arguments of `belay override`.
#[derive(Debug, clap::Args)]
pub(super) struct OverrideArgs {
    /// The rungs, and last what they are to be: open, closed or auto.
    #[arg(value_name = "RUNG... open|closed|auto", required = true)]
    words: Vec<String>,
    #[command(flatten)]
    groups: Groups,
    /// With open: streams that already run on it are cut, not left to their end.
    #[arg(long)]
    cut_streams: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Arguments of `belay demote`.
#[derive(Debug, clap::Args)]
pub(super) struct DemoteArgs {
    /// The rungs: behind every other usable rung of each ladder, still the last choice.
    #[arg(value_name = "RUNG")]
    rungs: Vec<String>,
    #[command(flatten)]
    groups: Groups,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(args: &OverrideArgs) -> Result<Ended, Failed> {
    let mode = args.words.split_last().map(|(mode, rungs)| (mode.as_str(), rungs));
    let (mode, rungs) = match mode {
        Some(("open", rungs)) => (OverrideMode::ForcedOpen, rungs),
        Some(("closed", rungs)) => (OverrideMode::ForcedClosed, rungs),
        Some(("auto", rungs)) => (OverrideMode::Auto, rungs),
        _ => {
            return usage(
                "say last what the rungs are to be: open (no traffic), closed (traffic whatever \
                 the breaker says) or auto (the breaker decides), such as `belay override sol open`.",
            );
        }
    };
    if args.cut_streams && mode != OverrideMode::ForcedOpen {
        return usage("--cut-streams goes with open only.");
    }
    set(rungs, &args.groups, mode, args.cut_streams, &args.change)
}

pub(super) fn demote(args: &DemoteArgs) -> Result<Ended, Failed> {
    set(&args.rungs, &args.groups, OverrideMode::Demoted, false, &args.change)
}

fn set(
    rungs: &[String],
    groups: &Groups,
    mode: OverrideMode,
    cut_streams: bool,
    change: &ChangeArgs,
) -> Result<Ended, Failed> {
    let targets = rungs.iter().cloned().map(Target::Rung);
    let targets = targets.chain(groups.provider.iter().cloned().map(Target::Provider));
    let targets: Vec<_> =
        targets.chain(groups.domain.iter().cloned().map(Target::Domain)).collect();
    if targets.is_empty() {
        return usage("name a rung, or --provider or --domain. `belay board` shows the rungs.");
    }
    make(change, |board| {
        targets.iter().try_for_each(|target| known(board, target))?;
        let change =
            |target: &Target| Change::Override { target: target.clone(), mode, cut_streams };
        Ok(targets.iter().map(change).collect())
    })
}

/// Says what there is where a name is none.
fn known(board: &Board, target: &Target) -> Result<(), UnknownName> {
    let rungs = &board.rungs;
    let (what, name, mut all): (_, _, Vec<&str>) = match target {
        Target::Rung(name) => ("rung", name, rungs.iter().map(|rung| &*rung.name).collect()),
        Target::Provider(name) => {
            ("provider", name, rungs.iter().map(|rung| &*rung.provider).collect())
        }
        Target::Domain(name) => {
            let domains = rungs.iter().flat_map(|rung| &rung.domains).map(String::as_str);
            ("domain", name, domains.collect())
        }
    };
    if all.contains(&name.as_str()) {
        return Ok(());
    }
    all.sort_unstable();
    all.dedup();
    let known = all.into_iter().map(str::to_owned).collect();
    Err(UnknownName::Nothing { what, name: name.clone(), known })
}
