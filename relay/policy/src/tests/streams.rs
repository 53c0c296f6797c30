//! Streams that go quiet: half of the second clock in silence is no verdict, but it counts
//! in the run of broken ones.

use super::house::*;
use super::scenario::*;
use crate::board::Report;
use crate::breaker::{State, Ticket};
use crate::{BreakerSpec, Ending, Input, LadderSpec, RungSpec};
use shared::AttemptOutcome as O;
use shared::TransitionRule;

/// What happens to each of the streams.
#[derive(Debug, Clone, Copy)]
enum Stream {
    /// It is quiet, and goes on.
    Quiet,
    /// It is quiet, and stalls.
    QuietThenStalls,
    /// It breaks without having been quiet.
    Breaks,
    /// It comes to its proper end.
    Ends,
}
use Stream::{Breaks, Ends, Quiet, QuietThenStalls};

fn run(house: &mut House, streams: &[Stream]) {
    for &stream in streams {
        let ticket: Ticket = house.board.dial(FIRST, house.now, crate::Size::default());
        house.board.token(FIRST, house.now, house.now, ticket, false, crate::Size::default());
        let quiet = matches!(stream, Quiet | QuietThenStalls);
        if quiet {
            house.board.quiet(FIRST, house.now, ticket);
        }
        let outcome = match stream {
            QuietThenStalls => O::Stall,
            Breaks => O::Disconnect,
            Ends => O::Ok,
            Quiet => continue,
        };
        let end = Report { outcome, had_token: true, quiet, ..report(ticket, house.now) };
        house.board.ended(FIRST, house.now, &end);
    }
}

#[test]
fn a_quiet_stream_counts_once_in_the_run_and_a_proper_end_resets_it() {
    for (streams, whys) in [
        (vec![Quiet; 4], vec![]),
        (vec![Quiet; 5], vec![TransitionRule::BrokenRun]),
        (vec![QuietThenStalls; 4], vec![]),
        (vec![QuietThenStalls; 5], vec![TransitionRule::BrokenRun]),
        (vec![Breaks; 4], vec![]),
        (vec![Quiet, Quiet, Breaks, QuietThenStalls, Quiet], vec![TransitionRule::BrokenRun]),
        (vec![Quiet, Quiet, Quiet, Quiet, Ends, Quiet, Quiet, Quiet, Quiet], vec![]),
    ] {
        let mut house = House::new(2);
        run(&mut house, &streams);
        assert_eq!(house.whys(), whys, "{streams:?}");
    }
}

#[test]
fn half_a_clock_does_not_touch_the_window() {
    // With these settings only the share opens the breaker.
    let spec = BreakerSpec { open_consecutive: 1000, ..BreakerSpec::default() };
    let rung = RungSpec { breaker: spec, ..RungSpec::default() };
    let of = || House::of(LadderSpec { retries: Some(0), ..ladder(2) }, vec![rung.clone(); 2]);
    let mut house = of();
    run(&mut house, &[Quiet; 30]);
    assert_eq!(house.whys(), [], "thirty quiet ones");
    let mut house = of();
    for _ in 0..5 {
        house.fail(FIRST, secs(0), O::ServerError);
    }
    for _ in 0..5 {
        house.call(FIRST, secs(0));
    }
    assert_eq!(house.whys(), [], "half of them bad, but the last word was good");
    let ticket = house.board.dial(FIRST, house.now, crate::Size::default());
    house.board.quiet(FIRST, house.now, ticket);
    assert_eq!(house.whys(), [], "silence says nothing of the share");
    let stalled =
        Report { outcome: O::Stall, had_token: true, quiet: true, ..report(ticket, house.now) };
    house.board.ended(FIRST, house.now, &stalled);
    assert_eq!(house.whys(), [TransitionRule::BadShare], "the stall does");
}

#[test]
fn a_walk_says_once_that_its_stream_is_quiet() {
    let mut house = House::new(2);
    let (mut walk, _) = house.walk();
    house.give(&mut walk, Input::Token { attempt: A, refusal: false });
    for round in 0..6 {
        house.after(secs(8));
        assert_eq!(house.give(&mut walk, Input::Wake), [], "round {round}");
        walk.note_content(house.now, A);
    }
    assert_eq!((house.state(FIRST), house.whys()), (State::Closed, vec![]), "one stream, once");
    // Four more, each of its own walk.
    for round in 0..4 {
        assert_eq!(house.state(FIRST), State::Closed, "round {round}");
        let (mut walk, _) = house.walk();
        house.give(&mut walk, Input::Token { attempt: A, refusal: false });
        house.after(secs(8));
        house.give(&mut walk, Input::Wake);
        house.now = walk.next_deadline(&house.board).unwrap();
    }
    assert_eq!(house.whys(), [TransitionRule::BrokenRun]);
}

#[test]
fn what_ends_well_after_a_silence_resets_the_run() {
    let mut house = House::new(2);
    for _ in 0..12 {
        let (mut walk, _) = house.walk();
        house.give(&mut walk, Input::Token { attempt: A, refusal: false });
        house.after(secs(8));
        house.give(&mut walk, Input::Wake);
        house.give(&mut walk, Input::Ended(A, Ending::Proper(WHOLE)));
    }
    assert_eq!(house.whys(), []);
}
