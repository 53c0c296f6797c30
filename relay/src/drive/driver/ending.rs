//! How a request ends: the whole answer or the error, with its stamp and its record.

use super::{Driver, Phase};
use crate::config::Stamp;
use crate::drive::capture::MOST_ASKED;
use crate::drive::closing::Closing;
use crate::drive::failure_text::{Words, words};
use crate::drive::numbers::live_at;
use crate::drive::past::Gone;
use crate::drive::reply::{self, AskAgain, Out, Reply, error_reply};
use crate::wall;
use bytes::{Bytes, BytesMut};
use dialect::client_error::{BelayError, ClientError, error_event};
use dialect::stamp;
use http::{HeaderMap, HeaderValue, header};
use journal::{CaptureRecord, Commit};
use policy::{AttemptId, Failure, FailureReason, RungIndex};
use record::{AttemptEnd, PassedRung, cost_of};
use shared::{Cause, PassedOver, RequestOutcome};
use std::sync::Arc;

impl Driver {
    /// The relay's own headers, as far as they are known.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        reply::set_id(&mut headers, &self.log.start.id.to_string());
        if self.stamp == Stamp::None {
            return headers;
        }
        if let Some(ttft) = self.log.ttft_ms() {
            headers.insert(reply::TTFT_MS, HeaderValue::from(ttft));
        }
        if self.stamp == Stamp::Id {
            return headers;
        }
        if let Some(rung) = &self.log.answered_by {
            reply::set(&mut headers, reply::RUNG, rung);
        }
        headers.insert(reply::ATTEMPTS, HeaderValue::from(self.walk.attempts_made()));
        headers.insert(
            reply::HEDGED,
            HeaderValue::from_static(if self.log.hedged { "true" } else { "false" }),
        );
        headers
    }

    /// The answer is whole: its ending goes out once the record is safe.
    pub(super) fn complete(&mut self, id: AttemptId, outcome: RequestOutcome) {
        let Some(io) = self.attempts.iter_mut().find(|io| io.id == id) else { return };
        self.log.events = io.log.events;
        if self.request.stream() {
            let mut ending = io.reader.take_tail();
            let terminator = io.reader.take_terminator();
            self.keep_items(&terminator);
            ending.extend_from_slice(&terminator);
            self.keep_whole(&ending);
            self.push_stamp(outcome.as_str(), &mut ending);
            self.close(outcome, None, ending.freeze());
        } else {
            let body: Bytes = io.reader.take_whole().into();
            self.keep_items(&body);
            self.keep_whole(&body);
            self.log.status = Some(200);
            let mut headers = self.headers();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            self.stamp_headers(outcome.as_str(), &mut headers);
            self.answer(Reply { status: 200, headers, body }, outcome, None);
        }
    }

    /// Keeps what its client may refer to by ids: an answer, and its items.
    fn keep_items(&self, answer: &[u8]) {
        let items = self.request.kept_of(answer);
        if !items.is_empty() {
            self.relay.items.keep(wall::now(), &self.log.start.client, items);
        }
    }

    /// Hands the request and its whole answer over to be kept, if they are to be.
    fn keep_whole(&mut self, ending: &[u8]) {
        let Some(mut capture) = self.capture.take() else { return };
        // What stands before the ending has not gone out yet.
        capture.sent(&self.out);
        capture.sent(ending);
        if self.request.size() > MOST_ASKED {
            return;
        }
        let asked = self.request.json();
        let spec = self.answer_spec(self.request.dialect());
        let whole = capture.whole(spec).filter(|_| asked.len() <= MOST_ASKED);
        let (Some(answered), Ok(asked)) = (whole, String::from_utf8(asked)) else { return };
        let prompt = self.prompt.and_then(|prompt| self.ladder.prompts.get(prompt));
        self.relay.journal.capture(CaptureRecord {
            request: self.log.start.id,
            at: self.log.start.at,
            ladder: Arc::clone(&self.ladder.name),
            rung: self.log.answered_by.clone().unwrap_or_else(|| "".into()),
            dialect: self.request.dialect(),
            prompt: prompt.map(|prompt| prompt.name.clone()),
            asked,
            answered,
        });
    }

    pub(super) fn fail(&mut self, failure: &Failure) {
        let speaker = failure.answered_by.and_then(|id| {
            let io = self.attempts.iter().find(|io| io.id == id)?;
            let mut error = io.error.clone()?;
            let provider = &io.rung.provider;
            error.message = provider.redact(&error.message);
            error.param = error.param.map(|param| provider.redact(&param));
            error.code = error.code.map(|code| provider.redact(&code));
            Some(error)
        });
        let Words { message, kind, param, code, recoverable } =
            words(failure, self.request.model(), speaker.as_ref(), self.unsupported().as_deref());
        let request_id = self.log.start.id.to_string();
        let attempts = self.log.attempts.iter();
        let tried: Vec<_> =
            attempts.map(|a| (a.start.rung.to_string(), a.outcome.as_str())).collect();
        let tried = (self.stamp == Stamp::Full).then_some(&*tried);
        let outcome = match failure.reason {
            FailureReason::Broken(outcome) => outcome.as_str(),
            _ => failure.outcome.as_str(),
        };
        let belay = BelayError { request_id: &request_id, outcome, recoverable, tried };
        let error = ClientError {
            message: &message,
            kind,
            param: param.as_deref(),
            code: Some(&code),
            status: failure.status,
            request_id: &request_id,
            belay: Some(belay),
        };
        if self.head_sent {
            let mut ending = BytesMut::new();
            error_event(self.request.dialect(), &error, self.sequence(), &mut ending);
            self.push_stamp(outcome, &mut ending);
            self.close(failure.outcome, failure.cause, ending.freeze());
        } else {
            let interactive = self.ladder.spec.interactive;
            let again = failure.retry_after.map(|after| AskAgain { after, interactive });
            let mut reply = error_reply(self.request.dialect(), &error, again);
            reply.headers.extend(self.headers());
            self.stamp_headers(outcome, &mut reply.headers);
            self.log.status = Some(failure.status);
            self.answer(reply, failure.outcome, failure.cause);
        }
    }

    /// What some dialect on the ladder has no words for.
    fn unsupported(&self) -> Option<String> {
        let rungs = self.ladder.spec.rungs.iter().filter_map(|rung| self.in_force.rung(*rung));
        let mut dialects = rungs.map(|rung| rung.provider.dialect());
        dialects.find_map(|to| Some(self.request.supported_by(to).err()?.field))
    }

    /// The rungs that the plan left out, with what their dialect has no words for.
    fn passed_over(&self) -> Vec<PassedRung> {
        let passed = |&(place, reason): &(RungIndex, PassedOver)| {
            let rung = self.in_force.rung(place)?;
            let for_dialect = Some(rung.provider.dialect());
            let unable = for_dialect
                .filter(|_| reason == PassedOver::Dialect)
                .and_then(|dialect| self.request.supported_by(dialect).err());
            Some(PassedRung {
                rung: Arc::clone(&rung.name),
                place: place.0,
                reason,
                field: unable.map(|unable| plain_field(&unable.field)),
            })
        };
        self.walk.passed_over().iter().filter_map(passed).collect()
    }

    /// How many numbered events the client has had.
    fn sequence(&self) -> u64 {
        let io = self.attempts.iter().find(|io| Some(io.id) == self.committed);
        io.map_or(0, |io| io.reader.sequence())
    }

    /// What is known only at the end, as a comment in its block.
    fn push_stamp(&self, outcome: &str, out: &mut BytesMut) {
        if self.stamp != Stamp::None {
            stamp::comment(&self.stamped(outcome).to_string(), out);
        }
    }

    /// Tokens are the answer's; the cost is the request's, all that was tried for it.
    fn stamped(&self, outcome: &str) -> serde_json::Value {
        let is_full = self.stamp == Stamp::Full;
        let answer = self.answering();
        let cost = cost_of(&self.log.attempts).ok();
        let answer_estimated = answer.is_some_and(|attempt| attempt.estimated);
        let some_estimated = self.log.attempts.iter().any(|attempt| attempt.estimated);
        let mut stamp = serde_json::json!({
            "request_id": self.log.start.id,
            "rung": self.log.answered_by.as_deref(),
            "latency_ms": self.log.latency_ms(),
            "ttft_ms": self.log.ttft_ms(),
            "input_tokens": answer.and_then(|attempt| attempt.usage.input),
            "output_tokens": answer.and_then(|attempt| attempt.usage.output),
            "estimated": answer_estimated || (is_full && some_estimated),
            "cost_usd": cost.map(shared::NanoUsd::usd),
            "dropped": self.dropped().filter(|&dropped| dropped > 0),
            "outcome": outcome,
        });
        if let Some(members) = stamp.as_object_mut().filter(|_| !is_full) {
            members.retain(|key, _| !matches!(key.as_str(), "rung" | "cost_usd"));
        }
        stamp
    }

    /// Events of the answer that could not be read and were left out.
    fn dropped(&self) -> Option<u32> {
        let io = self.attempts.iter().find(|io| Some(io.id) == self.committed)?;
        Some(io.reader.facts().dropped)
    }

    /// The same as headers, for answers that are not streams.
    fn stamp_headers(&self, outcome: &str, headers: &mut HeaderMap) {
        if self.stamp == Stamp::None {
            return;
        }
        if let serde_json::Value::Object(stamp) = self.stamped(outcome) {
            for (key, value) in stamp {
                let name = format!("x-belay-{}", key.replace('_', "-"));
                let text = plain(&value);
                if let (false, Ok(name)) = (value.is_null(), name.parse::<header::HeaderName>()) {
                    reply::set(headers, name, &text);
                }
            }
        }
    }

    fn answering(&self) -> Option<&AttemptEnd> {
        let committed = self.committed?.0;
        self.log.attempts.iter().find(|attempt| attempt.start.n == committed)
    }

    fn close(&mut self, outcome: RequestOutcome, cause: Option<Cause>, ending: Bytes) {
        let ending = if self.out.is_empty() { self.after_beats(ending) } else { ending };
        self.log.bytes = self.log.bytes.saturating_add(ending.len() as u64);
        // What stands before the ending goes out first, so count it as sent.
        self.log.bytes = self.log.bytes.saturating_add(self.out.len() as u64);
        let commit = self.end_record(outcome, cause);
        self.phase = Phase::Closing(Closing::new(commit, Out::Bytes(ending)));
    }

    fn answer(&mut self, reply: Reply, outcome: RequestOutcome, cause: Option<Cause>) {
        self.log.bytes = reply.body.len() as u64;
        let commit = self.end_record(outcome, cause);
        self.phase = Phase::Closing(Closing::new(commit, Out::Answer(reply)));
    }

    pub(super) fn end_record(&mut self, outcome: RequestOutcome, cause: Option<Cause>) -> Commit {
        if self.log.events == 0 {
            let committed = self.committed;
            let io = self.attempts.iter().find(|io| Some(io.id) == committed);
            self.log.events = io.map_or(0, |io| io.log.events);
        }
        let record = self.log.end(outcome, cause, self.passed_over());
        self.relay.metrics.request(&record);
        if let Some(seat) = self.seat.take() {
            let at = live_at(wall::now());
            self.relay.live.ended(self.ladder.index.0, at, seat, &record);
        }
        self.relay.feed.request(|| record.row());
        let usage = record.answer().map(|attempt| attempt.usage).unwrap_or_default();
        let gone = Gone { at: record.start.at, need: self.need, usage };
        self.relay.past.keep(self.ladder.index, gone);
        self.relay.journal.end(record)
    }
}

