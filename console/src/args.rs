//! The command line.

use clap::Parser;
use clap::builder::NonEmptyStringValueParser as Text;
use shared::remote::relays;
use std::path::PathBuf;

/// Belay's ops console.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "belay-console",
    version,
    after_help = "In the window ? shows the keys.\nExit codes: 0 closed, 1 no window could be opened, 2 wrong arguments."
)]
pub struct Args {
    /// A relay's admin address; several: again. Default: BELAY_RELAY, else those of the last time,
    /// else http://127.0.0.1:8788
    #[arg(long, value_name = "URL", value_parser = Text::new())]
    pub connect: Vec<String>,
    /// A file with the token; without it BELAY_TOKEN is taken, and where that is empty the window
    /// asks
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Append a line per frame: its moment in ms since 1970, what the one before cost to update
    /// and tessellate, in microseconds, and how many requests its list has
    #[arg(long, value_name = "FILE")]
    pub frames: Option<PathBuf>,
    /// Write what is in the window and where, with each frame: for tests
    #[arg(long, value_name = "FILE")]
    pub widgets: Option<PathBuf>,
}

impl Args {
    /// The relays that are watched; `named` is `BELAY_RELAY`, and `remembered` those of the last
    /// time.
    #[must_use]
    pub fn relays(&self, named: &str, remembered: &[String]) -> Vec<String> {
        let nobody_named = self.connect.is_empty() && named.trim().is_empty();
        relays(if nobody_named { remembered } else { &self.connect }, named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::remote::LOOPBACK;

    fn read(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once("belay-console").chain(line.split_whitespace()))
    }

    fn watched(line: &str, named: &str) -> Vec<String> {
        read(line).unwrap().relays(named, &["http://last".to_owned()])
    }

    #[test]
    fn relays_come_from_the_line_then_from_the_environment_then_from_the_last_time() {
        let both = "--connect http://a --connect=http://b";
        assert_eq!(watched(both, "http://c"), ["http://a", "http://b"]);
        assert_eq!(watched("", "http://c http://d"), ["http://c", "http://d"]);
        assert_eq!(watched("--token-file t", ""), ["http://last"]);
        assert_eq!(read("").unwrap().relays(" ", &[]), [LOOPBACK]);
    }

    #[test]
    fn it_helps_or_says_what_is_wrong() {
        assert_eq!(read("--connect x -h").unwrap_err().exit_code(), 0);
        for (line, part) in [
            ("--fast", "--fast"),
            ("--connect", "--connect <URL>"),
            ("--connect=", "--connect <URL>"),
            ("--token-file", "--token-file <FILE>"),
            ("--frames", "--frames <FILE>"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
