//! No two files of a package use each other, not even by way of others. Then each can be read
//! without those that use it.
//!
//! What a file uses is read from its paths: `use`, and paths that begin with `crate`, `self`,
//! `super` or one of its own modules. A name that a parent hands on with `pub use` is looked for
//! where it is defined.

use super::{code, is_test_file, rust_files};
use std::collections::{BTreeMap, BTreeSet};

/// A file's module: no segments for the root of its package.
type Module = Vec<String>;

struct Package {
    files: BTreeMap<Module, String>,
    /// By module: names that it hands on, and the module that has them.
    handed_on: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Package {
    fn read(source: &str) -> Self {
        let mut files = BTreeMap::new();
        for (path, text) in rust_files(source) {
            if is_test_file(&path) {
                continue;
            }
            let path = path.trim_start_matches(source).trim_start_matches('/');
            let path = path.trim_end_matches(".rs");
            let is_root = matches!(path, "lib" | "main");
            let module = if is_root { Vec::new() } else { split(path, "/") };
            files.entry(module).or_insert_with(String::new).push_str(&code(&text));
        }
        let mut package = Self { files, handed_on: BTreeMap::new() };
        for (module, text) in &package.files {
            let mut names = BTreeMap::new();
            for path in uses(text, true) {
                let home = package.home(module, &path).filter(|home| home != module);
                names.extend(path.last().cloned().zip(home));
            }
            package.handed_on.insert(module.clone(), names);
        }
        package
    }

    /// The module that a path leads into, seen from `module`; `None`: out of the package.
    fn home(&self, module: &Module, path: &[String]) -> Option<Module> {
        let (mut home, mut rest) = (module.clone(), path);
        match rest.first()?.as_str() {
            "crate" => (home, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    home.pop()?;
                    rest = &rest[1..];
                }
            }
            first => {
                let child = [module.as_slice(), &[first.to_owned()]].concat();
                self.files.contains_key(&child).then_some(())?;
            }
        }
        for segment in rest {
            home.push(segment.clone());
            if !self.files.contains_key(&home) {
                home.pop();
                break;
            }
        }
        Some(home)
    }

    /// The modules that one uses.
    fn used_by(&self, module: &Module, text: &str) -> BTreeSet<Module> {
        let mut found = BTreeSet::new();
        for path in uses(text, false).into_iter().chain(inline(text)) {
            let Some(mut home) = self.home(module, &path) else { continue };
            let name = path.last().cloned().unwrap_or_default();
            while let Some(further) = self.handed_on.get(&home).and_then(|names| names.get(&name)) {
                home.clone_from(further);
            }
            if home != *module && self.files.contains_key(&home) {
                found.insert(home);
            }
        }
        found
    }

    /// The files that are in a circle: what is left when all that use nothing of the others, and
    /// all that nobody uses, are taken away again and again.
    fn in_circles(&self) -> Vec<String> {
        let mut left: BTreeMap<&Module, BTreeSet<Module>> =
            self.files.iter().map(|(module, text)| (module, self.used_by(module, text))).collect();
        loop {
            let all: BTreeSet<Module> = left.keys().map(|&module| module.clone()).collect();
            let used: BTreeSet<Module> = left.values().flatten().cloned().collect();
            left.retain(|module, uses| {
                uses.retain(|other| all.contains(other));
                !uses.is_empty() && used.contains(*module)
            });
            if left.len() == all.len() {
                break;
            }
        }
        let name = |module: &Module| module.join("/");
        let line = |(module, uses): (&Module, BTreeSet<Module>)| {
            let uses: Vec<_> = uses.iter().map(name).collect();
            format!("{} uses {}", name(module), uses.join(", "))
        };
        left.into_iter().map(line).collect()
    }
}

fn split(path: &str, by: &str) -> Vec<String> {
    path.split(by).map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The paths of `use` items, groups taken apart: all of them, or those that are handed on.
fn uses(text: &str, handed_on: bool) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (place, _) in text.match_indices("use ") {
        let before = text[..place].trim_end_matches(' ');
        let is_public = before.ends_with("pub") || before.ends_with(')');
        let is_item = is_public || before.is_empty() || before.ends_with(['\n', ';', '}']);
        if !is_item || handed_on && !is_public {
            continue;
        }
        let item = text[place + 4..].split(';').next().unwrap_or_default();
        take_apart("", item, &mut found);
    }
    found
}

fn take_apart(prefix: &str, item: &str, found: &mut Vec<Vec<String>>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (place, c) in item.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&item[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&item[start..]);
    for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('{') {
            Some((head, group)) => {
                let group = group.strip_suffix('}').unwrap_or(group);
                take_apart(&format!("{prefix}{head}"), group, found);
            }
            None => {
                let path = part.split(" as ").next().unwrap_or_default();
                found.push(split(&format!("{prefix}{path}"), "::"));
            }
        }
    }
}

/// Paths in the code itself, such as `super::name(…)` or `child::Name`.
fn inline(text: &str) -> Vec<Vec<String>> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.contains("use ")) {
        // Who may see an item is not what it uses.
        let line = line.replace("pub(in crate", "pub(in ");
        let words = line.split(|c| !is_path(c)).filter(|word| word.contains("::"));
        found.extend(words.filter(|word| !word.starts_with("::")).map(|word| split(word, "::")));
    }
    found
}

#[test]
fn no_file_is_in_a_circle_of_files() {
    for source in ["relay/src", "relay/dialect/src", "relay/record/src", "console/src"] {
        super::assert_none(&format!("in a circle in {source}"), Package::read(source).in_circles());
    }
}

#[test]
fn a_circle_is_found_through_groups_and_names_that_are_handed_on() {
    let file = |path: &str, text: &str| (split(path, "/"), text.to_owned());
    let mut package = Package {
        files: [
            file("", "pub mod a;\npub mod b;\n"),
            file("a", "use crate::b::{self, Deep};\n"),
            file("b", "mod c;\npub use c::Deep;\n"),
            file("b/c", "fn d() { super::super::a::e(); }\n"),
            file("f", "use crate::b;\n"),
        ]
        .into(),
        handed_on: BTreeMap::new(),
    };
    package.handed_on.insert(split("b", "/"), [("Deep".to_owned(), split("b/c", "/"))].into());
    let circle = package.in_circles();
    let names: Vec<_> = circle.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["a", "b", "b/c"]);
}
