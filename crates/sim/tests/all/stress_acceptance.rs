//! The requirements of the stress test: the effective loss of theory, the speed of arithmetic, and equal rows from
//! equal seeds.

use crate::profiles;
use crate::support;
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

/// The seed of every test here that does not need independent points.
const SEED: u64 = 1;
/// The two-sided 95 % quantile of the normal distribution.
const Z95: f64 = 1.959_964;
/// The quantile for eight independent points that shall all lie inside with 95 % (Sidak): 1 - 0.95^(1/8).
const Z95_OF_EIGHT: f64 = 2.727_010;
/// The octets of a full frame on the wire, without and with the header.
const FRAME_OCTETS: (f64, f64) = (1538.0, 1541.0);

/// The longest time of a repair on a link that never pauses.
const REPAIR_US: f64 = 5.0;

/// A way back without losses: its loss rate, and the copies of control frames.
const CLEAN: (f64, u8) = (0.0, 1);

/// One protected stress test between recirculating switches.
struct Point {
    gbps: u64,
    loss: f64,
    /// The loss rate of the way back, and the copies of control frames there.
    reverse: (f64, u8),
    copies: u8,
    ordered: bool,
    frames: u64,
    seed: u64,
}

struct Outcome {
    result: StressResult,
    counters: Counters,
    traffic: Traffic,
}

impl Point {
    fn run(&self) -> Outcome {
        let streams = Streams::new(self.seed);
        let model = LossModel::bernoulli(self.loss).expect("a probability");
        let sender = SenderConfig { copies: self.copies, dummies: 3, hole_cap: Some(5) };
        let (reverse, control_copies) = self.reverse;
        let reverse = LossModel::bernoulli(reverse).expect("a probability");
        let ordered = self.ordered;
        let options = Options { sender, control_copies, ordered, backpressure: true, deduplicate: true };
        let mut link = LinkGuardianLink::new(
            &profile("tofino1"),
            LineRate::new(BitRate::from_gbps(self.gbps)),
            Duration::ZERO,
            &options,
            (
                LossProcess::new(&model, streams.stream("link/0/loss")),
                LossProcess::new(&reverse, streams.stream("link/0/reverse-loss")),
            ),
            &mut streams.stream("link/0/phases"),
        );
        let stress = Stress { packets: self.frames, frame_bytes: 1514, source: Source::Saturated };
        let result = stress::run(&mut link, stress, &Control::default());
        Outcome { counters: link.counters(result.end), traffic: *link.traffic(), result }
    }
}

impl Outcome {
    /// Returns the number of frames that were never delivered.
    fn gone(&self) -> u64 {
        self.traffic.data_frames - (self.result.delivered.received() - self.result.delivered.duplicated())
    }

    /// Returns the number of undelivered frames that were requested, did not come too late, and found room (LG-35).
    fn gone_in_all_copies(&self) -> u64 {
        let Counters { sender, receiver, rx_buffer_dropped, .. } = &self.counters;
        self.gone() - sender.beyond_cap - receiver.late - rx_buffer_dropped
    }

    fn speed_gbps(&self) -> f64 {
        let delivered = self.result.delivered.received() - self.result.delivered.duplicated();
        let time = self.result.last - self.result.first;
        (delivered - 1) as f64 * FRAME_OCTETS.0 * 8.0 / time.as_secs_f64() / 1e9
    }
}

/// Returns Wilson's interval for a proportion at the level of the quantile `z`.
fn interval(events: u64, trials: u64, z: f64) -> (f64, f64) {
    let (n, share) = (trials as f64, events as f64 / trials as f64);
    let centre = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    ((centre - half) / scale, (centre + half) / scale)
}

