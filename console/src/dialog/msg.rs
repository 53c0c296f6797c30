//! What the engineer does in a dialog.

use shared::OverrideMode;

/// What the engineer does in a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Msg {
    /// What it covers next.
    Cover,
    /// Exactly this cover.
    CoverAt(usize),
    /// How long.
    Last(usize),
    /// The reason.
    Reason(String),
    /// Takes the suggested reason over.
    AcceptSuggestion,
    /// The env, typed out.
    Typed(String),
    /// Demote instead.
    Demote,
    /// Streams are cut, or run to their end.
    Cut,
    /// Lets the next ladder go without a rung.
    AcceptNext,
    /// Lets a ladder go without a rung, or not.
    Accept(String),
    /// Of an order: moves the chosen rung.
    Shift {
        /// Down, else up.
        down: bool,
    },
    /// Of an order: puts a rung where another one stands.
    Place {
        /// The place of the rung.
        from: usize,
        /// The place of the other one.
        to: usize,
    },
    /// Of an order: chooses the rung above or below.
    Choose {
        /// Below, else above.
        down: bool,
    },
    /// Do it.
    Send,
}

/// Which dialog is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// To make the selected rung, or the marked ones, so.
    Force(OverrideMode),
    /// The same for `auto`; on Actions: to end what is selected.
    Auto,
    /// To have what is in force end at another time.
    Extend,
    /// For the selected ladder's order.
    Reorder,
    /// For the selected ladder's order, with a rung moved already.
    Move {
        /// Its place.
        from: usize,
        /// Where it goes.
        to: usize,
    },
    /// For a note on what is selected.
    Note,
    /// To end the selected rung's cool-down, hold or hard-down.
    Probe,
    /// For one small call to the selected rung.
    Check,
    /// To take the last change of this console, or the selected action, back.
    Undo,
}
