//! How an attempt, and how a request, ended: the closed sets.

use crate::words::words;

words! {
    /// How an attempt ended. Every attempt ends in exactly one of these.
    AttemptOutcome, "attempt outcome" {
        /// A proper end with content.
        Ok = "ok",
        /// A proper end without content.
        Empty = "empty",
        /// A content filter or a refusal, whatever text it had.
        Refused = "refused",
        /// The JSON-schema check failed.
        Invalid = "invalid",
        /// The provider says that the request is wrong.
        BadRequest = "bad_request",
        /// The prompt does not fit the model's context.
        ContextExceeded = "context_exceeded",
        /// The provider refused our own account: key, credit, permission, model.
        Auth = "auth",
        /// 429.
        RateLimited = "rate_limited",
        /// 503, 529, or overloaded inside a 200.
        Overloaded = "overloaded",
        /// Any other 5xx, 408, 409, or an error inside a 200.
        ServerError = "server_error",
        /// No response head: DNS, refused, TLS, timeout, closed without an answer.
        Connect = "connect",
        /// A 200 that is not the dialect, a redirect, an end before the first token.
        Junk = "junk",
        /// The first clock ran out.
        TtftTimeout = "ttft_timeout",
        /// The second clock ran out.
        Stall = "stall",
        /// The stream broke, or ended without its proper end.
        Disconnect = "disconnect",
        /// An error event, a protocol violation or an event over the limit, after the first token.
        StreamError = "stream_error",
        /// The third clock ran out.
        Deadline = "deadline",
        /// Cut by the relay or because of the client; the cause says which.
        Cancelled = "cancelled",
        /// The relay died while the attempt ran; written at the next start.
        Interrupted = "interrupted",
    }
}

words! {
    /// How a request ended.
    RequestOutcome, "request outcome" {
        /// The client has the whole answer.
        Ok = "ok",
        /// The client has a refusal.
        Refused = "refused",
        /// The request was wrong (4xx).
        Rejected = "rejected",
        /// No rung could serve it, or none was usable.
        NoCandidate = "no_candidate",
        /// Every attempt failed.
        Failed = "failed",
        /// The third clock ran out.
        Deadline = "deadline",
        /// The client went, stalled, or the relay was told to stop.
        Cancelled = "cancelled",
        /// The relay died while the request ran.
        Interrupted = "interrupted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for outcome in AttemptOutcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(*outcome));
        }
        for outcome in RequestOutcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(*outcome));
        }
        assert!("fine".parse::<AttemptOutcome>().is_err());
    }
}
