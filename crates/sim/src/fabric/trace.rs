//! When links begin to corrupt, and how long their repairs take, drawn from a seed.
//!
//! Source: LinkGuardian, SIGCOMM 2023, appendix D, and its public trace generator; loss ratios by CorrOpt, SIGCOMM
//! 2017, table 1.

use super::year::{Failure, Repairs};
use lossylink_core::rng::{RngCore, Stream, uniform};

const HOUR_S: u32 = 3600;
const DAY_S: u32 = 86_400;
/// The first hour of a trace, in seconds.
const LEAD_S: u32 = 4 * DAY_S;
/// A repair takes two days, or four if the first attempt fails.
const REPAIR_S: [u32; 2] = [2 * DAY_S, 4 * DAY_S];
/// Repairs that succeed at the first attempt, in percent.
const FIRST_ATTEMPT_PERCENT: u64 = 80;

/// How much of a hundred corrupting links lose no more than the upper of these ratios, and no less than the lower.
const LOSSES: [(f64, f64, f64); 4] =
    [(47.23, 1e-8, 9e-6), (65.66, 1e-5, 9.9e-5), (87.33, 1e-4, 9.99e-4), (100.0, 1e-3, 1e-2)];

/// Failures of `links` links, each of which fails every `mttf_h` hours in the mean, whatever is repaired: from the first
/// failure on for `span_h` hours, in ascending order, no two at one second.
///
/// Times between two failures of a link are exponential, rounded to whole hours. Failures in one hour follow each other
/// by a second.
pub fn failures(links: u32, mttf_h: f64, span_h: u32, draws: &mut Stream) -> Vec<Failure> {
    // Where the first failure lies is not known before all are drawn; it lies in the first half of this.
    let horizon_h = 2 * u64::from(span_h);
    let mut drawn: Vec<(u32, u32, f64)> = Vec::new();
    for link in 0..links {
        let mut at_h = 0;
        loop {
            at_h += (mttf_h * -libm::log1p(-uniform(draws))).round_ties_even() as u64;
            if at_h > horizon_h {
                break;
            }
            drawn.push((at_h as u32, link, loss(draws)));
        }
    }
    // Failures of one hour stay in the order of their links.
    drawn.sort_by_key(|&(at_h, ..)| at_h);
    let Some(&(first_h, ..)) = drawn.first() else { return Vec::new() };
    let end_s = second(first_h) + span_h * HOUR_S;
    let mut free_s = 0;
    let mut failures = Vec::with_capacity(drawn.len());
    for (at_h, link, loss) in drawn {
        let at_s = second(at_h).max(free_s);
        if at_s > end_s {
            break;
        }
        free_s = at_s + 1;
        failures.push(Failure { at_s, link, loss });
    }
    failures
}

const fn second(hour: u32) -> u32 {
    hour * HOUR_S + LEAD_S
}

/// A ratio that a corrupting link loses, linear within its class. The classes have gaps between them.
fn loss(draws: &mut Stream) -> f64 {
    let place = (uniform(draws) * 1e4).round_ties_even() / 100.0;
    let (_, least, most) = LOSSES.into_iter().find(|&(end, ..)| place <= end).unwrap_or(LOSSES[3]);
    least + (most - least) * uniform(draws)
}

/// Repairs whose first attempt succeeds four times out of five.
#[derive(Clone, Debug)]
pub struct DrawnRepairs(Stream);

impl DrawnRepairs {
    /// Repairs that depend on this stream.
    pub const fn new(draws: Stream) -> Self {
        Self(draws)
    }
}

impl Repairs for DrawnRepairs {
    fn takes_s(&mut self, _link: u32) -> u32 {
        // Of 2^64 values a hundredth is not a whole number: off by less than 1e-17.
        let percent = self.0.next_u64() % 100;
        REPAIR_S[usize::from(percent >= FIRST_ATTEMPT_PERCENT)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::rng::Streams;

    const LINKS: u32 = 20_000;

    fn drawn() -> Vec<Failure> {
        failures(LINKS, 10_000.0, 9_000, &mut Streams::new(3).stream("failures"))
    }

    #[test]
    fn failures_ascend_and_share_no_second() {
        let failures = drawn();
        assert!(failures.windows(2).all(|pair| pair[0].at_s < pair[1].at_s));
        assert!(failures.iter().all(|failure| failure.link < LINKS));
        let span = failures.last().unwrap().at_s - failures[0].at_s;
        assert!(span <= 9_000 * HOUR_S && span > 8_990 * HOUR_S);
    }

    /// Each link has 0.9 failures in nine tenths of its mean time between two: a Poisson count.
    #[test]
    fn there_are_as_many_as_the_mean_time_says() {
        let expected = f64::from(LINKS) * 0.9;
        let seen = drawn().len() as f64;
        assert!((seen - expected).abs() < 4.0 * expected.sqrt(), "{seen} of {expected}");
    }

    #[test]
    fn ratios_fall_into_their_classes() {
        let failures = drawn();
        let mut before = 0.0;
        for (end, least, most) in LOSSES {
            let share = (end - before) / 100.0;
            before = end;
            let count =
                failures.iter().filter(|failure| (least..=most).contains(&failure.loss)).count() as f64;
            let expected = share * failures.len() as f64;
            assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{count} of {expected} from {least}");
        }
        assert!(failures.iter().all(|failure| (1e-8..=1e-2).contains(&failure.loss)));
    }

    #[test]
    fn four_of_five_repairs_take_two_days() {
        let mut repairs = DrawnRepairs::new(Streams::new(1).stream("repairs"));
        let quick = (0..10_000).filter(|_| repairs.takes_s(0) == REPAIR_S[0]).count() as f64;
        assert!((quick - 8_000.0).abs() < 4.0 * 1_600.0_f64.sqrt(), "{quick}");
    }
}
