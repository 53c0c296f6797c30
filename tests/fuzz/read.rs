//! What every reader promises, checked on one input.

use bytes::BytesMut;
use dialect::answer::{AnswerReader, AnswerSpec, End, Form};
use serde::de::IgnoredAny;
use shared::{Dialect, RequestId};

/// The most that a reader may hold beside what its limits allow.
const SLACK: usize = 512 * 1024;
const MAX_EVENT: usize = 8 * 1024;
const MAX_ANSWER: usize = 64 * 1024;

/// One input.
pub(crate) struct Case {
    pub(crate) from: Dialect,
    pub(crate) to: Dialect,
    /// Where the second reading cuts it.
    pub(crate) cuts: u64,
    pub(crate) body: Vec<u8>,
}

/// What an input showed, roughly: enough to know whether it is news.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    end: String,
    finish: Option<&'static str>,
    flags: [bool; 5],
    sizes: [u32; 5],
}

/// What one reading told.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    out: Vec<u8>,
    end: Option<End>,
    events: u32,
    tokens: u32,
    facts: String,
}

/// Reads it in both forms, whole and in cuts.
pub(crate) fn check(case: &Case) -> Result<Shape, String> {
    let once = read(case, Form::Stream, &[&case.body])?;
    let pieces = cut(&case.body, case.cuts);
    let again = read(case, Form::Stream, &pieces)?;
    if once != again {
        return Err("two cuts of one stream tell different things".to_owned());
    }
    let whole = read(case, Form::Whole, &pieces)?;
    if whole != read(case, Form::Whole, &[&case.body])? {
        return Err("two cuts of one whole answer tell different things".to_owned());
    }
    if once.end == Some(End::Proper) {
        stream_is_readable(&once.out)?;
    }
    ends_are_told(case, &once, Form::Stream)?;
    ends_are_told(case, &whole, Form::Whole)?;
    if whole.end == Some(End::Proper) && serde_json::from_slice::<IgnoredAny>(&whole.out).is_err() {
        return Err("a whole answer is no JSON".to_owned());
    }
    let mut reader = AnswerReader::new(spec(case, Form::Stream));
    let heard = reader.read_whole(&case.body, &mut BytesMut::new());
    if heard.end.is_none() {
        return Err("a body has no end".to_owned());
    }
    Ok(shape(&once, case))
}

/// No ending is guessed: without a word that is known to say so nothing ends well, and what
/// has not ended well has no good end in it.
fn ends_are_told(case: &Case, told: &Told, form: Form) -> Result<(), String> {
    let body = String::from_utf8_lossy(&case.body).to_ascii_lowercase();
    if told.end == Some(End::Proper) {
        let says_so = good_ends(case.from).iter().any(|word| body.contains(word));
        return says_so.then_some(()).ok_or("a good end that nobody has told".to_owned());
    }
    let out = String::from_utf8_lossy(&told.out);
    let end = match case.to {
        Dialect::OpenaiChat | Dialect::Gemini => "data: [DONE]\n",
        Dialect::AnthropicMessages => "event: message_stop\n",
        Dialect::OpenaiResponses => "event: response.completed\n",
    };
    if form == Form::Stream && out.contains(end) {
        return Err(format!("{end:?} to a client whose answer has not ended well"));
    }
    Ok(())
}

/// Words without which no answer of this dialect ends well, in lower case. Written down a
/// second time on purpose: the readers' own tables are what is tested.
const fn good_ends(from: Dialect) -> &'static [&'static str] {
    match from {
        Dialect::OpenaiChat => &[
            "\"stop",
            "\"end_turn\"",
            "\"eos",
            "\"complete",
            "\"pause_turn\"",
            "\"tool_",
            "\"function_call\"",
            "\"length\"",
            "\"max_",
            "\"model_",
            "\"token_limit\"",
            "\"content_filter",
            "\"sensitive\"",
            "\"safety\"",
            "\"recitation\"",
            "\"blocklist\"",
            "\"prohibited_content\"",
            "\"spii\"",
            "\"guardrail_intervened\"",
            "\"error_toxic\"",
            "\"refusal\"",
        ],
        Dialect::AnthropicMessages => &["\"message_stop\""],
        Dialect::OpenaiResponses => &["response.completed\"", "response.incomplete\""],
        Dialect::Gemini => &[
            "\"stop\"",
            "\"continuation\"",
            "\"max_tokens\"",
            "\"safety\"",
            "\"recitation\"",
            "\"blocklist\"",
            "\"prohibited_content\"",
            "\"spii\"",
            "\"language\"",
            "\"image_",
            "\"model_armor\"",
            "\"other\"",
            "\"jailbreak\"",
        ],
    }
}

