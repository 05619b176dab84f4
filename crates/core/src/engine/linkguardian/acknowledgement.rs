//! The receiver's acknowledgement register: the position to acknowledge, and how often it is sent
//! (LG-15..17).

use super::Position;

/// How often one state of the acknowledgement register is sent (LG-15).
pub const SENDS_PER_UPDATE: u8 = 2;

/// The change that a received frame makes to the acknowledgement register. The driver applies the
/// change when the frame reaches the register, which on a switch is half a microsecond after the
/// decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckUpdate {
    /// The register stays as it is.
    #[default]
    None,
    /// Every position up to this one has arrived or been asked for (LG-15).
    Advance(Position),
    /// A loss notification carries this position itself. No acknowledgement may follow that could
    /// overtake the notification (LG-16).
    Notified(Position),
}

/// The acknowledgement register: a leading position, and how many more times the position is to be
/// sent.
#[derive(Clone, Debug, Default)]
pub struct Acknowledgement {
    leading: Position,
    pending: u8,
}

impl Acknowledgement {
    /// Applies the change that a received frame makes.
    #[inline]
    pub fn apply(&mut self, update: AckUpdate) {
        match update {
            AckUpdate::None => {}
            AckUpdate::Advance(position) => {
                self.leading = position;
                self.pending = SENDS_PER_UPDATE;
            }
            AckUpdate::Notified(position) => {
                self.leading = position;
                self.pending = 0;
            }
        }
    }

    /// Takes one sending of the register, if any is due: the body of an explicit ACK, or of the
    /// three bytes that ride on a frame toward the sender (LG-17).
    #[inline]
    pub fn poll(&mut self) -> Option<Position> {
        self.pending = self.pending.checked_sub(1)?;
        Some(self.leading)
    }

    /// Returns how many sendings of the register are due.
    pub const fn pending(&self) -> u8 {
        self.pending
    }

    /// Whether a sending of the register is due.
    pub const fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// Returns the position that would be sent.
    pub const fn leading(&self) -> Position {
        self.leading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LG-15, LG-17
    #[test]
    fn an_update_is_sent_twice() {
        let mut register = Acknowledgement::default();
        let position = Position::new(9, false);
        register.apply(AckUpdate::Advance(position));
        assert_eq!(register.poll(), Some(position));
        assert_eq!(register.poll(), Some(position));
        assert_eq!(register.poll(), None);
    }

    // LG-16
    #[test]
    fn a_notification_silences_the_register() {
        let mut register = Acknowledgement::default();
        register.apply(AckUpdate::Advance(Position::new(9, false)));
        register.apply(AckUpdate::Notified(Position::new(11, false)));
        assert!(!register.is_pending());
        assert_eq!(register.poll(), None);
        assert_eq!(register.leading(), Position::new(11, false));
    }
}
