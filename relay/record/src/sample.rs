//! Records for tests: with usual values, which a test changes where it needs others.

use crate::{AttemptEnd, AttemptStart, RequestEnd, RequestStart};
use shared::{AttemptKind, AttemptOutcome, NanoUsd, RequestId, RequestOutcome, UnixMillis, Usage};

/// The first attempt of request 1, on the rung `a` at place 0. It ended with `outcome`, before the
/// provider had sent anything.
#[must_use]
pub fn attempt(outcome: AttemptOutcome) -> AttemptEnd {
    let start = AttemptStart {
        request: RequestId::from_number(1),
        n: 1,
        rung: "a".into(),
        place: 0,
        kind: AttemptKind::First,
        probe: false,
        at: UnixMillis(5),
    };
    AttemptEnd {
        start,
        outcome,
        cause: None,
        detail: None,
        status: None,
        verdict: None,
        stream_verdict: None,
        headers: None,
        ttft: None,
        latency: None,
        events: 0,
        bytes: 0,
        usage: Usage::default(),
        estimated: false,
        cost: Ok(NanoUsd(0)),
        left_out: Vec::new(),
    }
}

/// Request 1 on the ladder `chat`: a stream that ended with `outcome` before any attempt was made.
#[must_use]
pub fn request(outcome: RequestOutcome) -> RequestEnd {
    let start = RequestStart {
        id: RequestId::from_number(1),
        at: UnixMillis(5),
        client: None,
        ladder: Some("chat".into()),
        model: Some("gpt-4o".into()),
        stream: true,
    };
    RequestEnd {
        start,
        outcome,
        cause: None,
        status: None,
        answered: None,
        hedged: false,
        ttft: None,
        latency: None,
        events: 0,
        bytes: 0,
        attempts: Vec::new(),
        passed_over: Vec::new(),
    }
}
