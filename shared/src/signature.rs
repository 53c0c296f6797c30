//! The meaning of a provider's own error, after its status and message are read.

use crate::words::words;

words! {
    /// The meaning of a provider's error.
    ///
    /// Providers reuse status codes, so the meaning comes from a table of
    /// matchers over the body; where none matches, the status speaks.
    Signature, "signature" {
        /// Our account is wrong: key, credit, permission, model name.
        Auth = "auth",
        /// The prompt does not fit the model's context.
        ContextExceeded = "context_exceeded",
        /// A content filter refused the prompt.
        Refused = "refused",
        /// The request itself is wrong.
        BadRequest = "bad_request",
        /// Too many requests or tokens for now.
        RateLimited = "rate_limited",
        /// The provider has no capacity.
        Overloaded = "overloaded",
        /// The provider failed.
        ServerError = "server_error",
    }
}
