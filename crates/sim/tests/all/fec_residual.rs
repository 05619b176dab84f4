//! The residual loss of a block code is that of theory: p * P[Bin(k+h-1, p) >= h].

use crate::residual_law;
use lossylink_core::engine::fec::Code;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::coded::{CodedLine, EgressOptions};
use lossylink_sim::net::fec::FecOptions;
use lossylink_sim::net::fec_model::FecModelOptions;
use lossylink_sim::net::{Ecn, FecLink, FecModelLink, Frame, LineRate, ProtectedLink};
use residual_law::{BlockLaw, Channel, closed_form, points};

/// The least and the most data frames of a point. A point takes as many frames as its failures
/// need.
const FRAMES: (u64, u64) = (400_000, 4_000_000);

fn profile() -> SwitchProfile {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/switch/tofino1.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rate() -> LineRate {
    LineRate::new(BitRate::from_gbps(10))
}

fn line() -> CodedLine {
    CodedLine { rate: rate(), full_octets: 1538 }
}

fn losses(model: &LossModel, seed: u64) -> (LossProcess, LossProcess) {
    let streams = Streams::new(seed);
    let forward = LossProcess::new(model, streams.stream("link/0/loss"));
    (forward, LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss")))
}

/// Returns the number of lost frames of each block of k, with a source that keeps the line busy.
fn lost_by_block(link: &mut impl ProtectedLink<u64>, size: u64, blocks: u64) -> Vec<u64> {
    let (mut lost, mut offered, mut now) = (vec![size; blocks as usize], 0, Instant::ZERO);
    loop {
        while link.backlog() < 2 && offered < blocks * size {
            link.offer(now, Frame::of_frame_bytes(1514, Ecn::NotCapable, offered));
            offered += 1;
        }
        now = link.poll_timeout();
        if now.is_never() {
            break;
        }
        link.advance(now);
        while let Some((_, frame)) = link.delivered().pop_due(now) {
            lost[(frame.payload / size) as usize] -= 1;
        }
    }
    while let Some((_, frame)) = link.delivered().pop() {
        lost[(frame.payload / size) as usize] -= 1;
    }
    lost
}

fn engine(size: u32, rows: u32, model: &LossModel, blocks: u64) -> Vec<u64> {
    let code = Code::new(size, rows).unwrap();
    let options = FecOptions::new(code, EgressOptions::default(), line(), Bytes(1_000_000));
    let mut link = FecLink::new(&profile(), rate(), Duration::ZERO, &options, losses(model, 1));
    let lost = lost_by_block(&mut link, u64::from(size), blocks);
    let counters = link.counters().decoder;
    assert_eq!(counters.stale + counters.inconsistent + counters.restarts, 0);
    lost
}

fn switch_model(size: u32, rows: u32, model: &LossModel, blocks: u64) -> Vec<u64> {
    let options = FecModelOptions::published(Code::new(size, rows).unwrap());
    let mut link = FecModelLink::new(&profile(), rate(), Duration::ZERO, &options, losses(model, 2));
    lost_by_block(&mut link, u64::from(size), blocks)
}

/// Measures all points. A point with too few failures is held against an upper bound.
fn check_all(name: &str, measure: fn(u32, u32, &LossModel, u64) -> Vec<u64>) {
    for (size, rows, p) in points() {
        let law = BlockLaw::new(size, rows, Channel::independent(p));
        // The closed form is this law, summed another way.
        assert!((law.residual() / closed_form(size, rows, p) - 1.0).abs() < 1e-9);
        let blocks = law.blocks(FRAMES.0 / u64::from(size), FRAMES.1 / u64::from(size));
        let lost = measure(size, rows, &LossModel::bernoulli(p).unwrap(), blocks);
        law.check(&format!("{name} ({size},{rows}) p {p}"), &lost);
    }
}

// FEC-13
#[test]
fn the_engine_leaves_what_theory_says() {
    check_all("fec", engine);
}

// FEC-25
#[test]
fn the_model_leaves_what_theory_says() {
    check_all("fec-model", switch_model);
}

/// Returns the mean and the half width of a 99.9 % interval over batches that are long beside the
/// channel's memory.
fn over_batches(lost: &[u64], size: u32) -> (f64, f64) {
    const BATCHES: usize = 100;
    /// The two-sided Student quantile of 99 degrees of freedom.
    const T: f64 = 3.392;
    let each = lost.len() / BATCHES;
    let rates: Vec<f64> = lost
        .chunks_exact(each)
        .map(|batch| batch.iter().sum::<u64>() as f64 / (each as f64 * f64::from(size)))
        .collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (rates.len() - 1) as f64;
    (mean, T * (variance / rates.len() as f64).sqrt())
}

// FEC-13: bursts of loss. The chain's own law holds; the closed form for the same mean does not.
#[test]
fn bursts_leave_what_their_chain_says_and_far_more_than_the_closed_form() {
    // Bursts of four frames on average, in which nine frames in ten are lost.
    for (out, back) in [(0.0028, 0.25), (0.0147, 0.25)] {
        let channel = Channel { loses: [0.0, 0.9], leaves: [out, back] };
        let model = LossModel::gilbert_elliott(out, back, 0.0, 0.9).unwrap();
        for (size, rows) in [(5, 1), (5, 5), (25, 1), (25, 5), (50, 5)] {
            let theory = BlockLaw::new(size, rows, channel).residual();
            let formula = closed_form(size, rows, channel.mean());
            let lost = engine(size, rows, &model, 1_000_000 / u64::from(size));
            let (measured, half_width) = over_batches(&lost, size);
            println!(
                "({size},{rows}) mean loss {:.2e}: {measured:.3e} +- {half_width:.1e}, chain {theory:.3e}, \
                 closed form {formula:.3e}",
                channel.mean()
            );
            assert!((measured - theory).abs() <= half_width, "({size},{rows}): {measured} and {theory}");
            assert!(measured > formula + half_width, "({size},{rows}): no worse than independent losses");
        }
    }
}
