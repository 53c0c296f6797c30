//! Drives one request: polls its upstream calls and timers, gives their results to the walk, and
//! carries out the walk's actions.
//!
//! Invariant: every input goes through [`Driver::input`], and every action it
//! causes is done before the next input. `acting` carries the actions out,
//! `ending` writes the last of them: the answer's end or the error.

mod acting;
mod ending;

use super::attempt_io::AttemptIo;
use super::capture::Capture;
use super::closing::Closing;
use super::composing::is_large;
use super::failed::Quotable;
use super::held::Held;
use super::hub::Hub;
use super::in_force::{InForce, Ladder};
use super::log::{RequestLog, short};
use super::naps;
use super::numbers::{dialect_number, live_at, number_of};
use super::peer::Peer;
use super::reading::News;
use super::reply::{Head, Out};
use super::running::Running;
use super::signals::{Drain, Signal};
use super::stalls::{Pause, Pauses};
use super::timer::Timer;
use super::work_pool::WorkPool;
use crate::config::Stamp;
use crate::live;
use crate::live::Pair;
use crate::wall;
use bytes::{Bytes, BytesMut};
use dialect::request::{ClientRequest, Thinks};
use dialect::schema::Schema;
use dialect::stamp;
use http::HeaderMap;
use policy::{Action, AttemptId, Capabilities, Effort, Input, Kind, Need, RungIndex, Time, Walk};
use record::{RequestStart, millis};
use shared::{Cause, OverrideMode, RequestId, RequestOutcome, TokenVerdict, UnixMillis};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::watch;

/// Bytes that are ready together leave together, up to here.
const GLUED: usize = 16 * 1024;
/// The upstream's connection task needs so many turns to hand over one more event.
const TURNS: u8 = 2;
/// The longest answer that is put together for a client that wants it whole.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// A request on its way in.
#[derive(Debug)]
pub struct Incoming {
    /// Its id.
    pub id: RequestId,
    /// When it was accepted, by the calendar.
    pub at: UnixMillis,
    /// When it was accepted, for the clocks.
    pub accepted: Time,
    /// The client key's name, if clients are configured.
    pub client: Option<Arc<str>>,
    /// The config that it is served by, to its end.
    pub in_force: Arc<InForce>,
    /// The ladder that its `model` names.
    pub ladder: Arc<Ladder>,
    /// What it asks.
    pub request: Arc<ClientRequest>,
    /// Counts its body among the bytes that are held.
    pub held: Held,
    /// Headers that go along to providers of the client's own dialect.
    pub along: HeaderMap,
    /// The variant of the ladder's system prompt, as a place among its prompts.
    pub prompt: Option<usize>,
    /// What a whole answer must follow, where the relay can check that.
    pub schema: Option<Arc<Schema>>,
    /// What the client gets beside its answer.
    pub stamp: Stamp,
    /// Its connection.
    pub peer: Arc<Peer>,
    /// Counts it among the running ones until it ends.
    pub running: Running,
}

#[derive(Debug)]
enum Phase {
    /// Nothing is committed, or the answer is coming.
    Running,
    /// The record is on its way to the disk; then the ending goes out.
    Closing(Closing),
    /// Over.
    Done,
}

/// Gives the signals back once there was one.
type Signalled = Pin<Box<dyn Future<Output = watch::Receiver<Signal>> + Send>>;

/// One future for all that may interrupt a request from outside: polled where nothing else
/// is due, so a token costs no more for it.
fn signalled(mut signals: watch::Receiver<Signal>) -> Signalled {
    Box::pin(async move {
        if signals.changed().await.is_err() {
            // The relay has ended: no signal can come any more.
            std::future::pending::<()>().await;
        }
        signals
    })
}

