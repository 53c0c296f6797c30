//! A request as it is written for a rung.

use crate::neutral::names::Names;
use shared::Degrade;

/// The rung that a request is written for, and what is changed for it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The model's name at its provider.
    pub model: &'a str,
    /// The most tokens that the model gives, if the config says so.
    pub max_output: Option<u64>,
    /// Whether to ask for data that providers send only when asked, although some refuse that
    /// field: usage from a chat provider (`stream_options`), summaries of reasoning from a
    /// responses provider.
    pub ask_usage: bool,
    /// Replaces every system prompt of the client.
    pub system: Option<&'a str>,
    /// Wishes that the rung cannot fulfil, and what is done about each.
    pub degrade: Degrade,
    /// An answer that did not follow its schema: the model is asked again.
    pub again: Option<Again<'a>>,
}

/// An answer that did not follow its schema, and why.
#[derive(Debug, Clone, Copy)]
pub struct Again<'a> {
    /// The text of the answer.
    pub answer: &'a str,
    /// What is wrong with it, in a text for the model.
    pub problem: &'a str,
}

/// A request in a rung's dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Upstream {
    /// The body.
    pub body: Vec<u8>,
    /// Wishes that this dialect cannot express, as paths of the neutral form such as `seed`. Only
    /// those without which the answer is still an answer to what was asked.
    pub left_out: Vec<&'static str>,
    /// The names in it for the client's tools.
    pub names: Names,
}

/// A dialect cannot express what the client asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The field or feature, as the client knows it; never a value.
    pub field: String,
}
