//! What goes to the clipboard: a summary for a colleague, or an id.

use crate::dialog::PATIENCE;
use crate::model::{Copying, Model, Screen};
use crate::summary::markdown;
use crate::task::{Task, Which};

/// Asks for the ids that a summary names; the rest is known.
pub(crate) fn summary(model: &mut Model, now: i64) -> Vec<Task> {
    let relays = model.reached(now);
    model.copying = Some(Copying {
        waits_for: relays.iter().copied().collect(),
        until: now + PATIENCE,
        ids: Vec::new(),
    });
    let query = |limit: &str| {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        vec![pair("trouble", "true"), pair("limit", limit)]
    };
    let task = |relay| Task::Requests { relay, asked: 0, what: Which::Worst, query: query("10") };
    let tasks: Vec<Task> = relays.into_iter().map(task).collect();
    if tasks.is_empty() {
        finish(model, now);
    }
    tasks
}

/// Copies the summary with what ids there are.
pub(crate) fn finish(model: &mut Model, now: i64) {
    let ids = model.copying.take().map(|copying| copying.ids).unwrap_or_default();
    model.copy = Some(markdown(model, &ids, now));
    model.notify("the summary is in the clipboard", now);
}

/// Copies the id of what is selected.
pub(crate) fn id(model: &mut Model, now: i64) {
    let id = match model.screen {
        Screen::History => model.history.selected.map(|(_, id)| id.to_string()),
        Screen::Actions => model.action.clone(),
        _ => model.selected.rung.clone().or_else(|| model.selected.ladder.clone()),
    };
    let Some(id) = id else {
        model.notify("nothing is selected", now);
        return;
    };
    model.notify(format!("{id} is in the clipboard"), now);
    model.copy = Some(id);
}
