//! Chances against values of 60 digits, and running lines against those chances.

use super::*;
use crate::binomial::at_least;
use crate::loss::{LossLaw, LossModel, LossProcess};
use crate::rng::Streams;
use crate::time::{Duration, Instant};
use crate::units::BitRate;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

const RATE: BitRate = BitRate::from_gbps(100);

fn settings(code: Code, bit_error_ratio: f64) -> PhySettings {
    PhySettings {
        code,
        bit_error_ratio,
        interleaved: 1,
        repeat: 0.0,
        is_precoded: false,
        lanes: 1,
        line_bits: if code == Code::Firecode { 1 } else { 2 },
    }
}

fn phy(settings: PhySettings) -> Phy {
    Phy::new(settings).unwrap()
}

fn process(settings: PhySettings, seed: u64) -> LossProcess {
    LossProcess::on_line(&LossModel::phy(settings).unwrap(), RATE, Streams::new(seed).stream("link/0/loss"))
}

/// Independent errors, computed with 60 digits: codewords that fail, and lost frames of 64, 1,518 and 9,000 bytes.
const RATIOS: [(Code, f64, f64, [f64; 3]); 9] = [
    (Code::RS528, 5e-4, 5.6129e-3, [6.234e-3, 1.886e-2, 8.134e-2]),
    (Code::RS528, 2e-4, 1.4404e-5, [1.600e-5, 4.873e-5, 2.171e-4]),
    (Code::RS528, 1e-5, 1.3558e-15, [1.506e-15, 4.586e-15, 2.044e-14]),
    (Code::RS544, 1e-3, 1.5303e-4, [1.700e-4, 5.176e-4, 2.304e-3]),
    (Code::RS544, 2.4e-4, 8.1516e-13, [9.056e-13, 2.758e-12, 1.229e-11]),
    (Code::RS544, 1e-4, 1.3598e-18, [1.511e-18, 4.600e-18, 2.050e-17]),
    (Code::RS272, 1e-3, 6.4310e-3, [7.852e-3, 3.652e-2, 1.714e-1]),
    (Code::RS272, 3e-4, 2.1570e-6, [2.636e-6, 1.244e-5, 6.287e-5]),
    (Code::RS272, 1e-5, 6.5397e-18, [7.991e-18, 3.771e-17, 1.906e-16]),
];

/// The shares of codewords by their wrong symbols: of independent errors those of the binomial law, of errors that repeat with the
/// chance of a failure that the fates have. All shares add up to one, and the wrong symbols to those of the line.
#[test]
fn codewords_have_wrong_symbols_by_the_law_of_the_line() {
    let line = settings(Code::RS544, 1e-3);
    let shares = phy(line).wrong_symbols().unwrap();
    let symbol = any_of(1e-3, 10.0);
    for (count, share) in shares.iter().take(16).enumerate() {
        let count = count as u64;
        let exactly = at_least(count, 544, symbol) - at_least(count + 1, 544, symbol);
        assert!((share / exactly - 1.0).abs() < 1e-6, "{count}: {share} {exactly}");
    }
    for (repeat, interleaved) in [(0.0, 1), (0.5, 1), (0.5, 2)] {
        let phy = phy(PhySettings { repeat, interleaved, ..line });
        let shares = phy.wrong_symbols().unwrap();
        assert!((shares.len() == 17) && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        if interleaved == 1 {
            assert!((shares[16] / phy.group_failure_ratio() - 1.0).abs() < 1e-9);
        } else {
            assert!(shares[16] < phy.group_failure_ratio() && phy.group_failure_ratio() < 2.0 * shares[16]);
        }
    }
    assert_eq!(phy(settings(Code::Firecode, 1e-3)).wrong_symbols(), None);
}

/// The frames' ratios have the mean number of codewords that a frame touches in their exponent. An average over the two numbers
/// that occur differs by half of the codewords' ratio at most.
#[test]
fn ratios_are_those_of_sixty_digits() {
    for (code, ber, codewords, frames) in RATIOS {
        let phy = phy(settings(code, ber));
        let found = phy.group_failure_ratio();
        assert!((found / codewords - 1.0).abs() < 5e-5, "{code} {ber}: {found}");
        for (bytes, expected) in [64, 1518, 9000].into_iter().zip(frames) {
            let found = phy.mean_loss_rate(bytes);
            assert!((found / expected - 1.0).abs() < 5e-4 + codewords / 2.0, "{code} {ber} {bytes}: {found}");
        }
    }
}

/// Errors that hardly ever repeat are as good as independent ones, which have a closed form; the count of wrong symbols has none.
#[test]
fn counts_of_wrong_symbols_come_near_to_the_closed_form() {
    for code in [Code::RS528, Code::RS544, Code::RS272] {
        for interleaved in [1, 2] {
            for lanes in [1, 4] {
                let apart = PhySettings { interleaved, lanes, ..settings(code, 3e-4) };
                let repeated = phy(PhySettings { repeat: 1e-10, ..apart }).group_failure_ratio();
                let alone = phy(apart).group_failure_ratio();
                assert!(
                    (repeated / alone - 1.0).abs() < 1e-6,
                    "{code} {interleaved} {lanes}: {repeated} {alone}"
                );
            }
        }
    }
}

/// An octet without a code is wrong with any of its bits; a burst of 11 bits is all that the Firecode corrects.
#[test]
fn codes_without_symbols_have_closed_forms() {
    let ber: f64 = 1e-3;
    let octet = phy(settings(Code::None, ber)).group_failure_ratio();
    assert!((octet / (1.0 - (1.0 - ber).powi(8)) - 1.0).abs() < 1e-12);
    // The codeword is right, or has its first wrong bit anywhere and none behind the ten bits after it.
    let right = |bits: i32| (1.0 - ber).powi(bits);
    let corrected: f64 =
        right(2112) + (0..2112).map(|first| ber * right(first + (2112 - first - 11).max(0))).sum::<f64>();
    let failed = phy(settings(Code::Firecode, ber)).group_failure_ratio();
    assert!((failed / (1.0 - corrected) - 1.0).abs() < 1e-9, "{failed} {corrected}");
}

/// A code, its interleaving, whether the line is precoded, its lanes, the bits of a line symbol; the share of groups that fail, and of
/// frames of 1,518 bytes that are lost.
type Line<'a> = (&'a str, u32, bool, u32, u32, f64, f64);

