//! Anthropic's limits for tool names, and the places of names.

use crate::common::spots::{Part, Spot};
use crate::neutral::{Form, Limits};

/// Ids have rules of their own, which need the whole conversation: see `write_request/ids`.
pub const LIMITS: Limits = Limits { name: Form::plain(128), id: None };

const NAMED: Spot = Spot::In(&[("name", Spot::Name)]);
const MESSAGE: Spot = Spot::In(&[("content", Spot::Each(&NAMED))]);

/// The places in a request.
pub const ASKED: &[Part] = &[
    ("tools", "", Spot::Each(&NAMED)),
    ("tool_choice", "{", NAMED),
    ("messages", "\"tool_use\"", Spot::Each(&MESSAGE)),
];

/// The places in an event or a whole answer.
pub const ANSWERED: Spot = Spot::In(&[("content_block", NAMED), ("content", Spot::Each(&NAMED))]);
