//! One end's part of the handshake: the packet of that end leaves, again and again, until the other
//! end answers.

/// The stage of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Closed,
    Waiting,
    Established,
}

/// The handshake of one end: the sender's requests, or the receiver's answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    stage: Stage,
    /// The time when this end's packet last left, microseconds, and how often it left.
    sent_at_us: u64,
    sent: u32,
}

impl Handshake {
    pub(super) const fn new() -> Self {
        Self { stage: Stage::Closed, sent_at_us: 0, sent: 0 }
    }

    /// Notes that this end's packet leaves, for the first time or again. (TCP-1)
    pub(super) fn note_sent(&mut self, now_us: u64) {
        self.stage = Stage::Waiting;
        self.sent_at_us = now_us;
        self.sent += 1;
    }

    /// Ends the handshake: the other end answered, and the connection stands. (TCP-2)
    ///
    /// Returns the round trip in microseconds, which a repeated packet does not give. (TCP-3)
    pub(super) fn complete(&mut self, now_us: u64) -> Option<u64> {
        self.stage = Stage::Established;
        (self.sent == 1).then(|| now_us - self.sent_at_us)
    }

    /// Skips the handshake: the connection stands, because it served an earlier flow.
    pub(super) fn skip(&mut self) {
        self.stage = Stage::Established;
    }

    /// Whether no packet of the handshake was sent yet.
    pub(super) fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// Whether the other end has yet to answer.
    pub(super) fn is_waiting(&self) -> bool {
        self.stage == Stage::Waiting
    }

    /// Whether the connection stands.
    pub(super) fn is_established(&self) -> bool {
        self.stage == Stage::Established
    }

    /// Whether two packets or more were lost: the path is taken for congested. (TCP-3)
    pub(super) const fn was_lossy(&self) -> bool {
        self.sent > 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-3
    #[test]
    fn only_a_handshake_without_repetition_gives_a_round_trip() {
        let mut handshake = Handshake::new();
        assert!(handshake.is_closed());
        handshake.note_sent(100);
        assert!(handshake.is_waiting());
        assert_eq!(handshake.complete(130), Some(30));
        assert!(handshake.is_established());
        let mut repeated = Handshake::new();
        repeated.note_sent(100);
        repeated.note_sent(1_000_100);
        assert!(!repeated.was_lossy(), "the first may only be late");
        assert_eq!(repeated.complete(1_000_130), None);
        repeated.note_sent(3_000_100);
        assert!(repeated.was_lossy());
    }
}
