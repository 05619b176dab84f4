//! One seed draws a whole world around a protected link, runs it, heals the link, and checks it.

mod check;
mod draw;
mod run;

pub(crate) use check::check;
pub(crate) use draw::{Direction, World};
pub(crate) use run::{Evidence, run};
