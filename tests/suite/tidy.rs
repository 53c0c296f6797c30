//! The shape of the repository: the floors that ARCHITECTURE.md names, and the
//! habits that keep the code readable.

mod circles;

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

/// The files of one of the relay's floors, which is a package or a module.
fn floor(name: &str) -> Vec<(String, String)> {
    let places = [
        format!("relay/{name}/src/"),
        format!("relay/src/{name}.rs"),
        format!("relay/src/{name}/"),
    ];
    let mine = |(path, _): &(String, String)| places.iter().any(|place| path.starts_with(place));
    let files: Vec<_> = rust_files("relay").into_iter().filter(mine).collect();
    assert!(!files.is_empty(), "the relay has a floor '{name}'");
    files
}

/// Fails with every offender at once.
#[track_caller]
fn assert_none(what: &str, offenders: Vec<String>) {
    assert!(offenders.is_empty(), "{what}: {offenders:#?}");
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
    let mut offenders = Vec::new();
    for name in ["metrics", "live", "feed", "config"] {
        for (path, text) in floor(name) {
            let others = crate_paths(&code(&text)).into_iter().filter(|other| other != name);
            offenders.extend(others.map(|other| format!("{path}: {other}")));
        }
    }
    assert_none("reaching out of its floor", offenders);
}

#[test]
fn no_floor_reaches_up() {
    let mut offenders = Vec::new();
    for (name, above) in
        [("provider", ["serve", "admin", "drive"].as_slice()), ("drive", &["serve", "admin"])]
    {
        for (path, text) in floor(name) {
            let mut others = crate_paths(&code(&text));
            others.retain(|other| above.contains(&other.as_str()));
            offenders.extend(others.iter().map(|other| format!("{path}: {other}")));
        }
    }
    assert_none("reaching up", offenders);
}

#[test]
fn no_floor_is_entered_by_climbing() {
    // `super::` at a floor's top leads to the other floors, past the tests above.
    let mut offenders = Vec::new();
    let floors = ["metrics", "live", "feed", "config"];
    for name in floors.into_iter().chain(["provider", "drive"]) {
        let top = format!("relay/src/{name}.rs");
        for (path, text) in floor(name) {
            let depth = path.matches('/').count() - top.matches('/').count();
            let climb = "super::".repeat(depth + 1);
            if code(&text).contains(&climb) {
                offenders.push(path);
            }
        }
    }
    assert_none("climbing out of its floor", offenders);
}

/// Uses of these words in a floor's own code.
fn uses(name: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in floor(name).into_iter().filter(|(path, _)| !is_test_file(path)) {
        let code = code(&text);
        let used = words.iter().filter(|word| code.contains(**word));
        found.extend(used.map(|word| format!("{path}: {word}")));
    }
    found
}

#[test]
fn the_packages_depend_on_no_more_than_they_must() {
    // What Cargo does not build cannot be reached; these lists are the walls.
    for (package, dependencies) in [
        ("relay/record", ["shared"].as_slice()),
        ("relay/policy", &["fastrand", "shared"]),
        (
            "tests/simulate",
            &[
                "epaint_default_fonts",
                "fastrand",
                "plotters",
                "policy",
                "png",
                "serde_json",
                "shared",
            ],
        ),
        (
            "relay/dialect",
            &["bytes", "httpdate", "jsonschema", "memchr", "serde", "serde_json", "sha2", "shared"],
        ),
        (
            "relay/journal",
            &[
                "parking_lot",
                "record",
                "rusqlite",
                "serde",
                "serde_json",
                "shared",
                "tokio",
                "tracing",
            ],
        ),
    ] {
        let manifest = root().join(package).join("Cargo.toml");
        let text = std::fs::read_to_string(manifest).unwrap();
        let listed = text.split("\n[dependencies]\n").nth(1).unwrap();
        let listed = listed.split("\n[").next().unwrap().lines();
        let names: Vec<_> =
            listed.filter_map(|line| line.strip_suffix(".workspace = true")).collect();
        assert_eq!(names, dependencies, "of {package}");
    }
}

#[test]
fn the_policy_is_pure() {
    let std = ["Instant", "SystemTime", "Mutex", "RwLock", "std::thread", "std::net", "std::fs"];
    let others = ["async fn", ".await"];
    assert_none("impure", uses("policy", &[std.as_slice(), &others].concat()));
}

#[test]
fn chance_comes_from_one_place() {
    // A generator is handed on; only `wall` and the mock, which is no part of the relay, make one.
    let is_seam = |path: &str| path == "relay/src/wall.rs" || path.starts_with("relay/mock/");
    let mut offenders = Vec::new();
    for (path, text) in rust_files("relay").into_iter().chain(rust_files("shared")) {
        let code = code(&text).replace("fastrand::Rng::with_seed", "").replace("fastrand::Rng", "");
        if !is_seam(&path) && (code.contains("fastrand::") || text.contains("fastrand::Rng::new("))
        {
            offenders.push(path);
        }
    }
    assert_none("makes chance of its own", offenders);
}

