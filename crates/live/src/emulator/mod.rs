//! The emulated link: two stations (a port and its guard each) and the two directions between them.

mod direction;
mod path;

pub use direction::{Direction, DirectionCounters};
pub(crate) use path::ENDS;
pub use path::{Path, Station};