/// p^(N+1) lies in the interval around the share of frames that were lost in all their transmissions: each of eight
/// points in its own interval (95 % for all of them together), and their sum in the plain interval. Losses by the
/// hole cap and by the wait are counted apart.
// LG-7, LG-14, LG-31, LG-35
#[test]
fn effective_loss_is_that_of_theory() {
    let (mut lost, mut sent, mut expected) = (0, 0, 0.0);
    // Each point has losses of its own, or their sum would tell less than its interval claims.
    let mut seed = 0;
    for ordered in [false, true] {
        for (loss, copies) in [(0.05, 1), (0.05, 2), (0.1, 1), (0.1, 2)] {
            seed += 1;
            let outcome =
                Point { gbps: 100, loss, copies, reverse: CLEAN, ordered, frames: 1_250_000, seed }.run();
            let theory = loss.powi(i32::from(copies) + 1);
            check_loss(&outcome, ordered, theory, &format!("ordered {ordered}, p {loss}, N {copies}"));
            lost += outcome.gone_in_all_copies();
            sent += outcome.traffic.data_frames;
            expected += theory * outcome.traffic.data_frames as f64;
        }
    }
    assert_eq!(sent, 10_000_000);
    let (low, high) = interval(lost, sent, Z95);
    assert!((low..=high).contains(&(expected / sent as f64)), "all points together: {low:e}..{high:e}");
}

/// A loss stays if all C copies of its notification are lost on the way back, or if one arrives and all N copies of
/// the frame are lost: p (q^C + (1 - q^C) p^N). A notification reports a run of losses, which goes with it, so the
/// count spreads as runs of geometric length do, by the root of (1 + p) / (1 - p) more than single frames.
// LG-26, LG-46
#[test]
fn copies_of_notifications_leave_what_theory_says() {
    const COPIES: u8 = 3;
    let mut seed = 100;
    for p in [1e-2, 5e-2, 0.1] {
        for control_copies in 1..=3 {
            seed += 1;
            // Twenty of these frames stay lost. With three copies at one per cent none would, of ten times as many either.
            let frames = if p < 2e-2 && control_copies == 2 { 20_000_000 } else { 2_000_000 };
            let point = Point {
                gbps: 100,
                loss: p,
                reverse: (p, control_copies),
                copies: COPIES,
                ordered: false,
                frames,
                seed,
            };
            let outcome = point.run();
            let told = 1.0 - p.powi(i32::from(control_copies));
            let theory = p * (1.0 - told * (1.0 - p.powi(i32::from(COPIES))));
            let (gone, sent) = (outcome.gone_in_all_copies(), outcome.traffic.data_frames);
            // The quantile of nine points that shall all lie inside with 95 %: 1 - 0.95^(1/9).
            let (low, high) = interval(gone, sent, 2.765_88 * ((1.0 + p) / (1.0 - p)).sqrt());
            println!("p {p}, C {control_copies}: {gone} gone, {low:.3e}..{high:.3e} around {theory:.3e}");
            assert!((low..=high).contains(&theory), "p {p}, C {control_copies}: {theory:e}");
            let counters = &outcome.counters;
            // Each loss whose request arrived was sent again once, however many copies of the request arrived.
            assert!(counters.sender.retransmitted + counters.sender.beyond_cap <= counters.receiver.lost);
            assert_eq!(outcome.result.delivered.duplicated(), 0);
        }
    }
}

fn check_loss(outcome: &Outcome, ordered: bool, theory: f64, point: &str) {
    let Outcome { counters, traffic, result } = outcome;
    let (low, high) = interval(outcome.gone_in_all_copies(), traffic.data_frames, Z95_OF_EIGHT);
    println!(
        "{point}: {} gone in all copies, {low:.3e}..{high:.3e} around {theory:.3e}; {} beyond the cap, {} late",
        outcome.gone_in_all_copies(),
        counters.sender.beyond_cap,
        counters.receiver.late,
    );
    assert!((low..=high).contains(&theory), "{point}: {theory:e} is outside {low:e}..{high:e}");
    assert_eq!(counters.receiver.lost, counters.sender.retransmitted + counters.sender.beyond_cap);
    assert_eq!(result.delivered.duplicated(), 0);
    if ordered {
        assert_eq!(result.delivered.reordered(), 0);
        assert_eq!(counters.timeouts, outcome.gone());
    }
}

