//! Losses at the promised rates, and frames that are skipped against frames that are offered.

use super::super::{Code, PhySettings};
use super::*;
use crate::rng::Streams;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn process(model: &LossModel, seed: u64) -> LossProcess {
    LossProcess::on_line(model, BitRate::from_gbps(100), Streams::new(seed).stream("link/0/loss"))
}

/// Fails unless the losses among `frames` lie within five standard deviations of the mean of
/// the model: a fair process fails once in two million runs, and the seed is fixed.
fn check_mean(model: &LossModel, frames: u64, frame_bytes: u32) {
    let mut process = process(model, 5);
    let lost = (0..frames).filter(|_| process.is_lost(frame_bytes)).count() as f64;
    let (n, p) = (frames as f64, model.mean_loss_rate(frame_bytes));
    let sigma = libm::sqrt(n * p * (1.0 - p));
    assert!((lost - n * p).abs() <= 5.0 * sigma, "{model:?}: {lost} lost, {} expected", n * p);
}

#[test]
fn independent_losses_come_at_the_promised_rate() {
    for p in [0.0, 1e-3, 0.05, 0.5, 0.9, 1.0] {
        check_mean(&LossModel::bernoulli(p).unwrap(), 1_000_000, 1518);
        check_mean(&LossModel::quantised(p).unwrap(), 1_000_000, 1518);
    }
}

// RARE-14: a burst in a hundred frames, of two losses each; and single losses once in a hundred frames.
#[test]
fn hastened_losses_come_as_bursts_of_the_law() {
    let bursts = LossModel::gilbert_elliott(1e-9, 0.5, 0.0, 1.0).unwrap();
    for (model, mean) in [(bursts, 2.0 / 102.0), (LossModel::bit_error_rate(1e-12).unwrap(), 0.01)] {
        let stream = Streams::new(7).stream("hastened");
        let mut often = process(&model, 5).hastened(100, stream).unwrap();
        let lost = (0..1_000_000).filter(|_| often.is_lost(1518)).count() as f64;
        // Five standard deviations; losses of a burst count together.
        assert!((lost - 1e6 * mean).abs() < 5.0 * libm::sqrt(6.0 * 1e6 * mean), "{model:?}: {lost}");
    }
    let list = LossModel::at(vec![3]).unwrap();
    assert!(process(&list, 5).hastened(100, Streams::new(7).stream("hastened")).is_none());
}

#[test]
fn bit_errors_hit_long_frames_more_often() {
    let model = LossModel::bit_error_rate(2e-6).unwrap();
    for frame_bytes in [64, 1518, 9018] {
        check_mean(&model, 1_000_000, frame_bytes);
    }
}

#[test]
fn bit_errors_do_not_care_how_sizes_alternate() {
    let model = LossModel::bit_error_rate(1e-5).unwrap();
    let mut process = process(&model, 3);
    let (mut short, mut long, n) = (0, 0, 500_000);
    for _ in 0..n {
        short += u32::from(process.is_lost(64));
        long += u32::from(process.is_lost(1518));
    }
    for (lost, frame_bytes) in [(short, 64), (long, 1518)] {
        let (mean, p) = (f64::from(n) * model.mean_loss_rate(frame_bytes), model.mean_loss_rate(frame_bytes));
        let sigma = libm::sqrt(mean * (1.0 - p));
        assert!((f64::from(lost) - mean).abs() < 5.0 * sigma, "{frame_bytes} B: {lost} lost");
    }
}

/// Losses of neighbours are independent: pairs of losses come at the rate p^2.
#[test]
fn independent_losses_are_independent() {
    let (p, n) = (0.05f64, 1_000_000);
    let mut process = process(&LossModel::bernoulli(p).unwrap(), 8);
    let lost: Vec<bool> = (0..n).map(|_| process.is_lost(64)).collect();
    let pairs = lost.chunks_exact(2).filter(|pair| pair[0] && pair[1]).count() as f64;
    let mean = f64::from(n / 2) * p * p;
    assert!((pairs - mean).abs() < 5.0 * libm::sqrt(mean), "{pairs} pairs, {mean} expected");
}

