//! What different providers accept in a schema.

use crate::common::fields::Fields;
use crate::neutral::{Format, Request};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Keywords that OpenAI's strict mode refuses anywhere in a schema.
const NOT_OPENAI: &[&str] = &[
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
];

/// Limits that Anthropic refuses anywhere in a schema.
const NOT_ANTHROPIC: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// Keywords whose values are schemas, or lists of them.
const NESTED: &[&str] = &[
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "additionalProperties",
];

/// Keywords whose values are objects of named schemas.
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions"];

/// Whether OpenAI accepts a schema in strict mode: every object must be closed, and all its
/// properties must be required.
pub(crate) fn suits_openai(schema: &RawValue) -> bool {
    every(schema, &|schema| {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &String| {
            required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)))
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        is_closed(schema)
            && properties.is_none_or(|all| all.keys().all(is_required))
            && !NOT_OPENAI.iter().any(|keyword| schema.contains_key(*keyword))
    })
}

/// Whether Anthropic accepts a schema: every object must be closed, and it must have no limits.
pub(crate) fn suits_anthropic(schema: &RawValue) -> bool {
    every(schema, &|schema| {
        let at_least = schema.get("minItems").and_then(Value::as_u64);
        is_closed(schema)
            && at_least.is_none_or(|least| least <= 1)
            && !NOT_ANTHROPIC.iter().any(|keyword| schema.contains_key(*keyword))
    })
}

fn is_closed(schema: &Map<String, Value>) -> bool {
    let is_object = schema.contains_key("properties")
        || match schema.get("type") {
            Some(Value::String(kind)) => kind == "object",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
            _ => false,
        };
    !is_object || schema.get("additionalProperties") == Some(&Value::Bool(false))
}

/// Whether a schema and all schemas in it are `fine`. False for a schema that nests too deep to be
/// read.
fn every(schema: &RawValue, fine: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    let value = serde_json::from_str::<Value>(schema.get());
    value.is_ok_and(|value| every_within(&value, fine))
}

fn every_within(value: &Value, fine: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Array(all) => all.iter().all(|one| every_within(one, fine)),
        Value::Object(schema) => {
            let nested = NESTED.iter().filter_map(|keyword| schema.get(*keyword));
            let named = NAMED.iter().filter_map(|keyword| schema.get(*keyword)?.as_object());
            fine(schema)
                && nested.into_iter().all(|within| every_within(within, fine))
                && named.flat_map(Map::values).all(|within| every_within(within, fine))
        }
        _ => true,
    }
}

/// Adds empty `properties` to the schema of an object that has none: OpenAI refuses it otherwise.
pub(crate) fn give_properties(request: &mut Request) {
    for parameters in request.tools.iter_mut().filter_map(|tool| tool.parameters.as_mut()) {
        give(parameters);
    }
    if let Some(Format::Schema { schema, .. }) = &mut request.format {
        give(schema);
    }
}

/// All members keep their order and spelling.
fn give(schema: &mut Box<RawValue>) {
    let members: Fields = serde_json::from_str(schema.get()).unwrap_or_default();
    if members.text("type") != Some("\"object\"") || members.get("properties").is_some() {
        return;
    }
    let Some(open) = schema.get().strip_suffix('}') else { return };
    let given = RawValue::from_string(format!("{},\"properties\":{{}}}}", open.trim_end()));
    if let Ok(given) = given {
        *schema = given;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn each_strict_engine_has_its_own_rules() {
        const CLOSED: &str = r#""additionalProperties":false"#;
        let object = |more: &str| format!(r#"{{"type":"object","properties":{{"a":{more}}}"#);
        for (schema, openai, anthropic) in [
            ("{}".to_owned(), true, true),
            (r#"{"type":"string"}"#.to_owned(), true, true),
            (r#"{"type":"object"}"#.to_owned(), false, false),
            (r#"{"type":["object","null"]}"#.to_owned(), false, false),
            (r#"{"properties":{}}"#.to_owned(), false, false),
            (format!(r#"{},{CLOSED}}}"#, object("{}")), false, true),
            (format!(r#"{},"required":["b"],{CLOSED}}}"#, object("{}")), false, true),
            (format!(r#"{},"required":["a"],{CLOSED}}}"#, object("{}")), true, true),
            (
                format!(r#"{},"required":["a"],{CLOSED}}}"#, object(r#"{"type":"object"}"#)),
                false,
                false,
            ),
            (
                format!(r#"{},"required":["a"],{CLOSED}}}"#, object(r#"{"minLength":1}"#)),
                true,
                false,
            ),
            // A name is no keyword.
            (
                format!(
                    r#"{{"type":"object","properties":{{"maximum":{{}}}},"required":["maximum"],{CLOSED}}}"#
                ),
                true,
                true,
            ),
            (r#"{"items":{"maximum":3}}"#.to_owned(), true, false),
            (r#"{"minItems":1}"#.to_owned(), true, true),
            (r#"{"minItems":2}"#.to_owned(), true, false),
            (r#"{"anyOf":[{"type":"object"}]}"#.to_owned(), false, false),
            (r#"{"$defs":{"x":{"type":"object"}}}"#.to_owned(), false, false),
            (r#"{"oneOf":[{"type":"string"}]}"#.to_owned(), false, true),
        ] {
            assert_eq!(suits_openai(&raw(&schema)), openai, "{schema}");
            assert_eq!(suits_anthropic(&raw(&schema)), anthropic, "{schema}");
        }
    }

    #[test]
    fn an_object_says_what_it_may_have() {
        for (schema, expected) in [
            (r#"{ "type":"object", "n": 1.0 }"#, r#"{ "type":"object", "n": 1.0,"properties":{}}"#),
            (r#"{"type":"object","properties":{"a":{"type":"object"}}}"#, ""),
            (r#"{"type":"string"}"#, ""),
            ("{}", ""),
        ] {
            let mut given = raw(schema);
            give(&mut given);
            let expected = if expected.is_empty() { schema } else { expected };
            assert_eq!(given.get(), expected);
        }
    }
}
