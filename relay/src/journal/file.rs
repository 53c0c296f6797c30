//! The journal's file as the file system sees it.

use std::fmt::Write as _;
use std::path::Path;

/// Tells a file from another one under the same name. A deleted file takes
/// writes without complaint, so this is asked before every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
}

impl FileId {
    /// Of whatever has this name now.
    #[cfg(unix)]
    pub fn of(path: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }

    /// Where a file in use cannot be replaced, being there is enough.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> std::io::Result<Self> {
        std::fs::metadata(path).map(|_| Self {})
    }
}

/// An SQLite URI that reads the file as it lies there: no lock, no log, no file
/// beside it, and nothing ever written.
pub(super) fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _infallible = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    uri
}
