//! What stays lost behind a block code is what theory says: p * P[Bin(k+h-1, p) >= h].
//!
//! Residual losses come in blocks, so a block is the unit of the statistics: its expected losses
//! and their variance follow from two binomial laws. All points of a link are judged together:
//! each at 1 - 0.05/15, which makes 95 % for the family.

use lossylink_core::engine::fec::Code;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::coded::EgressOptions;
use lossylink_sim::net::fec::FecOptions;
use lossylink_sim::net::fec_model::FecModelOptions;
use lossylink_sim::net::{Ecn, FecLink, FecModelLink, Frame, LineRate, ProtectedLink};

const CODES: [(u32, u32); 5] = [(5, 1), (5, 5), (25, 1), (25, 5), (50, 5)];
const LOSS_RATES: [f64; 3] = [1e-2, 5e-2, 1e-1];
const FRAMES: u64 = 400_000;
/// Chance that a sound point is refused: 5 % shared by fifteen points.
const ALPHA: f64 = 0.05 / 15.0;
/// The two-sided normal quantile of that chance.
const Z: f64 = 2.935;

fn profile() -> SwitchProfile {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/switch/tofino1.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rate() -> LineRate {
    LineRate::new(BitRate::from_gbps(10))
}

fn losses(p: f64, seed: u64) -> (LossProcess, LossProcess) {
    let streams = Streams::new(seed);
    let forward = LossProcess::new(&LossModel::bernoulli(p).unwrap(), streams.stream("link/0/loss"));
    (forward, LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss")))
}

/// Lost frames of each block of k, with a source that keeps the line busy.
fn lost_by_block(link: &mut impl ProtectedLink<u64>, size: u64) -> Vec<u64> {
    let blocks = FRAMES / size;
    let (mut lost, mut offered, mut now) = (vec![size; blocks as usize], 0, Instant::ZERO);
    loop {
        while link.backlog() < 2 && offered < blocks * size {
            link.offer(now, Frame::of_frame_bytes(1514, Ecn::NotCapable, offered));
            offered += 1;
        }
        now = link.deadline();
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

fn binomial(n: u32, p: f64) -> Vec<f64> {
    let mut law = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; law.len() + 1];
        for (successes, weight) in law.iter().enumerate() {
            next[successes] += weight * (1.0 - p);
            next[successes + 1] += weight * p;
        }
        law = next;
    }
    law
}

/// Chance that a block fails, and mean and variance of its residual losses.
fn block_law(size: u32, rows: u32, p: f64) -> (f64, f64, f64) {
    let (data, parity) = (binomial(size, p), binomial(rows, p));
    let (mut fails, mut mean, mut square) = (0.0, 0.0, 0.0);
    for (lost, data_weight) in data.iter().enumerate() {
        for (gone, parity_weight) in parity.iter().enumerate() {
            if lost > 0 && lost + gone > rows as usize {
                let weight = data_weight * parity_weight;
                fails += weight;
                mean += weight * lost as f64;
                square += weight * (lost as f64).powi(2);
            }
        }
    }
    (fails, mean, square - mean * mean)
}

/// P[Poisson(mean) >= count].
fn poisson_tail(mean: f64, count: u64) -> f64 {
    let mut term = (-mean).exp();
    let mut below = 0.0;
    for k in 0..count {
        below += term;
        term *= mean / (k + 1) as f64;
    }
    1.0 - below
}

fn check(name: &str, size: u32, rows: u32, p: f64, lost: &[u64]) {
    let (fails, mean, variance) = block_law(size, rows, p);
    // The document's closed form is the same law, summed another way.
    let tail: f64 = binomial(size + rows - 1, p)[rows as usize..].iter().sum();
    assert!((mean / (f64::from(size) * p * tail) - 1.0).abs() < 1e-9);

    let blocks = lost.len() as f64;
    let failed = lost.iter().filter(|&&count| count > 0).count() as u64;
    let measured = lost.iter().sum::<u64>() as f64 / (blocks * f64::from(size));
    let theory = p * tail;
    println!("{name} ({size},{rows}) p {p}: {measured:.3e}, theory {theory:.3e}, {failed} blocks failed");
    if blocks * fails < 20.0 {
        let upper = poisson_tail(blocks * fails, failed);
        assert!(upper > ALPHA / 2.0, "{name} ({size},{rows}) at {p}: {failed} of {blocks} blocks failed");
        return;
    }
    let half_width = Z * (variance / blocks).sqrt() / f64::from(size);
    assert!(
        (measured - theory).abs() <= half_width,
        "{name} ({size},{rows}) at {p}: {measured} +- {half_width}"
    );
}

fn points() -> impl Iterator<Item = (u32, u32, f64)> {
    CODES.into_iter().flat_map(|(size, rows)| LOSS_RATES.map(|p| (size, rows, p)))
}

// FEC-13
#[test]
fn the_engine_leaves_what_theory_says() {
    for (size, rows, p) in points() {
        let code = Code::new(size, rows).unwrap();
        let options = FecOptions::new(code, EgressOptions::default(), rate(), Bytes(1_000_000));
        let mut link = FecLink::new(&profile(), rate(), Duration::ZERO, &options, losses(p, 1));
        let lost = lost_by_block(&mut link, u64::from(size));
        check("fec", size, rows, p, &lost);
        let counters = link.counters();
        assert_eq!(counters.decoder.stale + counters.decoder.inconsistent + counters.decoder.restarts, 0);
    }
}

// FEC-25
#[test]
fn the_model_leaves_what_theory_says() {
    for (size, rows, p) in points() {
        let options = FecModelOptions::published(Code::new(size, rows).unwrap());
        let mut link = FecModelLink::new(&profile(), rate(), Duration::ZERO, &options, losses(p, 2));
        let lost = lost_by_block(&mut link, u64::from(size));
        check("fec-model", size, rows, p, &lost);
    }
}
