//! Dialogs: opening them, changing what they say, and sending it, once.

use super::about::{About, OtherAction};
use super::msg::{Msg, Open};
use super::state::{Dialog, Sent};
use crate::actions::rows::{Chosen, chosen as chosen_action, held_by};
use crate::model::{Loaded, Mine, Model, Screen};
use crate::task::Task;
use shared::admin::actions::ActionKind;
use shared::admin::changes::Change;
use shared::{OrderSource, OverrideMode};
use std::collections::BTreeMap;

/// So many sends are remembered.
const MINE: usize = 50;

/// Opens a dialog, whose change has this id.
pub(crate) fn open(model: &mut Model, which: Open, now: i64, id: String) -> Vec<Task> {
    match which {
        Open::Force(mode) => force(model, mode, now, id),
        Open::Auto => auto(model, now, id),
        Open::Extend => extend(model, now, id),
        Open::Reorder => reorder(model, None, now, id),
        Open::Move { from, to } => reorder(model, Some((from, to)), now, id),
        Open::Note | Open::Probe | Open::Check => other(model, which, now, id),
        Open::Undo => undo(model, now, id),
    }
}

/// The marked rungs, or the selected one.
fn chosen(model: &Model) -> Vec<String> {
    if model.marked.is_empty() {
        return model.selected.rung.iter().cloned().collect();
    }
    model.marked.iter().cloned().collect()
}

fn show(model: &mut Model, dialog: Option<Dialog>) -> Vec<Task> {
    model.dialog = dialog;
    preview(model)
}

fn force(model: &mut Model, mode: OverrideMode, now: i64, id: String) -> Vec<Task> {
    let rungs = chosen(model);
    if rungs.is_empty() {
        model.notify("select a rung first: g goes to the worst one", now);
        return Vec::new();
    }
    let dialog = Dialog::rungs(model, id, &rungs, mode);
    show(model, dialog)
}

fn auto(model: &mut Model, now: i64, id: String) -> Vec<Task> {
    let Some(chosen) = chosen_action(model) else {
        return force(model, OverrideMode::Auto, now, id);
    };
    if chosen.holds.is_empty() {
        model.notify("it is not in force any more", now);
        return Vec::new();
    }
    let dialog = ending(model, &chosen, id);
    if dialog.is_none() {
        model.notify("there is nothing of it to be ended", now);
    }
    show(model, dialog)
}

fn extend(model: &mut Model, now: i64, id: String) -> Vec<Task> {
    let dialog = match chosen_action(model) {
        Some(chosen) if !chosen.holds.is_empty() => {
            let rungs = held_by(model, &chosen.action, &chosen.holds);
            let dialog = Dialog::extend(model, id, &chosen.action, &rungs);
            dialog.map(|dialog| dialog.only_on(model, &chosen.holds))
        }
        Some(_) => None,
        // On the Board: the override of the selected rung, else the order of the ladder.
        None => {
            let forced = model.selected.rung.as_ref().and_then(|rung| {
                let forced = model.rung(rung)?.forced.clone()?;
                Some((rung.clone(), forced))
            });
            let off = model.selected.ladder.as_ref().and_then(|name| model.ladder(name));
            let off = off.filter(|ladder| ladder.source != OrderSource::Config);
            match (forced, off) {
                (Some((rung, forced)), _) => forced.mode.known().and_then(|mode| {
                    let mut dialog = Dialog::rungs(model, id, &[rung], mode)?;
                    dialog.suggestion = forced.reason.unwrap_or_default();
                    Some(dialog)
                }),
                (None, Some(ladder)) => {
                    let reason = ladder.reason.clone().unwrap_or_default();
                    let mut dialog = Dialog::order(model, id, &ladder.name, 0);
                    if let Some(dialog) = &mut dialog {
                        dialog.suggestion = reason;
                    }
                    dialog
                }
                (None, None) => None,
            }
        }
    };
    if dialog.is_none() {
        model.notify("nothing with an end is in force here", now);
        return Vec::new();
    }
    if dialog.as_ref().is_some_and(super::state::is_order) {
        model.screen = Screen::Board;
    }
    show(model, dialog)
}

