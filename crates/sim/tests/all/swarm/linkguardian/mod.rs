//! Worlds around a link with LinkGuardian.

mod check;
mod draw;
mod run;

pub(crate) use check::check;
pub(crate) use draw::World;
pub(crate) use run::{Evidence, run};
