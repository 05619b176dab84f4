//! The ends of every range: chances, rates, times, sizes of frames.

use lossylink_core::loss::{Code, LossModel, LossProcess, Phy, PhySettings};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;

const RATES_BPS: [u64; 5] = [1_000, 1_000_000, 10_312_500_000, 100_000_000_000, 1_600_000_000_000];
const CODES: [&str; 7] = ["none", "firecode", "rs528", "rs544", "rs272", "rs3/1/2", "rs255/239/8"];

/// Returns lines of every code, with and without memory.
fn lines(bit_error_ratio: f64) -> Vec<PhySettings> {
    let mut lines = Vec::new();
    for name in CODES {
        let code = Code::named(name).expect("a code");
        let line_bits = if code == Code::Firecode { 1 } else { 2 };
        for (repeat, is_precoded) in [(0.0, false), (0.75, false), (0.75, true), (0.99, false), (0.99, true)]
        {
            lines.push(PhySettings {
                code,
                bit_error_ratio,
                interleaved: 1,
                repeat,
                is_precoded,
                lanes: 1,
                line_bits,
            });
        }
    }
    lines
}

fn process(model: &LossModel, bits_per_second: u64, seed: u64) -> LossProcess {
    LossProcess::on_line(model, BitRate::from_bps(bits_per_second), Streams::new(seed).stream("link/0/loss"))
}

/// Instants in order: close together, hours apart, and at the end of time.
fn instants() -> Vec<Instant> {
    let hour = 3_600 * 1_000_000_000_000_u64;
    let mut ps = vec![0, 1, 1_000, 7_000, 1_000_000, hour, hour + 1, 30 * hour, 1_000 * hour];
    ps.extend([u64::MAX / 2, u64::MAX - 1_000_000, u64::MAX - 1]);
    ps.into_iter().map(Instant::from_ps).collect()
}

#[test]
fn ratios_are_ratios_that_rise_with_errors_and_with_frames() {
    let ratios = [1e-300, 1e-100, 1e-20, 1e-12, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5];
    let mut before = vec![0.0; lines(0.0).len()];
    for ratio in ratios {
        for (number, settings) in lines(ratio).into_iter().enumerate() {
            let Ok(phy) = Phy::new(settings) else {
                assert!(settings.is_precoded && ratio > 1e-3, "{settings:?} is refused");
                continue;
            };
            let group = phy.group_failure_ratio();
            assert!(
                (before[number]..=1.0 + 1e-12).contains(&group),
                "{settings:?}: {group} after {}",
                before[number]
            );
            before[number] = group * (1.0 - 1e-9);
            let mut shorter = group * (1.0 - 1e-9);
            for frame_bytes in [0, 64, 1518, 65_535] {
                let lost = phy.mean_loss_rate(frame_bytes);
                assert!(
                    (shorter..=1.0 + 1e-12).contains(&lost),
                    "{settings:?} {frame_bytes}: {lost} < {shorter}"
                );
                shorter = lost * (1.0 - 1e-9);
            }
        }
    }
}

/// Every line lives through all of its time, and loses hardly anything or nearly everything at the ends of its range.
#[test]
fn lines_live_until_the_end_of_time() {
    for ratio in [1e-300, 1e-20, 1e-9, 1e-4, 0.01, 0.5] {
        for settings in lines(ratio) {
            let Ok(model) = LossModel::phy(settings) else { continue };
            for rate in RATES_BPS {
                let mut process = process(&model, rate, 5);
                for (now, frame_bytes) in instants().into_iter().flat_map(|now| [(now, 64), (now, 65_535)]) {
                    let is_certain = now < process.clear_before(frame_bytes);
                    let is_lost = process.is_lost_at(now, frame_bytes);
                    assert!(!(is_certain && is_lost), "{settings:?} at {now:?}");
                    assert!(!is_lost || ratio > 1e-12, "{settings:?} lost at {now:?}");
                    assert!(
                        is_lost || ratio < 0.5 || settings.repeat > 0.0,
                        "{settings:?} passed at {now:?}"
                    );
                }
            }
        }
    }
}

/// A line whose groups nearly all fail has thousands of failures between two frames: the state is found at once, and the share of
/// lost frames stays that of the line.
#[test]
fn frames_hours_apart_are_lost_at_the_mean_ratio() {
    for settings in lines(0.01) {
        let Ok(model) = LossModel::phy(settings) else { continue };
        let expected = model.mean_loss_rate(64).min(1.0);
        let frames = 150_u64;
        let mut process = process(&model, 100_000_000_000, 7);
        let hour = Duration::from_secs(3_600) + Duration::from_ps(1_234_567);
        let lost = (0..frames).filter(|&frame| process.is_lost_at(Instant::ZERO + hour * frame, 64)).count();
        let sigma = (frames as f64 * expected * (1.0 - expected)).sqrt();
        let apart = (lost as f64 - frames as f64 * expected).abs();
        assert!(apart <= 5.0 * sigma + 1e-6, "{settings:?}: {lost} lost, {expected} expected");
    }
}
