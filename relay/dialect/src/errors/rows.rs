//! The rows of a dialect's error table.

use crate::errors::provider_error::Evidence;
use shared::Signature;

pub(crate) const fn row(
    when: When,
    field: Field,
    needle: &'static str,
    signature: Signature,
) -> Row {
    Row { when, field, needle, signature, evidence: evidence_of(field) }
}

/// A row whose code or type is used for several things: for our account, or for something that a
/// request names.
pub(crate) const fn hint(
    when: When,
    field: Field,
    needle: &'static str,
    signature: Signature,
) -> Row {
    Row { when, field, needle, signature, evidence: Evidence::Hint }
}

/// Where a needle is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The provider's code.
    Code,
    /// The provider's type of error.
    Type,
    /// Google's reason among the details of an error.
    Reason,
    /// The provider's message.
    Message,
}

/// The statuses under which a row of the table applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Under every status.
    Always,
    /// Under these statuses, and inside a 200.
    Statuses(&'static [u16]),
    /// Only inside a 200: there is no status there that would be more precise.
    InStream,
}

/// One row of a dialect's table. Case does not matter.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The statuses under which it applies.
    pub when: When,
    /// Where to look.
    pub field: Field,
    /// What to look for.
    pub needle: &'static str,
    /// What it means.
    pub signature: Signature,
    /// How sure the meaning is.
    pub evidence: Evidence,
}

/// The evidence that a match in this field gives.
pub(crate) const fn evidence_of(field: Field) -> Evidence {
    match field {
        Field::Message => Evidence::Words,
        Field::Code | Field::Type | Field::Reason => Evidence::Field,
    }
}
