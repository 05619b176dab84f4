//! Worlds: a link, and what is connected to it.
//!
//! * [`datagrams`]: a source that sends at its own rate, without a transport.
//! * [`rare`]: copies of a link in which a loss is steered.
//! * [`stress`]: a packet generator in front, a counter behind.
//! * [`network`]: two hosts with any number of conversations, and the hops between them and the
//!   link. Generic over the protocol, so that TCP and RDMA share it.

pub mod datagrams;
mod deadlines;
pub mod host;
pub mod network;
pub mod path;
pub mod protocol;
pub mod rare;
pub mod stress;

pub use host::Host;
pub use network::Network;
pub use path::Path;
pub use protocol::{Endpoint, Protocol, Rdma, Tcp};
