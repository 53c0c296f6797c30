//! The list of models, which for a client of the relay is the list of ladders.

use serde::Serialize;

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Model<'a>>,
}

#[derive(Serialize)]
struct Model<'a> {
    id: &'a str,
    object: &'static str,
    created: i64,
    owned_by: &'static str,
}

/// The body of `GET /v1/models`. `created` is in Unix seconds.
#[must_use]
pub fn models_body<'a>(names: impl Iterator<Item = &'a str>, created: i64) -> Vec<u8> {
    let data = names.map(|id| Model { id, object: "model", created, owned_by: "belay" }).collect();
    // Plain text and numbers: writing them into memory cannot fail.
    serde_json::to_vec(&List { object: "list", data }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_is_a_model() {
        let body = models_body(["chat", "a\"b"].into_iter(), 7);
        assert_eq!(
            String::from_utf8(body).unwrap(),
            r#"{"object":"list","data":[{"id":"chat","object":"model","created":7,"owned_by":"belay"},{"id":"a\"b","object":"model","created":7,"owned_by":"belay"}]}"#
        );
    }
}