/// Errors of 3e-4 that repeat with one half, by `lossylink.theory.phy`, which was written apart from this module.
const REPEATED: [Line<'_>; 14] = [
    ("rs528", 1, false, 1, 1, 3.825992056e-05, 1.294200547e-04),
    ("rs528", 1, false, 1, 2, 1.710531989e-04, 5.785192671e-04),
    ("rs528", 1, false, 4, 1, 1.357641836e-02, 4.516665064e-02),
    ("rs528", 1, false, 4, 2, 8.031296604e-03, 2.690147768e-02),
    ("rs528", 1, true, 1, 1, 1.436372220e-04, 4.858120437e-04),
    ("rs528", 1, true, 4, 2, 5.120421061e-03, 1.721293541e-02),
    ("rs528", 2, false, 1, 2, 1.696052377e-05, 3.716699865e-05),
    ("rs528", 2, false, 4, 2, 3.159729561e-03, 6.910433000e-03),
    ("rs528", 2, true, 4, 2, 2.580135301e-03, 5.644916539e-03),
    ("rs272", 1, false, 1, 2, 8.563976874e-06, 4.937566150e-05),
    ("rs272", 1, false, 4, 2, 1.423982371e-03, 8.182080428e-03),
    ("rs272", 1, true, 4, 1, 6.214804954e-04, 3.577886729e-03),
    ("rs272", 2, false, 4, 2, 2.271023960e-04, 7.680302760e-04),
    ("rs272", 2, true, 4, 2, 1.221864825e-04, 4.132719586e-04),
];

#[test]
fn ratios_are_those_of_the_theory() {
    for (name, interleaved, is_precoded, lanes, line_bits, groups, frames) in REPEATED {
        let code = Code::named(name).unwrap();
        let line = phy(PhySettings {
            code,
            bit_error_ratio: 3e-4,
            interleaved,
            repeat: 0.5,
            is_precoded,
            lanes,
            line_bits,
        });
        let found = [line.group_failure_ratio(), line.mean_loss_rate(1518)];
        for (found, expected) in found.into_iter().zip([groups, frames]) {
            assert!((found / expected - 1.0).abs() < 1e-8, "{line:?}: {found} {expected}");
        }
    }
}

/// Returns which of `frames` frames are lost if one frame begins every `spacing`.
fn lost(process: &mut LossProcess, frame_bytes: u32, spacing: Duration, frames: u64) -> Vec<bool> {
    (0..frames).map(|frame| process.is_lost_at(Instant::ZERO + spacing * frame, frame_bytes)).collect()
}