/// One request being driven.
pub struct Driver {
    relay: Arc<Hub>,
    in_force: Arc<InForce>,
    ladder: Arc<Ladder>,
    request: Arc<ClientRequest>,
    _held: Held,
    along: HeaderMap,
    prompt: Option<usize>,
    schema: Option<Arc<Schema>>,
    stamp: Stamp,
    need: Need,
    walk: Walk,
    peer: Arc<Peer>,
    _running: Running,
    attempts: Vec<AttemptIo>,
    log: RequestLog,
    /// Its place among those that wait; `None` once it has ended.
    seat: Option<live::Ticket>,
    phase: Phase,
    /// Actions of the current input; kept to spare an allocation each.
    actions: Vec<Action>,
    /// When the walk wants to be woken.
    deadline: Option<Time>,
    timer: Timer,
    committed: Option<AttemptId>,
    /// The head waits here until it is taken.
    head: Option<Head>,
    head_sent: bool,
    out: BytesMut,
    /// How long `out` was when more was last waited for.
    out_seen: usize,
    /// Turns of this worker's queue that may still be waited for more.
    turns: u8,
    /// How often the worker had slept when `out` last grew.
    grown_at: u64,
    last_write: Time,
    /// A sign of life is to go out, unless there is something to say.
    beat_due: bool,
    /// Heartbeat lines have gone out since the last event.
    beats_open: bool,
    /// Set while bytes are with the server: how long it took to come back tells
    /// how long the client did not read.
    handed_at: Option<Time>,
    signalled: Signalled,
    pauses: Pauses,
    /// The count of forced-open rungs when it last checked whether it is on one.
    forced_heard: u64,
    /// What the client is sent, where the request is to be kept whole.
    capture: Option<Capture>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("id", &self.log.start.id).finish_non_exhaustive()
    }
}

impl Driver {
    /// Starts driving: the walk is planned and its first rung is dialled.
    #[must_use]
    pub fn start(relay: &Arc<Hub>, incoming: Incoming) -> Self {
        let Incoming {
            id,
            at,
            accepted,
            client,
            in_force,
            ladder,
            request,
            held,
            along,
            prompt,
            schema,
            stamp,
            peer,
            running,
        } = incoming;
        let need = need(&request, client.as_deref(), &in_force, &ladder);
        let start = RequestStart {
            id,
            at,
            client,
            ladder: Some(Arc::clone(&ladder.name)),
            model: Some(short(request.model())),
            stream: request.stream(),
        };
        relay.journal.start(start.clone());
        let seat = relay.live.began(ladder.index.0, live_at(accepted));
        // Before the plan is made, so that later signals are noticed.
        let signals = relay.signals.subscribe();
        let forced_heard = signals.borrow().forced;
        let signalled = signalled(signals);
        let mut driver = Self {
            walk: Walk::new(accepted, ladder.index, Arc::clone(&ladder.spec), need, wall::rng()),
            relay: Arc::clone(relay),
            in_force,
            ladder,
            need,
            request,
            _held: held,
            along,
            prompt,
            schema,
            stamp,
            peer,
            _running: running,
            attempts: Vec::new(),
            log: RequestLog::new(start, accepted),
            seat: Some(seat),
            phase: Phase::Running,
            actions: Vec::new(),
            deadline: None,
            timer: Timer::default(),
            committed: None,
            head: None,
            head_sent: false,
            out: BytesMut::new(),
            out_seen: 0,
            turns: 0,
            grown_at: 0,
            last_write: accepted,
            beat_due: false,
            beats_open: false,
            handed_at: None,
            signalled,
            pauses: Pauses::from(wall::now()),
            forced_heard,
            capture: None,
        };
        driver.input(wall::now(), Input::Start);
        driver
    }