fn reorder(model: &mut Model, moved: Option<(usize, usize)>, now: i64, id: String) -> Vec<Task> {
    let Some(ladder) = model.selected.ladder.clone() else {
        model.notify("select a ladder first", now);
        return Vec::new();
    };
    let order = model.ladder(&ladder).map(|ladder| ladder.order.clone()).unwrap_or_default();
    let chosen = |rung: &String| order.iter().position(|other| other == rung);
    let at = model.selected.rung.as_ref().and_then(chosen);
    // It is done beside the Board.
    model.screen = Screen::Board;
    let mut dialog = Dialog::order(model, id, &ladder, at.unwrap_or(0));
    if let (Some(dialog), Some((from, to))) = (&mut dialog, moved) {
        dialog.place(from, to);
    }
    show(model, dialog)
}

fn other(model: &mut Model, which: Open, now: i64, id: String) -> Vec<Task> {
    let selected = model.selected.clone();
    let other = match (which, selected.rung) {
        (Open::Note, rung) => {
            let ladder = selected.ladder.filter(|_| rung.is_none());
            OtherAction::Note { rung, ladder }
        }
        (_, None) => {
            model.notify("select a rung first", now);
            return Vec::new();
        }
        (Open::Probe, Some(rung)) => OtherAction::Probe { rung },
        (_, Some(rung)) => OtherAction::Check { rung },
    };
    let dialog = Dialog::other(model, id, other);
    show(model, Some(dialog))
}

fn undo(model: &mut Model, now: i64, id: String) -> Vec<Task> {
    let target = match chosen_action(model) {
        Some(chosen) => {
            let what = shared::action_words::what(&chosen.action);
            let back = chosen.action.changes_back(model.relay_now(now));
            Some((chosen.action.id, what, back, chosen.relays))
        }
        None => model.last.clone().map(|last| {
            let in_force = model.relays.iter().flat_map(|known| &known.in_force);
            let action = in_force.into_iter().find(|action| action.id == last.id);
            let back = action.map(|action| action.changes_back(model.relay_now(now)));
            (last.id, last.what, back.unwrap_or_default(), last.relays)
        }),
    };
    let Some((action, what, back, relays)) = target else {
        model.notify("nothing of yours to take back; Actions has what others did", now);
        return Vec::new();
    };
    let other = OtherAction::Undo { action, what, back, relays: relays.clone() };
    let dialog = Dialog::other(model, id, other).only_on(model, &relays);
    show(model, Some(dialog))
}

/// Does what the engineer did in the dialog that is open at `now`.
pub(crate) fn update(model: &mut Model, msg: Msg, now: i64) -> Vec<Task> {
    if msg == Msg::Send {
        return send(model, now);
    }
    let covers = model.dialog.as_ref().map_or(0, |dialog| dialog.covers(model).len());
    let Some(dialog) = model.dialog.as_mut().filter(|dialog| !dialog.is_sent()) else {
        return Vec::new();
    };
    match (msg, &mut dialog.about) {
        (Msg::Cover, About::Rungs { rungs, cover, .. }) if rungs.len() == 1 => {
            *cover = (*cover + 1) % covers.max(1);
            covered_anew(model);
        }
        (Msg::CoverAt(place), About::Rungs { cover, .. }) if place < covers => {
            *cover = place;
            covered_anew(model);
        }
        (Msg::Demote, About::Rungs { mode, .. }) => *mode = OverrideMode::Demoted,
        (Msg::Cut, About::Rungs { cut, .. }) => *cut = !*cut,
        (Msg::Last(place), _) => dialog.choose_last(place),
        (Msg::AcceptNext, _) => {
            let next = dialog.unaccepted().first().map(|&ladder| ladder.to_owned());
            match next {
                Some(ladder) => {
                    dialog.accept.insert(ladder);
                }
                None => dialog.accept.clear(),
            }
        }
        (Msg::Accept(ladder), _) => {
            if !dialog.accept.remove(&ladder) {
                dialog.accept.insert(ladder);
            }
        }
        (Msg::Shift { down }, _) => dialog.shift(down),
        (Msg::Place { from, to }, _) => dialog.place(from, to),
        // What follows changes nothing of what would happen.
        (Msg::Choose { down }, _) => {
            dialog.choose(down);
            return Vec::new();
        }
        (Msg::Reason(reason), _) => {
            dialog.reason = reason;
            return Vec::new();
        }
        (Msg::AcceptSuggestion, _) => {
            dialog.accept_suggestion();
            return Vec::new();
        }
        (Msg::Typed(typed), _) => {
            dialog.typed = typed;
            return Vec::new();
        }
        _ => return Vec::new(),
    }
    preview(model)
}

