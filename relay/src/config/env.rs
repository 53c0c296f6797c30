//! What the config refers to outside itself.

use std::io;
use std::path::Path;

/// What the config refers to outside itself.
pub trait Env {
    /// The environment variable `name`; `None` if it is not set.
    fn var(&self, name: &str) -> Option<String>;

    /// The content of a key or certificate file, at the path as written.
    ///
    /// # Errors
    ///
    /// If the file cannot be read as text.
    fn file(&self, path: &Path) -> io::Result<String>;
}
