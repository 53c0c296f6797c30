//! First-token times as a curve: the mark dashed, a gap where nothing was called.

use crate::theme::Colours;
use eframe::egui::{Painter, Rect, Shape, Stroke, pos2, vec2};

/// Draws `p95_ms` over the width of `rect`, with the `mark`, and below it how many calls of
/// each step were `poor`.
pub(crate) fn draw(
    painter: &Painter,
    rect: Rect,
    colours: Colours,
    (p95_ms, poor, mark): (&[Option<u64>], &[u32], Option<u64>),
) {
    let top = p95_ms.iter().flatten().copied().chain(mark).max().unwrap_or(0).max(1);
    let steps = p95_ms.len().max(2) as f32;
    let x = |step: usize| rect.min.x + rect.width() * step as f32 / (steps - 1.0);
    let y = |ms: u64| rect.max.y - 2.0 - (rect.height() - 4.0) * (ms as f32 / top as f32);
    if let Some(mark) = mark {
        let ends = [pos2(rect.min.x, y(mark)), pos2(rect.max.x, y(mark))];
        painter.extend(Shape::dashed_line(&ends, Stroke::new(1.0, colours.dim), 4.0, 4.0));
    }
    let mut last = None;
    for (step, p95) in p95_ms.iter().enumerate() {
        let Some(p95) = p95 else {
            last = None;
            continue;
        };
        let here = pos2(x(step), y(*p95));
        if let Some(before) = last {
            painter.line_segment([before, here], Stroke::new(1.5, colours.text));
        } else {
            painter.circle_filled(here, 1.5, colours.text);
        }
        last = Some(here);
    }
    for (step, count) in poor.iter().enumerate().filter(|(_, count)| **count > 0) {
        let tall = (*count as f32).min(10.0);
        let foot = pos2(x(step), rect.max.y);
        painter.line_segment([foot, foot - vec2(0.0, tall)], Stroke::new(3.0, colours.bad));
    }
}
