//! The shape of the repository: the floors of the design's section 2, and the
//! habits that keep the code readable.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Every Rust file below `folder`, by its path from the repository's root, with its text.
fn rust_files(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "node_modules" && name != "out" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let shown = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.push((shown, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn all_rust_files() -> Vec<(String, String)> {
    ["relay", "console", "shared", "tests"].into_iter().flat_map(rust_files).collect()
}

/// The files of one of the relay's floors.
fn floor(name: &str) -> Vec<(String, String)> {
    let (file, folder) = (format!("relay/src/{name}.rs"), format!("relay/src/{name}/"));
    let mine = |(path, _): &(String, String)| *path == file || path.starts_with(&folder);
    let files: Vec<_> = rust_files("relay").into_iter().filter(mine).collect();
    assert!(!files.is_empty(), "the relay has a floor '{name}'");
    files
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// The code of a file: no comments, nothing from its test module on.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// The first segments of every `crate::…` path in `code`, grouped imports included.
fn crate_paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in code.split("crate::").skip(1) {
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut segment = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => found.push(std::mem::take(&mut segment)),
                    c if depth == 0 => segment.push(c),
                    _ => {}
                }
            }
            found.push(segment);
        } else {
            found.push(rest.to_owned());
        }
    }
    let name = |path: &String| {
        path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    found.iter().map(name).filter(|name: &String| !name.is_empty()).collect()
}

#[test]
fn crate_paths_are_found_in_groups_too() {
    let code = "use crate::{a::{b, c}, d};\nuse crate::e::F;\ncrate::g()";
    assert_eq!(crate_paths(code), ["a", "d", "e", "g"]);
}

#[test]
fn the_lowest_floors_know_only_themselves() {
    for name in ["policy", "dialect", "journal", "config"] {
        for (path, text) in floor(name) {
            for other in crate_paths(&code(&text)) {
                assert_eq!(other, name, "{path} reaches out of its floor");
            }
        }
    }
}

#[test]
fn no_floor_reaches_up() {
    for (name, above) in
        [("provider", ["serve", "admin", "drive"].as_slice()), ("drive", &["serve", "admin"])]
    {
        for (path, text) in floor(name) {
            for other in crate_paths(&code(&text)) {
                assert!(!above.contains(&other.as_str()), "{path} reaches up to {other}");
            }
        }
    }
}

#[test]
fn no_floor_is_entered_by_climbing() {
    // `super::` at a floor's top leads to the other floors, past the tests above.
    for name in ["policy", "dialect", "journal", "config", "provider", "drive"] {
        let top = format!("relay/src/{name}.rs");
        for (path, text) in floor(name) {
            let depth = path.matches('/').count() - top.matches('/').count();
            let climb = "super::".repeat(depth + 1);
            assert!(!code(&text).contains(&climb), "{path} climbs out of its floor");
        }
    }
}

#[test]
fn the_policy_is_pure() {
    let words = [
        "tokio",
        "reqwest",
        "axum",
        "hyper",
        "rusqlite",
        "Instant",
        "SystemTime",
        "Mutex",
        "RwLock",
        "std::net",
        "std::fs",
        "std::thread",
        "async fn",
        ".await",
    ];
    for (path, text) in floor("policy") {
        if is_test_file(&path) {
            continue;
        }
        let code = code(&text);
        for word in words {
            assert!(!code.contains(word), "{path} uses {word}");
        }
    }
}

#[test]
fn dialects_are_pure() {
    let words = ["tokio", "reqwest", "axum", "rusqlite", "Instant", "SystemTime", "async fn"];
    for (path, text) in floor("dialect") {
        if is_test_file(&path) {
            continue;
        }
        let code = code(&text);
        for word in words {
            assert!(!code.contains(word), "{path} uses {word}");
        }
    }
}

#[test]
fn every_file_begins_by_saying_what_it_is_for() {
    for (path, text) in all_rust_files() {
        assert!(text.starts_with("//! "), "{path} begins with its module's doc");
    }
}

#[test]
fn no_file_is_too_long() {
    for (path, text) in all_rust_files() {
        let lines = text.lines().count();
        assert!(lines <= 800, "{path} has {lines} lines");
    }
}

#[test]
fn no_test_is_switched_off() {
    let ignore = concat!("#[", "ignore");
    for (path, text) in all_rust_files() {
        assert!(!text.contains(ignore), "{path} switches a test off");
    }
}

#[test]
fn no_path_of_this_machine_is_in_the_source() {
    let repository = root();
    let home = std::env::var("HOME").unwrap_or_default();
    for (path, text) in all_rust_files() {
        assert!(!text.contains(repository.to_str().unwrap()), "{path} names this checkout");
        if home.len() > "/root".len() {
            assert!(!text.contains(&home), "{path} names a home folder");
        }
    }
}

#[test]
fn the_top_level_holds_only_what_it_must() {
    let allowed = [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "relay",
        "console",
        "shared",
        "tests",
        // Cargo's, and never committed.
        "target",
    ];
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let fine = allowed.contains(&name.as_str())
            || name.starts_with('.')
            || name.starts_with("LICENSE");
        assert!(fine, "{name} at the top level");
    }
}
