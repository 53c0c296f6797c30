//! Reads what the relay needs to know about one chunk, in one pass.
//!
//! This runs for every token. It builds no tree and keeps no text: it finds flags and counts, and
//! the chunk itself is passed on unchanged.

use crate::chat::finish::FINISH_REASONS;
use crate::chat::usage::Counts;
use crate::common::json::{
    Each, Object, One, is_bare, is_filled_array, is_truthy, place, skip, string_inner, string_len,
};
use crate::neutral::{Finish, Meaning};
use serde::de::{DeserializeSeed as _, MapAccess};
use serde_json::value::RawValue;

/// What is known about one chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// How many choices it holds.
    pub(crate) choices: u32,
    /// It has content that counts as a first token: text, reasoning, refusal, tool call.
    pub(crate) content: bool,
    /// It has text, arguments or similar content, not only the name of a call.
    pub(crate) says: bool,
    /// It has content other than reasoning.
    pub(crate) answers: bool,
    /// It has refusal text.
    pub(crate) refusal: bool,
    /// It has a piece of a tool or function call.
    pub(crate) tool: bool,
    /// How many bytes of text it has.
    pub(crate) text_bytes: u64,
    /// One bit for each choice that has a finish reason.
    pub(crate) finished: u128,
    /// The last finish reason in it.
    pub(crate) finish: Option<Finish>,
    /// A choice finished because of its length.
    pub(crate) length: bool,
    /// A choice finished because of a content filter.
    pub(crate) filtered: bool,
    /// A choice has a finish reason that does not mean that the answer is whole.
    pub(crate) interrupted: bool,
    /// Token counts in it.
    pub(crate) counts: Counts,
    /// It is, or carries, an error.
    pub(crate) error: bool,
}

impl Chunk {
    /// Reads a chunk.
    ///
    /// # Errors
    ///
    /// Only if `text` is not one JSON value. A chunk of another shape is no error: it has little
    /// content.
    pub(crate) fn read(text: &str) -> Result<Self, serde_json::Error> {
        let mut chunk = Self::default();
        let mut json = serde_json::Deserializer::from_str(text);
        One(&mut chunk).deserialize(&mut json)?;
        json.end()?;
        Ok(chunk)
    }

    fn end_choice(&mut self, choice: &Choice) {
        let delta = if choice.delta.seen { &choice.delta } else { &choice.message };
        // Together sends everything twice, as a delta and as the old `text`.
        let text_bytes = if delta.seen { 0 } else { choice.text_bytes };
        let at = choice.index.unwrap_or_else(|| u64::from(self.choices)).min(127);
        self.choices = self.choices.saturating_add(1);
        self.content |= delta.content || text_bytes > 0;
        self.says |= delta.says || text_bytes > 0;
        self.answers |= delta.answers || text_bytes > 0;
        self.refusal |= delta.refusal;
        self.tool |= delta.tool;
        self.text_bytes =
            self.text_bytes.saturating_add(delta.text_bytes).saturating_add(text_bytes);
        match choice.finish {
            Meaning::NotYet => {}
            Meaning::Finished(finish) => {
                self.finished |= 1 << at;
                self.finish = Some(finish);
                self.length |= finish == Finish::Length;
                self.filtered |= matches!(finish, Finish::ContentFilter | Finish::Refusal);
            }
            Meaning::Interrupted => self.interrupted = true,
        }
    }
}

impl Object for Chunk {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "choices" => {
                map.next_value_seed(Each(&mut Choices { chunk: self, choice: Choice::default() }))
            }
            "usage" => map.next_value_seed(One(&mut self.counts)),
            "x_groq" => map.next_value_seed(One(&mut Holder(&mut self.counts))),
            "error" => {
                self.error |= is_truthy(map.next_value::<&RawValue>()?.get());
                Ok(())
            }
            // vLLM's error is the whole object.
            "object" => {
                self.error |= map.next_value::<&RawValue>()?.get() == "\"error\"";
                Ok(())
            }
            _ => skip(map),
        }
    }
}

