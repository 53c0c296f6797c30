//! Which names and ids of tool calls providers of responses take, and where they stand.

use crate::common::spots::{Part, Spot};
use crate::neutral::{Form, Limits};

/// OpenAI's limits.
pub const LIMITS: Limits = Limits { name: Form::plain(64), id: Some(Form::plain(64)) };

const NAMED: Spot = Spot::In(&[("name", Spot::Name)]);
/// Tools may stand in a namespace.
const TOOL: Spot = Spot::In(&[("name", Spot::Name), ("tools", Spot::Each(&NAMED))]);
const ASKED_ITEM: Spot =
    Spot::In(&[("name", Spot::Name), ("namespace", Spot::Name), ("call_id", Spot::Id)]);

/// In a request.
pub const ASKED: &[Part] = &[
    ("tools", "", Spot::Each(&TOOL)),
    ("tool_choice", "{", TOOL),
    ("input", "\"call_id\"", Spot::Each(&ASKED_ITEM)),
];

const ITEM: Spot = Spot::In(&[("name", Spot::Name), ("namespace", Spot::Name)]);

/// In an event, or in a whole answer.
pub const ANSWERED: Spot = Spot::In(&[
    ("name", Spot::Name),
    ("item", ITEM),
    ("output", Spot::Each(&ITEM)),
    ("response", Spot::In(&[("output", Spot::Each(&ITEM))])),
]);
