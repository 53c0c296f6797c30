//! A check: one small real call to a rung, outside all traffic.
//!
//! It does not check whether the rung is usable, so it reaches a forced-open one,
//! too; and whatever comes of it, nothing is learned from it: no verdict, no
//! reference, no number. It is in the journal as a request of its own on no ladder.

use super::record::{new_action, record_later};
use crate::drive::announce::{Announced, announce};
use crate::drive::attempt_io::AttemptIo;
use crate::drive::failed::Quotable;
use crate::drive::hub::Hub;
use crate::drive::in_force::Rung;
use crate::drive::log::{AttemptEnding, AttemptLog, RequestLog};
use crate::drive::operator_state::{Answer, AnswerReceiver};
use crate::provider::{Ask, Call};
use crate::wall;
use bytes::BytesMut;
use dialect::answer::{AnswerReader, AnswerSpec, Form};
use dialect::neutral::{Degrade, Target};
use dialect::request::ClientRequest;
use http::HeaderMap;
use policy::operator::{Refused, check_reason};
use policy::outcome::judge;
use policy::{AttemptId, Time};
use record::{AttemptStart, RequestStart, millis};
use shared::RefusedReason;
use shared::admin::actions::{About, Action, ActionKind, CheckAnswer};
use shared::admin::changes::ActionBody;
use shared::{AttemptKind, AttemptOutcome, Dialect, RequestOutcome};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long the first token is waited for, unless the config sets it.
const FIRST: Duration = policy::ladder::DEFAULT_TTFT;
/// Nor is the end of an answer of one word.
const WHOLE: Duration = Duration::from_secs(30);
const MOST_ANSWER: usize = 1024 * 1024;
const MOST_TEXT: usize = 160;

/// No limit of tokens: the field's name differs between models, and a refusal of it
/// would say nothing of the rung.
const QUESTION: &[u8] = br#"{"model":"check","stream":true,"messages":[{"role":"user","content":"Answer with the single word OK."}]}"#;

/// What came of it.
struct Found {
    outcome: AttemptOutcome,
    clock: Option<Duration>,
}

/// Calls `rung` once.
///
/// # Errors
/// There is no such rung.
pub fn check(hub: &Arc<Hub>, rung: &str, body: &ActionBody, by: &str) -> Result<Answer, Refused> {
    check_reason(&body.id, "reason", &body.reason)?;
    let index = hub.in_force().named.find_rung(rung)?;
    let Some(rung) = hub.rung(index) else {
        return Err(Refused::unknown(RefusedReason::UnknownRung, "rung", rung, &[]));
    };
    let about = About { rung: Some(rung.name.to_string()), ladder: None };
    let mut state = hub.operators.lock();
    if let Some(answer) = state.answered(&body.id, ActionKind::Check, |a| a.about == about)? {
        return Ok(answer);
    }
    let action = Action { about, ..new_action(ActionKind::Check, &body.id, &body.reason, by) };
    let (tell, told): (_, AnswerReceiver) = watch::channel(None);
    state.keep(action.clone(), told.clone());
    drop(state);
    let hub = Arc::clone(hub);
    // A task of its own: after a hang-up the result is found under its id.
    tokio::spawn(async move { run_check(&hub, &rung, action, tell).await });
    Ok(Answer(told))
}

/// How long its users would wait for it, at the most: what takes longer is not well.
fn first_clock(hub: &Hub, rung: &Rung) -> Duration {
    let in_force = hub.in_force();
    let ladders = in_force.ladders.iter().map(|ladder| &ladder.spec);
    let own = ladders.filter(|spec| spec.rungs.contains(&rung.index));
    let own = own.map(|spec| spec.ttft.unwrap_or(FIRST)).max();
    rung.spec.ttft.or(own).unwrap_or(FIRST)
}

