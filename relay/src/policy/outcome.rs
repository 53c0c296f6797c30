//! From what was seen on the wire to the outcome of an attempt.

use crate::policy::input::{Answer, Break, Ending, NoHead};
use shared::{AttemptOutcome, Signature};

/// Judges how an attempt ended; `had_token` tells whether it had brought one.
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

/// Whether the relay itself is to blame for it: then it says nothing about the rung.
/// `stood_still` tells whether the relay did so during the attempt.
#[must_use]
pub const fn is_own_fault(ending: &Ending, stood_still: bool) -> bool {
    match ending {
        Ending::NoHead(NoHead::OwnFault) => true,
        Ending::NoHead(NoHead::ConnectTimeout) => stood_still,
        _ => false,
    }
}

/// Whether it says nothing about the rung, whatever its outcome: the relay is to blame, a
/// connection had been closed while it was idle, or the provider closed while a large body was being sent, which it may do only to refuse that body.
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
        // One that was cut at its limit would be cut anywhere: that is what was asked for.
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

const fn by_status(status: u16) -> AttemptOutcome {
    match status {
        400 | 413 | 422 | 431 => AttemptOutcome::BadRequest,
        401..=405 | 410 | 451 => AttemptOutcome::Auth,
        429 => AttemptOutcome::RateLimited,
        503 | 529 => AttemptOutcome::Overloaded,
        408 | 409 | 500..=599 => AttemptOutcome::ServerError,
        // Redirects are not followed; anything else is no answer of a provider.
        _ => AttemptOutcome::Junk,
    }
}
