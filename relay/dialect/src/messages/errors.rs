//! The error table for Anthropic. Its types are as clear as statuses.

use crate::errors::rows::{Field, Row, When, hint, row};
use shared::Signature;

const REQUEST: When = When::Statuses(&[400, 413, 422]);
const MISSING: When = When::Statuses(&[400, 404]);
const SERVER: When = When::Statuses(&[500, 502, 503, 504, 529]);

/// The table.
pub const ANTHROPIC_MESSAGES: &[Row] = {
    use Field::{Message, Type};
    use Signature::{Auth, BadRequest, ContextExceeded, Overloaded, RateLimited, ServerError};
    use When::{Always, InStream};
    &[
        row(REQUEST, Message, "prompt is too long", ContextExceeded),
        row(REQUEST, Message, "exceed context limit", ContextExceeded),
        row(REQUEST, Message, "context window", ContextExceeded),
        row(REQUEST, Message, "input is too long", ContextExceeded),
        // A file of the conversation does not exist: the request is wrong.
        row(MISSING, Message, "file not found", BadRequest),
        row(MISSING, Message, "container", BadRequest),
        row(MISSING, Message, "does not support", BadRequest),
        // Our account, under whatever status: a spend limit is a 400 or a 429.
        row(Always, Type, "billing_error", Auth),
        row(Always, Message, "credit balance is too low", Auth),
        row(Always, Message, "reached your specified api usage limits", Auth),
        row(Always, Message, "spend limit", Auth),
        row(SERVER, Type, "overloaded_error", Overloaded),
        row(SERVER, Message, "overloaded", Overloaded),
        // Inside a 200 there is only the type; elsewhere the status tells it.
        row(InStream, Type, "rate_limit_error", RateLimited),
        row(InStream, Type, "authentication_error", Auth),
        hint(InStream, Type, "permission_error", Auth),
        hint(InStream, Type, "not_found_error", Auth),
        row(InStream, Type, "request_too_large", BadRequest),
        row(InStream, Type, "invalid_request_error", BadRequest),
        row(InStream, Type, "timeout_error", ServerError),
        row(InStream, Type, "api_error", ServerError),
    ]
};
