//! Worlds around a link with link-level retry.

mod check;
mod draw;
mod run;

pub(crate) use check::check;
pub(crate) use draw::{Fault, World};
pub(crate) use run::{Evidence, run};
