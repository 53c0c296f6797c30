//! A journal with a long past.

use crate::{Res, beside};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Requests in it: five attempts for four of them make 500,000.
const REQUESTS: u32 = 400_000;

/// Has `history` fill one in this file, as it does for its own questions.
pub(crate) fn fill(file: &Path) -> Res<()> {
    let mut history = Command::new(beside("history")?)
        .args(["--requests", &REQUESTS.to_string(), "--file"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = history.stdout.take().ok_or("no standard output")?;
    let mut lines = BufReader::new(output).lines();
    let filled = lines.any(|line| line.is_ok_and(|line| line.contains("filled in")));
    // It goes on to ask its questions, which are not ours.
    let _ = history.kill();
    history.wait()?;
    if !filled {
        return Err("the journal was not filled; `history` says why above".into());
    }
    Ok(())
}
