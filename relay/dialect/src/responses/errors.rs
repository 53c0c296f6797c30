//! The errors that servers of responses have besides those of chat completions.

use crate::errors::rows::{Field, Row, When, row};
use shared::Signature;

const REQUEST: When = When::Statuses(&[400, 403, 413, 422]);

const MISSING: When = When::Statuses(&[400, 404]);

/// The table; that of chat completions follows it.
pub const OPENAI_RESPONSES: &[Row] = {
    use Field::{Code, Message};
    use Signature::{BadRequest, ContextExceeded, Overloaded, RateLimited, Refused};
    use When::InStream;
    &[
        row(REQUEST, Message, "exceeds the context window", ContextExceeded),
        // An item of the conversation does not exist: the request is wrong, not our account.
        row(MISSING, Message, "with id", BadRequest),
        row(MISSING, Message, "previous response", BadRequest),
        row(MISSING, Code, "previous_response_not_found", BadRequest),
        row(REQUEST, Code, "bio_policy", Refused),
        row(REQUEST, Code, "cyber_policy", Refused),
        row(InStream, Code, "server_is_overloaded", Overloaded),
        row(InStream, Code, "slow_down", Overloaded),
        row(InStream, Code, "rate_limit_exceeded", RateLimited),
        row(InStream, Code, "invalid_prompt", BadRequest),
    ]
};
