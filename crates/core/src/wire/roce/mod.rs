//! RoCEv2: InfiniBand transport headers in a UDP datagram to port 4791.
//!
//! Source: InfiniBand architecture specification 1, chapter 9, and its annex A17 (RoCEv2). The
//! headers suffice for one reliable connection: base header, RDMA and ACK extended headers,
//! invariant CRC. Left out: atomic operations, immediate data, and the other services.

mod aeth;
mod bth;
mod icrc;
mod reth;

pub use aeth::{AckHeader, AckView, NakCode, Syndrome};
pub use bth::{BaseHeader, BaseView, Opcode};
pub use icrc::{ICRC_LEN, invariant_crc};
pub use reth::{RdmaHeader, RdmaView};

/// The UDP port of RoCEv2.
pub const UDP_PORT: u16 = 4791;
