//! What a provider's error means.
//!
//! Providers reuse status codes: an exhausted account is a 429, a bad key a 400, and a prompt that
//! is too long is a 400 like many other errors. So the meaning comes from a table over type, code
//! and message. The table is data, one per dialect, and an operator can add to it in the config. If
//! nothing matches, the HTTP status decides, which is the policy's task.

use crate::errors::provider_error::{Evidence, ProviderError};
use crate::errors::rows::{Field, When, evidence_of};
use crate::table;
use shared::{Dialect, Signature};

/// One matcher of the operator. Operators' matchers are tried before the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matcher {
    /// The status under which it applies; `None`: any status, and inside a 200.
    pub status: Option<u16>,
    /// Where to look.
    pub field: Field,
    /// What to look for; case does not matter.
    pub contains: String,
    /// What it means.
    pub signature: Signature,
}

/// Sets `err.signature` from the first matcher that matches: the operator's `extra`, then the
/// dialect's table. Leaves it unchanged if none matches.
///
/// `status` is the HTTP status; `None`: the error is inside a 200, and only its body may name a
/// status.
///
/// `quotes` says whether given words are in the request. Providers quote the request, so such words
/// prove nothing about the rung or our account. It is called only if a message has the words.
pub fn classify(
    dialect: Dialect,
    extra: &[Matcher],
    status: Option<u16>,
    err: &mut ProviderError,
    quotes: &dyn Fn(&str) -> bool,
) {
    // A meaning that was found by words is found again, because now the request is known.
    if err.evidence == Evidence::Words {
        (err.signature, err.evidence) = (None, Evidence::None);
    }
    let says = |field: Field, needle: &str, signature: Signature| {
        contains(err, field, needle)
            && !(field == Field::Message && is_of_the_rung(signature) && quotes(needle))
    };
    let effective = status.or(err.status);
    let own = extra
        .iter()
        .filter(|matcher| matcher.status.is_none_or(|wanted| effective == Some(wanted)))
        .find(|matcher| says(matcher.field, &matcher.contains, matcher.signature))
        .map(|matcher| (matcher.signature, evidence_of(matcher.field)));
    let from_table = |in_stream: bool| {
        let row = table::spec(dialect)
            .errors()
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
            .find(|row| says(row.field, row.needle, row.signature));
        row.map(|row| (row.signature, row.evidence))
    };
    let named = if status.is_none() { err.status } else { None };
    // A 503 in the body is more precise than the type "server_error" beside it; a 500 is less
    // precise.
    let telling = named.filter(|status| !matches!(status, 400 | 500)).and_then(by_named_status);
    let known = own
        .or_else(|| from_table(false))
        .or(telling)
        .or_else(|| from_table(true))
        .or_else(|| named.and_then(by_named_status));
    if let Some((signature, evidence)) = known {
        err.signature = Some(signature);
        err.evidence = evidence;
    }
}

/// Whether an error complains about a field that a client of another dialect does not know. Then
/// the relay wrote that field when it translated the request.
#[must_use]
pub fn names_own_field(error: &ProviderError) -> bool {
    let lower = ProviderError {
        message: error.message.to_ascii_lowercase(),
        param: error.param.as_deref().map(str::to_ascii_lowercase),
        ..ProviderError::default()
    };
    let mut dialects = Dialect::ALL.iter();
    dialects.any(|dialect| lower.names_one_of(table::spec(*dialect).own_fields()))
}

/// Whether a meaning is about the rung, and not only about this request.
const fn is_of_the_rung(signature: Signature) -> bool {
    use Signature::{
        Auth, BadRequest, ContextExceeded, Overloaded, RateLimited, Refused, ServerError,
    };
    match signature {
        Auth | RateLimited | Overloaded | ServerError => true,
        ContextExceeded | Refused | BadRequest => false,
    }
}

/// The meaning of a status that is named by the error inside a 200. Only a 401 is surely about our
/// account.
fn by_named_status(status: u16) -> Option<(Signature, Evidence)> {
    let signature = match status {
        401..=404 | 410 | 451 => Signature::Auth,
        405 => Signature::BadRequest,
        408 | 409 => Signature::ServerError,
        429 => Signature::RateLimited,
        503 | 529 => Signature::Overloaded,
        400 | 413 | 422 | 431 => Signature::BadRequest,
        500..=599 => Signature::ServerError,
        _ => return None,
    };
    Some((signature, if status == 401 { Evidence::Field } else { Evidence::Hint }))
}

