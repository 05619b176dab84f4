//! Tests of the chances of steered losses, and of the weights that correct for them.

use super::predictor::OVER;
use super::*;
use crate::loss::{LossModel, LossProcess};
use crate::rng::Streams;
use crate::time::Instant;

const BURSTS: [f64; 4] = [0.02, 0.3, 0.01, 0.6];

fn chain([p, r, good, bad]: [f64; 4]) -> GilbertElliott {
    GilbertElliott::new(p, r, good, bad).unwrap()
}

/// Returns the losses in the bits of `sequence`.
fn losses(sequence: u32, frames: u32) -> Vec<bool> {
    (0..frames).map(|place| sequence >> place & 1 == 1).collect()
}

/// Returns the chance of a sequence of losses, summed over all sequences of states.
fn summed([p, r, good, bad]: [f64; 4], losses: &[bool]) -> f64 {
    (0..1_u32 << losses.len())
        .map(|states| {
            let is_bad = |place: usize| states >> place & 1 == 1;
            let mut chance = if is_bad(0) { p / (p + r) } else { r / (p + r) };
            for (place, &lost) in losses.iter().enumerate() {
                let loses = if is_bad(place) { bad } else { good };
                chance *= if lost { loses } else { 1.0 - loses };
                if place + 1 < losses.len() {
                    let leaves = if is_bad(place) { r } else { p };
                    chance *= if is_bad(place) == is_bad(place + 1) { 1.0 - leaves } else { leaves };
                }
            }
            chance
        })
        .sum()
}

// RARE-1
#[test]
fn the_chances_of_the_losses_multiply_to_that_of_their_sequence() {
    for law in [BURSTS, [0.1, 0.5, 0.0, 1.0]] {
        for sequence in 0..1 << 7 {
            let losses = losses(sequence, 7);
            let mut belief = Belief::stationary(chain(law));
            let mut product = 1.0;
            for &lost in &losses {
                product *= if lost { belief.chance() } else { 1.0 - belief.chance() };
                belief.observe(lost);
            }
            assert!((product - summed(law, &losses)).abs() < 1e-14, "{law:?}: {losses:?}");
        }
    }
}

// RARE-1: 1 - (1 - 1e-6)^12144, with thirty decimal digits.
#[test]
fn long_frames_have_more_bits_to_lose() {
    let chance = Predictor::Independent(1e-6).chance(8 * 1518);
    assert!((chance - 0.012_070_565).abs() < 1e-9);
    assert_eq!(Predictor::Independent(1e-15).chance(1), 1e-15);
}

// RARE-4
#[test]
fn a_burst_is_over_when_the_chain_has_forgotten_it() {
    // A frame that passes shows the good state where the bad one loses all frames.
    let sharp = chain([1e-4, 0.5, 0.0, 1.0]).bursts().unwrap();
    assert_eq!(sharp.hold, 1);
    assert!((sharp.mean_losses - 2.0).abs() < 1e-3);
    let blurred = chain(BURSTS).bursts().unwrap();
    let mut belief = Belief::clean(chain(BURSTS));
    let clean = belief.chance();
    belief.observe(true);
    (1..blurred.hold).for_each(|_| belief.observe(false));
    assert!(belief.chance() > clean * (1.0 + OVER));
    belief.observe(false);
    assert!(belief.chance() <= clean * (1.0 + OVER));
    assert_eq!(chain([1e-6, 1e-5, 0.0, 0.001]).bursts(), None);
}

fn steered(model: &LossModel, aim: Aim, seed: u64) -> LossProcess {
    let mut process = LossProcess::new(model, Streams::new(seed).stream("law"));
    process.steer(aim, Streams::new(seed).stream("steered")).unwrap();
    process
}

/// Returns the losses of one block, and its weight.
fn block(model: &LossModel, (frames, spare): (u32, u32), seed: u64) -> (u32, f64) {
    let mut process = steered(model, Aim::Block { frames, spare }, seed);
    let member = |place| Stake::Member { unit: 7, index: Some(place), left: None };
    let lost =
        (0..frames).filter(|&place| process.is_lost_with(Instant::ZERO, 1518, || member(place))).count();
    (lost as u32, libm::exp(process.steered().unwrap().log_weight()))
}

