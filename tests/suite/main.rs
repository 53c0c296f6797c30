//! Belay end to end: the real relay between scripted providers and clients.
//!
//! One binary, so that the harness is linked once. Modules go by theme; a test
//! is named after the row of the outcome table, or the public bug
//! report (B01 and so on), that it holds.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod admin;
mod admin_changes;
mod cases;
mod client_contract;
mod commands;
mod dialects;
mod drills;
mod gameday;
mod harness;
mod journal;
mod mended;
mod metrics;
mod openapi;
mod outcomes;
mod reload;
mod rescue;
mod restart;
mod round_two;
mod starting;
mod tidy;
mod upstream;
