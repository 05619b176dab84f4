//! The expected number of frames that a link loses at once, from its loss model and its protection, before any frame is
//! lost.

use crate::measure::Foreseen;
use crate::net::GivesUp;
use lossylink_core::loss::{GilbertElliott, LineLaw, LossLaw};

/// Returns the expected clusters in which frames stay lost.
pub(super) fn of(law: &LossLaw, gives_up: GivesUp) -> Foreseen {
    let of_losses = match law {
        LossLaw::Independent(_) => Foreseen::APART,
        LossLaw::Bursts(chain) => of_bursts(chain),
        LossLaw::Line(line) => of_line(line),
    };
    of_losses.or(match gives_up {
        // All of these frames are lost together with the frame that is given up.
        GivesUp::Frames { together, .. } => {
            Foreseen { mean: 1.0 + together as f64, seen_from_one: 1.0 + together as f64 }
        }
        GivesUp::Block { frames, spare } => of_block(law.rate(), frames, spare),
    })
}

/// Returns the clusters of a Gilbert-Elliott chain: the variance of its losses over many frames, over that of independent
/// losses. The correlation of two frames fades by the factor 1 - p - r a frame. Where every frame of a visit to the bad
/// state is lost, the ratio is (1 + f) / (1 - f) with that factor f.
fn of_bursts(chain: &GilbertElliott) -> Foreseen {
    let (mean, bad) = (chain.mean_loss_rate(), chain.share_bad());
    let apart = chain.loss_bad().as_f64() - chain.loss_good().as_f64();
    let fading = 1.0 - chain.p().as_f64() - chain.r().as_f64();
    let independent = mean * (1.0 - mean);
    if independent <= 0.0 || fading >= 1.0 {
        return Foreseen::APART;
    }
    let in_common = bad * (1.0 - bad) * apart * apart * fading / (1.0 - fading);
    Foreseen::geometric(1.0 + 2.0 * in_common / independent)
}

/// Frames of a run of losses that are looked at; longer ones are rarer than anything that is counted.
const RUN_MAX: u32 = 64;

/// Returns the clusters of a line with a code: runs of lost frames, whose mean is that of losses over those that begin a run. A lost
/// frame has as many lost frames before it as behind it.
fn of_line(line: &LineLaw) -> Foreseen {
    let rate = line.rate();
    if rate <= 0.0 || rate >= 1.0 {
        return Foreseen::APART;
    }
    let two = line.lost_in_a_row(2);
    let longer =
        (2..=RUN_MAX).map(|frames| line.lost_in_a_row(frames)).take_while(|&lost| lost > 1e-6 * rate);
    let seen_from_one = 1.0 + 2.0 * longer.sum::<f64>() / rate;
    Foreseen { mean: if two < rate { rate / (rate - two) } else { 1.0 }, seen_from_one }
}

/// Returns the clusters of a block code: the data frames lost of a block that loses more of its `frames` frames than the
/// `spare` that it has to spare. Each frame is lost with chance `rate`.
fn of_block(rate: f64, frames: u32, spare: u32) -> Foreseen {
    let (all, data) = (f64::from(frames), f64::from(frames - spare));
    if rate <= 0.0 || rate >= 1.0 {
        return Foreseen { mean: data, seen_from_one: data };
    }
    // Chances of `count` losses, over the chance of one loss more than can be spared: nothing underflows.
    let (mut chance, mut failures, mut lost, mut squares) = (1.0, 0.0, 0.0, 0.0);
    for count in spare + 1..=frames {
        let count = f64::from(count);
        // Of `count` losses among all frames, those of data frames are a sample without replacement.
        let mean = count * data / all;
        let variance = if frames > 1 { mean * (1.0 - data / all) * (all - count) / (all - 1.0) } else { 0.0 };
        failures += chance;
        lost += chance * mean;
        squares += chance * (variance + mean * mean);
        chance *= (all - count) / (count + 1.0) * rate / (1.0 - rate);
    }
    // A block that loses only parity loses no data; an event has one loss at least.
    let mean = (lost / failures).max(1.0);
    Foreseen { mean, seen_from_one: (squares / lost).max(mean) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::loss::{Code, LossModel, PhySettings};
    use lossylink_core::time::Duration;
    use lossylink_core::units::BitRate;

    const ALONE: GivesUp = GivesUp::Frames { lifetime: Duration::ZERO, together: 0 };

    /// A failed codeword of 640 octets takes every minimum frame with an octet in it: (640 + 71) / 84 on average.
    #[test]
    fn codewords_take_frames_along() {
        let settings = PhySettings {
            code: Code::RS544,
            bit_error_ratio: 5e-4,
            interleaved: 1,
            repeat: 0.0,
            is_precoded: false,
            lanes: 1,
            line_bits: 2,
        };
        let law = LossModel::phy(settings).unwrap().law(64, BitRate::from_gbps(100));
        let found = of(&law, ALONE);
        assert!((found.mean - 711.0 / 84.0).abs() < 1e-3, "{}", found.mean);
        // Eight frames or nine: a lost frame sees the longer ones more often.
        assert!((found.mean..found.mean + 0.1).contains(&found.seen_from_one), "{}", found.seen_from_one);
    }

    #[test]
    fn independent_losses_come_one_by_one() {
        assert_eq!(of(&LossLaw::Independent(0.1), ALONE), Foreseen::APART);
    }

    /// Bursts of 20 frames on average, seldom: 39 as seen from a lost frame, sqrt(39) = 6.2 times the interval.
    #[test]
    fn a_burst_is_as_long_as_the_chain_says() {
        let chain = GilbertElliott::new(0.001, 0.05, 0.0, 1.0).unwrap();
        let found = of(&LossLaw::Bursts(chain), ALONE);
        let fading = 0.949;
        assert!((found.seen_from_one - (1.0 + fading) / (1.0 - fading)).abs() < 1e-9);
        assert!((found.mean - (found.seen_from_one + 1.0) / 2.0).abs() < 1e-12);
    }

    /// A chain without memory, and one in which losses keep apart, are like independent losses.
    #[test]
    fn losses_that_keep_apart_are_not_narrower() {
        for (p, r) in [(0.1, 0.9), (0.5, 0.9)] {
            let chain = GilbertElliott::new(p, r, 0.0, 1.0).unwrap();
            assert!((of_bursts(&chain).seen_from_one - 1.0).abs() < 1e-12);
        }
    }

    /// One data and one parity frame: both are lost, or nothing.
    #[test]
    fn a_block_loses_what_it_cannot_rebuild() {
        assert_eq!(of_block(0.1, 2, 1), Foreseen::APART);
        // Two data frames and one parity frame, half lost: three ways to lose two, of which one loses both data frames, and
        // one to lose all: (2 + 1 + 1 + 2) / 4 on average, (4 + 1 + 1 + 4) / 6 as seen from one.
        let half = of_block(0.5, 3, 1);
        assert!((half.mean - 1.5).abs() < 1e-12 && (half.seen_from_one - 10.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_flush_takes_the_window_along() {
        let flush = GivesUp::Frames { lifetime: Duration::ZERO, together: 255 };
        assert_eq!(of(&LossLaw::Independent(0.1), flush).mean, 256.0);
    }
}
