//! Why a change was refused, and what to do. A refused change has changed nothing.

use shared::RefusedReason;
use shared::admin::changes::{Present, RefusalDetail};

/// How a call was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The call itself is wrong.
    Wrong,
    /// It names something that does not exist.
    Unknown,
    /// It conflicts with what is in force.
    Conflict,
    /// Another change was made first.
    Version,
    /// It does not say which version it was made on.
    NeedsVersion,
}

const fn kind(reason: RefusedReason) -> RefusalKind {
    use RefusedReason as R;
    match reason {
        R::BadId | R::NoReason | R::BadReason | R::BadChanges | R::Twice => RefusalKind::Wrong,
        R::BadOrder | R::Ambiguous => RefusalKind::Wrong,
        R::UnknownRung | R::UnknownLadder | R::UnknownProvider => RefusalKind::Unknown,
        R::UnknownDomain | R::UnknownName | R::UnknownNote => RefusalKind::Unknown,
        R::IdReused | R::LastRung | R::NoUndo => RefusalKind::Conflict,
        R::Superseded | R::Overridden | R::NothingToProbe => RefusalKind::Conflict,
        R::Version => RefusalKind::Version,
        R::NoVersion => RefusalKind::NeedsVersion,
    }
}

/// A call that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// How.
    pub kind: RefusalKind,
    /// The text for the caller.
    pub detail: Box<RefusalDetail>,
}

impl Refused {
    /// A refusal with its reason for programs and a message for a person.
    #[must_use]
    pub fn new(reason: RefusedReason, message: impl Into<String>) -> Self {
        let detail = RefusalDetail {
            message: message.into(),
            code: Some(reason.into()),
            ..RefusalDetail::default()
        };
        Self { kind: kind(reason), detail: Box::new(detail) }
    }

    /// The call names something that does not exist.
    #[must_use]
    pub fn unknown(reason: RefusedReason, what: &str, name: &str, known: &[String]) -> Self {
        let message = format!("There is no {what} '{name}'. Known are: {}.", known.join(", "));
        Self::new(reason, message)
    }

    /// The call's id was already used for another action.
    #[must_use]
    pub fn reused(id: &str) -> Self {
        let message = format!(
            "The id '{id}' was used for something else. Make a new one; GET /admin/v1/actions/{id} \
             says what was done under it."
        );
        Self::new(RefusedReason::IdReused, message)
    }

    /// The same refusal, with what is in force now.
    #[must_use]
    pub fn with(mut self, present: Present) -> Self {
        self.detail.present = Some(present);
        self
    }

    /// The change would leave ladders with forced-open rungs only.
    pub(super) fn last_rung(ladders: Vec<String>) -> Self {
        let names = ladders.join(", ");
        let message = format!(
            "This would leave {names} with forced-open rungs only: every request there would fail. \
             Leave a rung in, demote instead, or accept it for each of these ladders by name."
        );
        let mut refused = Self::new(RefusedReason::LastRung, message);
        refused.detail.ladders = ladders;
        refused
    }
}

const MOST_ID: usize = 64;
const MOST_REASON: usize = 400;

/// Checks what every call that changes something must have: an id, and a reason in the field
/// `what`.
///
/// # Errors
/// What is wrong with the id or the reason.
pub fn check_reason(id: &str, what: &str, reason: &str) -> Result<(), Refused> {
    check_id(id)?;
    if reason.trim().is_empty() {
        let message =
            format!("'{what}' is missing. Say in a few words why, for whoever reads it at night.");
        return Err(Refused::new(RefusedReason::NoReason, message));
    }
    if reason.chars().count() > MOST_REASON || reason.chars().any(char::is_control) {
        let message = format!("'{what}' must be one line of at most {MOST_REASON} characters.");
        return Err(Refused::new(RefusedReason::BadReason, message));
    }
    Ok(())
}

/// Checks an action's id.
///
/// # Errors
/// It is not a valid id.
pub fn check_id(id: &str) -> Result<(), Refused> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if id.is_empty() || id.len() > MOST_ID || !id.chars().all(fits) {
        let message = format!(
            "'id' must be 1 to {MOST_ID} letters, digits, '.', '_' or '-', made anew for each change."
        );
        return Err(Refused::new(RefusedReason::BadId, message));
    }
    Ok(())
}
