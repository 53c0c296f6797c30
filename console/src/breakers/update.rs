//! What the engineer does on Breakers, and what is read for it.

use super::msg::Msg;
use super::state::SPANS;
use crate::board::{Selected, cell};
use crate::history::{Filter, Window};
use crate::model::{Loaded, Model, Screen};
use crate::task::Task;
use crate::{actions, history};
use shared::UnixMillis;

/// Between two looks at the curves, while they are shown.
const CURVES: i64 = 15_000;
/// Before and after the moment of the cursor that History shows.
const AROUND: i64 = 300_000;

/// Does what the engineer did at `now`.
pub(crate) fn update(model: &mut Model, msg: &Msg, now: i64) -> Vec<Task> {
    match msg {
        Msg::Span(span) => {
            model.breakers.span = *span;
            read(model, now)
        }
        Msg::Cursor(at) => {
            model.breakers.cursor = Some(*at);
            Vec::new()
        }
    }
}

/// The next span.
pub(crate) fn next_span(model: &mut Model, now: i64) -> Vec<Task> {
    model.breakers.span = (model.breakers.span + 1) % SPANS.len();
    read(model, now)
}

/// Moves: the cursor to the right, from rung to rung down, in the order of the curves.
pub(crate) fn step(model: &mut Model, down: isize, right: isize) {
    model.breakers.step(right);
    if down == 0 {
        return;
    }
    let Some(board) = model.board() else { return };
    let names: Vec<String> =
        cell::worst(&board.rungs).into_iter().map(|rung| rung.name.clone()).collect();
    let place = names.iter().position(|name| Some(name) == model.selected.rung.as_ref());
    let last = names.len().saturating_sub(1);
    let place = place.map_or(0, |place| place.saturating_add_signed(down).min(last));
    model.selected = Selected { ladder: None, rung: names.get(place).cloned() };
}

/// Reads what the screen shows.
pub(crate) fn read(model: &mut Model, now: i64) -> Vec<Task> {
    let relays = model.viewed();
    let first = model
        .board()
        .and_then(|board| board.rungs.iter().filter_map(|rung| rung.health.sick_since_at).min());
    let breakers = &mut model.breakers;
    breakers.asked += 1;
    breakers.asked_at = now;
    // What is known of the view stands until it is known better.
    breakers.series.retain(|relay, _| relays.contains(relay));
    breakers.transitions.retain(|relay, _| relays.contains(relay));
    let asked = breakers.asked;
    let (since, until) = model.breakers.bounds(model.relay_now(now), first);
    let (_, _, step) = SPANS.get(model.breakers.span).copied().unwrap_or(SPANS[0]);
    model.breakers.window = Some((since, until));
    let pair = |key: &str, value: String| (key.to_owned(), value);
    // What operators did stands beside the breakers.
    let mut tasks = actions::update::read(model);
    for relay in relays {
        model.breakers.transitions.entry(relay).or_insert(Loaded::Loading);
        tasks.push(Task::Transitions { relay, query: vec![pair("limit", "500".to_owned())] });
        let query = vec![pair("since", since.to_string()), pair("step", step.to_owned())];
        tasks.push(Task::Series { relay, of: Screen::Breakers, asked, query });
    }
    tasks
}

/// The curves once more, when they have a new step.
pub(crate) fn curves(model: &mut Model, now: i64) -> Vec<Task> {
    let is_due = model.screen == Screen::Breakers && now - model.breakers.asked_at >= CURVES;
    // Somebody looks at a moment: it must not move away.
    if !is_due || model.breakers.cursor.is_some() {
        return Vec::new();
    }
    let reached = model.reached(now);
    let mut tasks = read(model, now);
    // One that is lost would only answer that it is.
    tasks.retain(|task| reached.contains(&task.relay()));
    tasks
}

/// Enter: History around the cursor, of the selected rung.
pub(crate) fn enter(model: &mut Model, now: i64) -> Vec<Task> {
    let since = match model.breakers.cursor {
        Some(at) => Window::Between(UnixMillis(at.0 - AROUND), Some(UnixMillis(at.0 + AROUND))),
        None => Window::Last(AROUND),
    };
    let tried = model.selected.rung.clone();
    history::update::show(model, Filter { tried, since, ..Filter::default() }, now)
}
