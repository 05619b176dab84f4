//! The cost of one lost segment for a short flow, against a real Linux stack segment by segment, and the cost when
//! the link repairs the loss out of order.

use crate::profiles;
use crate::support;
use crate::tcp_support;
use lossylink_core::engine::linkguardian::SenderConfig;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::net::linkguardian::Options;
use lossylink_sim::net::{AnyLink, LineRate, LinkGuardianLink, ProtectedLink};
use lossylink_sim::transport::tcp::{self, CongestionControl, State};
use lossylink_sim::world::network::{Addressed, Conversation};
use lossylink_sim::world::protocol::TcpPacket;
use lossylink_sim::world::{Network, Path, Tcp};
use serde_json::json;

/// The number of segments of a flow of 24,387 B.
const SEGMENTS: u64 = 17;
/// A slow-start threshold that was never set (Linux `TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// Returns the figures of the real stack.
fn linux() -> toml::Table {
    include_str!("linux/lost_segment.toml").parse().expect("it is TOML")
}

/// Returns an array of numbers.
fn numbers(value: &toml::Value) -> Vec<f64> {
    let values = value.as_array().expect("an array").iter();
    values.map(|value| value.as_float().expect("a number")).collect()
}

/// Runs a flow of which segment `lost`, counted from one, is lost, between hosts whose ticks fall by `seed`. Returns
/// the flow at its end, and its completion time in microseconds.
fn flow_without(lost: u64, seed: u64) -> (tcp_support::World, f64) {
    let mut world = tcp_support::flows::flow(0.0, &Streams::new(seed));
    world.lost_frame = Some(lost);
    world.open();
    let time = world.run_to_completion(Instant::ZERO + Duration::from_secs(1)).expect("the flow completes");
    assert_eq!(world.lost_frames, 1);
    (world, time.as_us_f64())
}

/// The bound was set after a first comparison: the measurement has two decimals, and all fourteen times agree within
/// them.
#[test]
fn a_lost_segment_takes_as_long_as_on_linux() {
    let linux = numbers(&linux()["lost"]["fct_us"]);
    assert_eq!(linux.len() as u64, SEGMENTS - 3);
    for (lost, expected) in (1..).zip(linux) {
        for seed in 0..3 {
            let (world, time) = flow_without(lost, seed);
            assert!((time - expected).abs() < 0.01, "segment {lost}: {time} us, Linux {expected} us");
            let counted = world.sender.statistics();
            assert_eq!(
                (counted.fast_recoveries, counted.reordering_timer_recoveries, counted.loss_probes),
                (1, 0, 0),
                "segment {lost}"
            );
        }
    }
}

/// TCP-4, TCP-24, TCP-27: two jiffies after the next tick, whichever of the timers it is.
#[test]
fn a_segment_lost_near_the_end_waits_for_a_timer_as_on_linux() {
    let range = numbers(&linux()["lost"]["timer_fct_us"]);
    for lost in SEGMENTS - 2..=SEGMENTS {
        let is_probe = lost == SEGMENTS;
        let times = (0..200).map(|seed| {
            let (world, time) = flow_without(lost, seed);
            let counted = world.sender.statistics();
            let repairs = (counted.reordering_timer_recoveries, counted.loss_probes, counted.timeouts);
            assert_eq!(repairs, if is_probe { (0, 1, 0) } else { (1, 0, 0) }, "segment {lost}");
            time
        });
        let (shortest, longest) =
            times.fold((f64::MAX, 0.0f64), |(low, high), time| (low.min(time), high.max(time)));
        let hundreds = |us: f64| (us / 100.0).round() * 100.0;
        assert_eq!([hundreds(shortest), hundreds(longest)], range[..], "segment {lost}");
    }
}

type LateNetwork = Network<Tcp, AnyLink<Addressed<TcpPacket>>>;

