//! `belay export`: the requests that `capture` has kept, as JSON lines, for whoever grades
//! answers.

use super::common::{Failed, print_line};
use super::journal::{Place, reader, time};
use journal::CaptureFilter;
use shared::UnixMillis;

/// Arguments of `belay export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    place: Place,
    /// Only this ladder's.
    #[arg(long)]
    ladder: Option<String>,
    /// Only those accepted at or after this time, such as 2026-11-29T03:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<UnixMillis>,
    /// Only those accepted before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<UnixMillis>,
}

pub(super) fn run(args: &ExportArgs) -> Result<(), Failed> {
    let filter =
        CaptureFilter { ladder: args.ladder.clone(), since: args.since, until: args.until };
    let mut count = 0_u64;
    let mut wrong = None;
    reader(&args.place)?.captures(&filter, &mut |captured| {
        match serde_json::to_string(&captured) {
            Ok(line) => print_line(line),
            Err(error) => wrong = Some(error),
        }
        count += 1;
        wrong.is_none()
    })?;
    if let Some(error) = wrong {
        return Err(error.into());
    }
    if count == 0 {
        super::common::print_error(
            "belay: nothing was captured. Only a ladder with capture = \"failover\" keeps requests, \
             and of those only what a rung below the first one answered.",
        );
    }
    Ok(())
}
