//! The residual loss of link-level retry: of frames that no frame follows, p^(replays + 1).

use crate::profiles;
use lossylink_core::engine::llr::{Init, SenderConfig, SenderState};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::net::llr::LlrOptions;
use lossylink_sim::net::{Ecn, Frame, LineRate, LlrLink, ProtectedLink};
use profiles::profile;

/// The chance that a sound point is refused, for eight points that shall all lie inside with 95 %
/// (Šidák): 1 - 0.95^(1/8).
const ALPHA: f64 = 6.391e-3;
/// The number of losses that a point is expected to show.
const LOSSES: f64 = 400.0;

/// Returns the chance of at most `k` events in `n` draws of chance `p`, summed from the smallest term
/// on.
fn at_most(k: u64, n: u64, p: f64) -> f64 {
    let ln_choose = |i: u64| {
        libm::lgamma(n as f64 + 1.0) - libm::lgamma(i as f64 + 1.0) - libm::lgamma((n - i) as f64 + 1.0)
    };
    (0..=k).map(|i| (ln_choose(i) + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p()).exp()).sum()
}

/// Whether `k` events in `n` draws agree with the chance `p`: neither tail is too unlikely, by exact
/// sums.
fn agrees(k: u64, n: u64, p: f64) -> bool {
    let below = at_most(k, n, p);
    let above = 1.0 - k.checked_sub(1).map_or(0.0, |less| at_most(less, n, p));
    below.min(above) > ALPHA / 2.0
}

/// Returns how many of `frames` lone frames are never delivered. Each frame waits until the link is
/// idle. Every point has random streams of its own.
fn lost_alone(point: u64, p: f64, replays: u8, errors_seen: bool, frames: u64) -> u64 {
    let (profile, rate) = (profile("ideal"), LineRate::new(BitRate::from_gbps(100)));
    let sized = LlrOptions::sized(&profile, rate, Duration::ZERO, 1538);
    let sender = SenderConfig { replay_count_max: replays, ..sized.sender };
    let options = LlrOptions { sender, errors_seen, ..sized };
    let streams = Streams::new(1).trial(point);
    let forward = LossModel::bernoulli(p).expect("a probability");
    let losses = (
        LossProcess::new(&forward, streams.stream("link/0/loss")),
        LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss")),
    );
    let mut link = LlrLink::new(&profile, rate, Duration::ZERO, &options, losses, Init::default());
    let (mut now, mut delivered) = (Instant::ZERO, 0);
    for number in 0..frames {
        assert_eq!(link.states().0, SenderState::Advance);
        link.offer(now, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
        while !link.poll_timeout().is_never() {
            now = link.poll_timeout();
            link.advance(now);
        }
        while link.delivered().pop().is_some() {
            delivered += 1;
        }
    }
    let counters = link.counters().sender;
    assert_eq!((counters.given_up, counters.flushes), (frames - delivered, frames - delivered));
    frames - delivered
}

// LLR-13
#[test]
fn lone_frames_are_lost_as_theory_says() {
    let mut point = 0;
    for p in [0.05_f64, 0.1] {
        for replays in [1, 2] {
            for errors_seen in [false, true] {
                let theory = p.powi(i32::from(replays) + 1);
                let frames = (LOSSES / theory) as u64;
                let lost = lost_alone(point, p, replays, errors_seen, frames);
                point += 1;
                println!("p {p}, {replays} replays: {lost} of {frames} lost, theory {LOSSES}");
                assert!(agrees(lost, frames, theory), "p {p}, {replays} replays: {lost} of {frames}");
            }
        }
    }
}

/// The canary: the law of one replay more or less is refused.
#[test]
fn another_law_is_refused() {
    let lost = lost_alone(8, 0.1, 1, false, 40_000);
    assert!(agrees(lost, 40_000, 0.01));
    assert!(!agrees(lost, 40_000, 0.001) && !agrees(lost, 40_000, 0.1));
    // A fair coin, by hand: two heads or fewer in four throws.
    assert!((at_most(2, 4, 0.5) - 11.0 / 16.0).abs() < 1e-12);
}
