//! Deterministic packet-level simulator of corrupting links, their protections, and the
//! transports above them. It never reads a clock.

pub mod config;
mod control;
pub mod kernel;
pub mod measure;
pub mod net;
mod outcome;
pub mod transport;
pub mod world;

pub use control::Control;
pub use outcome::{Columns, ConfigError, Outcome};
