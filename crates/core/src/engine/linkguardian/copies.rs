//! The number of copies of a retransmission that meets a target loss rate (LG-19).

use super::{FORGOTTEN, Gaps, effective_loss, effective_loss_on_line};
use crate::loss::LossLaw;

/// The effective loss rate that LinkGuardian aims at.
pub const DEFAULT_TARGET_LOSS: f64 = 1e-8;

/// Slack for the quotient of logarithms: log(1e-8) / log(1e-4) must count as two exactly.
const EPSILON: f64 = 1e-9;

/// The largest number of copies of a retransmission; more copies would flood the link. At a loss rate of one
/// half, 16 copies leave 1e-5.
pub const MOST_COPIES: u8 = 16;

/// Returns the smallest N >= 1 with `loss_rate`^(N + 1) <= `target`, [`MOST_COPIES`] at most (LG-19).
///
/// One copy is enough on a link without loss.
pub fn copies_for(loss_rate: f64, target: f64) -> u8 {
    if loss_rate <= target {
        return 1;
    }
    if loss_rate >= 1.0 {
        return MOST_COPIES;
    }
    let transmissions = libm::ceil(libm::log(target) / libm::log(loss_rate) - EPSILON);
    (transmissions - 1.0).clamp(1.0, f64::from(MOST_COPIES)) as u8
}

/// Returns the smallest N with which at most `target` stays lost under `law` (LG-19).
///
/// Copies of one frame leave back to back and share a burst. Under bursts the rule therefore goes by the chain, or by the
/// codewords of the line, and not by a power. `gaps` are the numbers of frames between a loss and its copies. Where no number up to
/// [`MOST_COPIES`] meets the target, N is [`MOST_COPIES`].
pub fn copies_under(law: &LossLaw, gaps: Gaps<'_>, target: f64) -> u8 {
    match law {
        LossLaw::Independent(loss_rate) => copies_for(*loss_rate, target),
        LossLaw::Bursts(chain) => fewest(|copies| effective_loss(chain, copies, gaps, None), target),
        LossLaw::Line(line) => fewest(|copies| effective_loss_on_line(line, copies, None), target),
    }
}

/// Returns the smallest number of copies with which at most `target` stays lost.
fn fewest(left: impl Fn(u8) -> f64, target: f64) -> u8 {
    (1..MOST_COPIES).find(|&copies| left(copies) <= target * (1.0 + EPSILON)).unwrap_or(MOST_COPIES)
}

/// Returns how often a control frame is sent on a way back that loses control frames by `law`: the number of
/// copies that retransmissions would have there, [`MOST_COPIES`] at most (LG-46).
///
/// The frames that a notification reports were lost on the way forward, and say nothing about the state of the
/// way back.
pub fn control_copies_under(law: &LossLaw, target: f64) -> u8 {
    copies_under(law, FORGOTTEN, target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Code, GilbertElliott, LossModel, PhySettings};
    use crate::units::BitRate;

    fn bursts(mean: f64, burst: f64) -> LossLaw {
        let p = mean / (burst * (1.0 - mean));
        LossLaw::Bursts(GilbertElliott::new(p, 1.0 / burst, 0.0, 1.0).unwrap())
    }

    // LG-19
    /// The first copy is lost with the mean, each further one with 1 - 1 / burst: 1e-6 (1 - 1 / burst)^(N - 1).
    #[test]
    fn bursts_need_more_copies() {
        for (mean, burst, target, copies) in
            [(1e-3, 1.0, 1e-8, 2), (1e-3, 1.5, 1e-8, 6), (1e-3, 3.0, 1e-8, 13), (1e-3, 10.0, 1e-8, 16)]
        {
            let needed = copies_under(&bursts(mean, burst), FORGOTTEN, target);
            assert_eq!(needed, copies, "bursts of {burst} frames");
        }
    }

    // LG-19
    /// A failed codeword of KP4 takes two full frames in a row, nine small ones, and more only with a second codeword.
    #[test]
    fn copies_lie_in_codewords_of_their_own() {
        let settings = |bit_error_ratio, interleaved| PhySettings {
            code: Code::RS544,
            bit_error_ratio,
            interleaved,
            repeat: 0.0,
            is_precoded: false,
            lanes: 1,
            line_bits: 2,
        };
        // Lost are 1e-6 of the full frames, 1.4e-4 (two in a row 4e-5), 5.2e-4, and 1.7e-4 of small frames.
        for (ber, interleaved, frame_bytes, copies) in
            [(6e-4, 1, 1518, 1), (8.91e-4, 1, 1518, 2), (1e-3, 1, 1518, 3), (1e-3, 1, 64, 7)]
        {
            let model = LossModel::phy(settings(ber, interleaved)).unwrap();
            let law = model.law(frame_bytes, BitRate::from_gbps(100));
            let needed = copies_under(&law, FORGOTTEN, DEFAULT_TARGET_LOSS);
            assert_eq!(needed, copies, "{ber} {interleaved} {frame_bytes}");
        }
    }

    // LG-46
    #[test]
    fn copies_of_control_frames_share_a_burst_too() {
        assert_eq!(control_copies_under(&bursts(1e-3, 1.5), DEFAULT_TARGET_LOSS), 6);
        assert_eq!(control_copies_under(&bursts(1e-3, 10.0), DEFAULT_TARGET_LOSS), MOST_COPIES);
        assert_eq!(control_copies_under(&LossLaw::Independent(1.0), DEFAULT_TARGET_LOSS), MOST_COPIES);
    }

    // LG-19
    #[test]
    fn the_number_is_the_smallest_that_does() {
        let law = bursts(1e-2, 1.5);
        let LossLaw::Bursts(chain) = law else { panic!("bursts") };
        let gaps: Gaps<'_> = &[20, 30];
        let copies = copies_under(&law, gaps, 1e-6);
        assert!(effective_loss(&chain, copies, gaps, None) <= 1e-6);
        assert!(effective_loss(&chain, copies - 1, gaps, None) > 1e-6);
    }

    // LG-19
    #[test]
    fn the_published_rates_need_the_published_copies() {
        for (loss_rate, copies) in [(1e-5, 1), (1e-4, 1), (1e-3, 2), (1e-2, 3)] {
            assert_eq!(copies_for(loss_rate, DEFAULT_TARGET_LOSS), copies, "loss rate {loss_rate}");
        }
    }

    #[test]
    fn extreme_rates_stay_in_range() {
        assert_eq!(copies_for(0.0, DEFAULT_TARGET_LOSS), 1);
        assert_eq!([0.5, 0.9, 1.0].map(|loss_rate| copies_for(loss_rate, DEFAULT_TARGET_LOSS)), [16; 3]);
    }
}
