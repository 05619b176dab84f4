//! Random links and random traffic: every option, losses in both directions, queues and buffers of all sizes.

use crate::config::{SwitchProfile, switch_profile};
use crate::net::linkguardian::fast::FastLinkGuardianLink;
use crate::net::linkguardian::{Counters, HEADER_OCTETS, LinkGuardianLink, Options, RetransmissionDelay};
use crate::net::{Advice, Ecn, Frame, LineRate, LineRates, ProtectedLink};
use lossylink_core::engine::linkguardian::{Position, SenderConfig};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::{Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use proptest::prelude::*;

/// Either model of the link, with the methods that the tests call.
pub(super) trait Model: ProtectedLink<u64> + Sized {
    fn build(
        profile: &SwitchProfile,
        rates: LineRates,
        options: &Options,
        losses: (LossProcess, LossProcess),
        phases: &mut Stream,
    ) -> Self;
    fn counters(&mut self, now: Instant) -> Counters;
    fn delays(&self) -> &RetransmissionDelay;
    fn next_position(&self) -> Position;
    fn synchronise(&mut self, now: Instant, position: Position);
}

macro_rules! model {
    ($link:ident) => {
        impl Model for $link<u64> {
            fn build(
                profile: &SwitchProfile,
                rates: LineRates,
                options: &Options,
                losses: (LossProcess, LossProcess),
                phases: &mut Stream,
            ) -> Self {
                Self::new(profile, rates, Duration::ZERO, options, losses, phases)
            }

            fn counters(&mut self, now: Instant) -> Counters {
                self.counters(now)
            }

            fn delays(&self) -> &RetransmissionDelay {
                self.retransmission_delay()
            }

            fn next_position(&self) -> Position {
                self.next_position()
            }

            fn synchronise(&mut self, now: Instant, position: Position) {
                self.synchronise(now, position);
            }
        }
    };
}
model!(LinkGuardianLink);
model!(FastLinkGuardianLink);

/// The two models of one link.
pub(super) type Twins = (FastLinkGuardianLink<u64>, LinkGuardianLink<u64>);

/// The mean length of a burst of losses that lasts a time: some frames at 100 Gb/s.
pub(super) const FADE: Duration = Duration::from_ns(400);

/// A link on which frames come in long runs, and losses are rare.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) profile: &'static str,
    pub(super) gbps: u64,
    /// The rate of the way back, in percent of `gbps`.
    pub(super) back_percent: u64,
    pub(super) options: Options,
    /// Whether buffers and thresholds are so small that frames are dropped and the sender is paused.
    pub(super) tight: bool,
    /// Whether the queue is so small that frames are dropped, and marked if they can be.
    pub(super) narrow: bool,
    pub(super) losses: (f64, f64),
    /// Whether losses come in bursts whose length is a time.
    pub(super) fades: bool,
    pub(super) seed: u64,
}

pub(super) fn options() -> impl Strategy<Value = Options> {
    let caps = prop::sample::select(vec![Some(1), Some(SenderConfig::PUBLISHED_HOLE_CAP), None]);
    (1u8..4, 0u8..4, caps, 1u8..4, any::<(bool, bool, bool)>()).prop_map(
        |(copies, dummies, hole_cap, control_copies, (ordered, backpressure, deduplicate))| Options {
            sender: SenderConfig { copies, dummies, hole_cap },
            control_copies,
            ordered,
            backpressure,
            deduplicate,
        },
    )
}

pub(super) fn worlds() -> impl Strategy<Value = World> {
    let profile = prop_oneof![4 => Just("tofino1"), 1 => Just("ideal"), 1 => Just("reorder-memory")];
    let gbps = prop::sample::select(vec![1, 10, 25, 100, 100, 400, 800]);
    let rates = (gbps, prop_oneof![2 => Just(100u64), 1 => 1u64..200]);
    let losses = || prop::sample::select(vec![0.0, 0.001, 0.003, 0.01, 0.05, 0.3]);
    let limits = any::<(bool, bool, bool)>();
    (profile, rates, options(), limits, (losses(), losses()), 0u64..1_000_000).prop_map(
        |(profile, (gbps, back_percent), options, (tight, narrow, fades), losses, seed)| World {
            profile,
            gbps,
            back_percent,
            options,
            tight,
            narrow,
            losses,
            fades,
            seed,
        },
    )
}

impl World {
    pub(super) fn rate(&self) -> LineRate {
        LineRate::new(BitRate::from_gbps(self.gbps))
    }

    pub(super) fn link<L: Model>(&self) -> L {
        let mut profile = switch_profile(self.profile);
        if self.tight {
            (profile.rx_buffer_max_bytes, profile.tx_buffer_max_bytes) = (120_000, 40_000);
            for threshold in &mut profile.threshold {
                (threshold.resume_bytes, threshold.pause_bytes) = (7_920, 8_000);
            }
        }
        if self.narrow {
            (profile.queue_bytes, profile.ecn_threshold_bytes) = (40_000, 6_000);
        }
        let streams = Streams::new(self.seed);
        let model = |p: f64| {
            let clear = Duration::from_ns_f64(FADE.as_ns_f64() * (1.0 - p) / p);
            if self.fades && p > 0.0 { LossModel::fades(clear, FADE) } else { LossModel::bernoulli(p) }
        };
        let loss = |name, p| LossProcess::new(&model(p).unwrap(), streams.stream(name));
        let losses = (loss("forward", self.losses.0), loss("back", self.losses.1));
        let phases = &mut streams.stream("phases");
        let back = BitRate::from_bps(self.gbps * self.back_percent * 10_000_000);
        let rates = LineRates { forward: self.rate(), back: LineRate::new(back) };
        L::build(&profile, rates, &self.options, losses, phases)
    }
}

