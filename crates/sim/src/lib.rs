//! Deterministic packet-level simulator of corrupting links, their protections, and the transports
//! above them.

pub mod transport;
