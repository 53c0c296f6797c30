//! What a rung is able to do, and what a ladder requires.

use super::tree::Value;

/// Something that a request may need and a rung may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// Tool calls.
    Tools,
    /// Several tool calls in one answer.
    ParallelTools,
    /// Answers that follow a JSON schema.
    JsonSchema,
    /// Images in the prompt.
    Images,
    /// Audio in the prompt or the answer.
    Audio,
    /// Files in the prompt.
    Files,
}

/// The capabilities and their words.
const WORDS: &[(&str, Capability)] = &[
    ("tools", Capability::Tools),
    ("parallel_tools", Capability::ParallelTools),
    ("json_schema", Capability::JsonSchema),
    ("images", Capability::Images),
    ("audio", Capability::Audio),
    ("files", Capability::Files),
];

impl Capability {
    /// Its word in the config, such as `json_schema`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::ParallelTools => "parallel_tools",
            Self::JsonSchema => "json_schema",
            Self::Images => "images",
            Self::Audio => "audio",
            Self::Files => "files",
        }
    }
}

/// What a rung is able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supports {
    /// Tool calls.
    pub tools: bool,
    /// Several tool calls in one answer.
    pub parallel_tools: bool,
    /// Answers that follow a JSON schema.
    pub json_schema: bool,
    /// Images in the prompt.
    pub images: bool,
    /// Audio in the prompt or the answer.
    pub audio: bool,
    /// Files in the prompt.
    pub files: bool,
}

impl Supports {
    /// Of a rung that does not say: unknown counts as able, or a short config
    /// would serve nothing.
    pub const ALL: Self = Self {
        tools: true,
        parallel_tools: true,
        json_schema: true,
        images: true,
        audio: true,
        files: true,
    };

    /// Exactly these.
    #[must_use]
    pub fn only(capabilities: &[Capability]) -> Self {
        let has = |capability| capabilities.contains(&capability);
        Self {
            tools: has(Capability::Tools),
            parallel_tools: has(Capability::ParallelTools),
            json_schema: has(Capability::JsonSchema),
            images: has(Capability::Images),
            audio: has(Capability::Audio),
            files: has(Capability::Files),
        }
    }

    /// Whether `capability` is among them.
    #[must_use]
    pub const fn has(&self, capability: Capability) -> bool {
        match capability {
            Capability::Tools => self.tools,
            Capability::ParallelTools => self.parallel_tools,
            Capability::JsonSchema => self.json_schema,
            Capability::Images => self.images,
            Capability::Audio => self.audio,
            Capability::Files => self.files,
        }
    }
}

/// Reads a list of capability words.
pub(super) fn read(value: &Value<'_>) -> Vec<Capability> {
    value.words(WORDS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_switches_its_own_capability_on() {
        for (word, capability) in WORDS {
            assert_eq!(capability.as_str(), *word);
            let only = Supports::only(&[*capability]);
            for (_, other) in WORDS {
                assert_eq!(only.has(*other), other == capability, "{word}");
            }
            assert!(Supports::ALL.has(*capability));
        }
    }
}
