//! Writes a whole completion from the neutral form.

use crate::chat::usage::write;
use crate::common::fields::{Writer, push_array};
use crate::neutral::{Answer, Piece, Signed};
use crate::stream::facts::Facts;
use shared::Dialect;

/// The body of a `chat.completion`. `request` is used for ids that the provider did not give;
/// `created` is in Unix seconds.
pub(crate) fn completion(
    answer: &Answer,
    facts: &Facts,
    from: Dialect,
    request: &str,
    created: i64,
) -> Vec<u8> {
    let mut message = Message { from, request, ..Message::default() };
    answer.pieces.iter().for_each(|piece| message.add(piece));
    let finish = crate::chat::words::finish_reason(answer.finish, !message.calls.is_empty());
    let mut choice = Writer::new(Vec::new());
    choice.raw("index", "0");
    choice.raw("message", &message.finish());
    choice.string("finish_reason", finish);
    let choice = choice.finish();

    let mut body = Writer::new(Vec::new());
    let made = format!("chatcmpl-{request}");
    body.escaped("id", if answer.id.is_empty() { &made } else { &answer.id });
    body.string("object", "chat.completion");
    body.raw("created", &created.to_string());
    body.escaped("model", &answer.model);
    push_array([String::from_utf8_lossy(&choice).as_ref()], body.key("choices"));
    body.raw("usage", &write(&facts.usage));
    body.finish()
}

/// The message of a completion. Texts are joined, since chat has one field for each kind.
struct Message<'a> {
    from: Dialect,
    request: &'a str,
    content: Option<String>,
    refusal: Option<String>,
    reasoning: Option<String>,
    details: Vec<String>,
    calls: Vec<String>,
}

impl Default for Message<'_> {
    fn default() -> Self {
        Self {
            from: Dialect::OpenaiChat,
            request: "",
            content: None,
            refusal: None,
            reasoning: None,
            details: Vec::new(),
            calls: Vec::new(),
        }
    }
}

impl Message<'_> {
    fn add(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(text) => self.content.get_or_insert_default().push_str(text),
            Piece::Refusal(text) => self.refusal.get_or_insert_default().push_str(text),
            Piece::Reasoning { text, signature } => {
                self.reasoning.get_or_insert_default().push_str(text);
                if let Some(proof) = signature {
                    let proof = Signed::write(Dialect::OpenaiChat, self.from, proof);
                    let mut detail = Writer::new(Vec::new());
                    detail.string("type", "reasoning.text");
                    detail.escaped("text", text);
                    detail.escaped("signature", &proof);
                    self.detail(detail);
                }
            }
            Piece::Redacted(data) => {
                let data = Signed::write(Dialect::OpenaiChat, self.from, data);
                let mut detail = Writer::new(Vec::new());
                detail.string("type", "reasoning.encrypted");
                detail.escaped("data", &data);
                self.detail(detail);
            }
            Piece::Call { call, id, name, arguments, custom, signature } => {
                let (kind, input) =
                    if *custom { ("custom", "input") } else { ("function", "arguments") };
                let mut inner = Writer::new(Vec::new());
                inner.escaped("name", name);
                let empty = arguments.is_empty() && !custom;
                inner.escaped(input, if empty { "{}" } else { arguments });
                let mut entry = Writer::new(Vec::new());
                let made = format!("call_{}_{call}", self.request);
                entry.escaped("id", if id.is_empty() { &made } else { id });
                entry.string("type", kind);
                entry.raw(kind, &text(inner));
                if let Some(proof) = signature {
                    let extra = format!(r#"{{"google":{{"thought_signature":"{proof}"}}}}"#);
                    entry.raw("extra_content", &extra);
                }
                self.calls.push(text(entry));
            }
        }
    }

    fn detail(&mut self, detail: Writer) {
        self.details.push(text(detail));
    }

    fn finish(&self) -> String {
        let mut message = Writer::new(Vec::new());
        message.string("role", "assistant");
        match &self.content {
            Some(content) => message.escaped("content", content),
            None => message.raw("content", "null"),
        }
        if let Some(reasoning) = &self.reasoning {
            message.escaped("reasoning_content", reasoning);
        }
        if !self.details.is_empty() {
            push_array(self.details.iter().map(String::as_str), message.key("reasoning_details"));
        }
        match &self.refusal {
            Some(refusal) => message.escaped("refusal", refusal),
            None => message.raw("refusal", "null"),
        }
        if !self.calls.is_empty() {
            push_array(self.calls.iter().map(String::as_str), message.key("tool_calls"));
        }
        text(message)
    }
}

fn text(writer: Writer) -> String {
    String::from_utf8_lossy(&writer.finish()).into_owned()
}
