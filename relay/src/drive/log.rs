//! The journal's record of a request: kept while it runs, written at its end.

use super::in_force::Rung;
use crate::provider::redact::is_plain_name;
use crate::wall;
use dialect::answer::Facts;
use policy::Time;
use record::{AttemptEnd, AttemptStart, CostUnknown, PassedRung, RequestEnd, RequestStart, millis};
use shared::{
    AttemptOutcome, Cause, NanoUsd, RequestId, RequestOutcome, StreamVerdict, TokenVerdict,
    UnixMillis, Usage,
};
use std::sync::Arc;
use std::time::Duration;

/// The longest `model` that is kept of a client's request.
const LONGEST_MODEL: usize = 128;

/// Bytes of text per token, for estimates; true of English within a third.
const BYTES_PER_TOKEN: u64 = 4;

/// No call has so many tokens: a larger count is not believed, or one such
/// row would ruin every sum.
const MOST_TOKENS: u64 = 1_000_000_000;

/// How an attempt ended, from the walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttemptEnding {
    pub(super) outcome: AttemptOutcome,
    pub(super) cause: Option<Cause>,
    pub(super) clock: Option<Duration>,
    pub(super) verdict: Option<TokenVerdict>,
    pub(super) stream_verdict: Option<StreamVerdict>,
}

/// One attempt's measurements.
#[derive(Debug)]
pub(super) struct AttemptLog {
    pub(super) start: AttemptStart,
    pub(super) dialled: Time,
    pub(super) headers: Option<Time>,
    pub(super) first_token: Option<Time>,
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) status: Option<u16>,
    pub(super) detail: Option<String>,
    /// Parts of the request that were left out for its rung.
    pub(super) left_out: Vec<&'static str>,
}

impl AttemptLog {
    pub(super) fn new(start: AttemptStart, dialled: Time) -> Self {
        Self {
            start,
            dialled,
            headers: None,
            first_token: None,
            events: 0,
            bytes: 0,
            status: None,
            detail: None,
            left_out: Vec::new(),
        }
    }

    /// The final row.
    pub(super) fn end(
        &self,
        now: Time,
        ending: AttemptEnding,
        rung: &Rung,
        facts: &Facts,
        prompt_tokens: u64,
    ) -> AttemptEnd {
        let AttemptEnding { outcome, cause, clock, verdict, stream_verdict } = ending;
        let (usage, estimated) = self.usage(outcome, facts, prompt_tokens);
        let since = |at: Option<Time>| at.map(|at| at.since(self.dialled));
        let ran_out = clock.map(|clock| format!("the clock of {clock:?} ran out"));
        AttemptEnd {
            start: self.start.clone(),
            outcome,
            cause,
            detail: ran_out
                .or_else(|| self.detail.clone())
                .or_else(|| odd(outcome, facts, (!estimated).then_some(&usage))),
            status: self.status,
            verdict,
            stream_verdict,
            headers: since(self.headers),
            ttft: since(self.first_token),
            latency: Some(now.since(self.dialled)),
            events: self.events,
            bytes: self.bytes,
            usage,
            estimated,
            cost: cost(rung, &usage),
            left_out: self.left_out.clone(),
        }
    }

    /// What the provider said, or what it will have counted: refusals by status
    /// are free, a prompt that was sent is charged even where no token came. Counts that
    /// came before the end, as Anthropic's and Gemini's do, are not those of the whole.
    fn usage(&self, outcome: AttemptOutcome, facts: &Facts, prompt_tokens: u64) -> (Usage, bool) {
        let sane = |count: Option<u64>| count.is_none_or(|count| count <= MOST_TOKENS);
        let is_whole = facts.finish.is_some() || facts.done;
        let believed = |count: Option<u64>| count.filter(|count| sane(Some(*count)));
        let told = Usage {
            cached: believed(facts.usage.cached),
            cache_write: believed(facts.usage.cache_write),
            reasoning: believed(facts.usage.reasoning),
            ..facts.usage
        };
        // No prompt is empty, and text is no answer of none.
        let input = told.input.filter(|count| *count > 0);
        let says_nothing = facts.text_bytes == 0;
        let output = told.output.filter(|count| *count > 0 || says_nothing);
        let known = input.is_some() && output.is_some() && is_whole;
        if known && sane(told.input) && sane(told.output) {
            return (told, false);
        }
        let refused_unread =
            outcome == AttemptOutcome::Connect || self.status.is_some_and(|status| status != 200);
        if refused_unread {
            return (Usage { input: Some(0), output: Some(0), ..Usage::default() }, false);
        }
        let written = facts.text_bytes.div_ceil(BYTES_PER_TOKEN);
        let output = match believed(output) {
            Some(said) if is_whole => said,
            said => written.max(said.unwrap_or(0)),
        };
        let usage =
            Usage { input: believed(input).or(Some(prompt_tokens)), output: Some(output), ..told };
        (usage, true)
    }
}

