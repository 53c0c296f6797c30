//! The content of an answer in the neutral form, as in the corpus' `normal` view.

use crate::neutral::{Answer, Finish, Piece, decode};
use crate::stream::facts::Form;
use crate::stream::facts::{AnswerSpec, End, Facts, Progress};
use crate::stream::observer::{Observed, Observer, Sink};
use crate::stream::sse::{Decoder, Item};
use crate::table;
use crate::tests::{pieces, spec};
use serde_json::Value;
use shared::Dialect;

/// One answer, read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Normal {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) refusal: String,
    /// Id, name and arguments.
    pub(crate) calls: Vec<[String; 3]>,
    pub(crate) finish: Option<&'static str>,
    pub(crate) facts: Facts,
    pub(crate) end: Option<End>,
    pub(crate) first_token: Option<u32>,
    /// All of it, in order.
    pub(crate) answer: Answer,
}

fn spec_of(from: Dialect) -> AnswerSpec {
    AnswerSpec { from, ..spec(Form::Stream, true) }
}

/// Reads a stream in these pieces.
fn read_in<'b>(from: Dialect, body: impl IntoIterator<Item = &'b [u8]>) -> Normal {
    let spec = spec_of(from);
    let mut decoder = Decoder::new(spec.max_event);
    let mut reader = table::spec(spec.from).reader(&spec);
    let (mut answer, mut observed) = (Answer::default(), Observed::default());
    let (mut end, mut first, mut events) = (None, None, 0);
    // As the answer's reader does, so that what stands beside events counts in its place.
    for piece in body.into_iter().flat_map(|piece| piece.split_inclusive(|&byte| byte == b'\n')) {
        let mut rest = piece;
        while end.is_none() {
            let Some(item) = decoder.next(&mut rest) else { break };
            let Item::Event(event) = item else { continue };
            let mut observer = Observer::new(&mut observed, Sink::Whole(&mut answer));
            end = reader.event(&event, &mut observer);
            if observer.close(&mut Progress::default()) && first.is_none() {
                first = Some(events);
            }
            events += 1;
        }
        if end.is_none() {
            end = reader.beside(piece);
        }
    }
    if end.is_none()
        && let Some(event) = decoder.finish()
        && serde_json::from_slice::<Value>(event.data).is_ok()
    {
        let mut observer = Observer::new(&mut observed, Sink::Whole(&mut answer));
        end = reader.event(&event, &mut observer);
        if observer.close(&mut Progress::default()) && first.is_none() {
            first = Some(events);
        }
    }
    let end = end.or_else(|| Some(reader.end_of_body(&observed.facts)));
    Normal { end, first_token: first, ..of(&answer, observed.facts) }
}

/// Reads a stream whole, byte by byte and in random cuts: the result must be the same each time.
pub(crate) fn read(from: Dialect, body: &[u8]) -> Normal {
    let slow = read_in(from, body.chunks(1));
    assert_eq!(read_in(from, [body]), slow);
    for seed in 0..6 {
        assert_eq!(read_in(from, pieces(body, seed)), slow, "seed {seed}");
    }
    slow
}

/// Reads an answer that is one JSON body.
pub(crate) fn read_whole(from: Dialect, body: &[u8]) -> Normal {
    let mut reader = table::spec(from).reader(&spec_of(from));
    let (mut answer, mut observed) = (Answer::default(), Observed::default());
    let mut observer = Observer::new(&mut observed, Sink::Whole(&mut answer));
    let end = reader.whole(std::str::from_utf8(body).unwrap(), &mut observer);
    Normal { end: Some(end), ..of(&answer, observed.facts) }
}

fn of(answer: &Answer, facts: Facts) -> Normal {
    let mut normal = Normal { facts, answer: answer.clone(), ..Normal::default() };
    let text = |escaped: &str| decode(escaped).into_owned();
    for piece in &answer.pieces {
        match piece {
            Piece::Text(all) => normal.text += &text(all),
            Piece::Reasoning { text: all, .. } => normal.reasoning += &text(all),
            Piece::Refusal(all) => normal.refusal += &text(all),
            Piece::Redacted(_) => {}
            Piece::Call { id, name, arguments, .. } => {
                normal.calls.push([text(id), text(name), text(arguments)]);
            }
        }
    }
    normal.finish = answer.finish.map(|finish| match finish {
        Finish::Stop | Finish::StopSequence => "stop",
        Finish::Length => "length",
        Finish::ToolCalls => "tool_calls",
        Finish::ContentFilter => "content_filter",
        Finish::Refusal => "refusal",
        Finish::Pause => "pause",
    });
    normal
}
