//! The chance that the next frame on a line with a code is lost, given all frames before it (RARE-18).
//!
//! A frame is lost if one of its groups of codewords fails. A frame that survives shows that all of its groups were corrected. A
//! frame that is lost does not show which of its groups failed, and only the last of them can concern the next frame. So all that
//! frames tell is the fate of the last group, with the state of the line behind that group.

use crate::loss::LineLaw;
use crate::loss::phy::{Crossing, Failures, LastGroup, Phy, sum};
use crate::time::Instant;

/// The chances of the fates of the last group that a frame has touched.
#[derive(Clone, Debug)]
pub(super) struct LineBelief {
    /// The line, for the places of its groups. Its own failures do not count.
    line: Failures,
    /// The number of that group.
    last: u64,
    group: LastGroup,
    /// The frame that is being decided, and the number of its last group.
    next: (Crossing, u64),
}

impl LineBelief {
    /// Returns the belief behind the last frame of a line, which has survived after a long time without a loss.
    pub(super) fn clean(line: Failures) -> Self {
        let group = LastGroup { corrected: line.phy().clean_state(), failed: [0.0; 2] };
        Self { last: line.last_group(), line, group, next: (Crossing::default(), 0) }
    }

    /// Returns the belief of one who has seen no frame.
    pub(super) fn stationary(line: Failures) -> Self {
        let mut belief = Self::clean(line);
        belief.forget();
        belief
    }

    fn phy(&self) -> &Phy {
        self.line.phy()
    }

    /// Forgets what frames have told.
    pub(super) fn forget(&mut self) {
        let (corrected, failed) = self.phy().over_group(self.phy().start());
        self.group = LastGroup { corrected, failed };
    }

    /// Returns the chance that the frame that was met is lost. Sums of rounded chances may exceed one.
    pub(super) fn chance(&self) -> f64 {
        self.next.0.lost().min(1.0)
    }

    /// Returns the chance that a frame of `frame_bytes` that begins to leave at `now` is lost.
    pub(super) fn meet(&mut self, now: Instant, frame_bytes: u32) -> f64 {
        let place = self.line.place(now, frame_bytes);
        self.next = (self.phy().cross(self.group, self.last, place), place.last);
        self.chance()
    }

    /// Takes note of the fate of the frame that was met.
    pub(super) fn observe(&mut self, is_lost: bool) {
        let (crossing, last) = self.next;
        let seen = if is_lost { crossing.behind_lost() } else { crossing.behind_surviving() };
        let all = sum(seen.corrected) + sum(seen.failed);
        let share = |row: [f64; 2]| row.map(|chance| if all > 0.0 { chance / all } else { chance });
        self.group = LastGroup { corrected: share(seen.corrected), failed: share(seen.failed) };
        self.last = self.last.max(last);
    }

    /// Returns the chances that the last group was corrected, and that it failed.
    pub(super) fn shares(&self) -> [f64; 2] {
        [sum(self.group.corrected), sum(self.group.failed)]
    }

