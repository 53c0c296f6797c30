//! One macro for closed sets of words.
//!
//! A set that is journaled, logged and sent over the admin API must be spelled
//! the same everywhere; this keeps the spelling in one place per word.

/// An unknown word where one of a closed set was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// The set's name, such as "attempt outcome".
    pub set: &'static str,
    /// What stood there instead.
    pub found: String,
}

impl std::fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}' is no {}", self.found, self.set)
    }
}

impl std::error::Error for UnknownWord {}

/// Declares an enum whose variants each have exactly one word.
macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident, $set:literal { $($(#[doc = $vdoc:literal])* $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $vdoc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every member, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The one spelling of this member.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        // Not derived: the derive does not see words that come out of a macro.
        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::schemas::words(&[$($doc),*], &[$(($word, &[$($vdoc),*]),)+])
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;
            fn from_str(found: &str) -> Result<Self, Self::Err> {
                match found {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::words::UnknownWord { set: $set, found: found.to_owned() }),
                }
            }
        }
    };
}

pub(crate) use words;
