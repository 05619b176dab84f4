//! The protocol core of lossylink: values without I/O and without a clock.
//!
//! * [`time`], [`units`]: picosecond instants, bytes and bit rates with their algebra.
//! * [`rng`], [`probability`]: named random streams and integer-compared probabilities.
//! * [`loss`]: the processes by which a link corrupts frames.
//! * [`wire`]: frame formats, a byte view and a plain struct each.
//! * [`protection`]: the protection that a user chose for a link, as one value for all who ask.
//! * [`engine`]: the protocols of the protections; an engine *decides*, a driver executes and
//!   times.
//! * [`guard`]: a driver without I/O that puts an engine to work on whole frames.
//!
//! The simulator and the live data plane drive the same engines.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod binomial;
pub mod engine;
pub mod guard;
pub mod loss;
pub mod probability;
pub mod protection;
pub mod rng;
pub mod time;
pub mod units;
pub mod wire;
