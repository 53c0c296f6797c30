//! What frames cost, written to a file for whoever measures the console.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// The file.
#[derive(Debug)]
pub struct Frames(File);

impl Frames {
    /// Appends to the file at `path`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn append(path: &Path) -> io::Result<Self> {
        File::options().create(true).append(true).open(path).map(Self)
    }

    /// A frame is being drawn at `now`, with so many requests in its list; the one before it
    /// cost `seconds` of updating and tessellating.
    pub fn note(&mut self, now: i64, seconds: Option<f32>, requests: usize) {
        let micros = f64::from(seconds.unwrap_or(0.0)) * 1e6;
        // A full disk is no reason to draw nothing.
        let _written = writeln!(self.0, "{now} {micros:.0} {requests}");
    }
}
