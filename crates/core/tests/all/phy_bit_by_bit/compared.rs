//! Losses on a slow line and by the crate's process: shares, pairs, runs and gaps, for each code and each setting.

use super::statistics::{CHANCE_MIN, Differences, chance_of, chance_of_squares, compare};
use super::traffic::{Groups, Traffic};
use lossylink_core::loss::{Code, LossModel, Phy, PhySettings};
use lossylink_core::units::BitRate;
use std::collections::BTreeMap;

/// How many more frames the process gets than the slow line, so that the slow line sets the error.
const MORE_FRAMES: usize = 6;
/// Rates in turn: octets of whole and of odd numbers of picoseconds.
const RATES_MBPS: [u64; 4] = [100_000, 53_125, 10_312, 1_600_000];

/// A line, and the bits that are sent over the slow one.
#[derive(Clone, Copy)]
struct Case {
    settings: PhySettings,
    groups: usize,
    /// Sizes of frames, and octets from frame to frame.
    traffic: &'static [(u32, f64)],
}

/// Returns all lines of a code, each with the bit error ratio at which about `failure` of its groups fail.
fn lines(code: Code, modulations: &[u32], layouts: &[(u32, u32)], failure: f64) -> Vec<PhySettings> {
    let mut lines = Vec::new();
    for &(interleaved, lanes) in layouts {
        for &line_bits in modulations {
            for repeat in [0.0, 0.3, 0.5, 0.75] {
                for is_precoded in [false, true] {
                    let bit_error_ratio = 0.0;
                    let settings = PhySettings {
                        code,
                        bit_error_ratio,
                        interleaved,
                        repeat,
                        is_precoded,
                        lanes,
                        line_bits,
                    };
                    lines.push(at_failure(settings, failure));
                }
            }
        }
    }
    lines
}

/// Returns the line with the bit error ratio at which about `failure` of its groups fail. The crate's own ratio chooses where to
/// compare, and no more.
fn at_failure(settings: PhySettings, failure: f64) -> PhySettings {
    let at = |exponent: f64| PhySettings { bit_error_ratio: exponent.exp(), ..settings };
    let (mut low, mut high) = (1e-5_f64.ln(), 0.02_f64.ln());
    for _ in 0..6 {
        let middle = f64::midpoint(low, high);
        // A precoded line has no higher ratio.
        let is_below = Phy::new(at(middle)).is_ok_and(|phy| phy.group_failure_ratio() < failure);
        if is_below { low = middle } else { high = middle }
    }
    at(low)
}

/// All numbers of codewords in a group, with all numbers of lanes.
const LAYOUTS: [(u32, u32); 12] =
    [(1, 1), (1, 2), (1, 4), (1, 8), (2, 1), (2, 2), (2, 4), (2, 8), (4, 1), (4, 2), (4, 4), (4, 8)];

/// Normal variables of all cases with one value of one setting, and chances of runs and gaps.
#[derive(Default)]
struct Collected {
    normal: Vec<f64>,
    chances: Vec<f64>,
}

/// Differences by traffic, measure, and value of a setting.
#[derive(Default)]
struct Report {
    collected: BTreeMap<String, Collected>,
    failures: Vec<String>,
}

impl Report {
    fn add(&mut self, settings: &PhySettings, traffic: (u32, f64), found: Differences) {
        let lists = [("share", found.share), ("pairs", found.pairs)];
        let sizes = format!("{} every {}", traffic.0, traffic.1);
        for key in keys(settings) {
            for (measure, normal) in lists {
                let key = format!("{measure} of {sizes}, {key}");
                self.collected.entry(key).or_default().normal.extend(normal);
            }
            for (measure, chance) in [("runs", found.runs), ("gaps", found.gaps)] {
                let key = format!("{measure} of {sizes}, {key}");
                self.collected.entry(key).or_default().chances.push(chance);
            }
        }
        let normal = |normal: Option<f64>| normal.map_or(1.0, chance_of);
        let chances = [normal(found.share), normal(found.pairs), found.runs, found.gaps];
        for (measure, chance) in ["share", "pairs", "runs", "gaps"].into_iter().zip(chances) {
            self.check(format!("{measure} of {sizes}, {settings:?}: {found:?}"), chance);
        }
    }

    fn check(&mut self, name: String, chance: f64) {
        if chance < CHANCE_MIN {
            self.failures.push(format!("{chance:.1e} {name}"));
        }
    }

    /// Checks what cases have in common: a bias that each case is too short to show.
    fn finish(mut self) -> Vec<String> {
        for (key, Collected { normal, chances }) in std::mem::take(&mut self.collected) {
            let count = normal.len() as f64;
            if count > 0.0 {
                let (sum, squares) =
                    (normal.iter().sum::<f64>(), normal.iter().map(|normal| normal * normal).sum::<f64>());
                self.check(
                    format!("bias {:.2} in {count} {key}", sum / count),
                    chance_of(sum / count.sqrt()),
                );
                self.check(
                    format!("squares {squares:.1} in {count} {key}"),
                    chance_of_squares(squares, count),
                );
            }
            // Fisher's sum of logarithms.
            let sum: f64 = chances.iter().map(|chance| -2.0 * chance.max(1e-300).ln()).sum();
            let freedom = 2.0 * chances.len() as f64;
            self.check(format!("chances {sum:.1} with {freedom} {key}"), chance_of_squares(sum, freedom));
        }
        self.failures
    }
}

