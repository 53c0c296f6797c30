//! The parts of a responses client's request that the relay depends on.

use crate::common::fields::Fields;
use crate::common::needs::{Needs, OpenaiAsks, asks_for_schema};
use crate::common::reject::Reject;
use crate::common::values::{array, flag, is_empty_array, limit_of, member};

/// What a rung must be able to do.
///
/// # Errors
///
/// Says which field is wrong.
pub fn needs(fields: &Fields) -> Result<Needs, Reject> {
    let input = fields.text("input").unwrap_or_default();
    let elsewhere = ["prompt", "previous_response_id", "conversation"];
    if !elsewhere.iter().any(|key| fields.text(key).is_some()) {
        if input.is_empty() {
            return Err(Reject::missing("input", "a text or an array with at least one item"));
        }
        if input.starts_with('[') && is_empty_array(input) {
            let message = "'input' is empty; send at least one item.";
            return Err(Reject::new("input", "invalid_value", message));
        }
    }
    if !input.is_empty() && !input.starts_with(['[', '"']) {
        return Err(Reject::wrong_type("input", "a string or an array of items"));
    }
    let format = fields.get("text").and_then(|text| member(text, "format"));
    let asks = OpenaiAsks {
        conversation: input,
        instructions: fields.text("instructions"),
        tools: [array(fields, "tools")?, None],
        // It is the default in responses; only a client that sets it depends on it.
        parallel: flag(fields, "parallel_tool_calls")?,
        json_schema: format.is_some_and(|format| asks_for_schema(format.get())),
        sound: false,
        side_effects: flag(fields, "store")?
            || flag(fields, "background")?
            || fields.text("conversation").is_some(),
        max_output: limit_of(fields, "max_output_tokens"),
    };
    Ok(asks.needs())
}
