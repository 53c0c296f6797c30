//! Laws over random orders of events, late and foreign ones included.

use super::scenario::*;
use crate::{
    Action, Answer, AttemptId, Board, Break, Ending, HedgeSpec, Input, LadderIndex, LadderSpec,
    Need, NoHead, OnEmpty, OnRefusal, RungIndex, RungSpec, Time, Walk,
};
use proptest::prelude::*;
use shared::{Cause, Signature};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn ending() -> impl Strategy<Value = Ending> {
    let answer =
        any::<(bool, bool, bool, bool)>().prop_map(|(content, refused, length, invalid)| Answer {
            content,
            refused,
            length,
            invalid,
        });
    let broken = prop::sample::select(vec![
        Break::EndOfBody,
        Break::Reset,
        Break::TooLarge,
        Break::Malformed,
        Break::NotTheDialect,
    ]);
    let signature = prop::option::of(prop::sample::select(Signature::ALL));
    let wait = prop::option::of((0_u64..2_000_000).prop_map(Duration::from_millis));
    let statuses = vec![201, 302, 400, 401, 403, 404, 408, 413, 429, 500, 503, 529];
    let status =
        (prop::sample::select(statuses), signature.clone(), wait.clone(), any::<[bool; 2]>())
            .prop_map(|(status, signature, retry_after, [certain, names_added_field])| {
                Ending::Status { status, signature, certain, retry_after, names_added_field }
            });
    prop_oneof![
        answer.prop_map(Ending::Proper),
        broken.prop_map(Ending::Broken),
        (signature, any::<bool>(), wait).prop_map(|(signature, certain, retry_after)| {
            Ending::ErrorEvent { signature, certain, retry_after }
        }),
        status,
        Just(Ending::NoHead(NoHead::NotConnected)),
        Just(Ending::NoHead(NoHead::ConnectTimeout)),
        Just(Ending::NoHead(NoHead::OwnFault)),
        Just(Ending::NoHead(NoHead::Closed)),
        Just(Ending::NoHead(NoHead::NotTaken)),
    ]
}

fn input() -> impl Strategy<Value = Input> {
    // At most four attempts are made below, so the number five belongs to no attempt.
    let attempt = || (1_u32..=5).prop_map(AttemptId);
    let causes = vec![
        Cause::ClientGone,
        Cause::ClientStalled,
        Cause::Drain,
        Cause::Operator,
        Cause::RelayFault,
    ];
    prop_oneof![
        6 => (attempt(), any::<bool>()).prop_map(|(attempt, refusal)| Input::Token { attempt, refusal }),
        1 => attempt().prop_map(Input::Ping),
        2 => (attempt(), any::<bool>()).prop_map(|(attempt, refused)| {
            Input::Finished(attempt, Answer { refused, ..WHOLE })
        }),
        6 => (attempt(), ending()).prop_map(|(attempt, ending)| Input::Ended(attempt, ending)),
        1 => (0_u64..30_000).prop_map(|ms| Input::Unblocked(Duration::from_millis(ms))),
        1 => (0_u64..30_000, 0_u64..1_200_000).prop_map(|(span, until)| Input::StoodStill {
            span: Duration::from_millis(span),
            until: Time::from_millis(until),
        }),
        1 => (0_usize..3).prop_map(|rung| Input::Forced(RungIndex(rung))),
        1 => (0_usize..3).prop_map(|rung| Input::CutStream(RungIndex(rung))),
        1 => prop::sample::select(causes).prop_map(Input::Stop),
        6 => Just(Input::Wake),
    ]
}

prop_compose! {
    fn stage()(
        count in 1_usize..=3,
        stream in any::<bool>(),
        side_effects in prop::bool::weighted(0.2),
        interactive in any::<bool>(),
        retries in prop::option::of(0_u32..3),
        explicit in any::<bool>(),
        next in any::<bool>(),
        hedged in any::<bool>(),
        seed in any::<u64>(),
    ) -> Stage {
        let spec = Arc::new(LadderSpec {
            interactive,
            retries,
            ttft: explicit.then_some(Duration::from_secs(5)),
            hedge: HedgeSpec { enabled: hedged, ..HedgeSpec::default() },
            race: if hedged && seed % 3 == 0 { 2 } else { 0 },
            ..ladder(count)
        });
        let rung = RungSpec {
            on_refusal: if next { OnRefusal::Next } else { OnRefusal::End },
            on_empty: if next { OnEmpty::Next } else { OnEmpty::End },
            ..RungSpec::default()
        };
        let need = Need { stream, side_effects, ..Need::default() };
        let now = Time::from_millis(1_000_000);
        let rng = fastrand::Rng::with_seed(seed);
        Stage {
            board: Board::new(
                vec![rung; count],
                vec![Arc::clone(&spec)],
                fastrand::Rng::with_seed(seed ^ 1),
            ),
            walk: Walk::new(now, LadderIndex(0), spec, need, rng),
            now,
        }
    }
}

/// Everything that was done, checked as it comes.
#[derive(Default)]
pub(super) struct Seen {
    dialled: BTreeMap<u32, u32>,
    committed: Option<AttemptId>,
    pub(super) over: bool,
}

