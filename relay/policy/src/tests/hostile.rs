//! Nothing that one client sends may change what others get.
//!
//! The same requests of honest clients are served twice: with the requests of a hostile client
//! among them, and without. The provider answers the hostile ones at random: with errors, holds,
//! broken streams, empty answers, late tokens, silence. The honest ones must not notice.

use super::laws::ending;
use super::scenario::*;
use crate::breaker::State;
use crate::outcome::judge;
use crate::{
    Action, AttemptId, Board, Ending, Input, LadderIndex, LadderSpec, Need, Probe, Reference,
    Remembered, RememberedBreaker, RungIndex, Time, Walk,
};
use proptest::prelude::*;
use shared::AttemptOutcome as O;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const HOSTILE: u64 = 666;
const HONEST: [u64; 3] = [1, 2, 3];
const BEGIN: Time = Time::from_millis(1_000_000);
const SPAN: u64 = 30_000;
/// After so many milliseconds without a request a client counts as gone; a little less.
const HONEST_GONE: u64 = 29_000;
/// The time between two requests, in milliseconds: of an honest client, and of a hostile one.
const HONEST_GAP: u64 = 400;
const HOSTILE_GAP: u64 = 70;

/// How the provider answers one hostile call.
#[derive(Debug, Clone)]
struct Script {
    token: Option<u64>,
    ending: Option<(u64, Ending)>,
}

fn script() -> impl Strategy<Value = Script> {
    // Refused accounts have tests of their own (`accounts`).
    let ending = ending().prop_filter("an account", |ending| judge(ending, false) != O::Auth);
    let token = prop::option::weighted(0.3, 10_u64..8_000);
    (token, prop::option::weighted(0.8, (10_u64..9_000, ending)))
        .prop_map(|(token, ending)| Script { token, ending })
}

/// What an honest request got: the rung that answered, and after how many milliseconds.
type Got = BTreeMap<usize, (usize, u64)>;

enum Event {
    Ask(u64, usize),
    Give(usize, Input),
}

struct Guest {
    walk: Walk,
    client: u64,
    number: usize,
    asked: Time,
    rungs: BTreeMap<AttemptId, RungIndex>,
}

struct World {
    board: Board,
    ladder: Arc<LadderSpec>,
    now: Time,
    queue: BTreeMap<(Time, u64), Event>,
    scheduled: u64,
    guests: Vec<Guest>,
    probes: Vec<Probe>,
    scripts: Vec<Script>,
    calls: usize,
    got: Got,
    opened: bool,
}

impl World {
    fn new(scripts: Vec<Script>) -> Self {
        let ladder = Arc::new(LadderSpec { hedge: crate::HedgeSpec::default(), ..ladder(2) });
        let mut board =
            Board::new(rungs(2), vec![Arc::clone(&ladder)], fastrand::Rng::with_seed(3));
        let now = BEGIN;
        let ms = Duration::from_millis;
        let reference = Some(Reference { p95: ms(600), usual: ms(300) });
        let kept = Remembered {
            reference,
            hold: None,
            breaker: RememberedBreaker::default(),
            finishes: false,
        };
        (0..2).for_each(|rung| board.restore(RungIndex(rung), now, &kept));
        Self {
            board,
            ladder,
            now,
            queue: BTreeMap::new(),
            scheduled: 0,
            guests: Vec::new(),
            probes: Vec::new(),
            scripts,
            calls: 0,
            got: Got::new(),
            opened: false,
        }
    }

    fn schedule(&mut self, after: u64, event: Event) {
        self.scheduled += 1;
        let at = self.now.plus(Duration::from_millis(after));
        self.queue.insert((at, self.scheduled), event);
    }

