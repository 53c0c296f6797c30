//! Passes through an answer that is one JSON body with a list in it: embeddings, moderations. Only
//! two things are read: whether it is such an answer, and its token counts.

use crate::chat::chunk::Chunk;
use crate::common::fields::Fields;
use crate::errors::provider_error::parse_error;
use crate::stream::facts::{End, Facts, Progress};
use crate::stream::sse::Event;
use crate::stream::transform::Transform;
use bytes::BytesMut;
use shared::Usage;

/// An answer that passes through; see the module.
#[derive(Debug)]
pub(crate) struct Opaque {
    /// The member that holds the list.
    list: &'static str,
    facts: Facts,
    body: Vec<u8>,
}

impl Opaque {
    pub(crate) fn new(list: &'static str) -> Self {
        Self { list, facts: Facts::default(), body: Vec::new() }
    }
}

impl Transform for Opaque {
    fn event(&mut self, _: &Event<'_>, _: &mut BytesMut, _: &mut Progress) -> Option<End> {
        Some(End::Broken("an event stream where one JSON body belongs"))
    }

    fn whole(&mut self, body: &[u8], _: &mut BytesMut, progress: &mut Progress) -> End {
        let text = String::from_utf8_lossy(body);
        let Ok(chunk) = Chunk::read(&text) else { return End::Broken("the body is not JSON") };
        if chunk.error {
            return End::Error(parse_error(body));
        }
        let fields: Fields = serde_json::from_str(&text).unwrap_or_default();
        if !fields.text(self.list).is_some_and(|list| list.starts_with('[')) {
            return End::Broken("the body lacks its list");
        }
        // The model writes nothing, so no output is counted.
        let usage = Usage { output: Some(0), ..chunk.counts.usage() };
        self.facts = Facts { usage, content: true, finish: Some("stop"), ..Facts::default() };
        *progress = Progress { events: 1, tokens: 1, finished: true, ..Progress::default() };
        self.body = body.to_vec();
        End::Proper
    }

    fn end_of_body(&mut self) -> End {
        End::Cut
    }

    fn take_tail(&mut self) -> BytesMut {
        BytesMut::new()
    }

    fn take_terminator(&mut self) -> BytesMut {
        BytesMut::new()
    }

    fn take_whole(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.body)
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    fn held(&self) -> usize {
        self.body.len()
    }
}
