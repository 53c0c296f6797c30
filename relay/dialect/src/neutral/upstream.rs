//! A request as it is written for a rung.

use crate::neutral::names::Names;
use shared::Degrade;

/// The rung that a request is written for, and what is different for it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The model's name at its provider.
    pub model: &'a str,
    /// The most tokens that it gives, where the config says.
    pub max_output: Option<u64>,
    /// Whether a provider is asked for what it tells only when asked, and some refuse to be
    /// asked for: a chat provider for usage by `stream_options`, a responses provider for
    /// summaries of its reasoning.
    pub ask_usage: bool,
    /// Takes the place of every system prompt of the client's.
    pub system: Option<&'a str>,
    /// Wishes that the rung cannot fulfil, and what becomes of them.
    pub degrade: Degrade,
    /// An answer that did not follow its schema: the model is asked again.
    pub again: Option<Again<'a>>,
}

/// The answer that was no good, and why.
#[derive(Debug, Clone, Copy)]
pub struct Again<'a> {
    /// What the model said.
    pub answer: &'a str,
    /// What is wrong with it, for the model.
    pub problem: &'a str,
}

/// A request in a rung's dialect: always one for a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Upstream {
    /// The body.
    pub body: Vec<u8>,
    /// Wishes that this dialect has no words for, as paths of the neutral form such as
    /// `seed`. Only those without which the answer is still an answer to what was asked.
    pub left_out: Vec<&'static str>,
    /// Which names it has for the client's tools.
    pub names: Names,
}

/// A dialect cannot say what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The field or feature, as the client knows it; never a value.
    pub field: String,
}
