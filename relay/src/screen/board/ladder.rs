//! A ladder: its users' numbers, then its rungs from left to right, first choice first.

use super::super::text::{Line, Style, Terminal, fit, flow};
use shared::admin::board::Step;
use shared::admin::{Board, LadderState, RungState};
use shared::diagnose::{is_failing, is_held};
use shared::figures::{countdown, per_hour, percent, rate, share, spend, wait};
use shared::{BreakerState, OverrideMode, Word};

/// Columns of a rung's cell beside its name: place, sign, share, p95 and mark.
const FIGURES: usize = 21;
/// Columns for names of ladders.
const NAMES: std::ops::RangeInclusive<usize> = 4..=16;
/// Columns for names of rungs.
const RUNGS: std::ops::RangeInclusive<usize> = 5..=20;

pub(super) fn ladders(board: &Board, terminal: &Terminal, brief: bool) -> Vec<Line> {
    let longest = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0);
    let name = longest(&mut board.ladders.iter().map(|ladder| ladder.name.chars().count()));
    let name = name.clamp(*NAMES.start(), *NAMES.end());
    let most = longest(&mut board.ladders.iter().map(|ladder| ladder.order.len())).max(1);
    let rung = longest(&mut board.rungs.iter().map(|rung| rung.name.chars().count()));
    // Room for the state below the figures, too: `HALF-OPEN 1/2 good`.
    let least = FIGURES + rung.clamp(*RUNGS.start(), *RUNGS.end());
    let columns = (terminal.width.saturating_sub(2) / least).clamp(1, most);
    let cell = (terminal.width.saturating_sub(2) / columns).min(least + 10);
    let legend = "  below: place, rung, share of answers, first token p95 / slow mark";
    let mut out = vec![Line::default().and(Style::Dim, legend)];
    for ladder in &board.ladders {
        out.extend(users(board, ladder, name, terminal));
        if brief && is_calm(board, ladder) {
            continue;
        }
        let cells: Vec<_> = ladder
            .order
            .iter()
            .enumerate()
            .map(|(place, rung)| rung_cell(board, ladder, place, rung, cell.saturating_sub(1)))
            .collect();
        for row in cells.chunks(columns) {
            let lines = row.iter().map(|cell| cell.len()).max().unwrap_or(0);
            for number in 0..lines {
                let start = Line::plain("  ");
                out.push(row.iter().fold(start, |line, parts| {
                    line.join(parts.get(number).cloned().unwrap_or_default().filled(cell))
                }));
            }
        }
    }
    out
}

/// Whether nobody has to look at its rungs.
fn is_calm(board: &Board, ladder: &LadderState) -> bool {
    let users = &ladder.users;
    let is_well = |name: &String| {
        find(board, name).is_some_and(|rung| {
            rung.forced.is_none()
                && rung.health.state == BreakerState::Closed
                && !is_held(rung, board.at)
                && !is_failing(rung)
                && rung.health.weight >= 1.0
        })
    };
    users.failed + users.broken == 0
        && ladder.order == ladder.config_order
        && ladder.order.iter().all(is_well)
}

fn find<'a>(board: &'a Board, name: &str) -> Option<&'a RungState> {
    board.rungs.iter().find(|rung| rung.name == name)
}

fn users(board: &Board, ladder: &LadderState, name: usize, terminal: &Terminal) -> Vec<Line> {
    let users = &ladder.users;
    let lost = users.failed + users.broken;
    let all = users.ok + lost + users.gone;
    // What differs from the config's order is marked beside the name.
    let star = if ladder.order == ladder.config_order { " " } else { "*" };
    let before = ladder.usual.as_ref();
    let failed = format!("failed {}", percent(share(lost, all)));
    let plain = |text: String| (Style::Plain, text);
    let mut pieces = vec![
        (Style::Bold, fit(&ladder.name, name) + star),
        (if lost > 0 { Style::Broken } else { Style::Plain }, failed),
    ];
    if users.waiting > 0 {
        pieces.push(plain(format!("{} waiting", users.waiting)));
    }
    if let Some(first) = carrier(ladder) {
        pieces.push(plain(format!("by {} {}", first.rung, percent(first.share))));
    }
    let p95 = before.and_then(|usual| usual.ttft_p95_ms);
    let p95 = unusual(users.ttft_p95_ms, p95).map(|ms| wait(Some(ms)));
    let cost = unusual(Some(users.cost_nps), before.map(|usual| usual.cost_nps)).map(per_hour);
    let usual = |text: Option<String>| text.map(|text| format!(" (usual {text})"));
    pieces.push(plain(rate(users.rps)));
    let now = wait(users.ttft_p95_ms);
    pieces.push(plain(format!("p95 {now}{}", usual(p95).unwrap_or_default())));
    let now = spend(users.cost_nps, board.unpriced(ladder));
    pieces.push(plain(format!("{now}{}", usual(cost).unwrap_or_default())));
    if users.rescued > 0 {
        pieces.push(plain(format!("rescued {}", percent(share(users.rescued, all)))));
    }
    if star == "*" {
        let left = ladder.until_at.map(|until| countdown(until.0 - board.at.0));
        let left = left.map_or_else(|| "no end".to_owned(), |left| format!("{left} left"));
        let by = ladder.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
        pieces.push((Style::Hand, format!("order{by}, {left}")));
    }
    flow(terminal, name + 3, "  ", pieces)
}