// RARE-10: weighted, the failed blocks have the frequency of the sum over all sequences.
#[test]
fn weights_make_up_for_the_raised_chances() {
    let (frames, spare, looks) = (8, 3, 4000);
    for law in [BURSTS, [1e-4, 0.3, 0.0, 0.9], [1e-3, 0.999, 1e-3, 1e-3]] {
        let failing = (0..1_u32 << frames).filter(|sequence| sequence.count_ones() > spare);
        let fails: f64 = failing.map(|sequence| summed(law, &losses(sequence, frames))).sum();
        let [p, r, good, bad] = law;
        let model = LossModel::gilbert_elliott(p, r, good, bad).unwrap();
        let (mut sum, mut squares) = (0.0, 0.0);
        for seed in 0..looks {
            let (lost, weight) = block(&model, (frames, spare), seed);
            let weight = if lost > spare { weight } else { 0.0 };
            (sum, squares) = (sum + weight, squares + weight * weight);
        }
        let (mean, n) = (sum / looks as f64, looks as f64);
        let error = libm::sqrt((squares / n - mean * mean) / n);
        // Four standard errors: a correct sampler fails once in 16,000 laws.
        assert!((mean - fails).abs() < 4.0 * error, "{law:?}: {mean:e} +- {error:e}, not {fails:e}");
        assert!(error < 0.02 * mean, "{law:?}: steered in vain");
    }
}

/// Fails unless looks with these weights have mean `expected`, and spread little around it.
fn agrees(weights: &[f64], expected: f64) {
    let n = weights.len() as f64;
    let mean = weights.iter().sum::<f64>() / n;
    let square = weights.iter().map(|weight| weight * weight).sum::<f64>() / n;
    let error = libm::sqrt((square - mean * mean) / n);
    // Four standard errors: a correct sampler fails once in 16,000 times.
    assert!((mean - expected).abs() < 4.0 * error, "{mean:e} +- {error:e}, not {expected:e}");
    assert!(error < 0.05 * mean, "steered in vain: {mean:e} +- {error:e}");
}

fn weight(process: &mut LossProcess) -> f64 {
    libm::exp(process.steered().unwrap().log_weight())
}

// RARE-12: the rehearsal finds the repairs of the target among the frames to come, and one burst takes both of
// them with the frequency of the law.
#[test]
fn repairs_are_rehearsed_and_lost_as_often_as_the_law_says() {
    let law = [1e-4, 0.4, 0.0, 0.8];
    let [p, r, good, bad] = law;
    let model = LossModel::gilbert_elliott(p, r, good, bad).unwrap();
    let frames = [6, 7, 8, 5, 9, 5].map(|unit| match unit {
        5 => Stake::Repair { unit },
        _ => Stake::Fresh { unit },
    });
    let look = |seed| {
        let mut process = steered(&model, Aim::Frame { nth: 1, lead_frames: 1000, window: 0 }, seed);
        assert!(process.is_lost_with(Instant::ZERO, 1518, || Stake::Fresh { unit: 5 }));
        assert!(!process.steered().unwrap().wants_rehearsal(), "the burst may go on");
        if process.is_lost_with(Instant::ZERO, 1518, || Stake::Fresh { unit: 6 }) {
            return 0.0;
        }
        assert!(process.steered().unwrap().wants_rehearsal());
        let mut rehearsal = process.clone();
        rehearsal.steered().unwrap().rehearse();
        let lost = frames.map(|stake| rehearsal.is_lost_with(Instant::ZERO, 1518, || stake));
        assert_eq!(lost, [false, false, false, true, false, true]);
        assert_eq!(rehearsal.steered().unwrap().repairs(), [3, 5]);
        process.steered().unwrap().foresee(&[3, 5]);
        assert!(!process.steered().unwrap().wants_rehearsal());
        let lost = frames.map(|stake| process.is_lost_with(Instant::ZERO, 1518, || stake));
        if lost[3] && lost[5] { weight(&mut process) } else { 0.0 }
    };
    let weights: Vec<f64> = (0..8000).map(look).collect();
    let mut belief = Belief::clean(chain(law));
    let mut expected = 1.0;
    for lost in [Some(true), Some(false), None, None, None, Some(true), None, Some(true)] {
        match lost {
            Some(true) => expected *= belief.chance(),
            Some(false) => expected *= 1.0 - belief.chance(),
            None => {
                belief.bad = belief.bad * (1.0 - r) + (1.0 - belief.bad) * p;
                continue;
            }
        }
        belief.observe(lost == Some(true));
    }
    agrees(&weights, expected);
}

