//! Finding rule names (`LG-7`, `TCP-H1`, `LG-3..10`) in text, and the tests in a Rust file.

use std::collections::BTreeSet;

/// The lengths of protocol names: `G`, `LG`, and some room for longer names.
const LETTERS: std::ops::RangeInclusive<usize> = 1..=6;

/// Returns the rule that `text` begins with.
pub(crate) fn leading_rule(text: &str) -> Option<String> {
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = text[letters..].strip_prefix('-').filter(|_| LETTERS.contains(&letters))?;
    let group = usize::from(rest.starts_with(|c: char| c.is_ascii_uppercase()));
    let digits = rest[group..].bytes().take_while(u8::is_ascii_digit).count();
    let length = letters + 1 + group + digits;
    let ends = !text[length..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    (digits > 0 && ends).then(|| text[..length].to_owned())
}

/// Returns all rules that `text` mentions. A range counts for each rule in it.
pub(crate) fn mentions(text: &str) -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        if character.is_ascii_uppercase()
            && !(before.is_ascii_alphanumeric() || "-_".contains(before))
            && let Some(rule) = leading_rule(&text[at..])
        {
            rules.extend(range(&rule, &text[at + rule.len()..]));
            rules.insert(rule);
        }
        before = character;
    }
    rules
}

/// Returns the further rules of a range: `LG-3` followed by `..10` stands for eight.
fn range(first: &str, rest: &str) -> Vec<String> {
    let number_at = first.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let Some(rest) = rest.strip_prefix("..") else { return Vec::new() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let bounds = (first[number_at..].parse::<u32>(), rest[..digits].parse::<u32>());
    let (Ok(from), Ok(to)) = bounds else { return Vec::new() };
    (from + 1..=to).map(|number| format!("{}{number}", &first[..number_at])).collect()
}

/// Splits a file into code and the items marked `#[cfg(test)]`. A marked item ends with the first
/// line that closes it at the indentation of its mark, as rustfmt writes it.
pub(crate) fn split_rust(text: &str) -> (String, String) {
    let (mut code, mut tests) = (String::new(), String::new());
    let mut inside: Option<usize> = None;
    for line in text.lines() {
        let indentation = line.len() - line.trim_start().len();
        if inside.is_none() && line.trim() == "#[cfg(test)]" {
            inside = Some(indentation);
        }
        let part = if inside.is_some() { &mut tests } else { &mut code };
        part.push_str(line);
        part.push('\n');
        let closes = line.trim() == "}" || declared_module(line).is_some();
        if inside == Some(indentation) && closes {
            inside = None;
        }
    }
    (code, tests)
}

/// Returns the module files that are compiled for tests only: `mod NAME;` in marked items.
pub(crate) fn test_modules(text: &str) -> Vec<String> {
    split_rust(text).1.lines().filter_map(declared_module).map(str::to_owned).collect()
}

/// Returns the name in `mod NAME;`, with or without a visibility.
fn declared_module(line: &str) -> Option<&str> {
    let declaration = line.trim().strip_suffix(';')?;
    let (visibility, name) = declaration.rsplit_once("mod ")?;
    let is_module = visibility.is_empty() || visibility.starts_with("pub");
    is_module.then_some(name)
}
