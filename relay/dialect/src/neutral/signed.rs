//! Signatures in a field of another dialect than their own.
//!
//! A provider needs its own signatures back unchanged, and refuses those of others. So a signature
//! that is written in another dialect's field carries the name of the dialect that made it. When
//! the client sends it back, the relay knows which providers may get it.

use crate::neutral::Signed;
use shared::Dialect;

/// The beginning of a signature that is not of its field's own dialect. No provider's signatures
/// have a dot.
const MARK: &str = "belay.";

impl Signed {
    /// Reads a signature from a field of the dialect `own`.
    #[must_use]
    pub fn read(own: Dialect, text: &str) -> Self {
        let marked = text.strip_prefix(MARK).and_then(|rest| rest.split_once('.'));
        let known = marked.and_then(|(by, data)| Some((by.parse().ok()?, data)));
        let (by, data) = known.unwrap_or((own, text));
        Self { by, data: data.to_owned() }
    }

    /// Writes `data`, made by a provider of dialect `by`, for a field of the dialect `own`.
    #[must_use]
    pub fn write(own: Dialect, by: Dialect, data: &str) -> String {
        if own == by { data.to_owned() } else { format!("{MARK}{by}.{data}") }
    }

    /// Whether `text` is a signature that this relay marked as another dialect's.
    #[must_use]
    pub fn is_marked(text: &str) -> bool {
        text.starts_with(MARK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_finds_its_maker_again_through_every_dialect() {
        for own in Dialect::ALL {
            for by in Dialect::ALL {
                let written = Signed::write(*own, *by, "aB+/=");
                let read = Signed::read(*own, &written);
                assert_eq!((read.by, read.data.as_str()), (*by, "aB+/="), "{own} {by}");
                assert_eq!(Signed::is_marked(&written), own != by);
            }
        }
        let odd = Signed::read(Dialect::Gemini, "belay.nobody.x");
        assert_eq!((odd.by, odd.data.as_str()), (Dialect::Gemini, "belay.nobody.x"));
    }
}
