//! Requests and answers in a form that is independent of any dialect.
//!
//! If a client and a rung speak different dialects, everything between them passes through here.
//! Each dialect is read into this form and written from it, and no dialect knows another one. So a
//! new dialect is one module, and there is one list of everything that can be expressed.

mod degrade;
mod event;
mod finish;
mod json_end;
mod media;
mod names;
mod request;
mod signed;
mod text;
mod upstream;
mod whole;

pub use degrade::{
    again_prompt, apply, format_into_prompt, lowered, refuse_unsupported, schema_prompt,
};
pub use event::Event;
pub use finish::{Finish, Meaning, Words};
pub use json_end::JsonEnd;
pub use names::{FREE_TEXT, Form, Limits, NAMESPACE_END, Names, Own, is_plain};
pub use request::{
    Audio, Effort, File, Format, Image, Part, Request, Role, Signed, Source, Thinking, Tool,
    ToolChoice, Turn,
};
pub use shared::Degrade;
pub use text::{Text, decode};
pub use upstream::{Again, Target, Unsupported, Upstream};
pub use whole::{Answer, Piece};
