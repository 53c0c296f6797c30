//! The wire formats that providers and clients speak.

use crate::words::words;

words! {
    /// A wire format.
    Dialect, "dialect" {
        /// OpenAI chat completions, and everyone who is compatible with it.
        OpenaiChat = "openai-chat",
        /// OpenAI responses.
        OpenaiResponses = "openai-responses",
        /// Anthropic messages.
        AnthropicMessages = "anthropic-messages",
        /// Gemini's `streamGenerateContent`.
        Gemini = "gemini",
    }
}
