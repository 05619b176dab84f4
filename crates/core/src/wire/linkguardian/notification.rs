//! The loss notification (WIRE-7): an ACK that asks for a run of lost frames.
//!
//! ```text
//!  0   1   2   3   4 ... 7   8 ...... 23   24 ..... 31   32 ........ 47
//! +-------+---+---+-------+-------------+-------------+----------------+
//! | 1   0 | 0 |era|  pad  | leading_ack |  hole_size  |   first_lost   |
//! +-------+---+---+-------+-------------+-------------+----------------+
//! ```
//!
//! The layout starts as an ACK's, but a notification is never piggy-backed.

use super::ack::{ERA, IS_PIGGYBACKED};
use super::{KIND, KIND_NOTIFICATION, kind_number};
use crate::wire::{WireError, be16, demand, put16, require};

const NAME: &str = "LinkGuardian loss notification";

/// Bytes that start with a loss notification.
#[derive(Clone, Copy, Debug)]
pub struct NotificationView<'a>(&'a [u8]);

impl<'a> NotificationView<'a> {
    /// Checks length, kind and that the hole is not empty, once.
    ///
    /// # Errors
    /// If the bytes are too short, start with another kind of header, claim to be piggy-backed or
    /// have an empty hole.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(NAME, bytes, LossNotification::LEN)?;
        demand(NAME, "type", kind_number(bytes[0]), bytes[0] & KIND == KIND_NOTIFICATION)?;
        demand(NAME, "is_piggybacked", 1u8, bytes[0] & IS_PIGGYBACKED == 0)?;
        demand(NAME, "hole_size", bytes[3], bytes[3] > 0)?;
        Ok(Self(bytes))
    }

    /// Returns the era of the leading ACK.
    pub fn era(self) -> bool {
        self.0[0] & ERA != 0
    }

    /// Returns the highest sequence number seen.
    pub fn leading_ack(self) -> u16 {
        be16(self.0, 1)
    }

    /// Returns how many frames are missing; 255 stands for 255 or more.
    pub fn hole_size(self) -> u8 {
        self.0[3]
    }

    /// Returns the sequence number of the first missing frame.
    pub fn first_lost(self) -> u16 {
        be16(self.0, 4)
    }
}

/// A loss notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LossNotification {
    /// The era of the leading ACK.
    pub era: bool,
    /// The highest sequence number seen.
    pub leading_ack: u16,
    /// Number of missing frames, never zero; 255 stands for 255 or more.
    pub hole_size: u8,
    /// Sequence number of the first missing frame.
    pub first_lost: u16,
}

impl LossNotification {
    /// Length in bytes.
    pub const LEN: usize = 6;

    /// Reads a notification, behind which there is only padding.
    ///
    /// # Errors
    /// If the bytes are too short, start with another kind of header, claim to be piggy-backed or
    /// have an empty hole.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let view = NotificationView::new_checked(bytes)?;
        Ok(Self {
            era: view.era(),
            leading_ack: view.leading_ack(),
            hole_size: view.hole_size(),
            first_lost: view.first_lost(),
        })
    }

    /// Writes the notification at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN), or the hole is empty.
    pub fn emit(&self, buffer: &mut [u8]) {
        assert!(self.hole_size > 0, "a loss notification asks for at least one frame");
        buffer[0] = KIND_NOTIFICATION | if self.era { ERA } else { 0 };
        put16(buffer, 1, self.leading_ack);
        buffer[3] = self.hole_size;
        put16(buffer, 4, self.first_lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: [u8; 6] = [0b1001_0000, 0x00, 0x02, 3, 0xff, 0xff];
    const NOTIFICATION: LossNotification =
        LossNotification { era: true, leading_ack: 2, hole_size: 3, first_lost: 65535 };

    // WIRE-7
    #[test]
    fn literal_bytes_are_read_and_written() {
        let mut buffer = [0xff; 6];
        NOTIFICATION.emit(&mut buffer);
        assert_eq!(buffer, BYTES);
        assert_eq!(LossNotification::parse(&BYTES), Ok(NOTIFICATION));
    }

    // WIRE-3, WIRE-4, WIRE-7
    #[test]
    fn malformed_bytes_are_refused() {
        let refuse = |place: usize, byte: u8| {
            let mut bytes = BYTES;
            bytes[place] = byte;
            LossNotification::parse(&bytes).unwrap_err()
        };
        let invalid = |field, value| WireError::Invalid { header: NAME, field, value };
        assert_eq!(refuse(0, 0x40), invalid("type", 1));
        assert_eq!(refuse(0, 0xa0), invalid("is_piggybacked", 1));
        assert_eq!(refuse(3, 0), invalid("hole_size", 0));
        for length in 0..LossNotification::LEN {
            let error = LossNotification::parse(&BYTES[..length]).unwrap_err();
            assert_eq!(error, WireError::Truncated { header: NAME, needed: 6, available: length });
        }
    }

    proptest! {
        #[test]
        fn notifications_round_trip(era: bool, leading_ack: u16, hole_size in 1u8.., first_lost: u16) {
            let notification = LossNotification { era, leading_ack, hole_size, first_lost };
            let mut buffer = [0; LossNotification::LEN];
            notification.emit(&mut buffer);
            prop_assert_eq!(LossNotification::parse(&buffer), Ok(notification));
        }
    }
}
