//! The depths of a link's buffers, sampled at equal distances. Of a long run fewer samples are kept.

use lossylink_core::time::{Duration, Instant};

/// Time between two samples, as published.
const PERIOD: Duration = Duration::from_ms(10);
/// The most samples that are kept, an even number: those of three hours.
const KEPT_MAX: usize = 1 << 20;

/// The depths of the buffers at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferSample {
    /// The time of the sample.
    pub at: Instant,
    /// Bytes in the Tx buffer.
    pub tx_bytes: u64,
    /// Bytes in the Rx buffer.
    pub rx_bytes: u64,
}

/// Samples at equal distances. Once there are too many samples, every second one is dropped, and the distances become
/// twice as long.
#[derive(Clone, Debug)]
pub struct BufferSamples {
    next: Instant,
    period: Duration,
    kept: Vec<BufferSample>,
}

impl BufferSamples {
    /// Returns the samples of a run that begins at `begin`, none so far.
    pub fn from(begin: Instant) -> Self {
        Self { next: begin + PERIOD, period: PERIOD, kept: Vec::new() }
    }

    /// Returns when the next sample is due.
    #[inline]
    pub const fn due(&self) -> Instant {
        self.next
    }

    /// Takes the sample that is due: the bytes in the Tx buffer and in the Rx buffer.
    #[cold]
    pub fn take(&mut self, (tx_bytes, rx_bytes): (u64, u64)) {
        let at = self.next;
        self.kept.push(BufferSample { at, tx_bytes, rx_bytes });
        if self.kept.len() == KEPT_MAX {
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.period = self.period * 2;
        }
        self.next = at + self.period;
    }

    /// Passes over the sample that is due.
    pub fn pass(&mut self) {
        self.next += self.period;
    }

    /// Returns the samples in their order.
    pub fn kept(&self) -> &[BufferSample] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million times 10 ms: then each second sample is left, at even multiples of 10 ms, and the next comes 20 ms later.
    #[test]
    fn a_long_run_keeps_every_second_sample() {
        let mut samples = BufferSamples::from(Instant::ZERO);
        let number_at = |at: Instant| (at - Instant::ZERO).as_ps() / PERIOD.as_ps();
        for _ in 1..KEPT_MAX {
            let number = number_at(samples.due());
            samples.take((number, 0));
        }
        assert_eq!(samples.kept().len(), KEPT_MAX - 1);
        samples.take((KEPT_MAX as u64, 0));
        assert_eq!(samples.kept().len(), KEPT_MAX / 2);
        samples.take((KEPT_MAX as u64 + 2, 0));
        for (index, sample) in samples.kept().iter().enumerate() {
            assert_eq!(sample.tx_bytes, 2 * (index as u64 + 1));
            assert_eq!(number_at(sample.at), sample.tx_bytes);
        }
    }
}
