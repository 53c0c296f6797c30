//! What Gemini says: each chunk is a whole `GenerateContentResponse`.

use super::args::Args;
use super::beside::Beside;
use super::usage::Counts;
use crate::dialect::answer::{End, Facts, Hearing, Reader};
use crate::dialect::json::{elements, is_truthy, members, number, word};
use crate::dialect::neutral::{Event, Finish, Text};
use crate::dialect::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::dialect::sse;
use serde::Deserialize;
use serde_json::value::RawValue;
use shared::RequestId;

/// Reads a stream of responses.
#[derive(Debug)]
pub(in crate::dialect) struct GeminiReader {
    /// For the ids of calls, which Gemini does not give.
    request: String,
    begun: bool,
    calls: usize,
    counts: Counts,
    /// A call whose arguments come in pieces.
    growing: Option<(usize, Args)>,
    beside: Beside,
}

/// The members of a response that are looked at.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow)]
    response_id: Option<&'a RawValue>,
    #[serde(borrow)]
    model_version: Option<&'a RawValue>,
    #[serde(borrow)]
    candidates: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_feedback: Option<&'a RawValue>,
    #[serde(borrow)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
    #[serde(borrow)]
    finish_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    block_reason: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thought: Option<&'a RawValue>,
    #[serde(borrow)]
    thought_signature: Option<&'a RawValue>,
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
    #[serde(borrow)]
    inline_data: Option<&'a RawValue>,
    #[serde(borrow)]
    executable_code: Option<&'a RawValue>,
    #[serde(borrow)]
    code_execution_result: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Call<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_args: Option<&'a RawValue>,
    #[serde(borrow)]
    will_continue: Option<&'a RawValue>,
}

impl Reader for GeminiReader {
    fn event(&mut self, event: &sse::Event<'_>, hearing: &mut Hearing<'_>) -> Option<End> {
        let data = event.data.trim_ascii();
        if event.name == b"error" {
            return Some(End::Error(parse_error_event(data)));
        }
        if !matches!(data.first(), Some(b'{' | b'[')) {
            hearing.facts().drop_one();
            return None;
        }
        let text = String::from_utf8_lossy(event.data);
        if data.first() == Some(&b'[') {
            let error = parse_error(text.as_bytes());
            if !error.message.is_empty() {
                return Some(End::Error(error));
            }
            hearing.facts().drop_one();
            return None;
        }
        let Ok(response) = serde_json::from_str::<Members<'_>>(&text) else {
            return hearing.facts().broken();
        };
        self.response(&response, &text, hearing)
    }

    fn whole(&mut self, body: &str, hearing: &mut Hearing<'_>) -> End {
        let Ok(response) = serde_json::from_str::<&RawValue>(body) else {
            return End::Broken("the body is not JSON");
        };
        // Without `alt=sse` a stream is an array of what else would be its events.
        let pieces =
            if response.get().starts_with('[') { elements(Some(response)) } else { vec![response] };
        for raw in pieces {
            let end = self.response(&members(Some(raw)), raw.get(), hearing);
            if let Some(end) = end {
                return end;
            }
        }
        if hearing.facts().finish.is_none() {
            let error = parse_error(body.as_bytes());
            return if error.message.is_empty() {
                End::Broken("the body has no finish reason")
            } else {
                End::Error(error)
            };
        }
        End::Proper
    }

    fn beside(&mut self, bytes: &[u8]) -> Option<End> {
        self.beside.read(bytes).map(End::Error)
    }

    fn end_of_body(&mut self, facts: &Facts) -> End {
        if let Some(error) = self.beside.end() {
            return End::Error(error);
        }
        if facts.finish.is_some() { End::Proper } else { End::Cut }
    }
}

impl GeminiReader {
    pub(in crate::dialect) fn new(request: RequestId) -> Self {
        Self {
            request: request.to_string(),
            begun: false,
            calls: 0,
            counts: Counts::default(),
            growing: None,
            beside: Beside::default(),
        }
    }

    fn response(
        &mut self,
        response: &Members<'_>,
        text: &str,
        hearing: &mut Hearing<'_>,
    ) -> Option<End> {
        if let Some(usage) = response.usage_metadata {
            self.counts.replace(usage);
            hearing.usage(self.counts.usage());
        }
        if response.error.is_some_and(|raw| is_truthy(raw.get())) {
            return Some(End::Error(parse_error(text.as_bytes())));
        }
        let candidates = elements(response.candidates);
        let feedback: Candidate<'_> = members(response.prompt_feedback);
        let blocked = !word(feedback.block_reason).is_empty() && candidates.is_empty();
        if (blocked || !candidates.is_empty()) && !std::mem::replace(&mut self.begun, true) {
            let id = Text::of(response.response_id);
            let model = Text::of(response.model_version);
            hearing.say(&Event::Begin { id, model });
        }
        if blocked {
            let finish = Finish::ContentFilter;
            hearing.say(&Event::Finish { finish, stop_sequence: None });
        }
        candidates.into_iter().find_map(|raw| self.candidate(&members(Some(raw)), hearing))
    }

