//! The window of a protected link, and its replay timer: the first-order model (LLR-20).
//!
//! Not modelled: frames of mixed sizes, and control sets that are lost.

use super::Number;
use crate::time::Duration;
use crate::units::{BitRate, Bytes};

/// The time that light takes for a metre of fibre, in picoseconds; a group index of 1.5.
pub const PS_PER_METRE: u64 = 5_000;
/// The time of one way through the transmit and the receive pipeline of a switch. *Calibrated* on the three sample
/// links of S2: with it the model gives their bytes within 6 % (LLR-20).
pub const SAMPLE_PIPELINE: Duration = Duration::from_ns(460);
/// The bytes of a frame in the samples of S2: 31184 B / 61, 67760 B / 133 and 135000 B / 264 frames.
pub const SAMPLE_FRAME: Bytes = Bytes(511);
/// The number of loops in the replay timer. *Calibrated* on the samples of S2: with it the model gives their 5, 5.5 and
/// 5 us within 13 % (LLR-20).
pub const TIMER_LOOPS: u64 = 4;
/// The number of frames that count whole besides the loop: one frame is judged at its last bit only, and one is in
/// service when the answer comes.
const WHOLE_FRAMES: u64 = 2;

/// Returns the time of one way over `metres` of fibre.
pub const fn propagation(metres: u64) -> Duration {
    Duration::from_ps(metres * PS_PER_METRE)
}

/// A link whose ends are to be sized.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    /// Line rate of the protected direction.
    pub rate: BitRate,
    /// Line rate of the way back, which the control sets take.
    pub rate_back: BitRate,
    /// The time of one way over the cable.
    pub propagation: Duration,
    /// The time of one way through both ends: from the sender's dequeue to the receiver's decision, without the cable
    /// and without serialisation.
    pub pipeline: Duration,
    /// A frame with all bytes that it takes on the line.
    pub frame: Bytes,
    /// Distance between two control sets.
    pub spacing: Bytes,
}

impl Sizing {
    /// Returns the time of the loop: there and back, and the longest wait for the outlet (LLR-20).
    pub fn loop_time(&self) -> Duration {
        (self.propagation + self.pipeline) * 2 + self.spacing / self.rate_back
    }

    /// Returns the bytes that may be outstanding if the link shall never wait: the bytes that the line carries in a
    /// loop and until the next ACK, and two frames (LLR-20).
    pub fn bytes_needed(&self) -> Bytes {
        self.rate * self.loop_time() + self.carried_between_acks() + self.frame * WHOLE_FRAMES
    }

    /// Returns the bytes that the line carries from one ACK to the next.
    fn carried_between_acks(&self) -> Bytes {
        let carried = u128::from(self.spacing.0) * u128::from(self.rate.as_bps());
        Bytes(carried.div_ceil(u128::from(self.rate_back.as_bps())) as u64)
    }

    /// Returns the full frames that may be outstanding if the link shall never wait (LLR-20).
    pub fn frames_needed(&self) -> u32 {
        self.frames_of(self.frame)
    }

    /// Returns the window in frames of another size, at least one and at most [`Number::WINDOW`].
    pub fn frames_of(&self, frame: Bytes) -> u32 {
        let frames = self.bytes_needed().0.div_ceil(frame.0.max(1));
        frames.clamp(1, u64::from(Number::WINDOW)) as u32
    }

    /// Returns the replay timer: four loops, each with the two frames that are always part of it (LLR-20).
    pub fn replay_timer(&self) -> Duration {
        (self.loop_time() + self.frame * WHOLE_FRAMES / self.rate) * TIMER_LOOPS
    }
}

#[cfg(test)]
mod tests {
    use super::super::SPACING_DEFAULT;
    use super::*;

    /// Gb/s, metres, and of the sample frames, bytes and nanoseconds of the timer; source: S2.
    const SAMPLES: [(u64, u64, f64, f64, f64); 3] = [
        (200, 5, 61.0, 31_184.0, 5_000.0),
        (400, 40, 133.0, 67_760.0, 5_500.0),
        (800, 40, 264.0, 135_000.0, 5_000.0),
    ];

    fn sample(gbps: u64, metres: u64) -> Sizing {
        Sizing {
            rate: BitRate::from_gbps(gbps),
            rate_back: BitRate::from_gbps(gbps),
            propagation: propagation(metres),
            pipeline: SAMPLE_PIPELINE,
            frame: SAMPLE_FRAME,
            spacing: SPACING_DEFAULT,
        }
    }

    // LLR-20
    #[test]
    fn the_sample_links_come_out_within_15_percent() {
        for (gbps, metres, frames, bytes, timer) in SAMPLES {
            let sizing = sample(gbps, metres);
            let errors = [
                f64::from(sizing.frames_needed()) / frames - 1.0,
                sizing.bytes_needed().0 as f64 / bytes - 1.0,
                sizing.replay_timer().as_ns_f64() / timer - 1.0,
            ];
            assert!(errors.iter().all(|error| error.abs() <= 0.15), "{gbps}G: {errors:?}, {sizing:?}");
        }
    }

    /// The numbers that the protocol document prints.
    // LLR-20
    #[test]
    fn the_documented_figures_are_those_of_the_code() {
        let figures = SAMPLES.map(|(gbps, metres, ..)| {
            let sizing = sample(gbps, metres);
            let rounded = |time: Duration| (time.as_ps() + 5_000) / 10_000;
            (
                rounded(sizing.loop_time()),
                sizing.frames_needed(),
                sizing.bytes_needed().0,
                rounded(sizing.replay_timer()),
            )
        });
        // Hundredths of microseconds, frames, bytes.
        assert_eq!(figures, [(105, 58, 29_368, 437), (136, 140, 71_118, 553), (134, 269, 137_118, 540)]);
    }

    // LLR-20: at 200G the line carries 2048 B from ACK to ACK on a way back at 200G, and a hundred times 2048 B at 2G.
    #[test]
    fn a_slower_way_back_is_part_of_the_loop() {
        let even = sample(200, 5);
        let slow = Sizing { rate_back: BitRate::from_gbps(2), ..even };
        let longer = SPACING_DEFAULT / slow.rate_back - SPACING_DEFAULT / even.rate;
        assert_eq!(slow.loop_time(), even.loop_time() + longer);
        assert_eq!(slow.replay_timer(), even.replay_timer() + longer * TIMER_LOOPS);
        let carried = 2 * 99 * SPACING_DEFAULT.0;
        assert_eq!(slow.bytes_needed(), even.bytes_needed() + Bytes(carried));
    }

    #[test]
    fn a_huge_loop_stays_within_the_window() {
        let moon = Sizing { propagation: Duration::from_ms(1_000), ..sample(800, 0) };
        assert_eq!(moon.frames_needed(), Number::WINDOW);
    }
}
