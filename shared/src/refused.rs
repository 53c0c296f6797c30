//! Why a call that changes something is refused.

use crate::words::words;

words! {
    /// Why a call that changes something was refused, for programs.
    RefusedReason, "reason of a refusal" {
        /// The id is not made of the letters that an id is made of.
        BadId = "bad_id",
        /// There is no reason.
        NoReason = "no_reason",
        /// The reason is no line that can be shown.
        BadReason = "bad_reason",
        /// There is no change in it, or too many are.
        BadChanges = "bad_changes",
        /// One rung or ladder is changed twice.
        Twice = "twice",
        /// The order does not have each rung of the ladder once.
        BadOrder = "bad_order",
        /// A name in `expect` is a rung's and a ladder's.
        Ambiguous = "ambiguous",
        /// There is no such rung.
        UnknownRung = "unknown_rung",
        /// There is no such ladder.
        UnknownLadder = "unknown_ladder",
        /// There is no such provider.
        UnknownProvider = "unknown_provider",
        /// There is no such domain.
        UnknownDomain = "unknown_domain",
        /// A name in `expect` is neither a rung's nor a ladder's.
        UnknownName = "unknown_name",
        /// There is no such note, or it was ended.
        UnknownNote = "unknown_note",
        /// The id was used for something else.
        IdReused = "id_reused",
        /// A ladder would be left with forced-open rungs only.
        LastRung = "last_rung",
        /// The action cannot be taken back.
        NoUndo = "no_undo",
        /// Something later stands on what is to be taken back.
        Superseded = "superseded",
        /// An operator's override has the rung.
        Overridden = "overridden",
        /// The rung has no cool-down, no hold and no hard-down.
        NothingToProbe = "nothing_to_probe",
        /// Somebody changed it since it was seen.
        Version = "version",
        /// The call does not say which version was seen.
        NoVersion = "no_version",
    }
}
