//! What the console did and used in a spell of time.

use crate::window::Window;
use crate::{Res, process, unix_ms};
use ::tests::clock;
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The figures of a spell.
#[derive(Debug)]
pub(crate) struct Spell {
    /// How long it was, in seconds.
    seconds: f64,
    /// Processor time in it, in seconds of one core.
    cpu: f64,
    /// Milliseconds of update and tessellation of each frame, the shortest first.
    frames: Vec<f64>,
}

impl Spell {
    /// Watches the console for so long, while it writes its frames there, and a hand presses these
    /// keys once a second.
    pub(crate) fn of(
        window: &mut Window<'_>,
        frames: &Path,
        length: Duration,
        keys: &[&str],
    ) -> Res<Self> {
        let pid = window.pid();
        let cpu = || process::cpu_us(pid);
        let (began, since, before) = (clock::now(), unix_ms(), cpu()?);
        while began.elapsed() < length {
            std::thread::sleep(SECOND.min(length.saturating_sub(began.elapsed())));
            window.press(keys)?;
        }
        let used = Duration::from_micros(cpu()?.saturating_sub(before));
        let seconds = began.elapsed().as_secs_f64();
        let until = unix_ms();
        let text = std::fs::read_to_string(frames)?;
        let mut frames = read(&text, since, until)?;
        frames.sort_by(f64::total_cmp);
        Ok(Self { seconds, cpu: used.as_secs_f64(), frames })
    }

    /// Frames a second.
    pub(crate) fn rate(&self) -> f64 {
        self.frames.len() as f64 / self.seconds
    }

    /// Per cent of one core.
    pub(crate) fn cpu(&self) -> f64 {
        self.cpu / self.seconds * 100.0
    }

    /// What so many per cent of its frames did not exceed, in milliseconds.
    pub(crate) fn frame(&self, part: usize) -> f64 {
        quantile(&self.frames, part)
    }
}

/// What so many per cent of these do not exceed; they are sorted.
pub(crate) fn quantile(sorted: &[f64], part: usize) -> f64 {
    let index = (sorted.len() * part / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or(f64::NAN)
}

/// The frames between two moments; a last line without its end is not one yet.
fn read(text: &str, since: i64, until: i64) -> Res<Vec<f64>> {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut found = Vec::new();
    for line in whole.lines() {
        let mut parts = line.split(' ');
        let mut next = || parts.next().ok_or_else(|| format!("no frame: {line}"));
        let (at, took) = (next()?.parse::<i64>()?, next()?.parse::<u32>()?);
        if (since..until).contains(&at) {
            found.push(f64::from(took) / 1e3);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_spell_are_read_and_no_others() {
        let text = "1 900 0\n5 1500 0\n9 2500 3\n10 1 3\n9 12";
        assert_eq!(read(text, 5, 10).unwrap(), [1.5, 2.5]);
        assert_eq!(read("5 15", 0, 10).unwrap(), [0.0; 0]);
        assert!(read("5\n", 0, 10).is_err());
    }
}