/// An object of which only `usage` matters.
struct Holder<'c>(&'c mut Counts);

impl Object for Holder<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key == "usage" { map.next_value_seed(One(self.0)) } else { skip(map) }
    }
}

struct Choices<'c> {
    chunk: &'c mut Chunk,
    choice: Choice,
}

#[derive(Default)]
struct Choice {
    index: Option<u64>,
    delta: Delta,
    /// The `delta` of servers that stream whole messages; one server sends both.
    message: Delta,
    text_bytes: u64,
    finish: Meaning,
}

impl Object for Choices<'_> {
    fn begin(&mut self) {
        self.choice = Choice::default();
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "delta" => map.next_value_seed(One(&mut self.choice.delta)),
            "message" => map.next_value_seed(One(&mut self.choice.message)),
            "index" => {
                self.choice.index = place(Some(map.next_value::<&RawValue>()?));
                Ok(())
            }
            "text" => {
                self.choice.text_bytes = string_len(map.next_value::<&RawValue>()?.get());
                Ok(())
            }
            "finish_reason" => {
                let raw = map.next_value::<&RawValue>()?.get();
                self.choice.finish =
                    string_inner(raw).map_or(Meaning::NotYet, |word| FINISH_REASONS.meaning(word));
                Ok(())
            }
            // Moonshot puts it here.
            "usage" => map.next_value_seed(One(&mut self.chunk.counts)),
            _ => skip(map),
        }
    }

    fn end(&mut self) {
        self.chunk.end_choice(&self.choice);
    }
}

#[derive(Default)]
struct Delta {
    seen: bool,
    content: bool,
    says: bool,
    answers: bool,
    refusal: bool,
    tool: bool,
    text_bytes: u64,
}

impl Object for Delta {
    fn begin(&mut self) {
        self.seen = true;
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "content" => {
                let raw = map.next_value::<&RawValue>()?.get();
                if raw.starts_with('[') {
                    self.parts(raw);
                } else {
                    self.text(string_len(raw));
                }
            }
            "reasoning_content" | "reasoning" => {
                self.thought(string_len(map.next_value::<&RawValue>()?.get()));
            }
            "refusal" => {
                let bytes = string_len(map.next_value::<&RawValue>()?.get());
                self.refusal |= bytes > 0;
                self.text(bytes);
            }
            // Pictures and audio that the model made.
            "images" | "audio" => {
                let is_there = is_truthy(map.next_value::<&RawValue>()?.get());
                self.content |= is_there;
                self.says |= is_there;
                self.answers |= is_there;
            }
            "tool_calls" => map.next_value_seed(Each(&mut Call(self)))?,
            "function_call" => map.next_value_seed(One(&mut Call(self)))?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

impl Delta {
    fn text(&mut self, bytes: u64) {
        self.answers |= bytes > 0;
        self.thought(bytes);
    }

    fn thought(&mut self, bytes: u64) {
        self.content |= bytes > 0;
        self.says |= bytes > 0;
        self.text_bytes = self.text_bytes.saturating_add(bytes);
    }

    /// Reads content that is an array of parts. This is rare, so a second pass does no harm.
    fn parts(&mut self, raw: &str) {
        self.content |= is_filled_array(raw);
        let mut json = serde_json::Deserializer::from_str(raw);
        // Nesting beyond serde's limit is not counted, which only makes an estimate wrong.
        let mut parts = Parts { delta: self, is_thought: false };
        let _ = Each(&mut parts).deserialize(&mut json);
    }
}

/// Parts of content: Mistral's text, and its thinking, which has parts again.
struct Parts<'d> {
    delta: &'d mut Delta,
    is_thought: bool,
}

impl Object for Parts<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "text" => {
                let bytes = string_len(map.next_value::<&RawValue>()?.get());
                if self.is_thought {
                    self.delta.thought(bytes)
                } else {
                    self.delta.text(bytes)
                }
                Ok(())
            }
            "thinking" => {
                map.next_value_seed(Each(&mut Parts { delta: self.delta, is_thought: true }))
            }
            _ => skip(map),
        }
    }
}

