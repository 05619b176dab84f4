//! Link-level retry (LLR) as Ultra Ethernet specifies it: go-back-N on one link.
//!
//! ```text
//!            number                  in order only
//!  queue --> [Sender] ==== link ====> [Receiver] --> next hop
//!              ^  replay from the hole    |  ACK, NACK, INIT_ECHO
//!              +------- [Outlet] <--------+
//! ```
//!
//! The protocol stands as numbered rules in `docs/protocols/llr.md`; code and tests cite them as `LLR-n`.
//! The engine counts frames and their bytes and never sees the frames. Its driver keeps the outstanding
//! frames and sends the frames that [`Sender::poll_transmit`] returns. The driver also carries the control
//! sets that [`Outlet::poll_control`] returns, as control ordered sets or as frames of its own. The
//! simulated link is one driver; [`LlrLine`](crate::guard::LlrLine) is the other, for guards on a live link.

mod config;
mod control;
mod counters;
mod number;
mod outlet;
mod outstanding;
mod receiver;
pub mod report;
mod sender;
mod sizing;

#[cfg(test)]
mod pair;
#[cfg(test)]
mod tests;

pub use config::{FrameAction, SenderConfig};
pub use control::{Control, Init};
pub use counters::{ReceiverCounters, SenderCounters};
pub use number::Number;
pub use outlet::{Outlet, SPACING_BYTES, SPACING_DEFAULT, spacing_time};
pub use receiver::{Condition, Receiver, ReceiverState, Verdict};
pub use sender::{Sender, SenderState, Transmit};
pub use sizing::{PS_PER_METRE, SAMPLE_FRAME, SAMPLE_PIPELINE, Sizing, TIMER_LOOPS, propagation};
