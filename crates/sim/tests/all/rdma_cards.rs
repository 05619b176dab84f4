//! Several queue pairs of one card share its line. Without loss the shares follow the closed form, whatever the number of queue
//! pairs. The world that runs ahead gives the results of the world step by step.

use crate::flow_worlds::{World, any_world};
use crate::support;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::Outcome;
use lossylink_sim::net::{AnyLink, LineRate, ProtectedLink};
use lossylink_sim::transport::rdma::{
    Config, Dcqcn, Operation, Packet, Recovery, Requester, Responder, Status,
};
use lossylink_sim::transport::tcp::CongestionControl;
use lossylink_sim::world::network::{Addressed, Conversation};
use lossylink_sim::world::{Network, Rdma, Reception};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{config, number, profile, run};

/// The payload of a packet in the middle of a message at an MTU of 1024, and its octets on the wire.
const PAYLOAD: f64 = 1024.0;
const OCTETS: f64 = 1106.0;
/// The octets that the first packet of a WRITE has on top: the address to which the data goes.
const ADDRESS_OCTETS: f64 = 16.0;
/// The number of packets of a message of `long_writes`.
const MESSAGE_PACKETS: f64 = 1000.0;
const ACK_OCTETS: f64 = 86.0;
/// The number of lines on the artifact's way, with that of the link.
const LINES: f64 = 6.0;

/// Long writes of `count` queue pairs of one card, whose timeout is a round trip and a packet.
struct Card {
    gbps: u64,
    count: u32,
    recovery: Recovery,
    dcqcn: bool,
}

impl Card {
    /// Returns the time of an octet in microseconds.
    fn octet_us(&self) -> f64 {
        8e-3 / self.gbps as f64
    }

    /// Returns the time from the departure of a packet that finds no queue to the departure of the packet behind its answer.
    fn round_trip_us(&self, host: &Value) -> f64 {
        let one_way_us = host["rdma_one_way_ns"].as_f64().unwrap() / 1e3;
        2.0 * one_way_us + LINES * (OCTETS + ADDRESS_OCTETS + ACK_OCTETS) * self.octet_us()
    }

    /// Returns the configuration and its counted time in microseconds: ten timeouts at least, and three packets of each flow.
    fn config(&self) -> (Value, f64) {
        let mut config = config("throughput", "none");
        let mut host = profile("host", "ae-hosts");
        let timeout_us = (self.round_trip_us(&host) + OCTETS * self.octet_us()).ceil();
        host["rdma_timeout_us"] = json!(timeout_us as u64);
        config["host"] = host;
        config["loss"]["forward"] = json!({"model": "none"});
        config["link"]["rate_bps"] = json!(self.gbps * 1_000_000_000);
        config["transport"]["protocol"] = json!("rdma");
        config["transport"]["recovery"] = json!(self.recovery.name());
        config["transport"]["dcqcn"] = json!(self.dcqcn);
        config["flow"]["count"] = json!(self.count);
        let counted_us =
            (10.0 * timeout_us).max(3.0 * f64::from(self.count) * OCTETS * self.octet_us()).ceil();
        let us = |us: f64| json!((us * 1e6) as u64);
        config["run"] = json!({"duration_ps": us(timeout_us + counted_us), "warmup_ps": us(timeout_us), "cooldown_ps": 0});
        (config, counted_us)
    }

    /// Runs the card and compares the result with the closed form.
    fn check(&self) {
        let (config, counted_us) = self.config();
        let outcome = run(&config);
        let told = || {
            format!(
                "{} Gb/s, {} flows, {} {}: {:?}",
                self.gbps, self.count, self.recovery, self.dcqcn, outcome.row
            )
        };
        for key in ["retransmissions", "timeouts", "connection_failures", "queue_drops"] {
            assert_eq!(number(&outcome, key), 0.0, "{key}, {}", told());
        }
        // One card as fast as the link congests no queue, so no packet is marked and DCQCN does nothing.
        for key in ["frames_marked", "congestion_notifications"] {
            assert_eq!(number(&outcome, key), 0.0, "{key}, {}", told());
        }
        self.check_sum(&outcome, counted_us, &told);
        self.check_shares(&outcome, counted_us, &told);
    }

