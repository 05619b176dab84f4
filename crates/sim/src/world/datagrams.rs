//! Datagrams at a mean rate over a protected link: evenly spaced, or in bursts with pauses.
//!
//! Source: the UDP runs of Wharf's evaluation, 100 Mb/s from an iperf that paused up to 9 ms between
//! bursts. Answers of the receiver are left out.

use crate::measure::{Delays, SequenceCheck};
use crate::net::{Ecn, Frame, Payload, ProtectedLink};
use lossylink_core::time::{Duration, Instant};

/// A source of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramSource {
    /// Size of each frame, Ethernet header included and check sequence not.
    pub frame_bytes: u32,
    /// Number of frames that leave back to back; one for a smooth source.
    pub burst: u64,
    /// Time between the first frames of two bursts.
    pub period: Duration,
    /// Time between two frames of a burst.
    pub spacing: Duration,
}

impl DatagramSource {
    /// Returns when the frame with this number reaches the link.
    fn offered_at(&self, number: u64) -> Instant {
        Instant::ZERO + self.period * (number / self.burst) + self.spacing * (number % self.burst)
    }
}

/// The payload of a frame: its number, and the time when it reached the link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Datagram {
    number: u64,
    entered: Instant,
}

impl Payload for Datagram {}

/// A source of datagrams, a link, and a counter behind the link.
#[derive(Clone, Debug)]
pub struct Datagrams<L> {
    /// The link under test.
    pub link: L,
    source: DatagramSource,
    offered: u64,
    delays: Delays,
    delivered: SequenceCheck,
}

impl<L: ProtectedLink<Datagram>> Datagrams<L> {
    /// Returns a world at time zero.
    pub fn new(link: L, source: DatagramSource) -> Self {
        let (delays, delivered) = (Delays::default(), SequenceCheck::default());
        Self { link, source, offered: 0, delays, delivered }
    }

    /// Handles all events up to and including `end`.
    pub fn run_until(&mut self, end: Instant) {
        loop {
            let next = self.source.offered_at(self.offered);
            if next > end {
                break;
            }
            self.advance(next);
            let datagram = Datagram { number: self.offered, entered: next };
            let frame = Frame::of_frame_bytes(self.source.frame_bytes, Ecn::NotCapable, datagram);
            self.link.offer(next, frame);
            self.offered += 1;
        }
        self.advance(end);
    }

    /// Returns the times that frames took across the link.
    pub const fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Returns the counters of order and uniqueness of the delivered frames.
    pub const fn delivered(&self) -> &SequenceCheck {
        &self.delivered
    }

    /// Returns the source of the datagrams.
    pub const fn source(&self) -> &DatagramSource {
        &self.source
    }

    fn advance(&mut self, until: Instant) {
        self.link.advance(until);
        let Self { link, delays, delivered, .. } = self;
        link.delivered().drain_due(until, |at, frame| {
            delivered.note(frame.payload.number);
            delays.add(at - frame.payload.entered);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_have_pauses_between_them() {
        let us = Duration::from_us;
        let source = DatagramSource { frame_bytes: 1514, burst: 3, period: us(100), spacing: us(2) };
        let times: Vec<_> = (0..5).map(|number| source.offered_at(number) - Instant::ZERO).collect();
        assert_eq!(times, [us(0), us(2), us(4), us(100), us(102)]);
    }
}
