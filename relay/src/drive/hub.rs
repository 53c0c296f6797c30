//! What all requests share: the board, the config in force, the signals, and where the board's
//! changes go. It knows none of its users: code that reads or changes it takes `&Hub`.

use super::announce::{Announced, announce};
use super::breaker_history::{self, BreakerHistory};
use super::current_minute::CurrentMinute;
use super::in_force::{InForce, Places, Prepared, prepare};
use super::in_force::{Ladder, Rung};
use super::items::Items;
use super::labels::labels;
use super::machine::Machine;
use super::memory::Memory;
use super::operator_state::OperatorState;
use super::past::Past;
use super::running::Load;
use super::signals::{Drain, Signals};
use super::snapshot_cache::SnapshotCache;
use crate::config::Config;
use crate::feed::Feed;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::provider::CannotBuild;
use journal::Journal;
use journal::{OrderEnd, OverrideEnd, TransitionRecord};
use parking_lot::{Mutex, MutexGuard, RwLock};
use policy::{Board, LadderIndex, LadderSpec, RungIndex, Time, Transition};
use shared::admin::{ConfigError, FeedKind};
use shared::{BreakerState, RequestId, TransitionRule};
use std::sync::Arc;
use std::time::Duration;

/// All that requests share.
#[derive(Debug)]
pub struct Hub {
    /// Every attempt's record.
    pub journal: Journal,
    /// What it did, in numbers.
    pub metrics: Metrics,
    /// The live numbers of the last minutes, for watchers.
    pub live: Live,
    /// The feed for watchers.
    pub feed: Arc<Feed>,
    /// Items of answers that clients may refer to.
    pub items: Items,
    /// When the relay started, for the model list.
    pub started: shared::UnixMillis,
    /// The same for measuring: how long ago that was.
    pub(super) began: Time,
    pub(super) snapshot_cache: Mutex<SnapshotCache>,
    pub(super) machine: Machine,
    breaker_history: BreakerHistory,
    pub(super) current_minute: CurrentMinute,
    pub(super) in_force: RwLock<Arc<InForce>>,
    /// Which rung has which place on the board; locked during a reload.
    pub(super) reloading: Mutex<Places>,
    /// Why the newest config was not put in force; `None`: it was.
    pub(super) refused: Mutex<Option<ConfigError>>,
    board: Mutex<Board>,
    memory: Memory,
    /// What operators have done, beside what the board knows of it.
    pub(super) operators: OperatorState,
    /// The last requests of each ladder.
    pub(super) past: Past,
    /// Signals for all running requests at once.
    pub signals: Signals,
    /// What all running requests come to.
    pub load: Load,
}

impl Hub {
    /// Makes the config's names and numbers ready for use.
    ///
    /// # Errors
    /// A provider whose settings no client can be built from.
    pub fn new(config: Config, journal: Journal) -> Result<Self, CannotBuild> {
        let Prepared { in_force, places, rungs, identities } =
            prepare(config, Places::default(), None)?;
        let (now, started) = (crate::wall::now(), crate::wall::unix());
        let mut board = Board::new(Vec::new(), Vec::new(), crate::wall::rng());
        board.reshape(now, rungs, ladders(&in_force));
        let memory = Memory::default();
        memory.reshape(identities);
        let live = Live::new(0, &[]);
        in_force.make_room(&live);
        Ok(Self {
            operators: OperatorState::default(),
            items: Items::default(),
            past: Past::default(),
            metrics: Metrics::new(&labels(&in_force)),
            in_force: RwLock::new(Arc::new(in_force)),
            reloading: Mutex::new(places),
            refused: Mutex::default(),
            board: Mutex::new(board),
            memory,
            journal,
            live,
            feed: Arc::new(Feed::new(crate::wall::boot_id())),
            snapshot_cache: Mutex::default(),
            machine: Machine::default(),
            breaker_history: BreakerHistory::default(),
            current_minute: CurrentMinute::since(started),
            started,
            began: now,
            signals: Signals::default(),
            load: Load::default(),
        })
    }

    /// The config in force. Who takes it keeps it: a reload puts another one in its place.
    #[must_use]
    pub fn in_force(&self) -> Arc<InForce> {
        // Only ever replaced as a whole, so a panic elsewhere leaves it sound.
        Arc::clone(&self.in_force.read())
    }

    /// The shared board, for the length of one input; never across an await. What it
    /// says of breakers goes to the journal once the lock is given back.
    pub(super) fn with_board<T>(&self, now: Time, work: impl FnOnce(&mut Board) -> T) -> T {
        self.with_board_of(now, None, work)
    }