    /// Checks the sum of the flows: the line is never idle, so its octets are packets, less the octets that the first packets of
    /// messages carry on top. The tolerance is a packet under way at each end of the counted time, and a message more or less
    /// that each flow begins.
    fn check_sum(&self, outcome: &Outcome, counted_us: f64, told: &dyn Fn() -> String) {
        let octets = counted_us / self.octet_us();
        let bytes = number(outcome, "average_throughput_gbps") * counted_us * 1e3 / 8.0;
        let per_flow = octets / OCTETS / f64::from(self.count);
        let most_firsts = f64::from(self.count) * (per_flow / MESSAGE_PACKETS + 1.0).ceil();
        let least_firsts = f64::from(self.count) * (per_flow / MESSAGE_PACKETS - 1.0).floor().max(0.0);
        let packet = OCTETS + ADDRESS_OCTETS;
        let least = (octets - most_firsts * ADDRESS_OCTETS - packet) / OCTETS * PAYLOAD;
        let most = (octets - least_firsts * ADDRESS_OCTETS + packet) / OCTETS * PAYLOAD;
        assert!((least..=most).contains(&bytes), "{bytes} is not in {least}..={most}, {}", told());
    }

    /// Checks the shares of the flows. Round robin gives each flow as many packets as any other, or one more: the variance is at
    /// most a quarter.
    fn check_shares(&self, outcome: &Outcome, counted_us: f64, told: &dyn Fn() -> String) {
        let bytes = number(outcome, "average_throughput_gbps") * counted_us * 1e3 / 8.0;
        let mean = bytes / PAYLOAD / f64::from(self.count);
        let least = 1.0 / (1.0 + 0.25 / (mean * mean));
        let fairness = number(outcome, "fairness");
        assert!((least - 1e-12..=1.0 + 1e-12).contains(&fairness), "{fairness} below {least}, {}", told());
    }
}

const COUNTS: [u32; 9] = [1, 2, 3, 4, 8, 16, 64, 256, 1000];

// RDMA-12, RDMA-19, RDMA-24
#[test]
fn queue_pairs_of_a_card_share_its_line_by_the_closed_form() {
    for gbps in [1, 10, 25, 100, 200, 400, 800] {
        for count in COUNTS {
            for recovery in Recovery::ALL {
                [false, true].into_iter().for_each(|dcqcn| Card { gbps, count, recovery, dcqcn }.check());
            }
        }
    }
}

// RDMA-24: the published timeout of 1.07 ms, far below what a round of the line takes.
#[test]
fn a_round_of_the_line_may_last_longer_than_the_timeout() {
    let (mut config, counted_us) =
        Card { gbps: 1, count: 1000, recovery: Recovery::GoBackN, dcqcn: false }.config();
    let timeout_us = profile("host", "ideal")["rdma_timeout_us"].as_f64().unwrap();
    config["host"]["rdma_timeout_us"] = json!(timeout_us as u64);
    assert!(counted_us > 3.0 * timeout_us && 1000.0 * OCTETS * 8e-3 > 8.0 * timeout_us);
    let outcome = run(&config);
    assert_eq!((number(&outcome, "timeouts"), number(&outcome, "retransmissions")), (0.0, 0.0));
}

#[test]
fn where_nothing_is_delivered_nothing_is_shared() {
    let (mut config, _) = Card { gbps: 10, count: 2, recovery: Recovery::GoBackN, dcqcn: false }.config();
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1.0});
    // The first packets that ask for an acknowledgement leave after 0.45 ms, and six timeouts fail a connection.
    config["run"]["duration_ps"] = json!(3_000_000_000_u64);
    let outcome = run(&config);
    assert_eq!((number(&outcome, "average_throughput_gbps"), &outcome.row["fairness"]), (0.0, &Value::Null));
    assert!(number(&outcome, "connection_failures") > 0.0, "{:?}", outcome.row);
}

type RdmaNetwork = Network<Rdma, AnyLink<Addressed<Packet>>>;

/// Returns a network whose conversations post operations at its start.
fn network(world: &World, config: Config, operations: &[Operation]) -> RdmaNetwork {
    let end = |_| Conversation { near: Requester::new(&config), far: Responder::new(&config) };
    let line = Some(LineRate::new(BitRate::from_gbps(world.gbps)));
    let mut network = world.between(Rdma { config, line }, (0..world.flows).map(end).collect());
    for (place, &operation) in operations.iter().enumerate() {
        network.act(place % world.flows, |now, ends| {
            ends.near.post(now, operation);
        });
    }
    network
}

