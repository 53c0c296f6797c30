//! One policy's run through one world: an event queue in virtual time.
//!
//! It does what the relay's driver does and follows the core's rule of use: one input, then all
//! actions in their order, then sleep until the next deadline.

use crate::cooldown::CoolDown;
use crate::core::{self, Change, Step};
use crate::incident::Fault;
use crate::load::Load;
use crate::policies::Policy;
use crate::world::{Fate, RUNGS, World};
use policy::probe::Probe;
use policy::{Action, AttemptId, Board, Input, LadderSpec, Time, Walk};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// The time from the first token to the proper end.
const STREAM: Duration = Duration::from_secs(1);
/// If a deadline has already passed, it is asked for again this much later.
const OVERDUE: Duration = Duration::from_millis(1);
/// A request without a first token counts as having waited this long.
pub const NEVER: f64 = 90.0;

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// When it came, in seconds since the start.
    pub at: f64,
    /// Seconds to the first token.
    pub ttft: f64,
    /// Calls that were made for it.
    pub dials: u32,
    /// Hedges among them.
    pub hedges: u32,
    /// The rungs that were called, as a bit mask.
    pub asked: u32,
    /// The rung of its first call.
    pub first: usize,
    /// The rung whose token it got, if it got one.
    pub answered: Option<usize>,
    /// Whether rung one was closed at full weight when it came.
    pub full: bool,
    /// Its stream went silent after the first token.
    pub died: bool,
}

/// A whole run.
#[derive(Debug, Default)]
pub struct Record {
    /// What happened to each request.
    pub outcomes: Vec<Outcome>,
    /// The transitions of the breakers.
    pub changes: Vec<Change>,
    /// How many deadlines were still due right after a wake: must be 0, or a driver would spin.
    pub overdue: u32,
    /// The rungs' references at the end, in seconds.
    pub references: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrive,
    Token(AttemptId),
    Dead(AttemptId),
    Fault(AttemptId, Fault),
    Proper(AttemptId),
    Wake,
}

/// Sorted by time, then by order of scheduling; then the request, and the leg of its chain.
type Event = Reverse<(Time, u64, usize, usize, What)>;

/// A request that is running.
struct Flight {
    walk: Walk,
    /// Which walk of a chain this is.
    leg: usize,
    rungs: HashMap<AttemptId, usize>,
    calls: [u64; RUNGS],
    probes: Vec<(AttemptId, Probe)>,
    wakes: Option<Time>,
}

/// How a policy turns a request into walks.
enum Legs {
    /// One walk over the whole ladder.
    One(Arc<LadderSpec>),
    /// One walk per rung, each ended by its clock: the core has no switch that turns its soft clock
    /// off, and the baseline has no soft clock.
    Chain(Vec<Arc<LadderSpec>>),
    /// The same, but rungs that are left out come last.
    Cooled(CoolDown),
}

struct Run<'a> {
    world: &'a World,
    legs: Legs,
    board: Board,
    load: Option<Load>,
    queue: BinaryHeap<Event>,
    scheduled: u64,
    flights: HashMap<usize, Flight>,
    record: Record,
    actions: Vec<Action>,
}

/// The run of `policy` through `world`.
pub fn run(world: &World, policy: Policy) -> Record {
    let all: Vec<usize> = (0..RUNGS).collect();
    let ladder = core::ladder(policy, &all);
    let chain = || (0..RUNGS).map(|rung| core::ladder(policy, &[rung])).collect();
    let legs = match policy {
        Policy::Timeout => Legs::Chain(chain()),
        Policy::CoolDown => Legs::Cooled(CoolDown::new(chain())),
        _ => Legs::One(Arc::clone(&ladder)),
    };
    let outcomes = world.requests.iter().map(|request| Outcome {
        at: request.at,
        ttft: NEVER,
        dials: 0,
        hedges: 0,
        asked: 0,
        first: 0,
        answered: None,
        full: false,
        died: false,
    });
    let mut run = Run {
        world,
        board: core::board(world, policy, &ladder),
        legs,
        load: world.capacity.map(|capacity| Load::new(capacity, world.seconds())),
        queue: BinaryHeap::new(),
        scheduled: 0,
        flights: HashMap::new(),
        record: Record { outcomes: outcomes.collect(), ..Record::default() },
        actions: Vec::new(),
    };
    run.arrival(0);
    while let Some(Reverse((now, _, request, leg, what))) = run.queue.pop() {
        run.event(now, request, leg, what);
    }
    run.record.references = (0..RUNGS).map(|rung| core::reference(&run.board, rung)).collect();
    run.record
}

