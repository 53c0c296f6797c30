//! The words for a failure: what happened, and what to do about it.

use dialect::errors::ProviderError;
use policy::{Capability, Failure, FailureReason};
use shared::{AttemptOutcome, PassedOver};
use std::time::Duration;

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

/// Words `failure` for the client: an application often shows them to its
/// user. `name` is the model that was asked for. `speaker` is the provider's own error, already
/// without keys and hosts, where it may be passed on.
pub(super) fn words(
    failure: &Failure,
    name: &str,
    speaker: Option<&ProviderError>,
    unsupported: Option<&str>,
) -> Words {
    let words = own_words(failure, name, speaker, unsupported);
    let is_said = matches!(failure.reason, FailureReason::Rejected(_));
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
    name: &str,
    speaker: Option<&ProviderError>,
    unsupported: Option<&str>,
) -> Words {
    let upstream = |code: &str, message: String| Words {
        message,
        kind: "upstream_error",
        param: None,
        code: code.to_owned(),
        recoverable: true,
    };
    match failure.reason {
        FailureReason::Rejected(outcome) => rejected(name, outcome, speaker),
        FailureReason::NoRungAble { reason: PassedOver::Dialect, .. } => {
            no_words(name, unsupported)
        }
        FailureReason::NoRungAble { reason, feature } => {
            no_rung_able(name, reason, feature.map(Capability::as_str))
        }
        FailureReason::AllForcedOpen => upstream(
            "all_forced_open",
            format!("'{name}' is out of service for now: its operator has stopped it. Try later."),
        ),
        FailureReason::RateLimited => Words {
            kind: "rate_limit_error",
            ..upstream(
                "rate_limit_exceeded",
                format!("'{name}' is at its rate limit. {}", again(failure.retry_after)),
            )
        },
        FailureReason::Unavailable => upstream(
            "overloaded",
            format!("'{name}' has no capacity just now. {}", again(failure.retry_after)),
        ),
        FailureReason::Timeout => upstream(
            "timeout",
            format!("'{name}' did not begin to answer in time. Send the request again."),
        ),
        FailureReason::AccountRefused => Words {
            recoverable: false,
            ..upstream(
                "upstream_auth",
                format!(
                    "'{name}' is not available: its providers refuse the relay's own credential. \
                     Yours is fine. Tell whoever runs this relay."
                ),
            )
        },
        FailureReason::BadGateway => {
            upstream("bad_gateway", format!("'{name}' gave no answer. Send the request again."))
        }
        FailureReason::Deadline => upstream(
            "deadline",
            format!(
                "The time that '{name}' allows for a whole request ran out. Ask for less, or send it again."
            ),
        ),
        FailureReason::Draining => {
            upstream("draining", "The relay is shutting down. Send the request again.".to_owned())
        }
        FailureReason::CutByOperator => upstream(
            "cut_by_operator",
            "An operator took the provider of this answer out of service. What you have is not \
             the whole answer. Send the request again."
                .to_owned(),
        ),
        FailureReason::RelayFault => Words {
            kind: "server_error",
            ..upstream(
                "relay_fault",
                "The relay failed on this request alone. Send it again, and report its request id."
                    .to_owned(),
            )
        },
        FailureReason::Broken(outcome) => upstream(outcome.as_str(), broken(outcome)),
    }
}

