//! Deterministic packet-level simulator of corrupting links, their protections, and the
//! transports above them. It never reads a clock.

pub mod config;
mod control;
pub mod experiment;
pub mod kernel;
pub mod measure;
pub mod net;
mod outcome;
pub mod world;

pub use control::Control;
pub use experiment::simulate;
pub use outcome::{Columns, ConfigError, Outcome};
