//! A protected link at 100G with a clock, for dialogues with explicit times.

use crate::profiles::profile;
use lossylink_core::engine::linkguardian::SenderConfig;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::linkguardian::{Counters, Options};
use lossylink_sim::net::{Ecn, Frame, LineRate, LinkGuardianLink, ProtectedLink};

/// Returns a time in nanoseconds, exact to the picosecond.
pub(crate) fn ns(ns: f64) -> Instant {
    Instant::from_ps((ns * 1000.0).round() as u64)
}

/// Options with one copy, no dummies, the published cap, and order without backpressure.
pub(crate) const ORDERED: Options = Options {
    sender: SenderConfig { copies: 1, dummies: 0, hole_cap: Some(5) },
    control_copies: 1,
    ordered: true,
    backpressure: false,
    deduplicate: true,
};

/// Options with one copy, no dummies, the published cap, and no order.
pub(crate) const NON_BLOCKING: Options = Options { ordered: false, ..ORDERED };

/// Two switches, the link between them, and a clock. Frames are full frames: with the header 1541
/// octets, which take 123.28 ns.
pub(crate) struct Pair {
    pub(crate) link: LinkGuardianLink<u64>,
    now: Instant,
    offered: u64,
    delivered: Vec<(u64, Instant)>,
}

impl Pair {
    /// Returns two switches of a profile of this repository. The given frames on the forward and on
    /// the reverse wire are lost, counted from zero in the order in which they are sent.
    pub(crate) fn new(name: &str, options: Options, forward: &[u64], reverse: &[u64]) -> Self {
        Self::with_profile(&profile(name), options, forward, reverse)
    }

    pub(crate) fn with_profile(
        profile: &SwitchProfile,
        options: Options,
        forward: &[u64],
        reverse: &[u64],
    ) -> Self {
        let streams = Streams::new(1);
        let loss = |lost: &[u64]| {
            let model = if lost.is_empty() { Ok(LossModel::None) } else { LossModel::at(lost.to_vec()) };
            LossProcess::new(&model.expect("positions differ"), streams.stream("unused"))
        };
        let link = LinkGuardianLink::new(
            profile,
            LineRate::new(BitRate::from_gbps(100)),
            Duration::ZERO,
            &options,
            (loss(forward), loss(reverse)),
            &mut streams.stream("phases"),
        );
        Self { link, now: Instant::ZERO, offered: 0, delivered: Vec::new() }
    }

    /// Offers the next frame at `at`.
    pub(crate) fn offer(&mut self, at: Instant) {
        self.run_until(at);
        self.link.offer(at, Frame::of_frame_bytes(1514, Ecn::NotCapable, self.offered));
        self.offered += 1;
    }

    /// Offers `count` frames, one each `period_ns` from `first_ns` on.
    pub(crate) fn offer_each(&mut self, count: u64, first_ns: f64, period_ns: f64) {
        (0..count).for_each(|step| self.offer(ns(first_ns + step as f64 * period_ns)));
    }

    /// Offers `count` frames of `frame_bytes` to the far switch, on their way back at `at`,
    /// numbered from zero.
    pub(crate) fn offer_back(&mut self, count: u64, frame_bytes: u32, at: Instant) {
        self.run_until(at);
        (0..count).for_each(|number| {
            self.link.offer_back(at, Frame::of_frame_bytes(frame_bytes, Ecn::NotCapable, number));
        });
    }

    /// Lets every event happen up to and including `end`.
    pub(crate) fn run_until(&mut self, end: Instant) {
        while self.link.poll_timeout() <= end && !self.link.poll_timeout().is_never() {
            self.now = self.link.poll_timeout();
            self.link.advance(self.now);
        }
        if !end.is_never() {
            self.now = end;
        }
        while let Some((at, frame)) = self.link.delivered().pop_due(end) {
            self.delivered.push((frame.payload, at));
        }
    }

    /// Lets every event happen. Returns when each frame from `first` on was delivered, in order.
    pub(crate) fn finish(&mut self, first: u64) -> Vec<(u64, Instant)> {
        self.run_until(Instant::NEVER);
        self.delivered.iter().copied().filter(|&(number, _)| number >= first).collect()
    }

    pub(crate) fn counters(&mut self) -> Counters {
        self.link.counters(self.now)
    }

    /// Returns the number of copies kept at `at`.
    pub(crate) fn copies_at(&mut self, at: Instant) -> usize {
        self.run_until(at);
        self.link.copies_held(at)
    }
}

/// Returns the expected deliveries, whose times are given in nanoseconds.
pub(crate) fn at_ns(deliveries: &[(u64, f64)]) -> Vec<(u64, Instant)> {
    deliveries.iter().map(|&(number, at)| (number, ns(at))).collect()
}
