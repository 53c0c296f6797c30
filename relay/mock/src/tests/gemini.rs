//! `POST /v1beta/models/{model}:streamGenerateContent` and `:generateContent`.

use serde_json::{Value, json};

use super::super::Mock;
use super::client::{End, Reply, post};
use super::mock;

async fn at(mock: &Mock, model_and_verb: &str, fields: Value) -> Reply {
    let mut body = json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    let path = format!("/v1beta/models/{model_and_verb}");
    post(mock.addr(), &path, &["x-goog-api-key: k"], &body).await
}

async fn say(mock: &Mock, fields: Value) -> Reply {
    at(mock, "gemini-2.5-pro:streamGenerateContent?alt=sse", fields).await
}

async fn whole(mock: &Mock, fields: Value) -> Value {
    at(mock, "gemini-2.5-pro:generateContent", fields).await.json()
}

async fn refused(mock: &Mock, fields: Value) -> String {
    let reply = say(mock, fields.clone()).await;
    assert_eq!(reply.status(), 400, "{fields}");
    let error = reply.json()["error"].clone();
    assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("INVALID_ARGUMENT")));
    error["message"].as_str().unwrap().to_owned()
}

fn tools() -> Value {
    let schema = json!({"type": "object", "properties": {"wall": {"type": "string"}}});
    json!([{"functionDeclarations": [{"name": "climb", "parameters": schema}, {"name": "rest"}]}])
}

#[tokio::test]
async fn each_event_is_a_whole_response() {
    let mock = mock().await;
    let reply = say(&mock, json!({})).await;
    assert_eq!(reply.end, End::Proper);
    assert_eq!(reply.body().matches("\r\n\r\n").count(), 6);
    assert_eq!(reply.body().matches('\n').count(), reply.body().matches("\r\n").count());
    let frames = reply.frames();
    assert_eq!(reply.said("/candidates/0/content/parts/0/text"), "This is mock on belay: the");
    for (place, (name, data)) in frames.iter().enumerate() {
        assert!(name.is_empty());
        assert_eq!(data["usageMetadata"]["candidatesTokenCount"], place + 1);
        assert_eq!(data["modelVersion"], "gemini-2.5-pro");
        assert_eq!(data["responseId"], frames[0].1["responseId"]);
        let finish = data["candidates"][0].get("finishReason");
        assert_eq!(finish.is_some(), place == 5);
    }
    assert_eq!(frames[5].1["candidates"][0]["finishReason"], "STOP");
    assert_eq!(super::ended(&mock).await, "done");
    assert_eq!(mock.requests()[0].tokens, 6);
}

#[tokio::test]
async fn without_sse_it_is_json() {
    let mock = mock().await;
    let answer = whole(&mock, json!({"x_mock": {"cached_tokens": 5}})).await;
    let text = &answer["candidates"][0]["content"]["parts"][0]["text"];
    assert_eq!(text, "This is mock on belay: the");
    assert_eq!(answer["usageMetadata"]["cachedContentTokenCount"], 5);
    assert_eq!(answer["candidates"][0]["finishReason"], "STOP");
    let array = at(&mock, "m:streamGenerateContent", json!({})).await.json();
    assert_eq!(array[0]["candidates"][0]["content"]["parts"][0]["text"], *text);
    assert_eq!(at(&mock, "m:countTokens", json!({})).await.status(), 404);
}

