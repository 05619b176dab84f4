//! The time that a lost frame is missing, from the delays of the link: the W of go-back-N (LLR-20).

use super::options::Timing;
use lossylink_core::time::Duration;

/// Places within the spacing of control sets over which the wait for the outlet is averaged.
const PHASES: u64 = 1024;

impl Timing {
    /// Returns the mean time from the start of a lost frame's transmission to the start of its replay, on a line that is never
    /// idle and carries frames of `octets`.
    ///
    /// The receiver learns of the loss at the end of the lost frame if it sees errors, otherwise at the end of the next frame.
    /// The NACK waits for the outlet and flies back. The frame that the sender then has in service is finished, so the time is a
    /// whole number of frames.
    pub(super) fn replay_lag(&self, octets: u32, errors_seen: bool) -> Duration {
        let frame = self.rates.forward.serialisation(octets);
        // From the last good frame to the discovery, at the receiver.
        let gap = frame * if errors_seen { 1 } else { 2 };
        let without_wait = gap + self.forward_flight + self.control_back.serialisation + self.return_flight;
        let lag = |phase| {
            let wait = self.outlet_wait(gap, frame, phase);
            frame.as_ps() * (without_wait + wait).as_ps().div_ceil(frame.as_ps())
        };
        Duration::from_ps((0..PHASES).map(lag).sum::<u64>() / PHASES)
    }

    /// Returns how long a NACK waits at the outlet if it comes up `gap` after the last good frame. Under load an ACK leaves
    /// whenever the spacing allows it. The next ACK leaves within a spacing of the last good frame, at the place that `phase`
    /// names.
    fn outlet_wait(&self, gap: Duration, frame: Duration, phase: u64) -> Duration {
        let spacing = self.control_back.spacing;
        let next = if spacing <= frame {
            Duration::ZERO // The outlet is free when a frame arrives.
        } else {
            spacing.mul_ratio(2 * phase + 1, 2 * PHASES)
        };
        if next > gap {
            next.saturating_sub(gap) // The NACK takes the place of that ACK.
        } else {
            (next + spacing).saturating_sub(gap)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::switch_profile as profile;
    use crate::net::LineRate;
    use crate::net::llr::LlrOptions;
    use lossylink_core::units::{BitRate, Bytes};

    fn timing(spacing: u64) -> Timing {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let options = LlrOptions::sized(&profile("ideal"), rate, Duration::ZERO, 1538);
        let options = LlrOptions { control_spacing: Bytes(spacing), ..options };
        Timing::new(&profile("ideal"), rate, Duration::ZERO, &options)
    }

    /// Two flights of 100 ns and a control set of 0.64 ns, after one or two frames of 123.04 ns, are 323.68 or 446.72 ns. That is
    /// three or four frames. A NACK does not wait for an outlet that is free.
    // LLR-20
    #[test]
    fn a_free_outlet_gives_whole_frames() {
        let frame = Duration::from_ps(123_040);
        assert_eq!(timing(1538).replay_lag(1538, true), frame * 3);
        assert_eq!(timing(1538).replay_lag(1538, false), frame * 4);
    }

    /// With a spacing of 16384 B, 1310.72 ns, the NACK waits for any time up to the spacing.
    // LLR-20
    #[test]
    fn a_long_spacing_adds_half_of_itself() {
        let lag = timing(16_384).replay_lag(1538, true);
        let expected = Duration::from_ps(323_680 + 1_310_720 / 2 + 123_040 / 2);
        assert!(lag.as_ns_f64() / expected.as_ns_f64() - 1.0 < 0.01, "{lag}, not {expected}");
        assert!(lag.as_ns_f64() / expected.as_ns_f64() - 1.0 > -0.01, "{lag}, not {expected}");
    }
}
