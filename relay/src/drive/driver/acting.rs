//! Carries out the walk's actions: dials, commits, drops.

use super::{Driver, MAX_ANSWER, Phase};
use crate::drive::attempt_io::AttemptIo;
use crate::drive::capture::{Capture, is_sampled};
use crate::drive::checking::Wrong;
use crate::drive::composing::{self, Composition};
use crate::drive::detached;
use crate::drive::in_force::Rung;
use crate::drive::log::{AttemptEnding, AttemptLog};
use crate::drive::numbers::live_at;
use crate::drive::reply::{self, Head};
use crate::live::Pair;
use crate::wall;
use bytes::BytesMut;
use dialect::answer::{AnswerReader, AnswerSpec, Form};
use dialect::request::Endpoint;
use dialect::schema::Schema;
use http::HeaderMap;
use policy::{Action, AttemptId, Probe, RungIndex, Time};
use record::AttemptStart;
use shared::{AttemptKind, AttemptOutcome, Degrade, Dialect};
use std::sync::Arc;

/// In which manner an attempt goes out.
struct Manner {
    plain: bool,
    once: bool,
    probe: bool,
}

impl Driver {
    pub(super) fn act(&mut self, now: Time, action: Action) {
        match action {
            Action::Dial { attempt, rung, kind, plain, once, probe } => {
                self.log.hedged |= kind == AttemptKind::Hedge;
                let before = self.log.attempts.last();
                self.relay.metrics.dialled(&self.ladder.name, attempt.0, kind, before);
                self.dial(now, attempt, rung, kind, Manner { plain, once, probe });
            }
            Action::Detach { attempt, probe } => self.detach(attempt, probe),
            Action::AttemptEnded { attempt, outcome, cause, clock, verdict, stream_verdict } => {
                if let Some(io) = self.attempts.iter_mut().find(|io| io.id == attempt) {
                    let whole = matches!(
                        outcome,
                        AttemptOutcome::Ok | AttemptOutcome::Refused | AttemptOutcome::Empty
                    );
                    (io.composing, io.later) = (None, None);
                    match io.call.take() {
                        Some(call) if whole => call.finish(),
                        cut => drop(cut),
                    }
                    io.may_answer =
                        matches!(outcome, AttemptOutcome::Refused | AttemptOutcome::Empty);
                    if outcome == AttemptOutcome::Auth {
                        let (rung, status, request) =
                            (&io.rung.name, io.log.status, self.log.start.id);
                        if self.walk.is_suspected(attempt) {
                            tracing::warn!(%rung, status, %request, "the provider refused our account, or this request");
                        } else {
                            tracing::error!(%rung, status, %request, "the provider refused our account");
                        }
                        self.relay.signals.notify_account_refused();
                    }
                    let facts = io.reader.facts();
                    let ending = AttemptEnding { outcome, cause, clock, verdict, stream_verdict };
                    let end = io.log.end(now, ending, &io.rung, facts, self.need.prompt_tokens);
                    self.relay.metrics.attempt(&self.ladder.name, &end);
                    if let Some(seat) = io.seat.take() {
                        self.relay.live.attempt(self.ladder.index.0, live_at(now), seat, &end);
                    }
                    self.log.attempts.push(end);
                }
            }
            Action::SendHead => {
                self.send_head();
                self.beat_due = true;
            }
            Action::Commit(attempt) => {
                let ends = self.log.accepted.plus(self.ladder.spec.stream_total);
                self.peer.set_ends(ends);
                self.commit(attempt);
            }
            Action::Complete { attempt, outcome } => self.complete(attempt, outcome),
            Action::Fail(failure) => self.fail(&failure),
            Action::Abandon { outcome, cause } => {
                let _unread = self.end_record(outcome, cause);
                self.phase = Phase::Done;
            }
        }
    }

    /// A probe that lost its race runs on in a task of its own.
    fn detach(&mut self, id: AttemptId, probe: Probe) {
        let spec = self.answer_spec(Dialect::OpenaiChat);
        let Some(io) = self.attempts.iter_mut().find(|io| io.id == id) else { return };
        // Its own reader goes with it; what is left behind is never fed.
        let reader = std::mem::replace(&mut io.reader, AnswerReader::new(spec));
        let log = AttemptLog::new(io.log.start.clone(), io.log.dialled);
        detached::run(
            &self.relay,
            probe,
            AttemptIo {
                id,
                rung: Arc::clone(&io.rung),
                composing: io.composing.take(),
                call: io.call.take(),
                reader,
                held: BytesMut::new(),
                max_held: io.max_held,
                counted_held: self.relay.load.holds_nothing(),
                most_held: io.most_held,
                added: false,
                error: None,
                schema: None,
                later: io.later.take(),
                wrong: None,
                may_answer: false,
                log,
                seat: None,
                counted: true,
            },
        );
    }

    pub(super) fn answer_spec(&self, from: Dialect) -> AnswerSpec {
        AnswerSpec {
            from,
            to: self.request.dialect(),
            request: self.log.start.id,
            created: self.log.start.at.0 / 1000,
            form: if self.request.stream() { Form::Stream } else { Form::Whole },
            wants_usage: self.request.wants_usage(),
            choices: self.request.choices(),
            finishes: false,
            max_event: self.in_force.config.server.max_event,
            max_answer: MAX_ANSWER,
        }
    }

