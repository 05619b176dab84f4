//! P4 text as words, numbers and signs: without comments, annotations and lines of the preprocessor.

/// Returns the tokens of `text`.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let bare = without_annotations(&without_directives(&without_comments(text)));
    let mut found: Vec<String> = Vec::new();
    let mut grows = false;
    for letter in bare.chars() {
        let is_part = letter.is_ascii_alphanumeric() || letter == '_';
        if is_part && grows {
            found.last_mut().expect("the word that grows").push(letter);
        } else if !letter.is_whitespace() {
            found.push(letter.to_string());
        }
        grows = is_part;
    }
    found
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        kept.push_str(&rest[..at]);
        kept.push(' ');
        let end = if rest[at..].starts_with("//") { "\n" } else { "*/" };
        let length = rest[at + 2..].find(end).unwrap_or(rest.len() - at - 2);
        rest = rest[at + 2 + length..].trim_start_matches("*/");
    }
    kept + rest
}

/// Returns the text without lines that begin with `#`, and without the lines that continue them.
fn without_directives(text: &str) -> String {
    let mut goes_on = false;
    let mut kept = String::new();
    for line in text.lines() {
        let is_directive = goes_on || line.trim_start().starts_with('#');
        goes_on = is_directive && line.trim_end().ends_with('\\');
        if !is_directive {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Returns the text without `@name` and `@name(...)`.
fn without_annotations(text: &str) -> String {
    let mut parts = text.split('@');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        let end = if rest.starts_with('(') { rest.find(')').map_or(rest.len(), |at| at + 1) } else { 0 };
        kept.push_str(&rest[end..]);
    }
    kept
}

#[test]
fn what_is_no_declaration_is_left_out() {
    let text = "#define A(i) \\\n  header i {}\n@noWarn(\"unused\") const bit<8> B = 8w0x1f; // const\n/* header */ x";
    assert_eq!(tokens(text), ["const", "bit", "<", "8", ">", "B", "=", "8w0x1f", ";", "x"]);
}