/// Every lost frame costs N copies and nothing else: rate * (1538/1541) / (1 + N p), at the loss that the seed gave.
/// N follows the rule, so that all frames arrive. The repair of a frame that is lost just before the end comes after
/// the end, by the time of a repair.
// LG-18, LG-19, LG-27
#[test]
fn saturated_non_blocking_speed_is_that_of_arithmetic() {
    for gbps in [10, 25, 100, 400, 800] {
        for loss in [1e-4, 1e-3, 1e-2, 0.1] {
            let copies = copies_for(loss, DEFAULT_TARGET_LOSS);
            // The run is long enough that the repair of a loss at the end takes less than 2e-4 of the time.
            let frames = 500_000 * (gbps / 160).max(1);
            let outcome =
                Point { gbps, loss, copies, reverse: CLEAN, ordered: false, frames, seed: SEED }.run();
            let realised = outcome.traffic.data_lost as f64 / outcome.traffic.data_frames as f64;
            let speed = gbps as f64 * FRAME_OCTETS.0 / FRAME_OCTETS.1 / (1.0 + f64::from(copies) * realised);
            let slower = speed / outcome.speed_gbps() - 1.0;
            let time_us = (outcome.result.last - outcome.result.first).as_secs_f64() * 1e6;
            let late_us = slower * time_us;
            println!(
                "{gbps} Gb/s, p {loss}, N {copies}: {late_us:+.3} us off {time_us:.0} us at {speed:.4} Gb/s"
            );
            let slack_us = 1e-5 * time_us;
            assert!(slack_us + REPAIR_US < 2e-4 * time_us, "{time_us} us are too short to tell");
            let range = -slack_us..slack_us + REPAIR_US;
            assert!(range.contains(&late_us), "{gbps} Gb/s at {loss}: off by {late_us:.3} us");
        }
    }
}

// LG-20, LG-27
#[test]
fn a_link_without_loss_delivers_everything() {
    for ordered in [false, true] {
        for gbps in [10, 100, 800] {
            let outcome =
                Point { gbps, loss: 0.0, copies: 1, reverse: CLEAN, ordered, frames: 100_000, seed: SEED }
                    .run();
            let speed = gbps as f64 * FRAME_OCTETS.0 / FRAME_OCTETS.1;
            assert_eq!((outcome.gone(), outcome.result.delivered.reordered()), (0, 0));
            assert!((outcome.speed_gbps() / speed - 1.0).abs() < 1e-9, "{} Gb/s", outcome.speed_gbps());
            assert_eq!((outcome.counters.timeouts, outcome.counters.pauses), (0, 0));
        }
    }
}

/// Returns a whole configuration, as the Python package hands it over.
fn config(experiment: &str, protection: &str, threads: usize) -> String {
    let table = |kind: &str, name: &str| -> serde_json::Value {
        let path = format!("{}/../../scenarios/{kind}/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        toml::from_str(&std::fs::read_to_string(path).expect("part of the repository")).expect("a profile")
    };
    let config = serde_json::json!({
        "experiment": experiment, "seed": SEED, "threads": threads,
        "link": {"rate_bps": 100_000_000_000_u64, "propagation_ps": 0, "mtu_bytes": 1500},
        "loss": {"forward": {"model": "quantised", "p": 1e-3}, "reverse": {"model": "bernoulli", "p": 1e-4}},
        "switch": table("switch", "tofino1"), "host": table("host", "ae-hosts"),
        "protection": support::protection(protection),
        "traffic": {"packets": 200_000, "frame_bytes": 1514, "source": "generator"},
        "transport": {
            "congestion_control": "dctcp", "mss_bytes": 1460, "timestamps": false, "delayed_ack": 2,
            "rto_min_ps": 1_000_000_000_u64, "initial_window": 10, "segmentation_offload": true,
            "recovery": "go-back-n", "mtu_bytes": 1024,
        },
        "path": {"rtt_ps": null},
        "flow": {"size_bytes": 24_387, "trials": 500, "count": 1},
    });
    config.to_string()
}

#[test]
fn the_same_seed_gives_the_same_rows_on_any_number_of_threads() {
    for experiment in ["stress", "tcp-fct"] {
        for protection in ["none", "lg", "lg-nb"] {
            let run = |threads| {
                let config = config(experiment, protection, threads);
                let outcome =
                    lossylink_sim::simulate(&config, &Control::default()).expect("a valid configuration");
                (serde_json::Value::from(outcome.row).to_string(), outcome.columns)
            };
            let once = run(1);
            assert_eq!(once, run(1), "{experiment}, {protection}: two runs differ");
            assert_eq!(once, run(2), "{experiment}, {protection}: one and two threads differ");
        }
    }
}
