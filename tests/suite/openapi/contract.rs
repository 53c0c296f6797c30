//! Holds an answer against the OpenAPI document, with all schemas closed.

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use tests::Answer;

/// The document, as the relay serves it.
pub(crate) static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_slice(&relay::admin::document()).unwrap());

/// Its schemas, closed.
static CLOSED: LazyLock<Value> = LazyLock::new(|| {
    let mut components = DOCUMENT["components"].clone();
    let open = components.clone();
    close(&mut components, &open);
    components
});

/// No field but those that are named, in every object that names any.
fn close(schema: &mut Value, open: &Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Array(parts)) = fields.remove("allOf") {
                *fields = as_one(&parts, open);
            }
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            fields.values_mut().for_each(|value| close(value, open));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, open)),
        _ => {}
    }
}

/// What is all of these: closed one by one they would refuse each other's fields.
fn as_one(parts: &[Value], open: &Value) -> Map<String, Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for part in parts {
        let name = part["$ref"].as_str().and_then(|place| place.strip_prefix("#/components"));
        let part = name.map_or(part, |name| open.pointer(name).unwrap());
        properties.extend(part["properties"].as_object().unwrap().clone());
        required.extend(part["required"].as_array().unwrap().clone());
    }
    let one = json!({"type": "object", "properties": properties, "required": required});
    one.as_object().unwrap().clone()
}

fn validator(schema: &Value) -> Validator {
    let mut whole = json!({"components": *CLOSED});
    whole["allOf"] = json!([schema]);
    let options =
        jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(&whole).unwrap()
}

fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let validator = validator(schema);
    let errors: Vec<_> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Whether `value` is what the component `name` says.
pub(crate) fn is(name: &str, value: &Value) -> Result<(), String> {
    assert!(CLOSED["schemas"].get(name).is_some(), "the document has no schema {name}");
    check(&json!({"$ref": format!("#/components/schemas/{name}")}), value)
}

/// Every path, method and operation.
pub(crate) fn operations() -> impl Iterator<Item = (&'static str, &'static str, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(|(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

/// The operation that a call is.
fn operation(method: &str, path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap();
    let is_it = |template: &str| {
        let (template, path) = (template.split('/'), path.split('/'));
        template.clone().count() == path.clone().count()
            && template.zip(path).all(|(one, other)| one.starts_with('{') || one == other)
    };
    let found = operations()
        .find(|(template, verb, _)| verb.eq_ignore_ascii_case(method) && is_it(template));
    found.map(|(_, _, operation)| operation)
}

/// Fails unless the document has this call and this answer to it, or has neither.
#[track_caller]
pub(crate) fn conforms(method: &str, path: &str, answer: &Answer) {
    let Some(operation) = operation(method, path) else {
        // What there is not is refused like all that is refused.
        assert!(matches!(answer.status, 401 | 403 | 404 | 405), "{method} {path} is not described");
        return is("Refusal", &answer.json()).unwrap();
    };
    let response = &operation["responses"][answer.status.to_string()];
    assert!(response.is_object(), "{method} {path} answers {}", answer.status);
    let kind = answer.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap();
    let content = &response["content"][kind];
    assert!(content.is_object(), "{method} {path} answers {} with {kind}", answer.status);
    let value = if kind == "application/json" { answer.json() } else { json!(answer.body_text()) };
    if let Err(errors) = check(&content["schema"], &value) {
        panic!(
            "{method} {path} answers {}, against the document: {errors}\n{value}",
            answer.status
        );
    }
}

/// Fails unless the document says that the feed has events of this kind with these data.
#[track_caller]
pub(crate) fn fed(kind: &str, data: &Value) {
    let schema = &DOCUMENT["paths"]["/admin/v1/feed"]["get"]["x-events"][kind];
    assert!(schema.is_object(), "the document knows no event {kind}");
    if let Err(errors) = check(schema, data) {
        panic!("{kind}: {errors}\n{data}");
    }
}
