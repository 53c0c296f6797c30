//! What `load` adds: the file itself, its folder, and the files it names.

use super::{BASE, Severity};
use crate::config::load;
use std::fs;
use std::path::Path;

fn var(name: &str) -> Option<String> {
    (name == "ONE_KEY").then(|| "sk-one".to_owned())
}

#[test]
fn relative_paths_start_at_the_files_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("belay.toml");
    let text = BASE.replace("[rungs.a]", "ca_file = \"root.pem\"\n[rungs.a]");
    fs::write(&path, text).unwrap();
    fs::write(folder.path().join("two.key"), "sk-two\r\n").unwrap();
    fs::write(folder.path().join("root.pem"), "-----BEGIN").unwrap();
    let config = load(&path, &var).unwrap().config;
    assert_eq!(config.journal.path, folder.path().join("belay.db"));
    assert_eq!(config.providers[0].api_key.as_ref().unwrap().expose(), "sk-one");
    assert_eq!(config.providers[1].api_key.as_ref().unwrap().expose(), "sk-two");
    assert_eq!(config.providers[1].ca_file, Some(folder.path().join("root.pem")));
}

#[test]
fn problems_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("belay.toml");
    fs::write(&path, BASE).unwrap();
    let refused = load(&path, &var).expect_err("no two.key");
    let expected = format!("{}:19:20: error: providers.two.api_key.file: ", path.display());
    assert!(refused.to_string().starts_with(&expected), "{refused}");
}

#[test]
fn a_file_that_cannot_be_read_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("latin1.toml");
    fs::write(&bad, b"a = 1\nb = \"\xe9\"\n").unwrap();
    let huge = folder.path().join("huge.toml");
    fs::write(&huge, vec![b'\n'; (4 << 20) + 1]).unwrap();
    let cases: [(&Path, (usize, usize), &str); 4] = [
        (&folder.path().join("none.toml"), (0, 0), "cannot be read"),
        (folder.path(), (0, 0), "cannot be read"),
        (&bad, (2, 6), "not UTF-8"),
        (&huge, (0, 0), "larger than 4 MiB"),
    ];
    for (path, place, text) in cases {
        let refused = load(path, &var).expect_err(text);
        super::assert_only(&refused.problems, Severity::Error, place, ("", text), text);
        assert_eq!(refused.problems[0].file.as_deref(), Some(path));
    }
}
