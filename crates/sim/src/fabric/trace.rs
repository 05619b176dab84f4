//! Traces of failures: when links begin to corrupt, and how long their repairs take, drawn from a seed.
//!
//! Source: LinkGuardian, SIGCOMM 2023, appendix D, and its public trace generator; loss ratios by CorrOpt, SIGCOMM
//! 2017, table 1.

use super::year::{Failure, Repairs};
use lossylink_core::probability::Probability;
use lossylink_core::rng::{Stream, uniform};

const HOUR_S: u32 = 3600;
/// The second of the trace at which its first hour begins: four days, as published.
pub const LEAD_S: u32 = 4 * 24 * HOUR_S;

/// Classes of loss ratios of corrupting links: the percentage of links in this class and those before it, and the least
/// and the most loss ratio of the class.
const LOSSES: [(f64, f64, f64); 4] =
    [(47.23, 1e-8, 9e-6), (65.66, 1e-5, 9.9e-5), (87.33, 1e-4, 9.99e-4), (100.0, 1e-3, 1e-2)];

/// How often links fail, and for how long a trace lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wear {
    /// Mean time from one failure of a link to the next, in hours.
    pub mttf_h: f64,
    /// Time from the first failure to the last possible one, in hours.
    pub span_h: u32,
}

/// Draws the failures of `links` links in ascending order, no two at one second. The failures do not depend on repairs.
///
/// Times between two failures of a link are exponential, rounded to whole hours. Failures in one hour follow each other
/// by a second.
pub fn failures(links: u32, Wear { mttf_h, span_h }: Wear, draws: &mut Stream) -> Vec<Failure> {
    // The time of the first failure is not known before all are drawn. It lies in the first half of this horizon.
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

/// Draws the loss ratio of a corrupting link, linear within its class. The classes have gaps between them.
fn loss(draws: &mut Stream) -> f64 {
    let place = (uniform(draws) * 1e4).round_ties_even() / 100.0;
    let (_, least, most) = LOSSES.into_iter().find(|&(end, ..)| place <= end).unwrap_or(LOSSES[3]);
    least + (most - least) * uniform(draws)
}

/// Times of repairs.
#[derive(Clone, Copy, Debug)]
pub struct RepairTimes {
    /// Chance that the first attempt mends the link.
    pub first_attempt: Probability,
    /// Time of a repair whose first attempt mends the link, in seconds.
    pub first_s: u32,
    /// Time of a repair that needs another attempt, in seconds, in all.
    pub second_s: u32,
}

/// Repairs that are drawn at random; some need a second attempt.
#[derive(Clone, Debug)]
pub struct DrawnRepairs {
    times: RepairTimes,
    draws: Stream,
}

impl DrawnRepairs {
    /// Returns repairs that are drawn from `draws`.
    pub const fn new(times: RepairTimes, draws: Stream) -> Self {
        Self { times, draws }
    }
}

impl Repairs for DrawnRepairs {
    fn takes_s(&mut self, _link: u32) -> u32 {
        let is_mended = self.times.first_attempt.draw(&mut self.draws);
        if is_mended { self.times.first_s } else { self.times.second_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::rng::Streams;

    const LINKS: u32 = 20_000;

    fn drawn() -> Vec<Failure> {
        failures(LINKS, Wear { mttf_h: 10_000.0, span_h: 9_000 }, &mut Streams::new(3).stream("failures"))
    }

    #[test]
    fn failures_ascend_and_share_no_second() {
        let failures = drawn();
        assert!(failures.windows(2).all(|pair| pair[0].at_s < pair[1].at_s));
        assert!(failures.iter().all(|failure| failure.link < LINKS));
        let span = failures.last().unwrap().at_s - failures[0].at_s;
        assert!(span <= 9_000 * HOUR_S && span > 8_990 * HOUR_S);
    }

    /// Each link has 0.9 failures in nine tenths of its mean time between two failures: a Poisson count.
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
    fn four_of_five_repairs_need_one_attempt() {
        let times = RepairTimes { first_attempt: Probability::new(0.8).unwrap(), first_s: 2, second_s: 4 };
        let mut repairs = DrawnRepairs::new(times, Streams::new(1).stream("repairs"));
        let quick = (0..10_000).filter(|_| repairs.takes_s(0) == 2).count() as f64;
        assert!((quick - 8_000.0).abs() < 4.0 * 1_600.0_f64.sqrt(), "{quick}");
    }
}
