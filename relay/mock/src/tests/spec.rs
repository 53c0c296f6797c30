//! Both ways to write a fault.

use serde_json::{Value, json};

use super::super::fault::KNOWN;
use super::super::{Fault, FaultSpec, MockArgs, MockOptions};

/// An example of each fault, in both forms.
fn all() -> Vec<(&'static str, Value)> {
    let kind = "server_error";
    let message = "The server had an error while processing your request. Sorry about that!";
    vec![
        ("none", json!({"fault": "none"})),
        ("slow_first_token:5000", json!({"fault": "slow_first_token", "ms": 5000})),
        ("delay_head:10", json!({"fault": "delay_head", "ms": 10})),
        ("hang", json!({"fault": "hang"})),
        ("stall:3", json!({"fault": "stall", "after": 3})),
        ("cut:3", json!({"fault": "cut", "after": 3})),
        ("end_early:3", json!({"fault": "end_early", "after": 3})),
        (
            "error_frame:3",
            json!({"fault": "error_frame", "after": 3, "kind": kind, "message": message}),
        ),
        ("html", json!({"fault": "html"})),
        ("empty_stream", json!({"fault": "empty_stream", "finish": false})),
        ("status:429", json!({"fault": "status", "status": 429})),
        ("drip:1", json!({"fault": "drip", "ms": 1})),
        ("malformed:3", json!({"fault": "malformed", "after": 3})),
        ("pings:100", json!({"fault": "pings", "ms": 100})),
        ("refuse", json!({"fault": "refuse"})),
        ("context_exceeded", json!({"fault": "context_exceeded"})),
        ("no_stream_options", json!({"fault": "no_stream_options"})),
        ("keep_open", json!({"fault": "keep_open"})),
    ]
}

#[test]
fn short_form_and_json_say_the_same() {
    for (short, json) in all() {
        let spec: FaultSpec = short.parse().unwrap();
        assert_eq!(FaultSpec::from_json(json.clone()).unwrap(), spec, "{short}");
        assert_eq!(serde_json::to_value(&spec).unwrap(), json, "{short}");
        assert_eq!(json["fault"], spec.fault.name());
    }
}

#[test]
fn every_fault_is_among_the_known() {
    let names: Vec<&str> =
        all().iter().map(|(short, _)| short.split(':').next().unwrap()).collect();
    let known: Vec<&str> =
        KNOWN.iter().map(|form| form.split([':', '[']).next().unwrap()).collect();
    assert_eq!(names, known);
}

#[test]
fn a_retry_after_may_be_a_date() {
    let spec: FaultSpec = "status:429:Sun, 01 Nov 2026 12:00:00 GMT".parse().unwrap();
    let Fault::Status { retry_after, .. } = spec.fault else { panic!("{spec:?}") };
    assert_eq!(retry_after.as_deref(), Some("Sun, 01 Nov 2026 12:00:00 GMT"));
}

#[test]
fn nonsense_is_refused() {
    for short in [
        "",
        "nap",
        "stall",
        "stall:x",
        "stall:-1",
        "hang:1",
        "status:99",
        "empty_stream:no",
        "cut:1:2",
    ] {
        assert!(short.parse::<FaultSpec>().is_err(), "{short}");
    }
    for json in [
        json!({"fault": "hang", "share": 1.5}),
        json!({"fault": "hang", "times": -1}),
        json!({"fault": "status", "status": 429, "retry_after": "a\nb"}),
    ] {
        assert!(FaultSpec::from_json(json.clone()).is_err(), "{json}");
    }
}

#[test]
fn the_command_lines_defaults_are_those_of_the_options() {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        mock: MockArgs,
    }
    let line = <Line as clap::Parser>::try_parse_from(["mock"]).unwrap();
    let options = MockOptions::from(line.mock);
    assert_eq!(format!("{options:?}"), format!("{:?}", MockOptions::default()));
    let line = ["mock", "--fault", "stall:3", "--ttft", "2s", "--exit-with-parent"];
    let line = <Line as clap::Parser>::try_parse_from(line).unwrap().mock;
    assert_eq!(line.fault, Some(FaultSpec::from(Fault::Stall { after: 3 })));
    assert!(line.exit_with_parent && line.ttft.as_secs() == 2);
    let bad = <Line as clap::Parser>::try_parse_from(["mock", "--fault", "nap"]);
    assert!(bad.err().unwrap().to_string().contains("known faults: none"));
}
