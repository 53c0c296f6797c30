//! The fields that Google knows; it refuses all others, wherever they are.

use serde_json::{Map, Value};

use super::super::dialect::Refusal;
use super::refusal::unknown;

/// The fields of a request.
pub(super) const BODY: &[&str] = &[
    "model",
    "contents",
    "tools",
    "toolConfig",
    "safetySettings",
    "systemInstruction",
    "generationConfig",
    "cachedContent",
    "serviceTier",
    "store",
    "x_mock",
];
/// The fields of `generationConfig`.
pub(super) const CONFIG: &[&str] = &[
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "responseModalities",
    "candidateCount",
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseLogprobs",
    "logprobs",
    "enableEnhancedCivicAnswers",
    "speechConfig",
    "thinkingConfig",
    "imageConfig",
    "mediaResolution",
];
/// The fields of `thinkingConfig`.
pub(super) const THINKING: &[&str] = &["includeThoughts", "thinkingBudget", "thinkingLevel"];
/// The fields of a content.
pub(super) const CONTENT: &[&str] = &["role", "parts"];
/// The fields of a part.
pub(super) const PART: &[&str] = &[
    "text",
    "thought",
    "thoughtSignature",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "toolCall",
    "toolResponse",
];
/// The fields of a call.
pub(super) const CALL: &[&str] = &["id", "name", "args", "partialArgs", "willContinue"];
/// The fields of a call's response.
pub(super) const RESPONSE: &[&str] =
    &["id", "name", "response", "willContinue", "scheduling", "parts"];
/// The fields of a tool.
pub(super) const TOOL: &[&str] = &[
    "functionDeclarations",
    "googleSearch",
    "googleSearchRetrieval",
    "codeExecution",
    "urlContext",
    "googleMaps",
    "computerUse",
    "fileSearch",
    "mcpServers",
];
/// The fields of a function.
pub(super) const FUNCTION: &[&str] = &[
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "behavior",
];
/// The fields of `toolConfig`.
pub(super) const TOOL_CONFIG: &[&str] =
    &["functionCallingConfig", "retrievalConfig", "includeServerSideToolInvocations"];
/// The fields of `functionCallingConfig`.
pub(super) const CALLING: &[&str] = &["mode", "allowedFunctionNames"];
/// The fields of a schema of Google's own kind, which is a part of OpenAPI's.
const SCHEMA: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

/// Refuses a field that is not among these.
pub(super) fn only(value: &Value, known: &[&str], place: &str) -> Result<(), Refusal> {
    let mut keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
    match keys.find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(unknown(key, place)),
        None => Ok(()),
    }
}

/// The same for a schema and all that are in it.
pub(super) fn only_schema(schema: &Value, place: &str) -> Result<(), Refusal> {
    only(schema, SCHEMA, place)?;
    if let Some(items) = schema.get("items") {
        only_schema(items, &format!("{place}.items"))?;
    }
    for one in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        only_schema(one, &format!("{place}.any_of"))?;
    }
    for (_, one) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        only_schema(one, &format!("{place}.properties[].value"))?;
    }
    Ok(())
}

/// The same request with every field spelled as in these lists: Google accepts `max_output_tokens`
/// for `maxOutputTokens`, and its own clients send both.
pub(super) fn spelled(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let all = fields.into_iter().map(|(key, value)| {
                let key = camel(key);
                let theirs = CLIENTS.contains(&key.as_str());
                let value = if theirs { value } else { spelled(value) };
                (key, value)
            });
            Value::Object(all.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(spelled).collect()),
        other => other,
    }
}

/// Fields whose content belongs to the client: its keys stay as they are.
const CLIENTS: &[&str] =
    &["args", "response", "properties", "parametersJsonSchema", "responseJsonSchema", "x_mock"];

fn camel(key: String) -> String {
    let mut words = key.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    let lists = [BODY, CONFIG, THINKING, PART, CALL, RESPONSE, TOOL, FUNCTION, TOOL_CONFIG];
    let known = lists.iter().chain(&[CALLING, SCHEMA, DATA]).any(|list| list.contains(&&*camel));
    if known { camel } else { key }
}

/// The fields of inline data and of a file.
const DATA: &[&str] = &["data", "mimeType", "fileUri", "displayName"];
