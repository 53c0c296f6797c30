//! What the engineer does on History, and what is read for it.

use super::filter::{Filter, Preset, Sort, Window};
use super::msg::Msg;
use super::rows::Rows;
use crate::model::{Loaded, Model, Screen};
use crate::task::{Task, Which};
use shared::UnixMillis;

/// Sums go back so far at the most; and have so many steps.
const MONTH: i64 = 30 * 86_400_000;
const STEPS: i64 = 1_500;
/// Between two looks for newer rows, in milliseconds.
const AGAIN: i64 = 500;
/// Groups that are shown.
pub const GROUPS: usize = 5;

/// Does what the engineer did at `now`.
pub(crate) fn update(model: &mut Model, msg: Msg, now: i64) -> Vec<Task> {
    let history = &mut model.history;
    match msg {
        Msg::Preset(preset) => {
            history.preset = preset;
            model.screen = Screen::History;
            return anew(model, now);
        }
        Msg::Sort => {
            history.sort = Some(history.order().next());
            return anew(model, now);
        }
        Msg::Filter => {
            history.typing = Some(history.filter.to_string());
            history.wrong = None;
            model.screen = Screen::History;
        }
        Msg::Clear => {
            history.filter = Filter::default();
            return anew(model, now);
        }
        Msg::FilterText(text) => {
            history.wrong = Filter::parse(&text).err();
            history.typing = Some(text);
        }
        Msg::Follow => return follow(model, now),
        Msg::Group(place) => {
            history.group = Some(place);
            return into_group(model, now);
        }
        Msg::Select(relay, id) => {
            history.selected = Some((relay, id));
            history.follow = false;
            return detail(model);
        }
    }
    Vec::new()
}

/// Moves: rows down, presets to the right.
pub(crate) fn step(model: &mut Model, down: isize, right: isize, now: i64) -> Vec<Task> {
    if right != 0 {
        model.history.preset = model.history.preset.step(right);
        return anew(model, now);
    }
    // Somebody looks at a row: it must not move away.
    model.history.follow = false;
    model.history.step(down);
    let mut tasks = detail(model);
    if model.history.is_near_end() {
        tasks.extend(more(model, now));
    }
    tasks
}

/// The next group.
pub(crate) fn next_group(model: &mut Model) {
    let count = model.history.groups.len().min(GROUPS);
    let place = model.history.group.map_or(0, |place| place + 1);
    model.history.group = (place < count).then_some(place);
}

/// Shows the requests that pass `filter`.
pub(crate) fn show(model: &mut Model, filter: Filter, now: i64) -> Vec<Task> {
    model.history.filter = filter;
    model.history.preset = Preset::All;
    model.screen = Screen::History;
    anew(model, now)
}

/// The time of this relay at `now` of ours.
fn relay_now(model: &Model, relay: usize, now: i64) -> UnixMillis {
    UnixMillis(now + model.relays.get(relay).map_or(0, |known| known.offset.get()))
}

/// Reads the list from its beginning, and what it says of the window.
pub(crate) fn anew(model: &mut Model, now: i64) -> Vec<Task> {
    let relays = model.viewed();
    let history = &mut model.history;
    history.asked += 1;
    history.asked_at = now;
    history.stirred = false;
    history.selected = None;
    history.detail = Loaded::No;
    history.rows = Rows::loading(&relays);
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

/// The next page of every relay that has one and was not asked for it.
fn more(model: &mut Model, now: i64) -> Vec<Task> {
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
pub(crate) fn newer(model: &mut Model, now: i64) -> Vec<Task> {
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
fn follow(model: &mut Model, now: i64) -> Vec<Task> {
    model.history.follow = model.history.order() == Sort::At;
    model.screen = Screen::History;
    anew(model, now)
}

/// Narrows the list to the selected group.
fn into_group(model: &mut Model, now: i64) -> Vec<Task> {
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
pub(crate) fn enter(model: &mut Model, now: i64) -> Vec<Task> {
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

/// The selected request, whole.
pub(crate) fn detail(model: &mut Model) -> Vec<Task> {
    let Some((relay, id)) = model.history.selected else { return Vec::new() };
    model.history.detail = Loaded::Loading;
    vec![Task::Request { relay, id }]
}
