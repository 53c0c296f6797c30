//! What a request may need and a rung may lack.

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

impl Capability {
    /// Each with its word in the config.
    pub const WORDS: &[(&'static str, Self)] = &[
        ("tools", Self::Tools),
        ("parallel_tools", Self::ParallelTools),
        ("json_schema", Self::JsonSchema),
        ("images", Self::Images),
        ("audio", Self::Audio),
        ("files", Self::Files),
    ];

    /// Its word in the config, such as `json_schema`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS.iter().find(|(_, it)| *it == self).map_or("", |(word, _)| word)
    }
}

/// What a rung is able to do, or what a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
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

impl Capabilities {
    /// Everything.
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

    /// Those that are among them.
    pub fn list(self) -> impl Iterator<Item = Capability> {
        Capability::WORDS.iter().map(|(_, it)| *it).filter(move |it| self.has(*it))
    }

    /// The first capability of `need` that is missing here.
    #[must_use]
    pub fn lacks(self, need: Self) -> Option<Capability> {
        need.list().find(|it| !self.has(*it))
    }

    /// What either has.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            tools: self.tools | other.tools,
            parallel_tools: self.parallel_tools | other.parallel_tools,
            json_schema: self.json_schema | other.json_schema,
            images: self.images | other.images,
            audio: self.audio | other.audio,
            files: self.files | other.files,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_switches_its_own_capability_on() {
        for (word, capability) in Capability::WORDS {
            assert_eq!(capability.as_str(), *word);
            let only = Capabilities::only(&[*capability]);
            assert_eq!(only.list().collect::<Vec<_>>(), [*capability], "{word}");
            assert!(Capabilities::ALL.has(*capability));
            assert_eq!(Capabilities::default().lacks(only), Some(*capability));
        }
    }
}
