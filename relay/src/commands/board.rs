//! `belay board`: how everything stands, on one screen.

use super::common::Ended;
use super::common::{Failed, block_on, print_error};
use super::relays::{RelayArgs, Relays};
use crate::screen::{self, LastBoard, View};
use crate::wall;
use parking_lot::Mutex;
use policy::Time;
use shared::admin::Board;
use shared::remote::{CallError, Remote};
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

/// How often it is drawn, and each relay asked.
const EVERY: Duration = Duration::from_secs(1);

/// Arguments of `belay board`.
#[derive(Debug, clap::Args)]
pub(super) struct BoardArgs {
    /// Draw it anew every second, until Ctrl+C.
    #[arg(long, short, conflicts_with = "json")]
    watch: bool,
    #[command(flatten)]
    relays: RelayArgs,
}

pub(super) fn run(args: &BoardArgs) -> Result<Ended, Failed> {
    let relays = args.relays.open()?;
    if args.watch {
        return block_on(watch(&relays))?;
    }
    let found = relays.run(async |remote| remote.get::<Board>(&["board"], &[]).await)?;
    let mut ended = Ended::Done;
    let mut views = Vec::new();
    for (remote, found) in found {
        if relays.json() {
            relays.print_json(remote, found.as_ref().map(|answer| answer.json.as_str()));
        }
        let seen = match found {
            Ok(board) => LastBoard::Board(Box::new(board.value), 0),
            Err(error) => {
                if relays.json() {
                    print_error(format!("belay: {error}"));
                }
                ended = Ended::Failed;
                LastBoard::Nothing(without(remote, &error))
            }
        };
        views.push(View { url: remote.shown().to_owned(), seen });
    }
    if !relays.json() {
        relays.show(&screen::board(&views, &relays.terminal, None));
    }
    Ok(ended)
}

/// The error without the address that stands before it anyway.
fn without(remote: &Remote, error: &CallError) -> String {
    let text = error.to_string();
    let rest = text.strip_prefix(remote.shown()).unwrap_or(&text);
    rest.trim_start_matches([':', ' ']).to_owned()
}

/// The last that is known of one relay.
#[derive(Debug, Default)]
struct Latest {
    board: Option<(Box<Board>, Time)>,
    lost: Option<String>,
}

impl Latest {
    fn seen(&self, now: Time) -> LastBoard {
        let age = |came: &Time| i64::try_from(now.since(*came).as_millis()).unwrap_or(i64::MAX);
        match (&self.board, &self.lost) {
            (Some((board, came)), None) => LastBoard::Board(board.clone(), age(came)),
            (Some((board, came)), Some(why)) => {
                LastBoard::Lost(board.clone(), age(came), why.clone())
            }
            (None, Some(why)) => LastBoard::Nothing(why.clone()),
            (None, None) => LastBoard::Nothing("asked, no answer yet".to_owned()),
        }
    }
}

/// Each relay is asked by a task of its own: one that hangs must not hold up the others.
async fn watch(relays: &Relays) -> Result<Ended, Failed> {
    if !std::io::stdout().is_terminal() {
        return Err(Failed(
            "belay: --watch draws on a terminal. For a file or a pipe leave it out.".to_owned(),
        ));
    }
    let mut all = Vec::new();
    for remote in &relays.all {
        let latest = Arc::new(Mutex::new(Latest::default()));
        tokio::spawn(follow(remote.clone(), Arc::clone(&latest)));
        all.push((remote.shown().to_owned(), latest));
    }
    let mut tick = tokio::time::interval(EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let _cursor = HiddenCursor::hide();
    // The first answers are there within this moment, mostly.
    tokio::time::sleep(Duration::from_millis(150)).await;
    loop {
        tokio::select! {
            _ = tick.tick() => draw(relays, &all),
            _ = tokio::signal::ctrl_c() => break,
            _ = term.recv() => break,
        }
    }
    let lost = all.iter().any(|(_, latest)| latest.lock().lost.is_some());
    Ok(if lost { Ended::Failed } else { Ended::Done })
}

async fn follow(remote: Remote, latest: Arc<Mutex<Latest>>) {
    let mut tick = tokio::time::interval(EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let found = remote.get::<Board>(&["board"], &[]).await;
        let mut latest = latest.lock();
        match found {
            Ok(board) => {
                latest.board = Some((Box::new(board.value), wall::now()));
                latest.lost = None;
            }
            Err(error) => latest.lost = Some(without(&remote, &error)),
        }
    }
}

fn draw(relays: &Relays, all: &[(String, Arc<Mutex<Latest>>)]) {
    let now = wall::now();
    let views: Vec<View> = all
        .iter()
        .map(|(url, latest)| {
            let seen = latest.lock().seen(now);
            View { url: url.clone(), seen }
        })
        .collect();
    let terminal = relays.terminal_now();
    // One row is left free, so that the last line end does not scroll.
    let rows = relays.rows().map(|rows| rows.saturating_sub(1));
    let lines = screen::board(&views, &terminal, rows);
    // Home, every line cleared to its end, then the rest: nothing flickers.
    let mut page = "\x1b[H".to_owned();
    for line in &lines {
        page += &terminal.paint(line);
        page += "\x1b[K\r\n";
    }
    page += "\x1b[J";
    let mut out = std::io::stdout().lock();
    let _reader_gone = out.write_all(page.as_bytes()).and_then(|()| out.flush());
}

/// The cursor is hidden as long as this lives.
struct HiddenCursor;

impl HiddenCursor {
    fn hide() -> Self {
        // The screen is pushed up into the scrollback, not wiped.
        let rows = terminal_size::terminal_size().map_or(24, |(_, rows)| usize::from(rows.0));
        write("\x1b[?25l");
        write(&"\n".repeat(rows));
        Self
    }
}

impl Drop for HiddenCursor {
    fn drop(&mut self) {
        // The shell's prompt begins a line of its own, behind the `^C`.
        write("\x1b[?25h\n");
    }
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _reader_gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