/// An entry of `tool_calls`, its `function`, or the old `function_call`: they nest, and only names
/// and arguments count as text.
struct Call<'d>(&'d mut Delta);

impl Object for Call<'_> {
    fn begin(&mut self) {
        self.0.tool = true;
        self.0.content = true;
        self.0.answers = true;
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "function" | "custom" => map.next_value_seed(One(&mut CallText(self.0))),
            _ => CallText(self.0).field(key, map),
        }
    }
}

struct CallText<'d>(&'d mut Delta);

impl Object for CallText<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            // Some vendors repeat the name in every piece, so it does not count as content of its
            // own.
            "name" => {
                let says = self.0.says;
                self.0.text(string_len(map.next_value::<&RawValue>()?.get()));
                self.0.says = says;
                Ok(())
            }
            "arguments" | "input" => {
                let raw = map.next_value::<&RawValue>()?.get();
                self.0.says |= is_bare(raw);
                self.0.text(string_len(raw));
                Ok(())
            }
            _ => skip(map),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(choice: &str) -> Chunk {
        Chunk::read(&format!(r#"{{"id":"c","choices":[{{"index":0,{choice}}}]}}"#)).unwrap()
    }

    #[test]
    fn content_is_what_the_design_calls_a_first_token() {
        for yes in [
            r#""delta":{"content":"x"}"#,
            r#""delta":{"reasoning":"x"}"#,
            r#""delta":{"reasoning_content":"x","content":""}"#,
            r#""delta":{"refusal":"x"}"#,
            r#""delta":{"content":[{"type":"thinking"}]}"#,
            r#""delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}"#,
            r#""delta":{"tool_calls":[{}]}"#,
            r#""delta":{"function_call":{"arguments":""}}"#,
            r#""message":{"content":"x"}"#,
            r#""text":"x""#,
        ] {
            assert!(read(yes).content, "{yes}");
        }
        for no in [
            r#""delta":{"role":"assistant","content":""}"#,
            r#""delta":{"content":null,"tool_calls":null,"function_call":null,"refusal":null}"#,
            r#""delta":{"content":[],"tool_calls":[ ]}"#,
            r#""delta":null"#,
            r#""delta":{},"message":{"content":"said already"}"#,
            r#""delta":{"reasoning_details":[{"signature":"abc"}]}"#,
            r#""text":"""#,
            r#""content_filter_results":{}"#,
        ] {
            assert!(!read(no).content, "{no}");
        }
    }

    #[test]
    fn strange_shapes_are_no_errors_and_bad_json_is() {
        for odd in [
            "{}",
            "{\"choices\":null}",
            "{\"choices\":{\"a\":1}}",
            "{\"choices\":[1,null]}",
            "[]",
            "7",
        ] {
            assert_eq!(Chunk::read(odd).unwrap(), Chunk::default(), "{odd}");
        }
        for bad in ["", "{", "{\"choices\":[{]}", "{} {}", "{\"a\":\"\u{1}\"}", "{'a':1}"] {
            assert!(Chunk::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_finish_reason_is_a_word_and_belongs_to_its_choice() {
        assert_eq!(read(r#""finish_reason":null"#).finished, 0);
        assert_eq!(read(r#""finish_reason":"""#).finished, 0);
        assert_eq!(read(r#""finish_reason":"eos""#).finish, Some(Finish::Stop));
        assert!(read(r#""finish_reason":"never seen""#).interrupted);
        let both = r#"{"choices":[{"index":1,"finish_reason":"length"},{"index":0,"finish_reason":"stop"}]}"#;
        let both = Chunk::read(both).unwrap();
        assert_eq!((both.finished, both.length, both.finish), (0b11, true, Some(Finish::Stop)));
    }
}
