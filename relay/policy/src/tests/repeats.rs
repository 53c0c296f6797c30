//! The one repeat of a request whose added field a provider does not know, and
//! answers that were passed over and come back.

use super::scenario::*;
use crate::{
    Action, Answer, Ending, FailureReason, Input, LadderSpec, Need, OnEmpty, OnRefusal, RungSpec,
};
use shared::{AttemptKind as K, Cause, RequestOutcome};
use std::time::Duration;

fn complaint(status: u16) -> Ending {
    Ending::Status {
        status,
        signature: None,
        certain: false,
        retry_after: None,
        names_added_field: true,
    }
}

fn retrying() -> Stage {
    let spec = LadderSpec { retries: Some(1), max_attempts: Some(6), ..ladder(1) };
    let mut stage = Stage::set(spec, rungs(1), streaming());
    stage.give(Input::Start);
    stage
}

#[test]
fn the_complaint_is_never_the_clients() {
    let mut stage = Stage::on(2);
    stage.end(A, complaint(400));
    assert_eq!(dials(&stage.status(B, 500)), [(3, 1, K::Failover)]);
    let told = failure(&stage.status(C, 500));
    assert_eq!((told.status, told.reason), (502, FailureReason::BadGateway));

    let mut stage = Stage::on(2);
    stage.end(A, complaint(400));
    let told = failure(&stage.status(B, 422));
    assert_eq!(
        (told.status, told.answered_by),
        (422, Some(B)),
        "the plain call's own complaint speaks"
    );
}

#[test]
fn the_rung_is_not_sent_the_field_again_and_the_repeat_is_no_retry() {
    let mut stage = retrying();
    stage.end(A, complaint(400));
    stage.status(B, 500);
    let actions = stage.wake();
    assert!(matches!(actions.first(), Some(Action::Dial { plain: true, .. })), "{actions:?}");
    assert_eq!(dials(&stage.end(C, complaint(400))), [], "it is repeated once");
}

#[test]
fn a_rung_that_is_held_meanwhile_is_not_called_again_at_once() {
    let mut stage = Stage::on(2);
    stage.hold(0, 60_000);
    assert_eq!(dials(&stage.end(A, complaint(400))), [(2, 1, K::Failover)], "the next one");

    let mut stage = retrying();
    stage.hold(0, 1_000);
    assert_eq!(dials(&stage.end(A, complaint(400))), []);
    let actions = stage.wake();
    assert_eq!(dials(&actions), [(2, 0, K::Retry)], "when its hold is over");
    assert!(matches!(actions.first(), Some(Action::Dial { plain: true, .. })), "{actions:?}");

    let mut stage = retrying();
    stage.hold(0, 60_000);
    let told = failure(&stage.end(A, complaint(400)));
    assert_eq!(told.status, 429, "held for too long, and not the client's fault");
}

#[test]
fn only_a_bad_request_is_repeated() {
    for status in [403, 429, 500] {
        let mut stage = Stage::on(2);
        assert_eq!(dials(&stage.end(A, complaint(status))), [(2, 1, K::Failover)], "{status}");
    }
}

#[test]
fn a_refusal_is_the_answer_where_nobody_gives_another() {
    let spec = RungSpec { on_refusal: OnRefusal::Next, ..RungSpec::default() };
    let refusal = |content| Ending::Proper(Answer { content, refused: true, ..WHOLE });
    let answer = Action::Complete { attempt: A, outcome: RequestOutcome::Refused };
    for stream in [false, true] {
        // This request may not be sent again.
        let need = Need { side_effects: true, stream, ..Need::default() };
        let mut stage = Stage::set(ladder(2), vec![spec.clone(); 2], need);
        stage.give(Input::Start);
        assert_eq!(stage.end(A, refusal(false)).last(), Some(&answer));
        // The other rung fails.
        let need = Need { stream, ..Need::default() };
        let no_retries = LadderSpec { retries: Some(0), ..ladder(2) };
        let mut stage = Stage::set(no_retries, vec![spec.clone(); 2], need);
        stage.give(Input::Start);
        stage.give(Input::Token { attempt: A, refusal: true });
        assert_eq!(dials(&stage.end(A, refusal(true))), [(2, 1, K::Failover)]);
        let done = stage.status(B, 500);
        assert!(is_committed(&done));
        assert_eq!(done.last(), Some(&answer));
    }
}

