//! What is written for a client of another dialect has the same content when it is read back.

use super::*;
use crate::neutral::Answer;

/// Translates a whole stream for every client, as a stream and as one body.
pub(crate) fn same_for_every_client(name: &str, from: Dialect, body: &[u8], said: &Normal) {
    for to in CLIENTS.into_iter().filter(|to| *to != from) {
        let name = format!("{name}, {from} to {to}");
        let told = towards(from, to, Form::Stream, body);
        if said.facts.content && said.answer.pieces.is_empty() {
            let end = End::Broken("nothing in it has words in the client's dialect");
            assert_eq!(told.end, Some(end), "{name}");
            continue;
        }
        assert_eq!(told.end, Some(End::Proper), "{name}");
        life::follow(to, &told, true);
        let back = read(to, all_of(&told).as_bytes());
        same(&format!("{name}, stream"), from, to, &back, said);
        let whole = towards(from, to, Form::Whole, body);
        assert_eq!((whole.out.as_str(), &whole.facts), ("", &told.facts), "{name}");
        let back = read_whole(to, whole.whole.as_bytes());
        same(&format!("{name}, whole"), from, to, &back, said);
    }
}

fn same(name: &str, from: Dialect, to: Dialect, back: &Normal, said: &Normal) {
    let text = |normal: &Normal| match to {
        // Anthropic has no refusals but by stop reason.
        MESSAGES => normal.answer.pieces.iter().fold(String::new(), |all, piece| match piece {
            Piece::Text(text) | Piece::Refusal(text) => all + &decode(text),
            _ => all,
        }),
        _ => normal.text.clone(),
    };
    assert_eq!(back.end, Some(End::Proper), "{name}");
    assert_eq!(text(back), text(said), "{name}");
    assert_eq!(back.reasoning, said.reasoning, "{name}");
    if to != MESSAGES {
        assert_eq!(back.refusal, said.refusal, "{name}");
    }
    assert_eq!(calls_of(back), calls_of(said), "{name}");
    assert_eq!(back.answer.finish, Some(finish_for(to, said)), "{name}");
    assert_eq!(proofs(to, &back.answer), marked(from, to, &said.answer), "{name}");
    let (own, theirs) = (back.facts.usage, said.facts.usage);
    let reasoning = if to == MESSAGES { None } else { theirs.reasoning };
    let known = |counts: [Option<u64>; 5]| counts.map(Option::unwrap_or_default);
    assert_eq!(
        known([own.input, own.output, own.cached, own.cache_write, own.reasoning]),
        known([theirs.input, theirs.output, theirs.cached, theirs.cache_write, reasoning]),
        "{name}"
    );
}

/// Name, arguments, and id where one was given; none are as good as `{}`.
pub(crate) fn calls_of(normal: &Normal) -> Vec<(String, Value)> {
    let ids: std::collections::BTreeSet<_> = normal.calls.iter().map(|call| &call[0]).collect();
    assert!(ids.len() == normal.calls.len() || ids.contains(&String::new()), "{ids:?}");
    let call = |[_, name, arguments]: &[String; 3]| {
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        let json = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        (name.clone(), json.get("INVALID_JSON").cloned().unwrap_or(json))
    };
    normal.calls.iter().map(call).collect()
}

/// Section 3's table, read from left to right.
fn finish_for(to: Dialect, said: &Normal) -> Finish {
    let (called, refused) = (!said.calls.is_empty(), said.facts.refused);
    match (to, said.answer.finish) {
        (_, Some(Finish::Length)) => Finish::Length,
        (MESSAGES, Some(Finish::ContentFilter | Finish::Refusal)) => Finish::Refusal,
        (_, Some(Finish::ContentFilter | Finish::Refusal)) => Finish::ContentFilter,
        (MESSAGES, _) if refused => Finish::Refusal,
        _ if called => Finish::ToolCalls,
        (MESSAGES, Some(Finish::Pause)) => Finish::Pause,
        _ => Finish::Stop,
    }
}

/// All signatures, in order, as they are written.
fn proofs(to: Dialect, answer: &Answer) -> Vec<String> {
    let proof = |piece: &Piece| match piece {
        Piece::Reasoning { signature, .. } => signature.clone(),
        Piece::Redacted(data) => Some(data.clone()),
        // Chat has Google's own field for it.
        Piece::Call { signature, .. } => {
            assert!(to == CHAT || signature.is_none());
            signature.clone()
        }
        Piece::Text(_) | Piece::Refusal(_) => None,
    };
    let mut all: Vec<String> = answer.pieces.iter().filter_map(proof).collect();
    // Chat's message has one list for all reasoning, apart from the calls.
    all.sort();
    all
}

/// The same, with the maker's name where they stand in another dialect's field.
fn marked(from: Dialect, to: Dialect, answer: &Answer) -> Vec<String> {
    let mark = |proof: &String| Signed::write(to, from, proof);
    let proof = |piece: &Piece| match piece {
        Piece::Reasoning { signature, .. } => signature.as_ref().map(mark),
        Piece::Redacted(data) => Some(mark(data)),
        Piece::Call { signature: Some(proof), .. } if to == CHAT => Some(proof.clone()),
        Piece::Call { signature, .. } => signature.as_ref().map(mark),
        Piece::Text(_) | Piece::Refusal(_) => None,
    };
    let mut all: Vec<String> = answer.pieces.iter().filter_map(proof).collect();
    all.sort();
    all
}