/// Oddities of an answer without a fault, and of its counts `told`.
fn odd(outcome: AttemptOutcome, facts: &Facts, told: Option<&Usage>) -> Option<String> {
    let dropped = (facts.dropped > 0).then(|| format!("{} event(s) dropped", facts.dropped));
    let unfinished = (outcome == AttemptOutcome::Ok && facts.done && facts.finish.is_none())
        .then(|| "done without a finish reason".to_owned());
    // The cost takes no more of each part than there was of the whole.
    let beyond = |parts: u64, whole: Option<u64>| whole.is_some_and(|whole| parts > whole);
    let contradicts = told.is_some_and(|told| {
        let from_cache = told.cached.unwrap_or(0).saturating_add(told.cache_write.unwrap_or(0));
        beyond(from_cache, told.input) || beyond(told.reasoning.unwrap_or(0), told.output)
    });
    let counts = contradicts.then(|| "its token counts contradict each other".to_owned());
    let repaired = (facts.repaired > 0)
        .then(|| format!("{} event(s) put right for the client's SDK", facts.repaired));
    let all: Vec<String> = [dropped, repaired, unfinished, counts].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn cost(rung: &Rung, usage: &Usage) -> Result<NanoUsd, CostUnknown> {
    rung.price.ok_or(CostUnknown::NoPrice)?.cost(usage).ok_or(CostUnknown::NoUsage)
}

/// One request's measurements.
#[derive(Debug)]
pub(super) struct RequestLog {
    pub(super) start: RequestStart,
    pub(super) accepted: Time,
    pub(super) status: Option<u16>,
    pub(super) hedged: bool,
    /// The number of the attempt that the client belongs to, and its rung.
    pub(super) answered: Option<u32>,
    pub(super) answered_by: Option<Arc<str>>,
    pub(super) first_token: Option<Time>,
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) attempts: Vec<AttemptEnd>,
}

impl RequestLog {
    pub(super) fn new(start: RequestStart, accepted: Time) -> Self {
        Self {
            start,
            accepted,
            status: None,
            hedged: false,
            answered: None,
            answered_by: None,
            first_token: None,
            events: 0,
            bytes: 0,
            attempts: Vec::new(),
        }
    }

    fn ttft(&self) -> Option<Duration> {
        self.first_token.map(|at| at.since(self.accepted))
    }

    pub(super) fn ttft_ms(&self) -> Option<u64> {
        self.ttft().map(millis)
    }

    pub(super) fn latency_ms(&self) -> u64 {
        millis(wall::now().since(self.accepted))
    }

    /// The final row, with those of all attempts.
    pub(super) fn end(
        &mut self,
        outcome: RequestOutcome,
        cause: Option<Cause>,
        passed_over: Vec<PassedRung>,
    ) -> RequestEnd {
        RequestEnd {
            start: self.start.clone(),
            outcome,
            cause,
            status: self.status,
            answered: self.answered,
            hedged: self.hedged,
            ttft: self.ttft(),
            latency: Some(wall::now().since(self.accepted)),
            events: self.events,
            bytes: self.bytes,
            attempts: std::mem::take(&mut self.attempts),
            passed_over,
        }
    }
}

/// The record of a request that never walked: it was wrong, or not allowed.
#[must_use]
pub fn reject_record(
    id: RequestId,
    at: UnixMillis,
    client: Option<Arc<str>>,
    model: Option<&str>,
    stream: bool,
    status: u16,
) -> RequestEnd {
    // What is not the name of a model could be anything: a key, a prompt.
    let model = model.filter(|model| is_plain_name(model)).map(short);
    let start = RequestStart { id, at, client, ladder: None, model, stream };
    let mut log = RequestLog::new(start, wall::now());
    log.status = Some(status);
    RequestEnd {
        start: log.start,
        outcome: RequestOutcome::Rejected,
        cause: None,
        status: log.status,
        answered: None,
        hedged: false,
        ttft: None,
        latency: None,
        events: 0,
        bytes: 0,
        attempts: Vec::new(),
        passed_over: Vec::new(),
    }
}

