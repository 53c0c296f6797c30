//! In which order ladders are shown.

use crate::model::Model;
use shared::admin::LadderState;
use shared::diagnose::is_out;
use std::cmp::Reverse;

/// The ladders in the order in which they are shown.
#[must_use]
pub fn ladders(model: &Model) -> Vec<&LadderState> {
    let Some(board) = model.board() else { return Vec::new() };
    let mut all: Vec<&LadderState> = board.ladders.iter().collect();
    if let Some(first) = &model.worst_first {
        let place = |name: &String| first.iter().position(|known| known == name);
        all.sort_by_key(|ladder| place(&ladder.name).unwrap_or(usize::MAX));
    }
    all
}

/// The names of the ladders as they are now, those in most trouble first; `None`: no board is
/// known.
pub(crate) fn worst_first(model: &Model) -> Option<Vec<String>> {
    let board = model.board()?;
    let hurt = |ladder: &LadderState| {
        let users = &ladder.users;
        let out = ladder.order.iter().filter_map(|name| model.rung(name));
        let out = out.filter(|rung| is_out(rung, board.at)).count();
        (users.failed + users.broken, users.gone + users.late, out)
    };
    let mut ladders: Vec<_> = board.ladders.iter().collect();
    ladders.sort_by_key(|ladder| Reverse(hurt(ladder)));
    Some(ladders.into_iter().map(|ladder| ladder.name.clone()).collect())
}