    /// The same for one input of a request, whose breakers' changes are its doing.
    pub(super) fn with_board_of<T>(
        &self,
        now: Time,
        request: Option<RequestId>,
        work: impl FnOnce(&mut Board) -> T,
    ) -> T {
        let (done, transitions, ended) = {
            // A panic under the lock leaves the board's plain numbers usable.
            let mut board: MutexGuard<'_, Board> = self.board.lock();
            let done = work(&mut board);
            let changed = board.take_changed();
            if !changed.is_empty() {
                self.memory.changed(now, &board, &changed, &self.journal);
            }
            let transitions = board.take_transitions();
            let version = |of: &Transition| board.override_version(of.rung);
            let versions: Vec<_> = transitions.iter().map(version).collect();
            let ended = board.take_ended_orders().into_iter();
            let ended: Vec<_> = ended.map(|at| (at, board.order_version(at))).collect();
            (done, transitions.into_iter().zip(versions).collect::<Vec<_>>(), ended)
        };
        if transitions.iter().any(|(transition, _)| transition.to == BreakerState::Open) {
            self.signals.notify_opened();
        }
        for (transition, version) in transitions {
            self.journal_transition(now, request, &transition, version);
        }
        for (ladder, version) in ended {
            self.journal_order_end(ladder, version);
        }
        done
    }

    fn journal_order_end(&self, index: LadderIndex, version: u64) {
        let Some(ladder) = self.ladder_at(index) else { return };
        tracing::warn!(ladder = %ladder.name, "the operator's order has ended; the config's rules");
        self.journal.end_order(OrderEnd {
            ladder: Arc::clone(&ladder.name),
            at: crate::wall::unix(),
            version,
            why: TransitionRule::Expired.as_str(),
        });
        announce(&self.feed, &self.in_force().named, &Announced::Ladder(index));
    }

    fn journal_transition(
        &self,
        now: Time,
        request: Option<RequestId>,
        transition: &Transition,
        version: u64,
    ) {
        // Transitions of a removed rung are not reported.
        let Some(rung) = self.rung(transition.rung) else { return };
        let (rule, weight) = (transition.why, transition.weight);
        let text = transition.text();
        let by = request.filter(|_| transition.is_a_requests()).map(tracing::field::display);
        tracing::warn!(rung = %rung.name, from = %transition.from, to = %transition.to, %rule, weight, request = by, "breaker: {text}");
        self.metrics.transition(&rung.name, transition.to, rule);
        let millis = |span: Option<Duration>| span.map(record::millis);
        let at = crate::wall::unix_of(now, transition.at);
        self.breaker_history.note(transition, at);
        self.feed.publish(
            FeedKind::Transition,
            &breaker_history::row(transition, at, &rung.name, request),
        );
        self.journal.transition(TransitionRecord {
            at,
            rung: Arc::clone(&rung.name),
            before: transition.from,
            after: transition.to,
            rule,
            text,
            calls: transition.evidence.calls,
            bad: transition.evidence.bad,
            slow: transition.evidence.slow,
            outcome: transition.tip.outcome,
            status: transition.tip.status,
            request: request.filter(|_| transition.is_a_requests()),
            weight,
            generation: transition.generation,
            cooldown_ms: millis(transition.cooldown()),
            mark_ms: millis(transition.mark),
            ref_p95_ms: millis(transition.reference),
            until: transition.until.map(|until| crate::wall::unix_of(now, until)),
        });
        if transition.why == TransitionRule::Expired {
            let rung = Arc::clone(&rung.name);
            self.journal.end_override(OverrideEnd { rung, at, version, why: rule.as_str() });
            announce(&self.feed, &self.in_force().named, &Announced::Rung(transition.rung));
        }
    }

    pub(super) const fn breaker_history(&self) -> &BreakerHistory {
        &self.breaker_history
    }

    /// The rung at this place of the board; `None` if it has gone.
    pub(super) fn rung(&self, index: RungIndex) -> Option<Arc<Rung>> {
        self.in_force().rung(index).map(Arc::clone)
    }

    /// The ladder at this place of the board; `None` if it has gone.
    pub(super) fn ladder_at(&self, index: LadderIndex) -> Option<Arc<Ladder>> {
        self.in_force().ladder_at(index).map(Arc::clone)
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Goes one step further on the way to stop; never back.
    pub fn set_drain(&self, drain: Drain) {
        let ends = crate::wall::unix().plus(self.in_force().config.server.drain);
        self.signals.set_drain(drain, ends);
    }
}

/// A config's ladders as the board takes them.
pub(super) fn ladders(in_force: &InForce) -> Vec<(LadderIndex, Arc<LadderSpec>)> {
    in_force.ladders.iter().map(|ladder| (ladder.index, Arc::clone(&ladder.spec))).collect()
}
