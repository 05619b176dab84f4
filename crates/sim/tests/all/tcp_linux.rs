//! The model of TCP against a real Linux 6.1 stack measured in virtual time, within stated tolerances and over
//! several seeds. `examples/tcp_linux_table.rs` runs these points for longer.

use crate::tcp_support;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::{Config, CongestionControl};
use tcp_support::flows::{Repairs, run_flows};
use tcp_support::{PathConfig, World};

/// Returns the mean goodput of `seeds` endless flows and its standard error, Mb/s.
fn goodput(algorithm: CongestionControl, rtt_us: u64, loss: f64, seeds: u64, span_s: u64) -> (f64, f64) {
    let config = Config { congestion_control: algorithm, ..Config::default() };
    let path = PathConfig {
        rate: BitRate::from_gbps(10),
        rtt: Duration::from_us(rtt_us),
        loss,
        queue_bytes: 1_000_000,
        marking: 0.0,
    };
    let run = |seed| {
        let mut world = World::new(&config, &path, None, &Streams::new(seed));
        world.open();
        world.run_until(Instant::ZERO + Duration::from_secs(span_s));
        world.receiver.bytes_in_order() as f64 * 8e-6 / span_s as f64
    };
    let runs: Vec<f64> = (1..=seeds).map(run).collect();
    let mean = runs.iter().sum::<f64>() / seeds as f64;
    let variance = runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / (seeds as f64 - 1.0);
    (mean, (variance / seeds as f64).sqrt())
}

/// Checks that the mean lies within `tolerance` of Linux, with two standard errors of this short run allowed.
#[track_caller]
fn agrees(algorithm: CongestionControl, rtt_us: u64, loss: f64, linux_mbps: f64, tolerance: f64) {
    let (seeds, span_s) = if linux_mbps > 1_000.0 { (3, 3) } else { (4, 150) };
    let (mean, error) = goodput(algorithm, rtt_us, loss, seeds, span_s);
    let off = (mean - linux_mbps).abs() - 2.0 * error;
    assert!(
        off <= tolerance * linux_mbps,
        "{algorithm} at {rtt_us} us, loss {loss}: {mean:.3} +- {error:.3} Mb/s, Linux {linux_mbps}"
    );
    assert!(error < 0.1 * mean, "too few losses to say anything: {mean:.3} +- {error:.3} Mb/s");
}

#[test]
fn reno_agrees_at_20_ms() {
    for (loss, linux) in [(1e-3, 24.28), (5e-3, 10.23), (1e-2, 7.225), (2e-2, 5.033)] {
        agrees(CongestionControl::Reno, 20_000, loss, linux, 0.07);
    }
}

#[test]
fn reno_agrees_at_6_ms() {
    for (loss, linux, tolerance) in
        [(1e-3, 80.2, 0.07), (1e-2, 22.9, 0.07), (5e-2, 8.91, 0.15), (0.1566, 2.07, 0.15)]
    {
        agrees(CongestionControl::Reno, 6_000, loss, linux, tolerance);
    }
}

#[test]
fn cubic_agrees_at_6_ms() {
    for (loss, linux, tolerance) in
        [(1e-3, 71.3, 0.12), (1e-2, 18.7, 0.12), (5e-2, 6.23, 0.2), (0.1566, 1.39, 0.2)]
    {
        agrees(CongestionControl::Cubic, 6_000, loss, linux, tolerance);
    }
}

#[test]
fn cubic_agrees_in_a_data_centre() {
    agrees(CongestionControl::Cubic, 100, 1e-3, 3_300.0, 0.12);
}

/// Two seeds of the real stack gave 9.4 and 10.4 Mb/s: every tenth frame lost, timeouts of 200 ms.
#[test]
fn timeouts_dominate_at_ten_per_cent() {
    agrees(CongestionControl::Cubic, 60, 0.1, 9.9, 0.15);
}

/// RFC 9438 section 5.1: the larger of the two windows that deterministic loss would give.
#[test]
fn cubic_follows_its_response_function() {
    for (rtt_ms, loss) in [(20u32, 1e-2f64), (20, 1e-3), (100, 1e-3), (200, 1e-2), (200, 1e-3), (200, 1e-4)] {
        let rtt_s = f64::from(rtt_ms) * 1e-3;
        let cubic = (0.4f64 * 3.7 / (4.0 * 0.3)).powf(0.25) * rtt_s.powf(0.75) / loss.powf(0.75);
        let friendly = 1.5f64.sqrt() / loss.sqrt();
        let law_mbps = cubic.max(friendly) * 1460.0 * 8e-6 / rtt_s;
        let span_s = (300.0 / (loss * law_mbps * 1e6 / 11_680.0)).ceil() as u64;
        let (mean, _) = goodput(CongestionControl::Cubic, u64::from(rtt_ms) * 1_000, loss, 2, span_s);
        let ratio = mean / law_mbps;
        assert!((0.65..1.35).contains(&ratio), "{rtt_ms} ms, loss {loss}: {mean:.2} Mb/s, law {law_mbps:.2}");
    }
}

