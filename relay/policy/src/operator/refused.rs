//! Why a change was refused. Each says what to do; nothing has changed then.

use shared::admin::changes::{Present, RefusalDetail};

/// How a call was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// It makes no sense as it is.
    Wrong,
    /// It names what is not there.
    Unknown,
    /// It is at odds with what is so.
    Conflict,
    /// Somebody was faster.
    Version,
    /// It does not say which version it was made on.
    NeedsVersion,
}

/// A call that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// How.
    pub kind: RefusalKind,
    /// For whoever called.
    pub detail: Box<RefusalDetail>,
}

impl Refused {
    /// A refusal with a code for programs and a message for a person.
    #[must_use]
    pub fn new(kind: RefusalKind, code: &str, message: impl Into<String>) -> Self {
        let detail = RefusalDetail {
            message: message.into(),
            code: Some(code.to_owned()),
            ..RefusalDetail::default()
        };
        Self { kind, detail: Box::new(detail) }
    }

    /// It makes no sense as it is.
    #[must_use]
    pub fn wrong(code: &str, message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Wrong, code, message)
    }

    /// It names what is not there.
    #[must_use]
    pub fn unknown(what: &str, name: &str, known: &[String]) -> Self {
        let message = format!("There is no {what} '{name}'. Known are: {}.", known.join(", "));
        Self::new(RefusalKind::Unknown, &format!("unknown_{what}"), message)
    }

    /// Its id was used for something else.
    #[must_use]
    pub fn reused(id: &str) -> Self {
        let message = format!(
            "The id '{id}' was used for something else. Make a new one; GET /admin/v1/actions/{id} \
             says what was done under it."
        );
        Self::new(RefusalKind::Conflict, "id_reused", message)
    }

    /// The same, with what is so now.
    #[must_use]
    pub fn with(mut self, present: Present) -> Self {
        self.detail.present = Some(present);
        self
    }

    /// It would leave ladders with forced-open rungs alone.
    pub(super) fn last_rung(ladders: Vec<String>) -> Self {
        let names = ladders.join(", ");
        let message = format!(
            "This would leave {names} with forced-open rungs only: every request there would fail. \
             Leave a rung in, demote instead, or accept it for each of these ladders by name."
        );
        let mut refused = Self::new(RefusalKind::Conflict, "last_rung", message);
        refused.detail.ladders = ladders;
        refused
    }
}

const MOST_ID: usize = 64;
const MOST_REASON: usize = 400;

/// Checks what every call that does something has to bring: an id, and a reason under the name
/// `what`.
///
/// # Errors
/// What is wrong with one of them.
pub fn check_reason(id: &str, what: &str, reason: &str) -> Result<(), Refused> {
    check_id(id)?;
    if reason.trim().is_empty() {
        let message =
            format!("'{what}' is missing. Say in a few words why, for whoever reads it at night.");
        return Err(Refused::wrong("no_reason", message));
    }
    if reason.chars().count() > MOST_REASON || reason.chars().any(char::is_control) {
        let message = format!("'{what}' must be one line of at most {MOST_REASON} characters.");
        return Err(Refused::wrong("bad_reason", message));
    }
    Ok(())
}

/// Checks an action's id.
///
/// # Errors
/// It is none.
pub fn check_id(id: &str) -> Result<(), Refused> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if id.is_empty() || id.len() > MOST_ID || !id.chars().all(fits) {
        let message = format!(
            "'id' must be 1 to {MOST_ID} letters, digits, '.', '_' or '-', made anew for each change."
        );
        return Err(Refused::wrong("bad_id", message));
    }
    Ok(())
}
