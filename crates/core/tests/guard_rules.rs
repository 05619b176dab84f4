//! Every rule of `docs/protocols/guard.md` is cited by code and by a test, and no other rule of a
//! guard is cited.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the rules named as `G-<n>` and not as part of another word.
fn rules_in(text: &str) -> BTreeSet<u32> {
    let starts = text.match_indices("G-").filter(|(at, _)| {
        !text[..*at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '-')
    });
    starts
        .filter_map(|(at, _)| {
            let digits: String = text[at + 2..].chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .chain(ranges(text))
        .collect()
}

/// Returns the rules inside of ranges such as `(G-10..G-12)`.
fn ranges(text: &str) -> impl Iterator<Item = u32> {
    text.split("(G-")
        .skip(1)
        .filter_map(|rest| {
            let (first, rest) = rest.split_once("..G-")?;
            let last: String = rest.chars().take_while(char::is_ascii_digit).collect();
            Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
        })
        .flatten()
}

/// The places of the guard, its line protocols, its ports and their tests.
const PLACES: [&str; 5] = ["src/guard", "tests/guard", "../codec/src", "../codec/tests", "../live/src"];

fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    PLACES.iter().flat_map(|place| files_in(&root.join(place))).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    paths.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

/// Splits a source file into code and tests.
fn parts(path: &Path) -> (String, String) {
    let text = fs::read_to_string(path).expect("a readable source");
    if path.components().any(|part| part.as_os_str() == "tests") {
        return (String::new(), text);
    }
    match text.split_once("#[cfg(test)]\nmod tests {") {
        Some((code, tests)) => (code.to_owned(), tests.to_owned()),
        None => (text, String::new()),
    }
}

#[test]
fn every_rule_is_cited_by_code_and_by_a_test() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/guard.md");
    let text = fs::read_to_string(document).expect("the guard has a document");
    let stated = text
        .lines()
        .filter_map(|line| line.strip_prefix("- **G-")?.split_once("**")?.0.parse().ok())
        .collect::<BTreeSet<u32>>();
    assert!(!stated.is_empty(), "the document states rules");
    let (mut in_code, mut in_tests) = (BTreeSet::new(), BTreeSet::new());
    for (code, tests) in sources().iter().map(|path| parts(path)) {
        in_code.append(&mut rules_in(&code));
        in_tests.append(&mut rules_in(&tests));
    }
    assert_eq!(in_code, stated, "rules cited by code, and rules stated");
    assert_eq!(in_tests, stated, "rules cited by tests, and rules stated");
}

#[test]
fn citations_are_found() {
    assert_eq!(rules_in("// G-3, G-12 and LG-9 (G-5..G-7)"), BTreeSet::from([3, 5, 6, 7, 12]));
}
