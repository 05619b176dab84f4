//! Pacing: packets leave no faster than the congestion control says (Linux's internal pacing), nor than
//! the host's stack makes them.

#[cfg(feature = "fast")]
mod fast;

use super::timers::SenderTimer;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};

/// Picoseconds in a second.
const PS_PER_S: u128 = 1_000_000_000_000;
/// Number of packets of a connection that leave unpaced (Linux: the first ten).
const UNPACED: u64 = 10;

/// The time at which the next packet may leave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    /// The greatest rate at which the host's stack hands payload down; `None` if the stack is never the
    /// limit.
    stack_rate: Option<BitRate>,
    free_at: Instant,
    timer: Option<Instant>,
}

impl Pacing {
    /// Returns the pacing of a host whose stack hands down `stack_rate` at most.
    pub(super) const fn new(stack_rate: Option<BitRate>) -> Self {
        Self { stack_rate, free_at: Instant::ZERO, timer: None }
    }

    /// Returns when the next packet may leave, microseconds.
    pub(super) fn free_at_us(&self) -> u64 {
        self.free_at.as_ps() / 1_000_000
    }

    /// Whether the next packet must wait; arms the timer if so.
    #[inline]
    pub(super) fn holds_back(&mut self, now: Instant) -> bool {
        let waits = self.free_at > now;
        if waits && self.timer.is_none() {
            self.timer = Some(self.free_at);
        }
        waits
    }

    /// Notes that a data packet of `payload` bytes leaves, the last of `sent` segments. The next packet
    /// waits for its turn at the congestion control's `rate`, bytes per second, and at that of the
    /// stack.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Instant, payload: u32, rate: Option<u64>, sent: u64) {
        if let Some(rate) = rate.filter(|&rate| rate > 0 && sent > UNPACED) {
            let span = u128::from(payload) * PS_PER_S / u128::from(rate);
            self.leave(now, Duration::from_ps(span as u64));
        }
        if let Some(rate) = self.stack_rate {
            self.occupy(now, Bytes(u64::from(payload)) / rate);
        }
    }

    /// Returns the timer, if a packet waits for it.
    pub(super) fn timer(&self) -> Option<SenderTimer> {
        self.timer.map(SenderTimer::Pacing)
    }

    /// Returns when the packet that waits may leave; [`Instant::NEVER`] if none waits.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.timer.unwrap_or(Instant::NEVER)
    }

    /// Notes that no packet waits any more.
    pub(super) const fn disarm(&mut self) {
        self.timer = None;
    }

    /// Lets a packet leave now that takes `span` at the pacing rate. (TCP-58)
    ///
    /// Unused time since the next packet was first free to leave is credited, up to half of `span`.
    fn leave(&mut self, now: Instant, span: Duration) {
        let credit = now.saturating_since(self.free_at);
        self.free_at = self.free_at.max(now) + (span - credit.min(span / 2));
    }

    /// Lets a packet leave now that occupies the stack for `span`. (TCP-61)
    ///
    /// The stack cannot work in advance, so no unused time is credited.
    fn occupy(&mut self, now: Instant, span: Duration) {
        self.free_at = self.free_at.max(now + span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_ms(1);

    /// TCP-58
    #[test]
    fn packets_keep_their_distance() {
        let mut pacing = Pacing::default();
        let at = |ms| Instant::ZERO + MS * ms;
        pacing.leave(at(5), MS * 2);
        assert_eq!(pacing.free_at, at(6), "half of it was credited");
        pacing.leave(at(6), MS * 2);
        assert_eq!(pacing.free_at, at(8));
        pacing.leave(at(9), MS * 4);
        assert_eq!(pacing.free_at, at(12), "a late timer does not lower the rate");
    }

    /// TCP-58: a megabyte a second from the eleventh segment on; a packet that waits arms the timer.
    #[test]
    fn the_first_ten_segments_leave_unpaced() {
        let mut pacing = Pacing::default();
        let start = Instant::ZERO + MS * 100;
        pacing.note_sent(start, 2_000, Some(1_000_000), 10);
        assert!(!pacing.holds_back(start));
        pacing.note_sent(start, 2_000, Some(1_000_000), 11);
        assert!(pacing.holds_back(start));
        let due = start + MS;
        assert_eq!(pacing.timer(), Some(SenderTimer::Pacing(due)), "half of it was credited");
        assert!(!pacing.holds_back(due));
    }

    /// TCP-61
    #[test]
    fn a_stack_works_on_one_packet_after_another() {
        let mut pacing = Pacing::default();
        let at = |ms| Instant::ZERO + MS * ms;
        pacing.occupy(at(5), MS * 2);
        assert_eq!(pacing.free_at, at(7), "an idle stack has not worked in advance");
        pacing.occupy(at(7), MS * 2);
        assert_eq!(pacing.free_at, at(9));
        pacing.leave(at(9), MS * 4);
        pacing.occupy(at(9), MS * 2);
        assert_eq!(pacing.free_at, at(13), "the slower of the two counts");
    }
}
