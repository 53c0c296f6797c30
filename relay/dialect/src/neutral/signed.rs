//! Proofs that travel through a dialect that is not their own.
//!
//! A provider wants its signatures back unchanged, and refuses those of others. So
//! one that leaves in another dialect's field carries its maker's name, and the
//! relay finds out from what comes back whom it may be sent to.

use crate::neutral::Signed;
use shared::Dialect;

/// Begins a proof that is not its field's own. No provider's proofs have a dot.
const MARK: &str = "belay.";

impl Signed {
    /// Reads what stands in a field of the dialect `own`.
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

    /// Whether `text` is a proof that this relay marked as another dialect's.
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
