//! The residual loss of frames with real bytes is p * P[Bin(k+h-1, p) >= h]. The test of the
//! simulator is `crates/sim/tests/all/fec_residual.rs`, and shares the law with this test.

#[path = "../../../sim/tests/all/residual_law/mod.rs"]
mod residual_law;

use lossylink_codec::{Cauchy, Receiver, Sender};
use lossylink_core::engine::fec::{BlockNumber, Code, DecoderConfig, Release};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use residual_law::{BlockLaw, Channel, closed_form, points};

/// The least and the most data frames of a point. A point takes as many frames as its failures
/// need.
const FRAMES: (u64, u64) = (100_000, 1_500_000);
const FRAME_BYTES: usize = 64;

/// Returns the number of residual losses of each block of k frames. Every byte of the other frames
/// is compared.
fn residual(size: u32, rows: u32, p: f64, blocks: u64) -> Vec<u64> {
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
    let mut lost = vec![u64::from(size); blocks as usize];
    for number in 0..blocks * u64::from(size) {
        sender.send(Instant::ZERO, &frame(number), |sent| {
            if loss.is_lost(sent.len() as u32) {
                return;
            }
            let arrived = receiver.receive(Instant::ZERO, sent, |delivery| {
                let number = u64::from_be_bytes(delivery.frame[20..28].try_into().unwrap());
                assert_eq!(delivery.frame, frame(number));
                lost[(number / u64::from(size)) as usize] -= 1;
            });
            arrived.expect("a sound frame");
        });
    }
    lost
}

/// Returns a frame all of whose bytes follow from its number.
fn frame(number: u64) -> [u8; FRAME_BYTES] {
    let mut frame = [(number as u8).wrapping_mul(59); FRAME_BYTES];
    frame[20..28].copy_from_slice(&number.to_be_bytes());
    frame
}

// FEC-13
#[test]
fn coding_leaves_what_theory_says() {
    for (size, rows, p) in points() {
        let law = BlockLaw::new(size, rows, Channel::independent(p));
        assert!((law.residual() / closed_form(size, rows, p) - 1.0).abs() < 1e-9);
        let blocks = law.blocks(FRAMES.0 / u64::from(size), FRAMES.1 / u64::from(size));
        law.check(&format!("bytes ({size},{rows}) p {p}"), &residual(size, rows, p, blocks));
    }
}
