//! How many copies of a retransmission meet a target loss rate (LG-19).

/// The effective loss rate that LinkGuardian aims at.
pub const DEFAULT_TARGET_LOSS: f64 = 1e-8;

/// Slack for the quotient of logarithms: log(1e-8) / log(1e-4) must count as two exactly.
const EPSILON: f64 = 1e-9;

/// The smallest N >= 1 with `loss_rate`^(N + 1) <= `target` (LG-19).
///
/// A link without loss needs one copy as well as any. Rates at which no number of copies would
/// do (a loss rate of one) are capped at 255, the largest count a switch register holds.
pub fn copies_for(loss_rate: f64, target: f64) -> u8 {
    if loss_rate <= target {
        return 1;
    }
    if loss_rate >= 1.0 {
        return u8::MAX;
    }
    let transmissions = libm::ceil(libm::log(target) / libm::log(loss_rate) - EPSILON);
    (transmissions - 1.0).clamp(1.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(copies_for(1.0, DEFAULT_TARGET_LOSS), 255);
    }
}
