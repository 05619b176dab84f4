//! The rules of a protocol that its program for switches leaves out, each with the reason.

use super::scan::mentions;
use super::{Rules, files_under, letters, read};
use std::collections::BTreeSet;
use std::path::Path;

/// The rules that `p4/linkguardian` and the sources that it shares with other programs leave out.
const LINKGUARDIAN: [(&str, &str); 6] = [
    ("LG-19", "the control plane sets the number of copies"),
    ("LG-30", "the control plane starts both ends over"),
    ("LG-35", "losses for good are counted, but not by cause"),
    ("LG-36", "the control plane waits until the link is at rest"),
    ("LG-37", "a software switch has no exact times"),
    ("LG-47", "monitors belong to the control plane"),
];

/// The contradictions between the rules, a program and the table of the rules that the program leaves out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unexplained {
    /// Rules that are neither cited nor in the table.
    pub(crate) missing: Vec<String>,
    /// Rules that are in the table and cited all the same.
    pub(crate) cited: Vec<String>,
    /// Names in the table that are no rules.
    pub(crate) undefined: Vec<String>,
}

/// Compares the rules of LinkGuardian with the programs of the repository at `root`.
pub(crate) fn of_linkguardian(rules: &Rules, root: &Path) -> Unexplained {
    let folders = ["p4/common", "p4/linkguardian"];
    let files = folders.iter().flat_map(|folder| files_under(&root.join(folder), "p4"));
    let texts: Vec<String> = files.map(|file| read(&file)).collect();
    Unexplained::of(rules, "LG", &texts, &LINKGUARDIAN)
}

impl Unexplained {
    /// Compares the rules whose letters are `protocol` with the files of a program and the table of the
    /// rules that the program leaves out.
    pub(crate) fn of(
        rules: &Rules,
        protocol: &str,
        files: &[impl AsRef<str>],
        left_out: &[(&str, &str)],
    ) -> Self {
        let cited: BTreeSet<String> =
            files.iter().flat_map(|text| mentions(without_head(text.as_ref()))).collect();
        let of_protocol = rules.documents.keys().filter(|rule| letters(rule) == protocol);
        let is_listed = |rule: &str| left_out.iter().any(|(name, _)| *name == rule);
        let names = || left_out.iter().map(|(name, _)| (*name).to_owned());
        Self {
            missing: of_protocol.filter(|rule| !cited.contains(*rule) && !is_listed(rule)).cloned().collect(),
            cited: names().filter(|rule| cited.contains(rule)).collect(),
            undefined: names().filter(|rule| !rules.defines(rule)).collect(),
        }
    }
}

/// Returns a program without the comment at its head, which names whole ranges of rules.
fn without_head(text: &str) -> &str {
    let is_head = |line: &str| line.starts_with("//") || line.trim().is_empty();
    let length = text.split_inclusive('\n').take_while(|line| is_head(line)).map(str::len).sum();
    &text[length..]
}
