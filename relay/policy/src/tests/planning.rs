//! Which rungs are candidates, and what happens when none is.

use super::scenario::*;
use crate::{Capabilities, Capability, FailureReason, Input, LadderSpec, Need, RungSpec};
use shared::Degrade;
use shared::{AttemptKind as K, PassedOver, RequestOutcome};
use std::time::Duration;

fn reasons(stage: &Stage) -> Vec<(usize, PassedOver)> {
    stage.walk.passed_over().iter().map(|(rung, reason)| (rung.0, *reason)).collect()
}

#[test]
fn rungs_that_cannot_serve_the_request_are_passed_over_with_their_reason() {
    let specs = vec![
        RungSpec { can: Capabilities::default(), ..RungSpec::default() },
        RungSpec { context: Some(50), ..RungSpec::default() },
        RungSpec { max_output: Some(10), ..RungSpec::default() },
        RungSpec { context: Some(5000), ..RungSpec::default() },
    ];
    let need = Need {
        capabilities: Capabilities { images: true, ..Capabilities::default() },
        prompt_tokens: 100,
        max_output: Some(20),
        ..streaming()
    };
    let mut stage = Stage::set(ladder(4), specs, need);
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 3, K::First)]);
    let expected =
        [(0, PassedOver::Capability), (1, PassedOver::Context), (2, PassedOver::MaxOutput)];
    assert_eq!(reasons(&stage), expected);
}

#[test]
fn an_estimate_never_removes_the_largest_context_and_an_unset_one_is_large_enough() {
    let need = Need { prompt_tokens: 9_999, ..streaming() };
    let of = |sizes: &[Option<u64>]| -> Vec<RungSpec> {
        let spec = |&context: &Option<u64>| RungSpec { context, ..RungSpec::default() };
        sizes.iter().map(spec).collect()
    };
    let mut stage = Stage::set(ladder(2), of(&[Some(10), Some(20)]), need);
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 1, K::First)]);
    let mut stage = Stage::set(ladder(2), of(&[Some(10), None]), need);
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 1, K::First)]);
}

#[test]
fn the_largest_context_is_looked_for_among_rungs_that_could_serve() {
    let specs = vec![
        RungSpec { context: Some(1000), can: Capabilities::default(), ..RungSpec::default() },
        RungSpec { context: Some(500), ..RungSpec::default() },
    ];
    let capabilities = Capabilities { tools: true, ..Capabilities::default() };
    let need = Need { prompt_tokens: 600, capabilities, ..streaming() };
    let mut stage = Stage::set(ladder(2), specs, need);
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 1, K::First)]);
}

#[test]
fn exactly_enough_is_enough_and_the_ladder_may_require_more() {
    let spec = RungSpec { context: Some(100), max_output: Some(20), ..RungSpec::default() };
    let need = Need { prompt_tokens: 100, max_output: Some(20), ..streaming() };
    let roomy = RungSpec { context: Some(1000), ..RungSpec::default() };
    let mut stage = Stage::set(ladder(2), vec![spec, roomy], need);
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 0, K::First)]);

    let require = Capabilities { tools: true, ..Capabilities::default() };
    let plain = RungSpec { can: Capabilities::default(), ..RungSpec::default() };
    let spec = LadderSpec { require, ..ladder(2) };
    let mut stage = Stage::set(spec, vec![plain, RungSpec::default()], streaming());
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 1, K::First)]);
}

#[test]
fn a_feature_is_named_only_if_every_rung_lacks_one() {
    let images = Capabilities { images: true, ..Capabilities::default() };
    let tools = Capabilities { tools: true, ..Capabilities::default() };
    let specs = vec![
        RungSpec { can: images, ..RungSpec::default() },
        RungSpec { can: images.union(tools), max_output: Some(10), ..RungSpec::default() },
    ];
    let need = Need { capabilities: tools, max_output: Some(20), ..streaming() };
    let mut stage = Stage::set(ladder(2), specs, need);
    let told = failure(&stage.give(Input::Start));
    let gist = FailureReason::NoRungAble { reason: PassedOver::MaxOutput, feature: None };
    assert_eq!(told.reason, gist);
}

#[test]
fn no_rung_able_is_a_400_that_names_the_feature() {
    let specs = vec![RungSpec { can: Capabilities::default(), ..RungSpec::default() }];
    let capabilities = Capabilities { audio: true, ..Capabilities::default() };
    let mut stage = Stage::set(ladder(1), specs, Need { capabilities, ..streaming() });
    let told = failure(&stage.give(Input::Start));
    assert_eq!((told.status, told.outcome), (400, RequestOutcome::NoCandidate));
    let gist = FailureReason::NoRungAble {
        reason: PassedOver::Capability,
        feature: Some(Capability::Audio),
    };
    assert_eq!(told.reason, gist);
}

