//! The journal's file as the file system sees it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Distinguishes a file from another file with the same name. Writes to a deleted file succeed, so
/// this is checked before every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
}

impl FileId {
    /// The id of the file that has this name now.
    #[cfg(unix)]
    pub fn of(path: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }

    /// On systems where a file in use cannot be replaced, it is enough that the file exists.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> std::io::Result<Self> {
        std::fs::metadata(path).map(|_| Self {})
    }
}

/// The name of the file that SQLite, or the relay, keeps beside the journal: `-wal`, `-lock`.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Bytes of the write-ahead log; 0 where there is none.
pub(super) fn log_size(path: &Path) -> u64 {
    std::fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len())
}

/// Creates a new file that only its owner may read, because it may contain prompts. SQLite gives
/// the files that it creates beside it the same rights. A file that exists is left as it is.
///
/// # Errors
/// The file does not exist and cannot be created.
#[cfg(unix)]
pub(super) fn create_private(path: &Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// As above. On these systems the folder's rights decide.
#[cfg(not(unix))]
pub(super) fn create_private(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Whether everybody on this machine may read it.
#[cfg(unix)]
pub(super) fn is_public(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.mode() & 0o004 != 0)
}

/// As above. On these systems it is not known.
#[cfg(not(unix))]
pub(super) const fn is_public(_path: &Path) -> bool {
    false
}

/// An SQLite URI that reads the file as it is on disk: without locks, without its log, without
/// files beside it, and without ever writing.
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
