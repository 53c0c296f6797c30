//! Checks answers against the JSON schema that they must follow.
//!
//! The schema comes from the client and the answer from a model, so both may be made so that a
//! check takes for ever. So the cost is found first ([`work`]), and bounded. The check that is left
//! takes seconds in the worst case, so it must not run on a worker.

mod error;
mod limits;
mod work;

pub use error::SchemaError;

use jsonschema::PatternOptions;
use serde_json::Value;
use serde_json::value::RawValue;
use work::Work;

/// The most problems that the model is told; it knows the schema.
const MOST_PROBLEMS: usize = 5;
/// The longest text of one problem, in bytes: it quotes a part of the answer.
const LONGEST_PROBLEM: usize = 500;
/// The most steps that one use of a pattern may go back, and the largest size of a compiled
/// pattern.
const BACKTRACKS: usize = 20_000;
const PATTERN_SIZE: usize = 256 * 1024;

/// A schema, ready to check answers.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
    work: Work,
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// The answer follows the schema.
    Fine,
    /// It does not. The text says why. It quotes the answer, so it is only for the model that gave
    /// the answer.
    Wrong(String),
    /// The check is too much work.
    TooMuchWork,
}

impl Schema {
    /// Prepares a schema. Nothing is fetched: everything that it refers to must be in it. This is
    /// heavy work and must not run on a worker.
    ///
    /// # Errors
    /// It is not a schema, is too much work, or refers to something outside of it. The text of the
    /// error does not quote it.
    pub fn new(raw: &RawValue) -> Result<Self, SchemaError> {
        let schema: Value = serde_json::from_str(raw.get()).map_err(|_| SchemaError::Nests)?;
        let work = Work::of(&schema)?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(BACKTRACKS)
            .size_limit(PATTERN_SIZE)
            .dfa_size_limit(PATTERN_SIZE);
        let options = jsonschema::options().with_pattern_options(patterns);
        // The validator's own text quotes the schema.
        let validator = options.build(&schema).map_err(|_| SchemaError::Invalid)?;
        Ok(Self { validator, work })
    }

    /// Checks `answer`. This is heavy work and must not run on a worker.
    #[must_use]
    pub fn check(&self, answer: &str) -> Checked {
        let answer: Value = match serde_json::from_str(answer) {
            Ok(answer) => answer,
            Err(error) => return Checked::Wrong(format!("It is not JSON: {error}.")),
        };
        if !self.work.allows(&answer) {
            return Checked::TooMuchWork;
        }
        let problems: Vec<String> = self
            .validator
            .iter_errors(&answer)
            .take(MOST_PROBLEMS)
            .map(|e| problem_text(&e))
            .collect();
        if problems.is_empty() { Checked::Fine } else { Checked::Wrong(problems.join("\n")) }
    }
}

fn problem_text(error: &jsonschema::ValidationError<'_>) -> String {
    let mut text = format!("At '{}': {error}", error.instance_path());
    if text.len() > LONGEST_PROBLEM {
        text.truncate(text.floor_char_boundary(LONGEST_PROBLEM));
        text.push_str(" …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Result<Schema, SchemaError> {
        Schema::new(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn an_answer_follows_its_schema_or_is_told_where_it_does_not() {
        let text = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
        let schema = schema(text).unwrap();
        assert_eq!(schema.check(r#" {"n": 3} "#), Checked::Fine);
        for (bad, said) in [
            ("not json", "It is not JSON"),
            (r#"{"n":"x"}"#, "/n"),
            ("{}", "\"n\" is a required property"),
            (r#"{"n":1} and more"#, "It is not JSON"),
        ] {
            let Checked::Wrong(problem) = schema.check(bad) else { panic!("{bad}") };
            assert!(problem.contains(said), "{bad}: {problem}");
        }
    }

    #[test]
    fn what_is_no_schema_or_stands_elsewhere_is_refused() {
        assert!(schema(r#"{"type":"nonsense"}"#).is_err());
        assert!(schema(r#"{"$ref":"https://example.com/schema.json"}"#).is_err());
        let deep = format!("{}{}", r#"{"items":"#.repeat(200), "{}".to_owned() + &"}".repeat(200));
        assert!(schema(&deep).is_err());
        assert!(schema(r#"{"pattern":"((a{100}){100}){100}"}"#).is_err(), "too large compiled");
    }

    #[test]
    fn no_pattern_and_no_quoted_answer_is_without_bounds() {
        let cruel = schema(r#"{"pattern":"^(?=(a+)+$)b"}"#).unwrap();
        assert!(matches!(cruel.check(&format!("\"{}c\"", "a".repeat(5_000))), Checked::Wrong(_)));
        let numbers = schema(r#"{"type":"integer"}"#).unwrap();
        let Checked::Wrong(told) = numbers.check(&format!("\"{}\"", "é".repeat(100_000))) else {
            panic!("a text is no number");
        };
        assert!(told.len() < LONGEST_PROBLEM + 10, "{}", told.len());
    }

    #[test]
    fn a_schema_that_would_take_for_ever_is_refused_and_one_that_shares_parts_is_taken() {
        let chain = |length: usize, twice: fn(&str) -> String| {
            let defs = (0..length).map(|n| {
                format!(r#""d{n}":{}"#, twice(&format!("{{\"$ref\":\"#/$defs/d{}\"}}", n + 1)))
            });
            let defs: Vec<_> = defs.collect();
            format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{length}":{{}}}}}}"##, defs.join(","))
        };
        assert!(schema(&chain(30, |next| format!(r#"{{"allOf":[{next},{next}]}}"#))).is_err());
        // Each level below the other: an answer of that depth would be needed.
        let below = chain(30, |next| format!(r#"{{"properties":{{"a":{next},"b":{next}}}}}"#));
        assert_eq!(schema(&below).unwrap().check("{}"), Checked::Fine);
    }
}
