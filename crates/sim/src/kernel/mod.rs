//! Deterministic time keeping: the next event, and the order of events.
//!
//! A world is a handful of sources of events (a port, a pipe of frames in flight, a timer), not a heap of event objects. Frames
//! that share a FIFO path arrive in the order in which they left. So a [`Pipe`] of arrival times replaces one heap operation a
//! frame, and an [`Agenda`] finds the earliest source by comparing a few integers. Ties break by the order of the sources, then
//! by the order of entry: a scenario and a seed give the same run everywhere.

mod agenda;
pub mod ahead;
mod pipe;
mod ring;
mod train;
mod trains;

pub use agenda::Agenda;
pub use pipe::Pipe;
pub use ring::Ring;
pub use train::{Assembly, Train};
pub use trains::{Member, Trains};
