//! The config file: read, checked as a whole, and handed out only if sound.
//!
//! Three rules shape this module:
//!
//! - **Every problem at once.** The readers report and go on with a stand-in,
//!   so that one run of `belay check` finds everything. A config with an error
//!   is never handed out, hence no stand-in is ever used.
//! - **Nothing is ignored silently.** Unknown keys are errors; keys of parts
//!   that later versions build are warnings.
//! - **Secrets stay out** of the file, of messages and of `Debug`. A message
//!   does not repeat a value that may be a key.

mod admin;
mod base_url;
mod capture;
mod clients;
mod env;
mod exposure;
mod hash;
mod headers;
mod journal;
mod ladder_checks;
mod ladders;
mod load;
mod names;
mod price;
mod problem;
mod prompts;
mod providers;
mod report;
mod rescue;
mod rungs;
mod scalar;
mod secret;
mod server;
mod stamp;
mod suggest;
#[cfg(test)]
mod tests;
mod tree;
mod unbuilt;
mod units;
mod unused;
mod whole;

pub use admin::{Admin, Role, Token};
pub use capture::Capture;
pub use clients::ClientConfig;
pub use env::Env;
pub use journal::JournalConfig;
pub use ladders::LadderConfig;
pub use load::{FilesRead, journal_path, load, load_with_files};
pub use problem::{Problem, Refused, Severity};
pub use prompts::Prompt;
pub use providers::ProviderConfig;
pub use rungs::RungConfig;
pub use secret::Secret;
pub use server::Server;
pub use stamp::Stamp;
pub use whole::{Config, Loaded, parse};
