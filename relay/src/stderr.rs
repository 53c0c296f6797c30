//! Standard error behind a bounded queue: a log that cannot be written stops nothing.
//!
//! Whoever logs hands over a whole line and goes on. One thread writes. A line that finds
//! the queue full, or that cannot be written, is lost and counted: [`lost`] is a metric, and
//! the next line that can be written is preceded by how many are missing.
//!
//! Not `tracing-appender`: its worker does not count lines whose write failed, and its guard
//! writes to standard error when a flush times out, which panics or blocks in exactly the case
//! that this file is for.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Lines that may wait for the thread.
const LINES: usize = 2048;
/// What is longer is cut. With [`LINES`] this bounds the queue to 16 MiB.
const LONGEST: usize = 8 * 1024;
/// Between two tries where standard error is not blocking and full.
const PAUSE: Duration = Duration::from_millis(20);
/// How many such tries without progress until the line is dropped.
const TRIES: u32 = 50;

static LOST: AtomicU64 = AtomicU64::new(0);
static QUEUE: OnceLock<SyncSender<Entry>> = OnceLock::new();

enum Entry {
    Line(Vec<u8>),
    /// Everything before this has been written or lost.
    Flushed(SyncSender<()>),
}

/// How many lines were lost since the start of the process.
#[must_use]
pub fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Starts the thread. Without this, lines are written at once by whoever has them.
///
/// # Errors
/// The process may have no further thread.
pub fn start() -> io::Result<()> {
    if QUEUE.get().is_some() {
        return Ok(());
    }
    let (sender, receiver) = sync_channel(LINES);
    std::thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || drain(&receiver, &mut io::stderr()))?;
    // A second relay in one process (tests) uses the first one's.
    let _already = QUEUE.set(sender);
    Ok(())
}

/// Hands over one line, its line end included. Never blocks once [`start`] was called.
pub fn line(text: &[u8]) {
    let Some(queue) = QUEUE.get() else {
        if io::stderr().write_all(text).is_err() {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        return;
    };
    if queue.try_send(Entry::Line(cut(text))).is_err() {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

fn cut(text: &[u8]) -> Vec<u8> {
    let mut line = text.get(..LONGEST).unwrap_or(text).to_vec();
    if line.len() < text.len() {
        line.extend_from_slice(b" [cut]\n");
    }
    line
}

/// Waits until what was logged so far is written, for `limit` at the most.
pub fn flush(limit: Duration) {
    let Some(queue) = QUEUE.get() else { return };
    let (tell, told) = sync_channel(1);
    match queue.try_send(Entry::Flushed(tell)) {
        Ok(()) => {
            let _written_or_too_late = told.recv_timeout(limit);
        }
        // A full queue is one that nobody reads: its lines would not be written in time either.
        Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
    }
}

/// One event's line on its way. Every write is taken.
#[derive(Debug, Default)]
pub struct Line;

impl Write for Line {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        line(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn drain(receiver: &Receiver<Entry>, out: &mut impl Write) {
    let mut told = lost();
    while let Ok(entry) = receiver.recv() {
        match entry {
            Entry::Line(text) => {
                let missing = lost().saturating_sub(told);
                if missing > 0 {
                    let note = format!("belay: {missing} log lines were lost before this one\n");
                    if write(out, note.as_bytes()).is_ok() {
                        told = told.saturating_add(missing);
                    }
                }
                if write(out, &text).is_err() {
                    LOST.fetch_add(1, Ordering::Relaxed);
                }
            }
            Entry::Flushed(tell) => {
                // Whoever waited may have given up.
                let _nobody_waits = tell.send(());
            }
        }
    }
}

/// Writes all of `text`, also where the other end has made standard error non-blocking.
fn write(out: &mut impl Write, mut text: &[u8]) -> io::Result<()> {
    let mut tries = 0;
    while !text.is_empty() {
        match out.write(text) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                text = text.get(written..).unwrap_or_default();
                tries = 0;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && tries < TRIES => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time, and refuses every second write.
    struct Reluctant {
        taken: Vec<u8>,
        refuses: bool,
    }

    impl Write for Reluctant {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.refuses = !self.refuses;
            if self.refuses {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let part = text.get(..3).unwrap_or(text);
            self.taken.extend_from_slice(part);
            Ok(part.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_arrives_whole_although_its_reader_is_reluctant() {
        let mut out = Reluctant { taken: Vec::new(), refuses: false };
        write(&mut out, b"a whole line\n").unwrap();
        assert_eq!(out.taken, b"a whole line\n");
    }

    #[test]
    fn lines_are_bounded() {
        assert_eq!(cut(b"short\n"), b"short\n");
        let long = cut(&vec![b'x'; 1 << 20]);
        assert!(long.len() < LONGEST + 16, "{}", long.len());
        assert!(long.ends_with(b"[cut]\n"));
    }
}
