//! An operator's order, its versions and its end; what a change leaves; replanning.

use super::scenario::*;
use crate::order::adapt;
use crate::preview::{is_all_sick, lost_capability, replan};
use crate::{
    Board, Capabilities, Capability, FailureReason, Input, LadderIndex, LadderSpec, Need, Order,
    RungIndex, RungSpec, Time,
};
use shared::{
    AttemptKind as K, AttemptOutcome as O, Cause, OrderSource, OverrideMode, RequestOutcome,
};
use std::sync::Arc;
use std::time::Duration;

const CHAT: LadderIndex = LadderIndex(0);
const NOW: Time = Time::from_millis(1_000_000);

fn order(rungs: &[usize], until: Option<u64>) -> Option<Order> {
    let until = until.map(|millis| NOW.plus(Duration::from_millis(millis)));
    Some(Order { rungs: rungs.iter().copied().map(RungIndex).collect(), until, adapted: false })
}

fn later(millis: u64) -> Time {
    NOW.plus(Duration::from_millis(millis))
}

fn present(board: &Board, now: Time) -> (Vec<usize>, OrderSource, u64) {
    let (rungs, source) = board.order_of(CHAT, now).unwrap();
    (rungs.iter().map(|rung| rung.0).collect(), source, board.order_version(CHAT))
}

/// Ladder 0 of all `count` rungs, and one for each of `others`.
fn board(count: usize, others: &[&[usize]]) -> Board {
    let of = |rungs: &[usize]| LadderSpec {
        rungs: rungs.iter().copied().map(RungIndex).collect(),
        ..ladder(count)
    };
    let mut ladders = vec![Arc::new(ladder(count))];
    ladders.extend(others.iter().map(|rungs| Arc::new(of(rungs))));
    Board::new(rungs(count), ladders, fastrand::Rng::with_seed(1))
}

#[test]
fn an_operators_order_beats_the_configs_until_it_ends() {
    let mut board = board(3, &[]);
    assert_eq!(present(&board, NOW), (vec![0, 1, 2], OrderSource::Config, 0));
    board.reorder(CHAT, order(&[2, 0, 1], Some(5_000)));
    assert_eq!(present(&board, NOW), (vec![2, 0, 1], OrderSource::Operator, 1));
    // Its time is over, although it has not been ended yet. To end it is a change of its own.
    assert_eq!(present(&board, later(5_000)), (vec![0, 1, 2], OrderSource::Config, 1));
    board.settle(later(4_999));
    assert_eq!(board.take_ended_orders(), []);
    board.settle(later(5_000));
    assert_eq!(board.take_ended_orders(), [CHAT]);
    assert_eq!(present(&board, later(5_000)), (vec![0, 1, 2], OrderSource::Config, 2));
    board.settle(later(6_000));
    assert_eq!(board.take_ended_orders(), [], "once");
}

#[test]
fn an_endless_order_stays_and_each_change_is_a_version() {
    let mut board = board(2, &[]);
    board.reorder(CHAT, order(&[1, 0], None));
    board.settle(later(1_000_000_000));
    assert_eq!(present(&board, later(1_000_000_000)), (vec![1, 0], OrderSource::Operator, 1));
    board.reorder(CHAT, order(&[0, 1], None));
    board.reorder(CHAT, None);
    assert_eq!(present(&board, NOW), (vec![0, 1], OrderSource::Config, 3));
    board.restore_versions(None, Some((CHAT, 7)));
    board.restore_versions(None, Some((CHAT, 5)));
    assert_eq!(board.order_version(CHAT), 7, "it only rises");
}

#[test]
fn overrides_have_versions_too() {
    let (mut board, sol) = (board(2, &[]), RungIndex(0));
    board.force_until(sol, NOW, OverrideMode::ForcedOpen, Some(later(10)));
    assert_eq!(board.override_version(sol), 1);
    board.force(sol, NOW, OverrideMode::Auto);
    assert_eq!(board.override_version(sol), 2);
    board.force_until(sol, NOW, OverrideMode::Demoted, Some(later(10)));
    board.settle(later(10));
    assert_eq!(board.override_version(sol), 4, "its end by itself is a change");
    assert_eq!(board.override_version(RungIndex(1)), 0);
}

#[test]
fn a_walk_goes_by_the_operators_order() {
    let mut stage = Stage::set(ladder(3), rungs(3), streaming());
    stage.board.reorder(CHAT, order(&[2, 0, 1], None));
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 2, K::First)]);
    assert_eq!(dials(&stage.status(A, 401)), [(2, 0, K::Failover)]);
    assert_eq!(dials(&stage.status(B, 401)), [(3, 1, K::Failover)]);
}

#[test]
fn an_order_is_fitted_to_the_configs_new_rungs() {
    for (made, config, fitted) in [
        ("cab", "abc", "cab"),
        ("cab", "ab", "ab"),
        ("cab", "abcd", "cdab"),
        ("cab", "axbc", "caxb"),
        ("cab", "xabc", "xcab"),
        ("ba", "abxy", "bxya"),
        ("ab", "xy", "xy"),
        ("ba", "", ""),
    ] {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        let found: String = adapt(&letters(made), &letters(config)).into_iter().collect();
        assert_eq!(found, fitted, "{made} onto {config}");
    }
}

