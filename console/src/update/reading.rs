//! What is read from the relays for the screen that is shown.

use super::{Task, Which};
use crate::breakers::SPANS;
use crate::history::{Filter, Preset, Rows, Sort, Window};
use crate::model::{Loaded, Model, Screen};
use shared::UnixMillis;

/// Sums go back so far at the most; and have so many steps.
const MONTH: i64 = 30 * 86_400_000;
const STEPS: i64 = 1_500;
/// Between two looks at the curves, while they are shown.
const CURVES: i64 = 15_000;
/// Between two looks for newer rows, in milliseconds.
const AGAIN: i64 = 500;
/// Before and after the moment of the cursor that History shows, and before a trouble.
pub(super) const AROUND: i64 = 300_000;

/// The time of this relay at `now` of ours.
fn relay_now(model: &Model, relay: usize, now: i64) -> UnixMillis {
    UnixMillis(now + model.relays.get(relay).map_or(0, |known| known.offset.get()))
}

/// Reads what the screen shows.
pub(super) fn refresh(model: &mut Model, now: i64) -> Vec<Task> {
    match model.screen {
        Screen::Board | Screen::Setup => Vec::new(),
        Screen::History => anew(model, now),
        Screen::Breakers => breakers(model, now),
        Screen::Actions => actions(model),
    }
}

pub(super) fn actions(model: &mut Model) -> Vec<Task> {
    let relays = model.viewed();
    model.actions.retain(|relay, _| relays.contains(relay));
    for relay in &relays {
        model.actions.entry(*relay).or_insert(Loaded::Asked);
    }
    relays.into_iter().map(|relay| Task::Actions { relay }).collect()
}

fn breakers(model: &mut Model, now: i64) -> Vec<Task> {
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
    let mut tasks = actions(model);
    for relay in relays {
        model.breakers.transitions.entry(relay).or_insert(Loaded::Asked);
        tasks.push(Task::Transitions { relay, query: vec![pair("limit", "500".to_owned())] });
        let query = vec![pair("since", since.to_string()), pair("step", step.to_owned())];
        tasks.push(Task::Series { relay, of: Screen::Breakers, asked, query });
    }
    tasks
}

/// Reads the list from its beginning, and what it says of the window.
pub(super) fn anew(model: &mut Model, now: i64) -> Vec<Task> {
    let relays = model.viewed();
    let history = &mut model.history;
    history.asked += 1;
    history.asked_at = now;
    history.stirred = false;
    history.selected = None;
    history.detail = Loaded::No;
    history.rows = Rows::asked(&relays);
    history.series.clear();
    history.totals.clear();
    history.groups.clear();
    let history = &model.history;
    let asked = history.asked;
    let mut tasks = Vec::new();
    for relay in relays {
        let at = relay_now(model, relay, now);
        tasks.push(Task::Requests { relay, asked, what: Which::First, query: history.query(at) });
        let mut span = history.filter.span(at);
        if history.filter.since == Window::All {
            // Sums go back a month at the most.
            span = vec![("since".to_owned(), UnixMillis(at.0 - MONTH).to_string())];
        }
        let mut of = span.clone();
        of.extend(history.filter.ladder.iter().map(|name| ("ladder".to_owned(), name.clone())));
        let grouped = std::iter::once(("group".to_owned(), "outcome".to_owned()));
        let query = of.iter().cloned().chain(grouped).collect();
        tasks.push(Task::Summary { relay, asked, query });
        // Only its sums are looked at; but a step begins on its own, so that a long one would
        // reach far beyond the window.
        let (since, until) = history.filter.since.bounds(at);
        let whole = until.unwrap_or(at).0 - since.map_or(at.0 - MONTH, |since| since.0);
        let minutes = (whole / 60_000 / STEPS + 1).max(1);
        of.push(("step".to_owned(), format!("{minutes}m")));
        tasks.push(Task::Series { relay, of: Screen::History, asked, query: of });
    }
    tasks
}

/// The curves once more, when they have a new step.
pub(super) fn curves(model: &mut Model, now: i64) -> Vec<Task> {
    let is_due = model.screen == Screen::Breakers && now - model.breakers.asked_at >= CURVES;
    // Somebody looks at a moment: it must not move away.
    if !is_due || model.breakers.cursor.is_some() {
        return Vec::new();
    }
    let reached = model.reached(now);
    let mut tasks = breakers(model, now);
    // One that is lost would only answer that it is.
    tasks.retain(|task| reached.contains(&task.relay()));
    tasks
}