    /// What to send next; `None` at the end.
    pub fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<Option<Out>> {
        #[cfg(test)]
        fail_on_purpose(self.log.start.id);
        self.note_unread_time();
        loop {
            if let Some(head) = self.head.take() {
                // Head and first event leave in one write: they are not waited apart.
                self.out_seen = self.out.len();
                self.turns = 0;
                return Poll::Ready(Some(Out::Head(head)));
            }
            if matches!(self.phase, Phase::Running) {
                self.poll_lines(cx);
                if self.head.is_some() {
                    continue;
                }
                if self.more_may_be_there() {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            if let Some(bytes) = self.take_ready() {
                self.beat_due = false;
                return Poll::Ready(Some(Out::Bytes(bytes)));
            }
            if let Some(bytes) = self.take_beat() {
                return Poll::Ready(Some(Out::Bytes(bytes)));
            }
            match &mut self.phase {
                Phase::Done => return Poll::Ready(None),
                Phase::Closing(closing) => {
                    let Poll::Ready(ending) = closing.poll_ending(cx, &self.relay.journal) else {
                        return Poll::Pending;
                    };
                    self.phase = Phase::Done;
                    return Poll::Ready(Some(ending));
                }
                Phase::Running => {}
            }
            if self.poll_time(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// The relay's own code failed in the middle of this request: end it truthfully.
    /// Returns whether there is an ending to be had; if not, the connection must break.
    pub fn fault(&mut self) -> bool {
        self.input(wall::now(), Input::Stop(Cause::RelayFault));
        if !matches!(self.phase, Phase::Running) {
            return true;
        }
        // The walk was over, yet its end was never carried out.
        let _unread = self.end_record(RequestOutcome::Failed, Some(Cause::RelayFault));
        self.phase = Phase::Done;
        false
    }

    /// Reads what the upstreams have to say, as long as they do not have to be waited for.
    fn poll_lines(&mut self, cx: &mut Context<'_>) {
        let mut index = 0;
        while let Some(io) = self.attempts.get_mut(index) {
            let id = io.id;
            let committed = self.committed == Some(id);
            let sink = committed.then_some(&mut self.out);
            let quotable = Quotable::Request(&self.request, &self.along);
            match io.poll_news(cx, sink, &quotable) {
                Poll::Ready(news) => {
                    self.news(id, news);
                    if self.out.len() >= GLUED || !matches!(self.phase, Phase::Running) {
                        return;
                    }
                }
                Poll::Pending => index += 1,
            }
        }
    }

    /// Whether what came is worth holding for a moment, since more may be there already.
    ///
    /// The upstream's connection task hands over one event at a time, however many
    /// one read brought. Letting it run before anything is written makes events that
    /// are there together leave together. Only where one event follows another without
    /// the worker having slept in between: a stream at a human pace never waits.
    fn more_may_be_there(&mut self) -> bool {
        if self.out.len() > self.out_seen {
            let naps = naps::naps();
            self.turns = if naps == self.grown_at { TURNS } else { 0 };
            self.grown_at = naps;
        }
        self.out_seen = self.out.len();
        let waits = self.turns > 0 && !self.out.is_empty() && self.out.len() < GLUED;
        self.turns = self.turns.saturating_sub(1);
        waits && self.head_sent && matches!(self.phase, Phase::Running)
    }

    fn news(&mut self, id: AttemptId, news: News) {
        let Some(io) = self.attempts.iter().find(|io| io.id == id) else { return };
        let pings_count = io.rung.spec.pings_count;
        // Once it is committed, a token only feeds the second clock.
        let hot = self.committed == Some(id);
        let now = wall::now();
        match news.token {
            Some(_) if hot => self.walk.note_content(now, id),
            Some(refusal) => {
                self.input(now, Input::Token { attempt: id, refusal });
                self.count_token(now, id);
            }
            None if news.ping && pings_count => self.input(now, Input::Ping(id)),
            None => {}
        }
        if news.sent {
            self.input(now, Input::Sent(id));
        }
        if let Some(answer) = news.finished {
            self.input(now, Input::Finished(id, answer));
        }
        if let Some(ending) = news.ended {
            self.input(now, Input::Ended(id, ending));
        }
    }

    /// An attempt's first token is counted once; whether it was late, its walk knows.
    fn count_token(&mut self, now: Time, id: AttemptId) {
        let io = self.attempts.iter_mut().find(|io| io.id == id && !io.counted);
        if let Some(io) = io {
            let Some(seat) = io.seat else { return };
            io.counted = true;
            let ttft = io.log.first_token.unwrap_or(now).since(io.log.dialled);
            let verdict =
                if self.walk.is_slow(id) { TokenVerdict::Slow } else { TokenVerdict::Good };
            let of = Pair { ladder: self.ladder.index.0, rung: io.rung.index.0 };
            self.relay.live.token(of, live_at(now), seat, millis(ttft), verdict);
        }
    }

    /// Lets timers and the order to stop have their say. Pending: nothing is due.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let beat =
            self.head_sent.then(|| self.last_write.plus(self.in_force.config.server.heartbeat));
        let due = [self.deadline, beat].into_iter().flatten().min();
        if self.timer.poll_due(cx, due).is_ready() {
            let now = wall::now();
            if self.deadline.is_some_and(|at| at <= now) {
                self.input(now, Input::Wake);
            } else {
                self.beat_due = true;
            }
            return Poll::Ready(());
        }
        if let Poll::Ready(mut signals) = self.signalled.as_mut().poll(cx) {
            let Signal { drain, forced, .. } = *signals.borrow_and_update();
            self.signalled = signalled(signals);
            if drain == Drain::Cut {
                self.input(wall::now(), Input::Stop(Cause::Drain));
                return Poll::Ready(());
            }
            if self.walk.is_waiting() {
                // A breaker may have opened: the walk checks whether it waits for that rung.
                self.input(wall::now(), Input::Wake);
            }
            if forced != self.forced_heard {
                self.forced_heard = forced;
                self.leave_forced();
            }
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Leaves the rungs that an operator has forced open.
    fn leave_forced(&mut self) {
        let now = wall::now();
        let ladder = Arc::clone(&self.ladder);
        let rungs = ladder.spec.rungs.iter().copied();
        let forced: Vec<_> = self.relay.with_board(now, |board| {
            let is_out = |rung: &RungIndex| {
                board.forced(*rung, now).is_some_and(|(mode, _)| mode == OverrideMode::ForcedOpen)
            };
            rungs.filter(is_out).map(|rung| (rung, board.cuts_streams(rung, now))).collect()
        });
        for (rung, cut) in forced {
            self.input(now, Input::Forced(rung));
            if cut {
                self.input(now, Input::CutStream(rung));
            }
        }
    }

    /// Time between handing bytes over and being asked again is time in which the
    /// client did not read: the second clock stood still.
    fn note_unread_time(&mut self) {
        if let Some(handed) = self.handed_at.take() {
            let span = wall::now().since(handed);
            if span.as_millis() >= 1 {
                self.input(wall::now(), Input::Unblocked(span));
            }
        }
    }

    fn take_ready(&mut self) -> Option<Bytes> {
        if self.out.is_empty() || !self.head_sent {
            return None;
        }
        let bytes = self.out.split().freeze();
        if let Some(capture) = &mut self.capture {
            capture.sent(&bytes);
        }
        self.out_seen = 0;
        let bytes = self.after_beats(bytes);
        self.hand_over(&bytes);
        Some(bytes)
    }

    fn hand_over(&mut self, bytes: &Bytes) {
        let now = wall::now();
        self.last_write = now;
        self.handed_at = Some(now);
        self.log.bytes = self.log.bytes.saturating_add(bytes.len() as u64);
    }

    /// A heartbeat, if one is due and nothing else was sent.
    fn take_beat(&mut self) -> Option<Bytes> {
        let due = std::mem::take(&mut self.beat_due);
        if !due || !self.head_sent || !matches!(self.phase, Phase::Running) {
            return None;
        }
        let beat = Bytes::from_static(stamp::heartbeat(self.request.dialect()));
        self.beats_open = true;
        self.hand_over(&beat);
        Some(beat)
    }

    /// `bytes`, with what must stand between heartbeat lines and an event.
    fn after_beats(&mut self, bytes: Bytes) -> Bytes {
        if !std::mem::take(&mut self.beats_open) {
            return bytes;
        }
        let RequestStart { id, at, .. } = self.log.start;
        let mut out = BytesMut::new();
        let (dialect, model) = (self.request.dialect(), self.request.model());
        stamp::close_heartbeats(dialect, &id.to_string(), at.0 / 1000, model, &mut out);
        out.extend_from_slice(&bytes);
        out.freeze()
    }

    fn input(&mut self, now: Time, input: Input) {
        let mut actions = std::mem::take(&mut self.actions);
        let walk = &mut self.walk;
        let request = Some(self.log.start.id);
        let pause = self.pauses.since(now);
        self.deadline = self.relay.with_board_of(now, request, |board| {
            if let Some(Pause { span, until }) = pause {
                walk.handle(now, Input::StoodStill { span, until }, board, &mut actions);
            }
            walk.handle(now, input, board, &mut actions);
            walk.next_deadline(board)
        });
        for action in actions.drain(..) {
            self.act(now, action);
        }
        self.actions = actions;
    }
}

impl Drop for Driver {
    /// Dropped before its end: the client is gone. Its calls close with it.
    fn drop(&mut self) {
        if matches!(self.phase, Phase::Running) {
            let cause = if self.peer.is_stalled() {
                Cause::ClientStalled
            } else if self.relay.signals.drain() == Drain::Cut {
                Cause::Drain
            } else {
                Cause::ClientGone
            };
            self.input(wall::now(), Input::Stop(cause));
        }
        // Only after a failure of the relay's own is anything left here.
        let left = self.attempts.iter().filter_map(|io| Some((io.rung.index.0, io.seat?)));
        left.for_each(|(rung, seat)| self.relay.live.forget_attempt(rung, seat));
        if let Some(seat) = self.seat {
            self.relay.live.forget_request(self.ladder.index.0, seat);
        }
        let size = self.request.size();
        if is_large(size) {
            let nothing = Arc::new(ClientRequest::nothing());
            WorkPool::Bulk.discard(size, std::mem::replace(&mut self.request, nothing));
        }
    }
}

/// The request whose driver panics next; -1: whichever is polled next; 0: none.
#[cfg(test)]
pub(crate) static PANIC_FOR: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);

#[cfg(test)]
fn fail_on_purpose(id: RequestId) {
    use std::sync::atomic::Ordering::SeqCst;
    for wanted in [id.number(), -1] {
        let hit = PANIC_FOR.compare_exchange(wanted, 0, SeqCst, SeqCst).is_ok();
        assert!(!hit, "a panic that a test asked for");
    }
}

fn need(
    request: &ClientRequest,
    client: Option<&str>,
    in_force: &InForce,
    ladder: &Ladder,
) -> Need {
    let needs = request.needs();
    Need {
        stream: request.stream(),
        capabilities: Capabilities {
            tools: needs.tools,
            parallel_tools: needs.parallel_tools,
            json_schema: needs.json_schema,
            images: needs.images,
            audio: needs.audio,
            files: needs.files,
        },
        prompt_tokens: needs.prompt_tokens,
        kind: Kind {
            effort: match needs.thinks {
                Thinks::AsUsual => Effort::Usual,
                Thinks::Little => Effort::Little,
                Thinks::Low => Effort::Low,
                Thinks::Medium => Effort::Medium,
                Thinks::High => Effort::High,
            },
            attachments: needs.images || needs.audio || needs.files,
        },
        max_output: needs.max_output,
        side_effects: needs.side_effects,
        sent_later: is_large(request.size()),
        unsupported: unsupported(request, in_force, ladder),
        dialect: dialect_number(request.dialect()),
        // With one client there is no other to distinguish it from.
        client: client.filter(|_| in_force.config.clients.len() > 1).map_or(0, number_of),
    }
}

/// The dialects on this ladder that have no words for some of the request.
fn unsupported(request: &ClientRequest, in_force: &InForce, ladder: &Ladder) -> u8 {
    let rungs = ladder.spec.rungs.iter().filter_map(|rung| in_force.rung(*rung));
    let dialects = rungs.map(|rung| rung.provider.dialect());
    dialects
        .filter(|dialect| request.supported_by(*dialect).is_err())
        .fold(0, |unsupported, dialect| unsupported | 1 << dialect_number(dialect))
}
