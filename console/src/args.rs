//! The command line.

use std::ffi::OsString;

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Args {
    /// The window.
    Window,
    /// The help text.
    Help,
    /// Something else; the sentence says what is wrong with it.
    Refused(String),
}

/// What `--help` says.
pub const HELP: &str = "\
belay-console: Belay's ops console

Usage: belay-console [--help]

Opens a window. In this version it shows what the console is going to be and
connects to nothing: the journal is read with `belay journal`.

  -h, --help    Show this and exit

Exit codes: 0 closed, 1 no window could be opened, 2 wrong arguments.
";

/// Reads the arguments behind the program's name.
pub fn read(args: impl IntoIterator<Item = OsString>) -> Args {
    let args: Vec<String> =
        args.into_iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return Args::Help;
    }
    match args.first() {
        None => Args::Window,
        Some(arg) if arg == "--connect" || arg.starts_with("--connect=") => Args::Refused(
            "--connect is not built yet; the journal is read with `belay journal`".into(),
        ),
        Some(arg) => Args::Refused(format!("unknown argument `{arg}`, see --help")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Args {
        read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn it_opens_a_window_helps_or_says_why_not() {
        assert_eq!((of(""), of("--help"), of("-h")), (Args::Window, Args::Help, Args::Help));
        for line in ["--connect http://127.0.0.1:8788", "--connect=http://127.0.0.1:8788"] {
            let Args::Refused(why) = of(line) else { panic!("{line}") };
            assert!(why.contains("not built yet"), "{why}");
        }
        assert!(matches!(of("--fast"), Args::Refused(why) if why.contains("--fast")));
    }
}
