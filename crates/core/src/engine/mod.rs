//! Protection engines: an engine *decides*, a driver executes and times.
//!
//! * [`passthrough`]: no protection, the baseline that runs the same code path.
//! * [`linkguardian`]: link-local retransmission, ordered and non-blocking.
//! * [`monitor`]: which links need protection, decided from their counters.
//! * [`fec`]: forward error correction by systematic block codes.
//! * [`report`]: what both ends of a link tell about themselves.
//!
//! Engines hold no frames, no clock and no queues. They are told what passed by, and answer what
//! is to be done with it; buffers, delays and priorities belong to the driver, because they
//! differ between a switch that recirculates packets and a program that holds them in memory.

pub mod fec;
pub mod linkguardian;
pub mod llr;
pub mod monitor;
pub mod passthrough;
pub mod report;
