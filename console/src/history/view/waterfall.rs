//! One request as a waterfall: what was tried, in time, and what came of it.

use crate::panel::{Scene, cut, line};
use crate::theme::mono;
use eframe::egui::{
    Align2, ScrollArea, Sense, Stroke, Ui, WidgetInfo, accesskit::Role, pos2, vec2,
};
use shared::admin::{AttemptRow, RequestDetail};
use shared::figures::{UNKNOWN, span, wait};

/// Height of a row.
const ROW: f32 = 15.0;
/// Width of an attempt's name, and of its words.
const NAME: f32 = 190.0;
const WORDS: f32 = 330.0;

/// Draws it.
pub(super) fn draw(ui: &mut Ui, scene: &Scene<'_>, detail: &RequestDetail) {
    let colours = scene.colours;
    let request = &detail.request;
    let text = format!(
        "{}  {}  {}  total {}  {}{}",
        request.id,
        request.ladder.as_deref().unwrap_or(UNKNOWN),
        request.client.as_deref().unwrap_or(UNKNOWN),
        wait(request.latency_ms),
        price(&detail.attempts),
        passed(detail),
    );
    cut(ui, text, colours.text);
    let end = |attempt: &AttemptRow| {
        let at = attempt.at.0.saturating_sub(request.at.0);
        at.saturating_add(i64::try_from(attempt.latency_ms.unwrap_or(0)).unwrap_or(0))
    };
    let whole = detail.attempts.iter().map(end).max().unwrap_or(1);
    let whole = whole.max(i64::try_from(request.latency_ms.unwrap_or(0)).unwrap_or(0)).max(1);
    ScrollArea::vertical().id_salt("attempts").show(ui, |ui| {
        for attempt in &detail.attempts {
            bar(ui, scene, attempt, request.at.0, whole);
            for why in attempt.detail.iter().cloned().chain(attempt.left_out_text()) {
                cut(ui, format!("{:<27}{why}", ""), colours.dim);
            }
        }
        axis(ui, scene, whole);
        line(ui, "· dial   | head   ● first token   ═ stream", colours.dim);
    });
}

/// What the answer cost, and what its losers did.
fn price(attempts: &[AttemptRow]) -> String {
    let of = |won: bool| {
        let all = attempts.iter().filter(|one| {
            let is =
                one.outcome.is_some_and(|outcome| matches!(outcome.as_str(), "ok" | "refused"));
            is == won
        });
        all.filter_map(|one| one.cost_usd).fold(0.0, |sum, cost| sum + cost)
    };
    let (won, lost) = (of(true) * 1_000.0, of(false) * 1_000.0);
    let lost = if lost > 0.0 { format!(" + {lost:.2} m$ lost") } else { String::new() };
    // An unknown cost is not nothing: a sum says what it is without.
    let unpriced = attempts.iter().filter(|one| one.no_cost.is_some()).count();
    match unpriced {
        0 => format!("{won:.2} m${lost}"),
        _ if unpriced == attempts.len() => "unpriced".to_owned(),
        _ => format!("{won:.2} m${lost}, {unpriced} unpriced"),
    }
}

fn passed(detail: &RequestDetail) -> String {
    let one = |over: &shared::admin::PassedOverRow| format!("{} ({})", over.rung, over.why());
    let all: Vec<String> = detail.passed_over.iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!("  passed over: {}", all.join(", ")) }
}

