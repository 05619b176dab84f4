//! The declarations of P4 text: types, constants, headers and structures, each as it is written.

use super::tokens::tokens;

/// A type and a name, as in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// One declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Declaration {
    /// `typedef KIND NAME;`
    Type(Named),
    /// `const KIND NAME = VALUE;`
    Constant(Named, Vec<String>),
    /// `header NAME { ... }`
    Header(String, Vec<Named>),
    /// `struct NAME { ... }`
    Structure(String, Vec<Named>),
    /// A declaration that cannot be read, and that would hide a constant or a header from the
    /// comparison.
    Unread(String),
}

/// Returns the declarations in `text`, wherever they stand.
pub(crate) fn declarations(text: &str) -> Vec<Declaration> {
    let tokens = tokens(text);
    (0..tokens.len()).filter_map(|at| declaration(&tokens[at..])).collect()
}

fn declaration(tokens: &[String]) -> Option<Declaration> {
    let (keyword, rest) = tokens.split_first()?;
    match keyword.as_str() {
        "typedef" => Some(Declaration::Type(named(rest)?.0)),
        "const" => {
            // `const default_action = ...` of a table names no type.
            let (head, rest) = named(rest)?;
            let value = rest.strip_prefix(&["=".to_owned()])?;
            Some(Declaration::Constant(head, until(value, ";").to_vec()))
        }
        "header" => Some(Declaration::Header(rest.first()?.clone(), fields(rest)?)),
        "enum" | "header_union" => Some(Declaration::Unread(keyword.clone())),
        "struct" => Some(Declaration::Structure(rest.first()?.clone(), fields(rest)?)),
        _ => None,
    }
}

/// Returns a type, a name, and the tokens that follow.
fn named(tokens: &[String]) -> Option<(Named, &[String])> {
    let length = if tokens.get(1)? == "<" { until(tokens, ">").len() + 1 } else { 1 };
    let (kind, rest) = tokens.split_at_checked(length)?;
    let (name, rest) = rest.split_first()?;
    let is_word = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    is_word.then(|| (Named { kind: kind.concat(), name: name.clone() }, rest))
}

/// Returns the fields of `NAME { KIND FIELD; ... }`.
fn fields(tokens: &[String]) -> Option<Vec<Named>> {
    let body = tokens.get(1..)?.strip_prefix(&["{".to_owned()])?;
    until(body, "}").split(|token| token == ";").filter(|field| !field.is_empty()).map(field).collect()
}

fn field(tokens: &[String]) -> Option<Named> {
    named(tokens).map(|(field, _)| field)
}

fn until<'a>(tokens: &'a [String], end: &str) -> &'a [String] {
    tokens.split(|token| token == end).next().unwrap_or(tokens)
}

#[test]
fn each_kind_of_declaration_is_read() {
    let text = "typedef bit<9> port_t; const port_t PORT = (port_t) 3;
        header one_t { bit<N> a; port_t b; } control c() { const default_action = x(); }";
    let named = |kind: &str, name: &str| Named { kind: kind.into(), name: name.into() };
    let value = ["(", "port_t", ")", "3"].map(String::from).to_vec();
    let expected = [
        Declaration::Type(named("bit<9>", "port_t")),
        Declaration::Constant(named("port_t", "PORT"), value),
        Declaration::Header("one_t".into(), vec![named("bit<N>", "a"), named("port_t", "b")]),
    ];
    assert_eq!(declarations(text), expected);
}