#[test]
fn dialects_are_pure() {
    let std = ["Instant", "SystemTime", "std::thread", "std::net", "std::fs", "async fn"];
    assert_none("impure", uses("dialect", &std));
}

#[test]
fn metrics_and_live_numbers_are_told_and_never_ask() {
    let io = ["tokio", "reqwest", "axum", "hyper", "rusqlite", "Instant", "SystemTime", "async fn"];
    assert_none("more than counting", [uses("metrics", &io), uses("live", &io)].concat());
}

#[test]
fn screens_are_pure() {
    let io = ["tokio", "reqwest", "std::io", "std::fs", "std::net", "std::env", "async fn"];
    let clocks = ["Instant", "SystemTime", "wall::"];
    assert_none("more than drawing", uses("screen", &[io.as_slice(), &clocks].concat()));
}

#[test]
fn what_is_shown_in_a_terminal_knows_nothing_of_the_relays_inside() {
    let mut offenders = Vec::new();
    for (path, text) in floor("screen") {
        let mut others = crate_paths(&code(&text));
        others.retain(|other| other != "screen");
        offenders.extend(others.iter().map(|other| format!("{path}: {other}")));
    }
    assert_none("reaching into the relay", offenders);
}

#[test]
fn no_admin_route_goes_undescribed() {
    // `routes!` adds a call to the document; axum's own `route` would add it past it.
    let routed = uses("admin", &[".route(", "route_service(", ".nest(", "fallback_service("]);
    assert_none("past the OpenAPI document", routed);
    let schemas = "utoipa";
    let allowed = |path: &str| path.starts_with("relay/src/admin") || path == "tests/suite/tidy.rs";
    let mut offenders = offenders(|text| text.contains(schemas));
    offenders.retain(|path| !allowed(path) && !path.starts_with("shared/src"));
    assert_none("describes what is not the admin API", offenders);
}

/// The files for which `fails` holds.
fn offenders(fails: impl Fn(&str) -> bool) -> Vec<String> {
    all_rust_files().into_iter().filter(|(_, text)| fails(text)).map(|(path, _)| path).collect()
}

#[test]
fn every_file_begins_by_saying_what_it_is_for() {
    assert_none("no module doc", offenders(|text| !text.starts_with("//! ")));
}

#[test]
fn no_file_is_too_long() {
    assert_none("over 800 lines", offenders(|text| text.lines().count() > 800));
}

#[test]
fn every_invariant_names_tests_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("Invariants")).unwrap();
    let code: String = all_rust_files().into_iter().map(|(_, text)| text).collect();
    let exists = |name: &str| code.contains(&format!("fn {name}(")) || root().join(name).exists();
    let rows: Vec<_> = section.lines().filter_map(|line| line.strip_suffix(" |")).collect();
    let mut offenders = Vec::new();
    for (invariant, held) in rows.iter().filter_map(|row| row.rsplit_once(" | ")).skip(2) {
        let names: Vec<_> = held.split('`').skip(1).step_by(2).collect();
        // A title of a group is held by nothing.
        if names.is_empty() && !invariant.ends_with("**") {
            offenders.push(format!("{invariant}: no name"));
        }
        offenders.extend(names.into_iter().filter(|name| !exists(name)).map(str::to_owned));
    }
    assert!(rows.len() > 30, "the table is there");
    assert_none("no test or file of this name", offenders);
}

#[test]
fn each_file_that_the_architecture_names_exists_at_that_path() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named = text.split('`').skip(1).step_by(2);
    let paths: Vec<_> = named
        .filter(|name| name.contains('/') && name.ends_with(".rs") && !name.contains(['*', '{']))
        .collect();
    assert!(paths.len() > 30, "paths are named");
    let missing: Vec<_> = paths.into_iter().filter(|path| !root().join(path).exists()).collect();
    assert_none("no file of this name", missing.into_iter().map(str::to_owned).collect());
}

/// The words of the glossary that are types, and the one place where each is defined.
const GLOSSARY: [(&str, &str); 15] = [
    ("Provider", "relay/src/provider/client.rs"),
    ("Rung", "relay/src/drive/in_force.rs"),
    ("Ladder", "relay/src/drive/in_force.rs"),
    ("Walk", "relay/policy/src/walk.rs"),
    ("Attempt", "relay/policy/src/attempt.rs"),
    ("AttemptOutcome", "shared/src/outcome.rs"),
    ("RequestOutcome", "shared/src/outcome.rs"),
    ("Hold", "relay/policy/src/hold.rs"),
    ("Breaker", "relay/policy/src/breaker.rs"),
    ("Probe", "relay/policy/src/probe.rs"),
    ("Verdict", "relay/policy/src/table.rs"),
    ("Budget", "relay/policy/src/budget.rs"),
    ("Dialect", "shared/src/dialect.rs"),
    ("OverrideMode", "shared/src/breaker.rs"),
    ("Journal", "relay/journal/src/lib.rs"),
];

