//! What holds for the dialects as a whole: recorded streams, public bug reports
//! and hostile bytes, each fed in many cuts.

mod cases;
mod corpus;
mod framing;
mod hostile;
mod normal;
mod rules;
mod translate;

use crate::answer::AnswerReader;
use crate::stream::facts::{AnswerSpec, End, Facts, Form, Progress};
use bytes::BytesMut;
use shared::{Dialect, RequestId};
use std::path::PathBuf;

/// Streams with their content: our own, and recorded ones.
pub(crate) struct Corpus {
    pub(crate) dir: PathBuf,
    is_recorded: bool,
}

impl Corpus {
    /// How many there are at least, where so many are recorded.
    pub(crate) const fn at_least(&self, recorded: usize) -> usize {
        if self.is_recorded { recorded } else { 1 }
    }

    /// What holds for the recorded ones; of our own nothing.
    pub(crate) const fn recorded<'a>(&self, all: &'a [&'a str]) -> &'a [&'a str] {
        if self.is_recorded { all } else { &[] }
    }
}

/// Our own; and recorded ones where they are, beside the checkout or above it.
pub(crate) fn corpora() -> Vec<Corpus> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let own = Corpus { dir: here.join("src/tests/streams"), is_recorded: false };
    let named = std::env::var_os("BELAY_CORPUS").map(PathBuf::from);
    let mut above = here.ancestors().map(|above| above.join("shared").join("corpus"));
    let recorded = named.or_else(|| above.find(|dir| dir.is_dir()));
    let recorded = recorded.map(|dir| Corpus { dir, is_recorded: true });
    std::iter::once(own).chain(recorded).collect()
}

/// What became of one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    out: String,
    tail: String,
    terminator: String,
    whole: String,
    facts: Facts,
    end: Option<End>,
    events: u32,
    tokens: u32,
    pings: u32,
    finished: u32,
    /// The event that held the first token.
    first_token: Option<u32>,
    /// The most that was held after any read.
    held: usize,
}

fn spec(form: Form, wants_usage: bool) -> AnswerSpec {
    AnswerSpec {
        from: Dialect::OpenaiChat,
        to: Dialect::OpenaiChat,
        form,
        wants_usage,
        choices: 1,
        finishes: false,
        max_event: 1 << 20,
        max_answer: 1 << 22,
        request: RequestId::from_number(7),
        created: 1_700_000_000,
    }
}

/// Feeds `body` in the given pieces, then its end.
fn tell<'b>(spec: AnswerSpec, pieces: impl IntoIterator<Item = &'b [u8]>) -> Told {
    let mut reader = AnswerReader::new(spec);
    let mut out = BytesMut::new();
    let mut told = Told {
        out: String::new(),
        tail: String::new(),
        terminator: String::new(),
        whole: String::new(),
        facts: Facts::default(),
        end: None,
        events: 0,
        tokens: 0,
        pings: 0,
        finished: 0,
        first_token: None,
        held: 0,
    };
    let mut take = |progress: Progress| {
        if progress.tokens > 0 && told.first_token.is_none() {
            // Exact where a read holds one event at most.
            told.first_token = Some(told.events + progress.events - 1);
        }
        told.events += progress.events;
        told.tokens += progress.tokens;
        told.pings += progress.pings;
        // Content after a finish reason takes it back; how it stands at the end counts.
        if progress.finished || progress.tokens > 0 {
            told.finished = u32::from(progress.finished);
        }
        if let Some(end) = progress.end {
            assert!(told.end.replace(end).is_none(), "an answer ends once");
        }
    };
    for piece in pieces {
        take(reader.read(piece, &mut out));
        told.held = told.held.max(reader.held());
    }
    take(reader.end_of_body(&mut out));
    assert!(told.end.is_some(), "every answer ends");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("clients get UTF-8");
    told.out = text(&out);
    told.tail = text(&reader.take_tail());
    told.terminator = text(&reader.take_terminator());
    told.whole = text(&reader.take_whole());
    told.facts = reader.facts().clone();
    told
}

fn by_byte(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.chunks(1)
}

/// Cuts `body` at places that look random but are the same in every run.
fn pieces(body: &[u8], mut seed: u64) -> Vec<&[u8]> {
    let mut rest = body;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let long = (seed >> 33).is_multiple_of(97);
        let size = 1 + usize::try_from((seed >> 40) % if long { 4096 } else { 60 }).unwrap();
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Whole, byte by byte and in several cuts: the answer must be the same.
fn tell_every_way(spec: AnswerSpec, body: &[u8]) -> Told {
    let slow = tell(spec, by_byte(body));
    let same = |mut other: Told| {
        other.first_token = slow.first_token;
        other.held = slow.held;
        assert_eq!(other, slow);
    };
    same(tell(spec, [body]));
    for seed in 0..8 {
        same(tell(spec, pieces(body, seed)));
    }
    slow
}

/// The payloads of a stream that the relay wrote: one `data` line each, LF only.
fn payloads(stream: &str) -> Vec<serde_json::Value> {
    assert!(stream.is_empty() || stream.ends_with("\n\n"), "{stream}");
    assert!(!stream.contains('\r'));
    stream
        .split_terminator("\n\n")
        .map(|block| {
            let json = block.strip_prefix("data: ").expect("nothing but data");
            assert!(!json.contains('\n'), "one line per event: {json}");
            serde_json::from_str(json).expect("valid JSON")
        })
        .collect()
}
