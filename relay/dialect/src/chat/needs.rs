//! The parts of a chat client's request that the relay depends on.

use crate::common::fields::Fields;
use crate::common::needs::{Needs, OpenaiAsks, asks_for_schema};
use crate::common::reject::Reject;
use crate::common::values::{array, flag, is_empty_array, limit_of, whole_number};

/// The most answers that a client may ask for; no provider gives more.
const MAX_CHOICES: u64 = 128;

/// What a rung must be able to do.
///
/// # Errors
///
/// Says which field is wrong.
pub fn needs(fields: &Fields) -> Result<Needs, Reject> {
    let Some(messages) = array(fields, "messages")? else {
        return Err(Reject::missing("messages", "an array with at least one message"));
    };
    if is_empty_array(messages) {
        let message = "'messages' is empty; send at least one message.";
        return Err(Reject::new("messages", "invalid_value", message));
    }
    let asks = OpenaiAsks {
        conversation: messages,
        instructions: None,
        tools: [array(fields, "tools")?, array(fields, "functions")?],
        parallel: flag(fields, "parallel_tool_calls")?,
        json_schema: fields.text("response_format").is_some_and(asks_for_schema),
        sound: fields.text("audio").is_some() || wants_sound(fields),
        side_effects: fields.text("store") == Some("true")
            || fields.text("background") == Some("true")
            || fields.text("web_search_options").is_some(),
        max_output: limit_of(fields, "max_completion_tokens")
            .or_else(|| limit_of(fields, "max_tokens")),
    };
    Ok(asks.needs())
}

/// Reads `modalities: ["text", "audio"]`; the list holds only words.
fn wants_sound(fields: &Fields) -> bool {
    fields.text("modalities").is_some_and(|raw| raw.contains("\"audio\""))
}

/// Whether the usage chunk was asked for.
///
/// # Errors
///
/// `stream_options` has the wrong type.
pub fn wants_usage(fields: &Fields) -> Result<bool, Reject> {
    let Some(raw) = fields.text("stream_options") else { return Ok(false) };
    let options: Fields = serde_json::from_str(raw)
        .map_err(|_| Reject::wrong_type("stream_options", "an object or null"))?;
    flag(&options, "include_usage")
        .map_err(|_| Reject::wrong_type("stream_options.include_usage", "true or false"))
}

/// How many answers the client wants.
///
/// # Errors
///
/// `n` is out of range.
pub fn choices(fields: &Fields) -> Result<u32, Reject> {
    match whole_number(fields, "n", "a whole number from 1 to 128")? {
        None => Ok(1),
        Some(n @ 1..=MAX_CHOICES) => Ok(u32::try_from(n).unwrap_or(1)),
        Some(_) => Err(Reject::new("n", "invalid_value", "'n' must be from 1 to 128.")),
    }
}
