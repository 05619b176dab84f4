//! LinkGuardian (SIGCOMM 2023): link-local retransmission at sub-RTT speed.
//!
//! ```text
//!             stamp            detect gap            order
//!  queue --> [Sender] == link ==> [Receiver] --> [Ordered | NonBlocking] --> next hop
//!               ^  copy until acked   |  ACK, loss notification
//!               +--- reverse link ----+
//! ```
//! The protocol stands as numbered rules in `docs/protocols/linkguardian.md`; code and tests cite
//! them as `LG-n`. The engine works on header values. Its driver keeps the copies of sent frames,
//! the reorder buffer and the queues, and asks the engine about each copy that the driver looks at.

mod acknowledgement;
mod backpressure;
mod bursts;
mod copies;
mod delivery;
mod hole_set;
#[cfg(test)]
mod many_at_once;
mod non_blocking;
mod ordered;
mod position;
mod receiver;
mod report;
mod sender;

pub use acknowledgement::{AckUpdate, Acknowledgement, SENDS_PER_UPDATE};
pub use backpressure::{Backpressure, PauseRequest, PauseState, Thresholds};
pub use bursts::{FORGOTTEN, Gaps, effective_loss, effective_loss_on_line};
pub use copies::{DEFAULT_TARGET_LOSS, MOST_COPIES, control_copies_under, copies_for, copies_under};
pub use delivery::Delivery;
pub use hole_set::HoleSet;
pub use non_blocking::NonBlocking;
pub use ordered::{AckNoTimeout, Ordered};
pub use position::Position;
pub use receiver::{Detection, LARGEST_HOLE, Notification, Receiver, ReceiverCounters};
pub use report::{OrderState, PausingState, ReceivingState, SendingState, TimerState};
pub use sender::{CopyFate, Sender, SenderConfig, SenderCounters};
