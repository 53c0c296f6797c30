//! One request as a waterfall: every attempt on one line of time.

use super::requests::sign;
use super::text::{Line, Style, Terminal, fit, wrapped};
use shared::admin::{AttemptRow, RequestDetail};
use shared::figures::{UNKNOWN, wait};

/// The request, its attempts as bars, and who was passed over.
#[must_use]
pub fn waterfall(detail: &RequestDetail, terminal: &Terminal) -> Vec<Line> {
    let row = &detail.request;
    let text = |value: Option<&str>| value.unwrap_or(UNKNOWN).to_owned();
    let outcome = row.outcome.map_or("running".to_owned(), |outcome| outcome.to_string());
    let cause = row.cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
    let status = row.status.map(|status| format!("  HTTP {status}")).unwrap_or_default();
    let cost = row.cost_usd.map_or(UNKNOWN.to_owned(), |usd| format!("${usd:.6}"));
    let mut out = vec![
        Line::default().and(Style::Bold, row.id.to_string()).and(
            Style::Plain,
            format!(
                "  {}  ladder {}  tenant {}",
                row.at,
                text(row.ladder.as_deref().or(row.model.as_deref())),
                text(row.client.as_deref())
            ),
        ),
        Line::plain(format!(
            "{outcome}{cause}{status}  answered by {}  first token {}  total {}  {cost}",
            text(row.answered_by.as_deref()),
            wait(row.ttft_ms),
            wait(row.latency_ms)
        )),
    ];
    let name = detail.attempts.iter().map(|a| a.rung.chars().count()).max().unwrap_or(4);
    let name = name.clamp(4, 16);
    let end = detail.attempts.iter().map(|a| start(detail, a) + a.latency_ms.unwrap_or(0));
    let end = end.max().unwrap_or(0).max(row.latency_ms.unwrap_or(0)).max(1);
    let room = terminal.width.saturating_sub(2 + 12 + name + 1 + 26).max(20);
    let scale = Scale { name, room, end };
    for attempt in &detail.attempts {
        out.push(bar(detail, attempt, &scale));
        out.extend(why(attempt, terminal));
    }
    if !detail.attempts.is_empty() {
        let left = " ".repeat(2 + 12 + name + 1);
        let (from, to) = ("0 s", wait(Some(end)));
        let gap = room.saturating_sub(from.len() + to.chars().count());
        let axis = format!("{left}{from}{}{to}", " ".repeat(gap));
        out.push(Line::default().and(Style::Dim, axis));
        let legend = "─ dialled  · head there  ═ tokens";
        out.push(Line::default().and(Style::Dim, format!("{left}{legend}")));
    }
    for passed in &detail.passed_over {
        out.push(Line::plain(format!("  passed over  {}: {}", passed.rung, passed.why())));
    }
    out
}

/// Milliseconds from the request's accept to this attempt's dial.
fn start(detail: &RequestDetail, attempt: &AttemptRow) -> u64 {
    u64::try_from(attempt.at.0.saturating_sub(detail.request.at.0)).unwrap_or(0)
}

/// How the bars are laid out: columns for the rung's name, columns for the bar, and the
/// milliseconds that these stand for.
struct Scale {
    name: usize,
    room: usize,
    end: u64,
}

fn bar(detail: &RequestDetail, attempt: &AttemptRow, scale: &Scale) -> Line {
    let Scale { name, room, end } = *scale;
    let place = |ms: u64| {
        let at = u128::from(ms) * room as u128 / u128::from(end);
        usize::try_from(at).unwrap_or(room).min(room)
    };
    let dialled = start(detail, attempt);
    let at = |since: Option<u64>| since.map(|ms| place(dialled.saturating_add(ms)));
    let from = place(dialled).min(room.saturating_sub(1));
    let to = at(attempt.latency_ms).unwrap_or(room).max(from + 1);
    let (head, token) = (at(attempt.headers_ms), at(attempt.ttft_ms));
    let bar: String = (0..room)
        .map(|column| match column {
            column if column < from || column >= to => ' ',
            column if token.is_some_and(|token| column >= token) => '═',
            column if head.is_some_and(|head| column >= head) => '·',
            _ => '─',
        })
        .collect();
    let (mark, style) = sign(attempt);
    let probe = if attempt.probe { " probe" } else { "" };
    let kind = format!("{}{probe}", attempt.kind);
    let outcome = attempt.outcome.map_or("running".to_owned(), |outcome| outcome.to_string());
    Line::plain(format!("  {} {} ", fit(&kind, 11), fit(&attempt.rung, name)))
        .and(Style::Plain, bar)
        .and(Style::Plain, " ")
        .and(style, mark)
        .and(Style::Plain, format!(" {outcome} {}", wait(attempt.ttft_ms.or(attempt.latency_ms))))
}

/// What went wrong, below its bar.
fn why(attempt: &AttemptRow, terminal: &Terminal) -> Vec<Line> {
    let mut said: Vec<String> = Vec::new();
    said.extend(attempt.cause.map(|cause| cause.to_string().replace('_', " ")));
    said.extend(attempt.detail.clone());
    said.extend(attempt.left_out_text());
    said.extend(attempt.status.filter(|status| *status >= 400).map(|s| format!("HTTP {s}")));
    if said.is_empty() {
        return Vec::new();
    }
    wrapped(terminal, "               ", Style::Plain, &said.join("; "))
}
