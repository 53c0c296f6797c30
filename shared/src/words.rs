//! One macro for closed sets of words.
//!
//! A set that is journaled, logged and sent over the admin API must be spelled
//! the same everywhere; this keeps the spelling in one place per word.

/// An unknown word where one of a closed set was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// The set's name, such as "attempt outcome".
    pub set: &'static str,
    /// The word that was found instead.
    pub found: String,
}

impl std::fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}' is no {}", self.found, self.set)
    }
}

impl std::error::Error for UnknownWord {}

/// A closed set of words.
pub trait Words: Copy + std::fmt::Display + std::str::FromStr {
    /// The one spelling of this member.
    fn word(self) -> &'static str;
}

/// A word of the closed set `T`, or one that a newer program has added to it.
///
/// It is for words that another program sends: a console must keep working with a relay that is
/// newer than itself. On the wire it is the word alone.
///
/// ```
/// use shared::{BreakerState, Word};
///
/// let known: Word<BreakerState> = Word::read("half_open");
/// assert_eq!(known, BreakerState::HalfOpen);
/// let newer: Word<BreakerState> = Word::read("resting");
/// assert_eq!((newer.known(), newer.as_str()), (None, "resting"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Word<T> {
    /// A member.
    Known(T),
    /// A word that is not known here.
    Other(String),
}

impl<T: Words> Word<T> {
    /// The member; `None` for a word that is not known here.
    #[must_use]
    pub const fn known(&self) -> Option<T> {
        match self {
            Self::Known(member) => Some(*member),
            Self::Other(_) => None,
        }
    }

    /// The word as it is spelled.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(member) => member.word(),
            Self::Other(word) => word,
        }
    }

    /// As people write it: `half-open` for `half_open`, where `gap` is a hyphen.
    #[must_use]
    pub fn spaced(&self, gap: &str) -> String {
        self.as_str().replace('_', gap)
    }

    /// Reads `word`: as a member, or as a word that is not known here.
    #[must_use]
    pub fn read(word: &str) -> Self {
        word.parse().map_or_else(|_unknown| Self::Other(word.to_owned()), Self::Known)
    }
}

impl<T: Words> From<T> for Word<T> {
    fn from(member: T) -> Self {
        Self::Known(member)
    }
}

impl<T: Words + PartialEq> PartialEq<T> for Word<T> {
    fn eq(&self, other: &T) -> bool {
        self.known() == Some(*other)
    }
}

impl<T: Words> std::fmt::Display for Word<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: Words> serde::Serialize for Word<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Words> serde::Deserialize<'de> for Word<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Ok(Self::read(&word))
    }
}

/// Declares an enum whose variants each have exactly one word. `as` gives its name in the admin
/// API's document, where that name is another one.
macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident $(as $schema:literal)?, $set:literal { $($(#[doc = $vdoc:literal])* $variant:ident = $word:literal,)+ }) => {
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

        impl $crate::words::Words for $name {
            fn word(self) -> &'static str {
                self.as_str()
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
        impl utoipa::ToSchema for $name {
            $(fn name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            })?
        }

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

#[cfg(test)]
mod tests {
    use super::Word;
    use crate::{BreakerState, TransitionRule};

    #[test]
    fn a_word_of_a_newer_program_is_kept_as_it_is() {
        let read = |json: &str| serde_json::from_str::<Word<BreakerState>>(json).unwrap();
        assert_eq!(read("\"half_open\""), BreakerState::HalfOpen);
        let newer = read("\"ajar\"");
        assert_eq!(newer, Word::Other("ajar".to_owned()));
        assert_eq!(newer.known(), None);
        for word in [newer, BreakerState::Open.into()] {
            let json = serde_json::to_string(&word).unwrap();
            assert_eq!((json.as_str(), read(&json)), (&*format!("\"{word}\""), word.clone()));
        }
    }

    #[test]
    fn every_rule_has_a_sentence() {
        for rule in TransitionRule::ALL {
            assert!(rule.text().contains(' '), "{rule}");
            assert_eq!(rule.as_str().parse(), Ok(*rule));
        }
    }
}
