//! What a provider's error means.
//!
//! Providers reuse status codes: an exhausted account is a 429, a bad key a 400,
//! a prompt that is too long a 400 like any other. So the meaning comes from a
//! table over type, code and message. The table is data, one per dialect, and an
//! operator can add to it in the configuration; where nothing matches, an HTTP
//! status speaks for itself, which is the policy's business.

mod anthropic_messages;
mod gemini;
mod openai_chat;
mod openai_responses;

pub use super::provider_error::{ProviderError, parse_error, parse_error_event};

use shared::{Dialect, Signature};

/// A dialect's tables, in the order in which they count.
const fn tables(dialect: Dialect) -> &'static [&'static [Row]] {
    match dialect {
        Dialect::OpenaiChat => &[openai_chat::OPENAI_CHAT],
        Dialect::OpenaiResponses => &[openai_responses::OPENAI_RESPONSES, openai_chat::OPENAI_CHAT],
        Dialect::AnthropicMessages => &[anthropic_messages::ANTHROPIC_MESSAGES],
        Dialect::Gemini => &[gemini::GEMINI],
    }
}

const fn row(when: When, field: Field, needle: &'static str, signature: Signature) -> Row {
    Row { when, field, needle, signature }
}

/// Where a needle is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The provider's code.
    Code,
    /// The provider's type of error.
    Type,
    /// The provider's words.
    Message,
}

/// Under which statuses a row of the table counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whatever the status.
    Always,
    /// Under these statuses, and inside a 200.
    Statuses(&'static [u16]),
    /// Only inside a 200, where there is no status that could say it better.
    InStream,
}

/// One row of a dialect's table. Case does not matter.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Under which statuses.
    pub when: When,
    /// Where to look.
    pub field: Field,
    /// What to look for.
    pub needle: &'static str,
    /// What it means.
    pub signature: Signature,
}

/// One matcher of the operator's. Comes before the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matcher {
    /// Under which status; `None`: any, and inside a 200.
    pub status: Option<u16>,
    /// Where to look.
    pub field: Field,
    /// What to look for; case does not matter.
    pub contains: String,
    /// What it means.
    pub signature: Signature,
}

/// Sets `err.signature` from the first matcher that matches: the operator's
/// `extra`, then the dialect's table. Leaves it alone where none does.
///
/// `status` is the HTTP status; `None` for an error inside a 200, which has only
/// the status that its body names.
pub fn classify(dialect: Dialect, extra: &[Matcher], status: Option<u16>, err: &mut ProviderError) {
    let effective = status.or(err.status);
    let own = extra
        .iter()
        .filter(|matcher| matcher.status.is_none_or(|wanted| effective == Some(wanted)))
        .find(|matcher| contains(err, matcher.field, &matcher.contains))
        .map(|matcher| matcher.signature);
    let from_table = |in_stream: bool| {
        let row = tables(dialect)
            .iter()
            .copied()
            .flatten()
            .filter(|row| match row.when {
                When::Always => !in_stream,
                When::Statuses(list) => {
                    !in_stream && status.is_none_or(|status| list.contains(&status))
                }
                When::InStream => in_stream && status.is_none(),
            })
            .find(|row| contains(err, row.field, row.needle));
        row.map(|row| row.signature)
    };
    let named = if status.is_none() { err.status } else { None };
    // A named 503 says more than the type "server_error" beside it; a named 500 says less.
    let telling = named.filter(|status| !matches!(status, 400 | 500)).and_then(by_named_status);
    let known = own
        .or_else(|| from_table(false))
        .or(telling)
        .or_else(|| from_table(true))
        .or_else(|| named.and_then(by_named_status));
    if known.is_some() {
        err.signature = known;
    }
}

/// The meaning of a status that stands inside the error of a 200.
fn by_named_status(status: u16) -> Option<Signature> {
    Some(match status {
        401..=405 | 410 | 451 => Signature::Auth,
        408 | 409 => Signature::ServerError,
        429 => Signature::RateLimited,
        503 | 529 => Signature::Overloaded,
        400 | 413 | 422 | 431 => Signature::BadRequest,
        500..=599 => Signature::ServerError,
        _ => return None,
    })
}

fn contains(err: &ProviderError, field: Field, needle: &str) -> bool {
    let hay = match field {
        Field::Code => err.code.as_deref(),
        Field::Type => err.kind.as_deref(),
        Field::Message => Some(err.message.as_str()),
    };
    // An empty needle would match everything; in a configuration it is a slip.
    !needle.is_empty()
        && hay.is_some_and(|hay| {
            hay.as_bytes()
                .windows(needle.len())
                .any(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(status: Option<u16>, body: &str) -> Option<Signature> {
        let mut err = parse_error(body.as_bytes());
        classify(Dialect::OpenaiChat, &[], status, &mut err);
        err.signature
    }

    #[test]
    fn inside_a_200_type_code_and_named_status_speak() {
        for (body, expected) in [
            (
                r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Some(Signature::Overloaded),
            ),
            (
                r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"quota used up"}}"#,
                Some(Signature::Auth),
            ),
            (
                r#"{"error":{"message":"rate limited","type":"rate_limit_error","code":429}}"#,
                Some(Signature::RateLimited),
            ),
            (
                r#"{"error":{"message":"worker lost","type":"server_error","code":500}}"#,
                Some(Signature::ServerError),
            ),
            (r#"{"error":{"message":"x","code":502}}"#, Some(Signature::ServerError)),
            (r#"{"error":{"message":"x","status_code":400}}"#, Some(Signature::BadRequest)),
            (r#"{"error":"plain string reason"}"#, None),
        ] {
            assert_eq!(meaning(None, body), expected, "{body}");
        }
    }

    #[test]
    fn under_a_status_a_vague_type_says_nothing() {
        let vague = r#"{"error":{"type":"server_error","message":"sorry"}}"#;
        assert_eq!(meaning(Some(503), vague), None);
        assert_eq!(meaning(Some(429), r#"{"error":{"message":"slow down","code":429}}"#), None);
        // Tokens per minute, not tokens per prompt.
        let tokens = r#"{"error":{"message":"maximum context length","type":"tokens"}}"#;
        assert_eq!(meaning(Some(429), tokens), None);
    }

    #[test]
    fn the_operators_matchers_come_first() {
        let extra = [Matcher {
            status: Some(429),
            field: Field::Message,
            contains: "Fair Use".to_owned(),
            signature: Signature::Auth,
        }];
        let mut err = parse_error(br#"{"error":{"message":"fair use exceeded"}}"#);
        classify(Dialect::OpenaiChat, &extra, Some(400), &mut err);
        assert_eq!(err.signature, None);
        classify(Dialect::OpenaiChat, &extra, Some(429), &mut err);
        assert_eq!(err.signature, Some(Signature::Auth));
    }
}