/// When to ask again.
fn again(wait: Option<Duration>) -> String {
    let Some(wait) = wait else { return "Send the request again shortly.".to_owned() };
    let seconds = (wait.as_millis().div_ceil(1000)).max(1);
    let (count, unit) = match seconds {
        ..=120 => (seconds, "second"),
        121..=7200 => (seconds.div_ceil(60), "minute"),
        _ => (seconds.div_ceil(3600), "hour"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("Send the request again in {count} {unit}{plural}.")
}

fn rejected(name: &str, outcome: AttemptOutcome, speaker: Option<&ProviderError>) -> Words {
    let said = speaker.map(|error| error.message.clone()).filter(|message| !message.is_empty());
    let (code, fallback) = match outcome {
        AttemptOutcome::ContextExceeded => (
            Some("context_length_exceeded"),
            format!("The prompt is longer than '{name}' can read. Shorten it."),
        ),
        AttemptOutcome::Refused => {
            let text = "The provider's content filter refused the prompt. Change it.";
            (Some("content_filter"), text.to_owned())
        }
        _ => {
            let text = "The provider refused the request as malformed, without saying why.";
            (None, text.to_owned())
        }
    };
    let own = speaker.and_then(|error| error.code.clone());
    Words {
        message: said.unwrap_or(fallback),
        kind: "invalid_request_error",
        param: speaker.and_then(|error| error.param.clone()),
        code: code.map(str::to_owned).or(own).unwrap_or_else(|| outcome.as_str().to_owned()),
        recoverable: false,
    }
}

fn no_words(name: &str, unsupported: Option<&str>) -> Words {
    // What there is to say of a field follows its name.
    let (field, why) = match unsupported
        .map(|unsupported| unsupported.split_once(": ").unwrap_or((unsupported, "")))
    {
        Some((field, why)) => (Some(field), Some(why).filter(|why| !why.is_empty())),
        None => (None, None),
    };
    let told = field.unwrap_or("a field of it");
    let advice = why.map_or_else(
        || "Leave it out, or choose another model".to_owned(),
        |why| format!("The reason: {why}"),
    );
    Words {
        message: format!("No provider of '{name}' can be told '{told}'. {advice}."),
        kind: "invalid_request_error",
        param: field.map(str::to_owned),
        code: "no_rung_able".to_owned(),
        recoverable: false,
    }
}

fn no_rung_able(name: &str, reason: PassedOver, feature: Option<&'static str>) -> Words {
    let message = match (feature, reason) {
        (Some(feature), _) => format!(
            "'{name}' does not support '{feature}', which this request needs. Leave it out, or \
             choose another model."
        ),
        (None, PassedOver::MaxOutput) => {
            format!("'{name}' cannot give an answer as long as max_tokens asks for. Lower it.")
        }
        (None, _) => {
            format!("The prompt is longer than '{name}' can read. Shorten it.")
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

#[cfg(test)]
mod tests {
    use super::*;
    use policy::FailureReason;
    use shared::RequestOutcome;

    fn told(told: FailureReason, wait: Option<u64>) -> String {
        let failure = Failure {
            reason: told,
            status: 500,
            outcome: RequestOutcome::Failed,
            cause: None,
            retry_after: wait.map(Duration::from_millis),
            answered_by: None,
        };
        words(&failure, "chat", None, Some("seed")).message
    }

    #[test]
    fn f4_no_word_of_the_relays_own_reaches_a_user() {
        let able = |reason, feature| FailureReason::NoRungAble { reason, feature };
        for what in [
            FailureReason::Rejected(AttemptOutcome::BadRequest),
            FailureReason::Rejected(AttemptOutcome::ContextExceeded),
            FailureReason::Rejected(AttemptOutcome::Refused),
            able(PassedOver::Dialect, None),
            able(PassedOver::Capability, Some(Capability::Tools)),
            able(PassedOver::MaxOutput, None),
            able(PassedOver::Context, None),
            FailureReason::AllForcedOpen,
            FailureReason::RateLimited,
            FailureReason::Unavailable,
            FailureReason::Timeout,
            FailureReason::AccountRefused,
            FailureReason::BadGateway,
            FailureReason::Deadline,
            FailureReason::Draining,
            FailureReason::CutByOperator,
            FailureReason::RelayFault,
            FailureReason::Broken(AttemptOutcome::Stall),
            FailureReason::Broken(AttemptOutcome::Disconnect),
            FailureReason::Broken(AttemptOutcome::StreamError),
        ] {
            let message = told(what, Some(1000));
            for word in ["rung", "ladder", "tried", "Retry-After", "dialect", "token in time"] {
                assert!(!message.contains(word), "{message}");
            }
            assert!(message.ends_with('.'), "{message}");
        }
    }

    #[test]
    fn f4_a_wait_is_told_as_a_number() {
        for (wait, text) in [
            (None, "again shortly."),
            (Some(200), "in 1 second."),
            (Some(11_001), "in 12 seconds."),
            (Some(90_000), "in 90 seconds."),
            (Some(300_000), "in 5 minutes."),
            (Some(7_300_000), "in 3 hours."),
        ] {
            for what in [FailureReason::RateLimited, FailureReason::Unavailable] {
                let message = told(what, wait);
                assert!(message.ends_with(text), "{message}");
            }
        }
    }
}
