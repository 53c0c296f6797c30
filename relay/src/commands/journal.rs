//! `belay journal`: reads the journal from a terminal, the relay running or not.

use super::common::{Failed, print_line};
use crate::config::journal_path;
use journal::{Reader, RequestFilter, Sort};
use shared::admin::{AttemptRow, RequestDetail, RequestRow};
use shared::{AttemptKind, RequestId, RequestOutcome, UnixMillis};
use std::path::PathBuf;

/// Arguments of `belay journal`.
#[derive(Debug, clap::Args)]
pub(super) struct JournalArgs {
    #[command(subcommand)]
    query: Query,
}

#[derive(Debug, clap::Subcommand)]
enum Query {
    /// List requests, newest first.
    Requests(RequestsArgs),
    /// Show one request with everything that was tried.
    Show(ShowArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct Place {
    /// The journal's file; without it, the config says where it is.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// The config file.
    #[arg(long, value_name = "FILE", default_value = "belay.toml")]
    config: PathBuf,
    /// Print JSON, as the admin API gives it.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct RequestsArgs {
    #[command(flatten)]
    place: Place,
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
    /// Only requests with an attempt of this kind: retry, failover and so on.
    #[arg(long)]
    kind: Option<AttemptKind>,
    /// Only this client's.
    #[arg(long)]
    client: Option<String>,
    /// Only those accepted at or after this time, such as 2026-11-29T03:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<UnixMillis>,
    /// Only those accepted before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<UnixMillis>,
    /// Only those that waited at least so many milliseconds for their first token.
    #[arg(long, value_name = "MS")]
    min_ttft_ms: Option<u64>,
    /// Only what was not a plain first attempt, answered in time.
    #[arg(long)]
    trouble: bool,
    /// In which order: -at, -cost, -ttft, -total or -attempts.
    #[arg(long, default_value = "-at", allow_hyphen_values = true)]
    sort: Sort,
    /// Rows, 1 to 500.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Where the page before ended.
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The request's id, req_ and 13 characters.
    id: RequestId,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(args: &JournalArgs) -> Result<(), Failed> {
    match &args.query {
        Query::Requests(args) => requests(args),
        Query::Show(args) => show(args),
    }
}

/// A text that is no time; says how to write one.
#[derive(Debug)]
pub(super) struct NoTime(pub(super) &'static str);

impl std::fmt::Display for NoTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NoTime {}

pub(super) fn time(text: &str) -> Result<UnixMillis, NoTime> {
    text.parse().map_err(|_unhelpful| NoTime("write it like 2026-11-29T03:00:00Z, in UTC"))
}

pub(super) fn reader(place: &Place) -> Result<Reader, Failed> {
    let path = match &place.journal {
        Some(path) => path.clone(),
        None => journal_path(&place.config).map_err(|refused| {
            let advice =
                "belay: this config cannot be used; name the journal's file with --journal.";
            Failed(format!("{refused}\n{advice}"))
        })?,
    };
    if path.is_dir() {
        let path = path.display();
        return Err(Failed(format!("belay: {path} is a folder; name the journal's file in it.")));
    }
    Ok(Reader::at(path))
}

fn requests(args: &RequestsArgs) -> Result<(), Failed> {
    let filter = RequestFilter {
        ended: None,
        rescued: false,
        ladder: args.ladder.clone(),
        tried: args.tried.clone(),
        answered_by: args.answered_by.clone(),
        outcome: args.outcome,
        kind: args.kind,
        client: args.client.clone(),
        since: args.since,
        until: args.until,
        min_ttft_ms: args.min_ttft_ms,
        trouble: args.trouble,
        sort: args.sort,
        limit: args.limit,
        cursor: args.cursor.clone(),
        id: None,
    };
    let page = reader(&args.place)?.requests(&filter)?;
    if args.place.json {
        print_line(serde_json::to_string_pretty(&page)?);
        return Ok(());
    }
    if page.items.is_empty() {
        print_line("No requests.");
        return Ok(());
    }
    print_line(format_args!(
        "{:<24}  {:<17}  {:<12}  {:<12}  {:<12}  {:>3}  {:>8}  {:>8}  {:>10}",
        "accepted (UTC)",
        "request",
        "ladder",
        "outcome",
        "answered by",
        "try",
        "ttft",
        "took",
        "cost"
    ));
    page.items.iter().for_each(|row| print_line(request_line(row)));
    if let Some(next) = page.next {
        print_line(format_args!("More: add --cursor {next}"));
    }
    Ok(())
}

fn request_line(row: &RequestRow) -> String {
    let outcome = match (row.outcome, row.cause) {
        (None, _) => "running".to_owned(),
        (Some(outcome), None) => outcome.to_string(),
        (Some(_), Some(cause)) => cause.to_string(),
    };
    format!(
        "{:<24}  {}  {:<12}  {:<12}  {:<12}  {:>3}  {:>8}  {:>8}  {:>10}",
        row.at.to_string(),
        row.id,
        text(row.ladder.as_deref().or(row.model.as_deref())),
        outcome,
        text(row.answered_by.as_deref()),
        row.attempts_made,
        ms(row.ttft_ms),
        ms(row.latency_ms),
        usd(row.cost_usd),
    )
}

fn show(args: &ShowArgs) -> Result<(), Failed> {
    let found = reader(&args.place)?.request(args.id)?;
    let Some(detail) = found else {
        return Err(Failed(format!("belay: there is no request {} in this journal.", args.id)));
    };
    if args.place.json {
        print_line(serde_json::to_string_pretty(&detail)?);
        return Ok(());
    }
    show_request(&detail);
    for attempt in &detail.attempts {
        show_attempt(attempt);
    }
    for passed in &detail.passed_over {
        print_line(format_args!("  –  {:<12}  passed over: {}", passed.rung, passed.why()));
    }
    Ok(())
}

fn show_request(detail: &RequestDetail) {
    let row = &detail.request;
    print_line(format_args!("{}  {}", row.id, row.at));
    let mut facts = vec![
        format!("ladder {}", text(row.ladder.as_deref())),
        format!("model {}", text(row.model.as_deref())),
        format!("client {}", text(row.client.as_deref())),
        if row.stream { "stream".to_owned() } else { "whole answer".to_owned() },
    ];
    facts.extend(row.status.map(|status| format!("HTTP {status}")));
    print_line(format_args!("  {}", facts.join(" · ")));
    print_line(format_args!(
        "  {} · answered by {} · first token {} · took {} · {} events, {} bytes · cost {}",
        row.outcome.map_or("running".to_owned(), |outcome| outcome.to_string()),
        text(row.answered_by.as_deref()),
        ms(row.ttft_ms),
        ms(row.latency_ms),
        row.events,
        row.bytes,
        usd(row.cost_usd),
    ));
}

fn show_attempt(row: &AttemptRow) {
    let outcome = row.outcome.map_or("running".to_owned(), |outcome| outcome.to_string());
    let why = row.cause.map(|cause| cause.to_string()).into_iter().chain(row.detail.clone());
    let why: Vec<String> = why.chain(row.left_out_text()).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    print_line(format_args!("  {}  {:<12}  {:<9}  {outcome}{why}", row.n, row.rung, row.kind));
    let about = if row.estimated { " (estimated)" } else { "" };
    print_line(format_args!(
        "     head {} · first token {} · took {} · {} tokens in, {} out{about} · cost {}{}",
        ms(row.headers_ms),
        ms(row.ttft_ms),
        ms(row.latency_ms),
        count(row.input_tokens),
        count(row.output_tokens),
        usd(row.cost_usd),
        row.no_cost.as_deref().map(|why| format!(" ({why})")).unwrap_or_default(),
    ));
}

fn text(value: Option<&str>) -> &str {
    value.unwrap_or("–")
}

fn count(value: Option<u64>) -> String {
    value.map_or("–".to_owned(), |value| value.to_string())
}

fn ms(value: Option<u64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value} ms"))
}

fn usd(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("${value:.6}"))
}
