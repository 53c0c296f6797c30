//! The history as a table: what was asked, what was tried, how it ended.

use super::text::{Line, Style, Terminal, fit};
use shared::admin::{AttemptRow, RequestDetail, RequestRow};
use shared::figures::{UNKNOWN, wait};
use shared::{AttemptKind, AttemptOutcome, PassedOver, RequestOutcome, TokenVerdict};

/// A row, and what was tried for it if that is known.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The request.
    pub row: RequestRow,
    /// The same with its attempts.
    pub detail: Option<RequestDetail>,
}

/// One line a request, under a heading.
#[must_use]
pub fn requests(rows: &[Listed], terminal: &Terminal) -> Vec<Line> {
    if rows.is_empty() {
        return vec![Line::plain("No requests.")];
    }
    let longest = |say: fn(&Listed) -> &str, least: usize, most: usize| {
        let found = rows.iter().map(|listed| say(listed).chars().count()).max();
        found.unwrap_or(0).clamp(least, most)
    };
    let ladder = longest(ladder_of, 6, 12);
    let tenant = longest(client_of, 6, 10);
    // TIME, OUT, TTFT, TOTAL, $ and the id have their widths; the trail has the rest, and
    // what it needs most: a narrow screen goes without milliseconds and TOTAL.
    let wide = terminal.width >= 120;
    let time = if wide { 12 } else { 8 };
    let fixed = time + 1 + ladder + 1 + 10 + 8 + 18 + 1;
    let fixed = if wide { fixed + 8 + 13 + 10 + tenant + 1 } else { fixed };
    let trail = terminal.width.saturating_sub(fixed).max(12);
    let mut head = format!(
        "{} {} {} {} {:>7}",
        fit(if wide { "TIME (UTC)" } else { "TIME UTC" }, time),
        fit("LADDER", ladder),
        fit("TRAIL", trail),
        fit("OUT", 9),
        "TTFT",
    );
    if wide {
        let rest =
            format!(" {:>7} {:>12} {:>9} {}", "TOTAL", "TOK in/out", "$", fit("TENANT", tenant));
        head += &rest;
    }
    let mut out = vec![Line::default().and(Style::Dim, head + " REQUEST")];
    for listed in rows {
        let Listed { row, detail } = listed;
        let (outcome, style) = ended(row);
        let at = row.at.to_string();
        let line = Line::plain(format!(
            "{} {} {} ",
            fit(at.get(11..11 + time).unwrap_or_default(), time),
            fit(ladder_of(listed), ladder),
            fit(&trail_of(row, detail.as_ref()), trail),
        ));
        let line = line.and(style, fit(&outcome, 9));
        let mut rest = format!(" {:>7}", wait(row.ttft_ms));
        if wide {
            let tokens = |count: Option<u64>| count.map_or(UNKNOWN.to_owned(), |n| n.to_string());
            let used = format!("{}/{}", tokens(row.input_tokens), tokens(row.output_tokens));
            let cost = row.cost_usd.map_or(UNKNOWN.to_owned(), |usd| format!("{usd:.5}"));
            let total = wait(row.latency_ms);
            let tenant = fit(client_of(listed), tenant);
            rest += &format!(" {total:>7} {used:>12} {cost:>9} {tenant}");
        }
        out.push(line.and(Style::Plain, rest).and(Style::Dim, format!(" {}", row.id)));
    }
    out
}

/// The ladder; of a check, which is on none, that it is one; else what was asked for.
fn ladder_of(Listed { row, detail }: &Listed) -> &str {
    let first = detail.as_ref().and_then(|detail| detail.attempts.first());
    if first.is_some_and(|attempt| attempt.kind == AttemptKind::Check) {
        return "(check)";
    }
    row.ladder.as_deref().or(row.model.as_deref()).unwrap_or(UNKNOWN)
}

fn client_of(listed: &Listed) -> &str {
    listed.row.client.as_deref().unwrap_or(UNKNOWN)
}

/// How it ended, for a reader who knows no outcomes: `ok`, the status, or the cause.
fn ended(row: &RequestRow) -> (String, Style) {
    match (row.outcome, row.cause, row.status) {
        (None, ..) => ("running".to_owned(), Style::Dim),
        (Some(RequestOutcome::Ok), ..) => ("ok".to_owned(), Style::Plain),
        (Some(RequestOutcome::Cancelled), Some(cause), _) => {
            (cause.to_string().replace('_', " "), Style::Warning)
        }
        (Some(outcome @ (RequestOutcome::Refused | RequestOutcome::Rejected)), ..) => {
            (outcome.to_string(), Style::Warning)
        }
        (Some(_), _, Some(status)) if status >= 400 => (status.to_string(), Style::Broken),
        (Some(outcome), ..) => (outcome.to_string().replace('_', " "), Style::Broken),
    }
}

/// `sol ▲1.4s | opus ●0.9s`: every attempt with its sign, then who was passed over.
fn trail_of(row: &RequestRow, detail: Option<&RequestDetail>) -> String {
    let Some(detail) = detail else {
        let who = row.answered_by.as_deref().unwrap_or(UNKNOWN);
        return format!("{who} ({} tries)", row.attempts_made);
    };
    let mut parts: Vec<String> = detail.attempts.iter().map(step).collect();
    for passed in &detail.passed_over {
        let why = match passed.reason {
            PassedOver::Open => "▲ open",
            PassedOver::Hold => "‖ held",
            PassedOver::Forced => "■ forced",
            PassedOver::NoSlot => "◐ no slot",
            PassedOver::Capability | PassedOver::Dialect => "unable",
            PassedOver::Context | PassedOver::MaxOutput => "too small",
        };
        parts.push(format!("{} {why}", passed.rung));
    }
    if parts.is_empty() { UNKNOWN.to_owned() } else { parts.join(" | ") }
}

fn step(attempt: &AttemptRow) -> String {
    let spent = attempt.ttft_ms.or(attempt.latency_ms);
    let spent = spent.map(|ms| wait(Some(ms)).replace(' ', "")).unwrap_or_default();
    format!("{} {}{spent}", attempt.rung, sign(attempt).0)
}

/// An attempt's sign: what it says of its rung.
pub(super) fn sign(attempt: &AttemptRow) -> (&'static str, Style) {
    match (attempt.outcome, attempt.verdict) {
        (None, _) => ("○", Style::Dim),
        (Some(AttemptOutcome::Ok | AttemptOutcome::Refused), Some(TokenVerdict::Slow)) => {
            ("◆", Style::Warning)
        }
        (Some(AttemptOutcome::Ok | AttemptOutcome::Refused), _) => ("●", Style::Plain),
        (Some(AttemptOutcome::Cancelled), Some(TokenVerdict::Slow)) => ("▲", Style::Warning),
        (Some(AttemptOutcome::Cancelled | AttemptOutcome::Interrupted), _) => ("○", Style::Dim),
        (Some(AttemptOutcome::RateLimited), _) => ("‖", Style::Warning),
        (Some(AttemptOutcome::TtftTimeout | AttemptOutcome::Stall), _) => ("▲", Style::Broken),
        (Some(_), _) => ("×", Style::Broken),
    }
}
