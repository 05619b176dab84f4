//! Captures: the frames that pass on one hop, as a pcapng file that Wireshark and tshark read.
//!
//! * [`place`]: the hops by name; [`recorder`]: the tap that records one of them.
//! * [`ip`], [`roce`]: the packets on a wire that the simulator's packets stand for; [`frame`]: Ethernet and the protection's
//!   headers around them.
//! * `order`: from the order in which departures are decided to the order of time; `file`: pcapng.
//!
//! The format and its limits are described in `docs/guides/captures.md`.

pub mod file;
pub mod frame;
pub mod ip;
mod order;
pub mod place;
pub mod recorder;
pub mod roce;

pub use file::{Description, PcapngFile};
pub use ip::{Carries, NumberedDatagrams, TcpConnections};
pub use place::Place;
pub use recorder::Recorder;
pub use roce::RdmaConnection;