/// Returns the settings of a line, each as a name of the cases that share it.
fn keys(settings: &PhySettings) -> [String; 6] {
    let PhySettings { interleaved, repeat, is_precoded, lanes, line_bits, .. } = settings;
    [
        "all".into(),
        format!("interleaved {interleaved}"),
        format!("repeat {repeat}"),
        format!("precoded {is_precoded}"),
        format!("lanes {lanes}"),
        format!("line bits {line_bits}"),
    ]
}

/// Returns what sets the process of `fast` lines apart from slow lines; both are one line unless a test lies.
fn differences(cases: impl Iterator<Item = Case>, fast: impl Fn(PhySettings) -> PhySettings) -> Vec<String> {
    let mut report = Report::default();
    for (number, case) in cases.enumerate() {
        let seed = 1 + number as u64;
        let groups = Groups::send(case.settings, case.groups, seed);
        assert!(groups.failures() > 0, "{:?} never fails", case.settings);
        let model = LossModel::phy(fast(case.settings)).expect("a possible line");
        let rate = BitRate::from_bps(RATES_MBPS[number % RATES_MBPS.len()] * 1_000_000);
        for &(frame_bytes, octets) in case.traffic {
            let traffic = Traffic::every(octets, frame_bytes, rate);
            let slow = traffic.on_groups(&groups);
            let lost = traffic.on_process(&model, MORE_FRAMES * slow.len(), seed);
            report.add(&case.settings, (frame_bytes, octets), compare(&slow, &lost));
        }
    }
    report.finish()
}

/// Fails if the crate's process loses frames by another law than the slow line.
fn check(lines: Vec<PhySettings>, groups: fn(&PhySettings) -> usize, traffic: &'static [(u32, f64)]) {
    let cases = lines.into_iter().map(|settings| Case { settings, groups: groups(&settings), traffic });
    let found = differences(cases, |settings| settings);
    assert!(found.is_empty(), "{} differences: {found:#?}", found.len());
}

/// Frames of no bytes take the octets of their preamble: groups seen from close by.
#[test]
fn small_codewords_fail_as_bit_by_bit() {
    let lines = lines(Code::named("rs56/48/6").expect("a code"), &[1, 2], &LAYOUTS, 0.03);
    check(
        lines,
        |line| 6_000 / line.interleaved as usize,
        &[(0, 8.0), (64, 83.0), (64, 301.3), (1518, 1539.0)],
    );
}

/// Frames follow each other as on a busy line, and with gaps. Octets from frame to frame are odd, so that frames begin anywhere in
/// a group: with 84 octets, frames of one series would begin at every fourth octet of the 320 of RS(272,257).
const ETHERNET: &[(u32, f64)] =
    &[(64, 83.0), (64, 2000.7), (1518, 1539.0), (1518, 5000.1), (9000, 9021.0), (9000, 14_001.0)];

#[test]
fn codewords_of_rs272_fail_as_bit_by_bit() {
    let layouts = LAYOUTS.into_iter().filter(|&(interleaved, _)| interleaved < 4).collect::<Vec<_>>();
    check(lines(Code::RS272, &[1, 2], &layouts, 0.03), |line| 1_800 / line.interleaved as usize, ETHERNET);
}

/// RS(272,257) corrects seven symbols, and eight counts of four codewords each take the crate long. This code corrects two.
#[test]
fn four_codewords_in_turn_fail_as_bit_by_bit() {
    let layouts = LAYOUTS.into_iter().filter(|&(interleaved, _)| interleaved == 4).collect::<Vec<_>>();
    let code = Code::named("rs248/244/10").expect("a code");
    check(lines(code, &[1, 2], &layouts, 0.03), |_| 1_500, ETHERNET);
}

#[test]
fn bursts_of_the_firecode_fail_as_bit_by_bit() {
    let lines = lines(Code::Firecode, &[1], &[(1, 1)], 0.03);
    check(lines, |_| 8_000, &[(64, 83.0), (64, 1000.3), (1518, 1539.0), (1518, 4000.1), (9000, 9021.0)]);
}

#[test]
fn octets_without_a_code_fail_as_bit_by_bit() {
    let lines = lines(Code::None, &[1, 2], &[(1, 1)], 2e-4);
    check(
        lines,
        |_| 1_500_000,
        &[(0, 8.0), (64, 83.0), (64, 200.3), (1518, 1539.0), (1518, 4000.1), (9000, 9021.0)],
    );
}

/// A line that lies about one setting is told apart, by the tests that the true lines pass.
#[test]
fn lines_with_another_setting_are_told_apart() {
    let code = Code::named("rs56/48/6").expect("a code");
    let lies: [fn(&mut PhySettings); 6] = [
        |line| line.repeat = 0.6,
        |line| line.is_precoded = !line.is_precoded,
        |line| line.lanes = 8,
        |line| line.interleaved = 1,
        |line| line.line_bits = 1,
        |line| line.bit_error_ratio *= 1.05,
    ];
    let lines = || lines(code, &[2], &[(2, 1), (2, 2)], 0.03).into_iter().filter(|line| line.repeat == 0.5);
    let cases =
        || lines().map(|settings| Case { settings, groups: 12_000, traffic: &[(0, 8.0), (64, 83.0)] });
    assert_eq!(differences(cases(), |settings| settings), [""; 0]);
    for (number, lie) in lies.into_iter().enumerate() {
        let found = differences(cases(), |mut settings| {
            lie(&mut settings);
            settings
        });
        assert!(!found.is_empty(), "lie {number} was not found");
    }
}