/// A figure or a word as a header has it: no quotes, no exponent.
fn plain(value: &serde_json::Value) -> String {
    match (value.as_str(), value.as_f64().filter(|_| value.is_f64())) {
        (Some(text), _) => text.to_owned(),
        (None, Some(number)) => number.to_string(),
        (None, None) => value.to_string(),
    }
}

/// The name of a field, for the journal. Clients name fields as they like, so only what
/// looks like one of an API is passed on: no blanks, no capitals, no digits but in
/// brackets, as keys and sentences have them.
fn plain_field(name: &str) -> String {
    // What the relay itself has to say of a field follows its name.
    let field = name.split_once(": ").map_or(name, |(field, _)| field);
    let mut in_brackets = false;
    let is_plain = field.len() <= 40
        && field.chars().all(|c| {
            in_brackets = c == '[' || (in_brackets && c != ']');
            c.is_ascii_lowercase()
                || matches!(c, '_' | '.' | '[' | ']')
                || (in_brackets && c.is_ascii_digit())
        });
    if is_plain && !field.is_empty() { field.to_owned() } else { "a field".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_a_field_is_told() {
        for (name, told) in [
            ("logit_bias", "logit_bias"),
            ("tools[12].type", "tools[12].type"),
            ("messages: arguments that are no object", "messages"),
            ("sk-live-abc123def456", "a field"),
            ("sk_live_4eC39HqLyjWDarjtT1", "a field"),
            ("my password is hunter2", "a field"),
            ("", "a field"),
        ] {
            assert_eq!(plain_field(name), told);
        }
    }
}