/// Equal frames after a wait. Each comes a little sooner or later than the line is done with the frame before, or all come at once.
/// Some bursts go back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    pub(super) wait_ns: u64,
    pub(super) bytes: u32,
    pub(super) count: u64,
    pub(super) pace: Pace,
    pub(super) ecn: Ecn,
    pub(super) goes_back: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    AtOnce,
    LineRate { offset_ps: i64 },
    Percent(u64),
}

pub(super) fn bursts() -> impl Strategy<Value = Vec<Burst>> {
    let pace = prop_oneof![
        Just(Pace::AtOnce),
        (-1i64..=1).prop_map(|offset_ps| Pace::LineRate { offset_ps }),
        (80u64..200).prop_map(Pace::Percent),
    ];
    // Frames of 74 bytes fill little more than half of their cells, so that a queue of them holds more bytes than one of others.
    let bytes = prop_oneof![2 => Just(1514u32), 1 => Just(60), 1 => Just(74), 1 => 60u32..1515];
    let count = prop_oneof![1u64..8, 8u64..100, 100u64..400];
    let ecn = prop_oneof![3 => Just(Ecn::NotCapable), 1 => Just(Ecn::Capable)];
    let burst = (0u64..3000, bytes, count, pace, ecn, 0u8..6);
    let burst = burst.prop_map(|(wait_ns, bytes, count, pace, ecn, way)| {
        let count = if way == 0 { count % 16 } else { count };
        Burst { wait_ns, bytes, count, pace, ecn, goes_back: way == 0 }
    });
    let small = (0u64..400, 60u32..1515, 0u8..8).prop_map(|(wait_ns, bytes, way)| Burst {
        wait_ns: if way == 0 { 20 * wait_ns } else { wait_ns },
        bytes,
        count: 1,
        pace: Pace::AtOnce,
        ecn: Ecn::NotCapable,
        goes_back: way == 1,
    });
    prop_oneof![2 => prop::collection::vec(burst, 1..8), 1 => prop::collection::vec(small, 1..200)]
}

/// An action of the link's owner between two turns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Nothing,
    /// Asks the protection to leave (LG-36).
    Leave,
    /// Switches the protection on again, with this advice.
    Protect(Advice),
    /// Starts both ends over, few enough positions ahead that nothing in flight is ahead of them (LG-30).
    Synchronise(u32),
}

pub(super) fn actions() -> impl Strategy<Value = Vec<Action>> {
    let advice = (1u8..4, 1u8..4).prop_map(|(copies, control_copies)| Advice { copies, control_copies });
    let action = prop_oneof![
        12 => Just(Action::Nothing),
        2 => Just(Action::Leave),
        2 => advice.prop_map(Action::Protect),
        1 => prop_oneof![0u32..3, 0u32..200].prop_map(Action::Synchronise),
    ];
    prop_oneof![1 => Just(vec![Action::Nothing]), 1 => prop::collection::vec(action, 1..20)]
}

impl Action {
    /// Takes the action. Returns whether the protection has left.
    pub(super) fn on(self, link: &mut impl Model, now: Instant) -> bool {
        match self {
            Self::Nothing => false,
            Self::Leave => link.leave(now),
            Self::Protect(advice) => {
                link.protect(now, advice);
                false
            }
            Self::Synchronise(ahead) => {
                link.synchronise(now, link.next_position().plus(ahead));
                false
            }
        }
    }
}

/// Returns the frames of these bursts, each with the time at which it comes and whether it goes back.
pub(super) fn frames_of(bursts: &[Burst], rate: LineRate) -> Vec<(Instant, bool, Frame<u64>)> {
    let (mut at, mut frames) = (Instant::ZERO, Vec::new());
    for burst in bursts {
        at += Duration::from_ns(burst.wait_ns);
        let frame = |number| Frame::of_frame_bytes(burst.bytes, burst.ecn, number);
        let line = rate.serialisation(frame(0).octets + HEADER_OCTETS).as_ps();
        let apart = match burst.pace {
            Pace::AtOnce => 0,
            Pace::LineRate { offset_ps } => line.saturating_add_signed(offset_ps),
            Pace::Percent(percent) => line * percent / 100,
        };
        for _ in 0..burst.count {
            frames.push((at, burst.goes_back, frame(frames.len() as u64)));
            at += Duration::from_ps(apart);
        }
    }
    frames
}

/// The length of a turn: a time, or up to a time close to the arrival of a frame, some frames from now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    Time(u64),
    Frame { ahead: usize, offset_ps: i8 },
}

pub(super) fn reaches() -> impl Strategy<Value = Vec<Reach>> {
    let reach = prop_oneof![
        2 => (100u64..2_000).prop_map(Reach::Time),
        2 => (2_000u64..100_000).prop_map(Reach::Time),
        3 => (0usize..100, -1i8..=1).prop_map(|(ahead, offset_ps)| Reach::Frame { ahead, offset_ps }),
    ];
    prop::collection::vec(reach, 1..20)
}

impl Reach {
    /// Returns the end of a turn that begins at `now`, after which these frames come.
    pub(super) fn end(self, now: Instant, mut frames: impl Iterator<Item = Instant>) -> Instant {
        let (ns, near) = match self {
            Self::Time(ns) => (ns, None),
            Self::Frame { ahead, offset_ps } => (1000, frames.nth(ahead).zip(Some(offset_ps))),
        };
        let near = near.map(|(at, offset)| Instant::from_ps(at.as_ps().saturating_add_signed(offset.into())));
        near.map_or(now + Duration::from_ns(ns), |near| near.max(now + Duration::from_ps(1)))
    }
}
