//! What a client asks, whatever dialect it asks in.

use serde_json::value::RawValue;
use shared::Dialect;

/// A request, read out of a client's dialect.
///
/// Fields that a dialect has and this has not are named in `unsupported`: a rung of
/// another dialect cannot be told them. Nothing else is left out silently.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// System prompts, wherever they stood, in order. None is empty.
    pub system: Vec<String>,
    /// The conversation: neighbours of one role are one turn, and tool results are the
    /// user's. A turn may hold no part.
    pub turns: Vec<Turn>,
    /// The tools that the client itself runs.
    pub tools: Vec<Tool>,
    /// Those among them whose input is free text for the client. Others are asked for it as
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
    /// For answers that can be had again.
    pub seed: Option<i64>,
    /// How much to reason.
    pub thinking: Option<Thinking>,
    /// The client's user, for the provider's abuse watch.
    pub user: Option<String>,
    /// The fields that cannot be said here, as paths such as `logit_bias`.
    pub unsupported: Vec<String>,
    /// Wishes that cannot be said here either, and without which the answer is still an
    /// answer to what was asked. [`ClientRequest::upstream`] names them as left out.
    ///
    /// [`ClientRequest::upstream`]: crate::request::ClientRequest::upstream
    pub left_out: Vec<&'static str>,
}

impl Request {
    /// Makes user's words of the system prompts from `first` on, where the conversation would
    /// end with the model's turn: they came after it, and are what it is to answer. Without
    /// them that turn would be taken for an answer that is to be carried on.
    pub fn end_with_system(&mut self, first: usize) {
        if self.turns.last().is_none_or(|turn| turn.role == Role::User) {
            return;
        }
        for text in self.system.split_off(first.min(self.system.len())) {
            self.push(Role::User, Part::Text(text));
        }
    }

    /// Adds a part to the conversation, to the last turn if that is the same role's.
    pub fn push(&mut self, role: Role, part: Part) {
        match self.turns.last_mut() {
            Some(turn) if turn.role == role => turn.parts.push(part),
            _ => self.turns.push(Turn { role, parts: vec![part] }),
        }
    }
}

/// One role's turn.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Whose.
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
    /// The model's reasoning, with its proof.
    Reasoning {
        /// What it thought; may be empty.
        text: String,
        /// The proof.
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
        /// JSON as text; `{}` where there was none.
        arguments: String,
        /// The proof that belongs to the call.
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

/// A proof, and who can read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The dialect of the provider that made it. Others must not be sent it.
    pub by: Dialect,
    /// The proof, as its provider wrote it.
    pub data: String,
}

/// Where data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// At this address.
    Url(String),
    /// Here.
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
    /// JSON schema of its arguments, spelled and ordered as the client did.
    pub parameters: Option<Box<RawValue>>,
    /// Whether the schema must be kept to.
    pub strict: Option<bool>,
}

/// Which tool is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// None.
    None,
    /// As the model likes.
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
        /// The schema, spelled and ordered as the client did.
        schema: Box<RawValue>,
        /// Whether it must be kept to.
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
    /// About so much.
    Effort(Effort),
    /// Up to so many tokens.
    Budget(u64),
}

/// A degree of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Next to none.
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
