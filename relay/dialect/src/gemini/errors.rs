//! The error table for Gemini. Its `status` is a word, which is read as the error's type.

use crate::errors::rows::{Field, Row, When, hint, row};
use shared::Signature;

const REQUEST: When = When::Statuses(&[400, 403, 413]);
/// The statuses for an object of the request that does not exist or cannot be used.
const OBJECT: When = When::Statuses(&[400, 403, 404]);
const SERVER: When = When::Statuses(&[500, 502, 503, 504]);

/// The table.
pub const GEMINI: &[Row] = {
    use Field::{Message, Reason, Type};
    use Signature::{Auth, BadRequest, ContextExceeded, Overloaded, RateLimited, ServerError};
    use When::{Always, InStream};
    &[
        row(REQUEST, Message, "exceeds the maximum number of tokens allowed", ContextExceeded),
        row(REQUEST, Message, "input token count", ContextExceeded),
        // A file or a cache that the request names.
        row(OBJECT, Message, "access the file", BadRequest),
        row(OBJECT, Message, "cachedcontent", BadRequest),
        row(OBJECT, Message, "cached content", BadRequest),
        // A bad key is a 400 like any other.
        row(REQUEST, Reason, "api_key_invalid", Auth),
        row(REQUEST, Message, "api key not valid", Auth),
        row(REQUEST, Message, "api key expired", Auth),
        row(REQUEST, Message, "api key not found", Auth),
        row(Always, Message, "billing account", Auth),
        row(Always, Message, "prepayment credits are depleted", Auth),
        row(SERVER, Message, "overloaded", Overloaded),
        // Inside a 200 there are only these words, beside a code.
        row(InStream, Type, "unavailable", Overloaded),
        row(InStream, Type, "resource_exhausted", RateLimited),
        row(InStream, Type, "unauthenticated", Auth),
        hint(InStream, Type, "permission_denied", Auth),
        hint(InStream, Type, "not_found", Auth),
        row(InStream, Type, "invalid_argument", BadRequest),
        row(InStream, Type, "failed_precondition", BadRequest),
        row(InStream, Type, "out_of_range", BadRequest),
        row(InStream, Type, "deadline_exceeded", ServerError),
        row(InStream, Type, "internal", ServerError),
        row(InStream, Type, "unknown", ServerError),
        row(InStream, Type, "server_error", ServerError),
    ]
};
