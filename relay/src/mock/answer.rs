//! What the mock says: a text in tokens, a refusal, or the call of a tool.

use serde_json::{Map, Value, json};

use super::options::MockOptions;
use super::request::{ChatRequest, Tool};

/// An answer before it is put on the wire.
#[derive(Debug)]
pub(super) struct Answer {
    /// What it is made of.
    pub(super) kind: Kind,
    /// Its text, or the arguments of its call, token by token.
    pub(super) tokens: Vec<String>,
    /// Its finish reason.
    pub(super) finish: &'static str,
}

/// What an answer is made of.
#[derive(Debug)]
pub(super) enum Kind {
    /// Text.
    Content,
    /// The words of a refusal.
    Refusal,
    /// A call of the tool of this name; its first token is the name.
    Call(String),
}

impl Answer {
    /// The answer to a request.
    pub(super) fn to(request: &ChatRequest, options: &MockOptions) -> Self {
        let mut answer = match (&request.tool, &options.text) {
            (Some(tool), _) => Self::call(tool),
            (None, Some(text)) => Self::content(tokens(text)),
            (None, None) => Self::content(paragraph(&options.name, options.tokens)),
        };
        if request.max_tokens.is_some_and(|max| max < answer.tokens.len()) {
            answer.tokens.truncate(request.max_tokens.unwrap_or_default());
            answer.finish = "length";
        }
        answer
    }

    /// The answer to a request that the model declines.
    pub(super) fn refusal() -> Self {
        let tokens = tokens("I'm sorry, but I can't help with that.");
        Self { kind: Kind::Refusal, tokens, finish: "stop" }
    }

    /// An answer without a word in it.
    pub(super) fn empty() -> Self {
        Self::content(Vec::new())
    }

    fn content(tokens: Vec<String>) -> Self {
        Self { kind: Kind::Content, tokens, finish: "stop" }
    }

    fn call(tool: &Tool) -> Self {
        let arguments = example(&tool.parameters, 0).to_string();
        let letters: Vec<char> = arguments.chars().collect();
        let mut tokens = vec![String::new()];
        tokens.extend(letters.chunks(4).map(|piece| piece.iter().collect::<String>()));
        Self { kind: Kind::Call(tool.name.clone()), tokens, finish: "tool_calls" }
    }
}

/// A text as a model would cut it: words, each with the space before it.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    for letter in text.chars() {
        if letter == ' ' && !token.is_empty() {
            tokens.push(std::mem::take(&mut token));
        }
        token.push(letter);
    }
    if !token.is_empty() {
        tokens.push(token);
    }
    tokens
}

/// A text of so many tokens, which says early whose it is.
fn paragraph(name: &str, count: usize) -> Vec<String> {
    let opening = format!(
        "This is {name} on belay: the rope runs through my hands, the knot is checked, and if you \
         should slip I will hold you."
    );
    let verses = [
        " Climb when you are ready, I give slack as you need it.",
        " A dynamic rope stretches a little, so that a fall ends softly.",
        " Clip the next bolt at the hip, not above the head, and breathe.",
        " At the anchor, call down, and I will take you in hand.",
    ];
    let verses = verses.iter().flat_map(|verse| tokens(verse)).collect::<Vec<_>>();
    tokens(&opening).into_iter().chain(verses.into_iter().cycle()).take(count).collect()
}

/// A value that a JSON schema allows, as far as a mock can tell.
fn example(schema: &Value, depth: usize) -> Value {
    if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    let kind = schema.get("type").unwrap_or(&Value::Null);
    match kind.as_str().or_else(|| kind.get(0)?.as_str()) {
        Some("string") => json!("rope"),
        Some("integer") => json!(7),
        Some("number") => json!(9.8),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("null") => Value::Null,
        _ if depth > 8 => json!({}),
        _ => {
            let fields = schema.get("properties").and_then(Value::as_object);
            let filled = fields.into_iter().flatten();
            filled.map(|(k, v)| (k.clone(), example(v, depth + 1))).collect::<Map<_, _>>().into()
        }
    }
}