fn spec(case: &Case, form: Form) -> AnswerSpec {
    AnswerSpec {
        from: case.from,
        to: case.to,
        form,
        wants_usage: true,
        choices: 1,
        finishes: true,
        max_event: MAX_EVENT,
        max_answer: MAX_ANSWER,
        request: RequestId::from_number(9),
        created: 1,
    }
}

fn read(case: &Case, form: Form, pieces: &[&[u8]]) -> Result<Told, String> {
    let mut reader = AnswerReader::new(spec(case, form));
    let mut out = BytesMut::new();
    let mut told = Told { out: Vec::new(), end: None, events: 0, tokens: 0, facts: String::new() };
    for piece in pieces {
        let heard = reader.read(piece, &mut out);
        take(&mut told, heard)?;
        if reader.held() > MAX_ANSWER + MAX_EVENT + SLACK {
            return Err(format!("{} bytes are held", reader.held()));
        }
    }
    let heard = reader.end_of_body(&mut out);
    take(&mut told, heard)?;
    if told.end.is_none() {
        return Err("a stream has no end".to_owned());
    }
    told.facts = format!("{:?}", reader.facts());
    match form {
        Form::Stream => {
            // What waits for the ending goes out at a proper one alone.
            if told.end == Some(End::Proper) {
                out.extend_from_slice(&reader.take_tail());
                out.extend_from_slice(&reader.take_terminator());
            }
            told.out = out.to_vec();
        }
        Form::Whole => told.out = reader.take_whole(),
    }
    Ok(told)
}

fn take(told: &mut Told, heard: dialect::answer::Progress) -> Result<(), String> {
    told.events += heard.events;
    told.tokens += heard.tokens;
    match heard.end {
        Some(_) if told.end.is_some() => Err("an answer ends twice".to_owned()),
        Some(end) => {
            told.end = Some(end);
            Ok(())
        }
        None => Ok(()),
    }
}

fn stream_is_readable(out: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(out).map_err(|_| "a stream is no UTF-8")?;
    for block in text.split_terminator("\n\n") {
        let mut data = None;
        for line in block.split('\n') {
            match line.strip_prefix("data: ") {
                Some(json) if data.is_none() => data = Some(json),
                None if line.starts_with("event: ") => {}
                _ => return Err("a stream has a line that belongs to no event".to_owned()),
            }
        }
        let json = data.ok_or("a block without data")?;
        if json != "[DONE]" && serde_json::from_str::<IgnoredAny>(json).is_err() {
            return Err("an event is no JSON".to_owned());
        }
    }
    Ok(())
}

fn shape(told: &Told, case: &Case) -> Shape {
    let end = match &told.end {
        Some(End::Error(error)) => format!("error {:?} {:?}", error.signature, error.status),
        end => format!("{end:?}"),
    };
    let has = |needle: &str| told.facts.contains(needle);
    let log = |size: usize| usize::BITS - size.leading_zeros();
    let dropped = told.facts.matches("dropped: 0").count();
    Shape {
        end,
        finish: ["stop", "length", "tool_calls", "content_filter", "refusal"]
            .into_iter()
            .find(|word| told.facts.contains(&format!("finish: Some(\"{word}\")"))),
        flags: [
            has("content: true"),
            has("refused: true"),
            has("tool_open: true"),
            has("done: true"),
            dropped > 0,
        ],
        sizes: [
            log(told.events as usize),
            told.tokens.min(12),
            log(told.out.len()),
            log(case.body.len()),
            log(told
                .out
                .windows(11)
                .filter(|window| window == b"tool_calls\"" || window == b"\"tool_use\",")
                .count()),
        ],
    }
}

/// Cuts at places that look random and are the same for the same seed.
fn cut(body: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut rest = body;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let size = if rng.u8(..8) == 0 { rng.usize(1..400) } else { rng.usize(1..20) };
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