/// Other rungs are covered: the versions are theirs.
fn covered_anew(model: &mut Model) {
    let Some(mut dialog) = model.dialog.take() else { return };
    dialog.seen_now(model);
    model.dialog = Some(dialog);
}

/// Asks every relay what the dialog's change would do.
pub(crate) fn preview(model: &mut Model) -> Vec<Task> {
    let Some(dialog) = &mut model.dialog else { return Vec::new() };
    let relays = dialog.relays.clone();
    dialog.asked += 1;
    let asked = dialog.asked;
    let Some(dialog) = &model.dialog else { return Vec::new() };
    let mut tasks = Vec::new();
    for relay in relays {
        let Some(mut request) = dialog.request(model, relay) else { continue };
        // A preview wants a reason, too; nobody reads it.
        if request.reason.is_empty() {
            request.reason = "preview".to_owned();
        }
        tasks.push(Task::Preview { relay, asked, request });
    }
    if let Some(dialog) = &mut model.dialog {
        // What is known stands until the new answer comes: its warnings guard the send.
        for task in &tasks {
            dialog.previews.entry(task.relay()).or_insert(Loaded::Loading);
        }
    }
    tasks
}

/// Sends it. If what it is about has changed since it was opened, says so first, and sends it
/// when it is confirmed once more.
fn send(model: &mut Model, now: i64) -> Vec<Task> {
    let Some(dialog) = &mut model.dialog else { return Vec::new() };
    if let Some(changed) = dialog.changed.take() {
        model.notify(format!("{changed}: look, then Ctrl+Enter again"), now);
        return Vec::new();
    }
    let Some(dialog) = &model.dialog else { return Vec::new() };
    if let Some(why) = dialog.obstacle(model, now) {
        model.notify(why, now);
        return Vec::new();
    }
    let id = dialog.id.clone();
    let relays = dialog.targets(model, now);
    let accept: Vec<String> = dialog.accept.iter().cloned().collect();
    let task = |relay| match &dialog.about {
        About::Other(other) => {
            let (path, ends) = other.path();
            let body = other.body(&id, dialog.reason_to_send(), &accept);
            Some(Task::Action { relay, id: id.clone(), path, ends, body })
        }
        _ => Some(Task::Change { relay, request: dialog.request(model, relay)? }),
    };
    let tasks: Vec<Task> = relays.iter().copied().filter_map(task).collect();
    let change = tasks.iter().find_map(|task| match task {
        Task::Change { request, .. } => Some(shared::action_words::changes(&request.changes)),
        _ => None,
    });
    let undoes = match &dialog.about {
        About::Other(OtherAction::Undo { action, .. }) => Some(action.clone()),
        _ => None,
    };
    // How long it is remembered what was sent: far longer than any answer takes.
    if model.mine.len() > MINE {
        model.mine.remove(0);
    }
    model.mine.push(Mine { id, change, undoes, heard: BTreeMap::new() });
    if let Some(dialog) = &mut model.dialog {
        dialog.sent = relays.iter().map(|relay| (*relay, Sent::Waiting(now))).collect();
    }
    model.marked.clear();
    tasks
}

/// What ends an action where it still holds; `None`: nothing would.
fn ending(model: &Model, chosen: &Chosen, id: String) -> Option<Dialog> {
    let Chosen { action, holds, .. } = chosen;
    if action.kind == ActionKind::Note {
        let relays = holds.clone();
        let other =
            OtherAction::EndNote { note: action.id.clone(), text: action.reason.clone(), relays };
        return Some(Dialog::other(model, id, other));
    }
    let rungs = held_by(model, action, holds);
    let dialog = if rungs.is_empty() {
        action.changes.iter().find_map(|change| match change {
            Change::Order { ladder, .. } => Some(Dialog::config_order(model, id.clone(), ladder)),
            Change::Override { .. } => None,
        })
    } else {
        Dialog::rungs(model, id, &rungs, OverrideMode::Auto)
    };
    Some(dialog?.only_on(model, holds))
}