fn contains(err: &ProviderError, field: Field, needle: &str) -> bool {
    let hay = match field {
        Field::Code => err.code.as_deref(),
        Field::Type => err.kind.as_deref(),
        Field::Reason => err.reason.as_deref(),
        Field::Message => Some(err.message.as_str()),
    };
    // An empty needle would match everything; in a config it is a mistake.
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
    use crate::errors::provider_error::parse_error;

    fn meaning(status: Option<u16>, body: &str) -> Option<Signature> {
        let mut err = parse_error(body.as_bytes());
        classify(Dialect::OpenaiChat, &[], status, &mut err, &|_| false);
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
        classify(Dialect::OpenaiChat, &extra, Some(400), &mut err, &|_| false);
        assert_eq!(err.signature, None);
        classify(Dialect::OpenaiChat, &extra, Some(429), &mut err, &|_| false);
        assert_eq!(err.signature, Some(Signature::Auth));
    }

    #[test]
    fn b1_words_that_stand_in_the_request_say_nothing_of_the_account() {
        let anthropic = Dialect::AnthropicMessages;
        for (dialect, status, body) in [
            (anthropic, 400, r#"{"error":{"message":"Your credit balance is too low"}}"#),
            (Dialect::OpenaiChat, 400, r#"{"error":{"message":"no tool 'insufficient balance'"}}"#),
            (Dialect::OpenaiChat, 422, r#"{"error":{"message":"bad value: invalid api key"}}"#),
            (Dialect::Gemini, 400, r#"{"error":{"message":"API key not valid"}}"#),
            (Dialect::OpenaiChat, 500, r#"{"error":{"message":"overloaded"}}"#),
        ] {
            let classed = |quotes: bool| {
                let mut err = parse_error(body.as_bytes());
                classify(dialect, &[], Some(status), &mut err, &|_| quotes);
                (err.signature, err.evidence)
            };
            assert_eq!(classed(false).1, Evidence::Words, "{body}");
            assert!(classed(false).0.is_some_and(is_of_the_rung), "{body}");
            assert_eq!(classed(true), (None, Evidence::None), "{body}");
        }
        // What an operator looks for is quoted as easily.
        let extra = [Matcher {
            status: None,
            field: Field::Message,
            contains: "fair use".to_owned(),
            signature: Signature::Auth,
        }];
        let mut err = parse_error(br#"{"error":{"message":"fair use"}}"#);
        classify(anthropic, &extra, Some(400), &mut err, &|_| true);
        assert_eq!(err.signature, None);
        // A first look without the request is taken back by one that has it.
        classify(anthropic, &extra, None, &mut err, &|_| false);
        assert_eq!(err.signature, Some(Signature::Auth));
        classify(anthropic, &extra, None, &mut err, &|_| true);
        assert_eq!(err.signature, None);
        // A meaning that is only about the request stays, even if the request has the words.
        let mut err = parse_error(br#"{"error":{"message":"prompt is too long"}}"#);
        classify(anthropic, &[], Some(400), &mut err, &|_| true);
        assert_eq!(err.signature, Some(Signature::ContextExceeded));
    }

    #[test]
    fn b1_how_sure_a_meaning_is() {
        use Evidence::{Field as Sure, Hint, Words};
        let chat = Dialect::OpenaiChat;
        for (dialect, status, body, signature, evidence) in [
            (chat, Some(400), r#"{"error":{"code":"invalid_api_key"}}"#, Signature::Auth, Sure),
            (chat, Some(429), r#"{"error":{"type":"insufficient_quota"}}"#, Signature::Auth, Sure),
            (chat, Some(404), r#"{"error":{"code":"model_not_found"}}"#, Signature::Auth, Hint),
            (chat, None, r#"{"error":{"code":401,"message":"x"}}"#, Signature::Auth, Sure),
            (chat, None, r#"{"error":{"code":404,"message":"x"}}"#, Signature::Auth, Hint),
            (chat, None, r#"{"error":{"type":"permission_denied"}}"#, Signature::Auth, Hint),
            (
                chat,
                Some(402),
                r#"{"error":{"message":"Insufficient Balance"}}"#,
                Signature::Auth,
                Words,
            ),
            (
                Dialect::Gemini,
                Some(400),
                r#"{"error":{"code":400,"message":"x","details":[{"reason":"API_KEY_INVALID"}]}}"#,
                Signature::Auth,
                Sure,
            ),
            (
                Dialect::AnthropicMessages,
                Some(400),
                r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                Signature::Auth,
                Words,
            ),
        ] {
            let mut err = parse_error(body.as_bytes());
            classify(dialect, &[], status, &mut err, &|_| false);
            assert_eq!((err.signature, err.evidence), (Some(signature), evidence), "{body}");
        }
    }

    #[test]
    fn b1_a_404_about_something_in_the_request_is_the_requests() {
        for (dialect, status, message) in [
            (Dialect::OpenaiChat, 404, "No such File object: file-abc"),
            (Dialect::OpenaiChat, 404, "No endpoints found that support image input"),
            (Dialect::OpenaiChat, 404, "No endpoints found that support tool use."),
            (Dialect::OpenaiChat, 404, "This model does not support image inputs"),
            (Dialect::OpenaiResponses, 404, "Item with id 'rs_1' not found."),
            (Dialect::AnthropicMessages, 404, "File not found: file_1"),
            (Dialect::Gemini, 403, "You do not have permission to access the File x"),
            (Dialect::Gemini, 403, "CachedContent not found (or permission denied)"),
        ] {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            let mut err = parse_error(body.as_bytes());
            classify(dialect, &[], Some(status), &mut err, &|_| false);
            assert_eq!(err.signature, Some(Signature::BadRequest), "{message}");
        }
        // A model that is not there is the rung's own.
        let gone = r#"{"error":{"message":"No endpoints found for vendor/model."}}"#;
        assert_eq!(meaning(Some(404), gone), None);
    }
}