/// Returns the flow over a LinkGuardian link that repairs out of order and loses its frame `position`.
fn flow_over_lg_nb(position: u64, seed: u64) -> LateNetwork {
    let profile = profiles::profile("tofino1");
    let (streams, rate) = (Streams::new(seed), LineRate::new(BitRate::from_gbps(100)));
    let losses = [LossModel::at(vec![position]).unwrap(), LossModel::None]
        .map(|model| LossProcess::new(&model, streams.stream("loss")));
    let [forward, reverse] = losses;
    let sender = SenderConfig { copies: 1, dummies: 3, hole_cap: Some(5) };
    let options =
        Options { sender, control_copies: 1, ordered: false, backpressure: false, deduplicate: true };
    let mut phases = streams.stream("phases");
    let losses = (forward, reverse);
    let link = LinkGuardianLink::new(&profile, rate, Duration::ZERO, &options, losses, &mut phases);
    let flight = Duration::from_ns_f64(profile.data_pipeline_ns);
    let path = Path::direct(Duration::from_us(30), flight, None).unwrap();
    let config = tcp::Config {
        congestion_control: CongestionControl::Dctcp,
        rto_min: Duration::from_ms(1),
        ..tcp::Config::default()
    };
    let phase = |part| Duration::from_us(part * seed % 1_000);
    let ends = Conversation {
        near: tcp::Sender::new(&config, Some(24_387), phase(311)),
        far: tcp::Receiver::new(&config, phase(173)),
    };
    let mut network = Network::new(Tcp { config, cuts_bursts: false }, link.into(), path, vec![ends]);
    network.act(0, |now, ends| ends.near.open(now));
    network
}

/// Runs a flow that lost the link's frame `frame` to its end, and on until every report of a duplicate has arrived.
/// Returns whether the flow sent a segment again; `None` if the lost frame was not a frame of the flow.
///
/// TCP-36, TCP-38: the report undoes the reduction: window and threshold return to their values before the reduction.
fn repeats(mut network: LateNetwork, frame: u64) -> Option<bool> {
    let (mut greatest_window, mut undo_events) = (0, 0);
    let end = Instant::ZERO + Duration::from_ms(1);
    while network.step(end) {
        let near = &network.conversation(0).near;
        if near.statistics().undo_events > undo_events {
            undo_events += 1;
            assert!(near.congestion_window() >= greatest_window, "frame {frame}: window not restored");
            assert_eq!(near.slow_start_threshold(), NO_THRESHOLD, "frame {frame}: threshold not restored");
        }
        greatest_window = greatest_window.max(near.congestion_window());
    }
    let near = &network.conversation(0).near;
    let counted = near.statistics();
    assert!(near.completed_at().is_some() && near.state() == State::Open, "frame {frame}");
    assert_eq!(counted.duplicate_reports, counted.retransmissions, "frame {frame}: each was needless");
    assert_eq!(counted.fast_recoveries, undo_events, "frame {frame}: each was undone");
    assert_eq!((counted.timeouts, counted.reordering_timer_recoveries), (0, 0), "frame {frame}");
    (network.link.traffic().data_lost == 1).then_some(counted.retransmissions > 0)
}

/// Segments that three later ones of the same window overtake, 1 to 7 and 11 to 14, are sent again: 11 of 17.
#[test]
fn a_late_repair_makes_eleven_flows_of_seventeen_repeat_a_segment() {
    let linux = linux()["repaired_late"]["needless_share"].as_float().unwrap();
    for seed in 0..20 {
        // The link's own frames lie between those of the flow, of which the first two are the handshake's.
        let hits: Vec<bool> =
            (0..60).filter_map(|frame| repeats(flow_over_lg_nb(frame, seed), frame)).collect();
        assert_eq!(hits.len() as u64, 2 + SEGMENTS);
        let repeated: Vec<u64> = (1..).zip(&hits[2..]).filter(|(_, hit)| **hit).map(|(n, _)| n).collect();
        assert_eq!(repeated, [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14]);
        let share = repeated.len() as f64 / SEGMENTS as f64;
        assert!((share - linux).abs() < 0.005, "{share}, Linux {linux}");
    }
}

/// Late repairs by chance: one frame in a thousand, on a link that also loses the handshake's two frames of 19.
#[test]
fn of_the_flows_hit_by_chance_as_many_repeat_a_segment() {
    let linux = linux()["repaired_late"]["needless_share"].as_float().unwrap();
    let mut config = support::config("tcp-fct", "lg-nb");
    config["path"] = json!({"rtt_ps": 30_000_000});
    config["flow"]["trials"] = json!(40_000);
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1e-3});
    let outcome = support::run(&config);
    let (hit, repeated) =
        (support::number(&outcome, "flows_hit"), support::number(&outcome, "repaired_fast"));
    assert!(hit > 600.0, "{hit} flows hit");
    let share = repeated / hit;
    let expected = linux * SEGMENTS as f64 / (SEGMENTS + 2) as f64;
    // Three standard errors, 0.06 with 700 flows.
    let error = 3.0 * (share * (1.0 - share) / hit).sqrt();
    assert!((share - expected).abs() < error, "{share} +- {error}, expected {expected}");
    for slower in ["repaired_reordering_timer", "repaired_probe", "repaired_timeout"] {
        assert_eq!(support::number(&outcome, slower), 0.0, "{slower}");
    }
}
