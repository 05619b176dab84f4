//! BBR, versions 1 and 3, on a path: start-up, probing, pacing, and the effect of loss.

use crate::tcp_support;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::{Config, CongestionControl};
use tcp_support::{PathConfig, World};

/// The number of segments that the path holds: 100 Mb/s, 10 ms, frames of 1538 octets.
const PATH_SEGMENTS: f64 = 100e6 * 10e-3 / (1538.0 * 8.0);

const fn ms(ms: u64) -> Instant {
    Instant::from_ps(ms * 1_000_000_000)
}

fn world(loss: f64) -> World {
    world_of(CongestionControl::Bbr, loss)
}

fn world_of(algorithm: CongestionControl, loss: f64) -> World {
    let config = Config { congestion_control: algorithm, ..Config::default() };
    let path = PathConfig {
        rate: BitRate::from_bps(100_000_000),
        rtt: Duration::from_ms(10),
        loss,
        queue_bytes: 10_000_000,
        marking: 0.0,
    };
    let mut world = World::new(&config, &path, None, &Streams::new(3));
    world.open();
    world
}

/// Returns the goodput over a span in Mb/s.
fn goodput(world: &mut World, from: Instant, to: Instant) -> f64 {
    world.run_until(from);
    let before = world.receiver.bytes_in_order();
    world.run_until(to);
    (world.receiver.bytes_in_order() - before) as f64 * 8e-6 / (to - from).as_secs_f64()
}

/// BBR-2, BBR-5: start-up doubles the rate each round trip until it is full, then drains.
#[test]
fn start_up_fills_the_path_and_drains_its_queue() {
    let mut world = world(0.0);
    world.run_until(ms(60));
    let early = world.sender.congestion_window();
    world.run_until(ms(300));
    let most = f64::from(early.max(world.sender.congestion_window()));
    assert!(most > 2.0 * PATH_SEGMENTS, "the window of start-up: {most}");
    let rate = goodput(&mut world, ms(300), ms(2_300));
    assert!(rate > 0.94 * 94.9, "{rate} Mb/s of the 94.9 that frames leave");
}

/// BBR-3, BBR-4, BBR-6: draining stops at the bandwidth-delay product plus three bursts of a
/// millisecond, so at most those 3 ms stand in the queue; the window is twice the product and more.
#[test]
fn probing_keeps_the_queue_short() {
    let mut world = world(0.0);
    world.run_until(ms(1_000));
    let before = *world.sender.statistics();
    world.run_until(ms(9_000));
    let after = world.sender.statistics();
    let mean_us = (after.rtt_sum_us - before.rtt_sum_us) / (after.rtt_samples - before.rtt_samples);
    assert!((10_000..13_100).contains(&mean_us), "mean round trip {mean_us} us");
    let window = f64::from(world.sender.congestion_window()) / PATH_SEGMENTS;
    assert!((1.9..3.2).contains(&window), "{window} bandwidth-delay products");
}

/// BBR-8: every ten seconds without a new minimum the window is minimal for 200 ms.
#[test]
fn the_minimum_round_trip_is_measured_again() {
    let mut world = world(0.0);
    let mut narrow_ms = 0;
    let mut spells = 0;
    let mut was_narrow = false;
    for at in 500..31_000 {
        world.run_until(ms(at));
        let narrow = world.sender.congestion_window() <= 4;
        narrow_ms += u32::from(narrow);
        spells += u32::from(narrow && !was_narrow);
        was_narrow = narrow;
    }
    assert!((2..=3).contains(&spells), "{spells} spells");
    assert!((190..260).contains(&(narrow_ms / spells)), "{} ms each", narrow_ms / spells);
}

/// BBR-9, BBR-7: loss that would cripple Reno costs BBR little more than the lost frames.
#[test]
fn light_loss_costs_little() {
    let clean = goodput(&mut world(0.0), ms(1_000), ms(9_000));
    let lossy = goodput(&mut world(0.02), ms(1_000), ms(9_000));
    assert!(lossy > 0.93 * clean, "{lossy} of {clean} Mb/s");
}

/// BBR-10: loss beyond a fifth looks like a policer, and the rate falls far below the path's.
#[test]
fn heavy_loss_looks_like_a_policer() {
    let heavy = goodput(&mut world(0.25), ms(2_000), ms(12_000));
    let moderate = goodput(&mut world(0.1), ms(2_000), ms(12_000));
    assert!(moderate > 3.0 * heavy, "{moderate} at 10 %, {heavy} at 25 %");
}

/// BBR3-1, BBR3-2, BBR3-3: version 3 fills the path, and its probes keep the queue short.
#[test]
fn version_3_fills_the_path() {
    let mut world = world_of(CongestionControl::Bbr3, 0.0);
    let rate = goodput(&mut world, ms(500), ms(4_500));
    assert!(rate > 0.92 * 94.9, "{rate} Mb/s of the 94.9 that frames leave");
    let before = *world.sender.statistics();
    world.run_until(ms(8_500));
    let after = world.sender.statistics();
    let mean_us = (after.rtt_sum_us - before.rtt_sum_us) / (after.rtt_samples - before.rtt_samples);
    assert!((10_000..13_000).contains(&mean_us), "mean round trip {mean_us} us");
}

/// BBR3-4, BBR3-5: beyond two per cent of loss version 3 gives way, version 1 does not.
#[test]
fn version_3_gives_way_to_loss() {
    let run = |algorithm, loss| goodput(&mut world_of(algorithm, loss), ms(1_000), ms(11_000));
    let (first, third) = (CongestionControl::Bbr, CongestionControl::Bbr3);
    let light = run(third, 2e-3);
    assert!(light > 0.8 * run(third, 0.0), "{light} Mb/s at 0.2 %");
    let (tolerant, yielding) = (run(first, 0.05), run(third, 0.05));
    assert!(tolerant > 2.0 * yielding, "at 5 %: version 1 {tolerant}, version 3 {yielding}");
}

/// BBR3-6: every five seconds the window is half a bandwidth-delay product for 200 ms.
#[test]
fn version_3_measures_the_round_trip_every_five_seconds() {
    let mut world = world_of(CongestionControl::Bbr3, 0.0);
    let (mut spells, mut was_narrow) = (0, false);
    for at in 500..21_000 {
        world.run_until(ms(at));
        let narrow = f64::from(world.sender.congestion_window()) < 0.7 * PATH_SEGMENTS;
        spells += u32::from(narrow && !was_narrow);
        was_narrow = narrow;
    }
    assert!((3..=5).contains(&spells), "{spells} spells in 20 s");
}