    /// Returns the law of frames of `frame_bytes` on this line.
    pub(super) fn law(&self, frame_bytes: u32) -> LineLaw {
        self.phy().law(frame_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::phy::{Code, PhySettings};
    use crate::loss::{Aim, LossModel, LossProcess, Stake};
    use crate::rng::Streams;
    use crate::time::Duration;
    use crate::units::BitRate;
    use alloc::vec::Vec;

    /// Codewords of 32 octets fail often.
    fn line(repeat: f64) -> Failures {
        let settings = PhySettings {
            code: Code::named("rs300/257/10").unwrap(),
            bit_error_ratio: 0.012,
            interleaved: 1,
            repeat,
            is_precoded: false,
            lanes: 1,
            line_bits: 2,
        };
        let mut rng = Streams::new(4).stream("line");
        Failures::new(&Phy::new(settings).unwrap(), BitRate::from_gbps(100), &mut rng)
    }

    /// Returns the chance of the fates of frames, by the sum over the fates of all groups from the first one on.
    fn by_every_fate(line: &Failures, frames: &[(Instant, u32)], lost: &[bool]) -> f64 {
        let phy = line.phy();
        let places: Vec<_> = frames.iter().map(|&(now, bytes)| line.place(now, bytes)).collect();
        let (first, last) = (places[0].first, places.last().unwrap().last);
        let mut chance = 0.0;
        for fates in 0u64..1 << (last - first + 1) {
            let fails = |group: u64| fates >> (group - first) & 1 == 1;
            let fits =
                places.iter().zip(lost).all(|(place, &lost)| (place.first..=place.last).any(fails) == lost);
            if fits {
                let over = |states, group| {
                    let (corrected, failed) = phy.over_group(states);
                    if fails(group) { failed } else { corrected }
                };
                chance += sum((first..=last).fold(phy.start(), over));
            }
        }
        chance
    }

    /// RARE-18: the product of the chances that follow from each other is the chance of all fates together.
    #[test]
    fn chances_are_those_of_all_fates_together() {
        for repeat in [0.0, 0.6] {
            let line = line(repeat);
            for (spacing_ns, bytes) in [(7, 64), (30, 200), (80, 700), (80, 64)] {
                let frames: Vec<(Instant, u32)> = (0..6)
                    .map(|number| (Instant::ZERO + Duration::from_ns(spacing_ns) * number, bytes))
                    .collect();
                let mut all = 0.0;
                for pattern in 0u32..1 << frames.len() {
                    let lost: Vec<bool> = (0..frames.len()).map(|frame| pattern >> frame & 1 == 1).collect();
                    let mut belief = LineBelief::stationary(line.clone());
                    // Nothing was seen before the first frame.
                    belief.last = line.place(frames[0].0, bytes).first;
                    let mut chance = 1.0;
                    for (&(now, bytes), &lost) in frames.iter().zip(&lost) {
                        let loses = belief.meet(now, bytes);
                        chance *= if lost { loses } else { 1.0 - loses };
                        belief.observe(lost);
                    }
                    let expected = by_every_fate(&line, &frames, &lost);
                    assert!(
                        (chance - expected).abs() < 1e-12,
                        "{repeat} {spacing_ns} {pattern:b}: {chance} {expected}"
                    );
                    all += chance;
                }
                assert!((all - 1.0).abs() < 1e-12);
            }
        }
    }

    /// RARE-18: looks that steer lose as many frames as the law, weighted.
    #[test]
    fn looks_lose_as_many_frames_as_the_law() {
        let settings = PhySettings {
            bit_error_ratio: 3e-4,
            code: Code::RS272,
            repeat: 0.0,
            ..*line(0.0).phy().settings()
        };
        // With the second line, chances that are one in truth come out above one.
        for (ber, bytes, octets) in [(3e-4, 64u32, 84), (2e-4, 64, 84), (3e-4, 1518, 1538)] {
            let settings = PhySettings { bit_error_ratio: ber, ..settings };
            let model = LossModel::phy(settings).unwrap();
            let expected = model.mean_loss_rate(bytes);
            let spacing = Duration::from_ps(octets * 80);
            let (mut sum_all, mut squares) = (0.0, 0.0);
            let looks = 60_000u64;
            for look in 0..looks {
                let streams = Streams::new(look);
                let mut process =
                    LossProcess::on_line(&model, BitRate::from_gbps(100), streams.stream("law"));
                process.attend();
                let nth = 1 + (look % 16) as u32;
                let aim = Aim::Frame { nth, lead_frames: 0, window: 0 };
                let mut now = Instant::ZERO;
                for _ in 0..2 {
                    process.is_lost_at(now, bytes);
                    now += spacing;
                }
                process.steer(aim, streams.stream("steered")).unwrap();
                let mut weight = 0.0;
                for number in 0.. {
                    process.is_lost_with(now, bytes, || Stake::Fresh { unit: number });
                    now += spacing;
                    let steered = process.steered().unwrap();
                    if steered.is_void() {
                        break;
                    }
                    if steered.target().is_some() {
                        weight = libm::exp(steered.log_weight()) * 16.0;
                        break;
                    }
                }
                sum_all += weight;
                squares += weight * weight;
            }
            let mean = sum_all / looks as f64;
            let error = libm::sqrt(squares) / looks as f64;
            assert!((mean - expected).abs() < 4.0 * error, "{bytes}: {mean:e} {error:e} {expected:e}");
        }
    }
}
