//! No idle name stays in the Rust sources: every function is called, and every key of a configuration is
//! read.
//!
//! Sources are read as text, by words, so a name that is also used for something else hides an idle one.
//! The compiler sees idle private names; this test sees idle public names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Functions that are called by a name that does not stand in our sources: operators, traits of other
/// crates, and what a page in a browser calls.
const CALLED_FROM_OUTSIDE: [&str; 5] = ["main", "bitor", "from_iter", "partial_cmp", "answer_length"];

/// Keys that are there for the reader of a profile, and keys that Python reads before Rust does.
const READ_ELSEWHERE: [&str; 5] = [
    "calibrated", // the report says which profiles were fitted
    "source",     // where a profile's values come from, for its reader
    "rto_min_us", // Python's default of transport.rto_min
    "rdma_dcqcn", // Python's default of transport.dcqcn
    "name",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Adds every Rust file below `folder`, without build output.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the code of a file, without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable source");
    text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// Counts how often each word stands in the sources.
fn words(sources: &BTreeMap<PathBuf, String>) -> BTreeMap<&str, usize> {
    let mut counted = BTreeMap::new();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    for word in sources.values().flat_map(|code| code.split(|letter| !is_part(letter))) {
        *counted.entry(word).or_default() += 1;
    }
    counted
}

fn sources() -> BTreeMap<PathBuf, String> {
    let mut files = Vec::new();
    for folder in ["crates", "fuzz/fuzz_targets"] {
        rust_files(&workspace().join(folder), &mut files);
    }
    files.into_iter().map(|path| (path.clone(), code(&path))).collect()
}

/// Returns the code of a file without the tests at its end.
fn untested(code: &str) -> &str {
    code.split("mod tests {").next().unwrap_or(code)
}

/// Returns the names that follow `before` in a line, but for the names of tests.
fn names_after<'a>(code: &'a str, before: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in code.lines() {
        if let Some((_, rest)) = line.split_once(before) {
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let name = &rest[..end.unwrap_or(rest.len())];
            if !is_test && !name.is_empty() {
                names.push(name);
            }
        }
        is_test = line.trim_start().starts_with("#[test]") || (is_test && line.trim().starts_with("#["));
    }
    names
}

/// Whether `name` is a method that Python calls for an operator.
fn is_special(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}

#[test]
fn every_function_is_called() {
    let sources = sources();
    let counted = words(&sources);
    let in_src = sources.iter().filter(|(path, _)| path.components().any(|part| part.as_os_str() == "src"));
    let idle: Vec<_> = in_src
        .flat_map(|(path, code)| names_after(untested(code), "fn ").into_iter().map(move |name| (path, name)))
        .filter(|(_, name)| counted[name] == 1 && !CALLED_FROM_OUTSIDE.contains(name) && !is_special(name))
        .map(|(path, name)| format!("{name} in {}", path.display()))
        .collect();
    assert!(idle.is_empty(), "nobody calls {idle:#?}");
}

#[test]
fn every_key_of_a_configuration_is_read() {
    let sources = sources();
    let everything: String = sources.values().map(String::as_str).collect();
    let is_configuration = |path: &Path| {
        ["sim/src/config", "live/src/config.rs", "core/src/protection"]
            .iter()
            .any(|part| path.to_string_lossy().contains(part))
    };
    let idle: Vec<_> = sources
        .iter()
        .filter(|(path, _)| is_configuration(path))
        .flat_map(|(path, code)| {
            names_after(code, "    pub ").into_iter().map(move |name| (path, code, name))
        })
        .filter(|(_, code, name)| code.contains(&format!("pub {name}: ")) && !READ_ELSEWHERE.contains(name))
        .filter(|(_, _, name)| !is_read(&everything, name))
        .map(|(path, _, name)| format!("{name} in {}", path.display()))
        .collect();
    assert!(idle.is_empty(), "nobody reads {idle:#?}");
}

/// Whether the code reads the field from some value.
fn is_read(code: &str, field: &str) -> bool {
    let taken = format!(".{field}");
    code.match_indices(&taken).any(|(at, _)| {
        !code[at + taken.len()..].starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    })
}

#[test]
fn an_idle_name_would_be_found() {
    assert_eq!(names_after("pub fn used() {}\n#[test]\nfn tested() {}\nfn idle()", "fn "), ["used", "idle"]);
    assert!(is_read("let x = config.port;", "port") && !is_read("config.portal", "port"));
}
