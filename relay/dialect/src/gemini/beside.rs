//! Reads an error that Gemini writes into its stream outside of any event.
//!
//! A reader of event streams skips it, because its lines have no field that matters. So lines that
//! belong to no event are kept here until they are a JSON document.

use crate::errors::provider_error::{ProviderError, parse_error};
use crate::neutral::JsonEnd;
use memchr::memchr;

/// Longer lines are dropped; no error is longer.
const MOST: usize = 64 * 1024;

/// The lines outside of events.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    line: Vec<u8>,
    kept: Vec<u8>,
    /// Finds the end of the document in `kept`, so that it is parsed only once.
    end: Option<JsonEnd>,
    /// The line belongs to an event, so the rest of it is skipped.
    is_event: bool,
}

impl Beside {
    /// Reads bytes of the body. `Some`: an error is complete.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Option<ProviderError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest);
            let (part, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
            self.extend(part);
            rest = after.get(1..).unwrap_or_default();
            if end.is_some()
                && let Some(error) = self.end_line()
            {
                return Some(error);
            }
        }
        None
    }

    /// Call this when the body has ended: reads a last line without a line end.
    pub(crate) fn end(&mut self) -> Option<ProviderError> {
        self.end_line()
    }

    fn forget(&mut self) {
        self.kept.clear();
        self.end = None;
    }

    fn extend(&mut self, part: &[u8]) {
        if self.is_event {
            return;
        }
        let room = MOST.saturating_sub(self.line.len());
        self.line.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
        let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
        if fields.iter().any(|field| self.line.starts_with(field)) {
            self.is_event = true;
            self.line.clear();
            self.forget();
        }
    }

    fn end_line(&mut self) -> Option<ProviderError> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_event) || line.trim_ascii().is_empty() {
            return None;
        }
        if self.kept.len().saturating_add(line.len()) > MOST {
            self.forget();
            return None;
        }
        self.kept.extend_from_slice(&line);
        self.kept.push(b'\n');
        let end = self.end.get_or_insert(JsonEnd::new(false));
        end.feed_plain(&line);
        if !end.is_reached() {
            return None;
        }
        let error = parse_error(&self.kept);
        self.forget();
        let is_error = !error.message.is_empty() || error.code.is_some();
        is_error.then_some(error)
    }
}
