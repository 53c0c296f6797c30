//! Which relays a command talks to, with which token, and how it speaks to its reader.

use super::common::{Failed, block_on, print_error};
use super::running;
use crate::screen::{Line, Terminal};
use futures_util::future::join_all;
use shared::remote::{self, CallError, Remote};
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

/// Arguments of every command that talks to relays.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RelayArgs {
    /// A relay's admin address; several: again. Default: BELAY_RELAY, which may name several
    /// with spaces between them, else http://127.0.0.1:8788.
    #[arg(long, value_name = "URL")]
    relay: Vec<String>,
    /// A file with the token; without it, BELAY_TOKEN is taken.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print the API's own JSON; of several relays one line each, with its address.
    #[arg(long)]
    pub(super) json: bool,
    /// Draw with ASCII only; by itself where the locale is not UTF-8.
    #[arg(long)]
    ascii: bool,
}

/// The relays, and what the terminal can show.
#[derive(Debug)]
pub(super) struct Relays {
    pub(super) all: Vec<Remote>,
    pub(super) terminal: Terminal,
    json: bool,
}

impl RelayArgs {
    pub(super) fn open(&self) -> Result<Relays, Failed> {
        running::install_tls();
        let failed = |error| Failed(format!("belay: {error}"));
        let token = remote::token(self.token_file.as_deref()).map_err(failed)?;
        let named = std::env::var("BELAY_RELAY").unwrap_or_default();
        let open = |url: &String| Remote::new(url, token.as_deref()).map_err(failed);
        let all =
            remote::relays(&self.relay, &named).iter().map(open).collect::<Result<Vec<_>, _>>()?;
        all.iter()
            .filter_map(Remote::in_clear)
            .for_each(|text| print_error(format!("belay: {text}")));
        Ok(Relays { all, terminal: this_terminal(self.ascii), json: self.json })
    }
}

impl Relays {
    /// Runs `work` on every relay at the same time; in the order of the arguments.
    pub(super) async fn each<'a, T>(
        &'a self,
        work: impl AsyncFn(&'a Remote) -> T,
    ) -> Vec<(&'a Remote, T)> {
        let work = &work;
        join_all(self.all.iter().map(async |remote| (remote, work(remote).await))).await
    }

    /// As [`Relays::each`], for a command without an async world of its own.
    pub(super) fn run<'a, T>(
        &'a self,
        work: impl AsyncFn(&'a Remote) -> T,
    ) -> Result<Vec<(&'a Remote, T)>, Failed> {
        block_on(self.each(work))
    }

    /// Whether there are several, so that every text must say which one it is about.
    pub(super) fn several(&self) -> bool {
        self.all.len() > 1
    }

    /// The API's own JSON: of one relay as it came, of several a line each.
    pub(super) fn print_json(&self, remote: &Remote, answer: Result<&str, &CallError>) {
        match answer {
            Ok(json) if !self.several() => super::common::print_line(json),
            Ok(json) => {
                let relay = serde_json::Value::from(remote.shown());
                super::common::print_line(format_args!("{{\"relay\":{relay},\"answer\":{json}}}"));
            }
            Err(error) if self.several() => {
                let (relay, error) = (remote.shown(), error.to_string());
                super::common::print_line(serde_json::json!({ "relay": relay, "error": error }));
            }
            // The complaint on standard error says it.
            Err(_) => {}
        }
    }

    /// The look of a terminal whose window may have another size by now.
    pub(super) fn terminal_now(&self) -> Terminal {
        Terminal { width: width(), ..self.terminal }
    }

    /// Rows of the terminal; `None`: there is none.
    pub(super) fn rows(&self) -> Option<usize> {
        terminal_size::terminal_size().map(|(_, rows)| usize::from(rows.0))
    }

    pub(super) const fn json(&self) -> bool {
        self.json
    }

    /// Lines for standard output.
    pub(super) fn show(&self, lines: &[Line]) {
        let mut out = std::io::stdout().lock();
        let _reader_gone =
            out.write_all(self.terminal.page(lines).as_bytes()).and_then(|()| out.flush());
    }

    /// Lines for standard error, where what is asked is read even if the answer is piped.
    pub(super) fn print_to_stderr(&self, lines: &[Line]) {
        let terminal =
            Terminal { colours: colours(std::io::stderr().is_terminal()), ..self.terminal };
        let _reader_gone = std::io::stderr().write_all(terminal.page(lines).as_bytes());
    }
}

fn colours(is_terminal: bool) -> bool {
    let asked_not = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !asked_not && !dumb
}

/// What standard output can show.
fn this_terminal(ascii: bool) -> Terminal {
    let colours = colours(std::io::stdout().is_terminal());
    Terminal { width: width(), colours, ascii: ascii || !utf8() }
}

fn width() -> usize {
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    // A file or a pipe has no width; a wide one keeps what is said whole.
    width.unwrap_or(120).clamp(Terminal::NARROWEST, Terminal::WIDEST)
}

/// Whether the locale is UTF-8, by the first of the three that is set, as libc looks.
fn utf8() -> bool {
    let set =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
    let locale = set.into_iter().find(|value| !value.is_empty());
    // Without any the terminal of today shows UTF-8 all the same.
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