#[test]
fn a_clean_link_stays_clean_at_any_distance() {
    let mut process = process(&LossModel::None, 1);
    for _ in 0..3 {
        assert_eq!(process.clear_frames(1518), u64::MAX);
        process.skip(u64::MAX, 1518);
        assert!(!process.is_lost(1518));
    }
}

#[test]
fn a_certain_loss_leaves_nothing_to_skip() {
    let mut process = process(&LossModel::bernoulli(1.0).unwrap(), 1);
    assert_eq!(process.clear_frames(64), 0);
    assert!((0..100).all(|_| process.is_lost(64)));
}

#[test]
#[should_panic(expected = "has to know when")]
fn a_link_that_fades_asks_when_a_frame_begins() {
    process(&LossModel::fades(Duration::from_ms(1), Duration::from_ms(1)).unwrap(), 1).is_lost(64);
}

#[test]
#[should_panic(expected = "certain to pass")]
fn a_loss_cannot_be_skipped() {
    let mut process = process(&LossModel::at(vec![3]).unwrap(), 1);
    process.skip(4, 64);
}

fn any_model() -> impl Strategy<Value = LossModel> {
    let chance = || prop_oneof![Just(0.0), Just(1.0), 1e-4..0.9f64];
    prop_oneof![
        Just(LossModel::None),
        chance().prop_map(|p| LossModel::bernoulli(p).unwrap()),
        chance().prop_map(|p| LossModel::quantised(p).unwrap()),
        (1e-6..1e-3f64).prop_map(|ber| LossModel::bit_error_rate(ber).unwrap()),
        (1e-3..1.0f64, chance(), chance(), chance())
            .prop_map(|(p, r, good, bad)| LossModel::gilbert_elliott(p, r, good, bad).unwrap()),
        (1u64..3_000, 1u64..300).prop_map(|(clear, fade)| {
            LossModel::fades(Duration::from_ns(clear), Duration::from_ns(fade)).unwrap()
        }),
        (1e-4..1e-2f64, prop_oneof![Just(0.0), Just(0.5)], any::<bool>()).prop_map(
            |(ber, repeat, is_precoded)| {
                let code = Code::RS272;
                let settings = PhySettings {
                    code,
                    bit_error_ratio: ber,
                    interleaved: 1,
                    repeat,
                    is_precoded,
                    lanes: 1,
                    line_bits: 2,
                };
                LossModel::phy(settings).unwrap()
            }
        ),
        prop::collection::btree_set(0..500u64, 1..20)
            .prop_map(|at| LossModel::at(at.into_iter().collect()).unwrap()),
        prop::collection::vec(any::<bool>(), 1..50).prop_map(|lost| LossModel::trace(&lost).unwrap()),
    ]
}

proptest! {
    /// Skipping certain survivors equals offering them one by one.
    #[test]
    fn skipping_equals_offering(
        model in any_model(),
        seed in any::<u64>(),
        steps in prop::collection::vec((0..=u64::MAX, prop_oneof![Just(64u32), Just(1518)]), 1..60),
    ) {
        let mut skipping = process(&model, seed);
        let mut offering = skipping.clone();
        for (now, (draw, frame_bytes)) in (0u64..).map(|step| Instant::from_ps(100_000 * step)).zip(steps) {
            // At most a few frames a step, so that the side that offers frames one by one takes little time.
            let is_in_time = now < skipping.clear_before(frame_bytes);
            let most = if is_in_time { skipping.clear_frames(frame_bytes).saturating_add(1).min(200) } else { 1 };
            let frames = draw % most;
            skipping.skip(frames, frame_bytes);
            for _ in 0..frames {
                prop_assert!(!offering.is_lost_at(now, frame_bytes));
            }
            prop_assert_eq!(skipping.clear_frames(frame_bytes), offering.clear_frames(frame_bytes));
            prop_assert_eq!(skipping.clear_before(frame_bytes), offering.clear_before(frame_bytes));
            prop_assert_eq!(skipping.is_lost_at(now, frame_bytes), offering.is_lost_at(now, frame_bytes));
        }
    }
}
