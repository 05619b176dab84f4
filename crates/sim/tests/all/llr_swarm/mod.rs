//! One seed draws a whole world around a link with link-level retry, runs the world, heals its
//! link, and checks the run.

mod check;
mod draw;
mod run;

pub(crate) use check::check;
pub(crate) use draw::{Fault, World};
pub(crate) use run::{Evidence, run};