/// Frames on a busy line and on an idle one are lost at the mean ratio. Losses of one group come together, so the number of lost
/// frames varies by the length of the bursts more than that of independent losses.
#[test]
fn frames_are_lost_at_the_mean_ratio() {
    let bursts = PhySettings { repeat: 0.5, ..settings(Code::RS544, 4e-4) };
    for settings in [
        settings(Code::RS272, 1e-3),
        settings(Code::None, 1e-6),
        settings(Code::Firecode, 2e-4),
        bursts,
        PhySettings { interleaved: 2, ..bursts },
        PhySettings { lanes: 4, ..bursts },
        PhySettings { is_precoded: true, ..bursts },
    ] {
        for (bytes, spacing_ns) in [(64, 7), (1518, 124), (1518, 3_000), (9000, 722)] {
            let mut process = process(settings, 3);
            let frames = 400_000;
            let found = lost(&mut process, bytes, Duration::from_ns(spacing_ns), frames)
                .into_iter()
                .filter(|&l| l)
                .count();
            let mean = phy(settings).mean_loss_rate(bytes);
            let together = 1.0 + phy(settings).group_octets() / (spacing_ns as f64 * 12.5);
            let sigma = (frames as f64 * mean * (1.0 - mean) * 2.0 * together).sqrt();
            let expected = frames as f64 * mean;
            assert!(
                (found as f64 - expected).abs() < 4.0 * sigma + 1.0,
                "{settings:?} {bytes}: {found} {expected}"
            );
        }
    }
}

/// Frames of a busy line are lost in a row as often as the law says. Events of one group come together, as in the test above.
#[test]
fn frames_are_lost_in_a_row_as_often_as_the_law_says() {
    for (bytes, frames) in [(64u32, 2_000_000u64), (1518, 1_000_000)] {
        let settings = settings(Code::RS272, 1e-3);
        let spacing = Duration::from_ps(80 * (u64::from(bytes) + 20));
        let seen = lost(&mut process(settings, 5), bytes, spacing, frames);
        let law = phy(settings).law(bytes);
        assert!((law.lost_in_a_row(1) / law.rate() - 1.0).abs() < 1e-9);
        for run in [2, 3, 5, 9] {
            let found = seen.windows(run).filter(|window| window.iter().all(|&lost| lost)).count() as f64;
            let expected = frames as f64 * law.lost_in_a_row(run as u32);
            let sigma = (expected * 10.0).sqrt();
            assert!((found - expected).abs() < 4.0 * sigma + 3.0, "{bytes} {run}: {found} {expected}");
        }
    }
}

/// Frames of 224 octets and groups of 320 meet at ten places. Alignment markers move them, so that a failed group takes as many
/// frames as if they began anywhere.
#[test]
fn frames_in_step_with_groups_meet_them_anywhere() {
    let spacing = Duration::from_ps(224 * 80);
    let mut process = process(settings(Code::RS272, 3e-4), 2);
    let (failures, mut lost, mut frame) = (10_000, 0u32, 0);
    for _ in 0..failures {
        let clear = process.clear_before(204).saturating_since(Instant::ZERO + spacing * 2).as_ps();
        frame = (clear / spacing.as_ps()).max(frame);
        let mut of_failure = 0;
        while of_failure == 0 || process.is_lost_at(Instant::ZERO + spacing * frame, 204) {
            of_failure +=
                u32::from(of_failure > 0 || process.is_lost_at(Instant::ZERO + spacing * frame, 204));
            frame += 1;
        }
        lost += of_failure;
        // A frame behind the failure lets the process look for the next one.
        frame += 2;
        process.is_lost_at(Instant::ZERO + spacing * frame, 204);
    }
    let (found, expected) = (f64::from(lost) / f64::from(failures), (320.0 + 211.0) / 224.0);
    assert!((found - expected).abs() < 0.02, "{found} {expected}");
}

#[test]
fn lines_without_errors_lose_nothing() {
    for repeat in [0.0, 0.5] {
        let model = LossModel::phy(PhySettings { repeat, ..settings(Code::RS544, 0.0) }).unwrap();
        assert!(model.is_clean());
        assert_eq!(model.mean_loss_rate(1518), 0.0);
        assert_eq!(model.law(1518, RATE), LossLaw::Independent(0.0));
        assert!(LossProcess::new(&model, Streams::new(1).stream("clean")).is_clean());
    }
}

