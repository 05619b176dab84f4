//! One direction of a lossy wire, which decides which frames are corrupted, and counts the frames that it carries.

#[cfg(feature = "fast")]
mod fast;

use super::frame::GAP_OCTETS;
use lossylink_core::loss::{LossProcess, Stake};
use lossylink_core::time::Instant;

/// Counts of the frames and octets that one direction of the link has carried, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Frames of every kind put on the wire.
    pub frames: u64,
    /// Frames of every kind that were corrupted.
    pub lost: u64,
    /// Data frames, first transmissions.
    pub data_frames: u64,
    /// Data frames corrupted in their first transmission.
    pub data_lost: u64,
    /// Octets of data frames without the protection's headers, gap included.
    pub data_octets: u64,
    /// Octets that the protection added to data frames.
    pub header_octets: u64,
    /// Octets of retransmitted copies.
    pub copy_octets: u64,
    /// Parity frames.
    pub parity_frames: u64,
    /// Octets of parity frames.
    pub parity_octets: u64,
    /// Octets of dummies and other control frames.
    pub control_octets: u64,
    /// The largest data frame without the protection's header, in octets.
    pub largest_octets: u32,
}

/// The kinds of frames whose octets are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// First transmission of a data frame to which the protection added `header_octets`.
    Data {
        /// Octets added.
        header_octets: u32,
    },
    /// A retransmitted copy.
    Copy,
    /// A parity frame.
    Parity,
    /// A frame of the protection itself.
    Control,
}

/// Returns the stake of a frame that nothing repairs: data, or nothing.
const fn plain(kind: Kind) -> Stake {
    match kind {
        Kind::Data { .. } => Stake::Fresh { unit: UNNAMED },
        _ => Stake::Nothing,
    }
}

/// The name of a data frame that nothing repairs.
pub(super) const UNNAMED: u64 = u64::MAX;

/// One direction of the wire.
#[derive(Clone, Debug)]
pub struct Wire {
    loss: LossProcess,
    traffic: Traffic,
}

impl Traffic {
    /// Counts a data frame of `octets`, to which the protection added `header_octets`.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn count_data(&mut self, octets: u32, header_octets: u32) {
        self.frames += 1;
        self.data_frames += 1;
        self.data_octets += u64::from(octets);
        self.header_octets += u64::from(header_octets);
        self.largest_octets = self.largest_octets.max(octets);
    }

    /// Counts a frame of the protection itself.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn count_control(&mut self, octets: u32) {
        self.frames += 1;
        self.control_octets += u64::from(octets);
    }
}

impl Wire {
    /// Builds a wire that corrupts frames by `loss`.
    pub fn new(loss: LossProcess) -> Self {
        Self { loss, traffic: Traffic::default() }
    }

    /// Puts a frame of `octets` that begins to leave at `at` on the wire; true if the frame arrives whole.
    #[inline]
    pub fn carry(&mut self, at: Instant, octets: u32, kind: Kind) -> bool {
        self.carry_with(at, octets, kind, || plain(kind))
    }

    /// Puts a frame of `octets` on the wire, on which `stake` hangs; true if the frame arrives whole.
    #[inline]
    pub fn carry_with(
        &mut self,
        at: Instant,
        octets: u32,
        kind: Kind,
        stake: impl FnOnce() -> Stake,
    ) -> bool {
        self.pass(at, (octets - GAP_OCTETS, octets), kind, stake)
    }

    /// Puts `octets` that stand inside frames or between them, with neither preamble nor gap of their own, on the wire; true if
    /// they arrive whole.
    #[inline]
    pub fn carry_bare(&mut self, at: Instant, octets: u32, kind: Kind) -> bool {
        self.pass(at, (octets, octets), kind, || Stake::Nothing)
    }

