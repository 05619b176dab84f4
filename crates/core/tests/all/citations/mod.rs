//! The places where the rules of the protocol documents are defined, and the places where they are
//! cited.

mod left_out;
mod scan;

pub(crate) use left_out::{Unexplained, of_linkguardian};
use scan::{mentions, split_rust, test_modules};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The rules that documents define, each with its document.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    documents: BTreeMap<String, String>,
    twice: Vec<String>,
}

/// Rules that are cited, each with the first file that cites it.
#[derive(Debug, Default)]
pub(crate) struct Citations {
    code: BTreeMap<String, String>,
    tests: BTreeMap<String, String>,
    programs: BTreeMap<String, String>,
}

/// The defects of definitions and citations, one line each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Defects {
    pub(crate) without_code: Vec<String>,
    pub(crate) without_test: Vec<String>,
    pub(crate) undefined: Vec<String>,
    pub(crate) twice: Vec<String>,
}

impl Rules {
    /// Returns the rules of all documents in `directory`.
    pub(crate) fn of_documents(directory: &Path) -> Self {
        let mut rules = Self::default();
        for file in files_under(directory, "md") {
            rules.add(&name(&file, directory), &read(&file));
        }
        rules
    }

    /// Returns the rules whose letters are `protocol`.
    pub(crate) fn of_protocol(self, protocol: &str) -> Self {
        let documents = self.documents.into_iter().filter(|(rule, _)| letters(rule) == protocol).collect();
        Self { documents, ..self }
    }

    /// Adds the rules of one document: lines that begin with a rule in bold, or headings.
    pub(crate) fn add(&mut self, document: &str, text: &str) {
        for line in text.lines() {
            let item = line.trim_start().trim_start_matches("- ");
            let definition =
                item.strip_prefix("**").or_else(|| item.trim_start_matches('#').strip_prefix(' '));
            let Some(rule) = definition.filter(|_| item.starts_with(['*', '#'])).and_then(scan::leading_rule)
            else {
                continue;
            };
            if self.documents.insert(rule.clone(), document.to_owned()).is_some() {
                self.twice.push(format!("{rule} in {document}"));
            }
        }
    }

    pub(crate) fn defines(&self, rule: &str) -> bool {
        self.documents.contains_key(rule)
    }

    /// Compares the defined rules with the cited rules. A citation counts if its letters are those of
    /// a defined rule: `SHA-256` is none.
    pub(crate) fn check(&self, citations: &Citations) -> Defects {
        let protocols: BTreeSet<&str> = self.documents.keys().map(|rule| letters(rule)).collect();
        let uncited = |cited: &BTreeMap<String, String>| {
            let missing = self.documents.iter().filter(|(rule, _)| !cited.contains_key(*rule));
            missing.map(|(rule, document)| format!("{rule} of {document}")).collect()
        };
        let all = citations.code.iter().chain(&citations.tests).chain(&citations.programs);
        let undefined = all.filter(|(rule, _)| protocols.contains(letters(rule)) && !self.defines(rule));
        Defects {
            without_code: uncited(&citations.code),
            without_test: uncited(&citations.tests),
            undefined: undefined.map(|(rule, file)| format!("{rule} in {file}")).collect(),
            twice: self.twice.clone(),
        }
    }
}

impl Citations {
    /// Returns the citations in the crates, the Python package and the programs for switches. The test
    /// that checks citations is left out, because it speaks of rules that do not exist.
    pub(crate) fn of_repository(root: &Path) -> Self {
        let mut citations = Self::default();
        let files = files_under(&root.join("crates"), "rs");
        let test_files: BTreeSet<PathBuf> = files.iter().flat_map(|file| test_files_of(file)).collect();
        for file in files {
            let (name, text) = (name(&file, root), read(&file));
            if test_files.contains(&file) {
                Self::note(&mut citations.tests, &name, &text);
            } else if !["rules.rs", "citations/"]
                .iter()
                .any(|own| name.contains(&format!("core/tests/all/{own}")))
            {
                citations.add_rust(&name, &text);
            }
        }
        for (directory, is_test) in [("python", false), ("tests", true)] {
            for file in files_under(&root.join(directory), "py") {
                citations.add_python(&name(&file, root), &read(&file), is_test);
            }
        }
        for file in files_under(&root.join("p4"), "p4") {
            citations.add_program(&name(&file, root), &read(&file));
        }
        citations
    }

    /// Returns the citations in the Rust files of these folders.
    pub(crate) fn of_rust(root: &Path, folders: &[&str]) -> Self {
        let mut citations = Self::default();
        for file in folders.iter().flat_map(|folder| files_under(&root.join(folder), "rs")) {
            citations.add_rust(&name(&file, root), &read(&file));
        }
        citations
    }

    /// Adds the citations of a Rust file, which is a test by its path or in part.
    pub(crate) fn add_rust(&mut self, file: &str, text: &str) {
        let is_test = file.contains("/tests/") || file.ends_with("/tests.rs");
        let (code, tests) = if is_test { (String::new(), text.to_owned()) } else { split_rust(text) };
        Self::note(&mut self.code, file, &code);
        Self::note(&mut self.tests, file, &tests);
    }

    pub(crate) fn add_python(&mut self, file: &str, text: &str, is_test: bool) {
        Self::note(if is_test { &mut self.tests } else { &mut self.code }, file, text);
    }

    /// Adds the citations of a program for switches. A program is neither the code nor the test of a
    /// rule, because it leaves rules out.
    pub(crate) fn add_program(&mut self, file: &str, text: &str) {
        Self::note(&mut self.programs, file, text);
    }

    fn note(cited: &mut BTreeMap<String, String>, file: &str, text: &str) {
        for rule in mentions(text) {
            cited.entry(rule).or_insert_with(|| file.to_owned());
        }
    }

    pub(crate) fn code(&self) -> impl Iterator<Item = &str> {
        self.code.keys().map(String::as_str)
    }

    pub(crate) fn tests(&self) -> impl Iterator<Item = &str> {
        self.tests.keys().map(String::as_str)
    }
}

impl Defects {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Defects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [
            ("cited by no code", &self.without_code),
            ("cited by no test", &self.without_test),
            ("cited but not defined", &self.undefined),
            ("defined twice", &self.twice),
        ];
        for (what, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            writeln!(f, "{what}: {}", list.join("; "))?;
        }
        Ok(())
    }
}

/// Returns the files of the modules that `file` declares for tests only.
fn test_files_of(file: &Path) -> Vec<PathBuf> {
    let is_root = ["mod.rs", "lib.rs", "main.rs"].iter().any(|root| file.ends_with(root));
    let directory = if is_root { file.with_file_name("") } else { file.with_extension("") };
    let modules = test_modules(&read(file));
    modules.iter().map(|module| directory.join(module).with_extension("rs")).collect()
}

/// Returns the letters of the protocol: `TCP` of `TCP-H1`.
fn letters(rule: &str) -> &str {
    rule.split_once('-').map_or(rule, |(letters, _)| letters)
}

fn name(file: &Path, root: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
}

/// Returns all files below `directory` that end in `extension`, in a fixed order and without build
/// output.
fn files_under(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() && !path.ends_with("target") {
            files.extend(files_under(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files
}
