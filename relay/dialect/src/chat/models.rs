//! Writes the list of models, which for a client of the relay is the list of ladders.

use serde::Serialize;
use shared::UnixMillis;

/// It has the members of both vendors: each SDK reads its own.
#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Model<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Model<'a> {
    id: &'a str,
    object: &'static str,
    created: i64,
    owned_by: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    display_name: &'a str,
    created_at: String,
}

/// The body of `GET /v1/models`. `created` is the creation time of the models.
#[must_use]
pub fn models_body<'a>(names: impl Iterator<Item = &'a str>, created: UnixMillis) -> Vec<u8> {
    let data: Vec<Model<'a>> = names.map(|name| model(name, created)).collect();
    let (first_id, last_id) = (data.first().map(|one| one.id), data.last().map(|one| one.id));
    // Plain text and numbers: writing them into memory cannot fail.
    serde_json::to_vec(&List { object: "list", data, has_more: false, first_id, last_id })
        .unwrap_or_default()
}

/// The body of `GET /v1/models/{name}`.
#[must_use]
pub fn model_body(name: &str, created: UnixMillis) -> Vec<u8> {
    serde_json::to_vec(&model(name, created)).unwrap_or_default()
}

fn model(id: &str, created: UnixMillis) -> Model<'_> {
    Model {
        id,
        object: "model",
        created: created.0 / 1000,
        owned_by: "belay",
        kind: "model",
        display_name: id,
        created_at: created.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_ladder_is_a_model_for_every_sdk() {
        let body = models_body(["chat", "a\"b"].into_iter(), UnixMillis(7_000));
        let body: Value = serde_json::from_slice(&body).unwrap();
        let model = |id: &str| {
            json!({"id": id, "object": "model", "created": 7, "owned_by": "belay", "type": "model",
                "display_name": id, "created_at": "1970-01-01T00:00:07.000Z"})
        };
        let data = json!([model("chat"), model("a\"b")]);
        let expected = json!({"object": "list", "data": data, "has_more": false,
            "first_id": "chat", "last_id": "a\"b"});
        assert_eq!(body, expected);
        let one: Value = serde_json::from_slice(&model_body("chat", UnixMillis(7_000))).unwrap();
        assert_eq!(one, model("chat"));
    }
}
