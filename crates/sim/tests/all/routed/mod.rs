//! A flow over a path, bare against guarded: loss, bursts, round trips and congestion controls, in virtual time.

mod world;

use lossylink_core::loss::{GilbertElliott, LossModel};
use lossylink_core::protection::Protection;
use lossylink_core::rng::{Streams, uniform};
use lossylink_core::time::Duration;
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::transport::tcp::{Config, CongestionControl};
use world::{Outcome, PathConfig, World};

/// A path and the flow over it.
#[derive(Clone, Debug)]
struct Point {
    path: PathConfig,
    loss: f64,
    burst: f64,
    congestion_control: CongestionControl,
}

impl Point {
    /// Returns the path with this number: losses of 1e-5 to 1e-1, half of them in bursts of 2 to 50 frames on
    /// average, and round trips of 2 to 150 ms, all drawn on a logarithmic scale.
    fn drawn(number: u64) -> Self {
        let mut rng = Streams::new(number).stream("point");
        let mut between = |low: f64, high: f64| low * (high / low).powf(uniform(&mut rng));
        let loss = between(1e-5, 1e-1);
        let rtt_us = between(2e3, 150e3);
        let rate_bps = between(10e6, 100e6);
        let burst = if number.is_multiple_of(2) { 1.0 } else { between(2.0, 50.0) };
        let all = [CongestionControl::Cubic, CongestionControl::Reno, CongestionControl::Bbr];
        Self::new(loss, burst, rtt_us as u64, rate_bps as u64, all[number as usize % 3], number)
    }

    fn new(loss: f64, burst: f64, rtt_us: u64, rate_bps: u64, cc: CongestionControl, seed: u64) -> Self {
        let model = if burst > 1.0 {
            let leave = 1.0 / burst;
            LossModel::GilbertElliott(
                GilbertElliott::new(leave * loss / (1.0 - loss), leave, 0.0, 1.0).unwrap(),
            )
        } else {
            LossModel::bernoulli(loss).unwrap()
        };
        let (rate, rtt) = (BitRate::from_bps(rate_bps), Duration::from_us(rtt_us));
        // A queue of one round trip, and of a hundred packets at least.
        let queue = Bytes((rate * rtt).0.max(150_000));
        let path = PathConfig { rate, rtt, loss: model.clone(), reverse_loss: model, queue, seed };
        Self { path, loss, burst, congestion_control: cc }
    }

    fn run(&self, protection: Option<Protection>, seconds: u64) -> Outcome {
        let config = Config {
            congestion_control: self.congestion_control,
            timestamps: true,
            receive_window_bytes: 16 << 20,
            ..Config::default()
        };
        World::new(&config, &self.path, protection).run(Duration::from_secs(seconds))
    }
}

fn share((part, whole): (u64, u64)) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Returns the goodput of a flow between guards over that of a bare flow, and the outcome of the guarded flow.
fn gain(loss: f64, burst: f64, rtt_ms: u64, cc: CongestionControl) -> (f64, Outcome) {
    let point = Point::new(loss, burst, rtt_ms * 1000, 50_000_000, cc, 7);
    let bare = point.run(None, 10);
    let guarded = point.run(Some(Protection::Routed), 10);
    (guarded.goodput_bps / bare.goodput_bps, guarded)
}

// RT-5, RT-10, RT-17: of 1,500 octets 52 are headers bare, and 64 between guards. Drops of the queue stay visible
// to TCP.
#[test]
fn on_a_path_that_hardly_loses_the_headers_are_the_price() {
    for cc in [CongestionControl::Cubic, CongestionControl::Reno, CongestionControl::Bbr] {
        for rtt_ms in [5, 50] {
            let (gain, guarded) = gain(1e-5, 1.0, rtt_ms, cc);
            assert!((0.98..1.01).contains(&gain), "{cc:?} at {rtt_ms} ms: {gain} times bare");
            assert!(share(guarded.repeated) < 0.01, "{cc:?} at {rtt_ms} ms: {guarded:?}");
        }
    }
}

// RT-8, RT-9, RT-10
#[test]
fn where_losses_hold_a_flow_down_it_is_several_times_faster() {
    use CongestionControl::{Cubic, Reno};
    for (loss, burst, rtt_ms, cc, least) in [
        (1e-2, 1.0, 20, Cubic, 3.0),
        (1e-2, 1.0, 100, Cubic, 3.0),
        (1e-2, 1.0, 100, Reno, 3.0),
        (1e-3, 1.0, 100, Cubic, 1.5),
        (1e-2, 10.0, 50, Cubic, 1.5),
        (5e-2, 1.0, 20, Reno, 3.0),
    ] {
        let (gain, guarded) = gain(loss, burst, rtt_ms, cc);
        assert!(gain > least, "{cc:?} at {loss}, bursts of {burst}, {rtt_ms} ms: {gain} times bare");
        let bound = if loss > 0.02 { 0.3 } else { 0.05 };
        assert!(share(guarded.repeated) < bound, "{cc:?} at {loss}: {guarded:?}");
    }
}

/// Prints the table of 200 paths: `cargo test -p lossylink-sim --test all -- --ignored --nocapture two_hundred`.
#[test]
#[ignore = "a minute or more: the table of docs/protocols/routed.md"]
fn two_hundred_paths() {
    let all: Vec<_> = (0..200).map(Point::drawn).collect();
    println!(
        "loss burst rtt_ms rate_mbps cc bare_mbps guarded_mbps ratio rtt_bare_ms rtt_guarded_ms missing repeated ahead rebuilt tcp_again timeouts dropped_bare dropped"
    );
    let mut ratios = Vec::new();
    for point in &all {
        let bare = point.run(None, 20);
        let guarded = point.run(Some(Protection::Routed), 20);
        let ratio = guarded.goodput_bps / bare.goodput_bps.max(1.0);
        println!(
            "{:.1e} {:.0} {:.1} {:.0} {:?} {:.2} {:.2} {ratio:.3} {:.0} {:.0} {}/{} {:.4} {:.4} {:.3} {} {} {} {}",
            point.loss,
            point.burst,
            point.path.rtt.as_us_f64() / 1e3,
            point.path.rate.as_bps() as f64 / 1e6,
            point.congestion_control,
            bare.goodput_bps / 1e6,
            guarded.goodput_bps / 1e6,
            bare.rtt_mean.as_us_f64() / 1e3,
            guarded.rtt_mean.as_us_f64() / 1e3,
            guarded.missing.0,
            guarded.missing.1,
            share(guarded.repeated),
            share(guarded.ahead),
            share(guarded.rebuilt),
            guarded.tcp_retransmissions,
            guarded.timeouts,
            bare.dropped,
            guarded.dropped,
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let at = |part: usize| ratios[part * (ratios.len() - 1) / 100];
    println!(
        "ratio: least {:.3}, 5 % {:.3}, median {:.3}, 95 % {:.3}, most {:.3}",
        at(0),
        at(5),
        at(50),
        at(95),
        at(100)
    );
}
