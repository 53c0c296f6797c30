//! Moving about: by arrows, and from trouble to trouble.

use super::{Task, reading};
use crate::model::{Model, Screen, Selected};
use shared::admin::LadderState;
use shared::diagnose::{is_failing, is_out};

/// Moves on the screen that is shown.
pub(super) fn step(model: &mut Model, (down, right): (isize, isize), now: i64) -> Vec<Task> {
    if let Some(palette) = &mut model.palette {
        palette.step(down);
        return Vec::new();
    }
    match model.screen {
        Screen::Board => on_board(model, down, right),
        Screen::History if right != 0 => {
            model.history.preset = model.history.preset.step(right);
            return reading::anew(model, now);
        }
        Screen::History => {
            // Somebody looks at a row: it must not move away.
            model.history.follow = false;
            model.history.step(down);
            let mut tasks = reading::detail(model);
            if model.history.is_near_end() {
                tasks.extend(reading::more(model, now));
            }
            return tasks;
        }
        Screen::Breakers => {
            model.breakers.step(right);
            on_curves(model, down);
        }
        Screen::Actions => {
            let ids: Vec<String> =
                crate::actions::rows(model).into_iter().map(|row| row.action.id.clone()).collect();
            let place = ids.iter().position(|id| Some(id) == model.action.as_ref());
            let last = ids.len().saturating_sub(1);
            let place = place.map_or(0, |place| place.saturating_add_signed(down).min(last));
            model.action = ids.get(place).cloned();
        }
        Screen::Setup => {}
    }
    Vec::new()
}

/// The ladders in the order in which they are shown.
#[must_use]
pub(crate) fn ladders(model: &Model) -> Vec<&LadderState> {
    let Some(board) = model.board() else { return Vec::new() };
    let mut all: Vec<&LadderState> = board.ladders.iter().collect();
    if let Some(first) = &model.worst_first {
        let place = |name: &String| first.iter().position(|known| known == name);
        all.sort_by_key(|ladder| place(&ladder.name).unwrap_or(usize::MAX));
    }
    all
}

fn on_board(model: &mut Model, down: isize, right: isize) {
    if model.turn != crate::model::Turn::Ladders {
        return on_turned(model, down);
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
fn on_turned(model: &mut Model, down: isize) {
    let Some(board) = model.board() else { return };
    let groups = crate::turned::groups(board, model.turn);
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

/// From rung to rung in the order of the curves.
fn on_curves(model: &mut Model, down: isize) {
    if down == 0 {
        return;
    }
    let Some(board) = model.board() else { return };
    let names: Vec<String> =
        crate::cell::worst(&board.rungs).into_iter().map(|rung| rung.name.clone()).collect();
    let place = names.iter().position(|name| Some(name) == model.selected.rung.as_ref());
    let last = names.len().saturating_sub(1);
    let place = place.map_or(0, |place| place.saturating_add_signed(down).min(last));
    model.selected = Selected { ladder: None, rung: names.get(place).cloned() };
}

/// Goes to what the trouble at this place, or the last one, is about.
pub(super) fn trouble(model: &mut Model, place: usize) {
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
