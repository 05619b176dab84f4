//! Worlds: a link, and the sources, hosts and counters that are connected to it.
//!
//! * [`datagrams`]: a source that sends at its own rate, without a transport.
//! * [`limits`]: the limits of a run that does not end by itself.
//! * [`rare`]: copies of a link in which a loss is steered.
//! * [`samples`]: the depths of a link's buffers over time.
//! * [`stress`]: a packet generator in front of a link, a counter behind it.
//! * [`journeys`]: the stress test with a source that keeps the link busy, and with every frame
//!   followed.
//! * [`network`]: two hosts with any number of conversations, and the hops between them and the
//!   link. Generic over the protocol, so that TCP and RDMA share it.

pub mod datagrams;
mod deadlines;
pub mod host;
pub mod journeys;
pub mod limits;
mod message_latency;
mod motion;
pub mod network;
pub mod path;
pub mod protocol;
pub mod quantiles;
pub mod rare;
mod reception;
pub mod samples;
pub mod stress;
pub mod tails;

pub use message_latency::MessageLatency;
pub use network::{End, Network};
pub use path::{Jitter, LostBehind, Path, Rooms};
pub use protocol::{Endpoint, Protocol, Rdma, Tcp};
pub use reception::Reception;
