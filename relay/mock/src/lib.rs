//! A simulated provider that misbehaves on request, in every dialect.
//!
//! A relay is judged by what it does when a provider fails, and real providers cannot be asked to
//! fail. This one can: it streams at a set pace, and a standing fault, or the fault of a single
//! request, makes it late, silent or broken. The demo and the tests rely on it, so it keeps to the
//! wire format of a real provider, and it records what it saw of its callers.
//!
//! It answers `POST /v1/chat/completions`, `/v1/messages`, `/v1/responses` and
//! `/v1beta/models/{model}:streamGenerateContent` or `:generateContent`, and refuses what the
//! vendors refuse. `GET /mock` and `/mock/requests` show what it saw, `PUT` and `DELETE` of
//! `/mock/fault` and `/mock/answer` change what it does ([`Fault`], [`Wish`]), `POST /mock/reset`
//! resets it. A single request gives the same instructions in its `x_mock`. Translated requests
//! carry no field that a dialect does not have, so the text of the last turn can give them, too:
//! `[[mock {"calls": 2}]]`.
//!
//! It is a stand-alone program inside the program: nothing here knows the
//! relay, so that the relay cannot be tested against its own ideas.

mod answer;
mod chat;
mod control;
mod dialect;
mod fault;
mod frame;
mod gemini;
mod handle;
mod log;
mod messages;
mod options;
mod pace;
mod plan;
mod play;
mod proof;
mod record;
mod request;
mod responses;
mod routes;
mod script;
mod server;
mod spec;
mod state;
mod wish;

#[cfg(test)]
mod tests;

pub use fault::{BadFault, Fault, FaultSpec};
pub use log::Report;
pub use options::{MockArgs, MockOptions};
pub use record::{Disconnect, Record, Timings};
pub use server::{Mock, serve};
pub use wish::{Calls, Ending, Reasoning, Wish, WishedCall};