/// A client's `model`, cut to what is kept.
pub(super) fn short(model: &str) -> Arc<str> {
    model.chars().take(LONGEST_MODEL).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::AttemptKind;

    /// What is booked for an answer of 40 bytes to a prompt taken to be 100 tokens long.
    fn booked(status: u16, facts: &Facts) -> (Option<u64>, Option<u64>, bool) {
        let start = AttemptStart {
            request: RequestId::from_number(1),
            n: 1,
            rung: "a".into(),
            place: 0,
            kind: AttemptKind::First,
            probe: false,
            at: UnixMillis(0),
        };
        let mut log = AttemptLog::new(start, Time::from_millis(0));
        log.status = Some(status);
        let (usage, estimated) = log.usage(AttemptOutcome::Disconnect, facts, 100);
        (usage.input, usage.output, estimated)
    }

    fn facts(input: Option<u64>, output: Option<u64>, finish: Option<&'static str>) -> Facts {
        let usage = Usage { input, output, ..Usage::default() };
        Facts { usage, finish, text_bytes: 40, ..Facts::default() }
    }

    #[test]
    fn counts_are_believed_once_the_answer_was_whole() {
        let whole = facts(Some(9), Some(3), Some("stop"));
        assert_eq!(booked(200, &whole), (Some(9), Some(3), false));
        let done = Facts { finish: None, done: true, ..whole };
        assert_eq!(booked(200, &done), (Some(9), Some(3), false));
    }

    #[test]
    fn counts_of_an_answer_that_was_cut_are_a_floor() {
        // Anthropic's first output count is 1, whatever follows.
        assert_eq!(booked(200, &facts(Some(9), Some(1), None)), (Some(9), Some(10), true));
        // Gemini counts what it thought, too, which nobody saw.
        assert_eq!(booked(200, &facts(Some(9), Some(70), None)), (Some(9), Some(70), true));
        assert_eq!(booked(200, &facts(None, None, None)), (Some(100), Some(10), true));
    }

    #[test]
    fn counts_that_cannot_be_are_estimated() {
        let none = facts(Some(0), Some(0), Some("stop"));
        assert_eq!(booked(200, &none), (Some(100), Some(10), true), "words of no tokens");
        let no_input = facts(Some(0), Some(3), Some("stop"));
        assert_eq!(booked(200, &no_input), (Some(100), Some(3), true), "no prompt is empty");
        let silent = Facts { text_bytes: 0, ..facts(Some(9), Some(0), Some("stop")) };
        assert_eq!(booked(200, &silent), (Some(9), Some(0), false), "nothing was said");
        let absurd = facts(Some(u64::MAX), Some(u64::MAX), Some("stop"));
        assert_eq!(booked(200, &absurd), (Some(100), Some(10), true));
    }

    #[test]
    fn what_is_odd_about_a_good_answer_is_told_once_for_each() {
        let whole = facts(Some(10), Some(5), Some("stop"));
        let of = |cached, written, reasoning| Usage {
            cached: Some(cached),
            cache_write: Some(written),
            reasoning: Some(reasoning),
            ..whole.usage
        };
        let said = |facts: &Facts, told: Option<Usage>| {
            odd(AttemptOutcome::Ok, facts, told.as_ref()).unwrap_or_default()
        };
        let counts = "its token counts contradict each other";
        for (told, text) in [
            (Some(of(6, 4, 5)), ""),
            (Some(of(6, 5, 5)), counts),
            (Some(of(11, 0, 5)), counts),
            (Some(of(6, 4, 6)), counts),
            // What the relay made up itself is no contradiction of the provider's.
            (None, ""),
        ] {
            assert_eq!(said(&whole, told), text, "{told:?}");
        }
        let unfinished = Facts { finish: None, done: true, dropped: 2, ..whole };
        let both = "2 event(s) dropped; done without a finish reason";
        assert_eq!(said(&unfinished, None), both);
        assert_eq!(
            odd(AttemptOutcome::Cancelled, &unfinished, None).as_deref(),
            Some("2 event(s) dropped")
        );
    }

    #[test]
    fn a_refusal_by_status_costs_nothing() {
        assert_eq!(booked(529, &facts(None, None, None)), (Some(0), Some(0), false));
    }
}