    fn dial(
        &mut self,
        now: Time,
        id: AttemptId,
        rung: RungIndex,
        kind: AttemptKind,
        Manner { plain, once, probe }: Manner,
    ) {
        let Some(rung) = self.in_force.rung(rung).map(Arc::clone) else { return };
        // Those before it can no longer win: what they held is of no use.
        self.attempts.iter_mut().for_each(AttemptIo::let_go);
        let ask_usage = rung.ask_usage && !plain;
        let dialect = rung.provider.dialect();
        // Of a request that passes through, usage is all that the relay may ask for itself.
        let is_own = dialect == self.request.dialect();
        let adds = self.request.adds_usage_for(dialect);
        let degraded = rung.spec.degrade_for(&self.need);
        // A request may name its limit twice: each that is too high is lowered.
        let degrade = Degrade { max_output: rung.spec.degrade.max_output, ..degraded };
        let asked = Composition {
            request: Arc::clone(&self.request),
            ladder: Arc::clone(&self.ladder),
            rung: Arc::clone(&rung),
            prompt: self.prompt,
            ask_usage,
            degrade,
            again: self.again(&rung).filter(|_| kind == AttemptKind::Retry),
        };
        let composing = asked.start(composing::Manner {
            endpoint: self.request.endpoint(),
            along: if is_own { self.along.clone() } else { HeaderMap::new() },
            max_answer: MAX_ANSWER,
            once,
            degraded: degraded.words().collect(),
        });
        let start = AttemptStart {
            request: self.log.start.id,
            n: id.0,
            rung: Arc::clone(&rung.name),
            place: rung.index.0,
            kind,
            probe,
            at: wall::unix(),
        };
        self.relay.journal.attempt_start(start.clone());
        let of = Pair { ladder: self.ladder.index.0, rung: rung.index.0 };
        let seat = self.relay.live.dialled(of, live_at(now), id.0 == 1);
        let finishes = self.relay.with_board(now, |board| board.finishes(rung.index));
        let spec = AnswerSpec { finishes, ..self.answer_spec(dialect) };
        let server = &self.in_force.config.server;
        let schema = self.schema_for(&rung);
        self.attempts.push(AttemptIo {
            id,
            composing: Some(composing),
            call: None,
            rung,
            reader: AnswerReader::at(self.request.endpoint(), spec),
            held: BytesMut::new(),
            max_held: server.max_event,
            counted_held: self.relay.load.holds_nothing(),
            most_held: server.max_in_flight_bytes,
            added: ask_usage && adds,
            error: None,
            schema,
            later: None,
            wrong: None,
            may_answer: false,
            log: AttemptLog::new(start, now),
            seat: Some(seat),
            counted: false,
        });
    }

    /// Whether a request that this rung answers is kept whole: one below rung one, in the
    /// order that is in force.
    fn is_kept(&self, rung: RungIndex) -> bool {
        let is_answer = self.request.endpoint() == Endpoint::Answer;
        if !is_answer
            || self.ladder.capture <= 0.0
            || !is_sampled(self.log.start.id, self.ladder.capture)
        {
            return false;
        }
        let (ladder, now) = (self.ladder.index, wall::now());
        let ordered = self.relay.with_board(now, |board| {
            board.order_of(ladder, now).and_then(|(rungs, _)| rungs.first().copied())
        });
        ordered.or_else(|| self.ladder.spec.rungs.first().copied()) != Some(rung)
    }

    /// The schema that this rung's answer is checked against.
    fn schema_for(&self, rung: &Rung) -> Option<Arc<Schema>> {
        let checked = self.ladder.validate || rung.spec.degrade_for(&self.need).json_schema;
        self.schema.clone().filter(|_| checked)
    }

    /// What was wrong with this rung's last answer, where it did not follow its schema.
    fn again(&self, rung: &Rung) -> Option<Arc<Wrong>> {
        self.attempts.iter().rfind(|io| io.rung.index == rung.index)?.wrong.clone()
    }

    fn commit(&mut self, id: AttemptId) {
        self.committed = Some(id);
        let Some(io) = self.attempts.iter_mut().find(|io| io.id == id) else { return };
        let held = std::mem::take(&mut io.held);
        if self.request.stream() {
            io.counted_held.let_go();
        }
        self.log.answered = Some(io.id.0);
        self.log.answered_by = Some(Arc::clone(&io.rung.name));
        if io.log.start.kind == AttemptKind::Hedge {
            self.relay.metrics.hedge_won(&self.ladder.name);
        }
        self.log.first_token = io.log.first_token;
        let rung = io.rung.index;
        self.capture = self.is_kept(rung).then(Capture::default);
        if let Some(seat) = self.seat {
            self.relay.live.committed(self.ladder.index.0, seat);
        }
        if self.request.stream() {
            if self.out.is_empty() {
                self.out = held;
            } else {
                self.out.extend_from_slice(&held);
            }
            self.send_head();
        }
    }

    pub(super) fn send_head(&mut self) {
        if self.head_sent {
            return;
        }
        let mut headers = self.headers();
        reply::stream_headers(&mut headers);
        self.head_sent = true;
        self.last_write = wall::now();
        self.log.status = Some(200);
        self.head = Some(Head { headers });
    }
}
