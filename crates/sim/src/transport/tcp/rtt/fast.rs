//! Samples of the round trip by a train of acknowledgements.

use super::{MINIMUM_WINDOW_US, RoundTrip, smoothed};
use crate::transport::tcp::clock::Clock;

impl RoundTrip {
    /// Whether there was a round-trip sample.
    pub(in crate::transport::tcp) const fn is_sampled(&self) -> bool {
        self.smoothed_8 > 0
    }

    /// Takes in one sample for each of a train of acknowledgements of `step` segments each, from `una` and `next` before the first.
    /// `sample` returns the samples in microseconds, one a call.
    #[inline(always)]
    pub(in crate::transport::tcp) fn sample_train(
        &mut self,
        acknowledgements: u32,
        step: u64,
        (mut una, mut next): (u64, u64),
        mut sample: impl FnMut() -> u64,
    ) {
        let mut left = u64::from(acknowledgements);
        while left > 0 {
            // The last of these samples may be the first beyond the end of the flight.
            let count = left.min(self.flight_end.saturating_sub(una) / step + 1);
            let (mut mean, mut most) = ((self.smoothed_8, self.deviation_4), 0);
            for _ in 0..count {
                mean = smoothed(mean, sample());
                most = most.max(mean.1);
            }
            (self.smoothed_8, self.deviation_4) = mean;
            (una, next, left) = (una + count * step, next + count * step, left - count);
            self.take_deviation(most, una, next - step);
        }
    }

    /// Whether samples of no less than `least_us` up to now could change the minimum filter.
    pub(in crate::transport::tcp) fn may_lower_minimum(&self, least_us: u64, clock: &Clock) -> bool {
        !self.minimum.is_kept(MINIMUM_WINDOW_US, clock.micros(), least_us)
    }
}
