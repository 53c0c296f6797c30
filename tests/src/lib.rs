//! The harness of Belay's end-to-end runs: a real relay, scripted providers,
//! and a client that sees every byte and when it came.
//!
//! Everything goes over real sockets, because the faults that Belay exists for
//! live there: a byte split in the middle, a peer that is silent, a connection
//! that is reset. Nothing here shares code with the relay, so that a mistake
//! in the relay's reading cannot hide behind the same mistake in the tests'.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a harness fails by panicking: that is what fails the test"
)]

pub mod client;
pub mod clock;
pub mod engineer;
pub mod faults;
pub mod fixture;
pub mod openai;
pub mod page;
pub mod provider;
pub mod relay;
pub mod setup;
pub mod tls;
pub mod tunnel;

pub use client::{Answer, End, Exchange};
pub use engineer::{Engineer, Said};
pub use faults::Faults;
pub use page::Page;
pub use provider::{Provider, Reply};
pub use relay::Relay;
pub use setup::Setup;
pub use tunnel::{Tunnel, Weather};
