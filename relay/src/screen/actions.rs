//! What operators have done, and what is so since.

use super::text::{Line, Style, Terminal, clock, fit, moment, wrapped};
use shared::UnixMillis;
use shared::action_words::{mode, what};
use shared::admin::actions::{Action, ActionKind, CheckAnswer};
use shared::admin::changes::{ChangeAnswer, Present};
use shared::figures::{countdown, wait};
use shared::{OrderSource, OverrideMode};

/// What is in force, then what was done before, newest first.
#[must_use]
pub fn actions(
    in_force: &[Action],
    past: &[Action],
    now: UnixMillis,
    terminal: &Terminal,
) -> Vec<Line> {
    let mut out = vec![Line::default().and(Style::Bold, "IN FORCE")];
    if in_force.is_empty() {
        out.push(Line::default().and(Style::Dim, "  nothing"));
    }
    for action in in_force {
        let sign = match action.kind {
            ActionKind::Note => "n",
            _ => "■",
        };
        let end = match action.until_at {
            Some(until) => format!("{} left", countdown(until.0.saturating_sub(now.0))),
            None if action.kind == ActionKind::Note => "until ended".to_owned(),
            None => "no end".to_owned(),
        };
        out.extend(row(action, sign, Style::Hand, &end, now, terminal));
        let undo = match action.kind {
            ActionKind::Note => format!("belay note --end {}", action.id),
            _ => format!("belay undo {}", action.id),
        };
        out.push(Line::default().and(Style::Dim, format!("            take it back: {undo}")));
    }
    if !past.is_empty() {
        out.push(Line::default().and(Style::Bold, "PAST"));
    }
    for action in past {
        let undone = action.undoes.as_deref().map(|id| format!("  took back {id}"));
        let end = format!("{}{}", action.id, undone.unwrap_or_default());
        out.extend(row(action, " ", Style::Plain, &end, now, terminal));
    }
    out
}

fn row(
    action: &Action,
    sign: &str,
    style: Style,
    end: &str,
    now: UnixMillis,
    terminal: &Terminal,
) -> Vec<Line> {
    let mut text = format!(
        "{}  {}  {}  \"{}\"  {end}",
        moment(action.at, now),
        fit(&action.by, action.by.chars().count().max(6)),
        what(action),
        action.reason
    );
    if let Some(check) = &action.check {
        text += &format!("  {}", found(check));
    }
    wrapped(terminal, sign, style, &text)
}

/// What is so now: one line an override or order.
#[must_use]
pub fn present(present: &Present, now: UnixMillis) -> Vec<Line> {
    let tail = |by: Option<&str>, reason: Option<&str>, until: Option<UnixMillis>| {
        let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
        let reason = reason.map(|reason| format!(" \"{reason}\"")).unwrap_or_default();
        let end = match until {
            Some(at) => {
                let left = countdown(at.0.saturating_sub(now.0));
                format!(", until {} ({left} left)", moment(at, now))
            }
            None => ", no end".to_owned(),
        };
        format!("{by}{reason}{end}")
    };
    let mut out = Vec::new();
    for rung in &present.rungs {
        let mut text = format!("{}: {}", rung.rung, mode(rung.mode));
        if rung.mode != OverrideMode::Auto {
            text += &tail(rung.by.as_deref(), rung.reason.as_deref(), rung.until_at);
        }
        out.push(Line::default().and(Style::Hand, "■").and(Style::Plain, format!(" {text}")));
    }
    for ladder in &present.ladders {
        let mut text = format!("{}: {}", ladder.ladder, ladder.order.join(" > "));
        if ladder.source == OrderSource::Config {
            text += " (the config's)";
        } else {
            text += &tail(ladder.by.as_deref(), ladder.reason.as_deref(), ladder.until_at);
        }
        out.push(Line::default().and(Style::Hand, "■").and(Style::Plain, format!(" {text}")));
    }
    out
}

/// That a change was done, where and by whom, and what is so since.
#[must_use]
pub fn done(id: &str, at: UnixMillis, by: &str, journaled: bool, relay: &str) -> Vec<Line> {
    let mut out = vec![Line::plain(format!("done {} on {relay} by {by}, action {id}", clock(at)))];
    if !journaled {
        let text = "the journal did not take it: it is in force, and a restart would forget it";
        out.push(Line::default().and(Style::Warning, "◆").and(Style::Plain, format!(" {text}")));
    }
    out
}

/// That a change was done, and what is so since.
#[must_use]
pub fn changed(answer: &ChangeAnswer, relay: &str) -> Vec<Line> {
    let mut out = done(&answer.id, answer.at, &answer.by, answer.journaled, relay);
    out.extend(present(&answer.now, answer.at));
    out
}

/// What a check found.
#[must_use]
pub fn checked(check: &CheckAnswer, terminal: &Terminal) -> Vec<Line> {
    let well = check.outcome == shared::AttemptOutcome::Ok;
    let (sign, style) = if well { ("●", Style::Plain) } else { ("×", Style::Broken) };
    wrapped(terminal, sign, style, &format!("{}: {}", check.rung, found(check)))
}

fn found(check: &CheckAnswer) -> String {
    let status = check.status.map(|status| format!(", HTTP {status}")).unwrap_or_default();
    let text = check.text.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
    format!(
        "{}{status}, first token {}, took {}{text}",
        check.outcome,
        wait(check.ttft_ms),
        wait(Some(check.latency_ms))
    )
}
