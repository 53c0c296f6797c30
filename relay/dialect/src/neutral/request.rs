//! A client's request in the neutral form.

use serde_json::value::RawValue;
use shared::Dialect;

/// A request, read out of a client's dialect.
///
/// Fields of a dialect that this form does not have are named in `unsupported`: they cannot be sent
/// to a rung of another dialect. Nothing else is left out silently.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// System prompts from all places, in order. None of them is empty.
    pub system: Vec<String>,
    /// The conversation: neighbouring messages of one role are one turn, and tool results belong to
    /// the user. A turn may have no part.
    pub turns: Vec<Turn>,
    /// The tools that the client itself runs.
    pub tools: Vec<Tool>,
    /// The names of those tools whose input is free text for the client. Rungs are asked for it as
    /// JSON with one argument, [`FREE_TEXT`](crate::neutral::names::FREE_TEXT).
    pub free_text: Vec<String>,
    /// Which tool is to be called. `None`: the provider's default, which is `Auto`.
    pub tool_choice: Option<ToolChoice>,
    /// Whether several calls may come at once. `None`: the provider's default.
    pub parallel_tools: Option<bool>,
    /// The form of the answer's text. `None`: free.
    pub format: Option<Format>,
    /// The most tokens of answer and reasoning. `None`: the provider's default.
    pub max_output: Option<u64>,
    /// Texts at which to stop.
    pub stop: Vec<String>,
    /// 0 to 2. `None`: the provider's default, as with all that follow.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// 1 or more.
    pub top_k: Option<u64>,
    /// -2 to 2.
    pub presence_penalty: Option<f64>,
    /// -2 to 2.
    pub frequency_penalty: Option<f64>,
    /// For answers that can be reproduced.
    pub seed: Option<i64>,
    /// How much to reason.
    pub thinking: Option<Thinking>,
    /// The client's user, for the provider's detection of abuse.
    pub user: Option<String>,
    /// The fields that this form cannot express, as paths such as `logit_bias`.
    pub unsupported: Vec<String>,
    /// Wishes that this form cannot express either, but the answer without them is still an answer
    /// to what was asked. [`ClientRequest::upstream`] names them as left out.
    ///
    /// [`ClientRequest::upstream`]: crate::request::ClientRequest::upstream
    pub left_out: Vec<&'static str>,
}

impl Request {
    /// Turns the system prompts from `first` on into the user's text, if the conversation would
    /// otherwise end with the model's turn. Those prompts came after that turn, and the model is to
    /// answer them. Without them a provider would continue the model's turn.
    pub fn end_with_system(&mut self, first: usize) {
        if self.turns.last().is_none_or(|turn| turn.role == Role::User) {
            return;
        }
        for text in self.system.split_off(first.min(self.system.len())) {
            self.push(Role::User, Part::Text(text));
        }
    }

    /// Adds a part to the conversation: to the last turn if it has the same role, else to a new
    /// one.
    pub fn push(&mut self, role: Role, part: Part) {
        match self.turns.last_mut() {
            Some(turn) if turn.role == role => turn.parts.push(part),
            _ => self.turns.push(Turn { role, parts: vec![part] }),
        }
    }
}

/// A turn of one role.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The role.
    pub role: Role,
    /// What it holds, in order.
    pub parts: Vec<Part>,
}

/// Who speaks in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The client's side, its tools included.
    User,
    /// The model.
    Assistant,
}

/// One part of a turn.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text; may be empty.
    Text(String),
    /// The model's refusal.
    Refusal(String),
    /// A picture.
    Image(Image),
    /// A document.
    File(File),
    /// A recording.
    Audio(Audio),
    /// The model's reasoning, with its signature.
    Reasoning {
        /// The text; may be empty.
        text: String,
        /// The signature.
        signed: Option<Signed>,
    },
    /// Reasoning that only its provider can read.
    Redacted(Signed),
    /// The model called a tool.
    Call {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// JSON as text; `{}` if there was none.
        arguments: String,
        /// The signature that belongs to the call.
        signed: Option<Signed>,
    },
    /// What a tool gave back.
    Result {
        /// The call's id.
        id: String,
        /// Text, images, files.
        parts: Vec<Part>,
        /// The tool failed.
        is_error: bool,
    },
}

/// A signature, and the dialect of the provider that can use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The dialect of the provider that made it. It must not be sent to others.
    pub by: Dialect,
    /// The signature, as its provider wrote it.
    pub data: String,
}

/// The place of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// At this address.
    Url(String),
    /// In the request itself.
    Base64 {
        /// Its media type, such as `image/png`.
        media_type: String,
        /// The bytes, in base64.
        data: String,
    },
    /// At the provider, under an id that only it knows.
    Id(String),
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Image {
    /// Where it is.
    pub source: Source,
    /// OpenAI's `detail`: `low`, `high`, `auto`.
    pub detail: Option<String>,
}

/// A document.
#[derive(Debug, Clone)]
pub struct File {
    /// Where it is.
    pub source: Source,
    /// Its name.
    pub name: Option<String>,
}

/// A recording.
#[derive(Debug, Clone)]
pub struct Audio {
    /// The bytes, in base64.
    pub data: String,
    /// Such as `wav` or `mp3`.
    pub format: String,
}

/// A tool that the client runs.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// JSON schema of its arguments, as the client wrote it.
    pub parameters: Option<Box<RawValue>>,
    /// Whether calls must follow the schema.
    pub strict: Option<bool>,
}

/// Which tool is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// None.
    None,
    /// The model decides.
    Auto,
    /// Some tool.
    Any,
    /// This one.
    Named(String),
}

/// The form of the answer's text.
#[derive(Debug, Clone)]
pub enum Format {
    /// Any JSON object.
    Json,
    /// JSON that follows a schema.
    Schema {
        /// The schema's name.
        name: Option<String>,
        /// What it is for.
        description: Option<String>,
        /// The schema, as the client wrote it.
        schema: Box<RawValue>,
        /// Whether the answer must follow it.
        strict: Option<bool>,
    },
}

/// How much to reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// Not at all.
    Off,
    /// As much as the model likes.
    Adaptive,
    /// About this much.
    Effort(Effort),
    /// Up to this many tokens.
    Budget(u64),
}

/// A degree of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Almost none.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More than much.
    Max,
}
