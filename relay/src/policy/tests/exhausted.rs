//! The ranking of what the client is told.

use super::scenario::*;
use crate::policy::{AttemptId, Ending, Input, LadderSpec, Told};
use std::time::Duration;

/// Ends one attempt after another with `endings`, none of them retried.
fn told(endings: &[Ending]) -> crate::policy::Failure {
    let spec = LadderSpec { fail_fast: true, ..ladder(endings.len()) };
    let mut stage = Stage::set(spec, rungs(endings.len()), streaming());
    let mut actions = stage.give(Input::Start);
    for (index, ending) in endings.iter().enumerate() {
        let attempt = AttemptId(u32::try_from(index).unwrap() + 1);
        actions = stage.end(attempt, ending.clone());
    }
    failure(&actions)
}

#[test]
fn one_error_by_rank_over_all_attempts() {
    let rows: &[(&[Ending], u16, Told)] = &[
        (&[by_status(429), by_status(429)], 429, Told::RateLimited),
        (&[by_status(429), by_status(500)], 503, Told::Unavailable),
        (&[by_status(503), by_status(500)], 503, Told::Unavailable),
        (&[by_status(401), by_status(500)], 502, Told::BadGateway),
        (&[cut(), unreachable_host()], 502, Told::BadGateway),
    ];
    for (endings, status, gist) in rows {
        let told = told(endings);
        assert_eq!((told.status, told.told), (*status, *gist), "{endings:?}");
    }
}

#[test]
fn a_timeout_outranks_a_bad_gateway() {
    let spec = LadderSpec { ttft: Some(Duration::from_secs(1)), fail_fast: true, ..ladder(2) };
    let mut stage = Stage::set(spec, rungs(2), streaming());
    stage.give(Input::Start);
    stage.wake();
    assert_eq!(failure(&stage.status(B, 500)).status, 504);
}

#[test]
fn the_soonest_retry_after_is_passed_on() {
    let told = told(&[refused(429, 40), refused(429, 20)]);
    assert_eq!(told.retry_after, Some(Duration::from_secs(20)));
    let unavailable = super::exhausted::told(&[by_status(500), refused(503, 30)]);
    assert_eq!(unavailable.retry_after, Some(Duration::from_secs(30)));
}