    fn run(mut self) -> (Got, bool) {
        for (place, client) in (0_u64..).zip(HONEST) {
            for number in 0..SPAN / HONEST_GAP {
                let at = number * HONEST_GAP + place * 90;
                let number = usize::try_from(number * 10 + place).unwrap();
                self.schedule(at, Event::Ask(client, number));
            }
        }
        if !self.scripts.is_empty() {
            (0..SPAN / HOSTILE_GAP)
                .for_each(|n| self.schedule(1_000 + n * HOSTILE_GAP, Event::Ask(HOSTILE, 0)));
        }
        loop {
            let due = self.queue.keys().next().map(|(at, _)| *at);
            let walks = self.guests.iter().enumerate();
            let waking = walks
                .filter_map(|(at, guest)| Some((guest.walk.next_deadline(&self.board)?, at)))
                .min();
            let probing =
                self.probes.iter().enumerate().map(|(at, probe)| (probe.next_deadline(), at)).min();
            if let Some((at, probe)) = probing
                && due.is_none_or(|due| at <= due)
                && waking.is_none_or(|(waking, _)| at <= waking)
            {
                self.now = self.now.max(at);
                let mut one = self.probes.swap_remove(probe);
                if !one.wake(self.now, &mut self.board) {
                    self.probes.push(one);
                }
            } else if let Some((at, guest)) =
                waking.filter(|(at, _)| due.is_none_or(|due| *at <= due))
            {
                self.now = self.now.max(at);
                self.give(guest, Input::Wake);
            } else if let Some(((at, _), event)) = self.queue.pop_first() {
                self.now = self.now.max(at);
                self.happen(event);
            } else {
                return (self.got, self.opened);
            }
            // Half a minute after the last honest request the hostile client is alone, and believed.
            let is_alone = self.now.since(BEGIN) > Duration::from_millis(SPAN + HONEST_GONE);
            let is_open = self.board.breaker(RungIndex(0)).unwrap().state() != State::Closed;
            self.opened |= is_open && !is_alone;
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Ask(client, number) => {
                let rng = fastrand::Rng::with_seed(client.wrapping_mul(97) + number as u64);
                let need = Need { client, ..streaming() };
                let walk = Walk::new(self.now, LadderIndex(0), Arc::clone(&self.ladder), need, rng);
                let rungs = BTreeMap::new();
                self.guests.push(Guest { walk, client, number, asked: self.now, rungs });
                self.give(self.guests.len() - 1, Input::Start);
            }
            Event::Give(guest, input) => self.give(guest, input),
        }
    }

    fn give(&mut self, at: usize, input: Input) {
        let mut actions = Vec::new();
        self.guests[at].walk.handle(self.now, input, &mut self.board, &mut actions);
        for action in actions {
            match action {
                Action::Dial { attempt, rung, .. } => {
                    self.guests[at].rungs.insert(attempt, rung);
                    self.answer(at, attempt);
                }
                Action::Commit(attempt) if self.guests[at].client != HOSTILE => {
                    let guest = &self.guests[at];
                    let waited = u64::try_from(self.now.since(guest.asked).as_millis()).unwrap();
                    let key = guest.number;
                    self.got.insert(key, (guest.rungs[&attempt].0, waited));
                }
                Action::Detach { probe, .. } => self.probes.push(probe),
                _ => {}
            }
        }
    }

