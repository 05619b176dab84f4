//! With real bytes too, what stays lost is p * P[Bin(k+h-1, p) >= h]; the simulator's test is
//! `crates/sim/tests/fec_residual.rs`.

use lossylink_codec::{Cauchy, Receiver, Sender};
use lossylink_core::engine::fec::{BlockNumber, Code, DecoderConfig, Release};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;

const FRAMES: u64 = 50_000;
const FRAME_BYTES: usize = 64;
/// Two-sided normal quantile of 1 - 0.05/15: 95 % for fifteen points together.
const Z: f64 = 2.935;

/// The residual losses of each block of k frames, every byte of the others compared.
fn residual(size: u32, rows: u32, p: f64) -> Vec<f64> {
    let code = Code::new(size, rows).unwrap();
    let mut sender = Sender::new(Cauchy::new(), code, Duration::from_ms(1), BlockNumber::ZERO);
    let config = DecoderConfig {
        release: Release::Eager,
        window: 1,
        timeout: Duration::from_ms(1),
        kept_max: Bytes(1 << 20),
    };
    let mut receiver = Receiver::new(Cauchy::new(), config);
    let mut loss = LossProcess::new(&LossModel::bernoulli(p).unwrap(), Streams::new(7).stream("link/0/loss"));
    let blocks = FRAMES / u64::from(size);
    let mut lost = vec![f64::from(size); blocks as usize];
    for number in 0..blocks * u64::from(size) {
        let mut frame = [number as u8; FRAME_BYTES];
        frame[20..28].copy_from_slice(&number.to_be_bytes());
        sender.send(Instant::ZERO, &frame, |sent| {
            if loss.is_lost(sent.len() as u32) {
                return;
            }
            let arrived = receiver.receive(Instant::ZERO, sent, |delivery| {
                let number = u64::from_be_bytes(delivery.frame[20..28].try_into().unwrap());
                assert!(delivery.frame[..12].iter().all(|&byte| byte == number as u8));
                lost[(number / u64::from(size)) as usize] -= 1.0;
            });
            arrived.expect("a sound frame");
        });
    }
    lost
}

/// P[Bin(n, p) = count].
fn binomial(n: u32, p: f64, count: u32) -> f64 {
    let choose: f64 = (0..count).map(|step| f64::from(n - step) / f64::from(step + 1)).product();
    choose * p.powi(count as i32) * (1.0 - p).powi((n - count) as i32)
}

/// Mean and variance of a block's residual losses.
fn law(size: u32, rows: u32, p: f64) -> (f64, f64) {
    let (mut mean, mut square) = (0.0, 0.0);
    for lost in 1..=size {
        let gone: f64 = ((rows + 1).saturating_sub(lost)..=rows).map(|gone| binomial(rows, p, gone)).sum();
        let weight = binomial(size, p, lost) * gone;
        mean += weight * f64::from(lost);
        square += weight * f64::from(lost).powi(2);
    }
    (mean, square - mean * mean)
}

// FEC-13
#[test]
fn coding_leaves_what_theory_says() {
    for (size, rows) in [(5, 1), (5, 5), (25, 1), (25, 5), (50, 5)] {
        for p in [1e-2, 5e-2, 1e-1] {
            let lost = residual(size, rows, p);
            let (mean, variance) = law(size, rows, p);
            let tail: f64 = (rows..size + rows).map(|count| binomial(size + rows - 1, p, count)).sum();
            assert!((mean / (f64::from(size) * p * tail) - 1.0).abs() < 1e-9);
            let blocks = lost.len() as f64;
            let measured = lost.iter().sum::<f64>() / blocks;
            // A block that fails loses more than one frame: with few of them expected, allow three.
            let rare = 3.0 * f64::from(rows + 1) / blocks;
            let allowed = (Z * (variance / blocks).sqrt()).max(if mean * blocks < 20.0 { rare } else { 0.0 });
            assert!((measured - mean).abs() <= allowed, "({size},{rows}) at {p}: {measured} for {mean}");
        }
    }
}
