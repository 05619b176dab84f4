//! A store-and-forward hop that decides nothing: it is computed by arithmetic and has no events.

#[cfg(feature = "fast")]
mod fast;

use super::{Frame, LineRate};
use lossylink_core::time::{Duration, Instant};

/// A FIFO port with a fixed delay behind it. A frame that arrives at `t` leaves when the frames
/// before it have left, and reaches the next element after its serialisation and the delay.
#[derive(Clone, Debug)]
pub struct Hop {
    rate: LineRate,
    delay: Duration,
    limit: Duration,
    busy_until: Instant,
    /// The time at which the train that was foreseen last would have been sent.
    #[cfg(feature = "fast")]
    foreseen: Instant,
    /// The longest that a frame of the train that was foreseen last would have taken to be sent.
    #[cfg(feature = "fast")]
    foreseen_longest: Duration,
    /// The longest that any frame took to be sent: the frames in front of it, and itself.
    longest: Duration,
    dropped: u64,
}

impl Hop {
    /// Builds a hop with room for `limit_bytes` that have not been serialised yet.
    pub fn new(rate: LineRate, delay: Duration, limit_bytes: u64) -> Self {
        let limit = lossylink_core::units::Bytes(limit_bytes) / rate.bit_rate();
        Self {
            rate,
            delay,
            limit,
            busy_until: Instant::ZERO,
            #[cfg(feature = "fast")]
            foreseen: Instant::ZERO,
            #[cfg(feature = "fast")]
            foreseen_longest: Duration::ZERO,
            longest: Duration::ZERO,
            dropped: 0,
        }
    }

    /// Returns when a frame that arrives at `now` reaches the next element; `None` if the queue is full.
    #[inline]
    pub fn pass<P>(&mut self, now: Instant, frame: &Frame<P>) -> Option<Instant> {
        let serialised = now.max(self.busy_until) + self.rate.serialisation(frame.octets);
        if serialised - now > self.limit {
            self.dropped += 1;
            return None;
        }
        self.busy_until = serialised;
        self.longest = self.longest.max(serialised - now);
        Some(serialised + self.delay)
    }

    /// Returns when a frame that arrives at `now` leaves, and when it reaches the next element.
    pub fn pass_from<P>(&mut self, now: Instant, frame: &Frame<P>) -> Option<(Instant, Instant)> {
        let start = now.max(self.busy_until);
        self.pass(now, frame).map(|arrival| (start, arrival))
    }

    /// Returns the hop as it was before any frame passed.
    pub fn at_rest(&self) -> Self {
        Self {
            busy_until: Instant::ZERO,
            #[cfg(feature = "fast")]
            foreseen: Instant::ZERO,
            #[cfg(feature = "fast")]
            foreseen_longest: Duration::ZERO,
            longest: Duration::ZERO,
            dropped: 0,
            ..*self
        }
    }

    /// Returns the time that a frame of `octets` takes if it finds the port idle.
    pub fn time_of(&self, octets: u32) -> Duration {
        self.rate.serialisation(octets) + self.delay
    }

    /// Whether the queue has room for a frame of `octets`.
    pub fn has_room_for(&self, octets: u32) -> bool {
        self.rate.serialisation(octets) <= self.limit
    }

    /// Returns the time that a frame takes beyond its serialisation.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns when the line has sent all accepted frames.
    pub const fn busy_until(&self) -> Instant {
        self.busy_until
    }

    /// Returns the most octets that ever stood in the queue, with the frame that was being sent counted whole.
    pub fn high_water_bytes(&self) -> u64 {
        (self.rate.bit_rate() * self.longest).0
    }

    /// Returns how many frames were dropped because the queue was full.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Ecn;
    use lossylink_core::units::BitRate;

    #[test]
    fn frames_queue_behind_each_other() {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let mut hop = Hop::new(rate, Duration::from_ns(1), 3 * 1538);
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, ());
        let arrivals: Vec<_> = (0..4).map(|_| hop.pass(Instant::ZERO, &frame)).collect();
        let at = |ps| Some(Instant::from_ps(ps));
        assert_eq!(arrivals, [at(124_040), at(247_080), at(370_120), None]);
        assert_eq!((hop.dropped(), hop.high_water_bytes()), (1, 3 * 1538));
    }
}