    /// The provider's answer to a call.
    fn answer(&mut self, at: usize, attempt: AttemptId) {
        let guest = &self.guests[at];
        if guest.client != HOSTILE {
            // One honest call in 25 fails at the first rung, as some calls always do.
            let fails = (guest.number / 10) % 25 == 8 * (guest.number % 10) + 3
                && guest.rungs[&attempt] == RungIndex(0);
            if fails {
                self.schedule(40, Event::Give(at, Input::Ended(attempt, by_status(500))));
            } else {
                let token = Input::Token { attempt, refusal: false };
                self.schedule(100, Event::Give(at, token));
                let end = Input::Ended(attempt, Ending::Proper(WHOLE));
                self.schedule(300, Event::Give(at, end));
            }
            return;
        }
        self.calls += 1;
        let Script { token, ending } = self.scripts[self.calls % self.scripts.len()].clone();
        if let Some(token) = token {
            self.schedule(token, Event::Give(at, Input::Token { attempt, refusal: false }));
        }
        if let Some((after, ending)) = ending {
            self.schedule(after, Event::Give(at, Input::Ended(attempt, ending)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn one_hostile_client_among_many_changes_nothing_for_them(
        scripts in prop::collection::vec(script(), 1..4),
    ) {
        let (alone, _) = World::new(Vec::new()).run();
        let (beside, opened) = World::new(scripts).run();
        prop_assert!(!opened, "the breaker has opened");
        prop_assert_eq!(alone.len(), beside.len(), "every honest request has its answer");
        let changed = alone.iter().filter(|(number, got)| beside.get(number) != Some(got)).count();
        // Of 225 requests at most 2 may change, which is no more than chance changes.
        prop_assert!(changed <= 2, "{} of {} got something else", changed, alone.len());
    }
}

/// Runs the world with this one answer to every hostile call.
fn beside(script: Script) -> (usize, bool) {
    let (alone, _) = World::new(Vec::new()).run();
    let (beside, opened) = World::new(vec![script]).run();
    (alone.iter().filter(|(number, got)| beside.get(number) != Some(got)).count(), opened)
}

#[test]
fn the_worst_that_a_provider_says_to_one_client_is_that_clients_alone() {
    let ends = |ending| Script { token: None, ending: Some((10, ending)) };
    let hollow = Ending::Proper(crate::Answer { content: false, ..WHOLE });
    for (name, script) in [
        ("errors", ends(by_status(500))),
        ("a long hold", ends(refused(429, 600))),
        ("an overload with a long hold", ends(refused(503, 600))),
        ("no head", ends(unreachable_host())),
        ("junk", ends(cut())),
        ("empty answers", ends(hollow)),
        ("silence", Script { token: None, ending: None }),
        ("late tokens", Script { token: Some(7_000), ending: None }),
        ("streams that break", Script { token: Some(20), ending: Some((40, cut())) }),
        ("streams that stall", Script { token: Some(20), ending: None }),
    ] {
        assert_eq!(beside(script), (0, false), "{name}");
    }
}

#[test]
fn what_all_clients_see_still_opens_and_holds() {
    // Two clients, one of which sends most requests: the other's next calls confirm its outcomes.
    let mut board = Board::new(rungs(2), vec![Arc::new(ladder(2))], fastrand::Rng::with_seed(3));
    let mut now = Time::from_millis(1_000_000);
    let mut ask = |board: &mut Board, client: u64, ending: Ending| {
        now = now.plus(Duration::from_millis(100));
        let need = Need { client, ..streaming() };
        let rng = fastrand::Rng::with_seed(1);
        let mut walk = Walk::new(now, LadderIndex(0), Arc::new(ladder(2)), need, rng);
        let mut actions = Vec::new();
        walk.handle(now, Input::Start, board, &mut actions);
        let first = dials(&actions)[0].1;
        if ending == Ending::Proper(WHOLE) {
            walk.handle(now, Input::Token { attempt: A, refusal: false }, board, &mut actions);
        }
        walk.handle(now, Input::Ended(A, ending), board, &mut actions);
        if !walk.is_over() {
            walk.handle(now, Input::Token { attempt: B, refusal: false }, board, &mut actions);
            walk.handle(now, Input::Ended(B, Ending::Proper(WHOLE)), board, &mut actions);
        }
        first
    };
    let state = |board: &Board| board.breaker(RungIndex(0)).unwrap().state();
    ask(&mut board, 1, Ending::Proper(WHOLE));
    ask(&mut board, 2, Ending::Proper(WHOLE));
    for _ in 0..4 {
        assert_eq!(ask(&mut board, 1, by_status(500)), 0);
    }
    assert_eq!(ask(&mut board, 1, by_status(500)), 1, "closed to the client that saw it");
    assert_eq!(state(&board), State::Closed);
    assert_eq!(ask(&mut board, 2, by_status(500)), 0);
    assert!(matches!(state(&board), State::Open { .. }), "and a second client has seen it");
    // A 429 is a hold for the client that got it; when a second client gets one, it is a hold for
    // all.
    let mut board = Board::new(rungs(2), vec![Arc::new(ladder(2))], fastrand::Rng::with_seed(3));
    for client in [1, 2, 3] {
        ask(&mut board, client, Ending::Proper(WHOLE));
    }
    assert_eq!(ask(&mut board, 1, refused(429, 60)), 0);
    assert_eq!(ask(&mut board, 1, Ending::Proper(WHOLE)), 1);
    assert_eq!(ask(&mut board, 2, refused(429, 60)), 0);
    assert_eq!(ask(&mut board, 3, Ending::Proper(WHOLE)), 1, "held for all");
}
