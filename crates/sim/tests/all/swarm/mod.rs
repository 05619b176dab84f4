//! One seed draws a whole world around a protected link, runs the world, heals its link, and checks
//! the run.

mod check;
mod draw;
mod run;

pub(crate) use check::check;
pub(crate) use draw::{Direction, World};
pub(crate) use run::{Evidence, run};
