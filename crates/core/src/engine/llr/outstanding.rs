//! The frames that have been sent with a number and are not acknowledged: their sizes and times, not
//! the frames.

use super::{Number, SenderConfig};
use crate::time::Instant;
use crate::units::Bytes;
use alloc::collections::VecDeque;

/// An outstanding frame.
#[derive(Clone, Copy, Debug)]
struct Sent {
    bytes: Bytes,
    /// When the frame was first sent.
    at: Instant,
}

/// The outstanding frames of a sender, oldest first, within two bounds (LLR-2, LLR-4).
#[derive(Clone, Debug)]
pub(super) struct Outstanding {
    frames_max: usize,
    bytes_max: Bytes,
    frames: VecDeque<Sent>,
    oldest: Number,
    bytes: Bytes,
}

impl Outstanding {
    /// Returns an empty set with room for all frames that may be outstanding, so that nothing is
    /// allocated later.
    pub(super) fn new(config: &SenderConfig) -> Self {
        let frames_max = config.outstanding_frames_max as usize;
        Self {
            frames_max,
            bytes_max: config.outstanding_bytes_max,
            frames: VecDeque::with_capacity(frames_max),
            oldest: Number::ZERO,
            bytes: Bytes::ZERO,
        }
    }

    /// Returns the number of the oldest outstanding frame, or of the next frame when none is
    /// outstanding.
    #[inline]
    pub(super) const fn oldest(&self) -> Number {
        self.oldest
    }

    /// Returns the number that the next frame will take.
    #[inline]
    pub(super) fn next(&self) -> Number {
        self.oldest.plus(self.len())
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.frames.len() as u32
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Returns when the oldest outstanding frame was first sent.
    #[inline]
    pub(super) fn since(&self) -> Option<Instant> {
        self.frames.front().map(|sent| sent.at)
    }

    /// Whether a frame of `bytes` may be sent. A frame that exceeds the bound by itself is sent
    /// alone, because otherwise it would stop the link for good.
    #[inline]
    pub(super) fn has_room(&self, bytes: Bytes) -> bool {
        let fits = self.frames.len() < self.frames_max && self.bytes + bytes <= self.bytes_max;
        fits || self.is_empty()
    }

    /// Adds a frame that is sent. Returns its number.
    #[inline]
    pub(super) fn push(&mut self, at: Instant, bytes: Bytes) -> Number {
        let number = self.next();
        self.bytes += bytes;
        self.frames.push_back(Sent { bytes, at });
        number
    }

    /// Removes all frames up to and including `last_good`, which have arrived. Returns how many
    /// frames that frees, or `None` when `last_good` is neither outstanding nor the frame before
    /// (LLR-9).
    #[inline]
    pub(super) fn release(&mut self, last_good: Number) -> Option<u32> {
        let freed = last_good.next().steps_after(self.oldest);
        if freed > self.len() {
            return None;
        }
        for sent in self.frames.drain(..freed as usize) {
            self.bytes -= sent.bytes;
        }
        self.oldest = self.oldest.plus(freed);
        Some(freed)
    }

    /// Forgets all outstanding frames, and goes on at `next`. Returns how many frames were
    /// forgotten.
    pub(super) fn restart(&mut self, next: Number) -> u32 {
        let forgotten = self.len();
        self.frames.clear();
        (self.oldest, self.bytes) = (next, Bytes::ZERO);
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sizing;
    use super::*;
    use crate::time::Duration;
    use crate::units::BitRate;

    fn outstanding(frames: u32, bytes: u64) -> Outstanding {
        let sizing = Sizing {
            rate: BitRate::from_gbps(100),
            rate_back: BitRate::from_gbps(100),
            propagation: Duration::ZERO,
            pipeline: Duration::ZERO,
            frame: Bytes(1),
            spacing: Bytes(400),
        };
        let config = SenderConfig::sized(&sizing);
        let config = SenderConfig { outstanding_frames_max: frames, ..config };
        Outstanding::new(&SenderConfig { outstanding_bytes_max: Bytes(bytes), ..config })
    }

    // LLR-2, LLR-4
    #[test]
    fn the_bounds_hold_to_the_frame_and_to_the_byte() {
        let mut few = outstanding(2, 1_000_000);
        few.push(Instant::ZERO, Bytes(64));
        assert!(few.has_room(Bytes(64)));
        few.push(Instant::ZERO, Bytes(64));
        assert!(!few.has_room(Bytes(64)));
        let mut small = outstanding(100, 200);
        small.push(Instant::ZERO, Bytes(100));
        assert!(small.has_room(Bytes(100)) && !small.has_room(Bytes(101)));
    }

    // LLR-4
    #[test]
    fn a_frame_beyond_the_bound_goes_alone() {
        let mut small = outstanding(100, 200);
        assert!(small.has_room(Bytes(1518)));
        small.push(Instant::ZERO, Bytes(1518));
        assert!(!small.has_room(Bytes(64)));
    }

    // LLR-9
    #[test]
    fn only_what_is_outstanding_is_released() {
        let mut window = outstanding(8, 10_000);
        window.restart(Number::ZERO.previous());
        (0..4).for_each(|_| {
            window.push(Instant::ZERO, Bytes(100));
        });
        let last = Number::ZERO.previous();
        assert_eq!(window.release(last.previous()), Some(0));
        assert_eq!(window.release(last.previous().previous()), None);
        assert_eq!(window.release(Number::new(3)), None);
        assert_eq!((window.release(Number::ZERO), window.bytes()), (Some(2), Bytes(200)));
        assert_eq!((window.release(Number::new(2)), window.is_empty()), (Some(2), true));
        assert_eq!(window.next(), Number::new(3));
    }
}
