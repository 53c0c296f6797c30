//! What is recorded of an attempt besides its outcome.

use crate::words::words;

words! {
    /// Why an attempt was made.
    AttemptKind, "attempt kind" {
        /// The walk's first call.
        First = "first",
        /// The same rung again.
        Retry = "retry",
        /// The next rung after a failure.
        Failover = "failover",
        /// Raced against a silent one.
        Hedge = "hedge",
        /// Rung one skipped on purpose.
        Drill = "drill",
        /// The one call made when every rung was passed over for its breaker.
        LastResort = "last_resort",
        /// An operator's, outside all traffic.
        Check = "check",
    }
}

words! {
    /// Why an attempt was cancelled.
    Cause, "cause" {
        /// Another attempt's first token came earlier.
        LostRace = "lost_race",
        /// The client closed its connection.
        ClientGone = "client_gone",
        /// The client stopped reading.
        ClientStalled = "client_stalled",
        /// An operator forced its rung open.
        Operator = "operator",
        /// The relay was told to stop.
        Drain = "drain",
        /// The request's own task failed inside the relay.
        RelayFault = "relay_fault",
    }
}

words! {
    /// Why a rung of the ladder was not called.
    PassedOver, "reason to pass a rung over" {
        /// The breaker is open.
        Open = "open",
        /// A Retry-After has not passed yet.
        Hold = "hold",
        /// An operator forced it open.
        Forced = "forced",
        /// It lacks a capability that the request needs.
        Capability = "capability",
        /// The prompt does not fit its context.
        Context = "context",
        /// The request asks for more output than it gives.
        MaxOutput = "max_output",
        /// Something in the request has no words in its dialect.
        Dialect = "dialect",
        /// Half-open, and its probe slot is taken.
        NoSlot = "no_slot",
    }
}

words! {
    /// What an attempt said, on its first token, about its rung's health.
    TokenVerdict, "verdict" {
        /// A token before the mark.
        Good = "good",
        /// The mark passed without a token.
        Slow = "slow",
        /// An error before the token.
        Bad = "bad",
    }
}

words! {
    /// What an attempt said, after its first token, about its rung's health.
    StreamVerdict, "stream verdict" {
        /// A proper end.
        Good = "good",
        /// A break.
        Bad = "bad",
    }
}
