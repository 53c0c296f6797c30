//! The relay's own errors, before they are written in a dialect.

use serde::{Serialize, Serializer, ser::SerializeSeq as _};

/// An error for a client. Serialized as it is, it has OpenAI's form.
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
    /// The HTTP status that it has, or would have had before the stream began.
    #[serde(skip)]
    pub status: u16,
    /// The request's id.
    #[serde(skip)]
    pub request_id: &'a str,
    /// What the relay did, for clients that know of the relay.
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
    /// Rung and outcome of each attempt, in order; `None`: the client must not see them.
    #[serde(serialize_with = "tried", skip_serializing_if = "Option::is_none")]
    pub tried: Option<&'a [(String, &'a str)]>,
}

fn tried<S: Serializer>(
    tried: &Option<&[(String, &str)]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Tried<'a> {
        rung: &'a str,
        outcome: &'a str,
    }
    let tried = tried.unwrap_or_default();
    let mut list = serializer.serialize_seq(Some(tried.len()))?;
    for (rung, outcome) in tried {
        list.serialize_element(&Tried { rung, outcome })?;
    }
    list.end()
}

/// The body of an error as OpenAI's clients read it.
pub(crate) fn openai_body(error: &ClientError<'_>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        error: &'a ClientError<'a>,
    }
    // Plain text and flags: writing them into memory cannot fail.
    serde_json::to_vec(&Body { error }).unwrap_or_default()
}