#[tokio::test]
async fn calls_come_whole() {
    let mock = mock().await;
    let any = json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["climb"]}});
    let reply = say(&mock, json!({"tools": tools(), "toolConfig": any})).await;
    let frames = reply.frames();
    assert_eq!(frames.len(), 1);
    let candidate = &frames[0].1["candidates"][0];
    let call = json!({"functionCall": {"name": "climb", "args": {"wall": "rope"}}});
    assert_eq!(candidate["content"]["parts"], json!([call]));
    assert_eq!(
        (&candidate["finishReason"], &candidate["finishMessage"]),
        (&json!("STOP"), &json!("Model generated function call(s)."))
    );
    let two =
        whole(&mock, json!({"tools": tools(), "x_mock": {"text": "I go.", "calls": 2}})).await;
    assert_eq!(two["candidates"][0]["content"]["parts"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn thoughts_come_first_and_calls_are_signed() {
    let mock = mock().await;
    let config = json!({"thinkingConfig": {"includeThoughts": true, "thinkingBudget": 128}});
    let reply =
        say(&mock, json!({"generationConfig": config, "tools": tools(), "x_mock": {"calls": 2}}))
            .await;
    let frames = reply.frames();
    let parts: Vec<&Value> =
        frames.iter().map(|(_, data)| &data["candidates"][0]["content"]["parts"][0]).collect();
    assert_eq!(parts.len(), 15);
    assert!(parts[..13].iter().all(|part| part["thought"] == true));
    assert_eq!(frames[14].1["usageMetadata"]["thoughtsTokenCount"], 13);
    assert!(parts[13]["thoughtSignature"].is_string());
    assert_eq!(parts[14].get("thoughtSignature"), None, "only the first of several is signed");
}

#[tokio::test]
async fn a_third_generation_wants_its_signatures_back() {
    let mock = mock().await;
    let third = "gemini-3-pro:generateContent";
    let asked = at(&mock, third, json!({"tools": tools(), "x_mock": {"calls": 1}})).await.json();
    let part = asked["candidates"][0]["content"]["parts"][0].clone();
    let again = |part: &Value| {
        json!({"tools": tools(), "contents": [
            {"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": [part]},
            {"role": "user", "parts": [{"functionResponse": {"name": "climb", "response": {"ok": true}}}]},
        ]})
    };
    assert_eq!(at(&mock, third, again(&part)).await.status(), 200);
    let mut unsigned = part.clone();
    unsigned.as_object_mut().unwrap().remove("thoughtSignature");
    let reply = at(&mock, third, again(&unsigned)).await;
    assert!(reply.status() == 400 && reply.body().contains("missing a thought_signature"));
    assert_eq!(at(&mock, "gemini-2.5-pro:generateContent", again(&unsigned)).await.status(), 200);
    let mut other = part.clone();
    other["functionCall"]["args"] = json!({"wall": "ice"});
    let reply = at(&mock, third, again(&other)).await;
    assert!(reply.status() == 400 && reply.body().contains("Corrupted thought signature"));
    unsigned["thoughtSignature"] = json!("skip_thought_signature_validator");
    assert_eq!(at(&mock, third, again(&unsigned)).await.status(), 200);
}

#[tokio::test]
async fn keys_and_fields_are_minded() {
    let mock = mock().await;
    let path = "/v1beta/models/m:generateContent";
    let bearer = post(mock.addr(), path, &["authorization: Bearer k"], &json!({})).await;
    assert_eq!(
        (bearer.status(), &bearer.json()["error"]["status"]),
        (403, &json!("PERMISSION_DENIED"))
    );
    let parameters = json!({"type": "object", "additionalProperties": false});
    for (fields, words) in [
        (json!({"messages": []}), "Unknown name \"messages\": Cannot find field."),
        (json!({"generationConfig": {"max_tokens": 1}}), "\"max_tokens\" at 'generation_config'"),
        (json!({"generationConfig": {"thinkingConfig": {"effort": 1}}}), "thinking_config"),
        (json!({"generationConfig": {"temperature": 3}}), "[0.0, 2.0]"),
        (
            json!({"tools": [{"functionDeclarations": [{"name": "a", "parameters": parameters}]}]}),
            "additionalProperties",
        ),
        (json!({"tools": [{"functionDeclarations": [{"name": "a", "strict": true}]}]}), "strict"),
        (json!({"toolConfig": {"functionCallingConfig": {"mode": "REQUIRED"}}}), "REQUIRED"),
        (json!({"contents": []}), "contents is not specified"),
        (json!({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}), "valid role"),
        (json!({"contents": [{"role": "user", "parts": []}]}), "must not be empty"),
        (
            json!({"contents": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]}),
            "\"type\"",
        ),
        (
            json!({"contents": [{"role": "user", "parts": [{"thought": true}]}]}),
            "oneof field 'data'",
        ),
    ] {
        let said = refused(&mock, fields.clone()).await;
        assert!(said.contains(words), "{fields}: {said}");
    }
    let schema = json!({"tools": [{"functionDeclarations": [{"name": "a", "parametersJsonSchema": parameters}]}]});
    assert_eq!(say(&mock, schema).await.status(), 200);
}

#[tokio::test]
async fn responses_match_calls() {
    let mock = mock().await;
    let go = json!({"role": "user", "parts": [{"text": "go"}]});
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let calls = json!({"role": "model", "parts": [call("climb"), call("rest")]});
    let back = |name: &str| json!({"functionResponse": {"name": name, "response": {}}});
    let answers = |parts: Value| json!({"role": "user", "parts": parts});
    let fine = json!([go, calls, answers(json!([back("rest"), back("climb")]))]);
    assert_eq!(say(&mock, json!({"contents": fine})).await.status(), 200);
    for contents in [
        json!([go, calls, answers(json!([back("climb")]))]),
        json!([go, calls, go]),
        json!([go, calls]),
        json!([go, answers(json!([back("climb")]))]),
        json!([go, calls, answers(json!([back("climb"), back("climb")]))]),
        json!([go, calls, answers(json!([back("climb")])), answers(json!([back("rest")]))]),
    ] {
        assert!(refused(&mock, json!({"contents": contents})).await.contains("function"));
    }
}

#[tokio::test]
async fn endings_have_googles_names() {
    let mock = mock().await;
    for (wish, reason) in
        [("length", "MAX_TOKENS"), ("content_filter", "SAFETY"), ("refusal", "SAFETY")]
    {
        let reply = say(&mock, json!({"x_mock": {"finish": wish}})).await;
        assert_eq!(reply.said("/candidates/0/finishReason"), reason);
        let silent = reply.said("/candidates/0/content/parts/0/text").is_empty();
        assert_eq!(silent, wish == "refusal");
    }
}

#[tokio::test]
async fn both_spellings_are_the_same_but_not_in_what_is_the_clients() {
    let mock = mock().await;
    let config = json!({"max_output_tokens": 16, "thinking_config": {"include_thoughts": true}});
    let declaration =
        json!({"name": "a", "parameters_json_schema": {"properties": {"max_size": {}}}});
    let asking = json!({
        "generation_config": config, "tools": [{"function_declarations": [declaration]}],
        "x_mock": {"calls": 1},
    });
    let answer = at(&mock, "m:generateContent", asking).await.json();
    let parts = &answer["candidates"][0]["content"]["parts"];
    assert_eq!(parts[0]["thought"], true);
    assert_eq!(answer["candidates"][0]["finishReason"], "MAX_TOKENS");
    let asking =
        json!({"tools": [{"function_declarations": [declaration]}], "x_mock": {"calls": 1}});
    let answer = at(&mock, "m:generateContent", asking).await.json();
    let call = &answer["candidates"][0]["content"]["parts"][0]["functionCall"];
    assert_eq!(call["args"], json!({"max_size": {}}));
}

#[tokio::test]
async fn json_is_said_when_a_schema_asks_for_it() {
    let mock = mock().await;
    let schema = json!({"type": "OBJECT", "properties": {"grade": {"type": "INTEGER"}}});
    let config = json!({"responseMimeType": "application/json", "responseSchema": schema});
    let reply = say(&mock, json!({"generationConfig": config})).await;
    assert_eq!(reply.said("/candidates/0/content/parts/0/text"), r#"{"grade":7}"#);
}
