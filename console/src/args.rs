//! The command line.

use shared::remote::{LOOPBACK, relays as relays_of};
use std::ffi::OsString;

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Args {
    /// The window, on these relays.
    Window {
        /// Admin addresses; the default one if none is named.
        relays: Vec<String>,
        /// A file with the token.
        token_file: Option<String>,
        /// A file that every frame's cost is written to.
        frames: Option<String>,
    },
    /// The help text.
    Help,
    /// Something else; the sentence says what is wrong with it.
    Refused(String),
}

/// What `--help` says.
pub const HELP: &str = "\
belay-console: Belay's ops console

Usage: belay-console [--connect URL]... [--token-file FILE] [--frames FILE]

  --connect URL      A relay's admin address; several: again.
                     Default: BELAY_RELAY, else those of the last time,
                     else http://127.0.0.1:8788
  --token-file FILE  A file with the token; without it, BELAY_TOKEN is taken,
                     and where that is empty the window asks
  --frames FILE      Append a line per frame: its moment in ms since 1970, what
                     the one before cost to update and tessellate, in
                     microseconds, and how many requests its list has
  -h, --help         Show this and exit

In the window ? shows the keys.
Exit codes: 0 closed, 1 no window could be opened, 2 wrong arguments.
";

/// Reads the arguments behind the program's name; `named` is `BELAY_RELAY`, and
/// `remembered` the relays of the last time.
pub fn read(args: impl IntoIterator<Item = OsString>, named: &str, remembered: &[String]) -> Args {
    let mut args = args.into_iter().map(|arg| arg.to_string_lossy().into_owned());
    let (mut relays, mut token_file, mut frames) = (Vec::new(), None, None);
    while let Some(arg) = args.next() {
        let (key, inline) = match arg.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (arg.clone(), None),
        };
        let mut value = || inline.clone().or_else(|| args.next()).filter(|text| !text.is_empty());
        match key.as_str() {
            "--help" | "-h" => return Args::Help,
            "--connect" => match value() {
                Some(url) => relays.push(url),
                None => {
                    return Args::Refused(format!("--connect needs an address, like {LOOPBACK}"));
                }
            },
            "--token-file" => match value() {
                Some(path) => token_file = Some(path),
                None => return Args::Refused("--token-file needs a file".to_owned()),
            },
            "--frames" => match value() {
                Some(path) => frames = Some(path),
                None => return Args::Refused("--frames needs a file".to_owned()),
            },
            _ => return Args::Refused(format!("unknown argument `{arg}`, see --help")),
        }
    }
    if relays.is_empty() && named.trim().is_empty() {
        relays = remembered.to_vec();
    }
    Args::Window { relays: relays_of(&relays, named), token_file, frames }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, named: &str) -> Args {
        read(line.split_whitespace().map(OsString::from), named, &["http://last".to_owned()])
    }

    fn window(relays: &[&str], token_file: Option<&str>) -> Args {
        let relays = relays.iter().copied().map(str::to_owned).collect();
        Args::Window { relays, token_file: token_file.map(str::to_owned), frames: None }
    }

    #[test]
    fn relays_come_from_the_line_then_from_the_environment_then_from_the_last_time() {
        assert_eq!(
            of("--connect http://a --connect=http://b", "http://c"),
            window(&["http://a", "http://b"], None)
        );
        assert_eq!(of("", "http://c http://d"), window(&["http://c", "http://d"], None));
        assert_eq!(of("--token-file t", ""), window(&["http://last"], Some("t")));
        assert_eq!(read([], " ", &[]), window(&[LOOPBACK], None));
    }

    #[test]
    fn it_helps_or_says_what_is_wrong() {
        assert_eq!((of("--help", ""), of("--connect x -h", "")), (Args::Help, Args::Help));
        for (line, part) in [
            ("--fast", "--fast"),
            ("--connect", "address"),
            ("--connect=", "address"),
            ("--token-file", "file"),
            ("--frames", "file"),
        ] {
            let Args::Refused(why) = of(line, "") else { panic!("{line}") };
            assert!(why.contains(part), "{why}");
        }
    }
}
