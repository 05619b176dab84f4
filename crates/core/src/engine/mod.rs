//! Protection engines: an engine *decides*, a driver executes and times.
//!
//! * [`passthrough`]: no protection. It is the baseline, and runs the same code path.
//! * [`linkguardian`]: link-local retransmission, ordered and non-blocking.
//! * [`monitor`]: which links need protection, decided from their counters.
//! * [`fec`]: forward error correction by systematic block codes.
//! * [`llr`]: link-level retry, by which a receiver asks for everything from a lost frame on.
//! * [`report`]: the counters of both ends of a link, with their names and texts.
//!
//! Engines hold no frames, no clock and no queues. A driver tells an engine which frame passed, and
//! the engine answers with a decision about that frame. Buffers, delays and priorities belong to
//! the driver, because they differ between a switch that recirculates packets and a program that
//! holds them in memory.

pub mod fec;
pub mod linkguardian;
pub mod llr;
pub mod monitor;
pub mod passthrough;
pub mod report;
