//! What is read from a relay when somebody asks.

use shared::remote::CallError;

/// Something that is read from a relay.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Loaded<T> {
    /// Nobody has asked.
    #[default]
    No,
    /// It was asked for.
    Loading,
    /// It came.
    Come(T),
    /// It did not, and why.
    Failed(CallError),
}

impl<T> Loaded<T> {
    /// Another answer: what is known stands when it did not come.
    pub fn renew(&mut self, found: Result<T, CallError>) {
        if found.is_ok() || !matches!(self, Self::Come(_)) {
            *self = found.into();
        }
    }

    /// Whether an answer is awaited.
    pub const fn is_loading(&self) -> bool {
        matches!(self, Self::Loading)
    }

    /// What came.
    pub const fn come(&self) -> Option<&T> {
        match self {
            Self::Come(value) => Some(value),
            _ => None,
        }
    }
}

impl<T> From<Result<T, CallError>> for Loaded<T> {
    fn from(found: Result<T, CallError>) -> Self {
        match found {
            Ok(value) => Self::Come(value),
            Err(why) => Self::Failed(why),
        }
    }
}