async fn run_check(
    hub: &Arc<Hub>,
    rung: &Arc<Rung>,
    mut action: Action,
    tell: watch::Sender<Option<Arc<str>>>,
) {
    let started = wall::now();
    let Ok(request) = ClientRequest::parse(Dialect::OpenaiChat, QUESTION) else { return };
    let start = RequestStart {
        id: wall::request_id(),
        at: action.at,
        client: None,
        ladder: None,
        model: Some(rung.model.as_str().into()),
        stream: true,
    };
    let mut io = io(hub, rung, &request, &start, started);
    let Found { outcome, clock } = follow(&mut io, first_clock(hub, rung), started).await;
    let now = wall::now();
    let facts = io.reader.facts();
    let ending = AttemptEnding { outcome, cause: None, clock, verdict: None, stream_verdict: None };
    let prompt_tokens = request.needs().prompt_tokens;
    let end = io.log.end(now, ending, rung, facts, prompt_tokens);
    let answer = CheckAnswer {
        id: action.id.clone(),
        at: action.at,
        by: action.by.clone(),
        rung: rung.name.to_string(),
        kind: AttemptKind::Check,
        outcome,
        status: end.status,
        ttft_ms: end.ttft.map(millis),
        latency_ms: end.latency.map_or(0, millis),
        text: text(&io, rung, end.detail.as_deref()),
        journaled: false,
    };
    let mut log = RequestLog::new(start, started);
    log.attempts.push(end);
    log.first_token = io.log.first_token;
    log.events = io.log.events;
    let is_good = outcome == AttemptOutcome::Ok;
    log.answered = is_good.then_some(1);
    log.status = io.log.status;
    let ended = if is_good { RequestOutcome::Ok } else { RequestOutcome::Failed };
    let _its_own_commit_is_not_waited_for = hub.journal.end(log.end(ended, None, Vec::new()));
    match io.call.take() {
        Some(call) if is_good => call.finish(),
        cut => drop(cut),
    }
    action.check = Some(answer.clone());
    hub.operators.lock().update(&action);
    announce(&hub.feed, &hub.in_force().named, &Announced::Action(Box::new(action.clone())));
    record_later(hub, action, move |journaled| CheckAnswer { journaled, ..answer.clone() }, tell);
}

fn io(
    hub: &Hub,
    rung: &Arc<Rung>,
    request: &ClientRequest,
    start: &RequestStart,
    started: Time,
) -> AttemptIo {
    let attempt = AttemptStart {
        request: start.id,
        n: 1,
        rung: Arc::clone(&rung.name),
        place: rung.index.0,
        kind: AttemptKind::Check,
        probe: false,
        at: start.at,
    };
    let spec = AnswerSpec {
        from: rung.provider.dialect(),
        to: Dialect::OpenaiChat,
        request: start.id,
        created: start.at.0 / 1000,
        form: Form::Stream,
        wants_usage: false,
        choices: 1,
        finishes: false,
        max_event: hub.in_force().config.server.max_event,
        max_answer: MOST_ANSWER,
    };
    let target = Target {
        model: &rung.model,
        max_output: rung.spec.max_output,
        ask_usage: rung.ask_usage,
        system: None,
        degrade: Degrade::default(),
        again: None,
    };
    let call = match request.upstream(rung.provider.dialect(), &target) {
        Ok(upstream) => rung.provider.call(Ask {
            endpoint: request.endpoint(),
            model: &rung.model,
            body: upstream.body.into(),
            along: &HeaderMap::new(),
            max_answer: MOST_ANSWER,
            once: false,
        }),
        Err(unable) => Call::unable(&unable.field),
    };
    AttemptIo {
        id: AttemptId(1),
        seat: None,
        counted: true,
        composing: None,
        call: Some(call),
        rung: Arc::clone(rung),
        reader: AnswerReader::new(spec),
        held: BytesMut::new(),
        max_held: MOST_ANSWER,
        counted_held: hub.load.holds_nothing(),
        most_held: usize::MAX,
        added: false,
        error: None,
        schema: None,
        later: None,
        wrong: None,
        may_answer: false,
        log: AttemptLog::new(attempt, started),
    }
}

/// Listens until it is over, or its time is.
async fn follow(io: &mut AttemptIo, first: Duration, started: Time) -> Found {
    let mut had_token = false;
    loop {
        let limit = if had_token { WHOLE.max(first) } else { first };
        let news = std::future::poll_fn(|cx| io.poll_news(cx, None, &Quotable::Own));
        let Ok(news) = tokio::time::timeout_at(wall::instant(started.plus(limit)), news).await
        else {
            let outcome =
                if had_token { AttemptOutcome::Deadline } else { AttemptOutcome::TtftTimeout };
            return Found { outcome, clock: Some(limit) };
        };
        had_token |= news.token.is_some();
        if let Some(ending) = news.ended {
            return Found { outcome: judge(&ending, had_token), clock: None };
        }
    }
}

/// The provider's words on a failure, without keys and hosts; else the relay's own words.
fn text(io: &AttemptIo, rung: &Rung, detail: Option<&str>) -> Option<String> {
    let said = io.error.as_ref().map(|error| rung.provider.redact(&error.message));
    let said = said.filter(|said| !said.is_empty()).or_else(|| detail.map(str::to_owned))?;
    let one_line = said.chars().map(|c| if c.is_control() { ' ' } else { c });
    Some(one_line.take(MOST_TEXT).collect())
}
