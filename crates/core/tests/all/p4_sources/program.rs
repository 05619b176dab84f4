//! A program as its files together declare it: numbers for constants, layouts for headers.

use super::declarations::{Declaration, Named, declarations};
use super::layout::Layout;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a program, as text.
#[derive(Clone, Debug)]
pub(crate) struct Sources(Vec<String>);

/// The declarations of a program.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) constants: BTreeMap<String, u128>,
    pub(crate) headers: BTreeMap<String, Layout>,
    /// The headers of a frame in the order in which they leave, instance and header, by structure.
    pub(crate) orders: BTreeMap<String, Vec<(String, String)>>,
    types: BTreeMap<String, String>,
}

impl Sources {
    /// Returns the files at these places of `p4/`, and all files in folders at these places.
    pub(crate) fn of(places: &[&str]) -> Self {
        let mut files = Vec::new();
        for place in places {
            let path = root().join(place);
            files.extend(if path.is_dir() { entries(&path) } else { vec![path] });
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "p4"));
        let read = |file: &PathBuf| {
            fs::read_to_string(file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
        };
        Self(files.iter().map(read).collect())
    }

    /// Returns the sources with `from`, which stands there once, replaced.
    pub(crate) fn replaced(&self, from: &str, to: &str) -> Self {
        let times: usize = self.0.iter().map(|text| text.matches(from).count()).sum();
        assert_eq!(times, 1, "{from:?} stands in the sources {times} times");
        Self(self.0.iter().map(|text| text.replace(from, to)).collect())
    }

    /// Returns the sources with a further file.
    pub(crate) fn with(&self, text: &str) -> Self {
        Self([self.0.as_slice(), &[text.to_owned()]].concat())
    }
}

/// Returns the folders of `p4/` that hold programs.
pub(crate) fn folders() -> Vec<String> {
    let folders = entries(&root()).into_iter().filter(|path| path.is_dir());
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    folders.filter_map(name).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    paths
}

impl Program {
    /// Returns the declarations of the sources, or the part of the sources that cannot be read.
    pub(crate) fn of(sources: &Sources) -> Result<Self, String> {
        if let Some(line) = sources.0.iter().flat_map(|text| text.lines()).find(|line| is_number(line)) {
            return Err(format!("a number of the preprocessor is not compared: {line}"));
        }
        let all: Vec<Declaration> = sources.0.iter().flat_map(|text| declarations(text)).collect();
        let mut program = Self::default();
        for declaration in &all {
            if let Declaration::Type(named) = declaration {
                program.types.insert(named.name.clone(), named.kind.clone());
            }
        }
        for declaration in all {
            match declaration {
                Declaration::Type(_) => {}
                Declaration::Constant(named, value) => program.add_constant(&named, &value)?,
                Declaration::Header(name, fields) => program.add_header(name, fields)?,
                Declaration::Structure(name, fields) if name.ends_with("headers_t") => {
                    let order = fields.into_iter().map(|field| (field.name, field.kind)).collect();
                    program.orders.insert(name, order);
                }
                Declaration::Structure(..) => {}
                Declaration::Unread(keyword) => return Err(format!("an {keyword} is not compared yet")),
            }
        }
        Ok(program)
    }

    /// Returns the width of a type in bits.
    pub(crate) fn width(&self, kind: &str) -> Result<usize, String> {
        if let Some(other) = self.types.get(kind) {
            return self.width(other);
        }
        let bits = kind.strip_prefix("bit<").and_then(|rest| rest.strip_suffix('>'));
        bits.and_then(|bits| bits.parse().ok()).ok_or(format!("a width cannot be read: {kind}"))
    }

    fn add_constant(&mut self, named: &Named, value: &[String]) -> Result<(), String> {
        let name = &named.name;
        let number = number(value).ok_or(format!("{name} cannot be read: {}", value.concat()))?;
        // The width of a type of the architecture is unknown here.
        if self.width(&named.kind).is_ok_and(|width| number >> width != 0) {
            return Err(format!("{name} does not fit {}", named.kind));
        }
        match self.constants.insert(name.clone(), number) {
            None => Ok(()),
            Some(_) => Err(format!("{name} is there twice")),
        }
    }

    fn add_header(&mut self, name: String, fields: Vec<Named>) -> Result<(), String> {
        let mut layout = Layout::default();
        for field in fields {
            layout.push(field.name, self.width(&field.kind)?);
        }
        match self.headers.insert(name.clone(), layout) {
            None => Ok(()),
            Some(_) => Err(format!("{name} is there twice")),
        }
    }
}

/// Whether a line of the preprocessor defines a number, as a constant does.
fn is_number(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("#define")
        && words.nth(1).is_some_and(|value| value.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Returns the value of a literal, perhaps with a width in front (`8w0x1f`) or a cast
/// (`(bit<8>) 31`).
fn number(value: &[String]) -> Option<u128> {
    let [.., literal] = value else { return None };
    let before = &value[..value.len() - 1];
    let is_cast = before.first().is_some_and(|token| token == "(")
        && before.iter().filter(|token| *token == ")").count() == 1
        && before.last().is_some_and(|token| token == ")");
    if !before.is_empty() && !is_cast {
        return None;
    }
    let digits = match literal.split_once('w') {
        Some((width, digits)) => width.parse::<u32>().ok().map(|_| digits)?,
        None => literal,
    };
    let digits = digits.replace('_', "");
    match digits.get(..2) {
        Some("0x" | "0X") => u128::from_str_radix(&digits[2..], 16).ok(),
        Some("0b" | "0B") => u128::from_str_radix(&digits[2..], 2).ok(),
        _ => digits.parse().ok(),
    }
}

#[test]
fn literals_are_read_and_sums_are_not() {
    let of = |text: &str| {
        let program = Program::of(&Sources(vec![format!("const bit<16> A = {text};")]));
        program.map(|program| program.constants["A"])
    };
    let literals = [("60", 60), ("0xABCD", 0xabcd), ("1w1", 1), ("8w0x1f", 31), ("0b1_01", 5), ("(t) 3", 3)];
    for (text, value) in literals {
        assert_eq!(of(text), Ok(value), "{text}");
    }
    assert_eq!(of("(1 + 2) + 3"), Err("A cannot be read: (1+2)+3".into()));
    assert_eq!(of("0x10000"), Err("A does not fit bit<16>".into()));
}

#[test]
fn what_stands_there_twice_or_has_no_width_is_refused() {
    let of = |text: &str| Program::of(&Sources(vec![text.into()])).map(|_| ());
    assert_eq!(of("const bit<8> A = 1; const bit<8> A = 2;"), Err("A is there twice".into()));
    assert_eq!(of("header a_t { bit<8> b; } header a_t { bit<8> b; }"), Err("a_t is there twice".into()));
    assert_eq!(of("header a_t { varbit<8> b; }"), Err("a width cannot be read: varbit<8>".into()));
}
