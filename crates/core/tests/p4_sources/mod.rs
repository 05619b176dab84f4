//! The programs for switches in `p4/`, compared with this crate as text, without a compiler.
//!
//! A new protection adds a file beside `linkguardian.rs` and a line to `FAMILIES`.

mod common;
mod comparison;
mod declarations;
mod frames;
mod layout;
mod linkguardian;
mod program;
mod tokens;

pub(crate) use comparison::{Family, Numbers, one_at_a_time};
pub(crate) use program::{Program, Sources, folders};

/// The protections that have programs; each is the name of its folder.
pub(crate) const FAMILIES: [&Family; 1] = [&linkguardian::FAMILY];