    fn candidate(&mut self, candidate: &Candidate<'_>, hearing: &mut Hearing<'_>) -> Option<End> {
        if number(candidate.index).is_some_and(|index| index != 0) {
            return None;
        }
        let content: Candidate<'_> = members(candidate.content);
        for raw in elements(content.parts) {
            self.part(&members(Some(raw)), hearing);
        }
        let finish = match word(candidate.finish_reason) {
            "" | "FINISH_REASON_UNSPECIFIED" => return None,
            "STOP" if self.calls > 0 => Finish::ToolCalls,
            "STOP" => Finish::Stop,
            "MAX_TOKENS" => Finish::Length,
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "LANGUAGE"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "MODEL_ARMOR" => Finish::ContentFilter,
            "CONTINUATION" => Finish::Pause,
            broken @ ("MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "MISSING_THOUGHT_SIGNATURE"
            | "OTHER") => return Some(End::Error(failed(broken))),
            _ => Finish::Other,
        };
        self.end_growing(hearing);
        hearing.say(&Event::Finish { finish, stop_sequence: None });
        None
    }

    fn part(&mut self, part: &Part<'_>, hearing: &mut Hearing<'_>) {
        let is_thought = part.thought.is_some_and(|raw| raw.get() == "true");
        let text = Text::of(part.text);
        let signature = Text::of(part.thought_signature);
        if let Some(raw) = part.function_call {
            self.call(&members(Some(raw)), signature, hearing);
            return;
        }
        if !text.is_empty() {
            hearing.say(&if is_thought { Event::Reasoning(text) } else { Event::Text(text) });
        }
        if !signature.is_empty() {
            hearing.say(&Event::Signature(signature));
        }
        // Pictures, and the provider's own tools at work.
        let others = [
            part.inline_data,
            part.executable_code,
            part.code_execution_result,
            part.tool_call,
            part.tool_response,
        ];
        if others.iter().any(Option::is_some) {
            hearing.activity();
        }
    }

    fn call(&mut self, call: &Call<'_>, signature: Text<'_>, hearing: &mut Hearing<'_>) {
        let goes_on = call.will_continue.is_some_and(|raw| raw.get() == "true");
        let (id, name) = (Text::of(call.id), Text::of(call.name));
        if name.is_empty() && self.growing.is_some() {
            self.grow(call, hearing);
            if !goes_on {
                self.end_growing(hearing);
            }
            return;
        }
        self.end_growing(hearing);
        let number = self.calls;
        self.calls += 1;
        if !signature.is_empty() {
            hearing.say(&Event::CallSignature { call: number, signature });
        }
        let made;
        let id = if id.is_empty() {
            made = format!("call_{}_{number}", self.request);
            Text::plain(&made)
        } else {
            id
        };
        hearing.say(&Event::Call { call: number, id, name, custom: false });
        if goes_on || call.partial_args.is_some() {
            self.growing = Some((number, Args::default()));
            self.grow(call, hearing);
            if !goes_on {
                self.end_growing(hearing);
            }
        } else if let Some(args) = call.args.filter(|raw| raw.get() != "null") {
            hearing.say(&Event::Arguments { call: number, json: Text::plain(args.get()) });
        }
    }

    /// Adds pieces of arguments; each is content, though it cannot be said before its end.
    fn grow(&mut self, call: &Call<'_>, hearing: &mut Hearing<'_>) {
        if let Some((_, args)) = &mut self.growing {
            elements(call.partial_args).into_iter().for_each(|piece| args.add(piece));
            hearing.activity();
        }
    }

    fn end_growing(&mut self, hearing: &mut Hearing<'_>) {
        if let Some((call, args)) = self.growing.take() {
            hearing.say(&Event::Arguments { call, json: Text::plain(&args.finish()) });
        }
    }
}

/// What it means that a candidate finished with a reason that is a failure.
fn failed(reason: &str) -> ProviderError {
    ProviderError {
        kind: Some("server_error".to_owned()),
        code: Some(reason.to_owned()),
        message: format!("The provider ended its answer with the finish reason '{reason}'."),
        ..ProviderError::default()
    }
}
