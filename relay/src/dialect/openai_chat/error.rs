//! The relay's own errors, in the shape that OpenAI's clients read.

use bytes::{BufMut as _, BytesMut};
use serde::{Serialize, Serializer, ser::SerializeSeq as _};

/// An error for a client.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ClientError<'a> {
    /// What happened and what to do about it.
    pub message: &'a str,
    /// OpenAI's `type`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The field of the request that is wrong.
    pub param: Option<&'a str>,
    /// OpenAI's `code`.
    pub code: Option<&'a str>,
    /// What the relay did, for those who know that there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub belay: Option<BelayError<'a>>,
}

/// The relay's part of an error.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct BelayError<'a> {
    /// The request's id.
    pub request_id: &'a str,
    /// How the request, or its last attempt, ended.
    pub outcome: &'a str,
    /// Whether the same request may well succeed later.
    pub recoverable: bool,
    /// Rung and outcome of each attempt, in order.
    #[serde(serialize_with = "tried")]
    pub tried: &'a [(String, &'a str)],
}

fn tried<S: Serializer>(tried: &&[(String, &str)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Attempt<'a> {
        rung: &'a str,
        outcome: &'a str,
    }
    let mut list = serializer.serialize_seq(Some(tried.len()))?;
    for (rung, outcome) in *tried {
        list.serialize_element(&Attempt { rung, outcome })?;
    }
    list.end()
}

/// The body of an error answer.
#[must_use]
pub fn error_body(e: &ClientError<'_>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        error: &'a ClientError<'a>,
    }
    // Plain text and flags: writing them into memory cannot fail.
    serde_json::to_vec(&Body { error: e }).unwrap_or_default()
}

/// The error that ends a stream. No `event` line: OpenAI's clients look at the
/// data, and some skip events with a name. No terminator follows it.
pub fn error_event(e: &ClientError<'_>, out: &mut BytesMut) {
    out.put_slice(b"data: ");
    out.put_slice(&error_body(e));
    out.put_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_openais_keys_and_one_more() {
        let tried = [("a".to_owned(), "overloaded"), ("b".to_owned(), "junk")];
        let belay =
            BelayError { request_id: "req_1", outcome: "failed", recoverable: true, tried: &tried };
        let mut error = ClientError {
            message: "No\nrung answered.",
            kind: "server_error",
            param: None,
            code: Some("overloaded"),
            belay: Some(belay),
        };
        let mut out = BytesMut::new();
        error_event(&error, &mut out);
        assert_eq!(
            std::str::from_utf8(&out).unwrap(),
            concat!(
                r#"data: {"error":{"message":"No\nrung answered.","type":"server_error","param":null,"#,
                r#""code":"overloaded","belay":{"request_id":"req_1","outcome":"failed","#,
                r#""recoverable":true,"tried":[{"rung":"a","outcome":"overloaded"},"#,
                r#"{"rung":"b","outcome":"junk"}]}}}"#,
                "\n\n"
            )
        );
        error.belay = None;
        assert!(!String::from_utf8(error_body(&error)).unwrap().contains("belay"));
    }
}
