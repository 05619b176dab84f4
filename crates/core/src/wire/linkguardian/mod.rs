//! LinkGuardian's headers, right after the Ethernet header of a frame with EtherType 0xABCD.
//!
//! The first two bits tell the kind of a header. The bit layouts are those of the authors'
//! published switch program. The bytes behind a header are laid out in our own way, because the
//! published program carries nothing but IPv4 (see [`LinkGuardianFrame`]). Left out: the two tags
//! that exist only inside a switch, in front of frames that circulate in the sender's and the
//! receiver's recirculation loops.

mod ack;
mod data;
mod frame;
mod notification;

pub use ack::{AckHeader, AckView};
pub use data::{DataHeader, DataView};
pub use frame::{Content, LinkGuardianFrame};
pub use notification::{LossNotification, NotificationView};

/// Mask of the kind in a header's first byte (WIRE-4).
const KIND: u8 = 0b1100_0000;
/// Kind of a data header.
const KIND_DATA: u8 = 0b0000_0000;
/// Kind of an ACK header.
const KIND_ACK: u8 = 0b0100_0000;
/// Kind of a loss notification.
const KIND_NOTIFICATION: u8 = 0b1000_0000;

/// Reads the kind as the number that its two bits make, for messages.
fn kind_number(first: u8) -> u8 {
    first >> 6
}
