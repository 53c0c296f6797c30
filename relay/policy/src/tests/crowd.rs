//! Laws of many walks on one board, over random orders of events: hedges, races, breakers
//! that open and close, holds, refused accounts, overrides, and probes that run on unseen.

use super::laws::{Seen, ending};
use super::scenario::*;
use crate::breaker::State;
use crate::{
    Action, AttemptId, Board, BreakerSpec, Ending, HedgeSpec, Input, LadderIndex, LadderSpec,
    Probe, Reference, Remembered, RememberedBreaker, RetrySpec, RungIndex, RungSpec, Size, Time,
    Walk,
};
use proptest::prelude::*;
use shared::{
    AttemptKind as K, AttemptOutcome as O, BreakerState, Cause, OverrideMode, Signature,
    TransitionRule,
};
use std::sync::Arc;
use std::time::Duration;

const RUNGS: usize = 3;

/// One event. Each number picks one of the walks, attempts or rungs that exist.
#[derive(Debug, Clone)]
enum Move {
    Ask(usize),
    Token(usize, usize),
    End(usize, usize, Ending),
    Unseen(usize, Option<Ending>),
    Leave(usize),
    Force(usize, OverrideMode, u64),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Move> {
    let which = || 0_usize..12;
    let modes = vec![
        OverrideMode::Auto,
        OverrideMode::ForcedOpen,
        OverrideMode::ForcedClosed,
        OverrideMode::Demoted,
        OverrideMode::Auto,
    ];
    let mode = prop::sample::select(modes);
    prop_oneof![
        8 => (0_usize..2).prop_map(Move::Ask),
        4 => (which(), which()).prop_map(|(walk, attempt)| Move::Token(walk, attempt)),
        5 => (which(), which(), ending()).prop_map(|(walk, attempt, how)| Move::End(walk, attempt, how)),
        3 => (which(), which()).prop_map(|(walk, attempt)| {
            Move::End(walk, attempt, Ending::Proper(WHOLE))
        }),
        5 => (which(), which()).prop_map(|(walk, attempt)| Move::End(walk, attempt, by_status(500))),
        2 => (which(), prop::option::of(ending())).prop_map(|(probe, how)| Move::Unseen(probe, how)),
        1 => which().prop_map(Move::Leave),
        1 => (0..RUNGS, mode, 0_u64..30_000).prop_map(|(rung, mode, ms)| Move::Force(rung, mode, ms)),
        6 => (0_u64..4_000).prop_map(Move::Pass),
    ]
}

/// Whether the step can keep a rung from being called only by its health, and not by an override, a
/// hold or a refused account.
fn is_about_health(step: &Move) -> bool {
    let ending = match step {
        Move::Force(..) => return false,
        Move::End(_, _, ending) | Move::Unseen(_, Some(ending)) => ending,
        _ => return true,
    };
    let (status, signature) = match ending {
        Ending::Status { status, signature, .. } => (*status, *signature),
        Ending::ErrorEvent { signature, .. } => (500, *signature),
        _ => return true,
    };
    let speaks =
        matches!(signature, Some(Signature::Auth | Signature::RateLimited | Signature::Overloaded));
    !speaks && matches!(status, 201 | 302 | 400 | 408 | 413 | 500)
}

/// One walk, and what has been seen of its actions.
struct Guest {
    walk: Walk,
    ladder: usize,
    seen: Seen,
    /// In flight, in the order of their dials, and whether each is a probe.
    live: Vec<(AttemptId, bool)>,
    had_failover: bool,
    had_a_429: bool,
}

/// Extra calls that a ladder's budgets have to pay for, and the requests that feed them.
#[derive(Debug, Default, Clone, Copy)]
struct Bill {
    requests: f64,
    hedges: f64,
    retries: f64,
}

struct Crowd {
    board: Board,
    ladders: Vec<Arc<LadderSpec>>,
    now: Time,
    guests: Vec<Guest>,
    unseen: Vec<Probe>,
    bills: Vec<Bill>,
    holds: [Option<Time>; RUNGS],
    seed: u64,
    trace: Vec<Action>,
}

const HEDGE_BURST: f64 = 2.0;
const RETRY_BURST: f64 = 3.0;

impl Crowd {
    fn new(seed: u64, race: usize) -> Self {
        let breaker = BreakerSpec {
            open_consecutive: 3,
            min_samples: 6,
            cooldown: Duration::from_secs(2),
            max_cooldown: Duration::from_secs(4),
            ..BreakerSpec::default()
        };
        let rung = RungSpec { breaker, ..RungSpec::default() };
        let spec = LadderSpec {
            hedge: HedgeSpec { burst: HEDGE_BURST, ..HedgeSpec::default() },
            retry: RetrySpec { burst: RETRY_BURST, ..RetrySpec::default() },
            retries: seed.is_multiple_of(2).then_some(1),
            max_attempts: Some(6),
            drill: 0.1,
            ..ladder(RUNGS)
        };
        let lower = vec![RungIndex(1), RungIndex(2)];
        let ladders = vec![
            Arc::new(spec.clone()),
            Arc::new(LadderSpec {
                rungs: lower,
                race,
                interactive: !seed.is_multiple_of(3),
                ..spec
            }),
        ];
        let rng = fastrand::Rng::with_seed(seed);
        let mut board = Board::new(vec![rung; RUNGS], ladders.clone(), rng);
        let now = Time::from_millis(50_000_000);
        let reference = Some(Reference { p95: ms(1_000), usual: ms(700) });
        let kept = Remembered {
            reference,
            hold: None,
            breaker: RememberedBreaker::default(),
            finishes: false,
        };
        (0..RUNGS).for_each(|rung| board.restore(RungIndex(rung), now, &kept));
        let bills = vec![Bill::default(); ladders.len()];
        let (guests, unseen, trace) = (Vec::new(), Vec::new(), Vec::new());
        Self { board, ladders, now, guests, unseen, bills, holds: [None; RUNGS], seed, trace }
    }

