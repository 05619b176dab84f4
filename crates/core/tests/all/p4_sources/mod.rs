//! The programs for switches in `p4/`, compared with this crate as text, without a compiler.
//!
//! A new program adds a file beside `linkguardian.rs` and a line to `FAMILIES`.

mod common;
mod comparison;
mod declarations;
mod fec;
mod frames;
mod layout;
mod linkguardian;
mod program;
mod tokens;

pub(crate) use comparison::{Family, Numbers, one_at_a_time};
pub(crate) use program::{Program, Sources, folders};

/// The programs that are compared where they are.
pub(crate) const FAMILIES: [&Family; 3] = [&linkguardian::FAMILY, &linkguardian::FOR_TOFINO, &fec::FAMILY];
