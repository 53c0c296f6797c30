//! What the mock answers: reasoning, a text, a refusal, calls of tools.

use serde_json::{Map, Value, json};

use super::frame::random;
use super::options::MockOptions;
use super::request::{Request, Tool};
use super::wish::{Calls, Ending, Reasoning, Wish};

/// An answer before it is put on the wire.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its parts, in their order.
    pub(super) parts: Vec<Part>,
    /// Why it ends.
    pub(super) finish: Finish,
    /// Prompt tokens that come from a cache.
    pub(super) cached: usize,
    /// Prompt tokens that go to a cache.
    pub(super) cache_written: usize,
}

/// A piece of an answer.
#[derive(Debug)]
pub(super) struct Part {
    /// What it is.
    pub(super) kind: Kind,
    /// Its text, or the arguments of its call, token by token.
    pub(super) tokens: Vec<String>,
}

/// What kind of piece it is.
#[derive(Debug)]
pub(super) enum Kind {
    /// Reasoning before the answer.
    Reasoning,
    /// Text.
    Content,
    /// The text of a refusal.
    Refusal,
    /// A call of a tool; its first token is the name.
    Call {
        /// Its unique id; a dialect puts its own letters before it.
        id: String,
        /// The tool's name.
        name: String,
    },
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    /// It is complete.
    Stop,
    /// Tools are to be called.
    Calls,
    /// It has reached its limit of tokens.
    Length,
    /// A filter removed the rest.
    Filter,
    /// The model declines.
    Refusal,
}

impl Part {
    /// Its text, or its arguments as they are on the wire.
    pub(super) fn text(&self) -> String {
        self.tokens.concat()
    }

    /// The arguments of its call; an empty object if they were cut short.
    pub(super) fn arguments(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_else(|_| json!({}))
    }

    fn call(name: &str, arguments: &Value) -> Self {
        let letters: Vec<char> = arguments.to_string().chars().collect();
        let mut tokens = vec![String::new()];
        tokens.extend(letters.chunks(4).map(|piece| piece.iter().collect::<String>()));
        Self { kind: Kind::Call { id: random(24), name: name.into() }, tokens }
    }
}

impl Answer {
    /// The answer to a request.
    pub(super) fn to(request: &Request, wish: &Wish, options: &MockOptions) -> Self {
        let mut answer = Self::empty();
        answer.cached = wish.cached_tokens.unwrap_or_default();
        answer.cache_written = wish.cache_write_tokens.unwrap_or_default();
        answer.add(Kind::Reasoning, tokens(&thoughts(request, wish)));
        if wish.finish == Some(Ending::Refusal) {
            answer.add(Kind::Refusal, tokens(DECLINED));
            answer.finish = Finish::Refusal;
        } else {
            let calls = calls(request, wish);
            match (&wish.text, &options.text, &request.schema) {
                (Some(text), ..) => answer.add(Kind::Content, tokens(text)),
                _ if !calls.is_empty() => {}
                (None, Some(text), _) => answer.add(Kind::Content, tokens(text)),
                (None, None, Some(schema)) => {
                    answer.add(Kind::Content, tokens(&example(schema, 0).to_string()));
                }
                (None, None, None) => {
                    answer.add(Kind::Content, paragraph(&options.name, options.tokens));
                }
            }
            answer.finish = if calls.is_empty() { Finish::Stop } else { Finish::Calls };
            answer.parts.extend(calls);
        }
        match wish.finish {
            Some(Ending::Length) => answer.finish = Finish::Length,
            Some(Ending::ContentFilter) => answer.finish = Finish::Filter,
            Some(Ending::Stop | Ending::Refusal) | None => {}
        }
        answer.limit(request.max_tokens)
    }

    /// The answer to a request that the model declines.
    pub(super) fn refusal() -> Self {
        let mut answer = Self::empty();
        answer.add(Kind::Refusal, tokens(DECLINED));
        Self { finish: Finish::Refusal, ..answer }
    }

    /// An answer without any content.
    pub(super) fn empty() -> Self {
        Self { parts: Vec::new(), finish: Finish::Stop, cached: 0, cache_written: 0 }
    }

    fn add(&mut self, kind: Kind, tokens: Vec<String>) {
        if !tokens.is_empty() {
            self.parts.push(Part { kind, tokens });
        }
    }

    fn limit(mut self, max: Option<usize>) -> Self {
        let Some(mut left) = max.filter(|max| *max < self.count()) else { return self };
        for part in &mut self.parts {
            part.tokens.truncate(left);
            left -= part.tokens.len();
        }
        self.parts.retain(|part| !part.tokens.is_empty());
        self.finish = Finish::Length;
        self
    }

    /// The number of its tokens.
    pub(super) fn count(&self) -> usize {
        self.parts.iter().map(|part| part.tokens.len()).sum()
    }

    /// The number of its tokens that are reasoning.
    pub(super) fn reasoning(&self) -> usize {
        let reasoning = self.parts.iter().filter(|part| matches!(part.kind, Kind::Reasoning));
        reasoning.map(|part| part.tokens.len()).sum()
    }

    /// The text of its refusal.
    pub(super) fn declined(&self) -> String {
        let refusals = self.parts.iter().filter(|part| matches!(part.kind, Kind::Refusal));
        refusals.map(Part::text).collect()
    }
}

const DECLINED: &str = "I'm sorry, but I can't help with that.";
const THOUGHTS: &str = "Is the knot tied? It is. Is the rope long enough? It is.";

fn thoughts(request: &Request, wish: &Wish) -> String {
    match &wish.reasoning {
        Some(Reasoning::Words(words)) => words.clone(),
        Some(Reasoning::Given(true)) => THOUGHTS.into(),
        Some(Reasoning::Given(false)) => String::new(),
        None if request.reasoning => THOUGHTS.into(),
        None => String::new(),
    }
}

fn calls(request: &Request, wish: &Wish) -> Vec<Part> {
    let of_tool = |tool: &Tool| Part::call(&tool.name, &example(&tool.parameters, 0));
    match &wish.calls {
        Some(Calls::Count(count)) => {
            request.tools.iter().cycle().take(*count).map(of_tool).collect()
        }
        Some(Calls::These(these)) => {
            let wished = these.iter();
            wished.map(|call| Part::call(&call.name, &json!(call.arguments))).collect()
        }
        None => request.tool.iter().map(of_tool).collect(),
    }
}

/// Cuts a text as a model would: into words, each with the space before it.
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

/// A text of `count` tokens; its beginning names the mock.
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
    // Google writes types in capitals.
    let kind = kind.as_str().or_else(|| kind.get(0)?.as_str()).map(str::to_ascii_lowercase);
    match kind.as_deref() {
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