#[test]
fn a_held_rung_is_passed_over_and_waited_for_only_when_it_is_alone_and_soon_free() {
    for (seconds, waits) in [(1, true), (2, true), (3, false), (60, false)] {
        let mut stage = Stage::on(1);
        let actions = stage.end(A, refused(429, seconds));
        assert_eq!(stage.walk.is_over(), !waits, "{seconds} s");
        if waits {
            let refused_at = stage.now;
            assert_eq!(dials(&stage.wake()), [(2, 0, K::Retry)]);
            assert_eq!(stage.now.since(refused_at), Duration::from_secs(seconds));
        } else {
            let told = failure(&actions);
            assert_eq!((told.status, told.reason), (429, FailureReason::RateLimited));
        }
    }
}

#[test]
fn with_every_rung_held_from_the_start_the_walk_waits_or_says_when() {
    let mut first = Stage::on(1);
    first.end(A, refused(429, 30));
    let mut second = Stage::set(ladder(1), rungs(1), streaming());
    second.board = first.board;
    second.now = first.now;
    let told = failure(&second.give(Input::Start));
    assert_eq!((told.status, told.retry_after), (429, Some(Duration::from_secs(30))));
    assert_eq!(reasons(&second), [(0, PassedOver::Hold)]);
}

#[test]
fn a_rung_whose_dialect_has_no_words_is_passed_over() {
    let spec = |dialect| RungSpec { dialect, ..RungSpec::default() };
    let need = Need { unsupported: 0b0100, ..streaming() };
    let mut stage = Stage::set(ladder(3), vec![spec(2), spec(0), spec(7)], need);
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 1, K::First)]);
    assert_eq!(reasons(&stage), [(0, PassedOver::Dialect)]);
    let need = Need { unsupported: 0b1000_0101, ..streaming() };
    let mut stage = Stage::set(ladder(3), vec![spec(2), spec(0), spec(7)], need);
    let told = failure(&stage.give(Input::Start));
    assert_eq!((told.status, told.outcome), (400, RequestOutcome::NoCandidate));
    assert!(matches!(told.reason, FailureReason::NoRungAble { reason: PassedOver::Dialect, .. }));
}

#[test]
fn what_is_made_less_of_keeps_a_rung_on_the_plan() {
    let degrade = Degrade { json_schema: true, parallel_tools: true, max_output: true };
    let can = Capabilities { tools: true, ..Capabilities::default() };
    let able = RungSpec { can, degrade, max_output: Some(10), ..RungSpec::default() };
    let unable = RungSpec { degrade: Degrade::default(), ..able.clone() };
    let wants = |capabilities, stream| Need { capabilities, stream, ..Need::default() };
    let schema = Capabilities { json_schema: true, ..Capabilities::default() };
    let parallel = Capabilities { tools: true, parallel_tools: true, ..Capabilities::default() };
    let long = Need { max_output: Some(99), ..Need::default() };
    for (need, is_able) in [
        (wants(schema, false), true),
        // What has been sent to the client cannot be checked.
        (wants(schema, true), false),
        (wants(parallel, true), true),
        (long, true),
    ] {
        for (spec, expected) in [(&able, is_able), (&unable, false)] {
            let mut stage = Stage::set(ladder(1), vec![spec.clone()], need);
            let dialled = !dials(&stage.give(Input::Start)).is_empty();
            assert_eq!(dialled, expected, "{need:?}");
        }
    }
}

#[test]
fn only_what_is_asked_for_and_lacking_is_made_less_of() {
    let all = Degrade { json_schema: true, parallel_tools: true, max_output: true };
    let none = Degrade::default();
    let schema = Capabilities { json_schema: true, ..Capabilities::default() };
    let tools = Capabilities { tools: true, ..Capabilities::default() };
    let parallel = Capabilities { parallel_tools: true, ..tools };
    let long = |asked| Need { max_output: Some(asked), ..Need::default() };
    let wants = |capabilities| Need { capabilities, ..Need::default() };
    let spec =
        |can, degrade| RungSpec { can, degrade, max_output: Some(10), ..RungSpec::default() };
    for (name, spec, need, expected) in [
        ("nothing asked", spec(tools, all), Need::default(), none),
        ("a schema", spec(tools, all), wants(schema), Degrade { json_schema: true, ..none }),
        ("a schema it can", spec(schema, all), wants(schema), none),
        ("tools", spec(tools, all), wants(tools), Degrade { parallel_tools: true, ..none }),
        ("tools in parallel", spec(parallel, all), wants(tools), none),
        ("too long", spec(tools, all), long(11), Degrade { max_output: true, ..none }),
        ("long enough", spec(tools, all), long(10), none),
        ("not allowed", spec(tools, none), Need { capabilities: schema, ..long(11) }, none),
    ] {
        assert_eq!(spec.degrade_for(&need), expected, "{name}");
    }
}
