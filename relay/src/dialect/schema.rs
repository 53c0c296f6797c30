//! Answers checked against the JSON schema that they were asked to follow.

use serde_json::Value;
use serde_json::value::RawValue;

/// So much of what is wrong is told; the model has the schema to look at.
const MOST_PROBLEMS: usize = 5;

/// A schema, ready to check answers.
#[derive(Debug)]
pub struct Schema(jsonschema::Validator);

impl Schema {
    /// Makes a schema ready. Nothing is fetched: what it refers to must stand in it.
    ///
    /// # Errors
    /// It is no schema, or refers to something outside of it. The text quotes the schema.
    pub fn new(raw: &RawValue) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
        let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
        Ok(Self(validator))
    }

    /// What is wrong with `answer`; `None`: it follows the schema. The text quotes the
    /// answer, so it is for the model that gave it and nobody else.
    #[must_use]
    pub fn problem(&self, answer: &str) -> Option<String> {
        let answer: Value = match serde_json::from_str(answer) {
            Ok(answer) => answer,
            Err(error) => return Some(format!("It is not JSON: {error}.")),
        };
        let problems: Vec<String> = self
            .0
            .iter_errors(&answer)
            .take(MOST_PROBLEMS)
            .map(|error| format!("At '{}': {error}", error.instance_path()))
            .collect();
        (!problems.is_empty()).then(|| problems.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Result<Schema, String> {
        Schema::new(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn an_answer_follows_its_schema_or_is_told_where_it_does_not() {
        let text = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
        let schema = schema(text).unwrap();
        assert_eq!(schema.problem(r#" {"n": 3} "#), None);
        for (bad, said) in [
            ("not json", "It is not JSON"),
            (r#"{"n":"x"}"#, "/n"),
            ("{}", "\"n\" is a required property"),
            (r#"{"n":1} and more"#, "It is not JSON"),
        ] {
            let problem = schema.problem(bad).unwrap();
            assert!(problem.contains(said), "{bad}: {problem}");
        }
    }

    #[test]
    fn what_is_no_schema_or_stands_elsewhere_is_refused() {
        assert!(schema(r#"{"type":"nonsense"}"#).is_err());
        assert!(schema(r#"{"$ref":"https://example.com/schema.json"}"#).is_err());
    }
}
