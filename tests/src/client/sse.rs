//! The events of a stream, read as strictly as the relay promises to write
//! them: LF only, one data line, every event closed by a blank line, and no block
//! without data, which some clients take for an empty event.

use super::answer::Read;
use serde_json::Value;
use std::time::Duration;

/// One block of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The text of the comment in it.
    pub comment: Option<String>,
    /// How many heartbeat lines are in it, before the event.
    pub beats: usize,
    /// The event's name.
    pub event: Option<String>,
    /// The data.
    pub data: Option<String>,
    /// When its last byte came, after the request was sent.
    pub at: Duration,
}

/// Every event; fails where the body is not exactly events.
#[track_caller]
pub(super) fn events(body: &[u8], reads: &[Read]) -> Vec<Event> {
    assert!(
        body.is_empty() || body.ends_with(b"\n\n"),
        "the stream ends inside an event: {:?}",
        String::from_utf8_lossy(body)
    );
    whole_events(body, reads)
}

/// The events that are there in full.
#[track_caller]
pub(super) fn whole_events(body: &[u8], reads: &[Read]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut start = 0;
    while let Some(length) = body[start..].windows(2).position(|two| two == b"\n\n") {
        let end = start + length + 2;
        let block = std::str::from_utf8(&body[start..start + length]).expect("events are UTF-8");
        let at = reads.iter().find(|read| read.end >= end).map_or(Duration::ZERO, |read| read.at);
        events.push(event(block, at));
        start = end;
    }
    events
}

#[track_caller]
fn event(block: &str, at: Duration) -> Event {
    let mut event = Event { comment: None, beats: 0, event: None, data: None, at };
    assert!(!block.contains('\r'), "line ends are LF: {block:?}");
    for line in block.split('\n') {
        if line == ":" {
            assert_eq!(event.event.as_ref().or(event.data.as_ref()), None, "late: {block:?}");
            event.beats += 1;
            continue;
        }
        let field = if let Some(text) = line.strip_prefix(':') {
            assert!(!text.starts_with("data"), "a comment, not data: {line:?}");
            event.comment.replace(text.trim_start().to_owned())
        } else if let Some(text) = line.strip_prefix("data: ") {
            event.data.replace(text.to_owned())
        } else if let Some(text) = line.strip_prefix("event: ") {
            event.event.replace(text.to_owned())
        } else {
            panic!("no line of an event: {line:?} in {block:?}");
        };
        assert_eq!(field, None, "each field once per event: {block:?}");
    }
    assert!(event.data.is_some(), "a block without data: {block:?}");
    event
}

/// The chunks among these events.
#[track_caller]
pub(super) fn chunks(events: &[Event]) -> Vec<Value> {
    events
        .iter()
        .filter_map(|event| event.data.as_deref())
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}")))
        .collect()
}

/// The text of these events.
#[track_caller]
pub(super) fn text(events: &[Event]) -> String {
    chunks(events)
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect()
}
