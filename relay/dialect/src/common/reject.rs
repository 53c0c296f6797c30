//! A request that is wrong.

/// A request that is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong and what to do, for a person.
    pub message: String,
    /// The field that is wrong.
    pub param: Option<String>,
    /// What is wrong, as a word for a program.
    pub code: Option<&'static str>,
}

impl Reject {
    /// `param` is wrong.
    pub(crate) fn new(param: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            param: Some(param.to_owned()),
            code: Some(code),
        }
    }

    /// `param` has the wrong type.
    pub(crate) fn wrong_type(param: &str, wanted: &str) -> Self {
        Self::new(param, "invalid_type", format!("'{param}' must be {wanted}."))
    }

    /// `param` is not there.
    pub(crate) fn missing(param: &str, wanted: &str) -> Self {
        let message = format!("'{param}' is missing; send {wanted}.");
        Self::new(param, "missing_required_parameter", message)
    }
}
