//! A mock's options.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::fault::FaultSpec;

/// The command line of `belay mock`.
#[derive(Debug, Clone, clap::Args)]
pub struct MockArgs {
    /// Where to listen; port 0 takes a free one and says which.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR")]
    pub listen: SocketAddr,
    /// Its name, shown in its answers and in its model list.
    #[arg(long, default_value = "mock")]
    pub name: String,
    /// Time to the first token.
    #[arg(long, default_value = "150ms", value_parser = humantime::parse_duration, value_name = "TIME")]
    pub ttft: Duration,
    /// Time from token to token.
    #[arg(long, default_value = "30ms", value_parser = humantime::parse_duration, value_name = "TIME")]
    pub gap: Duration,
    /// Tokens of an answer that has no fixed text.
    #[arg(long, default_value_t = 24, value_name = "N")]
    pub tokens: usize,
    /// A fixed text to answer with.
    #[arg(long)]
    pub text: Option<String>,
    /// The fault to start with: `stall:3`, `status:429`, `hang`, or JSON.
    #[arg(long, value_name = "SPEC")]
    pub fault: Option<FaultSpec>,
    /// Exit when standard input closes, and so never outlive the program that started this one.
    #[arg(long)]
    pub exit_with_parent: bool,
    /// Not an argument: see [`MockOptions::clock`].
    #[arg(skip)]
    pub clock: Option<fn() -> u64>,
}

/// The options of [`Mock::start`](super::Mock::start); the defaults are those of the command line.
#[derive(Debug, Clone)]
pub struct MockOptions {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Its name, shown in its answers and in its model list.
    pub name: String,
    /// Time to the first token.
    pub ttft: Duration,
    /// Time from token to token.
    pub gap: Duration,
    /// Tokens of an answer that has no fixed text.
    pub tokens: usize,
    /// A fixed text to answer with.
    pub text: Option<String>,
    /// The fault to start with.
    pub fault: Option<FaultSpec>,
    /// The time in Unix seconds, for `created`. Without it, which is the default, the mock uses a
    /// fixed date, and its answers differ only in their ids.
    pub clock: Option<fn() -> u64>,
}

impl Default for MockOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            name: "mock".into(),
            ttft: Duration::from_millis(150),
            gap: Duration::from_millis(30),
            tokens: 24,
            text: None,
            fault: None,
            clock: None,
        }
    }
}

impl From<MockArgs> for MockOptions {
    fn from(args: MockArgs) -> Self {
        let MockArgs { listen, name, ttft, gap, tokens, text, fault, clock, .. } = args;
        Self { listen, name, ttft, gap, tokens, text, fault, clock }
    }
}

impl MockOptions {
    /// The date of an answer.
    pub(super) fn created(&self) -> u64 {
        self.clock.map_or(FIXED_DATE, |now| now())
    }
}

/// 1 November 2026, noon UTC.
const FIXED_DATE: u64 = 1_793_534_400;