impl Seen {
    pub(super) fn check(&mut self, actions: &[Action]) {
        for action in actions {
            assert!(!self.over, "{action:?} after the end");
            match action {
                Action::Dial { attempt, .. } => {
                    assert_eq!(self.committed, None, "a dial after the commit");
                    let again = self.dialled.insert(attempt.0, 0);
                    assert_eq!(again, None, "{attempt:?} dialled twice");
                }
                Action::AttemptEnded { attempt, .. } => {
                    let ends = self.dialled.get_mut(&attempt.0).expect("ended, never dialled");
                    *ends += 1;
                    assert_eq!(*ends, 1, "{attempt:?} ended twice");
                }
                Action::Commit(attempt) => {
                    assert_eq!(self.committed, None, "two commits");
                    self.committed = Some(*attempt);
                }
                Action::Complete { attempt, .. } => {
                    assert_eq!(self.committed, Some(*attempt), "completed by a loser");
                    self.over = true;
                }
                Action::Fail(_) | Action::Abandon { .. } => self.over = true,
                Action::Detach { attempt, .. } => {
                    assert_eq!(self.dialled.get(&attempt.0), Some(&0), "detached, not running");
                }
                Action::SendHead => assert_eq!(self.committed, None),
            }
        }
        if self.over {
            assert!(self.dialled.values().all(|ends| *ends == 1), "an attempt without an end");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_happens_in_whatever_order(
        mut stage in stage(),
        inputs in prop::collection::vec((input(), 0_u64..20_000), 0..60),
    ) {
        let mut seen = Seen::default();
        let most = stage.walk.ladder.max_attempts();
        seen.check(&stage.give(Input::Start));
        for (input, millis) in inputs {
            // Time passes at most to the walk's next deadline: that is the law of use.
            let later = stage.now.plus(Duration::from_millis(millis));
            stage.now = stage.walk.next_deadline(&stage.board).map_or(later, |at| later.min(at.max(stage.now)));
            seen.check(&stage.give(input));
            prop_assert!(seen.dialled.len() <= most, "more attempts than max_attempts");
        }
        // Without further events, every walk ends in a bounded number of steps.
        for _ in 0..100 {
            if stage.walk.is_over() {
                break;
            }
            seen.check(&stage.wake());
        }
        prop_assert!(seen.over && stage.walk.is_over(), "the walk never ends");
        prop_assert_eq!(stage.walk.next_deadline(&stage.board), None);
    }

    #[test]
    fn the_same_inputs_give_the_same_actions(
        seed in any::<u64>(),
        inputs in prop::collection::vec((input(), 0_u64..20_000), 0..40),
    ) {
        let run = || {
            let spec = LadderSpec { retries: Some(2), max_attempts: Some(5), ..ladder(2) };
            let mut stage = Stage::set(spec, rungs(2), streaming());
            stage.walk.rng = fastrand::Rng::with_seed(seed);
            let mut trace = vec![stage.give(Input::Start)];
            for (input, millis) in &inputs {
                trace.push(stage.after(*millis).give(input.clone()));
            }
            trace
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn no_held_rung_is_called_and_nothing_is_called_late(
        count in 1_usize..=4,
        max_attempts in prop::option::of(1_u32..8),
        retries in prop::option::of(0_u32..3),
        interactive in any::<bool>(),
        fail_fast in prop::bool::weighted(0.2),
        stream in any::<bool>(),
        patience in prop::option::of((0_u64..30_000).prop_map(Duration::from_millis)),
        total in (1_000_u64..90_000).prop_map(Duration::from_millis),
        steps in prop::collection::vec((0_u8..9, 0_usize..4, 0_u64..6000), 0..40),
    ) {
        let spec = LadderSpec {
            max_attempts,
            retries,
            interactive,
            fail_fast,
            patience,
            total,
            ..ladder(count)
        };
        let most = spec.max_attempts();
        let mut stage = Stage::set(spec, rungs(count), Need { stream, ..Need::default() });
        let start = stage.now;
        let mut last = AttemptId(0);
        let mut actions = stage.give(Input::Start);
        // After the given steps the walk is only woken.
        for step in 0..400 {
            for action in actions.drain(..) {
                if let Action::Dial { attempt, rung, .. } = action {
                    last = attempt;
                    prop_assert!(stage.board.usable(rung, stage.now).is_ok(), "held");
                    prop_assert!(stage.now.since(start) < total, "late");
                    prop_assert!(attempt.0 as usize <= most);
                }
            }
            if stage.walk.is_over() {
                break;
            }
            let (what, rung, millis) = steps.get(step).copied().unwrap_or((8, 0, 0));
            let due = stage.walk.next_deadline(&stage.board).expect("a deadline");
            if what != 8 {
                let later = stage.now.plus(Duration::from_millis(millis));
                stage.now = later.min(due.max(stage.now));
            }
            actions = match what {
                0 | 1 => stage.status(last, 500),
                2 => stage.end(last, refused(429, 1 + millis / 2000)),
                3 => stage.status(last, 503),
                4 => stage.end(last, cut()),
                5 => {
                    stage.hold(rung.min(count - 1), 1000 + millis);
                    Vec::new()
                }
                6 => stage.end(last, unreachable_host()),
                7 => stage.status(last, 429),
                _ => stage.wake(),
            };
        }
        prop_assert!(stage.walk.is_over(), "the walk never ends");
        prop_assert!(stage.now.since(start) <= total, "beyond the third clock");
    }
}