#[test]
fn lines_of_errors_lose_everything() {
    for code in [Code::None, Code::Firecode, Code::RS544] {
        let mut process = process(settings(code, 0.5), 1);
        assert!(lost(&mut process, 64, Duration::from_ns(7), 1_000).into_iter().all(|lost| lost), "{code}");
        assert!((phy(settings(code, 0.5)).mean_loss_rate(64) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn impossible_lines_are_refused() {
    let refused = |change: fn(&mut PhySettings)| {
        let mut settings = settings(Code::RS544, 1e-4);
        change(&mut settings);
        Phy::new(settings).unwrap_err()
    };
    assert_eq!(refused(|s| s.interleaved = 3), LossError::NoInterleaving(3));
    assert_eq!(refused(|s| s.lanes = 16), LossError::NoLanes { lanes: 16, most: 8 });
    assert_eq!(refused(|s| (s.code, s.lanes) = (Code::None, 2)), LossError::NothingToInterleave);
    assert_eq!(refused(|s| (s.code, s.line_bits) = (Code::Firecode, 2)), LossError::FirecodeIsNrz);
    assert_eq!(
        refused(|s| s.code = Code::named("rs15/11/5").unwrap()),
        LossError::UnevenLanes { lanes: 1, line_bits: 2 }
    );
    let wide = |s: &mut PhySettings| {
        (s.code, s.interleaved, s.repeat) = (Code::named("rs1023/823/10").unwrap(), 4, 0.5);
    };
    assert_eq!(refused(wide), LossError::TooManyToCount(100));
}

/// A failure is drawn as an explicit chain would find it, group by group.
#[test]
fn distances_of_failures_are_those_of_the_chain() {
    let line = PhySettings { repeat: 0.9, ..settings(Code::None, 0.02) };
    let fates = phy(line).fates;
    // The chance that the next group fails if this one does, and if it is corrected.
    let share = |row: [f64; 2]| row[0] + row[1];
    let both = share(fates.failed.behind(fates.failed.behind(fates.start)));
    let (frames, mut process) = (400_000, process(line, 9));
    // One frame of no bytes begins at each ninth octet, and takes the eight octets of its preamble: octet by octet this is a look at
    // neighbouring groups through frames.
    let seen = lost(&mut process, 0, Duration::from_ps(8 * 80), frames);
    let pairs = seen.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / frames as f64;
    let alone = seen.iter().filter(|&&lost| lost).count() as f64 / frames as f64;
    let eight = fates.any_failure(8);
    let sixteen = fates.any_failure(16);
    assert!(both > fates.failure() * fates.failure());
    assert!((alone / eight - 1.0).abs() < 0.02, "{alone} {eight}");
    assert!((pairs / (2.0 * eight - sixteen) - 1.0).abs() < 0.03, "{pairs} {}", 2.0 * eight - sixteen);
}

proptest! {
    /// The times of failures are a property of the line: frames that others see do not change whether a frame is lost.
    #[test]
    fn traffic_does_not_change_the_failures(
        seed in any::<u64>(),
        times in prop::collection::btree_set(0u64..20_000_000, 1..200),
        every in 1usize..7,
        ber in 1e-4..2e-3f64,
    ) {
        let line = PhySettings { repeat: 0.5, ..settings(Code::RS272, ber) };
        let (mut many, mut few) = (process(line, seed), process(line, seed));
        for (place, &ps) in times.iter().enumerate() {
            let lost = many.is_lost_at(Instant::from_ps(ps), 64);
            if place % every == 0 {
                prop_assert_eq!(few.is_lost_at(Instant::from_ps(ps), 64), lost);
            }
        }
    }

    /// A longer frame is lost with every frame that begins with it and is shorter; a frame that is certain to pass passes.
    #[test]
    fn frames_are_lost_by_their_octets(
        seed in any::<u64>(),
        times in prop::collection::btree_set(0u64..200_000_000, 1..200),
        bytes in 64u32..9000,
        gbps in prop::sample::select(vec![1u64, 10, 25, 40, 100, 200, 400, 800, 1600]),
    ) {
        let line = PhySettings { interleaved: 2, ..settings(Code::RS528, 4e-4) };
        let model = LossModel::phy(line).unwrap();
        let stream = || Streams::new(seed).stream("link/0/loss");
        let rate = BitRate::from_gbps(gbps);
        let (mut short, mut long) = (LossProcess::on_line(&model, rate, stream()), LossProcess::on_line(&model, rate, stream()));
        for &ps in &times {
            let now = Instant::from_ps(ps);
            let is_certain = now < long.clear_before(bytes);
            let (is_short_lost, is_long_lost) = (short.is_lost_at(now, 64), long.is_lost_at(now, bytes));
            prop_assert!(is_long_lost || !is_short_lost);
            prop_assert!(!(is_certain && is_long_lost));
        }
    }
}
