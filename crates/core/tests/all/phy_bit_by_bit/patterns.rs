//! Chances of failures as sums over every pattern of errors of tiny codes.

use super::line::{Chain, Layout, group_octets};
use lossylink_core::loss::{Code, Phy, PhySettings};

/// Rounding of a sum of some million terms stays far below.
const RELATIVE: f64 = 1e-9;

/// From the state before a group to the state behind: chances of a corrected group, and of a failed one.
type States = [[f64; 2]; 2];

/// The patterns of a group's wrong bits, each with its fate.
struct Patterns<'a> {
    settings: PhySettings,
    chain: Chain,
    /// Whether the group fails, by its wrong bits.
    fails: &'a [bool],
    bits: usize,
}

impl Patterns<'_> {
    /// Adds the chances of all patterns that go on from `bit`, where the line has `state` and `wrong` bits were wrong.
    fn add(
        &self,
        bit: usize,
        state: usize,
        wrong: usize,
        chance: f64,
        [corrected, failed]: [&mut [f64; 2]; 2],
    ) {
        if bit == self.bits {
            let ends = if self.fails[wrong] { failed } else { corrected };
            ends[state] += chance;
            return;
        }
        let PhySettings { line_bits, bit_error_ratio, is_precoded, .. } = self.settings;
        for next in [0, 1] {
            let to_wrong = self.chain.behind[state];
            let chance = chance * if next == 1 { to_wrong } else { 1.0 - to_wrong };
            let is_found = if is_precoded { next != state } else { next == 1 };
            let behind = bit + line_bits as usize;
            if chance == 0.0 {
                continue;
            }
            if !is_found {
                self.add(behind, next, wrong, chance, [corrected, failed]);
            } else if line_bits == 1 {
                self.add(behind, next, wrong | 1 << bit, chance, [corrected, failed]);
            } else {
                let (one, all) = (bit_error_ratio, 1.0 - (1.0 - bit_error_ratio).powi(2));
                for (which, share) in [(1, one * (1.0 - one)), (2, one * (1.0 - one)), (3, one * one)] {
                    self.add(behind, next, wrong | which << bit, chance * share / all, [corrected, failed]);
                }
            }
        }
    }

    /// Returns the chances of corrected groups and of failed ones, from state to state.
    fn sums(&self) -> (States, States) {
        let (mut corrected, mut failed) = (States::default(), States::default());
        for state in [0, 1] {
            self.add(0, state, 0, 1.0, [&mut corrected[state], &mut failed[state]]);
        }
        (corrected, failed)
    }
}

/// Returns the fate of each pattern of wrong bits.
fn fates(settings: &PhySettings) -> Vec<bool> {
    // An octet without a code fails with any wrong bit.
    let octet = Layout { symbols: 8, symbol_bits: 1, corrects: 0, interleaved: 1, lanes: 1 };
    let layout = Layout::of(settings).unwrap_or(octet);
    let mut symbols = vec![0; layout.symbols * layout.interleaved];
    for bit in 0..layout.bits() {
        symbols[layout.symbol_of(bit)] |= 1usize << bit;
    }
    let wrong_symbols = |word: usize, wrong: usize| {
        symbols.iter().skip(word).step_by(layout.interleaved).filter(|&&bits| bits & wrong != 0).count()
    };
    let fails = |wrong| (0..layout.interleaved).any(|word| wrong_symbols(word, wrong) > layout.corrects);
    (0..1 << layout.bits()).map(fails).collect()
}

/// Returns the chance that any of `groups` groups in a row fails.
fn any_failure(chain: Chain, (corrected, failed): (States, States), groups: u64) -> f64 {
    let (mut state, mut any) = ([1.0 - chain.wrong, chain.wrong], 0.0);
    for _ in 0..groups {
        let behind = |from: States| [0, 1].map(|end| state[0] * from[0][end] + state[1] * from[1][end]);
        any += behind(failed).iter().sum::<f64>();
        state = behind(corrected);
    }
    any
}

