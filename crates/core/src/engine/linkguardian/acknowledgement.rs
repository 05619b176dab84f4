//! The receiver's acknowledgement register: what to tell the sender, and how often (LG-15..17).

use super::Position;

/// How often one state of the register is sent (LG-15).
pub const SENDS_PER_UPDATE: u8 = 2;

/// What a received frame does to the register. The driver applies it when the frame reaches the
/// register, which on a switch is half a microsecond after the decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckUpdate {
    /// Nothing changes.
    #[default]
    None,
    /// Every position up to this one has arrived or been asked for (LG-15).
    Advance(Position),
    /// A loss notification carries this position itself: no acknowledgement may follow that
    /// could overtake it (LG-16).
    Notified(Position),
}

/// The register: a leading position and how many more times it is to be sent.
#[derive(Clone, Debug, Default)]
pub struct Acknowledgement {
    leading: Position,
    pending: u8,
}

impl Acknowledgement {
    /// Applies what a frame did.
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

    /// How many sendings are due.
    pub const fn pending(&self) -> u8 {
        self.pending
    }

    /// Whether a sending is due.
    pub const fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// The position that would be sent.
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
