//! The outcome table: what each outcome means for the walk and for the client.
//!
//! A rule that is a table is written as one.

use shared::AttemptOutcome;

/// Whether the same rung is called again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Never.
    Never,
    /// While it has retries left.
    Retries,
    /// Once its hold has ended, if that is soon.
    AfterHold,
    /// Once, with the problem of its answer added to the request.
    Once,
}

/// Whether the next rung is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Never: every other rung would answer the same.
    Never,
    /// Yes.
    Yes,
    /// Only rungs with a larger context.
    LargerContext,
    /// As the rung's `on_empty` says.
    OnEmpty,
    /// As the rung's `on_refusal` says.
    OnRefusal,
    /// Only while nothing has reached the client: never for a committed stream.
    Uncommitted,
}

/// The client's error if no rung answers, from the highest rank to the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The request itself is wrong.
    Terminal,
    /// Too many requests.
    RateLimited,
    /// No capacity.
    Unavailable,
    /// Silence.
    Timeout,
    /// Everything else.
    BadGateway,
}

/// An outcome's verdict on its rung's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// None: it was the client's fault, ours, or no one's.
    Nothing,
    /// The stream was good to its end.
    Good,
    /// Bad, before the first token.
    Bad,
    /// The stream broke after its first token.
    StreamBad,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Whether the same rung is called again.
    pub again: Again,
    /// Whether the next rung is called.
    pub next: Next,
    /// The rank of the client's error.
    pub rank: Rank,
    /// Its verdict on the rung.
    pub verdict: Verdict,
}

/// The row of `outcome`.
#[must_use]
pub const fn row(outcome: AttemptOutcome) -> Row {
    use AttemptOutcome as O;
    let (again, next, rank) = match outcome {
        O::Ok => (Again::Never, Next::Never, Rank::BadGateway),
        O::Empty => (Again::Never, Next::OnEmpty, Rank::BadGateway),
        O::Refused => (Again::Never, Next::OnRefusal, Rank::Terminal),
        O::Invalid => (Again::Once, Next::Yes, Rank::BadGateway),
        O::BadRequest => (Again::Never, Next::Never, Rank::Terminal),
        O::ContextExceeded => (Again::Never, Next::LargerContext, Rank::Terminal),
        O::Auth => (Again::Never, Next::Yes, Rank::BadGateway),
        O::RateLimited => (Again::AfterHold, Next::Yes, Rank::RateLimited),
        O::Overloaded => (Again::Retries, Next::Yes, Rank::Unavailable),
        O::ServerError | O::Connect => (Again::Retries, Next::Yes, Rank::BadGateway),
        O::Junk => (Again::Never, Next::Yes, Rank::BadGateway),
        O::TtftTimeout => (Again::Never, Next::Yes, Rank::Timeout),
        O::Stall => (Again::Never, Next::Uncommitted, Rank::Timeout),
        O::Disconnect | O::StreamError => (Again::Never, Next::Uncommitted, Rank::BadGateway),
        O::Deadline => (Again::Never, Next::Never, Rank::Timeout),
        O::Cancelled | O::Interrupted => (Again::Never, Next::Never, Rank::BadGateway),
    };
    let verdict = match outcome {
        O::Ok | O::Refused => Verdict::Good,
        O::Overloaded | O::ServerError | O::Connect | O::Junk | O::TtftTimeout => Verdict::Bad,
        O::Stall | O::Disconnect | O::StreamError => Verdict::StreamBad,
        O::Empty
        | O::Invalid
        | O::BadRequest
        | O::ContextExceeded
        | O::Auth
        | O::RateLimited
        | O::Deadline
        | O::Cancelled
        | O::Interrupted => Verdict::Nothing,
    };
    Row { again, next, rank, verdict }
}
