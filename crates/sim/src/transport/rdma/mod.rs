//! RoCEv2 reliable connection: requester and responder of one queue pair as pure values.
//!
//! Follows the InfiniBand Architecture Specification, volume 1, chapter 9 and annex A17; the rules
//! are numbered in `docs/protocols/rdma.md`. Two ways of recovery exist: go-back-N as shipped
//! network cards have it, and selective repeat with a bitmap.
//!
//! ```text
//!  post --> Requester --requests--> Responder
//!              ^  ^                    |
//!              |  +--ACK, NAK, CNP-----+
//!              +-----READ responses----+
//! ```
//!
//! Left out: receiver-not-ready NAKs, atomics, immediate data, protection domains, message sequence
//! numbers and end-to-end credits. None of them changes the cost of a lost or late packet.

mod answers;
mod bitmap;
mod config;
mod cursor;
mod dcqcn;
#[cfg(feature = "fast")]
mod fast;
mod notification;
mod operation;
mod pacer;
mod packet;
mod psn;
mod reassembly;
mod requester;
mod responder;
mod responses;
mod selective;
mod statistics;
mod timer;
mod transmit;

pub use config::{Config, Mtu, Recovery, UnknownRecovery, UnsupportedMtu};
pub use dcqcn::{Dcqcn, RateLimiter};
pub use notification::NotificationPoint;
pub use operation::{Completion, Operation, Status};
pub use packet::{Packet, Place, ReadRequest, ReadResponse, Request, Verb};
pub use psn::Psn;
pub use requester::Requester;
pub use responder::Responder;
pub use statistics::{RequesterStatistics, ResponderStatistics};