    fn step(&mut self, step: &Move) {
        match step {
            Move::Ask(at) => {
                self.seed = self.seed.wrapping_add(1);
                let rng = fastrand::Rng::with_seed(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let spec = Arc::clone(&self.ladders[*at]);
                let guest = Guest {
                    walk: Walk::new(self.now, LadderIndex(*at), spec, streaming(), rng),
                    ladder: *at,
                    seen: Seen::default(),
                    live: Vec::new(),
                    had_failover: false,
                    had_a_429: false,
                };
                self.guests.push(guest);
                self.bills[*at].requests += 1.0;
                self.give(self.guests.len() - 1, Input::Start);
            }
            Move::Token(walk, attempt) => {
                if let Some((walk, attempt)) = self.pick(*walk, *attempt) {
                    self.give(walk, Input::Token { attempt, refusal: false });
                }
            }
            Move::End(walk, attempt, how) => {
                if let Some((walk, attempt)) = self.pick(*walk, *attempt) {
                    self.give(walk, Input::Ended(attempt, how.clone()));
                }
            }
            Move::Unseen(which, how) => {
                if let Some(which) = which.checked_rem(self.unseen.len()) {
                    let mut probe = self.unseen.remove(which);
                    match how {
                        Some(how) => probe.ended(self.now, how, &mut self.board),
                        None => probe.token(self.now, &mut self.board),
                    }
                    self.hold_the_laws();
                }
            }
            Move::Leave(walk) => {
                if let Some(walk) = self.running(*walk) {
                    self.give(walk, Input::Stop(Cause::ClientGone));
                }
            }
            Move::Force(rung, mode, span) => {
                let (rung, until) = (RungIndex(*rung), self.now.plus(ms(1_000 + span)));
                self.board.force_until(rung, self.now, *mode, Some(until));
                self.hold_the_laws();
                if *mode == OverrideMode::ForcedOpen {
                    (0..self.guests.len()).for_each(|walk| self.give(walk, Input::Forced(rung)));
                }
            }
            Move::Pass(millis) => self.pass(ms(*millis)),
        }
    }

    fn running(&self, which: usize) -> Option<usize> {
        let running = self.guests.iter().enumerate().filter(|(_, guest)| !guest.walk.is_over());
        let running: Vec<usize> = running.map(|(at, _)| at).collect();
        which.checked_rem(running.len()).map(|at| running[at])
    }

    fn pick(&self, walk: usize, attempt: usize) -> Option<(usize, AttemptId)> {
        let walk = self.running(walk)?;
        let live = &self.guests[walk].live;
        attempt.checked_rem(live.len()).map(|at| (walk, live[at].0))
    }

    /// Time passes, and each walk and probe is woken at its deadlines.
    fn pass(&mut self, span: Duration) {
        let until = self.now.plus(span);
        for _ in 0..10_000 {
            let walks = self.guests.iter().enumerate().filter_map(|(at, guest)| {
                Some((guest.walk.next_deadline(&self.board)?, false, at))
            });
            let probes = self.unseen.iter().enumerate();
            let probes = probes.map(|(at, probe)| (probe.next_deadline(), true, at));
            let Some((due, is_probe, at)) =
                walks.chain(probes).min().filter(|(due, ..)| *due <= until)
            else {
                self.now = until;
                return;
            };
            self.now = self.now.max(due);
            if !is_probe {
                self.give(at, Input::Wake);
            } else if self.unseen[at].wake(self.now, &mut self.board) {
                self.unseen.remove(at);
            }
            self.hold_the_laws();
        }
        panic!("somebody is woken for ever");
    }

    fn give(&mut self, at: usize, input: Input) {
        let is_forced = matches!(input, Input::Forced(_));
        let mut actions = Vec::new();
        let guest = &mut self.guests[at];
        guest.walk.handle(self.now, input, &mut self.board, &mut actions);
        guest.seen.check(&actions);
        let ladder = &self.ladders[guest.ladder];
        let bill = &mut self.bills[guest.ladder];
        let mut was_soft = false;
        for action in &actions {
            match action {
                Action::Dial { attempt, rung, kind, plain, probe, .. } => {
                    let forced = self.board.forced(*rung, self.now).map(|(mode, _)| mode);
                    assert_ne!(forced, Some(OverrideMode::ForcedOpen), "{rung:?} is forced open");
                    assert_eq!(self.board.held_until(*rung, self.now), None, "{rung:?} is held");
                    let is_well = forced == Some(OverrideMode::ForcedClosed)
                        || guest.walk.attempts.last().is_some_and(|last| last.ticket.full);
                    match kind {
                        K::Hedge if ladder.race < 2 => {
                            let of_a_probe = guest.live.last().is_some_and(|(_, probe)| *probe);
                            bill.hedges += f64::from(u8::from(!of_a_probe));
                        }
                        K::Retry if !plain => bill.retries += 1.0,
                        K::Failover if was_soft => bill.retries += 1.0,
                        K::Failover if !is_forced && !is_well => {
                            let is_free = !guest.had_failover || guest.had_a_429;
                            guest.had_a_429 &= !guest.had_failover;
                            guest.had_failover = true;
                            bill.retries += f64::from(u8::from(!is_free));
                        }
                        _ => {}
                    }
                    guest.live.push((*attempt, *probe));
                }
                Action::AttemptEnded { attempt, outcome, clock, .. } => {
                    guest.live.retain(|(id, _)| id != attempt);
                    guest.had_a_429 |= *outcome == O::RateLimited;
                    let of = guest.walk.attempts.iter().find(|one| one.id == *attempt);
                    let soft = of.and_then(|one| self.board.soft_clock(one.rung, Size::default()));
                    was_soft = *outcome == O::TtftTimeout && *clock == soft;
                }
                Action::Detach { probe, .. } => self.unseen.push(probe.clone()),
                _ => {}
            }
        }
        self.trace.append(&mut actions);
        self.hold_the_laws();
    }

    fn hold_the_laws(&mut self) {
        self.one_probe_at_a_time();
        self.budgets_bound_the_extra_calls();
        for rung in 0..RUNGS {
            let held = self.board.held_until(RungIndex(rung), self.now);
            let before = self.holds[rung].filter(|until| *until > self.now);
            assert!(held >= before, "rung {rung}: held until {before:?}, and now {held:?}");
            self.holds[rung] = held;
        }
        for transition in self.board.take_transitions() {
            let by_health =
                !matches!(transition.why, TransitionRule::Auth | TransitionRule::ProbeBad);
            if transition.to == BreakerState::Open
                && transition.from != BreakerState::Open
                && by_health
            {
                assert!(self.somebody_carries(transition.rung), "{transition:?}");
            }
        }
    }

    /// At most one silent probe per rung, and a taken slot belongs to a probe.
    fn one_probe_at_a_time(&self) {
        for rung in (0..RUNGS).map(RungIndex) {
            let breaker = self.board.breaker(rung).unwrap();
            let attempts = self.guests.iter().flat_map(|guest| &guest.walk.attempts);
            let seen = attempts
                .filter(|attempt| attempt.rung == rung && attempt.in_flight())
                .map(|attempt| (attempt.ticket, attempt.first_token.is_some()));
            let unseen = self.unseen.iter().filter(|probe| probe.rung == rung);
            let unseen = unseen.map(|probe| (probe.ticket, false));
            let of_now = |(ticket, _): &(crate::breaker::Ticket, bool)| {
                ticket.probe && ticket.generation == breaker.generation()
            };
            let probes: Vec<_> = seen.chain(unseen).filter(of_now).collect();
            let silent = probes.iter().filter(|(_, had_token)| !had_token).count();
            assert!(silent <= 1, "{silent} probes on {rung:?}");
            if let State::HalfOpen { taken, .. } = breaker.state() {
                assert!(!taken || !probes.is_empty(), "{rung:?}: a slot that nobody has");
                assert!(taken || silent == 0, "{rung:?}: a probe without a slot");
            }
        }
    }

    fn budgets_bound_the_extra_calls(&self) {
        for (bill, ladder) in self.bills.iter().zip(&self.ladders) {
            let most = HEDGE_BURST + ladder.hedge.share * bill.requests + 1e-6;
            assert!(bill.hedges <= most, "hedges: {bill:?}");
            let most = RETRY_BURST + ladder.retry.share * bill.requests + 1e-6;
            assert!(bill.retries <= most, "retries: {bill:?}");
        }
    }

    fn carries(&self, ladder: &LadderSpec) -> bool {
        let carries = |&rung: &RungIndex| {
            self.board.is_closed(rung) && self.board.usable(rung, self.now).is_ok()
        };
        ladder.rungs.iter().any(carries)
    }

    /// Whether every ladder with the rung `opened` still has a rung that is closed and usable.
    fn somebody_carries(&self, opened: RungIndex) -> bool {
        self.ladders.iter().filter(|ladder| ladder.rungs.contains(&opened)).all(|l| self.carries(l))
    }

    /// Without further events, all walks and probes end.
    fn end(&mut self) {
        self.pass(Duration::from_secs(400));
        assert!(self.guests.iter().all(|guest| guest.seen.over), "a walk that never ends");
        assert!(self.unseen.is_empty(), "a probe that never ends");
        for rung in 0..RUNGS {
            let state = self.board.breaker(RungIndex(rung)).unwrap().state();
            assert!(!matches!(state, State::HalfOpen { taken: true, .. }), "a slot is gone");
        }
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn deeds(most: usize) -> impl Strategy<Value = Vec<Move>> {
    prop::collection::vec(step(), 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_200))]

    #[test]
    fn a_crowd_keeps_the_laws(seed in any::<u64>(), race in 0_usize..3, deeds in deeds(120)) {
        let mut crowd = Crowd::new(seed, race);
        deeds.iter().for_each(|step| crowd.step(step));
        crowd.end();
    }

    #[test]
    fn health_alone_never_takes_the_last_rung(seed in any::<u64>(), deeds in deeds(120)) {
        let mut crowd = Crowd::new(seed, 0);
        for step in deeds.iter().filter(|step| is_about_health(step)) {
            crowd.step(step);
            for ladder in crowd.ladders.clone() {
                prop_assert!(crowd.carries(&ladder), "{:?} has nobody left", ladder.rungs);
            }
        }
    }

    #[test]
    fn the_same_crowd_does_the_same(seed in any::<u64>(), deeds in deeds(60)) {
        let run = || {
            let mut crowd = Crowd::new(seed, 0);
            deeds.iter().for_each(|step| crowd.step(step));
            crowd.trace
        };
        prop_assert_eq!(run(), run());
    }
}
