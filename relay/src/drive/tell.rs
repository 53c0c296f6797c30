//! The words for a failure: what happened, and what to do about it.

use super::in_force::Ladder;
use crate::dialect::provider_error::ProviderError;
use crate::policy::{Failure, Told};
use shared::{AttemptOutcome, PassedOver};

/// An error's parts, before they take a dialect's shape.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) message: String,
    pub(super) kind: &'static str,
    pub(super) param: Option<String>,
    pub(super) code: String,
    /// Whether the same request may succeed if it is sent again.
    pub(super) recoverable: bool,
}

/// Puts `failure` into words. `speaker` is the provider's own error, already
/// without keys and hosts, where it may be passed on.
pub(super) fn words(
    failure: &Failure,
    ladder: &Ladder,
    speaker: Option<&ProviderError>,
    untold: Option<&str>,
) -> Words {
    let words = own_words(failure, ladder, speaker, untold);
    let is_said = matches!(failure.told, Told::Rejected(_));
    let said = speaker.map(|error| error.message.trim()).filter(|said| !said.is_empty());
    match said.filter(|_| !is_said) {
        Some(said) => {
            Words { message: format!("{} The provider said: {said}", words.message), ..words }
        }
        None => words,
    }
}

fn own_words(
    failure: &Failure,
    ladder: &Ladder,
    speaker: Option<&ProviderError>,
    untold: Option<&str>,
) -> Words {
    let name = &ladder.name;
    let upstream = |code: &str, message: String| Words {
        message,
        kind: "upstream_error",
        param: None,
        code: code.to_owned(),
        recoverable: true,
    };
    match failure.told {
        Told::Rejected(outcome) => rejected(outcome, speaker),
        Told::NoRungAble { reason: PassedOver::Dialect, .. } => no_words(name, untold),
        Told::NoRungAble { reason, feature } => no_rung_able(name, reason, feature),
        Told::AllForcedOpen => upstream(
            "all_forced_open",
            format!("Every rung of '{name}' was taken out of service by its operator. Try later."),
        ),
        Told::RateLimited => Words {
            kind: "rate_limit_error",
            ..upstream(
                "rate_limit_exceeded",
                format!(
                    "Every rung of '{name}' is rate limited. Wait for the time in Retry-After."
                ),
            )
        },
        Told::Unavailable => upstream(
            "overloaded",
            format!("No rung of '{name}' has capacity just now. Send the request again shortly."),
        ),
        Told::Timeout => upstream(
            "timeout",
            format!("No rung of '{name}' brought a first token in time. Send the request again."),
        ),
        Told::AccountRefused => Words {
            recoverable: false,
            ..upstream(
                "upstream_auth",
                format!(
                    "The providers of '{name}' refuse the relay's own credential; yours is fine. \
                     Tell whoever runs this relay."
                ),
            )
        },
        Told::BadGateway => upstream(
            "bad_gateway",
            format!(
                "No rung of '{name}' gave an answer; 'tried' says what each did. Send the request again."
            ),
        ),
        Told::Deadline => upstream(
            "deadline",
            format!(
                "The time that '{name}' allows for a whole request ran out. Ask for less, or send it again."
            ),
        ),
        Told::Draining => {
            upstream("draining", "The relay is shutting down. Send the request again.".to_owned())
        }
        Told::CutByOperator => upstream(
            "cut_by_operator",
            "An operator took the provider of this answer out of service. What you have is not \
             the whole answer. Send the request again."
                .to_owned(),
        ),
        Told::RelayFault => Words {
            kind: "server_error",
            ..upstream(
                "relay_fault",
                "The relay failed on this request alone. Send it again, and report its request id."
                    .to_owned(),
            )
        },
        Told::Broken(outcome) => upstream(outcome.as_str(), broken(outcome)),
    }
}

fn rejected(outcome: AttemptOutcome, speaker: Option<&ProviderError>) -> Words {
    let said = speaker.map(|error| error.message.clone()).filter(|message| !message.is_empty());
    let (code, fallback) = match outcome {
        AttemptOutcome::ContextExceeded => (
            Some("context_length_exceeded"),
            "The prompt is longer than the context of every rung on this ladder. Shorten it.",
        ),
        AttemptOutcome::Refused => {
            (Some("content_filter"), "The provider's content filter refused the prompt. Change it.")
        }
        _ => (None, "The provider refused the request as malformed, without saying why."),
    };
    let own = speaker.and_then(|error| error.code.clone());
    Words {
        message: said.unwrap_or_else(|| fallback.to_owned()),
        kind: "invalid_request_error",
        param: speaker.and_then(|error| error.param.clone()),
        code: code.map(str::to_owned).or(own).unwrap_or_else(|| outcome.as_str().to_owned()),
        recoverable: false,
    }
}

fn no_words(ladder: &str, untold: Option<&str>) -> Words {
    let field = untold.unwrap_or("a field of it");
    Words {
        message: format!(
            "No rung of '{ladder}' has words for '{field}' in its dialect. Leave it out, or ask for \
             a ladder with a rung of your own dialect."
        ),
        kind: "invalid_request_error",
        param: untold.map(str::to_owned),
        code: "no_rung_able".to_owned(),
        recoverable: false,
    }
}

fn no_rung_able(ladder: &str, reason: PassedOver, feature: Option<&'static str>) -> Words {
    let message = match (feature, reason) {
        (Some(feature), _) => format!(
            "No rung of '{ladder}' supports '{feature}', which this request needs. \
             Leave it out, or ask for a ladder that has it."
        ),
        (None, PassedOver::MaxOutput) => format!(
            "No rung of '{ladder}' gives an answer as long as max_tokens asks for. Lower it."
        ),
        (None, _) => {
            format!("The prompt is longer than the context of any rung of '{ladder}'. Shorten it.")
        }
    };
    Words {
        message,
        kind: "invalid_request_error",
        param: None,
        code: "no_rung_able".to_owned(),
        recoverable: false,
    }
}

fn broken(outcome: AttemptOutcome) -> String {
    let what = match outcome {
        AttemptOutcome::Stall => "The provider stopped sending in the middle of the answer.",
        AttemptOutcome::Disconnect => {
            "The provider's connection broke in the middle of the answer."
        }
        _ => "The provider reported an error in the middle of the answer.",
    };
    format!("{what} What you have is not the whole answer. Send the request again.")
}
