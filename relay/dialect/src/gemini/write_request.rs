//! Writes a request for Gemini's `streamGenerateContent`.
//!
//! The model's name and the wish for a stream are in the address, not in the body.

mod body;
mod contents;
mod thinking;

use crate::neutral::{
    Form, Format, Limits, Request, Target, ToolChoice, Unsupported, Upstream, apply,
    format_into_prompt, is_plain, refuse_unsupported,
};
use body::{Body, CallingConfig, Content, Function, GenerationConfig, Part, ToolConfig, Tools};

/// What Gemini accepts as a function's name. It accepts all ids.
const LIMITS: Limits = Limits {
    name: Form {
        shortest: 1,
        longest: 64,
        fits: |letter| is_plain(letter) || letter == '.',
        begins: |letter| letter.is_ascii_alphabetic() || letter == '_',
    },
    id: None,
};

/// The most stop sequences that Gemini accepts.
const MOST_STOPS: usize = 5;

/// Checks whether Gemini can express all of a request.
///
/// # Errors
///
/// Names what it cannot express.
pub fn can_write(request: &Request) -> Result<(), Unsupported> {
    refuse_unsupported(request)?;
    contents::write(request, "").map(drop)
}

/// The body for `target`.
///
/// # Errors
///
/// As for [`can_write`].
pub fn write_request(request: &Request, target: &Target<'_>) -> Result<Upstream, Unsupported> {
    refuse_unsupported(request)?;
    let mut request = request.clone();
    apply(&mut request, target);
    let names = LIMITS.fit(&mut request);
    let mut left_out = Vec::new();
    if request.format.is_some() && !request.tools.is_empty() && contents::is_old(target.model) {
        // These models refuse tools and a form of the answer together.
        format_into_prompt(&mut request);
        left_out.push("response_format");
    }
    let system = request.system.iter().filter(|text| !text.is_empty());
    let system: Vec<Part<'_>> = system.map(|text| Part::Text { text }).collect();
    let body = Body {
        system_instruction: (!system.is_empty()).then_some(Content { role: None, parts: system }),
        contents: contents::write(&request, target.model)?,
        tools: tools(&request),
        tool_config: tool_config(&request),
        generation_config: generation_config(&request, target, &mut left_out),
    };
    let strict = request.tools.iter().any(|tool| tool.strict == Some(true));
    let one_at_a_time = !request.tools.is_empty() && request.parallel_tools == Some(false);
    for (name, lost) in [("parallel_tools", one_at_a_time), ("strict", strict)] {
        if lost {
            left_out.push(name);
        }
    }
    Ok(Upstream { body: body.to_json(), left_out, names })
}

fn tools(request: &Request) -> Vec<Tools<'_>> {
    if request.tools.is_empty() {
        return Vec::new();
    }
    let functions = request.tools.iter().map(|tool| Function {
        name: &tool.name,
        description: tool.description.as_deref(),
        parameters_json_schema: tool.parameters.as_deref(),
    });
    vec![Tools { function_declarations: functions.collect() }]
}

fn tool_config(request: &Request) -> Option<ToolConfig<'_>> {
    let (mode, name) = match request.tool_choice.as_ref()? {
        // Without tools there is nothing to choose, and Gemini refuses the field.
        _ if request.tools.is_empty() => return None,
        ToolChoice::Any => ("ANY", None),
        ToolChoice::Named(name) => ("ANY", Some(name.as_str())),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Auto => ("AUTO", None),
    };
    let config = CallingConfig { mode, allowed_function_names: name.into_iter().collect() };
    Some(ToolConfig { function_calling_config: config })
}

fn generation_config<'a>(
    request: &'a Request,
    target: &Target<'_>,
    left_out: &mut Vec<&'static str>,
) -> GenerationConfig<'a> {
    let stops = request.stop.iter().filter(|text| !text.is_empty());
    let stop_sequences: Vec<&str> = stops.map(String::as_str).take(MOST_STOPS).collect();
    let seed = request.seed.and_then(|seed| i32::try_from(seed).ok());
    for (name, lost) in [
        ("stop", stop_sequences.len() < request.stop.len()),
        // Gemini's seed is a whole number of 32 bits.
        ("seed", seed.is_none() && request.seed.is_some()),
    ] {
        if lost {
            left_out.push(name);
        }
    }
    let schema = match &request.format {
        Some(Format::Schema { schema, .. }) => Some(schema.as_ref()),
        Some(Format::Json) | None => None,
    };
    GenerationConfig {
        max_output_tokens: request.max_output,
        stop_sequences,
        temperature: request.temperature,
        top_p: request.top_p,
        top_k: request.top_k,
        seed,
        // Some models refuse the fields, and 0 means nothing.
        presence_penalty: request.presence_penalty.filter(|penalty| *penalty != 0.0),
        frequency_penalty: request.frequency_penalty.filter(|penalty| *penalty != 0.0),
        response_mime_type: request.format.as_ref().map(|_| "application/json"),
        response_json_schema: schema,
        thinking_config: request
            .thinking
            .and_then(|thinking| thinking::write(thinking, target.model, left_out)),
    }
}

#[cfg(test)]
mod tests;
