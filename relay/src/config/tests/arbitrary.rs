//! Whatever stands in the file, the answer is a list of problems, not a panic.

use super::{BASE, Severity, read};
use proptest::prelude::*;

/// Texts that are nearly a config: lines of one, whole or damaged.
fn nearly() -> impl Strategy<Value = String> {
    let lines: Vec<&'static str> = BASE.lines().collect();
    let value = prop_oneof![
        Just("\"18446744073709551615s 1000000000ns\"".to_owned()),
        Just("[[1], {a = \"é\"}, 1979-05-27]".to_owned()),
        Just("-9223372036854775808".to_owned()),
        "\"\\PC{0,20}\"",
        "[-+0-9a-fx.e_]{1,8}",
    ];
    let key = prop::sample::select(vec![
        "listen",
        "drain",
        "max_body",
        "max_in_flight_bytes",
        "key_sha256",
        "base_url",
        "headers",
        "price",
        "rungs",
        "provider",
        "clocks",
        "require",
        "supports",
        "tokens",
        "matchers",
        "breaker",
        "hedge",
    ]);
    let line = prop_oneof![
        4 => prop::sample::select(lines).prop_map(str::to_owned),
        2 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => "\\PC{0,30}",
    ];
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

fn holds(text: &str) {
    let lines = text.matches('\n').count() + 1;
    let problems = match read(text) {
        Ok(loaded) => {
            assert!(loaded.warnings.iter().all(|it| it.severity == Severity::Warning));
            loaded.warnings
        }
        Err(refused) => {
            assert!(refused.errors().next().is_some());
            refused.problems
        }
    };
    assert!(problems.is_sorted_by_key(|it| (it.line, it.column)));
    for problem in problems {
        assert!((1..=lines).contains(&problem.line) && problem.column > 0, "{problem}");
        assert!(!problem.to_string().chars().any(char::is_control), "{problem}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        holds(&text);
    }

    #[test]
    fn anything_near_a_config_is_answered(text in nearly()) {
        holds(&text);
    }

    #[test]
    fn a_damaged_config_is_answered(at in 0..BASE.len(), with in any::<char>(), cut in 0..9_usize) {
        let end = (at + cut).min(BASE.len());
        holds(&format!("{}{with}{}", &BASE[..at], &BASE[end..]));
    }
}

#[test]
fn depth_is_answered() {
    holds(&format!("a = {}", "[".repeat(100_000)));
    holds(&format!("a = {}1{}", "{ a = ".repeat(5_000), " }".repeat(5_000)));
    holds(&format!("{} = 1", vec!["a"; 10_000].join(".")));
}
