//! What a change would do, before it is asked for.

use super::text::{Line, Style, Terminal, clock, flow, wrapped};
use shared::admin::Board;
use shared::admin::actions::{BeforeAfter, LadderPreview, Preview, StepPreview, WarningKind};
use shared::figures::{UNKNOWN, per_hour, percent, wait};

/// Per ladder its rungs before and after, then what to think of first.
#[must_use]
pub fn preview(preview: &Preview, board: &Board, terminal: &Terminal) -> Vec<Line> {
    let mut out = Vec::new();
    for ladder in &preview.ladders {
        out.extend(head(ladder, terminal));
        out.push(first_token(ladder));
        let name = ladder.steps.iter().map(|step| step.rung.chars().count()).max().unwrap_or(4);
        let name = name.clamp(4, 24);
        let heading = format!(
            "  {:<6} {:<name$}  {:<13} {:<24} p95 now",
            "place", "rung", "called first", "cost"
        );
        out.push(Line::default().and(Style::Dim, heading));
        out.extend(ladder.steps.iter().map(|step| row(step, board, name)));
    }
    for warning in &preview.warnings {
        let (sign, style) = match warning.kind {
            WarningKind::LastRung | WarningKind::OnlySick => ("▲", Style::Broken),
            WarningKind::CapabilityLost | WarningKind::OverPeak => ("◆", Style::Warning),
        };
        out.extend(wrapped(terminal, sign, style, &warning.text));
    }
    out
}

fn head(ladder: &LadderPreview, terminal: &Terminal) -> Vec<Line> {
    let since = ladder.since_at.map(|at| format!(" since {}", clock(at))).unwrap_or_default();
    let from = match ladder.requests {
        0 => "no request to plan anew".to_owned(),
        1 => format!("from its last request{since}"),
        count => format!("from its last {count} requests{since}"),
    };
    let cost = both(ladder.cost_nps, |cost| cost.map_or(UNKNOWN.to_owned(), per_hour));
    let lost = ladder.unserved;
    let served = format!("unserved {}", both(lost, percent));
    let worse = lost.after.unwrap_or(0.0) > lost.before.unwrap_or(0.0);
    let style = if worse { Style::Broken } else { Style::Plain };
    let pieces = vec![
        (Style::Bold, ladder.ladder.clone()),
        (Style::Plain, format!("cost {cost}")),
        (style, served),
        (Style::Dim, format!("({from})")),
    ];
    flow(terminal, 2, "  ", pieces)
}

/// How long users would wait, as the rungs answer now and if nothing were hedged.
fn first_token(ladder: &LadderPreview) -> Line {
    let half = both(ladder.ttft_p50_ms, wait);
    let most = both(ladder.ttft_p95_ms, wait);
    Line::default().and(Style::Plain, format!("  first token p50 {half}, p95 {most}, unhedged"))
}

fn row(step: &StepPreview, board: &Board, name: usize) -> Line {
    let p95 = board.rungs.iter().find(|rung| rung.name == step.rung);
    let p95 = wait(p95.and_then(|rung| rung.now.ttft_p95_ms));
    let moved = step.share.before != step.share.after || step.place.before != step.place.after;
    let style = if moved { Style::Bold } else { Style::Dim };
    let text = format!(
        "  {:<6} {:<name$}  {:<13} {:<24} {p95}",
        both(step.place, |place| place.to_string()),
        step.rung,
        both(step.share, percent),
        both(step.cost_nps, |cost| cost.map_or(UNKNOWN.to_owned(), per_hour)),
    );
    Line::default().and(style, text)
}

/// `before → after`, or the one value if nothing changes.
fn both<T: Copy + PartialEq>(pair: BeforeAfter<T>, say: impl Fn(T) -> String) -> String {
    let (before, after) = (say(pair.before), say(pair.after));
    if before == after { before } else { format!("{before} → {after}") }
}