/// Returns the share of lost frames, which begin anywhere in a group: a frame takes a number of groups, or one more.
fn frames_lost(settings: &PhySettings, frame_bytes: u32, any: impl Fn(u64) -> f64) -> f64 {
    let (octets, part) = group_octets(settings);
    let beyond_first = (u64::from(frame_bytes) + 7) * part;
    let (whole, more) = (beyond_first / octets, (beyond_first % octets) as f64 / octets as f64);
    (1.0 - more) * any(whole + 1) + more * any(whole + 2)
}

/// Chances that an error repeats, each with or without precoding.
const LINES: [(f64, bool); 6] =
    [(0.0, false), (0.0, true), (0.3, true), (0.5, false), (0.75, false), (0.75, true)];

/// Compares a group's chance of failure, and the shares of lost frames, on these lines.
fn check(name: &str, (interleaved, lanes): (u32, u32), line_bits: u32, lines: &[(f64, bool)]) {
    let code = Code::named(name).expect("a code");
    let bit_error_ratio = 0.0;
    let alone =
        PhySettings { code, bit_error_ratio, interleaved, repeat: 0.0, is_precoded: false, lanes, line_bits };
    let fails = fates(&alone);
    for (number, &(repeat, is_precoded)) in lines.iter().enumerate() {
        // The ratios take turns, so that the largest codes take little time.
        let bit_error_ratio = [1e-3, 0.02, 0.06][number % 3];
        let settings = PhySettings { bit_error_ratio, repeat, is_precoded, ..alone };
        let chain = Chain::of(&settings);
        let bits = fails.len().ilog2() as usize;
        let sums = Patterns { settings, chain, fails: &fails, bits }.sums();
        let phy = Phy::new(settings).expect("a possible line");
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < RELATIVE;
        let (found, expected) = (phy.group_failure_ratio(), any_failure(chain, sums, 1));
        assert!(close(found, expected), "{settings:?}: {found} {expected}");
        for frame_bytes in [0, 1, 64, 150] {
            let found = phy.mean_loss_rate(frame_bytes);
            let expected = frames_lost(&settings, frame_bytes, |groups| any_failure(chain, sums, groups));
            assert!(close(found, expected), "{settings:?} {frame_bytes}: {found} {expected}");
        }
    }
}

#[test]
fn octets_without_a_code_are_the_sum_over_every_pattern() {
    for line_bits in [1, 2] {
        check("none", (1, 1), line_bits, &LINES);
    }
}

#[test]
fn codewords_are_the_sum_over_every_pattern() {
    for name in ["rs2/1/2", "rs3/1/2", "rs4/1/4", "rs5/3/4"] {
        for line_bits in [1, 2] {
            check(name, (1, 1), line_bits, &LINES);
        }
    }
    check("rs7/3/3", (1, 1), 1, &LINES[3..]);
}

#[test]
fn groups_on_lanes_are_the_sum_over_every_pattern() {
    let groups = [
        ("rs3/1/2", [(2, 1), (2, 2)].as_slice()),
        ("rs2/1/2", &[(1, 2), (2, 4), (4, 1), (4, 2), (4, 4), (4, 8)]),
        ("rs4/2/3", &[(1, 2), (1, 4)]),
        ("rs4/1/4", &[(1, 2), (1, 4)]),
    ];
    for (name, layouts) in groups {
        for &layout in layouts {
            for line_bits in [1, 2] {
                check(name, layout, line_bits, &LINES);
            }
        }
    }
}

/// Sixteen million patterns each: two codewords that correct a symbol, on as many lanes as there are symbols, or half as many.
#[test]
fn codewords_that_correct_on_lanes_are_the_sum_over_every_pattern() {
    check("rs4/2/3", (2, 8), 2, &LINES[5..]);
    check("rs4/2/3", (2, 4), 1, &LINES[4..5]);
}