/// What is usual, where now is worse by a quarter or more; else it is not worth a word.
fn unusual(now: Option<u64>, usual: Option<u64>) -> Option<u64> {
    usual.filter(|usual| now.is_some_and(|now| now.saturating_mul(4) >= usual.saturating_mul(5)))
}

/// The rung that answers most.
fn carrier(ladder: &LadderState) -> Option<&Step> {
    let steps = ladder.steps.iter().filter(|step| step.share.is_some_and(|share| share > 0.0));
    steps.max_by(|a, b| a.share.unwrap_or(0.0).total_cmp(&b.share.unwrap_or(0.0)))
}

/// One or two lines: who it is and what it carries; below, what is the matter with it.
fn rung_cell(
    board: &Board,
    ladder: &LadderState,
    place: usize,
    name: &str,
    width: usize,
) -> Vec<Line> {
    let Some(rung) = find(board, name) else {
        return vec![Line::plain(fit(&format!("? {name}"), width))];
    };
    let step = ladder.steps.iter().find(|step| step.rung == name);
    let (sign, style, words) = state(board, rung);
    let now = &rung.now;
    let at_least = if now.ttft_at_least { ">" } else { "" };
    let wait = |ms: Option<u64>| wait(ms).replace(' ', "");
    let carries = step.and_then(|step| step.share).is_some_and(|share| share > 0.0);
    let figures = if now.calls == 0 && now.mark_ms.is_none() && !carries {
        "no calls yet".to_owned()
    } else {
        format!(
            "{:>4} {:>5}/{}",
            percent(step.and_then(|step| step.share)).replace(' ', ""),
            format!("{at_least}{}", wait(now.ttft_p95_ms)),
            wait(now.mark_ms),
        )
    };
    let room = width.saturating_sub(figures.chars().count() + 5).max(3);
    let first = Line::default()
        .and(Style::Dim, format!("{} ", place + 1))
        .and(style, sign)
        .and(
            if style == Style::Plain { Style::Plain } else { Style::Bold },
            format!(" {} ", fit(name, room)),
        )
        .and(Style::Plain, figures);
    let mut lines = vec![first];
    if !words.is_empty() {
        let text = format!("  {words}");
        lines.push(
            Line::plain("  ").and(style, super::super::text::cut(text.trim_start(), width - 2)),
        );
    }
    lines
}

/// A rung's sign, how it is drawn, and what is the matter, the strongest first.
fn state(board: &Board, rung: &RungState) -> (&'static str, Style, String) {
    let health = &rung.health;
    let left = |until: shared::UnixMillis| countdown(until.0.saturating_sub(board.at.0));
    if let Some(forced) = &rung.forced {
        let mode = match &forced.mode {
            Word::Known(OverrideMode::Demoted) => "LAST".to_owned(),
            mode => mode.spaced(" ").to_uppercase(),
        };
        let end = forced.until_at.map_or_else(|| "no end".to_owned(), left);
        let by = forced.by.as_deref().map(|by| format!(" {by}")).unwrap_or_default();
        let streams = match forced.draining {
            0 => String::new(),
            count => format!(" dr {count}"),
        };
        let was = if health.state == BreakerState::Closed { "" } else { " ▲" };
        return ("■", Style::Hand, format!("{mode} {end}{by}{streams}{was}"));
    }
    if let Some(down) = &health.hard_down {
        let what = match down.why.as_str() {
            "credit" => "NO CREDIT",
            "model" => "NO MODEL",
            _ => "KEY REFUSED",
        };
        return ("×", Style::Broken, format!("{what} {}", left(down.until_at)));
    }
    if health.state == BreakerState::Open {
        let probe = health.probe.as_ref().and_then(|probe| probe.at);
        let probe = match probe.filter(|at| *at > board.at) {
            Some(at) => format!("probe in {}", left(at)),
            None => "probe next".to_owned(),
        };
        return ("▲", Style::Broken, format!("OPEN {probe}"));
    }
    if let Some(hold) = health.hold.as_ref().filter(|_| is_held(rung, board.at)) {
        return ("‖", Style::Warning, format!("HOLD {}", left(hold.until_at)));
    }
    if health.state == BreakerState::HalfOpen {
        let (good, need) = health.probe.as_ref().map_or((0, 0), |probe| (probe.good, probe.need));
        return ("◐", Style::Warning, format!("HALF-OPEN {good}/{need} good"));
    }
    if health.weight < 1.0 {
        let why = if health.floor { "SPARED" } else { "SLOW START" };
        return ("◐", Style::Warning, format!("{why} {}", percent(Some(health.weight))));
    }
    let over = rung.now.ttft_p95_ms > rung.now.mark_ms && rung.now.mark_ms.is_some();
    if is_failing(rung) || (over && rung.now.slow > 0) {
        let (slow, bad, calls) = (rung.now.slow, rung.now.bad, rung.now.calls);
        return ("◆", Style::Warning, format!("{slow} slow, {bad} bad of {calls}"));
    }
    let sign = if rung.now.calls == 0 { "○" } else { "●" };
    (sign, Style::Plain, String::new())
}
