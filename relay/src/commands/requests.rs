//! `belay requests`: the history, and one request as a waterfall.

use super::common::Ended;
use super::common::{Failed, block_on, print_error, print_line};
use super::journal::NoTime;
use super::relays::{RelayArgs, Relays};
use crate::screen::{self, Listed};
use crate::wall;
use futures_util::future::join_all;
use shared::admin::{RequestDetail, RequestPage};
use shared::remote::{Answer, CallError, Remote};
use shared::{AttemptKind, RequestId, RequestOutcome, UnixMillis};
use std::time::Duration;

/// Rows whose attempts are asked for, for their trail; one call each.
const TRAILS: usize = 50;

/// Arguments of `belay requests`.
#[derive(Debug, clap::Args)]
pub(super) struct RequestsArgs {
    /// One request, with everything that was tried.
    id: Option<RequestId>,
    /// Only what was not a plain first attempt, answered in time.
    #[arg(long)]
    trouble: bool,
    /// Only this ladder.
    #[arg(long)]
    ladder: Option<String>,
    /// Only requests that called this rung.
    #[arg(long, value_name = "RUNG")]
    tried: Option<String>,
    /// Only requests that this rung answered.
    #[arg(long, value_name = "RUNG")]
    answered_by: Option<String>,
    /// Only requests that ended so: ok, failed, cancelled and so on.
    #[arg(long)]
    outcome: Option<RequestOutcome>,
    /// Only requests with an attempt of this kind: retry, failover, hedge and so on.
    #[arg(long)]
    kind: Option<AttemptKind>,
    /// Only this client's.
    #[arg(long)]
    client: Option<String>,
    /// Only those accepted since: a time such as 2026-11-29T03:00:00Z, or a span such as 15m.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<UnixMillis>,
    /// Only those accepted before.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<UnixMillis>,
    /// Only those that waited at least so many milliseconds for their first token.
    #[arg(long, value_name = "MS")]
    min_ttft_ms: Option<u64>,
    /// In which order: -at, -cost, -ttft, -total or -attempts. Default: -at, newest first.
    #[arg(long, allow_hyphen_values = true)]
    sort: Option<String>,
    /// Rows, 1 to 500.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Where the page before ended.
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    relays: RelayArgs,
}

/// A time, or how long ago.
pub(super) fn moment(text: &str) -> Result<UnixMillis, NoTime> {
    let ago = |span: Duration| {
        let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        UnixMillis(wall::unix().0.saturating_sub(span))
    };
    text.parse().or_else(|_| humantime::parse_duration(text).map(ago)).map_err(|_unhelpful| {
        NoTime("write a time like 2026-11-29T03:00:00Z, in UTC, or how long ago, like 15m")
    })
}

impl RequestsArgs {
    fn query(&self) -> Vec<(String, String)> {
        let text = |value: &Option<String>| value.clone();
        let pairs = [
            ("trouble", self.trouble.then(|| "true".to_owned())),
            ("ladder", text(&self.ladder)),
            ("tried", text(&self.tried)),
            ("answered_by", text(&self.answered_by)),
            ("outcome", self.outcome.map(|outcome| outcome.to_string())),
            ("kind", self.kind.map(|kind| kind.to_string())),
            ("client", text(&self.client)),
            ("since", self.since.map(|at| at.to_string())),
            ("until", self.until.map(|at| at.to_string())),
            ("min_ttft_ms", self.min_ttft_ms.map(|ms| ms.to_string())),
            ("sort", text(&self.sort)),
            ("limit", Some(self.limit.to_string())),
            ("cursor", text(&self.cursor)),
        ];
        let given = pairs.into_iter().filter_map(|(key, value)| Some((key, value?)));
        given.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

pub(super) fn run(args: &RequestsArgs) -> Result<Ended, Failed> {
    let relays = args.relays.open()?;
    block_on(async {
        match args.id {
            Some(id) => one(&relays, id).await,
            None => list(&relays, args).await,
        }
    })
}

async fn list(relays: &Relays, args: &RequestsArgs) -> Ended {
    let query = args.query();
    let trails = !relays.json();
    let found = relays
        .each(async |remote| {
            let page = remote.get::<RequestPage>(&["requests"], &query).await?;
            let rows = if trails { with_trails(remote, &page.value).await } else { Vec::new() };
            Ok::<_, CallError>((page, rows))
        })
        .await;
    let mut ended = Ended::Done;
    for (remote, found) in found {
        match found {
            Ok((page, rows)) => {
                if relays.json() {
                    relays.print_json(remote, Ok(&page.json));
                    continue;
                }
                title(relays, remote);
                relays.show(&screen::requests(&rows, &relays.terminal));
                if let Some(next) = &page.value.next {
                    print_line(format_args!("More: add --cursor {next}"));
                }
            }
            Err(error) => ended = failed(relays, remote, &error),
        }
    }
    ended
}

/// The rows with what was tried; a row whose attempts cannot be had stands without.
async fn with_trails(remote: &Remote, page: &RequestPage) -> Vec<Listed> {
    let listed = page.items.iter().enumerate().map(async |(place, row)| {
        let id = row.id.to_string();
        let detail = if place < TRAILS {
            let found = remote.get::<RequestDetail>(&["requests", &id], &[]).await;
            found.ok().map(|answer| answer.value)
        } else {
            None
        };
        Listed { row: row.clone(), detail }
    });
    join_all(listed).await
}

async fn one(relays: &Relays, id: RequestId) -> Ended {
    let id = id.to_string();
    let found = relays
        .each(async |remote| remote.get::<RequestDetail>(&["requests", &id], &[]).await)
        .await;
    // A request is on one of the relays only; the others not knowing it is no failure.
    let known = found.iter().any(|(_, found)| found.is_ok());
    let mut ended = Ended::Done;
    for (remote, found) in found {
        match found {
            Ok(Answer { json, .. }) if relays.json() => relays.print_json(remote, Ok(&json)),
            Ok(detail) => {
                title(relays, remote);
                relays.show(&screen::waterfall(&detail.value, &relays.terminal));
            }
            Err(CallError::Refused(http::StatusCode::NOT_FOUND, ..)) if known => {}
            Err(error) => ended = failed(relays, remote, &error),
        }
    }
    ended
}

/// Which relay it is about, where there are several.
pub(super) fn title(relays: &Relays, remote: &Remote) {
    if relays.several() {
        print_line(format_args!("{}:", remote.shown()));
    }
}

/// One relay's failure, which does not hide the others' answers.
pub(super) fn failed(relays: &Relays, remote: &Remote, error: &CallError) -> Ended {
    if relays.json() {
        relays.print_json(remote, Err(error));
    }
    print_error(format!("belay: {error}"));
    Ended::Failed
}
