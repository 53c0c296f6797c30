//! Reads the config file and what it refers to.

use super::{Config, Env, Loaded, Problem, Refused, Severity, parse};
use sha2::{Digest as _, Sha256};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files larger than this are a mistake, or a device that never ends.
const LARGEST: u64 = 4 << 20;

/// Reads and checks the config file at `path`, with the key files it names.
///
/// Relative paths in the config start at the file's folder, wherever the
/// relay was started. `env` gives environment variables.
///
/// # Errors
///
/// If the file cannot be read, or anything in it is wrong.
pub fn load(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Loaded, Refused> {
    load_with_files(path, env).0
}

/// As [`load`], with what was read on the way, so that a change can be noticed.
pub fn load_with_files(
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> (Result<Loaded, Refused>, FilesRead) {
    let folder = path.parent().unwrap_or(Path::new(""));
    let content = bytes(path);
    let outside = Outside { folder, var: env, seen: RefCell::default() };
    outside.see(path, &content);
    let result = text(content).and_then(|text| parse(&text, &outside));
    let seen = FilesRead { files: outside.seen.into_inner() };
    (finish(result, path, folder), seen)
}

fn finish(result: Result<Loaded, Refused>, path: &Path, folder: &Path) -> Result<Loaded, Refused> {
    match result {
        Ok(mut loaded) => {
            resolve(&mut loaded.config, folder);
            name(&mut loaded.warnings, path);
            Ok(loaded)
        }
        Err(mut refused) => {
            name(&mut refused.problems, path);
            Err(refused)
        }
    }
}

/// Where the config at `path` puts the journal. Secrets are not needed for it:
/// whoever reads the journal need not hold the relay's keys.
///
/// # Errors
///
/// If the file cannot be read, or anything but a missing secret is wrong in it.
pub fn journal_path(path: &Path) -> Result<PathBuf, Refused> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let result = text(bytes(path)).and_then(|text| parse(&text, &NoSecrets));
    let loaded = result.map_err(|mut refused| {
        name(&mut refused.problems, path);
        refused
    })?;
    Ok(folder.join(loaded.config.journal.path))
}

/// Stands in for secrets that nobody will use.
struct NoSecrets;

impl Env for NoSecrets {
    fn var(&self, _name: &str) -> Option<String> {
        Some("unread".to_owned())
    }

    fn file(&self, _path: &Path) -> io::Result<String> {
        Ok("unread".to_owned())
    }
}

/// The real environment and the real files.
struct Outside<'a> {
    folder: &'a Path,
    var: &'a dyn Fn(&str) -> Option<String>,
    seen: RefCell<Vec<(PathBuf, Content)>>,
}

impl Outside<'_> {
    fn see(&self, path: &Path, content: &io::Result<Vec<u8>>) {
        self.seen.borrow_mut().push((path.to_owned(), Content::of(content)));
    }
}

impl Env for Outside<'_> {
    fn var(&self, name: &str) -> Option<String> {
        (self.var)(name)
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        let path = self.folder.join(path);
        let content = bytes(&path);
        self.see(&path, &content);
        let bytes = content?;
        let unreadable = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
        String::from_utf8(bytes).map_err(unreadable)
    }
}

/// The config's text; what is no UTF-8 is told with its line.
fn text(content: io::Result<Vec<u8>>) -> Result<String, Refused> {
    let bytes = content.map_err(|error| {
        refused(0, 0, format!("cannot be read: {error}"), "name a readable file with --config")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..before).unwrap_or_default());
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        refused(line, column, "is not UTF-8 text".to_owned(), "save the file as UTF-8")
    })
}

fn refused(line: usize, column: usize, text: String, fix: &str) -> Refused {
    let (key, fix) = (String::new(), fix.to_owned());
    let severity = Severity::Error;
    Refused { problems: vec![Problem { severity, file: None, line, column, key, text, fix }] }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 MiB"));
    }
    Ok(bytes)
}

/// Makes the paths that are opened later independent of the working folder.
fn resolve(config: &mut Config, folder: &Path) {
    let join = |path: &mut PathBuf| *path = folder.join(&*path);
    join(&mut config.journal.path);
    config.providers.iter_mut().filter_map(|provider| provider.ca_file.as_mut()).for_each(join);
}

fn name(problems: &mut [Problem], path: &Path) {
    for problem in problems {
        problem.file = Some(path.to_owned());
    }
}

/// What a load has read: the config file, and the files that it names.
///
/// Told apart by their content, not by their dates: an editor's new file under the old
/// name, a swapped link, and two changes within one tick of the disk's clock are all
/// noticed, on any file system; a file that was touched is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesRead {
    files: Vec<(PathBuf, Content)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Hash([u8; 32]),
    Unreadable(io::ErrorKind),
}

impl Content {
    fn of(content: &io::Result<Vec<u8>>) -> Self {
        match content {
            Ok(bytes) => Self::Hash(Sha256::digest(bytes).into()),
            Err(error) => Self::Unreadable(error.kind()),
        }
    }
}

impl FilesRead {
    /// The same files as they are now.
    #[must_use]
    pub fn again(&self) -> Self {
        let look = |(path, _): &(PathBuf, Content)| (path.clone(), Content::of(&bytes(path)));
        Self { files: self.files.iter().map(look).collect() }
    }
}
