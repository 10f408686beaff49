//! The house rules that a compiler does not check: layers, sizes, docs, names.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules and their layer: a module may name modules of lower layers, and those of its own layer
/// only where [`SIBLINGS`] says so.
const LAYERS: [(&str, u8); 18] = [
    ("plot", 0),
    ("tool", 0),
    ("score", 0),
    ("access", 1),
    ("catalog", 1),
    ("embed", 1),
    ("index", 2),
    ("registry", 2),
    ("rules", 2),
    ("refresh", 3),
    ("search", 3),
    ("session", 3),
    ("eval", 4),
    ("serve", 4),
    ("source", 4),
    ("store", 4),
    ("cli", 5),
    ("main", 6),
];

const SIBLINGS: [(&str, &str); 3] = [
    ("score", "tool"),
    ("serve", "source"),
    ("session", "search"),
];

/// Words a layer must not name, with the one file that may.
const BANNED: [(&str, &[&str]); 8] = [
    ("hnsw_rs", &["index/dense/graph.rs"]),
    ("bincode", &["index/snapshot"]),
    ("fastembed", &["embed/"]),
    ("rmcp", &["serve/mcp/", "source/"]),
    ("rusqlite", &["store/"]),
    ("tokio", &["serve/", "cli/", "main.rs", "source/"]),
    ("axum", &["serve/"]),
    ("serde", &["catalog/", "embed/", "eval/", "serve/", "cli/"]),
];

const MAX_LINES: usize = 400;

fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&root).unwrap().display().to_string();
            (name, fs::read_to_string(&file).unwrap())
        })
        .collect()
}

/// The lines that are neither tests nor comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .take_while(|line| line.trim() != "#[cfg(test)]" || line.starts_with(' '))
        .filter(|line| !line.trim_start().starts_with("//"))
}

fn is_test(file: &str) -> bool {
    file.ends_with("tests.rs") || file.contains("/tests/") || file.ends_with("fixture.rs")
}

fn check(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn modules_import_downward_only() {
    let layer = |module: &str| {
        LAYERS
            .iter()
            .find(|(name, _)| *name == module)
            .map(|(_, layer)| *layer)
    };
    let mut faults = Vec::new();
    for (file, text) in sources().iter().filter(|(file, _)| !is_test(file)) {
        let own = file.split(['/', '.']).next().unwrap();
        if own == "lib" || own == "main" {
            continue;
        }
        let Some(own_layer) = layer(own) else {
            faults.push(format!("{file}: module '{own}' has no layer"));
            continue;
        };
        for line in code(text) {
            for path in line.split("crate::").skip(1) {
                let named = path
                    .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .next()
                    .unwrap();
                let allowed = named == own
                    || SIBLINGS.contains(&(own, named))
                    || layer(named).is_none_or(|layer| layer < own_layer);
                if !allowed {
                    faults.push(format!("{file}: '{own}' must not name '{named}'"));
                }
            }
        }
    }
    check(&faults);
}

#[test]
fn each_library_is_named_in_its_own_place_only() {
    let mut faults = Vec::new();
    for (file, text) in sources().iter().filter(|(file, _)| !is_test(file)) {
        for (word, places) in BANNED {
            let allowed = places.iter().any(|place| file.starts_with(place));
            let names = code(text).any(|line| {
                line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .any(|found| found == word)
            });
            if names && !allowed {
                faults.push(format!("{file}: must not name {word}"));
            }
        }
    }
    check(&faults);
}

#[test]
fn files_are_small_and_say_what_they_are() {
    let mut faults = Vec::new();
    for (file, text) in &sources() {
        if !text.starts_with("//!") && !is_test(file) {
            faults.push(format!("{file}: does not open with a //! comment"));
        }
        let lines = text
            .lines()
            .take_while(|line| *line != "#[cfg(test)]")
            .count();
        if lines > MAX_LINES && !is_test(file) {
            faults.push(format!("{file}: {lines} lines, at most {MAX_LINES}"));
        }
        for name in ["util", "common", "helper", "manager", "misc", "types"] {
            if file
                .split(['/', '.', '_'])
                .any(|part| part.starts_with(name))
            {
                faults.push(format!("{file}: '{name}' is no name for an idea"));
            }
        }
    }
    check(&faults);
}

#[test]
fn the_readme_links_to_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let faults: Vec<String> = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.starts_with("http") && !link.starts_with('#'))
        .filter(|link| !root.join(link.split('#').next().unwrap()).exists())
        .map(|link| format!("README.md: {link} does not exist"))
        .collect();
    check(&faults);
}