// RARE-15: under any laws by which they are drawn, losses have the frequency of the law: the first, a data
// frame, and a repair of it, and no other of twelve.
#[test]
fn clusters_are_as_frequent_as_the_law_says() {
    for (model, law) in [
        (LossModel::bernoulli(1e-3).unwrap(), None),
        (LossModel::gilbert_elliott(1e-3, 0.4, 0.0, 0.8).unwrap(), Some((1e-3, 0.4, 0.8))),
    ] {
        let wanted = |place: u64| matches!(place, 0 | 3 | 9);
        let stake = |unit| if unit == 9 { Stake::Repair { unit: 0 } } else { Stake::Fresh { unit } };
        let look = |seed| {
            let mut process = steered(&model, Aim::Cluster { clean_frames: 32 }, seed);
            let is_so = (0..12)
                .all(|place| process.is_lost_with(Instant::ZERO, 1518, || stake(place)) == wanted(place));
            if is_so { weight(&mut process) } else { 0.0 }
        };
        let weights: Vec<f64> = (0..1_000_000).map(look).collect();
        let mut belief = law.map(|(p, r, bad)| Belief::clean(GilbertElliott::new(p, r, 0.0, bad).unwrap()));
        let mut expected = 1.0;
        for place in 0..12 {
            let chance = belief.as_ref().map_or(1e-3, Belief::chance);
            expected *= if wanted(place) { chance } else { 1.0 - chance };
            if let Some(belief) = &mut belief {
                belief.observe(wanted(place));
            }
        }
        agrees(&weights, expected);
    }
}

// RARE-13: 1e-4 times 0.5^14.
#[test]
fn bursts_of_a_whole_window_are_as_frequent_as_the_law_says() {
    let model = LossModel::gilbert_elliott(1e-4, 0.5, 0.0, 1.0).unwrap();
    let look = |seed| {
        let mut process = steered(&model, Aim::Frame { nth: 1, lead_frames: 1000, window: 15 }, seed);
        let whole = (0..15).all(|unit| process.is_lost_with(Instant::ZERO, 1518, || Stake::Fresh { unit }));
        if whole { weight(&mut process) } else { 0.0 }
    };
    let weights: Vec<f64> = (0..4000).map(look).collect();
    agrees(&weights, 1e-4 * libm::pow(0.5, 14.0));
}

// RARE-3, RARE-7: the first frame is lost, its repairs nearly always; other frames follow the law.
#[test]
fn a_frame_and_its_repairs_are_lost_and_no_others() {
    let model = LossModel::bernoulli(1e-3).unwrap();
    let (mut repairs, mut others) = (0, 0);
    for seed in 0..1000 {
        let mut process = steered(&model, Aim::Frame { nth: 1, lead_frames: 2, window: 0 }, seed);
        assert!(process.is_lost_with(Instant::ZERO, 1518, || Stake::Fresh { unit: 5 }));
        others += u32::from(process.is_lost_with(Instant::ZERO, 1518, || Stake::Fresh { unit: 6 }));
        others += u32::from(process.is_lost_with(Instant::ZERO, 1518, || Stake::Repair { unit: 4 }));
        let before = process.steered().unwrap().log_weight();
        assert!((before - libm::log(1e-3)).abs() < 1e-12);
        let lost = process.is_lost_with(Instant::ZERO, 1518, || Stake::Repair { unit: 5 });
        repairs += u32::from(lost);
        let ratio = libm::exp(process.steered().unwrap().log_weight() - before);
        let expected = if lost { 1e-3 / REPAIR } else { (1.0 - 1e-3) / (1.0 - REPAIR) };
        assert!((ratio / expected - 1.0).abs() < 1e-9);
    }
    // Binomial bounds of five standard deviations: 900 +- 47, and 2 + 7.
    assert!((853..=947).contains(&repairs), "{repairs} repairs lost");
    assert!(others <= 9, "{others} other frames lost");
}