/// The next page of every relay that has one and was not asked for it.
pub(super) fn more(model: &mut Model, now: i64) -> Vec<Task> {
    let history = &mut model.history;
    if !history.rows.waits_for.is_empty() {
        return Vec::new();
    }
    let next = history.rows.ask_next();
    let asked = history.asked;
    let mut tasks = Vec::new();
    for (relay, next) in next {
        let mut query = model.history.query(relay_now(model, relay, now));
        query.push(("cursor".to_owned(), next));
        tasks.push(Task::Requests { relay, asked, what: Which::Next, query });
    }
    tasks
}

/// What came since the list was read, if anything may have.
pub(super) fn newer(model: &mut Model, now: i64) -> Vec<Task> {
    let history = &model.history;
    let idle = !history.stirred || now - history.asked_at < AGAIN;
    let is_first = !history.rows.waits_for.is_empty();
    if model.screen != Screen::History || idle || is_first || history.order() != Sort::At {
        return Vec::new();
    }
    if matches!(history.filter.since, Window::Between(_, Some(_))) {
        return Vec::new();
    }
    let asked = history.asked;
    let mut tasks = Vec::new();
    for relay in model.reached(now) {
        let mut query = model.history.query(relay_now(model, relay, now));
        if let Some(newest) = model.history.rows.newest(relay) {
            // Those that had not ended then are read again.
            query.retain(|(key, _)| key != "since");
            query.push(("since".to_owned(), UnixMillis(newest.0).to_string()));
        }
        tasks.push(Task::Requests { relay, asked, what: Which::Newer, query });
    }
    model.history.stirred = false;
    model.history.asked_at = now;
    // One that ran when it was looked at may have ended.
    let runs = model.history.detail.come().is_some_and(|detail| detail.request.outcome.is_none());
    if let Some((relay, id)) = model.history.selected.filter(|_| runs) {
        tasks.push(Task::Request { relay, id });
    }
    tasks
}

/// Follows what comes from now on, from the top; a list that has another order, or that is
/// followed already, is read anew.
pub(super) fn follow(model: &mut Model, now: i64) -> Vec<Task> {
    model.history.follow = model.history.order() == Sort::At;
    model.screen = Screen::History;
    anew(model, now)
}

/// The next group, or the next span.
pub(super) fn next(model: &mut Model, now: i64) -> Vec<Task> {
    match model.screen {
        Screen::History => {
            let count = model.history.groups.len().min(GROUPS);
            let place = model.history.group.map_or(0, |place| place + 1);
            model.history.group = (place < count).then_some(place);
            Vec::new()
        }
        Screen::Breakers => {
            model.breakers.span = (model.breakers.span + 1) % SPANS.len();
            refresh(model, now)
        }
        _ => Vec::new(),
    }
}

/// Groups that are shown.
pub const GROUPS: usize = 5;

/// Narrows the list to the selected group.
pub(super) fn into_group(model: &mut Model, now: i64) -> Vec<Task> {
    let history = &mut model.history;
    let Some(group) = history.group.take().and_then(|place| history.groups.get(place)) else {
        return Vec::new();
    };
    history.filter.tried = Some(group.rung.clone());
    // A late first token is a verdict, not an outcome.
    history.filter.ended = group.what.parse().ok();
    history.preset = if group.what == "slow" { Preset::Trouble } else { Preset::All };
    anew(model, now)
}

/// Enter on History: what was typed, the selected group, or the whole of the selected request.
pub(super) fn enter_history(model: &mut Model, now: i64) -> Vec<Task> {
    if let Some(text) = model.history.typing.clone() {
        match Filter::parse(&text) {
            Ok(filter) => {
                model.history.filter = filter;
                model.history.typing = None;
                return anew(model, now);
            }
            Err(why) => model.history.wrong = Some(why),
        }
        return Vec::new();
    }
    if model.history.group.is_some() {
        return into_group(model, now);
    }
    detail(model)
}

/// Enter on Breakers: History around the cursor, of the selected rung.
pub(super) fn at_cursor(model: &mut Model, now: i64) -> Vec<Task> {
    let since = match model.breakers.cursor {
        Some(at) => Window::Between(UnixMillis(at.0 - AROUND), Some(UnixMillis(at.0 + AROUND))),
        None => Window::Last(AROUND),
    };
    let tried = model.selected.rung.clone();
    model.history.filter = Filter { tried, since, ..Filter::default() };
    model.history.preset = Preset::All;
    model.screen = Screen::History;
    anew(model, now)
}

/// The selected request, whole.
pub(super) fn detail(model: &mut Model) -> Vec<Task> {
    let Some((relay, id)) = model.history.selected else { return Vec::new() };
    model.history.detail = Loaded::Asked;
    vec![Task::Request { relay, id }]
}
