//! What the stress test must reach: the effective loss of theory, the speed of arithmetic, and the
//! same rows from the same seed.

mod profiles;

use lossylink_core::engine::linkguardian::{DEFAULT_TARGET_LOSS, SenderConfig, copies_for};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::Control;
use lossylink_sim::net::linkguardian::{Counters, Options};
use lossylink_sim::net::{LineRate, LinkGuardianLink, ProtectedLink, Traffic};
use lossylink_sim::world::stress::{self, Source, Stress, StressResult};
use profiles::profile;

/// The seed of everything here.
const SEED: u64 = 1;
/// Two-sided 95 % quantile of the normal distribution.
const Z95: f64 = 1.959_964;
/// Octets of a full frame on the wire, without and with the header.
const FRAME_OCTETS: (f64, f64) = (1538.0, 1541.0);

/// One protected stress test between recirculating switches.
struct Point {
    gbps: u64,
    loss: f64,
    copies: u8,
    ordered: bool,
    frames: u64,
}

struct Outcome {
    result: StressResult,
    counters: Counters,
    traffic: Traffic,
    retransmission_delay_us: f64,
}

impl Point {
    fn run(&self) -> Outcome {
        let streams = Streams::new(SEED);
        let model = LossModel::bernoulli(self.loss).expect("a probability");
        let sender = SenderConfig { copies: self.copies, dummies: 3, hole_cap: Some(5) };
        let options = Options { sender, ordered: self.ordered, backpressure: true, deduplicate: true };
        let mut link = LinkGuardianLink::new(
            &profile("tofino1"),
            LineRate::new(BitRate::from_gbps(self.gbps)),
            Duration::ZERO,
            &options,
            (
                LossProcess::new(&model, streams.stream("link/0/loss")),
                LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss")),
            ),
            &mut streams.stream("link/0/phases"),
        );
        let stress = Stress { packets: self.frames, frame_bytes: 1514, source: Source::Saturated };
        let result = stress::run(&mut link, stress, &Control::default());
        let delays = link.retransmission_delay().histogram();
        Outcome {
            counters: link.counters(result.end),
            traffic: *link.traffic(),
            retransmission_delay_us: delays.percentile(0.5).unwrap_or(0.0) / 1e6,
            result,
        }
    }
}

impl Outcome {
    /// Frames that never came out.
    fn gone(&self) -> u64 {
        self.traffic.data_frames - (self.result.delivered.received() - self.result.delivered.duplicated())
    }

    /// Those of them that were not requested, or came too late, or found no room (LG-35).
    fn gone_for_other_reasons(&self) -> u64 {
        self.counters.sender.beyond_cap + self.counters.receiver.late + self.counters.rx_buffer_dropped
    }

    fn speed_gbps(&self) -> f64 {
        let (first, last) = (self.result.first, self.result.last);
        assert!(first < last, "frames came out");
        let delivered = self.result.delivered.received() - self.result.delivered.duplicated();
        (delivered - 1) as f64 * FRAME_OCTETS.0 * 8.0 / (last - first).as_secs_f64() / 1e9
    }
}

/// Wilson's interval at 95 % for a proportion.
fn interval(events: u64, trials: u64) -> (f64, f64) {
    let (n, share) = (trials as f64, events as f64 / trials as f64);
    let centre = share + Z95 * Z95 / (2.0 * n);
    let half = Z95 * (share * (1.0 - share) / n + Z95 * Z95 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z95 * Z95 / n;
    ((centre - half) / scale, (centre + half) / scale)
}

/// p^(N+1) lies in the interval around what was lost in all its transmissions; what the hole cap and
/// the wait add is counted apart. Eight points of 1.25 million frames.
// LG-7, LG-14, LG-31, LG-35
#[test]
fn effective_loss_is_that_of_theory() {
    let mut total = 0;
    for ordered in [false, true] {
        for (loss, copies) in [(0.05, 1), (0.05, 2), (0.1, 1), (0.1, 2)] {
            let outcome = Point { gbps: 100, loss, copies, ordered, frames: 1_250_000 }.run();
            let by_copies = outcome.gone() - outcome.gone_for_other_reasons();
            let (low, high) = interval(by_copies, outcome.traffic.data_frames);
            let theory = loss.powi(i32::from(copies) + 1);
            println!(
                "ordered {ordered} p {loss} N {copies}: {by_copies} of {} in all copies, {low:.4e}..{high:.4e}, \
                 theory {theory:.4e}; beyond cap {}, late {}, no room {}; {:.3} Gb/s",
                outcome.traffic.data_frames,
                outcome.counters.sender.beyond_cap,
                outcome.counters.receiver.late,
                outcome.counters.rx_buffer_dropped,
                outcome.speed_gbps(),
            );
            assert!((low..=high).contains(&theory), "{theory:e} is outside {low:e}..{high:e}");
            assert_eq!(outcome.result.delivered.duplicated(), 0);
            if ordered {
                assert_eq!(outcome.result.delivered.reordered(), 0);
                assert_eq!(outcome.counters.timeouts, outcome.gone());
            }
            total += outcome.traffic.data_frames;
        }
    }
    assert_eq!(total, 10_000_000);
}

/// Every lost frame costs N copies and nothing else: rate * (1538/1541) / (1 + N p), at the loss that
/// the seed gave. N follows the rule, so that all frames arrive.
// LG-18, LG-19, LG-27
#[test]
fn saturated_non_blocking_speed_is_that_of_arithmetic() {
    for gbps in [10, 25, 100, 400, 800] {
        for loss in [1e-4, 1e-3, 1e-2, 0.1] {
            let copies = copies_for(loss, DEFAULT_TARGET_LOSS);
            let outcome = Point { gbps, loss, copies, ordered: false, frames: 500_000 }.run();
            let realised = outcome.traffic.data_lost as f64 / outcome.traffic.data_frames as f64;
            let speed = gbps as f64 * FRAME_OCTETS.0 / FRAME_OCTETS.1 / (1.0 + f64::from(copies) * realised);
            let error = outcome.speed_gbps() / speed - 1.0;
            println!(
                "{gbps} Gb/s p {loss} N {copies}: {:.4} Gb/s, {:+.4} % of {speed:.4}; gone {}, delay {:.3} us",
                outcome.speed_gbps(),
                error * 100.0,
                outcome.gone(),
                outcome.retransmission_delay_us,
            );
            assert!(error.abs() < 2e-4, "{gbps} Gb/s at {loss}: off by {:.4} %", error * 100.0);
        }
    }
}

// LG-20, LG-27
#[test]
fn a_link_without_loss_delivers_everything() {
    for ordered in [false, true] {
        for gbps in [10, 100, 800] {
            let outcome = Point { gbps, loss: 0.0, copies: 1, ordered, frames: 100_000 }.run();
            let speed = gbps as f64 * FRAME_OCTETS.0 / FRAME_OCTETS.1;
            assert_eq!((outcome.gone(), outcome.result.delivered.reordered()), (0, 0));
            assert!((outcome.speed_gbps() / speed - 1.0).abs() < 1e-9, "{} Gb/s", outcome.speed_gbps());
            assert_eq!((outcome.counters.timeouts, outcome.counters.pauses), (0, 0));
        }
    }
}
