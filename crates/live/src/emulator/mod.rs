//! The emulated link: two stations (each a port and its guard) and the two directions between them.

mod direction;
mod path;

pub use direction::{Direction, DirectionCounters};
pub(crate) use path::ENDS;
pub use path::{Path, Station};
