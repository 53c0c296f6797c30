//! Which fields Google knows; it refuses all others, wherever they stand.

use serde_json::Value;

use super::super::dialect::Refusal;
use super::refusal::unknown;

/// Those of a request.
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
/// Those of `generationConfig`.
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
/// Those of `thinkingConfig`.
pub(super) const THINKING: &[&str] = &["includeThoughts", "thinkingBudget", "thinkingLevel"];
/// Those of a content.
pub(super) const CONTENT: &[&str] = &["role", "parts"];
/// Those of a part.
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
/// Those of a call.
pub(super) const CALL: &[&str] = &["id", "name", "args", "partialArgs", "willContinue"];
/// Those of a call's response.
pub(super) const RESPONSE: &[&str] =
    &["id", "name", "response", "willContinue", "scheduling", "parts"];
/// Those of a tool.
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
/// Those of a function.
pub(super) const FUNCTION: &[&str] = &[
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "behavior",
];
/// Those of `toolConfig`.
pub(super) const TOOL_CONFIG: &[&str] =
    &["functionCallingConfig", "retrievalConfig", "includeServerSideToolInvocations"];
/// Those of `functionCallingConfig`.
pub(super) const CALLING: &[&str] = &["mode", "allowedFunctionNames"];
/// Those of a schema in Google's own kind, which is a part of OpenAPI's.
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
