//! All that requests share: the config in force, the board, the journal, and the
//! word that the relay is to stop.

use super::held::{AllHeld, Held};
use super::in_force::{InForce, Places, Prepared, prepare};
use super::in_force::{Ladder, Rung};
use super::items::Items;
use super::look::{Looked, Machine};
use super::memory::Memory;
use super::minutes::Gathering;
use super::operator::{Operators, Past, Published};
use super::story::{self, Story};
use crate::config::Config;
use crate::feed::Feed;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::provider::CannotBuild;
use journal::Journal;
use journal::{OrderEnd, OverrideEnd, TransitionRecord};
use policy::{Board, LadderIndex, LadderSpec, RungIndex, Time, Transition};
use shared::admin::{ConfigError, FeedKind};
use shared::{BreakerState, RequestId, TransitionRule};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// How far the relay is on its way to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drain {
    /// It serves.
    Serving,
    /// No new requests; running ones go on.
    Draining,
    /// Running ones end now.
    Cut,
}

/// What every running request is told of at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signal {
    pub(super) drain: Drain,
    /// How often rungs have been forced open.
    pub(super) forced: u64,
    /// How often breakers have opened.
    pub(super) opened: u64,
}

/// All that requests share.
#[derive(Debug)]
pub struct Relay {
    /// Every attempt's record.
    pub journal: Journal,
    /// What it did, in numbers.
    pub metrics: Metrics,
    /// What it did lately, for whoever watches.
    pub live: Live,
    /// What is told to whoever watches.
    pub feed: Arc<Feed>,
    /// Items of answers that clients may refer to.
    pub items: Items,
    /// When the relay started, for the model list.
    pub started: shared::UnixMillis,
    /// The same for measuring: how long ago that was.
    pub(super) began: Time,
    pub(super) looked: Mutex<Looked>,
    pub(super) machine: Machine,
    story: Story,
    pub(super) gathering: Gathering,
    /// When the last requests are cut, if it drains.
    drain_ends: Mutex<Option<shared::UnixMillis>>,
    pub(super) in_force: RwLock<Arc<InForce>>,
    /// Who has which place on the board; held by whoever reloads.
    pub(super) reloading: Mutex<Places>,
    /// Why the newest config was not put in force; `None`: it was.
    pub(super) refused: Mutex<Option<ConfigError>>,
    account_refused: Notify,
    board: Mutex<Board>,
    memory: Memory,
    pub(super) operators: Operators,
    /// The last requests of each ladder.
    pub(super) past: Past,
    signal: watch::Sender<Signal>,
    running: AtomicUsize,
    held: Arc<AllHeld>,
}

