//! Every rule of the TCP documents is cited by code and by a test, and nothing cites a rule that
//! does not exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The documents and the prefix of their rules.
const DOCUMENTS: [(&str, &str); 5] = [
    ("tcp.md", "TCP-"),
    ("cubic.md", "CUBIC-"),
    ("dctcp.md", "DCTCP-"),
    ("bbr.md", "BBR-"),
    ("bbr3.md", "BBR3-"),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Rust files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the directory can be read");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The rules with a prefix that a text names, as numbers.
fn named(text: &str, prefix: &str) -> BTreeSet<u32> {
    let citations = text.match_indices(prefix).filter(|&(at, _)| {
        // "DCTCP-1" does not name "TCP-1".
        !text[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric())
    });
    let digits = |rest: &str| -> String { rest.chars().take_while(char::is_ascii_digit).collect() };
    citations.filter_map(|(at, _)| digits(&text[at + prefix.len()..]).parse().ok()).collect()
}

/// Code and tests: what a source file holds before and after its test module.
fn code_and_tests() -> (String, String) {
    let (mut code, mut tests) = (String::new(), String::new());
    for file in sources(&repository().join("crates/sim/src/transport/tcp")) {
        let text = std::fs::read_to_string(&file).expect("the source can be read");
        let (before, after) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        code.push_str(before);
        tests.push_str(after);
    }
    for file in sources(&repository().join("crates/sim/tests")) {
        let is_ours = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tcp_"));
        if is_ours && !file.ends_with("tcp_rules.rs") {
            tests.push_str(&std::fs::read_to_string(&file).expect("the test can be read"));
        }
    }
    (code, tests)
}

#[test]
fn every_rule_has_code_and_a_test() {
    let (code, tests) = code_and_tests();
    for (document, prefix) in DOCUMENTS {
        let text =
            std::fs::read_to_string(repository().join("docs/protocols").join(document)).expect(document);
        let rules = named(&text, &format!("- **{prefix}"));
        assert!(!rules.is_empty(), "{document} has rules");
        let (coded, tested) = (named(&code, prefix), named(&tests, prefix));
        let missing = |cited: &BTreeSet<u32>| rules.difference(cited).copied().collect::<Vec<_>>();
        assert_eq!(
            (missing(&coded), missing(&tested)),
            (vec![], vec![]),
            "{prefix}: without code, without test"
        );
        let unknown: Vec<u32> = coded.union(&tested).filter(|rule| !rules.contains(rule)).copied().collect();
        assert_eq!(unknown, [], "{prefix}: cited, but not in {document}");
    }
}

#[test]
fn a_prefix_inside_another_is_no_citation() {
    assert_eq!(named("see DCTCP-3 and (TCP-12)", "TCP-"), BTreeSet::from([12]));
}
