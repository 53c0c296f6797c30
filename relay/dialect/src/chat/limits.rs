//! The limits of chat providers for names and ids of tool calls, and the places of both.

use crate::common::spots::{Part, Spot};
use crate::neutral::{Form, Limits};

/// OpenAI's limits, the narrowest of those that most providers have.
const USUAL: Limits = Limits {
    name: Form::plain(64),
    id: Some(Form { shortest: 1, longest: 40, fits: |_| true, begins: |_| true }),
};

/// Models with their own form of ids, by a word in the model's name. Mistral's models refuse all
/// other ids; Kimi's models read the tool's name from the id.
const IDS: &[(&str, Option<Form>)] = &[
    ("mistral", MISTRAL),
    ("ministral", MISTRAL),
    ("magistral", MISTRAL),
    ("codestral", MISTRAL),
    ("devstral", MISTRAL),
    ("pixtral", MISTRAL),
    ("mixtral", MISTRAL),
    ("kimi", None),
];

const MISTRAL: Option<Form> = Some(Form {
    shortest: 9,
    longest: 9,
    fits: |letter| letter.is_ascii_alphanumeric(),
    begins: |letter| letter.is_ascii_alphanumeric(),
});

/// The limits of a rung with this model.
pub fn limits(model: &str) -> Limits {
    let model = model.to_ascii_lowercase();
    let own = IDS.iter().find(|(word, _)| model.contains(word));
    Limits { id: own.map_or(USUAL.id, |(_, form)| *form), ..USUAL }
}

const NAMED: Spot = Spot::In(&[("name", Spot::Name)]);
const CALL: Spot = Spot::In(&[("id", Spot::Id), ("function", NAMED), ("custom", NAMED)]);
const TOOL: Spot = Spot::In(&[("function", NAMED), ("custom", NAMED)]);
const ASKED_MESSAGE: Spot =
    Spot::In(&[("tool_calls", Spot::Each(&CALL)), ("tool_call_id", Spot::Id)]);

/// The places in a request.
pub const ASKED: &[Part] = &[
    ("tools", "", Spot::Each(&TOOL)),
    ("tool_choice", "{", TOOL),
    ("messages", "\"tool_call", Spot::Each(&ASKED_MESSAGE)),
];
