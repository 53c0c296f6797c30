//! What the engineer does: what every screen has, and what belongs to one part of the window.

use crate::model::{Screen, View};
use crate::{actions, board, breakers, dialog, history, setup};

/// What the engineer does.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Msg {
    /// Goes to a screen.
    Go(Screen),
    /// Moves: ladders or rows down, places to the right.
    Move { down: isize, right: isize },
    /// Into what is selected.
    Enter,
    /// Back: closes what is open.
    Back,
    /// History: the next group. Breakers: the next span.
    Next,
    /// Other relays are shown.
    NextView,
    /// Exactly these.
    Watch(View),
    /// A summary goes to the clipboard.
    Copy,
    /// The id of what is selected goes there.
    CopyId,
    /// The list of keys.
    Help,
    /// Silences the alert of the title.
    Mute,
    /// A key that was meant for a dialog which has just closed.
    TypesOn,
    /// The list of commands.
    Palette,
    /// What was typed there.
    PaletteText(String),
    /// Does the command at this place of it.
    Run(usize),
    /// Asks for the token of a relay that wants one.
    Token,
    /// A token for the relay that wants one, as far as it is typed.
    TokenText(String),
    /// On the Board, and on what stands above every screen: the troubles.
    Board(board::Msg),
    /// On History.
    History(history::Msg),
    /// On Breakers.
    Breakers(breakers::Msg),
    /// On Actions.
    Actions(actions::Msg),
    /// On Setup.
    Setup(setup::Msg),
    /// Opens a dialog.
    Open(dialog::Open),
    /// In the dialog that is open.
    Dialog(dialog::Msg),
}

/// What a part does is something that the engineer does.
macro_rules! part {
    ($($part:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$part> for Msg {
            fn from(msg: $part) -> Self {
                Self::$variant(msg)
            }
        })+
    };
}

part! {
    board::Msg => Board,
    history::Msg => History,
    breakers::Msg => Breakers,
    actions::Msg => Actions,
    setup::Msg => Setup,
    dialog::Open => Open,
    dialog::Msg => Dialog,
}