/// Returns the visible state of a network at its present: the counters of both ends, the traffic and the queue.
fn seen(network: &RdmaNetwork) -> String {
    let ends = network.conversations().iter();
    let ends = ends.map(|ends| (ends.near.statistics(), ends.near.outstanding(), ends.far.statistics()));
    let queue = network.link.queue();
    let queue = (queue.bytes(), queue.high_water_bytes(), queue.dropped());
    let traffic = (network.link.traffic(), network.link.reverse_traffic());
    format!("{:?}", (network.now(), ends.collect::<Vec<_>>(), traffic, queue))
}

fn any_config(gbps: u64) -> impl Strategy<Value = Config> {
    let recovery = prop_oneof![
        Just(Recovery::GoBackN),
        Just(Recovery::SelectiveRepeat { window_packets: 64 }),
        Just(Recovery::SELECTIVE_REPEAT),
    ];
    (recovery, prop_oneof![Just(60u64), Just(300)], 1u32..300, any::<bool>()).prop_map(
        move |(recovery, timeout_us, ack_interval, dcqcn)| Config {
            recovery,
            timeout: Duration::from_us(timeout_us),
            retry_count: u32::MAX,
            ack_interval,
            dcqcn: dcqcn.then(|| Dcqcn::on(BitRate::from_gbps(gbps))),
            ..Config::default()
        },
    )
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let bytes = prop_oneof![0u64..3_000, 0u64..400_000];
    (0u8..4, bytes).prop_map(|(kind, bytes)| match kind {
        0 => Operation::Read(bytes),
        1 => Operation::Send(bytes),
        _ => Operation::Write(bytes),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // RDMA-19, RDMA-24: some of the worlds have hosts with one queue pair, whose packets go in trains.
    #[test]
    fn cards_in_strides_are_cards_in_steps(
        (world, config) in any_world().prop_flat_map(|world| (Just(world.clone()), any_config(world.gbps))),
        operations in prop::collection::vec(any_operation(), 1..9),
    ) {
        let (mut striding, mut stepping) = (network(&world, config, &operations), network(&world, config, &operations));
        for end in [3, 400, 401, 2_000].map(|us| Instant::ZERO + Duration::from_us(us)) {
            striding.run_until(end);
            while stepping.step(end) {}
            stepping.wait_until(end);
            prop_assert_eq!(seen(&striding), seen(&stepping));
        }
    }
}

/// Returns the world of `flows` flows over the artifact's path at 10 Gb/s, on which no packet is lost.
fn clean(flows: usize) -> World {
    World {
        is_fast: true,
        seed: 1,
        gbps: 10,
        back_mbps: None,
        loss: 0.0,
        fades: false,
        hop_loss: 0.0,
        jitter: (Duration::ZERO, true),
        ordered: None,
        profile: "ideal",
        extra_rtt: None,
        reception: Reception::default(),
        flows,
        algorithm: CongestionControl::Reno,
        stack_gbps: None,
        flow_bytes: None,
        delayed_ack: 1,
    }
}

/// Returns the completion times of the conversations, each of which has posted one operation at the start.
fn completions(network: &mut RdmaNetwork) -> Vec<Duration> {
    network.run_until(Instant::ZERO + Duration::from_ms(50));
    let done = (0..network.conversations().len()).map(|index| {
        let completion = network.take(index, |ends| ends.near.poll_completion()).expect("it has ended");
        assert_eq!(completion.status, Status::Success);
        completion.completed_at - Instant::ZERO
    });
    done.collect()
}

// RDMA-24: responders take turns on the line of their card, so that READs which began together end a packet apart.
#[test]
fn responders_of_one_card_share_its_line() {
    const PACKETS: u64 = 40;
    const FLOWS: usize = 8;
    let timeout = Duration::from_us(40);
    let reads = [Operation::Read(PACKETS * 1024); FLOWS];
    let mut network = network(&clean(FLOWS), Config { timeout, ..Config::default() }, &reads);
    let done = completions(&mut network);
    // An octet takes 800 ps. The last packet of a READ carries 4 of them on top of 1106.
    let apart: Vec<_> = done.windows(2).map(|pair| (pair[1] - pair[0]).as_ps() / 800).collect();
    // The first READ has sent a packet before the other READs are asked for, and stays one packet ahead of them.
    let others = FLOWS as u64 - 1;
    assert_eq!(apart[0], others * 1106 + 1110);
    assert_eq!(apart[1..], vec![1110; FLOWS - 2]);
    assert!(done[0] > timeout * 3, "the timer counts from the last response, {}", done[0]);
    let timeouts: u64 = network.conversations().iter().map(|ends| ends.near.statistics().timeouts).sum();
    assert_eq!(timeouts, 0);
}
