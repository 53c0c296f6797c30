//! What the engineer does on the Board.

use super::groups::groups;
use super::msg::Msg;
use super::order::{ladders, worst_first};
use super::state::{Selected, Turn};
use crate::history;
use crate::history::{Filter, Window};
use crate::model::{Model, Screen};
use crate::task::Task;
use shared::UnixMillis;
use shared::admin::LadderState;
use shared::diagnose::{is_failing, is_out};

/// What History shows before a trouble.
const BEFORE: i64 = 300_000;

/// Does what the engineer did at `now`.
pub(crate) fn update(model: &mut Model, msg: Msg, now: i64) {
    match msg {
        Msg::Select { ladder, rung } => model.selected = Selected { ladder, rung },
        Msg::Mark => mark(model, now),
        Msg::Heading(rungs) => {
            model.selected = Selected { ladder: None, rung: rungs.first().cloned() };
            model.marked = rungs.into_iter().collect();
        }
        Msg::Trouble(step) => {
            let here = model.trouble.filter(|_| step != 0);
            trouble(model, here.map_or(0, |place| place.saturating_add_signed(step)));
        }
        Msg::TroubleAt(place) => trouble(model, place),
        Msg::AllTroubles => model.all_troubles = !model.all_troubles,
        Msg::Turn => model.turn = model.turn.next(),
        Msg::WorstFirst => {
            // As it is now: rows that moved by themselves would move under a hand.
            let first = if model.worst_first.is_none() { worst_first(model) } else { None };
            model.worst_first = first;
        }
    }
}

/// Enter: into the history of what is selected, from shortly before its trouble on.
pub(crate) fn enter(model: &mut Model, now: i64) -> Vec<Task> {
    let rung = model.selected.rung.as_ref().and_then(|name| model.rung(name));
    let sick = rung.and_then(|rung| rung.health.sick_since_at);
    let since =
        sick.map_or_else(Window::default, |at| Window::Between(UnixMillis(at.0 - BEFORE), None));
    let Selected { rung: tried, ladder } = model.selected.clone();
    history::update::show(model, Filter { tried, ladder, since, ..Filter::default() }, now)
}

fn mark(model: &mut Model, now: i64) {
    let Some(rung) = model.selected.rung.clone() else {
        model.notify("select a rung first", now);
        return;
    };
    if !model.marked.remove(&rung) {
        model.marked.insert(rung);
    }
}

/// Moves: ladders or rows down, rungs to the right.
pub(crate) fn step(model: &mut Model, down: isize, right: isize) {
    if model.turn != Turn::Ladders {
        return down_groups(model, down);
    }
    let selected = &model.selected;
    let ladders = ladders(model);
    let row = ladders.iter().position(|ladder| Some(&ladder.name) == selected.ladder.as_ref());
    let last = ladders.len().saturating_sub(1);
    let to = row.map_or(0, |row| row.saturating_add_signed(down).min(last));
    let Some(ladder) = ladders.get(to) else { return };
    let place = row.and_then(|row| ladders.get(row)).and_then(|ladder| {
        ladder.order.iter().position(|rung| Some(rung) == selected.rung.as_ref())
    });
    let end = ladder.order.len().saturating_sub(1);
    let place = place.map_or(0, |place| place.saturating_add_signed(right).min(end));
    let rung = ladder.order.get(place).cloned();
    model.selected = Selected { ladder: Some(ladder.name.clone()), rung };
}

/// Down the list of headings and rungs. A heading is all of its rungs, marked.
fn down_groups(model: &mut Model, down: isize) {
    let Some(board) = model.board() else { return };
    let groups = groups(board, model.turn);
    let rows: Vec<(Vec<String>, String)> = groups
        .into_iter()
        .flat_map(|(_, rungs)| {
            let names: Vec<String> = rungs.iter().map(|rung| rung.name.clone()).collect();
            let first = names.first().cloned().unwrap_or_default();
            let each: Vec<_> = names.iter().map(|name| (Vec::new(), name.clone())).collect();
            std::iter::once((names, first)).chain(each)
        })
        .collect();
    let here = |(heading, name): &(Vec<String>, String)| {
        let marked: Vec<String> = model.marked.iter().cloned().collect();
        let mut sorted = heading.clone();
        sorted.sort();
        Some(name) == model.selected.rung.as_ref() && sorted == marked
    };
    let place = rows.iter().position(here);
    let last = rows.len().saturating_sub(1);
    let place = place.map_or(0, |place| place.saturating_add_signed(down).min(last));
    let Some((heading, name)) = rows.get(place).cloned() else { return };
    model.marked = heading.into_iter().collect();
    model.selected = Selected { ladder: None, rung: Some(name) };
}

/// Goes to what the trouble at this place, or the last one, is about.
fn trouble(model: &mut Model, place: usize) {
    let Some(board) = model.board() else { return };
    let place = place.min(model.lines.len().saturating_sub(1));
    let Some(line) = model.lines.get(place) else { return };
    let is_rung = |name: &&String| board.rungs.iter().any(|rung| rung.name == **name);
    let is_ladder = |name: &&String| board.ladders.iter().any(|ladder| ladder.name == **name);
    let ladder = line.about.iter().find(is_ladder);
    // Of a ladder in trouble: its sickest rung, which is where something can be done.
    let rung = line.about.iter().find(is_rung).cloned().or_else(|| {
        let ladder = board.ladders.iter().find(|state| Some(&state.name) == ladder)?;
        let out = |name: &&String| {
            let rung = board.rungs.iter().find(|rung| rung.name == **name);
            rung.is_some_and(|rung| is_out(rung, board.at) || is_failing(rung))
        };
        ladder.order.iter().find(out).or_else(|| ladder.order.first()).cloned()
    });
    let ladder = ladder.cloned().or_else(|| {
        let holds =
            |state: &&LadderState| rung.as_ref().is_some_and(|rung| state.order.contains(rung));
        board.ladders.iter().find(holds).map(|state| state.name.clone())
    });
    model.selected = Selected { ladder, rung };
    model.screen = Screen::Board;
    model.trouble = Some(place);
    model.all_troubles |= place >= 3;
}