#[test]
fn a_ladder_is_left_without_a_rung_by_the_change_that_takes_its_last() {
    let out = OverrideMode::ForcedOpen;
    let mut board = board(3, &[&[0, 1], &[2]]);
    let left = |board: &Board, changes: &[(usize, OverrideMode)]| -> Vec<usize> {
        let changes: Vec<_> =
            changes.iter().map(|(rung, mode)| (RungIndex(*rung), *mode)).collect();
        board.left_without(&changes, NOW).into_iter().map(|ladder| ladder.0).collect()
    };
    assert!(left(&board, &[(0, out)]).is_empty());
    assert_eq!(left(&board, &[(0, out), (1, out)]), [1]);
    assert_eq!(left(&board, &[(2, out)]), [2]);
    assert_eq!(left(&board, &[(0, out), (1, out), (2, out)]), [0, 1, 2]);
    board.force(RungIndex(0), NOW, out);
    assert_eq!(left(&board, &[(1, out)]), [1]);
    assert!(left(&board, &[(1, out), (0, OverrideMode::Demoted)]).is_empty(), "one for the other");
    board.force(RungIndex(1), NOW, out);
    assert!(left(&board, &[(1, OverrideMode::Demoted)]).is_empty(), "it takes none");
    assert!(left(&board, &[]).is_empty());
    // An override whose time is over no longer counts.
    board.force_until(RungIndex(0), NOW, out, Some(later(10)));
    assert_eq!(board.left_without(&[(RungIndex(1), out)], later(10)), []);
}

#[test]
fn a_stream_is_cut_only_on_the_rung_that_was_meant() {
    let mut stage = Stage::on(2);
    assert_eq!(stage.give(Input::CutStream(RungIndex(0))), [], "nothing is committed");
    stage.token(A);
    assert_eq!(stage.give(Input::CutStream(RungIndex(1))), []);
    let actions = stage.give(Input::CutStream(RungIndex(0)));
    assert_eq!(outcomes(&actions), [(1, O::Cancelled)]);
    let told = failure(&actions);
    assert_eq!((told.reason, told.cause), (FailureReason::CutByOperator, Some(Cause::Operator)));
    assert_eq!(told.outcome, RequestOutcome::Cancelled);
}

#[test]
fn a_stream_that_has_named_its_finish_reason_is_ended_whole() {
    let mut stage = Stage::on(2);
    stage.token(A);
    stage.give(Input::Finished(A, WHOLE));
    assert!(is_complete(&stage.give(Input::CutStream(RungIndex(0)))));
}

#[test]
fn streams_are_cut_while_the_override_says_so() {
    let (mut board, sol) = (board(2, &[]), RungIndex(0));
    board.cut_streams(sol);
    assert!(!board.cuts_streams(sol, NOW), "it is not forced open");
    board.force_until(sol, NOW, OverrideMode::ForcedOpen, Some(later(10)));
    assert!(!board.cuts_streams(sol, NOW), "not unless said");
    board.cut_streams(sol);
    assert!(board.cuts_streams(sol, NOW));
    assert!(!board.cuts_streams(sol, later(10)));
    board.force(sol, NOW, OverrideMode::ForcedOpen);
    assert!(!board.cuts_streams(sol, NOW), "set anew without it");
}

/// How many of `needs` would call each rung, and how many would call none.
fn shares(board: &Board, needs: &[Need]) -> (Vec<usize>, usize) {
    let mut copy = board.clone();
    let spec = Arc::new(ladder(3));
    let called = replan(&mut copy, CHAT, &spec, needs.iter().copied(), NOW, 7);
    let of = |rung| called.iter().filter(|found| **found == Some(RungIndex(rung))).count();
    (vec![of(0), of(1), of(2)], called.iter().filter(|found| found.is_none()).count())
}

#[test]
fn past_requests_are_replanned_by_the_planner_itself() {
    let needs = [streaming(); 100];
    let mut board = board(3, &[]);
    assert_eq!(shares(&board, &needs), (vec![100, 0, 0], 0));
    board.reorder(CHAT, order(&[1, 0, 2], None));
    assert_eq!(shares(&board, &needs), (vec![0, 100, 0], 0));
    board.force(RungIndex(1), NOW, OverrideMode::ForcedOpen);
    assert_eq!(shares(&board, &needs), (vec![100, 0, 0], 0));
    // Its end makes it half-open: one probe, and the others go on.
    board.force(RungIndex(1), NOW, OverrideMode::Auto);
    assert_eq!(shares(&board, &needs), (vec![99, 1, 0], 0));
    for rung in 0..3 {
        board.force(RungIndex(rung), NOW, OverrideMode::ForcedOpen);
    }
    assert_eq!(shares(&board, &needs), (vec![0, 0, 0], 100));
    assert!(is_all_sick(&board, &ladder(3), NOW));
    board.force(RungIndex(2), NOW, OverrideMode::ForcedClosed);
    assert!(!is_all_sick(&board, &ladder(3), NOW));
}

#[test]
fn a_capability_is_lost_with_the_last_rung_that_has_it() {
    let plain = RungSpec { can: Capabilities::default(), ..RungSpec::default() };
    let spec = ladder(2);
    let specs = vec![RungSpec::default(), plain];
    let mut board = Board::new(specs, vec![Arc::new(spec.clone())], fastrand::Rng::with_seed(1));
    let images = Capabilities { images: true, ..Capabilities::default() };
    let need = Need { capabilities: images, ..streaming() };
    assert_eq!(lost_capability(&board, &spec, &need, NOW), None);
    board.force(RungIndex(0), NOW, OverrideMode::ForcedOpen);
    assert_eq!(lost_capability(&board, &spec, &need, NOW), Some(Capability::Images));
    assert_eq!(lost_capability(&board, &spec, &streaming(), NOW), None);
    board.force(RungIndex(1), NOW, OverrideMode::ForcedOpen);
    assert_eq!(lost_capability(&board, &spec, &need, NOW), None, "then it is the last rung");
}