impl Run<'_> {
    fn schedule(&mut self, at: Time, request: usize, leg: usize, what: What) {
        self.scheduled += 1;
        self.queue.push(Reverse((at, self.scheduled, request, leg, what)));
    }

    fn arrival(&mut self, request: usize) {
        if let Some(next) = self.world.requests.get(request) {
            self.schedule(core::time(next.at), request, 0, What::Arrive);
        }
    }

    fn event(&mut self, now: Time, request: usize, leg: usize, what: What) {
        if what == What::Arrive {
            self.arrival(request + 1);
            let Some(ladder) = self.ladder(now, 0) else { return };
            if let Some(outcome) = self.record.outcomes.get_mut(request) {
                outcome.full = core::is_full(&self.board, 0);
            }
            let flight = Flight {
                walk: core::walk(now, self.world, request, &ladder),
                leg: 0,
                rungs: HashMap::new(),
                calls: [0; RUNGS],
                probes: Vec::new(),
                wakes: None,
            };
            self.flights.insert(request, flight);
        }
        // Taken out of the map while it is worked on, and not put back once nothing is left of it.
        let Some(mut flight) = self.flights.remove(&request) else { return };
        if leg == flight.leg {
            self.feed(now, request, &mut flight, what);
            self.next_leg(now, request, &mut flight);
        }
        let mut changes = core::changes(&mut self.board);
        let opened = changes.iter().any(|change| change.to == "open");
        self.record.changes.append(&mut changes);
        if !flight.walk.is_over() || !flight.probes.is_empty() {
            self.sleep(now, request, &mut flight, what == What::Wake);
            self.flights.insert(request, flight);
        }
        if opened {
            self.look_again(now);
        }
    }

    /// A breaker has opened: every waiting request asks its walk for its next deadline again.
    fn look_again(&mut self, now: Time) {
        let mut waiting: Vec<usize> = self.flights.keys().copied().collect();
        waiting.sort_unstable();
        for request in waiting {
            let Some(mut flight) = self.flights.remove(&request) else { continue };
            self.sleep(now, request, &mut flight, false);
            self.flights.insert(request, flight);
        }
    }

    /// The ladder of a request that comes now, or of a later leg of its chain.
    fn ladder(&self, now: Time, leg: usize) -> Option<Arc<LadderSpec>> {
        match &self.legs {
            Legs::One(ladder) => (leg == 0).then(|| Arc::clone(ladder)),
            Legs::Chain(all) => all.get(leg).cloned(),
            Legs::Cooled(cooldown) => cooldown.rung(core::seconds(now), leg),
        }
    }

    /// A chain goes on with its next rung when a walk has ended without a token.
    fn next_leg(&mut self, now: Time, request: usize, flight: &mut Flight) {
        let unanswered =
            self.record.outcomes.get(request).is_some_and(|outcome| outcome.ttft >= NEVER);
        while flight.walk.is_over() && unanswered {
            let Some(ladder) = self.ladder(now, flight.leg + 1) else { return };
            flight.leg += 1;
            flight.walk = core::walk(now, self.world, request, &ladder);
            flight.rungs.clear();
            flight.wakes = None;
            self.feed(now, request, flight, What::Arrive);
        }
    }

    fn feed(&mut self, now: Time, request: usize, flight: &mut Flight, what: What) {
        let input = match what {
            What::Arrive => Input::Start,
            What::Token(attempt) | What::Dead(attempt) => {
                if let Some(mut probe) = flight.take_probe(attempt) {
                    return probe.token(now, &mut self.board);
                }
                if matches!(what, What::Token(_)) {
                    self.schedule(now.plus(STREAM), request, flight.leg, What::Proper(attempt));
                }
                core::token(attempt)
            }
            What::Proper(attempt) => Input::Ended(attempt, core::proper()),
            What::Fault(attempt, how) => {
                let ending = core::fault(how);
                if let Some(mut probe) = flight.take_probe(attempt) {
                    return probe.ended(now, &ending, &mut self.board);
                }
                Input::Ended(attempt, ending)
            }
            What::Wake => {
                flight.wakes = None;
                let board = &mut self.board;
                flight.probes.retain_mut(|(_, probe)| {
                    probe.next_deadline() > now || !probe.wake(now, board)
                });
                if flight.walk.next_deadline(&self.board).is_none_or(|at| at > now) {
                    return;
                }
                Input::Wake
            }
        };
        let mut actions = std::mem::take(&mut self.actions);
        flight.walk.handle(now, input, &mut self.board, &mut actions);
        for action in actions.drain(..) {
            self.act(now, request, flight, action);
        }
        self.actions = actions;
    }

    fn act(&mut self, now: Time, request: usize, flight: &mut Flight, action: Action) {
        let at = core::seconds(now);
        let Some(outcome) = self.record.outcomes.get_mut(request) else { return };
        match core::step(action) {
            Step::Dial { attempt, rung, hedge } => {
                if outcome.dials == 0 {
                    outcome.first = rung;
                }
                outcome.dials += 1;
                outcome.hedges += u32::from(hedge);
                outcome.asked |= 1 << rung;
                flight.rungs.insert(attempt, rung);
                self.dial(now, request, flight, attempt, rung);
            }
            Step::Commit(attempt) => {
                outcome.ttft = at - outcome.at;
                outcome.answered = flight.rungs.get(&attempt).copied();
            }
            Step::Ended { attempt, fault, died } => {
                outcome.died |= died;
                let rung = flight.rungs.get(&attempt);
                if let (Legs::Cooled(cooldown), Some(rung)) = (&mut self.legs, rung) {
                    cooldown.ended(*rung, at, fault);
                }
            }
            Step::Detached(attempt, probe) => flight.probes.push((attempt, probe)),
            Step::Other => {}
        }
    }

    fn dial(
        &mut self,
        now: Time,
        request: usize,
        flight: &mut Flight,
        attempt: AttemptId,
        rung: usize,
    ) {
        let at = core::seconds(now);
        let Some(nth) = flight.calls.get_mut(rung) else { return };
        let fate = self.world.fate(request, rung, *nth, at);
        *nth += 1;
        let slower = self.load.as_mut().map_or(1.0, |load| load.slower(rung, at));
        let later = |after: f64| now.plus(Duration::from_secs_f64(after * slower));
        match fate {
            Fate::Token { after, dead: false } => {
                self.schedule(later(after), request, flight.leg, What::Token(attempt));
            }
            Fate::Token { after, dead: true } => {
                self.schedule(later(after), request, flight.leg, What::Dead(attempt));
            }
            Fate::Fails { after, how } => {
                self.schedule(later(after), request, flight.leg, What::Fault(attempt, how));
            }
            Fate::Silent => {}
        }
    }

    fn sleep(&mut self, now: Time, request: usize, flight: &mut Flight, woken: bool) {
        let probes = flight.probes.iter().map(|(_, probe)| probe.next_deadline());
        let next = flight.walk.next_deadline(&self.board).into_iter().chain(probes).min();
        let Some(next) = next.filter(|next| flight.wakes.is_none_or(|wakes| *next < wakes)) else {
            return;
        };
        // Right after a wake no deadline may be due any more.
        let next = if next <= now && woken {
            self.record.overdue += 1;
            now.plus(OVERDUE)
        } else {
            next.max(now)
        };
        flight.wakes = Some(next);
        self.schedule(next, request, flight.leg, What::Wake);
    }
}

impl Flight {
    fn take_probe(&mut self, attempt: AttemptId) -> Option<Probe> {
        let at = self.probes.iter().position(|(id, _)| *id == attempt)?;
        Some(self.probes.swap_remove(at).1)
    }
}
