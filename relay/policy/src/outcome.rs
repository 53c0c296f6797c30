//! Derives an attempt's outcome from what happened on the wire.

use crate::input::{Answer, Break, Ending, NoHead};
use shared::{AttemptOutcome, Signature};
use std::ops::RangeInclusive;

/// The outcome of an attempt that ended so; `had_token`: whether a token had come.
#[must_use]
pub fn judge(ending: &Ending, had_token: bool) -> AttemptOutcome {
    match ending {
        Ending::Proper(answer) => judge_answer(*answer),
        Ending::Broken(broken) => judge_break(*broken, had_token),
        Ending::ErrorEvent { .. } if had_token => AttemptOutcome::StreamError,
        // An error inside a 200 is classed as the same error by status would be.
        Ending::ErrorEvent { signature, .. } => {
            signature.map_or(AttemptOutcome::ServerError, by_signature)
        }
        Ending::Status { status, signature, .. } => {
            signature.map_or_else(|| by_status(*status), by_signature)
        }
        Ending::NoHead(_) => AttemptOutcome::Connect,
    }
}

/// Whether the relay itself caused the ending: then it is no evidence about the rung.
/// `stood_still`: whether the relay was blocked during the attempt.
#[must_use]
pub const fn is_own_fault(ending: &Ending, stood_still: bool) -> bool {
    match ending {
        Ending::NoHead(NoHead::OwnFault) => true,
        Ending::NoHead(NoHead::ConnectTimeout) => stood_still,
        _ => false,
    }
}

/// Whether the ending is no evidence about the rung, whatever its outcome: the relay caused it, an
/// idle connection had been closed, or the provider closed the connection while a large body was
/// being sent, which may only mean that it refuses that body.
#[must_use]
pub const fn is_excused(ending: &Ending, stood_still: bool) -> bool {
    is_own_fault(ending, stood_still)
        || matches!(ending, Ending::NoHead(NoHead::Stale | NoHead::NotTaken))
}

/// Judges an answer that came to its proper end.
#[must_use]
pub const fn judge_answer(answer: Answer) -> AttemptOutcome {
    match answer {
        Answer { refused: true, .. } => AttemptOutcome::Refused,
        // A length limit of a few tokens can be used up before any text.
        Answer { content: false, length: false, .. } => AttemptOutcome::Empty,
        // An answer that ended at its length limit would end there on every rung: the request asked
        // for that limit.
        Answer { invalid: true, length: false, .. } => AttemptOutcome::Invalid,
        Answer { .. } => AttemptOutcome::Ok,
    }
}

const fn judge_break(broken: Break, had_token: bool) -> AttemptOutcome {
    match (broken, had_token) {
        (_, false) => AttemptOutcome::Junk,
        (Break::EndOfBody | Break::Reset, true) => AttemptOutcome::Disconnect,
        (Break::TooLarge | Break::Malformed | Break::NotTheDialect, true) => {
            AttemptOutcome::StreamError
        }
    }
}

const fn by_signature(signature: Signature) -> AttemptOutcome {
    match signature {
        Signature::Auth => AttemptOutcome::Auth,
        Signature::ContextExceeded => AttemptOutcome::ContextExceeded,
        Signature::Refused => AttemptOutcome::Refused,
        Signature::BadRequest => AttemptOutcome::BadRequest,
        Signature::RateLimited => AttemptOutcome::RateLimited,
        Signature::Overloaded => AttemptOutcome::Overloaded,
        Signature::ServerError => AttemptOutcome::ServerError,
    }
}

/// What a status is about, beyond its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// This call, and nothing beyond it.
    Call,
    /// Something that this rung does not have or do: another rung may serve the same request.
    Rung,
    /// Our account, with certainty.
    Account,
    /// About our account or about the request: one such ending is not enough.
    Unclear,
}

/// The outcome by status, if no matcher fits. The first row that fits counts.
const STATUSES: &[(RangeInclusive<u16>, AttemptOutcome, About)] = {
    use About::{Account, Call, Rung, Unclear};
    use AttemptOutcome as O;
    &[
        (400..=400, O::BadRequest, Call),
        (401..=401, O::Auth, Account),
        (402..=404, O::Auth, Unclear),
        (405..=405, O::BadRequest, Rung),
        (408..=409, O::ServerError, Call),
        (410..=410, O::Auth, Unclear),
        (413..=413, O::BadRequest, Call),
        (422..=422, O::BadRequest, Call),
        (429..=429, O::RateLimited, Call),
        (431..=431, O::BadRequest, Call),
        (451..=451, O::Auth, Unclear),
        (503..=503, O::Overloaded, Call),
        (529..=529, O::Overloaded, Call),
        (500..=599, O::ServerError, Call),
        // Redirects are not followed; anything else is no answer of a provider.
        (0..=u16::MAX, O::Junk, Call),
    ]
};

fn status_row(status: u16) -> (AttemptOutcome, About) {
    let row = STATUSES.iter().find(|(statuses, ..)| statuses.contains(&status));
    row.map_or((AttemptOutcome::Junk, About::Call), |(_, outcome, of)| (*outcome, *of))
}

fn by_status(status: u16) -> AttemptOutcome {
    status_row(status).0
}

/// Whether an ending with the outcome `auth` may be about the request instead of our account. A
/// 401 is certain, and so is a code or type of error that names the account.
#[must_use]
pub fn is_suspicion(ending: &Ending) -> bool {
    match ending {
        Ending::Status { status, signature: None, .. } => status_row(*status).1 == About::Unclear,
        Ending::Status { status, signature: Some(Signature::Auth), certain, .. } => {
            !certain && status_row(*status).1 != About::Account
        }
        Ending::ErrorEvent { signature: Some(Signature::Auth), certain, .. } => !certain,
        Ending::Status { .. }
        | Ending::ErrorEvent { .. }
        | Ending::Proper(_)
        | Ending::Broken(_)
        | Ending::NoHead(_) => false,
    }
}

/// Whether another rung may serve a request that was refused so: a 405, or a 404 about
/// something that the request names.
#[must_use]
pub fn is_of_this_rung(ending: &Ending) -> bool {
    let Ending::Status { status, signature, .. } = ending else { return false };
    match signature {
        None => status_row(*status).1 == About::Rung,
        Some(signature) => *signature == Signature::BadRequest && matches!(status, 404 | 405),
    }
}

/// What a provider refuses to our account, by its status: `credit`, `model` or `key`.
#[must_use]
pub const fn what_is_refused(status: Option<u16>) -> &'static str {
    match status {
        Some(402) => "credit",
        Some(404 | 405 | 410 | 451) => "model",
        _ => "key",
    }
}
