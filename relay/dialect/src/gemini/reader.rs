//! Reads Gemini's answer: each chunk is a whole `GenerateContentResponse`.

use crate::common::json::{elements, is_truthy, members, number, raw_members, word};
use crate::errors::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::gemini::args::Args;
use crate::gemini::beside::Beside;
use crate::gemini::finish::{BLOCK_REASONS, FINISH_REASONS};
use crate::gemini::usage::Counts;
use crate::neutral::{Event, Finish, Meaning, Text};
use crate::stream::facts::{End, Facts};
use crate::stream::observer::{Observer, Reader};
use crate::stream::sse;
use serde_json::value::RawValue;
use shared::RequestId;

/// Reads a stream of responses.
#[derive(Debug)]
pub(crate) struct GeminiReader {
    /// The request's id. The ids of calls are made from it, since Gemini gives none.
    request: String,
    begun: bool,
    calls: usize,
    counts: Counts,
    /// A call whose arguments come in pieces.
    growing: Option<(usize, Args)>,
    beside: Beside,
}

raw_members! {
    /// The members of a response that are read.
    Members {
        response_id: "responseId",
        model_version: "modelVersion",
        candidates: "candidates",
        prompt_feedback: "promptFeedback",
        usage_metadata: "usageMetadata",
        error: "error",
    }
}

raw_members! {
    Candidate {
        index: "index",
        content: "content",
        parts: "parts",
        finish_reason: "finishReason",
        block_reason: "blockReason",
    }
}

raw_members! {
    Part {
        text: "text",
        thought: "thought",
        thought_signature: "thoughtSignature",
        function_call: "functionCall",
        inline_data: "inlineData",
        executable_code: "executableCode",
        code_execution_result: "codeExecutionResult",
        tool_call: "toolCall",
        tool_response: "toolResponse",
    }
}

raw_members! {
    Call {
        id: "id",
        name: "name",
        args: "args",
        partial_args: "partialArgs",
        will_continue: "willContinue",
    }
}