/// One attempt in time: until its head, until its first token, until its end.
fn bar(ui: &mut Ui, scene: &Scene<'_>, attempt: &AttemptRow, began: i64, whole: i64) {
    let colours = scene.colours;
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
    let room = (width - NAME - WORDS).max(40.0);
    let painter = ui.painter_at(rect);
    let text = |at: f32, words: &str, colour| {
        painter.text(pos2(rect.min.x + at, rect.min.y), Align2::LEFT_TOP, words, mono(), colour);
    };
    let probe = if attempt.probe { " probe" } else { "" };
    let name = format!("{:<9} {}{probe}", attempt.kind.to_string(), attempt.rung);
    text(0.0, &name, colours.text);
    let place = |ms: i64| rect.min.x + NAME + room * (ms as f32 / whole as f32).clamp(0.0, 1.0);
    let start = attempt.at.0.saturating_sub(began);
    let of = |ms: Option<u64>| ms.map(|ms| start + i64::try_from(ms).unwrap_or(0));
    let end = of(attempt.latency_ms).unwrap_or(whole);
    let middle = rect.center().y;
    let stroke = |from: i64, to: i64, wide: f32, colour| {
        let ends = [pos2(place(from), middle), pos2(place(to), middle)];
        painter.line_segment(ends, Stroke::new(wide, colour));
    };
    stroke(start, end, 1.0, colours.dim);
    if let Some(head) = of(attempt.headers_ms) {
        let tick = [pos2(place(head), rect.min.y + 3.0), pos2(place(head), rect.max.y - 3.0)];
        painter.line_segment(tick, Stroke::new(1.0, colours.dim));
    }
    if let Some(first) = of(attempt.ttft_ms) {
        stroke(first, end, 5.0, colours.text);
        painter.circle_filled(pos2(place(first), middle), 3.5, colours.text);
    }
    let words = outcome_text(attempt);
    let good = attempt.outcome.is_some_and(|outcome| matches!(outcome.as_str(), "ok" | "refused"));
    text(NAME + room + 8.0, &words, if good { colours.text } else { colours.warn });
    let name = format!("{name}, {words}");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
    response.on_hover_text(name);
}

/// How an attempt ended, in words.
fn outcome_text(attempt: &AttemptRow) -> String {
    let outcome = attempt.outcome.map_or("running".to_owned(), |outcome| outcome.to_string());
    let cause = attempt.cause.map(|cause| format!("/{cause}")).unwrap_or_default();
    let status = attempt.status.filter(|status| *status >= 300);
    let status = status.map(|status| format!(" {status}")).unwrap_or_default();
    let verdict = attempt.verdict.map(|verdict| format!("  {verdict}")).unwrap_or_default();
    let first = attempt.ttft_ms.map(|_| format!("  first {}", wait(attempt.ttft_ms)));
    format!("{outcome}{cause}{status}{verdict}{}", first.unwrap_or_default())
}

/// Whole steps of time below the bars.
fn axis(ui: &mut Ui, scene: &Scene<'_>, whole: i64) {
    const STEPS: [i64; 13] =
        [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000];
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
    let room = (width - NAME - WORDS).max(40.0);
    let step = STEPS.into_iter().find(|step| whole / step <= 8).unwrap_or(whole);
    let mut at = 0;
    while at <= whole {
        let x = rect.min.x + NAME + room * (at as f32 / whole as f32);
        let text = match at {
            0 => "0".to_owned(),
            at if step < 100 => format!("{at} ms"),
            at => span(at),
        };
        let font = mono();
        ui.painter().text(pos2(x, rect.min.y), Align2::LEFT_TOP, text, font, scene.colours.dim);
        at += step.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::AttemptKind::{First, Hedge};
    use shared::AttemptOutcome::{Cancelled, Ok};
    use shared::admin::sample::attempt;

    #[test]
    fn a_sum_says_what_it_is_without() {
        let paid = |row, cost| AttemptRow { cost_usd: Some(cost), ..row };
        let unpriced = |row| AttemptRow { no_cost: Some("no price".to_owned()), ..row };
        let (won, lost) = (attempt(1, "sol", First, Ok), attempt(2, "opus", Hedge, Cancelled));
        for (attempts, text) in [
            (vec![paid(won.clone(), 0.0041)], "4.10 m$"),
            (vec![paid(won.clone(), 0.0041), paid(lost.clone(), 0.002)], "4.10 m$ + 2.00 m$ lost"),
            (vec![paid(won.clone(), 0.0041), unpriced(lost)], "4.10 m$, 1 unpriced"),
            (vec![unpriced(won.clone())], "unpriced"),
            // Free on purpose is a price, too.
            (vec![paid(won, 0.0)], "0.00 m$"),
        ] {
            assert_eq!(price(&attempts), text);
        }
    }
}