    /// Decides whether a frame is corrupted, and counts it. The `exposed` octets can be corrupted; `octets` are counted.
    #[inline]
    fn pass(
        &mut self,
        at: Instant,
        (exposed, octets): (u32, u32),
        kind: Kind,
        stake: impl FnOnce() -> Stake,
    ) -> bool {
        let lost = self.loss.is_lost_with(at, exposed, stake);
        let traffic = &mut self.traffic;
        if lost {
            traffic.lost += 1;
            traffic.data_lost += u64::from(matches!(kind, Kind::Data { .. }));
        }
        traffic.frames += 1;
        match kind {
            Kind::Data { header_octets } => {
                traffic.data_frames += 1;
                traffic.data_octets += u64::from(octets - header_octets);
                traffic.header_octets += u64::from(header_octets);
                traffic.largest_octets = traffic.largest_octets.max(octets - header_octets);
            }
            Kind::Parity => {
                traffic.parity_frames += 1;
                traffic.parity_octets += u64::from(octets);
            }
            Kind::Copy => traffic.copy_octets += u64::from(octets),
            Kind::Control => traffic.control_octets += u64::from(octets),
        }
        !lost
    }

    /// Replaces the loss process from now on.
    pub fn set_loss(&mut self, loss: LossProcess) {
        self.loss = loss;
    }

    /// Returns the loss process.
    pub const fn loss_mut(&mut self) -> &mut LossProcess {
        &mut self.loss
    }

    /// Returns the counts of the frames and octets carried so far.
    pub const fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

#[cfg(all(test, feature = "fast"))]
mod tests {
    use super::*;
    use crate::kernel::Train;
    use lossylink_core::loss::{Code, LossModel, PhySettings};
    use lossylink_core::rng::Streams;
    use lossylink_core::time::Duration;
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

    const HEADER_OCTETS: u32 = 3;
    const LARGEST_OCTETS: u32 = 1600;

    fn losses() -> impl Strategy<Value = LossModel> {
        prop_oneof![
            Just(LossModel::None),
            (1e-3..0.2).prop_map(|p| LossModel::bernoulli(p).unwrap()),
            (1e-7..1e-4).prop_map(|ber| LossModel::bit_error_rate(ber).unwrap()),
            Just(LossModel::fades(Duration::from_ns(3_000), Duration::from_ns(300)).unwrap()),
            (1e-4..1e-3).prop_map(|ber| {
                LossModel::phy(PhySettings {
                    code: Code::RS272,
                    bit_error_ratio: ber,
                    interleaved: 2,
                    repeat: 0.5,
                    is_precoded: false,
                    lanes: 1,
                    line_bits: 2,
                })
                .unwrap()
            }),
            (1e-3..0.1, 0.1..1.0).prop_map(|(p, r)| LossModel::gilbert_elliott(p, r, 0.0, 1.0).unwrap()),
        ]
    }

    proptest! {
        #[test]
        fn frames_carried_together_are_carried_one_by_one(
            model in losses(),
            seed: u64,
            turns in prop::collection::vec((87..LARGEST_OCTETS, 1u64..40, 0u64..40), 1..20),
        ) {
            let process = LossProcess::on_line(&model, BitRate::from_gbps(100), Streams::new(seed).stream("loss"));
            let mut together = Wire::new(process);
            let mut apart = together.clone();
            let data = Kind::Data { header_octets: HEADER_OCTETS };
            let takes = |octets: u32| Duration::from_ps(80 * u64::from(octets));
            let mut now = Instant::ZERO;
            for (octets, frames, control) in turns {
                let starts = |now, octets, count| Train { spacing: takes(octets), count, ..Train::of_one(now) };
                for (octets, most, is_data) in [(octets, frames, true), (84, control, false)] {
                    if most == 0 {
                        continue;
                    }
                    let frames = together.clear_starts(starts(now, octets, most as u32), octets);
                    match is_data {
                        true if frames > 0 => together.carry_clear(frames, octets, HEADER_OCTETS),
                        true => {}
                        false => together.carry_control(u64::from(frames), 84),
                    }
                    for _ in 0..frames {
                        let kind = if is_data { data } else { Kind::Control };
                        prop_assert!(apart.carry(now, octets, kind));
                        now += takes(octets);
                    }
                    prop_assert_eq!(format!("{together:?}"), format!("{apart:?}"));
                }
                prop_assert_eq!(together.carry(now, 1541, data), apart.carry(now, 1541, data));
                now += takes(1541);
            }
        }
    }
}
