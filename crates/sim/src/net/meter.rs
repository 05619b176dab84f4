//! A meter in front of an encoder: a virtual queue that is served at the rate that the link can give.
//!
//! The meter charges all octets that the encoder sends for a frame, its parity included. So the meter lets in exactly the load
//! that the link can carry: for equal frames a share of k / (k + h) of the line rate. Drops and marks then reach the end hosts,
//! which slow down before parity and data fight for the real queue.

use super::{Ecn, LineRate};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};

/// The action of a meter on frames beyond its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterAction {
    /// Drops the frames.
    Police,
    /// Marks capable frames from the threshold on; drops other frames at the burst size.
    Mark {
        /// Bytes in the virtual queue from which capable frames are marked.
        threshold: Bytes,
    },
}

/// Parameters of a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterOptions {
    /// Rate of the virtual queue, in octets on the wire: the line rate, or a little less.
    pub rate: BitRate,
    /// Bytes that the virtual queue may hold.
    pub burst: Bytes,
    /// The action on frames that exceed the rate.
    pub action: MeterAction,
}

/// Bytes that a meter lets wait, as a share of the room in the queue behind the meter. More than a tenth would only be delay
/// (assumed; a switch's operator chooses it).
const BURST_SHARE: u64 = 10;
/// Bytes from which a meter marks, as a share of the burst (assumed).
const THRESHOLD_SHARE: u64 = 2;

impl MeterOptions {
    /// Returns a meter at the line rate in front of a queue of `queue` bytes. The meter marks frames if `marks`, and drops them
    /// otherwise.
    pub const fn usual(rate: BitRate, queue: Bytes, marks: bool) -> Self {
        let burst = Bytes(queue.0 / BURST_SHARE);
        let threshold = Bytes(burst.0 / THRESHOLD_SHARE);
        let action = if marks { MeterAction::Mark { threshold } } else { MeterAction::Police };
        Self { rate, burst, action }
    }
}

/// A meter with its counters.
#[derive(Clone, Debug)]
pub struct Meter {
    rate: LineRate,
    burst: Duration,
    threshold: Duration,
    /// The time at which the virtual queue will be empty.
    empty_at: Instant,
    dropped: u64,
    marked: u64,
}

impl Meter {
    /// Builds a meter whose virtual queue is empty.
    pub fn new(options: MeterOptions) -> Self {
        let threshold = match options.action {
            MeterAction::Police => Duration::MAX,
            MeterAction::Mark { threshold } => threshold / options.rate,
        };
        Self {
            rate: LineRate::new(options.rate),
            burst: options.burst / options.rate,
            threshold,
            empty_at: Instant::ZERO,
            dropped: 0,
            marked: 0,
        }
    }

    /// Admits a frame that arrives: returns its congestion marking from here on, or `None` when the frame is dropped.
    #[inline]
    pub fn admit(&mut self, now: Instant, ecn: Ecn) -> Option<Ecn> {
        let level = self.empty_at.saturating_since(now);
        if level >= self.threshold && ecn != Ecn::NotCapable {
            self.marked += u64::from(ecn == Ecn::Capable);
            return Some(Ecn::Experienced);
        }
        if level >= self.burst {
            self.dropped += 1;
            return None;
        }
        Some(ecn)
    }

    /// Charges `octets` that the encoder sends.
    #[inline]
    pub fn charge(&mut self, now: Instant, octets: u32) {
        self.empty_at = self.empty_at.max(now) + self.rate.serialisation(octets);
    }

    /// Returns how many frames were dropped.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns how many frames were marked.
    pub const fn marked(&self) -> u64 {
        self.marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OCTETS: u32 = 1538;

    fn meter(action: MeterAction) -> Meter {
        Meter::new(MeterOptions { rate: BitRate::from_gbps(10), burst: Bytes(3 * 1538), action })
    }

    /// Counts the frames that are admitted of `count` frames that come `gap_ns` apart.
    fn admitted(meter: &mut Meter, count: u64, gap_ns: u64) -> u64 {
        let frames = (0..count).map(|n| Instant::ZERO + Duration::from_ns(n * gap_ns));
        let admit = |now| {
            let admitted = meter.admit(now, Ecn::NotCapable).is_some();
            if admitted {
                meter.charge(now, OCTETS);
            }
            admitted
        };
        frames.map(admit).filter(|&admitted| admitted).count() as u64
    }

    // FEC-22: below the rate no frame is dropped; above it, the frames that exceed the rate and the burst.
    #[test]
    fn a_policer_passes_its_rate_and_a_burst() {
        // A frame of 1538 octets lasts 1230.4 ns at 10 Gb/s.
        assert_eq!(admitted(&mut meter(MeterAction::Police), 10_000, 1231), 10_000);
        let passed = admitted(&mut meter(MeterAction::Police), 10_000, 615);
        let at_rate = (10_000.0 * 615.0 / 1230.4) as u64;
        assert!((at_rate..=at_rate + 4).contains(&passed), "{passed} of {at_rate}");
    }

    // FEC-22
    #[test]
    fn marking_spares_those_that_can_be_marked() {
        let mut meter = meter(MeterAction::Mark { threshold: Bytes(1538) });
        let now = Instant::ZERO;
        assert_eq!(meter.admit(now, Ecn::Capable), Some(Ecn::Capable));
        (0..3).for_each(|_| meter.charge(now, OCTETS));
        assert_eq!(meter.admit(now, Ecn::Capable), Some(Ecn::Experienced));
        assert_eq!(meter.admit(now, Ecn::NotCapable), None);
        assert_eq!((meter.marked(), meter.dropped()), (1, 1));
    }
}