impl Reader for GeminiReader {
    fn event(&mut self, event: &sse::Event<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let data = event.data.trim_ascii();
        if event.name == b"error" {
            return Some(End::Error(parse_error_event(data)));
        }
        if !matches!(data.first(), Some(b'{' | b'[')) {
            observer.facts().drop_one();
            return None;
        }
        let text = String::from_utf8_lossy(event.data);
        if data.first() == Some(&b'[') {
            let error = parse_error(text.as_bytes());
            if !error.message.is_empty() {
                return Some(End::Error(error));
            }
            observer.facts().drop_one();
            return None;
        }
        let Ok(response) = serde_json::from_str::<Members<'_>>(&text) else {
            return observer.facts().broken();
        };
        self.response(&response, &text, observer)
    }

    fn whole(&mut self, body: &str, observer: &mut Observer<'_>) -> End {
        let Ok(response) = serde_json::from_str::<&RawValue>(body) else {
            return End::Broken("the body is not JSON");
        };
        // Without `alt=sse` a stream is one array of the responses that would be its events.
        let pieces =
            if response.get().starts_with('[') { elements(Some(response)) } else { vec![response] };
        for raw in pieces {
            let end = self.response(&members(Some(raw)), raw.get(), observer);
            if let Some(end) = end {
                return end;
            }
        }
        if observer.facts().finish.is_none() {
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

    fn held(&self) -> usize {
        self.growing.as_ref().map_or(0, |(_, args)| args.held())
    }
}

impl GeminiReader {
    pub(crate) fn new(request: RequestId) -> Self {
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
        observer: &mut Observer<'_>,
    ) -> Option<End> {
        if let Some(usage) = response.usage_metadata {
            self.counts.replace(usage);
            observer.usage(self.counts.usage());
        }
        if response.error.is_some_and(|raw| is_truthy(raw.get())) {
            return Some(End::Error(parse_error(text.as_bytes())));
        }
        let candidates = elements(response.candidates);
        let feedback: Candidate<'_> = members(response.prompt_feedback);
        let block_reason = word(feedback.block_reason);
        let blocked = match BLOCK_REASONS.meaning(block_reason) {
            Meaning::Finished(finish) if candidates.is_empty() => Some(finish),
            Meaning::Interrupted if candidates.is_empty() => {
                return Some(End::Error(ProviderError::interrupted(block_reason)));
            }
            _ => None,
        };
        if (blocked.is_some() || !candidates.is_empty())
            && !std::mem::replace(&mut self.begun, true)
        {
            let id = Text::of(response.response_id);
            let model = Text::of(response.model_version);
            observer.emit(&Event::Begin { id, model });
        }
        if let Some(finish) = blocked {
            observer.emit(&Event::Finish { finish, stop_sequence: None });
        }
        candidates.into_iter().find_map(|raw| self.candidate(&members(Some(raw)), observer))
    }

    fn candidate(&mut self, candidate: &Candidate<'_>, observer: &mut Observer<'_>) -> Option<End> {
        if number(candidate.index).is_some_and(|index| index != 0) {
            return None;
        }
        let content: Candidate<'_> = members(candidate.content);
        for raw in elements(content.parts) {
            let end = self.part(&members(Some(raw)), observer);
            if end.is_some() {
                return end;
            }
        }
        let reason = word(candidate.finish_reason);
        let finish = match FINISH_REASONS.meaning(reason) {
            Meaning::NotYet => return None,
            Meaning::Finished(Finish::Stop) if self.calls > 0 => Finish::ToolCalls,
            Meaning::Finished(finish) => finish,
            Meaning::Interrupted => return Some(End::Error(ProviderError::interrupted(reason))),
        };
        if let Some((call, args)) = self.growing.take() {
            // Nothing shows that its arguments are whole.
            if finish != Finish::Length {
                return Some(End::Broken("a tool call whose arguments were not ended"));
            }
            let mut json = args.finish();
            json.pop();
            observer.emit(&Event::Arguments { call, json: Text::plain(&json) });
        }
        observer.emit(&Event::Finish { finish, stop_sequence: None });
        None
    }

    fn part(&mut self, part: &Part<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let is_thought = part.thought.is_some_and(|raw| raw.get() == "true");
        let text = Text::of(part.text);
        let signature = Text::of(part.thought_signature);
        if let Some(raw) = part.function_call {
            return self.call(&members(Some(raw)), signature, observer);
        }
        if !text.is_empty() {
            observer.emit(&if is_thought { Event::Reasoning(text) } else { Event::Text(text) });
        }
        if !signature.is_empty() {
            observer.emit(&Event::Signature(signature));
        }
        // Pictures, and work of the provider's own tools.
        let others = [
            part.inline_data,
            part.executable_code,
            part.code_execution_result,
            part.tool_call,
            part.tool_response,
        ];
        if others.iter().any(Option::is_some) {
            observer.activity();
        }
        None
    }

    fn call(
        &mut self,
        call: &Call<'_>,
        signature: Text<'_>,
        observer: &mut Observer<'_>,
    ) -> Option<End> {
        let goes_on = call.will_continue.is_some_and(|raw| raw.get() == "true");
        let (id, name) = (Text::of(call.id), Text::of(call.name));
        if name.is_empty() {
            let end = self.grow(call, observer);
            if end.is_none() && !goes_on {
                self.end_growing(observer);
            }
            return end;
        }
        if self.growing.is_some() {
            return Some(End::Broken("a tool call whose arguments were not ended"));
        }
        let number = self.calls;
        self.calls += 1;
        if !signature.is_empty() {
            observer.emit(&Event::CallSignature { call: number, signature });
        }
        let made;
        let id = if id.is_empty() {
            made = format!("call_{}_{number}", self.request);
            Text::plain(&made)
        } else {
            id
        };
        observer.emit(&Event::Call { call: number, id, name, custom: false });
        if goes_on || call.partial_args.is_some() {
            self.growing = Some((number, Args::default()));
            let end = self.grow(call, observer);
            if end.is_none() && !goes_on {
                self.end_growing(observer);
            }
            return end;
        }
        // Gemini sends the call whole: without `args` it has no arguments.
        let json = call.args.map_or("{}", RawValue::get);
        observer.emit(&Event::Arguments { call: number, json: Text::plain(json) });
        None
    }

    /// Adds pieces of arguments. Each piece counts as content, although the arguments can only be
    /// emitted at their end.
    fn grow(&mut self, call: &Call<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let Some((_, args)) = &mut self.growing else {
            // A second end of a call is ignored.
            let says = call.args.is_some_and(|raw| is_truthy(raw.get()))
                || call.partial_args.is_some_and(|raw| is_truthy(raw.get()));
            return says.then_some(End::Broken("arguments of a tool call that never began"));
        };
        observer.activity();
        let misplaced = elements(call.partial_args).into_iter().find_map(|one| args.add(one).err());
        misplaced.map(|_| End::Broken("a piece of arguments that fits nowhere"))
    }

    fn end_growing(&mut self, observer: &mut Observer<'_>) {
        if let Some((call, args)) = self.growing.take() {
            observer.emit(&Event::Arguments { call, json: Text::plain(&args.finish()) });
        }
    }
}