#[test]
fn flows_without_loss_take_two_round_trips() {
    let outcome = run_flows(50, 0.0, 1);
    for time in outcome.times {
        assert!((time.as_us_f64() - 60.97).abs() < 0.3, "{time}");
    }
}

/// The flows that a loss hit recover as Linux's did: 533 by fast retransmit, 93 by the reordering
/// timer, 35 by a tail-loss probe, of 661.
#[test]
fn flows_with_loss_recover_as_in_linux() {
    let mut outcome = run_flows(40_000, 1e-3, 2);
    outcome.times.sort_unstable();
    let at = |percent: f64| {
        let rank = percent / 100.0 * (outcome.times.len() - 1) as f64;
        outcome.times[rank as usize].as_us_f64()
    };
    assert!((at(99.0) - 90.4).abs() < 1.0, "p99 {}", at(99.0));
    assert!((2_400.0..3_100.0).contains(&at(99.9)), "p99.9 {}", at(99.9));
    assert!((2_900.0..3_300.0).contains(&at(100.0)), "max {}", at(100.0));
    let Repairs { fast, timer, probe, timeout } = outcome.repairs;
    let hit = f64::from(outcome.hit);
    // Chi-square of two samples over three classes, two degrees of freedom: 13.8 at one in a
    // thousand.
    let linux = [533.0, 93.0, 35.0];
    let ours = [f64::from(fast), f64::from(timer), f64::from(probe + timeout)];
    let scale = (661.0 / hit).sqrt();
    let statistic: f64 = linux
        .iter()
        .zip(ours)
        .map(|(linux, ours)| (ours * scale - linux / scale).powi(2) / (linux + ours))
        .sum();
    assert!(statistic < 13.8, "{:?}: chi-square {statistic}", outcome.repairs);
}

/// Returns a DCTCP flow whose packets are marked with the chance `marking`, at 20 ms, and the mean of its alpha in
/// the next 200 ms.
fn alpha_under(marking: f64) -> (World, f64) {
    let config = Config { congestion_control: CongestionControl::Dctcp, ..Config::default() };
    let path = PathConfig {
        rate: BitRate::from_gbps(10),
        rtt: Duration::from_us(100),
        loss: 0.0,
        queue_bytes: 1_000_000,
        marking,
    };
    let mut world = World::new(&config, &path, None, &Streams::new(5));
    world.open();
    world.run_until(ms(20));
    let mut sum = 0.0;
    let samples = 2_000;
    for sample in 1..=samples {
        world.run_until(ms(20) + Duration::from_us(100 * sample));
        sum += world.sender.marked_share().expect("DCTCP estimates it");
    }
    (world, sum / samples as f64)
}

/// DCTCP-1: under random marking alpha settles at the share of marked segments.
#[test]
fn dctcp_estimates_the_share_of_marks() {
    for marking in [0.05, 0.1, 0.25] {
        let (world, alpha) = alpha_under(marking);
        assert!((alpha / marking - 1.0).abs() < 0.15, "alpha {alpha}, marked {marking}");
        assert!(world.sender.statistics().ecn_reductions > 100);
    }
}

/// DCTCP-5: one mark in a hundred is too little for alpha's ten bits. Of reductions by an alpha that is exact, 141
/// segments would be the balance (`window_under_random_marking_segments`); the window grows past it.
#[test]
fn dctcp_does_not_see_marks_below_a_sixty_fourth() {
    let (mut world, alpha) = alpha_under(0.01);
    assert!(alpha < 0.002, "{alpha}");
    let early = world.sender.congestion_window();
    world.run_until(ms(1_000));
    let late = world.sender.congestion_window();
    assert!(late > 3 * 141 / 2 && late > early, "{early} segments, then {late}");
    assert!(world.sender.statistics().ecn_reductions > 100);
}

const fn ms(ms: u64) -> Instant {
    Instant::from_ps(ms * 1_000_000_000)
}
