//! TCP as Linux 6.1 has it, without I/O: a [`Sender`] and a [`Receiver`] exchange
//! [`Packet`]s that a driver carries.
//!
//! The rules, with their RFC sections, are numbered in `docs/protocols/tcp.md`. Each concern has a file. Each
//! part owns its state, takes values and returns decisions, and the two hosts compose the parts:
//!
//! * [`packet`], [`config`], [`statistics`]: the interface to a driver; `headers`: the octets around a payload.
//! * `sender`: the sending host; `handshake`, `flow`, `scoreboard`, `sack`, `progress`, `outgoing`: the state of
//!   a connection and of its segments, the news of an acknowledgement, and the packets that leave next.
//! * `recovery`, `recovery_state`, `rack`, `reordering`, `probe`, `reduction`, `undo`: loss detection and repair.
//! * `clock`, `timers`, `rtt`, `window`, `rate`, `windowed`, `pacing`, `bursts`, `congestion`: time and rate.
//! * `receiver`, `reassembly`, `delayed_ack`, `compression`, `ecn_echo`: the receiving host.
//!
//! Sequence space counts segments (u64), all of one payload but the last of a flow. Left out:
//! window scaling and autotuning (the receive window is constant), urgent data, Nagle, reneging
//! receivers, connection teardown, TCP Fast Open, host queues.

mod bursts;
mod clock;
mod compression;
pub mod config;
mod congestion;
mod delayed_ack;
mod ecn_echo;
mod flow;
mod handshake;
mod headers;
mod outgoing;
mod pacing;
pub mod packet;
mod probe;
mod progress;
mod rack;
mod rate;
mod reassembly;
mod receiver;
mod recovery;
mod recovery_state;
mod reduction;
mod reordering;
mod rtt;
mod sack;
mod scoreboard;
mod sender;
pub mod statistics;
mod timers;
mod undo;
mod window;
mod windowed;

pub use config::Config;
pub use congestion::{CongestionControl, UnknownCongestionControl};
pub use packet::{Ack, Block, Data, Packet, SackBlocks};
pub use receiver::Receiver;
pub use recovery_state::State;
pub use sender::Sender;
pub use statistics::Statistics;
pub use timers::{ReceiverTimer, SenderTimer};