#[test]
fn ordinary_text_is_not_held_back_by_a_rung_that_goes_past_refusals() {
    let spec = RungSpec { on_refusal: OnRefusal::Next, ..RungSpec::default() };
    let mut stage = Stage::set(ladder(2), vec![spec; 2], streaming());
    stage.give(Input::Start);
    assert!(is_committed(&stage.token(A)));
}

#[test]
fn the_end_of_a_whole_answer_is_not_lost_to_a_drain_or_counted_twice() {
    let mut stage = Stage::set(ladder(1), rungs(1), Need::default());
    stage.give(Input::Start);
    stage.token(A);
    stage.give(Input::Finished(A, WHOLE));
    assert!(is_complete(&stage.give(Input::Stop(Cause::Drain))));

    // A second finish reason does not start the linger anew.
    let mut stage = Stage::on(1);
    stage.token(A);
    stage.give(Input::Finished(A, WHOLE));
    let finished = stage.now;
    stage.after(1_900).give(Input::Finished(A, WHOLE));
    stage.wake();
    assert_eq!(stage.now.since(finished), Duration::from_secs(2));
}

#[test]
fn a_relay_fault_is_a_failure_with_its_cause() {
    let mut stage = Stage::on(2);
    let told = failure(&stage.give(Input::Stop(Cause::RelayFault)));
    assert_eq!((told.status, told.outcome), (500, RequestOutcome::Failed));
    assert_eq!(told.cause, Some(Cause::RelayFault));
}

#[test]
fn an_empty_answer_that_is_believed_comes_before_an_error() {
    let spec = RungSpec { on_empty: OnEmpty::End, ..RungSpec::default() };
    let mut stage = Stage::set(ladder(2), vec![spec; 2], streaming());
    stage.give(Input::Start);
    let empty = Ending::Proper(Answer { content: false, ..WHOLE });
    let answer = Action::Complete { attempt: A, outcome: RequestOutcome::Ok };
    assert_eq!(stage.end(A, empty).last(), Some(&answer));
}

#[test]
fn an_invalid_answer_is_asked_for_once_more_then_the_next_rung_is() {
    let invalid = || Ending::Proper(Answer { invalid: true, ..WHOLE });
    let mut stage = Stage::set(ladder(2), vec![RungSpec::default(); 2], Need::default());
    stage.give(Input::Start);
    stage.give(Input::Token { attempt: A, refusal: false });
    assert_eq!(dials(&stage.end(A, invalid())), [(2, 0, K::Retry)], "at once, and told why");
    assert_eq!(dials(&stage.end(B, invalid())), [(3, 1, K::Failover)], "not a third time");
    let hasty = LadderSpec { fail_fast: true, ..ladder(2) };
    let mut stage = Stage::set(hasty, vec![RungSpec::default(); 2], Need::default());
    stage.give(Input::Start);
    assert_eq!(
        dials(&stage.end(A, invalid())),
        [(2, 1, K::Failover)],
        "no retry where none is wanted"
    );
}

#[test]
fn a_400_about_the_relays_own_wording_says_nothing_of_the_request() {
    let other = RungSpec { dialect: 2, ..RungSpec::default() };
    let specs = || vec![other.clone(), RungSpec::default()];
    let mut stage = Stage::set(ladder(2), specs(), streaming());
    stage.give(Input::Start);
    let told = failure(&stage.status(A, 400));
    assert_eq!(told.status, 400, "about the client's words it is an answer");

    let mut stage = Stage::set(ladder(2), specs(), streaming());
    stage.give(Input::Start);
    assert_eq!(dials(&stage.end(A, complaint(400))), [(2, 0, K::Retry)], "without what was added");
    assert_eq!(dials(&stage.end(B, complaint(400))), [(3, 1, K::Failover)]);

    let mut stage = Stage::set(ladder(1), vec![other.clone()], streaming());
    stage.give(Input::Start);
    stage.end(A, complaint(400));
    let told = failure(&stage.end(B, complaint(400)));
    assert_eq!(
        (told.status, told.answered_by),
        (400, Some(B)),
        "nobody else: its words are passed on"
    );
}