#[test]
fn a_word_of_the_glossary_names_one_type() {
    // The mock and the harness have providers and rungs of their own.
    let is_ours = |path: &str| {
        !is_test_file(path) && !path.starts_with("relay/mock") && !path.starts_with("tests/")
    };
    let files = all_rust_files().into_iter().filter(|(path, _)| is_ours(path));
    let files: Vec<_> = files.map(|(path, text)| (path, code(&text))).collect();
    let glossary = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut offenders = Vec::new();
    for (name, home) in GLOSSARY {
        let defines = |line: &str| {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let is_kind = |word: &&str| ["struct", "enum", "trait", "type"].contains(word);
            words.windows(2).any(|pair| is_kind(&pair[0]) && pair[1] == name)
        };
        let is_defined = |text: &str| {
            // `words!` defines the closed sets; its first line is the name, and what it is.
            text.lines().any(defines)
                || text.contains(&format!("\n    {name}, \""))
                || text.contains(&format!("\n    {name} as \""))
        };
        let homes: Vec<_> =
            files.iter().filter(|(_, text)| is_defined(text)).map(|(path, _)| path).collect();
        if homes != [home] {
            offenders.push(format!("{name}: {homes:?}"));
        }
        let word = name.trim_end_matches("Outcome").trim_end_matches("Mode").to_lowercase();
        if !glossary.contains(&format!("| {word}")) && !glossary.contains(&format!(", {word}")) {
            offenders.push(format!("{name} is not in the glossary"));
        }
    }
    assert_none("has another home, or several", offenders);
}

#[test]
fn no_test_is_switched_off() {
    let ignore = concat!("#[", "ignore");
    assert_none("switched off", offenders(|text| text.contains(ignore)));
}

#[test]
fn a_sleep_in_a_test_says_why_it_is_no_wait() {
    // A wait for a state ends when it is there; a sleep is right only where time is the matter.
    let mut offenders = Vec::new();
    for (path, text) in rust_files("tests/suite") {
        let lines: Vec<&str> = text.lines().collect();
        for (place, _) in lines.iter().enumerate().filter(|(_, line)| line.contains("time::sleep("))
        {
            let above = &lines[place.saturating_sub(4)..place];
            let says = |line: &&str| {
                line.contains("//") || line.contains("while ") || line.contains("loop {")
            };
            // A constant says by its name what lasts so long.
            let argument = lines[place].split("time::sleep(").nth(1).unwrap_or_default();
            let is_named = argument.starts_with(|c: char| c.is_ascii_uppercase());
            if !is_named && !above.iter().any(says) {
                offenders.push(format!("{path}:{}", place + 1));
            }
        }
    }
    assert_none("sleeps without a reason", offenders);
}

#[test]
fn no_path_of_this_machine_is_in_the_source() {
    let repository = root().to_string_lossy().into_owned();
    assert_none("names this checkout", offenders(|text| text.contains(&repository)));
}

#[test]
fn what_both_programs_speak_reaches_outside_only_to_call_a_relay() {
    let io = ["tokio", "reqwest", "std::net", "std::fs", "async fn", "SystemTime", "Instant"];
    let mut offenders = Vec::new();
    for (path, text) in rust_files("shared") {
        let code = code(&text);
        let found =
            io.iter().filter(|word| path != "shared/src/remote.rs" && code.contains(**word));
        offenders.extend(found.map(|word| format!("{path}: {word}")));
    }
    assert_none("shared does IO", offenders);
}

#[test]
fn what_the_console_knows_and_decides_draws_nothing_and_reads_no_clock() {
    // What draws, and what has the window, the network, files or the clock.
    let outside = [
        "view", "panel", "theme", "keys", "window", "widgets", "link", "frames", "clock",
        "settings", "args", "lib", "main", "tests",
    ];
    let is_pure = |path: &String| {
        let mut parts = path.trim_start_matches("console/src/").split('/');
        !parts.any(|part| outside.contains(&part.trim_end_matches(".rs")))
    };
    let files: Vec<_> =
        rust_files("console/src").into_iter().filter(|(path, _)| is_pure(path)).collect();
    assert!(files.len() > 40, "the console has these files");
    let foreign = ["egui", "tokio", "reqwest", "std::net", "std::fs", "SystemTime", "clock::"];
    let mut offenders = Vec::new();
    for (path, text) in files {
        let code = code(&text);
        offenders.extend(
            foreign
                .iter()
                .filter(|word| code.contains(**word))
                .map(|word| format!("{path}: {word}")),
        );
    }
    assert_none("the console's core reaches outside", offenders);
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