/// A request among the running ones.
#[derive(Debug)]
pub struct Running(Arc<Relay>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the connection's IO tells about a client that is gone.
#[derive(Debug, Default)]
pub struct Peer {
    stalled: AtomicBool,
    /// When its running stream ends at the latest, in the core's microseconds; 0: not known.
    ends: AtomicU64,
    address: Option<IpAddr>,
}

impl Peer {
    /// Somebody who called from there.
    #[must_use]
    pub fn at(address: Option<IpAddr>) -> Self {
        Self { address, ..Self::default() }
    }

    /// Where it called from, if that is known.
    #[must_use]
    pub const fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Its stream ends at `at`, whether it reads or not. The driver cannot see to that
    /// itself: it is not asked for more while what it gave is not taken.
    pub fn set_ends(&self, at: Time) {
        self.ends.store(at.0, Ordering::Relaxed);
    }

    /// How long a write to it may be stuck from `now` on, `limit` at the most. What is written
    /// after its stream's end (the error that says so) has its own time.
    #[must_use]
    pub fn patience(&self, now: Time, limit: Duration) -> Duration {
        let left = Time(self.ends.load(Ordering::Relaxed)).since(now);
        if left.is_zero() { limit } else { limit.min(left) }
    }

    /// The client stopped reading and was dropped for it.
    pub fn set_stalled(&self) {
        self.stalled.store(true, Ordering::Relaxed);
    }

    /// Whether the client was dropped because it had stopped reading.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }
}

impl Relay {
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
            operators: Operators::default(),
            items: Items::default(),
            past: Past::default(),
            metrics: Metrics::new(&super::standing::names(&in_force)),
            in_force: RwLock::new(Arc::new(in_force)),
            reloading: Mutex::new(places),
            refused: Mutex::default(),
            account_refused: Notify::new(),
            board: Mutex::new(board),
            memory,
            journal,
            live,
            feed: Arc::new(Feed::new(crate::wall::boot_id())),
            looked: Mutex::default(),
            machine: Machine::default(),
            story: Story::default(),
            gathering: Gathering::since(started),
            drain_ends: Mutex::new(None),
            started,
            began: now,
            signal: watch::Sender::new(Signal { drain: Drain::Serving, forced: 0, opened: 0 }),
            running: AtomicUsize::new(0),
            held: Arc::default(),
        })
    }

    /// The config in force. Who takes it keeps it: a reload puts another one in its place.
    #[must_use]
    pub fn in_force(&self) -> Arc<InForce> {
        // Only ever replaced as a whole, so a panic elsewhere leaves it sound.
        Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A provider refused our account: its key may have been changed meanwhile.
    pub(super) fn tell_account_refused(&self) {
        self.account_refused.notify_one();
    }

    /// Waits until a provider refuses our account. For one who waits.
    pub async fn account_refused(&self) {
        self.account_refused.notified().await;
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
            let mut board: MutexGuard<'_, Board> =
                self.board.lock().unwrap_or_else(PoisonError::into_inner);
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
            self.signal.send_modify(|now| now.opened = now.opened.wrapping_add(1));
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
        self.published(&Published::Ladder(index));
    }

    fn journal_transition(
        &self,
        now: Time,
        request: Option<RequestId>,
        transition: &Transition,
        version: u64,
    ) {
        // What happens to one that has gone is nobody's business any more.
        let Some(rung) = self.rung(transition.rung) else { return };
        let (rule, weight) = (transition.why, transition.weight);
        let text = transition.text();
        let by = request.filter(|_| transition.is_a_requests()).map(tracing::field::display);
        tracing::warn!(rung = %rung.name, from = %transition.from, to = %transition.to, %rule, weight, request = by, "breaker: {text}");
        self.metrics.transition(&rung.name, transition.to, rule);
        let millis = |span: Option<Duration>| span.map(record::millis);
        let at = crate::wall::unix_of(now, transition.at);
        self.story.note(transition, at);
        self.feed.publish(FeedKind::Transition, &story::row(transition, at, &rung.name, request));
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
            self.published(&Published::Rung(transition.rung));
        }
    }

    pub(super) const fn story(&self) -> &Story {
        &self.story
    }

    /// When the last requests are cut, if it drains.
    pub(super) fn drain_ends(&self) -> Option<shared::UnixMillis> {
        *self.drain_ends.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// How far the relay is on its way to stop.
    #[must_use]
    pub fn drain(&self) -> Drain {
        self.signal.borrow().drain
    }

    /// Goes one step further on the way to stop; never back.
    pub fn set_drain(&self, drain: Drain) {
        if drain == Drain::Draining {
            let ends = crate::wall::unix().plus(self.in_force().config.server.drain);
            let mut slot = self.drain_ends.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert(ends);
        }
        self.signal.send_if_modified(|now| {
            let further = drain > now.drain;
            now.drain = drain.max(now.drain);
            further
        });
    }

    /// Waits until the relay is at `drain` or further.
    pub async fn until(&self, drain: Drain) {
        let mut signal = self.signal.subscribe();
        // The sender lives as long as this relay, so this cannot fail.
        let _never_closed = signal.wait_for(|now| now.drain >= drain).await;
    }

    /// Rungs have been forced open: running walks look whether they are on one.
    pub(super) fn tell_walks(&self) {
        self.signal.send_modify(|now| now.forced = now.forced.wrapping_add(1));
    }

    /// Tells of every signal from now on. One that is on its way to stop already says so
    /// at once.
    pub(super) fn signals(&self) -> watch::Receiver<Signal> {
        let mut signals = self.signal.subscribe();
        if signals.borrow().drain == Drain::Cut {
            signals.mark_changed();
        }
        signals
    }

    /// Requests running now, those whose body is still coming included.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Bytes that running requests hold.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.bytes()
    }

    /// Counts what a request holds, from nothing on.
    #[must_use]
    pub fn holds_nothing(&self) -> Held {
        self.held.nothing()
    }

    /// Counts one more request, until what is returned is dropped.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(self))
    }
}

/// What the board is told of a config's ladders.
pub(super) fn ladders(in_force: &InForce) -> Vec<(LadderIndex, Arc<LadderSpec>)> {
    in_force.ladders.iter().map(|ladder| (ladder.index, Arc::clone(&ladder.spec))).collect()
}
