//! The limits of responses providers for names and ids of tool calls, and the places of both.

use crate::common::spots::{Part, Spot};
use crate::neutral::{Form, Limits};

/// OpenAI's limits.
pub const LIMITS: Limits = Limits { name: Form::plain(64), id: Some(Form::plain(64)) };

const NAMED: Spot = Spot::In(&[("name", Spot::Name)]);
/// Tools may be in a namespace.
const TOOL: Spot = Spot::In(&[("name", Spot::Name), ("tools", Spot::Each(&NAMED))]);
const ASKED_ITEM: Spot =
    Spot::In(&[("name", Spot::Name), ("namespace", Spot::Name), ("call_id", Spot::Id)]);

/// The places in a request.
pub const ASKED: &[Part] = &[
    ("tools", "", Spot::Each(&TOOL)),
    ("tool_choice", "{", TOOL),
    ("input", "\"call_id\"", Spot::Each(&ASKED_ITEM)),
];

const ITEM: Spot = Spot::In(&[("name", Spot::Name), ("namespace", Spot::Name)]);

/// The places in an event or a whole answer.
pub const ANSWERED: Spot = Spot::In(&[
    ("name", Spot::Name),
    ("item", ITEM),
    ("output", Spot::Each(&ITEM)),
    ("response", Spot::In(&[("output", Spot::Each(&ITEM))])),
]);
