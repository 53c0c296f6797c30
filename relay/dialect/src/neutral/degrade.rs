//! Changes a request for a rung that gets something else than the client asked for.
//!
//! All prompts that the relay itself writes for a model are here, so that a rung gets the same text
//! whether its client speaks its dialect or another one.

use crate::neutral::request::{Format, Part, Request, Role};
use crate::neutral::upstream::{Target, Unsupported};
use serde_json::value::RawValue;

/// The text for a system prompt that asks for an answer that follows `schema`.
#[must_use]
pub fn schema_prompt(schema: &RawValue) -> String {
    format!(
        "Answer only with JSON that follows this JSON schema. Write nothing before or after the \
         JSON, and no code fence around it.\n{}",
        schema.get()
    )
}

/// Asks for JSON in the prompt, if no field can.
const ANSWER_IN_JSON: &str =
    "Answer with one JSON object alone. Write nothing before or after it, and no code fence.";

/// Moves the form of the answer from its field into the system prompt.
pub fn format_into_prompt(request: &mut Request) {
    let words = match request.format.take() {
        Some(Format::Schema { schema, .. }) => schema_prompt(&schema),
        Some(Format::Json) => ANSWER_IN_JSON.to_owned(),
        None => return,
    };
    request.system.push(words);
}

/// The user's message that asks again after an answer that does not follow its schema. `problem`
/// says what is wrong.
#[must_use]
pub fn again_prompt(problem: &str) -> String {
    format!(
        "Your last answer does not follow the JSON schema: {problem}\nAnswer again, with the \
         corrected JSON alone."
    )
}

/// Makes all changes to `request` that `target` asks for and that the neutral form can express: the
/// system prompt, what the rung lacks, and the second question after a wrong answer. The dialect
/// sets the model's name and handles `ask_usage`.
pub fn apply(request: &mut Request, target: &Target<'_>) {
    if let Some(system) = target.system {
        request.system = vec![system.to_owned()];
        request.system.retain(|text| !text.is_empty());
    }
    if target.degrade.json_schema && matches!(request.format, Some(Format::Schema { .. })) {
        format_into_prompt(request);
    }
    if target.degrade.parallel_tools && !request.tools.is_empty() {
        request.parallel_tools = Some(false);
    }
    if target.degrade.max_output {
        request.max_output = lowered(request.max_output, target.max_output);
    }
    if let Some(again) = target.again {
        // Providers refuse an empty turn, and it would not help the model.
        if !again.answer.trim().is_empty() {
            request.push(Role::Assistant, Part::Text(again.answer.to_owned()));
        }
        request.push(Role::User, Part::Text(again_prompt(again.problem)));
    }
}

/// The smaller of the client's limit and the rung's. If the client set no limit, there is none.
#[must_use]
pub fn lowered(asked: Option<u64>, most: Option<u64>) -> Option<u64> {
    asked.map(|asked| most.map_or(asked, |most| asked.min(most)))
}

/// Fails if the client asked for something that the neutral form cannot express.
///
/// # Errors
///
/// Names the first such field.
pub fn refuse_unsupported(request: &Request) -> Result<(), Unsupported> {
    match request.unsupported.first() {
        Some(path) => Err(Unsupported { field: path.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neutral::request::{Tool, Turn};
    use crate::neutral::upstream::Again;
    use shared::Degrade;

    const PLAIN: Target<'static> = Target {
        model: "m",
        max_output: None,
        ask_usage: false,
        system: None,
        degrade: Degrade { json_schema: false, parallel_tools: false, max_output: false },
        again: None,
    };

    fn request() -> Request {
        let schema = RawValue::from_string(r#"{"type": "object"}"#.to_owned()).unwrap();
        let tool = Tool { name: "f".to_owned(), description: None, parameters: None, strict: None };
        Request {
            system: vec!["be kind".to_owned(), "be brief".to_owned()],
            turns: vec![Turn { role: Role::User, parts: vec![Part::Text("hi".to_owned())] }],
            tools: vec![tool],
            parallel_tools: Some(true),
            format: Some(Format::Schema { name: None, description: None, schema, strict: None }),
            max_output: Some(900),
            ..Request::default()
        }
    }

    fn told(target: &Target<'_>) -> Request {
        let mut request = request();
        apply(&mut request, target);
        request
    }

    #[test]
    fn nothing_changes_unless_the_rung_asks_for_it() {
        let max_output = Some(100);
        let same = told(&Target { max_output, ..PLAIN });
        assert_eq!(format!("{same:?}"), format!("{:?}", request()));
    }

    #[test]
    fn the_rungs_own_system_prompt_takes_the_place_of_every_other() {
        assert_eq!(told(&Target { system: Some("mine"), ..PLAIN }).system, ["mine"]);
        assert!(told(&Target { system: Some(""), ..PLAIN }).system.is_empty());
    }

    #[test]
    fn a_schema_becomes_a_system_prompt_and_nothing_else_asks_for_it() {
        let degrade = Degrade { json_schema: true, ..PLAIN.degrade };
        let told = told(&Target { degrade, system: Some("mine"), ..PLAIN });
        assert!(told.format.is_none());
        assert_eq!(told.system.len(), 2);
        assert!(told.system[1].ends_with("\n{\"type\": \"object\"}"), "{}", told.system[1]);
        let mut free = Request { format: Some(Format::Json), ..request() };
        apply(&mut free, &Target { degrade, ..PLAIN });
        assert!(matches!(free.format, Some(Format::Json)), "only a schema is degraded");
        assert_eq!(free.system.len(), 2);
    }

    #[test]
    fn one_tool_at_a_time_and_no_more_output_than_there_is() {
        let degrade = Degrade { parallel_tools: true, max_output: true, json_schema: false };
        let told = told(&Target { degrade, max_output: Some(100), ..PLAIN });
        assert_eq!((told.parallel_tools, told.max_output), (Some(false), Some(100)));
        for (asked, most, left) in [
            (None, Some(5), None),
            (Some(9), None, Some(9)),
            (Some(9), Some(5), Some(5)),
            (Some(4), Some(5), Some(4)),
        ] {
            assert_eq!(lowered(asked, most), left);
        }
    }

    #[test]
    fn the_bad_answer_is_shown_to_the_model_with_what_is_wrong() {
        let again = Again { answer: "{}", problem: "'a' is missing" };
        let told = told(&Target { again: Some(again), ..PLAIN });
        let roles: Vec<Role> = told.turns.iter().map(|turn| turn.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
        assert!(matches!(&told.turns[1].parts[..], [Part::Text(said)] if said == "{}"));
        assert!(
            matches!(&told.turns[2].parts[..], [Part::Text(ask)] if ask.contains("'a' is missing"))
        );
    }

    #[test]
    fn an_empty_answer_is_not_shown() {
        let again = Again { answer: " \n", problem: "it is empty" };
        let told = told(&Target { again: Some(again), ..PLAIN });
        assert_eq!(told.turns.len(), 1, "the user's turns are one");
        assert_eq!(told.turns[0].parts.len(), 2);
    }

    #[test]
    fn what_has_no_words_is_refused_by_its_name() {
        assert!(refuse_unsupported(&request()).is_ok());
        let unsupported = vec!["logit_bias".to_owned(), "n".to_owned()];
        let refused = refuse_unsupported(&Request { unsupported, ..request() }).unwrap_err();
        assert_eq!(refused.field, "logit_bias");
    }
}
