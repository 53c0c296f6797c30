//! The error table for servers that speak chat completions, whatever vendor is behind them.
//!
//! The first match wins, so narrow rows are above wide ones. Vendors behind a compatible gateway
//! pass their own words through, so those of Anthropic, Google, Cohere and Bedrock are here as
//! well.

use crate::errors::rows::{Field, Row, When, hint, row};
use shared::Signature;

/// The statuses that are used for "your prompt is too long"; 403 is Together's.
const REQUEST: When = When::Statuses(&[400, 403, 413, 422]);
/// The statuses for something that does not exist or is not supported.
const MISSING: When = When::Statuses(&[404, 405]);
/// The statuses that are used for a broken server.
const SERVER: When = When::Statuses(&[500, 502, 503, 504, 529]);

/// The table.
pub const OPENAI_CHAT: &[Row] = {
    use Field::{Code, Message, Type};
    use Signature::{
        Auth, BadRequest, ContextExceeded, Overloaded, RateLimited, Refused, ServerError,
    };
    use When::{Always, InStream};
    &[
        row(REQUEST, Code, "context_length_exceeded", ContextExceeded),
        row(REQUEST, Type, "exceed_context_size", ContextExceeded),
        row(REQUEST, Message, "exceeds the available context size", ContextExceeded),
        row(REQUEST, Type, "too_many_tokens", ContextExceeded),
        row(REQUEST, Type, "too_many_prompt_tokens", ContextExceeded),
        row(REQUEST, Message, "maximum context length", ContextExceeded),
        row(REQUEST, Message, "max context length", ContextExceeded),
        row(REQUEST, Message, "context window", ContextExceeded),
        row(REQUEST, Message, "prompt is too long", ContextExceeded),
        row(REQUEST, Message, "prompt too long", ContextExceeded),
        row(REQUEST, Message, "exceeds the maximum number of tokens allowed", ContextExceeded),
        row(REQUEST, Message, "input tokens exceeded", ContextExceeded),
        row(REQUEST, Message, "too many tokens: size limit exceeded", ContextExceeded),
        row(REQUEST, Code, "content_filter", Refused),
        row(REQUEST, Code, "content_policy_violation", Refused),
        row(REQUEST, Code, "moderation_blocked", Refused),
        row(REQUEST, Message, "content management policy", Refused),
        row(REQUEST, Message, "flagged by moderation", Refused),
        row(REQUEST, Message, "requires moderation", Refused),
        // Something that the request names or needs does not exist here: another rung may have it.
        row(MISSING, Message, "no such file", BadRequest),
        row(MISSING, Message, "file not found", BadRequest),
        row(MISSING, Message, "no file found", BadRequest),
        row(MISSING, Message, "image not found", BadRequest),
        row(MISSING, Message, "no endpoints found that", BadRequest),
        row(MISSING, Message, "does not support", BadRequest),
        row(MISSING, Message, "do not support", BadRequest),
        row(MISSING, Message, "not supported by", BadRequest),
        // Our account, under whatever status.
        row(Always, Code, "insufficient_quota", Auth),
        row(Always, Type, "insufficient_quota", Auth),
        row(Always, Code, "credit_balance_exhausted", Auth),
        row(Always, Code, "spend_limit_exceeded", Auth),
        row(Always, Code, "billing_hard_limit_reached", Auth),
        row(Always, Type, "billing_error", Auth),
        row(Always, Code, "invalid_api_key", Auth),
        // A tool of the request may name a model, too.
        hint(Always, Code, "model_not_found", Auth),
        hint(Always, Code, "deploymentnotfound", Auth),
        row(Always, Message, "credit balance is too low", Auth),
        row(Always, Message, "insufficient balance", Auth),
        row(Always, Message, "reached your specified api usage limits", Auth),
        row(REQUEST, Message, "incorrect api key", Auth),
        row(REQUEST, Message, "invalid api key", Auth),
        row(REQUEST, Message, "api key not valid", Auth),
        row(REQUEST, Message, "api key expired", Auth),
        row(REQUEST, Type, "throttling", RateLimited),
        row(SERVER, Type, "overloaded", Overloaded),
        row(SERVER, Code, "overloaded", Overloaded),
        row(SERVER, Message, "overloaded", Overloaded),
        // Inside a 200 there are only these words; elsewhere the status tells it.
        row(InStream, Type, "unavailable", Overloaded),
        row(InStream, Code, "service_unavailable", Overloaded),
        row(InStream, Type, "rate_limit", RateLimited),
        row(InStream, Code, "rate_limit", RateLimited),
        row(InStream, Code, "ratelimit", RateLimited),
        row(InStream, Type, "too_many_requests", RateLimited),
        row(InStream, Type, "resource_exhausted", RateLimited),
        row(InStream, Type, "authentication_error", Auth),
        hint(InStream, Type, "permission", Auth),
        hint(InStream, Type, "not_found", Auth),
        row(InStream, Type, "invalid_request", BadRequest),
        row(InStream, Type, "invalid_argument", BadRequest),
        row(InStream, Type, "badrequest", BadRequest),
        row(InStream, Type, "server_error", ServerError),
        row(InStream, Type, "api_error", ServerError),
        row(InStream, Type, "internal", ServerError),
        row(InStream, Type, "timeout", ServerError),
        row(InStream, Code, "server_error", ServerError),
    ]
};
